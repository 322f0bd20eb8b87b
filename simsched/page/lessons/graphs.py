"""The graphs of the guided modes, in ticks: a block of branches, a training step, and tasks of a known anomaly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, TensorKind
from simsched.hardware import Device, HardwareProfile

MIB = 2**20


# --- the scheduling loop -------------------------------------------------------------------------------------------


class _Layer(NamedTuple):
    op_type: str
    duration: int
    after: tuple[str, ...] = ()


_BLOCK = {
    "input": _Layer("Input", 1),
    "conv1": _Layer("Conv", 2, ("input",)),
    "pre3": _Layer("Conv", 2, ("input",)),
    "conv3": _Layer("Conv", 4, ("pre3",)),
    "pre5": _Layer("Conv", 1, ("input",)),
    "conv5": _Layer("Conv", 3, ("pre5",)),
    "pool": _Layer("MaxPool", 1, ("input",)),
    "proj": _Layer("Conv", 2, ("pool",)),
    "join": _Layer("Concat", 1, ("conv1", "conv3", "conv5", "proj")),
}
SMS = 4
LARGE = "conv3"


def inception_block(large_sms: int) -> Graph:
    """Return four unlike branches between an input and a concatenation, after GoogLeNet (arXiv:1409.4842).

    Every operator takes one SM; ``conv3`` takes ``large_sms``.
    """
    builder = GraphBuilder("inception_block", time_unit="tick")
    for name, layer in _BLOCK.items():
        sms = large_sms if name == LARGE else 1
        builder.add_op(name, layer.op_type, duration=layer.duration, after=layer.after, demands={"sms": sms})
    return builder.build()


def small_gpu(streams: int) -> HardwareProfile:
    """Return a GPU of four SMs with some streams; kernels hold whole SMs."""
    gpu = Device("gpu", "gpu", "sm_share", streams=streams, resources={"sms": SMS})
    return HardwareProfile(f"{streams} {'stream' if streams == 1 else 'streams'}, {SMS} SMs", (gpu,))


# --- strategies ----------------------------------------------------------------------------------------------------

STAGES, BATCH = 3, 8
FORWARD, BACKWARD = 1, 2
"""Ticks that one sample takes in one stage."""
ACTIVATION, WEIGHTS = 4 * MIB, 6 * MIB
"""Bytes that a stage keeps of one sample, and its own parameters."""


def training_step(microbatches: int) -> Graph:
    """Return the forward and backward passes of three stages over a batch of 8, cut into equal microbatches.

    Work and activations of a microbatch are its share of the batch, so that the whole is the same however it is cut.
    What crosses from stage to stage has no size: communication costs nothing.
    """
    samples = BATCH // microbatches
    builder = GraphBuilder(f"training_step_{microbatches}", time_unit="tick")
    for stage in range(STAGES):
        builder.add_tensor(f"W{stage}", bytes=WEIGHTS, kind=TensorKind.PARAMETER)
        for batch in range(microbatches):
            builder.add_tensor(f"A{stage}.{batch}", bytes=ACTIVATION * samples)
    for batch in range(microbatches):
        for stage in range(STAGES):
            _add_pass(builder, "F", stage, batch, samples * FORWARD)
        for stage in reversed(range(STAGES)):
            _add_pass(builder, "B", stage, batch, samples * BACKWARD)
    return builder.build()


def _add_pass(builder: GraphBuilder, phase: str, stage: int, batch: int, duration: int) -> None:
    """Add one pass, after the one of the stage before it in its direction."""
    forward = phase == "F"
    before = stage - 1 if forward else stage + 1
    activation = f"A{stage}.{batch}"
    builder.add_op(
        f"{phase}{stage}.{batch}",
        "Forward" if forward else "Backward",
        duration=duration,
        inputs=[f"W{stage}"] if forward else [f"W{stage}", activation],
        outputs=[activation] if forward else [],
        after=[f"{phase}{before}.{batch}"] if 0 <= before < STAGES else [],
        attributes={"stage": stage, "microbatch": batch, "phase": phase},
    )


def one_device(streams: int) -> HardwareProfile:
    """Return a device on which each stream is a machine of its own."""
    return HardwareProfile(f"{streams} {'stream' if streams == 1 else 'streams'}", (Device("d0", streams=streams),))


def a_device_a_stage() -> HardwareProfile:
    """Return as many devices as there are stages, of one stream each; what crosses takes no time."""
    return HardwareProfile(f"{STAGES} devices", tuple(Device(f"d{stage}") for stage in range(STAGES)))


# --- the critical path ---------------------------------------------------------------------------------------------

TASKS: Mapping[str, int] = {
    "Load": 4, "T1": 6, "T2": 4, "T3": 4, "T4": 4, "T5": 8, "T6": 8, "T7": 8, "T8": 8, "T9": 18, "Join": 4,
}  # fmt: skip
_NEEDED = {"T5": "T4", "T6": "T4", "T7": "T4", "T8": "T4", "T9": "T1"}


def tasks(name: str, after: Mapping[str, list[str]], shorter: Mapping[str, int]) -> Graph:
    """Return Graham's nine tasks of 1966 between ``Load`` and ``Join``, durations doubled so that halves are whole.

    Parameters
    ----------
    name : str
    after : mapping of str to list of str
        Predecessors.
    shorter : mapping of str to int
        Durations that differ.
    """
    builder = GraphBuilder(name, time_unit="tick")
    for task, duration in TASKS.items():
        kind = task if task in ("Load", "Join") else "Task"
        builder.add_op(task, kind, duration=shorter.get(task, duration), after=after[task])
    return builder.build()


def tasks_in_a_row(shorter: Mapping[str, int]) -> Graph:
    """Return the tasks with each one after the one before it."""
    order = list(TASKS)
    return tasks("tasks_in_a_row", {task: order[max(0, at - 1) : at] for at, task in enumerate(order)}, shorter)


def tasks_freed(shorter: Mapping[str, int]) -> Graph:
    """Return the tasks with the orders alone that they need: Graham's, all after ``Load`` and before ``Join``."""
    after = {task: [_NEEDED.get(task, "Load")] for task in TASKS}
    needed = {*_NEEDED.values(), "Load", "Join"}
    after |= {"Load": [], "Join": [task for task in TASKS if task not in needed]}
    return tasks("tasks_freed", after, shorter)
