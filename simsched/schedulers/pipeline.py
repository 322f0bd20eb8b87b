"""Pipeline parallelism: each stage on its own device or stream, microbatches in the order of GPipe or 1F1B."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simsched.errors import SchedulerError, UnknownNameError
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedule import Schedule
from simsched.schedulers.base import Policy
from simsched.schedulers.follow import static_policy

ORDERS = ("1f1b", "gpipe")
DEFAULT_STAGES = 4

Slot = tuple[str, int]
"""A phase (F, B or W) of one microbatch."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Stages in sequence, microbatches streaming through them.

    The stage of an operator is its attribute ``stage`` where the graph gives one; otherwise the graph's order is cut
    into ``stages`` consecutive parts whose largest is as small as can be. Attributes ``microbatch`` and ``phase``
    (``F``, ``B`` or ``W``) are read likewise; without them everything is the forward pass of one microbatch.

    GPipe runs all forward passes, then all backward ones (Y. Huang et al., NeurIPS 2019, arXiv:1811.06965). 1F1B
    starts backward passes as early as it can and so holds at most as many microbatches as there are stages ahead
    (D. Narayanan et al., "PipeDream", SOSP 2019, doi:10.1145/3341301.3359646).

    Parameters
    ----------
    order : {"1f1b", "gpipe"}
    stages : int, optional
        Number of stages when the graph gives none: by default the number of devices, or on one device the number of
        its streams, at most 4.
    """

    order: str = "1f1b"
    stages: int | None = None

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UnknownNameError("order of pipeline", self.order, ORDERS)
        if self.stages is not None and self.stages < 1:
            raise SchedulerError(f"pipeline: expected at least 1 stage, got {self.stages}")

    def start(self, problem: Problem) -> Policy:
        """Cut the graph into stages and write down each stage's order.

        Raises
        ------
        SchedulerError
            If there are more stages than devices (or streams), or an operator may not run on its stage's device.
        """
        return static_policy(self.schedule(problem))

    def schedule(self, problem: Problem) -> Schedule:
        """Return the order on each stage's stream."""
        stage_of = _given_stages(problem) or _balanced_stages(problem, self.stages or _default_stages(problem))
        count = max(stage_of, default=-1) + 1
        streams = _stage_streams(problem, count)
        slots: list[dict[Slot, list[OpId]]] = [{} for _ in range(count)]
        for op, stage in enumerate(stage_of):
            slots[stage].setdefault(_slot_of(problem, op), []).append(op)
            device = problem.stream_device[streams[stage]]
            if device not in problem.allowed_devices(op):
                name = problem.graph.names[op]
                raise SchedulerError(
                    f"pipeline: operator {name!r} of stage {stage} may not run on {problem.devices[device].name!r}"
                )
        queues: dict[int, tuple[OpId, ...]] = {}
        for stage, held in enumerate(slots):
            order = stage_order(self.order, stage, count, held)
            queues[streams[stage]] = tuple(op for slot in order for op in held[slot])
        return Schedule(queues)


def stage_order(order: str, stage: int, stages: int, held: Mapping[Slot, object]) -> list[Slot]:
    """Order of the slots that a stage holds.

    Parameters
    ----------
    order : {"1f1b", "gpipe"}
    stage, stages : int
    held : mapping of (phase, microbatch)
        What there is; a phase that is missing is left out.
    """
    batches = sorted({batch for _, batch in held})
    ahead = len(batches) if order == "gpipe" else min(len(batches), stages - stage)
    wanted: list[Slot] = [("F", batch) for batch in batches[:ahead]]
    for number, batch in enumerate(batches):
        wanted += [("B", batch), ("W", batch)]
        if ahead + number < len(batches):
            wanted.append(("F", batches[ahead + number]))
    return [slot for slot in wanted if slot in held]


def balanced_cuts(work: Sequence[int], parts: int) -> list[int]:
    """Cut a sequence into at most ``parts`` consecutive parts so that the largest sum is as small as can be.

    Returns
    -------
    list of int
        Part of each element. Integers, so the smallest bound is found exactly by bisection.
    """
    low, high = max(work, default=0), sum(work)
    while low < high:
        middle = (low + high) // 2
        if _parts_needed(work, middle) <= parts:
            high = middle
        else:
            low = middle + 1
    return list(_fill(work, low))


def _parts_needed(work: Sequence[int], bound: int) -> int:
    return max(_fill(work, bound), default=0) + 1


def _fill(work: Sequence[int], bound: int) -> Iterator[int]:
    part, used = 0, 0
    for amount in work:
        if used + amount > bound:
            part, used = part + 1, 0
        used += amount
        yield part


def _slot_of(problem: Problem, op: OpId) -> Slot:
    attributes = problem.graph.attributes.get(op, {})
    phase, batch = attributes.get("phase", "F"), attributes.get("microbatch", 0)
    if phase not in ("F", "B", "W") or not isinstance(batch, int) or batch < 0:
        name = problem.graph.names[op]
        raise SchedulerError(
            f"pipeline: operator {name!r} has phase {phase!r} and microbatch {batch!r}; "
            "expected F, B or W, and a number from 0"
        )
    return phase, batch


def _given_stages(problem: Problem) -> list[int]:
    graph = problem.graph
    found = [graph.attributes.get(op, {}).get("stage") for op in range(len(graph))]
    given = [stage for stage in found if isinstance(stage, int) and not isinstance(stage, bool) and stage >= 0]
    if not given:
        return []
    if len(given) < len(found):
        missing = next(op for op, stage in enumerate(found) if stage is None or not isinstance(stage, int) or stage < 0)
        name = graph.names[missing]
        raise SchedulerError(f"pipeline: operator {name!r} has no attribute 'stage' (0, 1, ...), but others have one")
    return given


def _default_stages(problem: Problem) -> int:
    if len(problem.devices) > 1:
        return len(problem.devices)
    return min(problem.devices[0].streams, DEFAULT_STAGES)


def _balanced_stages(problem: Problem, stages: int) -> list[int]:
    """Cut the order of one microbatch, and give the copies of an operator in other microbatches its stage."""
    graph, work = problem.graph, problem.shortest_durations()
    original = [graph.attributes.get(op, {}).get("copy_of", graph.names[op]) for op in range(len(graph))]
    first: dict[str, OpId] = {}
    for op, name in enumerate(original):
        first.setdefault(name, op)
    parts = balanced_cuts([work[op] for op in first.values()], stages)
    stage = dict(zip(first, parts, strict=True))
    if len(problem.devices) > 1:
        # Stage s is device s: what may not run there joins the stage of the first device that may run it.
        for name, op in first.items():
            devices = problem.allowed_devices(op)
            if stage[name] not in devices:
                stage[name] = devices[0]
    return [stage[name] for name in original]


def _stage_streams(problem: Problem, count: int) -> list[int]:
    """The stream of each stage: one device a stage where there are several devices, else one stream a stage."""
    if len(problem.devices) > 1:
        available, what = [streams[0] for streams in problem.device_streams], "devices"
    else:
        available, what = list(problem.device_streams[0]), "streams"
    if count > len(available):
        raise SchedulerError(
            f"pipeline: {count} stages need as many {what}; {problem.hardware.name} has {len(available)}"
        )
    return available[:count]
