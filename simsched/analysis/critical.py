"""The realised critical path of a run: the chain of operators and reasons that made it as long as it is.

It goes back from the operator that ended last: what was the last thing that this operator waited for? A predecessor,
data on its way, its launch by the host, the operator before it in its stream, units or bytes that another gave back, or
the policy. A copy leads to what made its tensor, or to the copy whose engine it took; a launch to the one before it in
the same thread of the host. The chain fills the run from 0 to the makespan without gap or overlap, so that its segments
add up to the makespan.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from simsched.analysis.launches import Host
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Cohort, Trace

Kind = Literal["operator", "transfer", "delay", "copy", "event", "host", "host_sync", "idle"]
Reason = Literal[
    "start", "dependency", "event", "transfer", "host", "stream", "resource", "memory", "queue", "copy", "policy",
    "idle",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of the realised critical path.

    Attributes
    ----------
    kind : str
        ``operator``; ``copy`` (a tensor is copied to another device, latency included); ``host`` (an operator is
        launched); time in which nothing of these happened: ``delay`` (that of an edge), ``transfer`` (data on its
        way, of which the trace records no copy), ``event`` (the end of an operator in another stream is not seen
        yet), ``host_sync`` (the host learns of a completion), ``idle``.
    op : int
        The operator that runs, or is launched; of a copy the first that reads it; else the one that waits.
    start, end : int
        ns.
    reason : str
        Why it begins when it does. For an operator: ``start`` (nothing came before), ``dependency`` (the segment
        before made its input), ``event`` (the end of that was seen), ``transfer`` (its input arrived), ``host`` (its
        launch came through), ``stream`` (the segment before had its stream), ``resource``, ``memory``, ``queue`` (the
        end of the segment before let the device admit it), ``policy`` (it could have run before, and was dispatched
        when the segment before ended), ``idle`` (nothing else ran). For a copy: ``dependency``, ``host`` or ``policy``
        (its reader was launched), ``copy`` or ``memory`` (the end of the segment before let it start). For a launch:
        ``host`` (its thread was free), ``policy``, ``start``. For other segments the word is that of the one behind.
    copy : int
        Of a copy its index in the trace's transfers; else -1.
    """

    kind: Kind
    op: OpId
    start: int
    end: int
    reason: Reason
    copy: int = -1


def realised_path(problem: Problem, trace: Trace) -> tuple[Segment, ...]:
    """Return the chain of segments that fills the run from 0 to its makespan.

    Parameters
    ----------
    problem : Problem
    trace : Trace
        A valid run.

    Returns
    -------
    tuple of Segment
        In order of time; empty for a run without operators. Where several reasons hold, the one that no scheduler can
        change comes first: dependency, transfer, host, stream, the device's consent, the policy; ties go to the lowest
        id. Where blocks of an operator gave back places while others of it still ran, its segment ends there.
    """
    return _Walk(problem, trace).path()


def realised_critical_path(problem: Problem, trace: Trace) -> tuple[OpId, ...]:
    """Return the operators of the realised critical path in order of time; see :func:`realised_path`."""
    return tuple(segment.op for segment in realised_path(problem, trace) if segment.kind == "operator")


class _Node(NamedTuple):
    """An operator, a copy (by its index) or the launch of an operator, up to an instant."""

    kind: Literal["operator", "copy", "host"]
    number: int
    until: int


class _Cause(NamedTuple):
    """Why a node began when it did, what it leads to, and what the time between both is."""

    reason: Reason
    node: _Node | None
    gap: Kind = "idle"


