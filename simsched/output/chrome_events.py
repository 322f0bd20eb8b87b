"""The events of a Chrome trace: spans, instants, counters and arrows of one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import Any

from simsched.analysis.critical import realised_path
from simsched.graph.model import DependencyKind, OpId
from simsched.graph.ranks import slack
from simsched.result import Result
from simsched.trace import Trace

JsonEvent = dict[str, Any]


@dataclass(frozen=True)
class Selection:
    """What is written of a run, and how its times and places are.

    Process ids are the devices from 1, then the copies, then the host; the thread id of a stream is its number + 1,
    unique over all devices.
    """

    result: Result
    max_ops: int | None = None

    @property
    def trace(self) -> Trace:
        """The trace of the run."""
        return self.result.trace

    @property
    def ticks(self) -> bool:
        """Whether times are ticks."""
        return self.result.problem.graph.time_unit == "tick"

    @property
    def suffix(self) -> str:
        """Unit of bare times, at the end of their keys."""
        return "ticks" if self.ticks else "ns"

    @cached_property
    def ops(self) -> list[OpId]:
        """Operators that are written, by start."""
        return list(self.trace.start_order)[: self.max_ops]

    @cached_property
    def kept(self) -> frozenset[OpId]:
        """The same, to ask whether one is among them."""
        return frozenset(self.ops)

    @cached_property
    def horizon(self) -> int:
        """End of the last operator that is written."""
        return max((self.trace.end[op] for op in self.ops), default=0)

    @property
    def copies_pid(self) -> int:
        """Process of the copies."""
        return len(self.result.problem.devices) + 1

    @property
    def host_pid(self) -> int:
        """Process of the host."""
        return len(self.result.problem.devices) + 2

    def time(self, instant: int) -> float | int:
        """Microseconds, whole where they are: viewers multiply by 1,000 and round, which gives back every ns."""
        if self.ticks:
            return instant
        return instant / 1000 if instant % 1000 else instant // 1000

    def place(self, op: OpId) -> JsonEvent:
        """Process and thread of an operator."""
        stream = self.trace.stream[op]
        return {"pid": self.result.problem.stream_device[stream] + 1, "tid": stream + 1}

    def span(self, name: str, category: str, place: JsonEvent, start: int, end: int, args: JsonEvent) -> JsonEvent:
        """Return a complete event, or an instant where nothing would be seen of a span."""
        head: JsonEvent = {"ph": "X" if end > start else "i", "name": name or "(unnamed)", "cat": category, **place}
        return (
            head
            | {"ts": self.time(start)}
            | ({"dur": self.time(end - start)} if end > start else {"s": "t"})
            | {"args": args}
        )


def kernels(selection: Selection) -> Iterator[JsonEvent]:
    """Yield one event per operator, by start."""
    trace, problem = selection.trace, selection.result.problem
    critical = {segment.op for segment in realised_path(problem, trace) if segment.kind == "operator"}
    slacks = _slacks(selection)
    waits = _waits(selection)
    for op in selection.ops:
        args = _arguments(selection, op, slacks[op], waits.get(op, {}))
        args["on_critical_path"] = op in critical
        category = "kernel,critical" if op in critical else "kernel"
        name = problem.graph.names[op]
        yield selection.span(name, category, selection.place(op), trace.start[op], trace.end[op], args)


def _slacks(selection: Selection) -> list[int]:
    """Return the slack of each operator against the longest path of the durations that the run had."""
    times = zip(selection.trace.start, selection.trace.end, strict=True)
    return slack(selection.result.problem.graph, [end - start for start, end in times])


def _waits(selection: Selection) -> Mapping[OpId, dict[str, int]]:
    """Return how long each operator waited at the head of its stream, by reason."""
    total: dict[OpId, dict[str, int]] = {}
    for wait in selection.trace.waits:
        reasons = total.setdefault(wait.op, {})
        reasons[wait.reason] = reasons.get(wait.reason, 0) + wait.end - wait.start
    return total


def _arguments(selection: Selection, op: OpId, room: int, waits: Mapping[str, int]) -> JsonEvent:
    problem, trace, suffix = selection.result.problem, selection.trace, selection.suffix
    device = problem.stream_device[trace.stream[op]]
    cost = problem.cost(op, device)
    args: JsonEvent = {
        "op_type": problem.graph.op_types[op],
        "device": problem.devices[device].name,
        "stream": problem.stream_names[trace.stream[op]],
        "correlation": op,
        "flops": cost.flops,
        "bytes": cost.bytes,
        "bound": cost.bound,
        f"slack_{suffix}": room,
        f"ready_{suffix}": trace.ready[op],
    }
    if waits:
        args["wait_reason"] = ", ".join(sorted(waits))
        args[f"wait_{suffix}"] = sum(waits.values())
    if op in trace.reasons:
        args["reason"] = trace.reasons[op]
    for resource, units in sorted(problem.demand(op, device).items()):
        args[f"demand_{resource}"] = units
    if selection.result.actual is not None:
        args[f"estimate_{suffix}"] = problem.durations(device)[op]
    return args


def copies(selection: Selection) -> Iterator[JsonEvent]:
    """Yield one event per transfer between devices."""
    names = selection.result.problem.graph.names
    for index, (tid, _) in copy_tracks(selection).items():
        move = selection.trace.transfers[index]
        source, target = names[move.source], names[move.target]
        args = {"bytes": move.bytes, "source": source, "target": target}
        place = {"pid": selection.copies_pid, "tid": tid}
        yield selection.span(f"{source} to {target}", "gpu_memcpy", place, move.start, move.end, args)


def copy_tracks(selection: Selection) -> dict[int, tuple[int, str]]:
    """Give each transfer a thread: one per direction, and more where transfers of one direction overlap.

    Returns
    -------
    dict
        Index of the transfer to thread id and name, by start.
    """
    moves, devices = selection.trace.transfers, selection.result.problem.devices
    free: dict[tuple[int, int], list[tuple[int, int]]] = {}
    lane_of: dict[int, tuple[int, int, int]] = {}
    for index in sorted(range(len(moves)), key=lambda number: (moves[number].start, moves[number].end, number)):
        move = moves[index]
        if move.target in selection.kept:
            lanes = free.setdefault((move.from_device, move.to_device), [])
            lane = heappop(lanes)[1] if lanes and lanes[0][0] <= move.start else len(lanes) + 1
            heappush(lanes, (move.end, lane))
            lane_of[index] = (move.from_device, move.to_device, lane)
    tids = {lane: number + 1 for number, lane in enumerate(sorted(set(lane_of.values())))}
    return {
        index: (tids[lane], f"{devices[lane[0]].name} to {devices[lane[1]].name} #{lane[2]}")
        for index, lane in lane_of.items()
    }


def dispatches(selection: Selection) -> Iterator[JsonEvent]:
    """Yield one instant per dispatch, on the host."""
    names, trace = selection.result.problem.graph.names, selection.trace
    place = {"pid": selection.host_pid, "tid": 1}
    for op in trace.launch_order:
        if op in selection.kept:
            args: JsonEvent = {"correlation": op}
            if op in trace.reasons:
                args["reason"] = trace.reasons[op]
            at = trace.dispatch[op]
            yield selection.span(f"dispatch {names[op]}", "cpu_op", place, at, at, args)


def counters(selection: Selection) -> Iterator[JsonEvent]:
    """Yield live bytes, busy units of each resource and running kernels of each device, after each change."""
    for number in range(len(selection.result.problem.devices)):
        for time, live in selection.trace.memory.curve(number):
            if time <= selection.horizon:
                yield _counter(selection, number, "memory_used", "bytes", time, live)
        for name, changes in _usage(selection, number).items():
            level = 0
            for time in sorted(changes):
                level += changes[time]
                yield _counter(selection, number, name, "units", time, level)


def _usage(selection: Selection, device: int) -> dict[str, dict[int, int]]:
    """Return the changes of the units in use, by counter and instant."""
    problem, trace = selection.result.problem, selection.trace
    changes: dict[str, dict[int, int]] = {"kernels_running": {}}
    changes |= {f"{resource}_busy": {} for resource in sorted(problem.devices[device].resources)}
    for op in selection.ops:
        if problem.stream_device[trace.stream[op]] == device and trace.end[op] > trace.start[op]:
            held = {f"{resource}_busy": units for resource, units in problem.demand(op, device).items()}
            for name, units in {"kernels_running": 1, **held}.items():
                steps = changes[name]
                for time, change in ((trace.start[op], units), (trace.end[op], -units)):
                    steps[time] = steps.get(time, 0) + change
    return changes


def _counter(selection: Selection, device: int, name: str, key: str, time: int, value: int) -> JsonEvent:
    return {"ph": "C", "name": name, "pid": device + 1, "ts": selection.time(time), "args": {key: value}}


def flow_arrows(selection: Selection) -> Iterator[JsonEvent]:
    """Yield an arrow per dependency, from the last nanosecond of the source's span to the start of the target's.

    A viewer ties each end to the span around it: the very end of a span would already belong to the next one.
    """
    kinds: dict[tuple[OpId, OpId], int] = {}
    edges = selection.result.problem.graph.edges
    for source, target, code in zip(edges.source, edges.target, edges.kind, strict=True):
        kinds[source, target] = min(code, kinds.get((source, target), code))
    start, end = selection.trace.start, selection.trace.end
    for number, (source, target) in enumerate(sorted(kinds)):
        if not {source, target} <= selection.kept or end[source] == start[source] or end[target] == start[target]:
            continue
        kind = DependencyKind(kinds[source, target]).name.lower()
        common = {"name": kind, "cat": "dependency", "id": number + 1}
        inside = end[source] - 0.001 if selection.ticks else selection.time(end[source] - 1)
        yield {"ph": "s", **common, **selection.place(source), "ts": inside}
        yield {"ph": "f", "bp": "e", **common, **selection.place(target), "ts": selection.time(start[target])}
