"""Kernels on one device of model ``blocks``, driven by a small event loop of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from simsched.cost.base import Block, KernelCost
from simsched.engine.devices.base import Gate, Site
from simsched.engine.devices.blocks import Blocks
from simsched.engine.waits import Waits
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device, HardwareProfile, SmLimits
from simsched.problem import Problem, make_problem
from simsched.trace import Cohort, Wait


def gpu(sms: int, limits: SmLimits | None = None, bandwidth: float | None = None, **fields: object) -> Device:
    """A device of model ``blocks``."""
    return Device(
        "gpu", "gpu", "blocks", resources={"sms": sms}, sm_limits=limits, memory_bandwidth=bandwidth,
        streams=8, **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def kernel(
    duration: int, grid: int = 0, block: Block | None = None, *, launch: int = 0, **fields: object
) -> KernelCost:
    """The cost of a kernel; ``launch`` is part of its duration."""
    return KernelCost(duration, grid=grid, block=block, launch_ns=launch, **fields)  # type: ignore[arg-type]


def problem_of_kernels(device: Device, kernels: Sequence[KernelCost]) -> Problem:
    """Operators ``k0``, ``k1``, ... that depend on nothing, with these costs."""
    builder = GraphBuilder("kernels")
    for number in range(len(kernels)):
        builder.add_op(f"k{number}")

    def cost_of(graph: Graph, op: OpId, device: Device) -> KernelCost:
        del device
        return kernels[int(graph.names[op][1:])]

    return make_problem(builder.build(), HardwareProfile("h", (device,)), cost_of)


@dataclass
class Story:
    """What a device did."""

    start: dict[OpId, int] = field(default_factory=dict)
    end: dict[OpId, int] = field(default_factory=dict)
    cohorts: list[Cohort] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    rounds: int = 0

    def of(self, op: OpId) -> list[Cohort]:
        """Cohorts of one kernel, in the order of their ends."""
        return [cohort for cohort in self.cohorts if cohort.op == op]


def drive(
    device: Device,
    kernels: Sequence[KernelCost],
    arrivals: Sequence[int] = (),
    priorities: Mapping[OpId, int] | None = None,
    *,
    took: Sequence[int] = (),
    problem: Problem | None = None,
) -> Story:
    """Let kernels come at these times (all at 0 unless given) and run the device until nothing happens any more."""
    problem = problem or problem_of_kernels(device, kernels)
    story, waits = Story(), Waits()
    gate = Gate(problem, 0, None, None, blocking=False)
    durations = took or problem.durations()
    urgency = priorities or {}
    model = Blocks(
        Site(problem, 0, durations, gate, waits, lambda op, time: None, lambda op: urgency.get(op, 0), story.cohorts)
    )
    count = len(durations)
    arrivals = arrivals or [0] * count
    coming = sorted(range(count), key=lambda op: (arrivals[op], op))
    now = arrivals[coming[0]] if coming else 0

    def start(op: OpId) -> None:
        story.start[op] = now
        gate.take(op)
        waits.end(op, now)

    while True:
        story.rounds += 1
        for op in model.due(now):
            story.end[op] = now
            gate.give(op)
        while coming and arrivals[coming[0]] <= now:
            model.push(coming.pop(0), count - len(coming) - 1)
        model.advance(now, start)
        times = [time for time in (model.next_time(now), arrivals[coming[0]] if coming else None) if time is not None]
        if not times:
            assert not model.pending()
            story.waits = waits.over
            return story
        now = min(times)
