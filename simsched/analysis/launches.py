"""What the host did: which launch occupied which of its threads when, from the trace."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from simsched.analysis.parts import Part
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Trace


class Host:
    """The launches of one run.

    Parameters
    ----------
    problem : Problem
    trace : Trace
    """

    def __init__(self, problem: Problem, trace: Trace) -> None:
        self._host, self._trace = problem.hardware.host, trace
        self.charged = bool(trace.launched) and self._host.mode != "free"
        """Whether launches cost anything."""
        self.serial = self.charged and self._host.mode == "serial"

    @cached_property
    def threads(self) -> dict[int, list[OpId]]:
        """Operators of each thread that launched any, in the order of their launches."""
        found: dict[int, list[OpId]] = {}
        for op in self._trace.launch_order if self.serial else ():
            found.setdefault(self.thread(op), []).append(op)
        return dict(sorted(found.items()))

    @cached_property
    def _place(self) -> dict[OpId, int]:
        return {op: place for ops in self.threads.values() for place, op in enumerate(ops)}

    def thread(self, op: OpId) -> int:
        """The thread that launched an operator."""
        return self._trace.stream[op] % self._host.threads

    def through(self, op: OpId) -> int:
        """When the launch of an operator was through, in ns; its dispatch where launches cost nothing."""
        return self._trace.launched[op] if self.charged else self._trace.dispatch[op]

    def begin(self, op: OpId) -> int:
        """When the launch of an operator began; a whole graph is launched from 0 on, whoever is dispatched when."""
        if self.serial:
            return max(self.through(op) - self._host.launch_ns, self._trace.dispatch[op])
        return 0 if self.charged and self.through(op) > self._trace.dispatch[op] else self._trace.dispatch[op]

    def noticed(self, op: OpId) -> int:
        """When the host could have begun the launch: it had learned of the completion at which it was dispatched."""
        dispatch = self._trace.dispatch[op]
        return min(dispatch + self._host.sync_ns, self.begin(op)) if self.serial and dispatch else dispatch

    def before(self, op: OpId) -> OpId | None:
        """The operator launched just before by the same thread."""
        place = self._place.get(op, 0)
        return self.threads[self.thread(op)][place - 1] if place else None

    def parts(self, op: OpId) -> Iterator[Part]:
        """Yield what the host did from the dispatch of an operator until its launch was through."""
        dispatch, through = self._trace.dispatch[op], self.through(op)
        if through <= dispatch:
            return
        if not self.serial:
            yield Part("wait", "host_graph", dispatch, through)
            return
        noticed, begin = self.noticed(op), self.begin(op)
        if noticed > dispatch:
            yield Part("wait", "host_sync", dispatch, noticed)
        if begin > noticed:
            ops, place = self.threads[self.thread(op)], self._place[op]
            done = bisect_right(ops, noticed, hi=place, key=self._trace.launched.__getitem__)
            yield Part("wait", "host", noticed, begin, self.before(op), ahead=place - done)
        if through > begin:
            yield Part("wait", "host_launch", begin, through)
