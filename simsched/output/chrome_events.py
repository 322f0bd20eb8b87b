"""The events of operators in a Chrome trace: spans, instants and arrows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from simsched.analysis.critical import realised_path
from simsched.analysis.explain import Explanation
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

    @cached_property
    def story(self) -> Explanation:
        """The reasons of the run."""
        return Explanation(self.result)

    @cached_property
    def critical(self) -> frozenset[tuple[str, int]]:
        """What lies on the realised critical path: operators, launches (``host``) and copies, by their numbers."""
        path = realised_path(self.result.problem, self.trace)
        return frozenset((part.kind, part.copy if part.kind == "copy" else part.op) for part in path)

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

    def last(self, start: int, end: int) -> float | int:
        """Time of the last nanosecond of a span: its very end would already belong to the next one."""
        return end - 0.001 if self.ticks else self.time(max(end - 1, start))

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
    slacks = _slacks(selection)
    waits = _waits(selection)
    for op in selection.ops:
        critical = ("operator", op) in selection.critical
        args = _arguments(selection, op, slacks[op], waits.get(op, {}))
        args |= _reasons(selection, op)
        args["on_critical_path"] = critical
        category = "kernel,critical" if critical else "kernel"
        name = problem.graph.names[op]
        yield selection.span(name, category, selection.place(op), trace.start[op], trace.end[op], args)


def _reasons(selection: Selection, op: OpId) -> JsonEvent:
    """What an operator waited for after its last predecessor had ended, and how it ran, in ns by reason."""
    story, suffix, args = selection.story, selection.suffix, JsonEvent()
    waited: dict[str, int] = {}
    for part in story.outline(op):
        if part.reason != "dependency":
            waited[part.reason] = waited.get(part.reason, 0) + part.length
    if waited:
        args[f"waited_{suffix}"] = waited
    took, alone = selection.trace.end[op] - selection.trace.start[op], story.speeds.alone(op)
    spent = story.spent(op) if took else {}
    if len(spent) > 1:
        args[f"ran_{suffix}"] = spent
    if took > alone:
        args |= {f"alone_{suffix}": alone, "speed": round(alone / took, 4)}
        slowed = max((part for part in story.runs(op) if part.speed < 1), key=lambda part: part.length, default=None)
        others = () if slowed is None else story.sharers(op, slowed) or story.holders(slowed, but=op)
        if others:
            args["shared_with"] = ", ".join(selection.result.problem.graph.names[other] for other, _ in others[:3])
    return args


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
    if cost.grid:
        args["grid"] = [cost.grid, 1, 1]
        args["block"] = [cost.block.threads if cost.block else 1, 1, 1]
    if selection.result.actual is not None:
        args[f"estimate_{suffix}"] = problem.durations(device)[op]
    return args


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
        inside = selection.last(start[source], end[source])
        yield {"ph": "s", **common, **selection.place(source), "ts": inside}
        yield {"ph": "f", "bp": "e", **common, **selection.place(target), "ts": selection.time(start[target])}