class _Walk:
    """A walk back through one run."""

    def __init__(self, problem: Problem, trace: Trace) -> None:
        self._problem, self._trace = problem, trace
        self._host = Host(problem, trace)
        self._start, self._end = list(trace.start), list(trace.end)
        self._before: dict[OpId, OpId] = {}
        last: dict[int, OpId] = {}
        for op in trace.launch_order:
            stream = trace.stream[op]
            if stream in last:
                self._before[op] = last[stream]
            last[stream] = op
        self._by_end = sorted(range(len(trace)), key=self._end.__getitem__)
        self._ends = [self._end[op] for op in self._by_end]
        self._seen: set[tuple[str, int]] = set()
        self._wait = {wait.op: wait.reason for wait in trace.waits if wait.end == self._start[wait.op]}

    def path(self) -> tuple[Segment, ...]:
        """Walk back from the last end."""
        if not self._by_end:
            return ()
        makespan = self._ends[-1]
        first = bisect_left(self._ends, makespan)
        op = max(self._by_end[first:], key=lambda other: (self._start[other], other))
        segments: list[Segment] = []
        node = _Node("operator", op, makespan)
        while True:
            self._seen.add(node[:2])
            start, cause = self._begin(node), self._causes[node.kind](node.number)
            segments.append(self._segment(node, start, cause.reason))
            waiting, reached = segments[-1].op, 0 if cause.node is None else cause.node.until
            if node.kind == "host" and self._dispatched(node.number) < start:
                noticed, start = start, self._dispatched(node.number)
                segments.append(Segment("host_sync", waiting, start, noticed, cause.reason))
            if reached < start:
                gap = cause.gap if cause.node is not None else "idle"
                segments.append(Segment(gap, waiting, reached, start, cause.reason if gap != "idle" else "idle"))
            if cause.node is None:
                break
            node = cause.node
        return tuple(reversed(segments))

    @property
    def _causes(self) -> dict[str, Callable[[int], _Cause]]:
        return {"operator": self._of_operator, "copy": self._of_copy, "host": self._of_launch}

    def _begin(self, node: _Node) -> int:
        if node.kind == "operator":
            return self._start[node.number]
        return self._trace.transfers[node.number].start if node.kind == "copy" else self._host.begin(node.number)

    def _segment(self, node: _Node, start: int, reason: Reason) -> Segment:
        if node.kind == "copy":
            target = self._trace.transfers[node.number].target
            return Segment("copy", target, start, node.until, reason, node.number)
        return Segment(node.kind, node.number, start, node.until, reason)

    # --- what something began after -------------------------------------------------------------------------------

    def _of_operator(self, op: OpId) -> _Cause:
        """Say what an operator's start waited for last, and what that leads to.

        The cause ended by then, and has not been on the path; so the walk ends. Only what takes no time could come
        back: all that of one instant ends when it starts.
        """
        start = self._start[op]
        for cause in (*self._inputs(op), *self._commands(op)):
            if cause.node is None or cause.node[:2] not in self._seen:
                return cause
        if start == 0:
            return _Cause("start", None)
        if op in self._wait:
            here = self._device(op)
            ended = self._ended_at(start)
            local = [other for other in ended if self._device(other) == here]
            node = self._gave_places(op, start) if not local else None
            if node is None and (local or ended):
                node = self._operator(self._largest(op, local or ended))
            if node is not None:
                return _Cause(self._wait[op], node)
        return self._decided(start)

    def _inputs(self, op: OpId) -> Iterator[_Cause]:
        """Yield the inputs that came just when an operator started."""
        start, here, trace, graph = self._start[op], self._device(op), self._trace, self._problem.graph
        for before in graph.pred[op]:
            if self._end[before] == start:
                yield _Cause("dependency", self._operator(before))
        for before in graph.pred[op]:
            there, end = self._device(before), self._end[before]
            if there == here:
                if trace.stream[before] != trace.stream[op] and end + self._problem.event_ns == start:
                    yield _Cause("event", self._operator(before), "event")
                continue
            copies = [number for number in self._copies.get((before, here), ()) if self._reads(op, number)]
            delay = graph.delays.get((before, op), 0)
            for number in copies:
                if trace.transfers[number].end + delay == start:
                    yield _Cause("transfer", self._copy(number), "delay")
            moving = self._problem.transfer_ns(before, op, there, here)
            if not copies and end + moving == start:
                yield _Cause("transfer", self._operator(before), "delay" if moving == delay else "transfer")

    def _commands(self, op: OpId) -> Iterator[_Cause]:
        """Yield the launch of an operator, and the end of the one before it, where it started just then."""
        start = self._start[op]
        if self._host.charged and self._host.through(op) == start > self._trace.dispatch[op]:
            yield _Cause("host", _Node("host", op, start))
        before = self._before.get(op)
        if before is not None and self._end[before] == start:
            yield _Cause("stream", self._operator(before))

    def _of_copy(self, number: int) -> _Cause:
        """Say what a copy waited for last: what made its tensor, the launch of its reader, or another copy."""
        moves = self._trace.transfers
        move = moves[number]
        if move.start > move.asked:
            mine = {move.from_device, move.to_device}
            ended = [other for other in self._copies_ended.get(move.start, ()) if ("copy", other) not in self._seen]
            near = [other for other in ended if mine.intersection((moves[other].from_device, moves[other].to_device))]
            if near or ended:
                return _Cause("copy", self._copy((near or ended)[0]))
            ops = self._ended_at(move.start)
            if ops:
                return _Cause("memory", self._operator(ops[0]))
            return self._decided(move.start)
        if self._end[move.source] == move.start and ("operator", move.source) not in self._seen:
            return _Cause("dependency", self._operator(move.source))
        if self._host.charged and self._host.through(move.target) == move.start > self._trace.dispatch[move.target]:
            return _Cause("host", _Node("host", move.target, move.start))
        return self._decided(move.start)

    def _of_launch(self, op: OpId) -> _Cause:
        """Say what a launch waited for last: the one before it in its thread, or its dispatch."""
        before, begin = self._host.before(op) if self._host.serial else None, self._host.begin(op)
        if before is not None and self._host.through(before) == begin > self._host.noticed(op):
            return _Cause("host", _Node("host", before, begin))
        dispatched = self._dispatched(op)
        if not dispatched:
            return _Cause("start", None)
        ended = [other for other in self._problem.graph.pred[op] if self._end[other] == dispatched]
        fresh = [other for other in ended if ("operator", other) not in self._seen]
        return _Cause("policy", self._operator(fresh[0])) if fresh else self._decided(dispatched)

    def _dispatched(self, op: OpId) -> int:
        """Since when the launch of an operator waited for nothing but that the host learned of a completion."""
        begin = self._host.begin(op)
        return self._trace.dispatch[op] if self._host.serial and self._host.noticed(op) == begin else begin

    def _decided(self, time: int) -> _Cause:
        """What ended just when the policy dispatched something, or else last before."""
        ended = self._ended_at(time)
        if ended:
            return _Cause("policy", self._operator(min(ended)))
        copies = [number for number in self._copies_ended.get(time, ()) if ("copy", number) not in self._seen]
        if copies:
            return _Cause("policy", self._copy(copies[0]))
        number = bisect_left(self._ends, time) - 1
        return _Cause("idle", self._operator(self._by_end[number]) if number >= 0 else None)

    # --- who ended when -------------------------------------------------------------------------------------------

    def _operator(self, op: OpId) -> _Node:
        return _Node("operator", op, self._end[op])

    def _copy(self, number: int) -> _Node:
        return _Node("copy", number, self._trace.transfers[number].end)

    def _device(self, op: OpId) -> int:
        return self._problem.stream_device[self._trace.stream[op]]

    def _reads(self, op: OpId, number: int) -> bool:
        return op in self._problem.graph.tensor_consumers[self._trace.transfers[number].tensor]

    @cached_property
    def _copies(self) -> dict[tuple[OpId, int], list[int]]:
        """Copies by who made the tensor and the device to which it went."""
        found: dict[tuple[OpId, int], list[int]] = {}
        for number, move in enumerate(self._trace.transfers):
            if move.tensor >= 0:
                found.setdefault((move.source, move.to_device), []).append(number)
        return found

    @cached_property
    def _copies_ended(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, move in enumerate(self._trace.transfers):
            if move.tensor >= 0:
                found.setdefault(move.end, []).append(number)
        return found

    @cached_property
    def _cohorts_ended(self) -> dict[int, list[Cohort]]:
        found: dict[int, list[Cohort]] = {}
        for row in self._trace.cohorts:
            found.setdefault(row.end, []).append(row)
        return found

    def _ended_at(self, time: int) -> Sequence[OpId]:
        """Operators that ended at an instant, ascending; those that took no time only where there are no others."""
        low, high = bisect_left(self._ends, time), bisect_right(self._ends, time)
        ended = sorted(other for other in self._by_end[low:high] if ("operator", other) not in self._seen)
        return [other for other in ended if self._start[other] < time] or ended

    def _gave_places(self, op: OpId, time: int) -> _Node | None:
        """The operator most of whose blocks ended at an instant on the device of another, and that still ran then."""
        here, found = self._device(op), dict[OpId, int]()
        for row in self._cohorts_ended.get(time, ()):
            if self._device(row.op) == here and ("operator", row.op) not in self._seen:
                found[row.op] = found.get(row.op, 0) + row.blocks
        if not found:
            return None
        return _Node("operator", max(found, key=lambda other: (found[other], -other)), time)

    def _largest(self, op: OpId, ended: Sequence[OpId]) -> OpId:
        """Among operators that ended, the one that gave back most of what ``op`` demands."""
        device = self._device(op)
        wanted = self._problem.demand(op, device)

        def returned(other: OpId) -> int:
            held = self._problem.demand(other, device)
            return sum(min(held.get(name, 0), units) for name, units in wanted.items())

        return max(ended, key=lambda other: (returned(other), -other))
