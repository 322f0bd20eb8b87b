"""How busy a run kept what the hardware has: streams, renewable resources, memory, bandwidth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from simsched.analysis.lifetimes import lifetimes_of
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Trace
from simsched.units import format_rate


class Run(Protocol):
    """What is read of a run; :class:`simsched.result.Result` is one."""

    @property
    def problem(self) -> Problem:
        """The problem."""

    @property
    def trace(self) -> Trace:
        """What happened."""

    @property
    def memory(self) -> str:
        """Memory mode: ``unbounded``, ``block`` or ``strict``."""

    @property
    def actual(self) -> Sequence[Sequence[int]] | None:
        """Actual durations per device, where they differ from the estimates."""

    @property
    def proved_ns(self) -> int | None:
        """A lower bound that the run's scheduler has proved, in ns."""


@dataclass(frozen=True, slots=True)
class StreamUse:
    """One stream: operators that it ran, busy and idle time in ns up to the makespan."""

    stream: int
    name: str
    operators: int
    busy: int
    idle: int

    @property
    def utilisation(self) -> float:
        """Busy time over the makespan; 0 for a run without duration."""
        return ratio(self.busy, self.busy + self.idle)


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """One renewable resource of one device.

    Attributes
    ----------
    device : str
    resource : str
    capacity : int
    peak : int
        Most units in use at one instant.
    used : int
        Units x ns.
    span : int
        The makespan in ns.
    """

    device: str
    resource: str
    capacity: int
    peak: int
    used: int
    span: int

    @property
    def utilisation(self) -> float:
        """Share of capacity x makespan that was in use."""
        return ratio(self.used, self.capacity * self.span)


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Memory of one device.

    Attributes
    ----------
    device : str
    peak : int
        Most live bytes.
    at : int
        First instant at which the peak is reached, in ns.
    capacity : int or None
        Bytes of the device; None is unlimited.
    final : int
        Live bytes at the end.
    operators : tuple of int
        Operators that run on the device at the peak (start <= at < end, or both at the peak).
    tensors : tuple of (str, int)
        The largest tensors live at the peak, with their bytes.
    others : int
        Number of further tensors live at the peak.
    """

    device: str
    peak: int
    at: int
    capacity: int | None
    final: int
    operators: tuple[OpId, ...]
    tensors: tuple[tuple[str, int], ...]
    others: int


def ratio(part: float, whole: float) -> float:
    """``part / whole``; 0 where there is nothing to divide by."""
    return part / whole if whole else 0.0


def stream_use(run: Run) -> tuple[StreamUse, ...]:
    """Busy and idle time of every stream, those that ran nothing too."""
    trace, names = run.trace, run.problem.stream_names
    operators, busy = [0] * len(names), [0] * len(names)
    for stream, start, end in zip(trace.stream, trace.start, trace.end, strict=True):
        operators[stream] += 1
        busy[stream] += end - start
    makespan = trace.makespan
    return tuple(
        StreamUse(stream, name, operators[stream], busy[stream], makespan - busy[stream])
        for stream, name in enumerate(names)
    )


def load_balance(streams: tuple[StreamUse, ...]) -> float:
    """Mean over largest busy time of the streams: 1 is perfect balance, 1 / streams a single busy stream."""
    most = max((stream.busy for stream in streams), default=0)
    return sum(stream.busy for stream in streams) / (most * len(streams)) if most else 1.0


def resource_use(run: Run) -> tuple[ResourceUse, ...]:
    """Use of every renewable resource of every device, over the time of the run."""
    found = []
    for number, device in enumerate(run.problem.devices):
        changes: dict[str, list[tuple[int, int]]] = {resource: [] for resource in device.resources}
        used = dict.fromkeys(device.resources, 0)
        for op in sorted(run.problem.graph.demands.keys() | run.problem.costs[number].keys()):
            if run.problem.stream_device[run.trace.stream[op]] != number:
                continue
            start, end = run.trace.start[op], run.trace.end[op]
            for resource, units in run.problem.demand(op, number).items():
                changes[resource] += [(end, -units), (start, units)]
                used[resource] += units * (end - start)
        if device.model == "blocks" and "sms" in changes:
            for start, end in occupied_sms(run, number):
                changes["sms"] += [(end, -1), (start, 1)]
                used["sms"] += end - start
        for resource, capacity in device.resources.items():
            peak = held = 0
            for _, units in sorted(changes[resource]):  # at one instant, ends before starts
                held += units
                peak = max(peak, held)
            found.append(ResourceUse(device.name, resource, capacity, peak, used[resource], run.trace.makespan))
    return tuple(found)


def occupied_sms(run: Run, device: int) -> list[tuple[int, int]]:
    """Intervals in which some SM of a device of model ``blocks`` had at least one block, SM by SM, in ns."""
    stays: dict[int, list[tuple[int, int]]] = {}
    for cohort in run.trace.cohorts:
        if run.problem.stream_device[run.trace.stream[cohort.op]] == device and cohort.end > cohort.start:
            for sm, _ in cohort.places:
                stays.setdefault(sm, []).append((cohort.start, cohort.end))
    found: list[tuple[int, int]] = []
    for _, intervals in sorted(stays.items()):
        begin, reached = -1, -1
        for start, end in sorted(intervals):
            if start > reached:
                if reached > begin:
                    found.append((begin, reached))
                begin = start
            reached = max(reached, end)
        found.append((begin, reached))
    return found


def memory_use(run: Run, largest: int = 10) -> tuple[MemoryUse, ...]:
    """Peak memory of every device, with what was live and what ran at the peak.

    Parameters
    ----------
    run : Run
    largest : int
        How many tensors to name.
    """
    return tuple(_memory_of(run, device, largest) for device in range(len(run.problem.devices)))


def _memory_of(run: Run, device: int, largest: int) -> MemoryUse:
    steps, problem = run.trace.memory, run.problem
    peak = at = final = 0
    for time, owner, live in zip(steps.time, steps.device, steps.live, strict=True):
        if owner == device:
            final = live
            if live > peak:
                peak, at = live, time
    described = problem.devices[device]
    running: list[OpId] = []
    tensors: list[tuple[str, int]] = []
    if peak:
        running = [op for op in _running(run, at) if problem.stream_device[run.trace.stream[op]] == device]
        tensors = live_tensors(run, device, at)
    shown = tuple(tensors[:largest])
    others = len(tensors) - len(shown)
    return MemoryUse(described.name, peak, at, described.capacity, final, tuple(running), shown, others)


def _running(run: Run, time: int) -> list[OpId]:
    times = zip(run.trace.start, run.trace.end, strict=True)
    return [op for op, (start, end) in enumerate(times) if start <= time < end or start == time == end]


def live_tensors(run: Run, device: int, time: int) -> list[tuple[str, int]]:
    """Names and bytes of the tensors live on a device at an instant, largest first; those of 0 bytes left out."""
    graph, trace = run.problem.graph, run.trace
    lives = lifetimes_of(run.problem, trace)
    found = []
    for tensor, size in enumerate(graph.tensor_bytes):
        if not size:
            continue
        for span in lives.spans(tensor):
            end = math.inf if span.closer is None else trace.end[span.closer]
            if span.device == device and (span.begin <= time < end or span.begin == time == end):
                found.append((-size, tensor))
                break
    return [(graph.tensor_names[tensor], -size) for size, tensor in sorted(found)]


def bandwidth_notes(run: Run) -> tuple[str, ...]:
    """Say for each device of model ``lanes`` whether the run would need more memory bandwidth than it has.

    Lanes share nothing: each operator runs at the speed that it has alone. Where the bytes that all of them move, over
    the makespan, exceed the bandwidth, the run is faster than the device could be.
    """
    moved = [0] * len(run.problem.devices)
    for op, stream in enumerate(run.trace.stream):
        device = run.problem.stream_device[stream]
        moved[device] += run.problem.cost(op, device).bytes
    notes = []
    for total, described in zip(moved, run.problem.devices, strict=True):
        rate = ratio(total * 1e9, run.trace.makespan)
        if described.model == "lanes" and described.memory_bandwidth is not None and rate > described.memory_bandwidth:
            need, has = format_rate(rate, "B/s"), format_rate(described.memory_bandwidth, "B/s")
            text = f"{described.name}: the run moves {need} of memory traffic, the device has {has}"
            notes.append(f"{text}; lanes share no bandwidth, so that it would take longer (model sm_share shares it)")
    return tuple(notes)
