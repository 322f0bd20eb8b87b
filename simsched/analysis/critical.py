"""The realised critical path of a run: the chain of operators and reasons that made it as long as it is.

It goes back from the operator that ended last: what was the last thing that this operator waited for? A predecessor,
data on its way, the operator before it in its stream, units or bytes that another gave back, or the policy. The chain
fills the run from 0 to the makespan without gap or overlap, so that its segments add up to the makespan.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Trace

Reason = Literal["start", "dependency", "transfer", "stream", "resource", "memory", "queue", "policy", "idle"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of the realised critical path.

    Attributes
    ----------
    kind : {"operator", "transfer", "idle"}
    op : int or None
        The operator that runs; for a transfer and for idle time the one that waits.
    start, end : int
        ns.
    reason : str
        Why it begins when it does. For an operator: ``start`` (nothing came before), ``dependency`` (the segment
        before made its input), ``transfer`` (its input arrived), ``stream`` (the segment before had its stream),
        ``resource``, ``memory``, ``queue`` (the end of the segment before let the device admit it), ``policy`` (it
        could have run before, and was dispatched when the segment before ended), ``idle`` (nothing else ran). For
        other segments the word is that of the operator behind them.
    """

    kind: Literal["operator", "transfer", "idle"]
    op: OpId
    start: int
    end: int
    reason: Reason


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
        change comes first: dependency, transfer, stream, the device's consent, the policy; ties go to the lowest id.
    """
    return _Walk(problem, trace).path()


def realised_critical_path(problem: Problem, trace: Trace) -> tuple[OpId, ...]:
    """Return the operators of the realised critical path in order of time; see :func:`realised_path`."""
    return tuple(segment.op for segment in realised_path(problem, trace) if segment.kind == "operator")


class _Walk:
    """A walk back through one run."""

    def __init__(self, problem: Problem, trace: Trace) -> None:
        self._problem = problem
        self._trace = trace
        count = len(trace)
        self._start, self._end = list(trace.start), list(trace.end)
        self._before: dict[OpId, OpId] = {}
        last: dict[int, OpId] = {}
        for op in trace.launch_order:
            stream = trace.stream[op]
            if stream in last:
                self._before[op] = last[stream]
            last[stream] = op
        self._by_end = sorted(range(count), key=self._end.__getitem__)
        self._ends = [self._end[op] for op in self._by_end]
        self._seen: set[OpId] = set()
        self._wait = {wait.op: wait.reason for wait in trace.waits if wait.end == self._start[wait.op]}

    def path(self) -> tuple[Segment, ...]:
        """Walk back from the last end."""
        if not self._by_end:
            return ()
        makespan = self._ends[-1]
        first = bisect_left(self._ends, makespan)
        op = max(self._by_end[first:], key=lambda other: (self._start[other], other))
        segments: list[Segment] = []
        while True:
            self._seen.add(op)
            reason, cause = self._cause(op)
            start, end = self._start[op], self._end[op]
            segments.append(Segment("operator", op, start, end, reason))
            if cause is None:
                if start:
                    segments.append(Segment("idle", op, 0, start, "idle"))
                break
            if self._end[cause] < start:
                kind: Literal["transfer", "idle"] = "transfer" if reason == "transfer" else "idle"
                segments.append(Segment(kind, op, self._end[cause], start, reason))
            op = cause
        return tuple(reversed(segments))

    def _cause(self, op: OpId) -> tuple[Reason, OpId | None]:
        """Say what an operator's start waited for last, and which operator that leads to.

        The cause ended by then, and has not been on the path; so the walk ends. Only operators that take no time could
        come back: all those of one instant end when they start.
        """
        start = self._start[op]
        found = self._last_input(op)
        if found is not None:
            return found
        before = self._before.get(op)
        if before is not None and self._end[before] == start and before not in self._seen:
            return "stream", before
        if start == 0:
            return "start", None
        ended = self._ended_at(start)
        if op in self._wait and ended:
            here = self._device(op)
            local = [other for other in ended if self._device(other) == here]
            return self._wait[op], self._largest(op, local or ended)
        if ended:
            return "policy", min(ended)
        return "idle", self._last_ended(start)

    def _last_input(self, op: OpId) -> tuple[Reason, OpId] | None:
        """Return the predecessor whose end, or whose data's arrival, is the operator's start."""
        start, here = self._start[op], self._device(op)
        for before in self._problem.graph.pred[op]:
            if self._end[before] == start and before not in self._seen:
                return "dependency", before
        for before in self._problem.graph.pred[op]:
            there = self._device(before)
            if there != here and self._end[before] + self._problem.transfer_ns(before, op, there, here) == start:
                return "transfer", before
        return None

    def _device(self, op: OpId) -> int:
        return self._problem.stream_device[self._trace.stream[op]]

    def _ended_at(self, time: int) -> Sequence[OpId]:
        """Operators that ended at an instant, ascending; those that took no time only where there are no others."""
        low, high = bisect_left(self._ends, time), bisect_right(self._ends, time)
        ended = sorted(other for other in self._by_end[low:high] if other not in self._seen)
        return [other for other in ended if self._start[other] < time] or ended

    def _largest(self, op: OpId, ended: Sequence[OpId]) -> OpId:
        """Among operators that ended, the one that gave back most of what ``op`` demands."""
        device = self._device(op)
        wanted = self._problem.demand(op, device)

        def returned(other: OpId) -> int:
            held = self._problem.demand(other, device)
            return sum(min(held.get(name, 0), units) for name, units in wanted.items())

        return max(ended, key=lambda other: (returned(other), -other))

    def _last_ended(self, time: int) -> OpId | None:
        """Return the operator that ended last before an instant."""
        number = bisect_left(self._ends, time) - 1
        return self._by_end[number] if number >= 0 else None
