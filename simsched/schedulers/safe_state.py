"""Which operators may start early without a dead end in memory: the safe states of Dijkstra's banker.

A frugal order of all operators, run one at a time, is known to fit below a target. A state is safe if, once everything
that has started is done, the rest of that order still fits (E. W. Dijkstra, "Een algorithme ter voorkoming van de
dodelijke omarming", EWD 108, 1965). The next operator of the order may always start; another one, if the state after it
is safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simsched.graph.lifetimes import LiveSet
from simsched.graph.model import Graph, OpId, TensorId

WINDOW = 1024
"""Positions of the frugal order that are walked at most to find out whether a state is safe."""


class SafeState:
    """The state of a run in which everything that has started is done.

    Parameters
    ----------
    graph : Graph
    workspace : sequence of int
        Bytes per operator.
    order : sequence of int
        The frugal order.
    target : int
        Bytes that are not to be exceeded.
    """

    def __init__(self, graph: Graph, workspace: Sequence[int], order: Sequence[OpId], target: int) -> None:
        self._graph = graph
        self._done = LiveSet(graph, workspace)
        self._order = order
        self._target = target
        self._position = [0] * len(order)
        for position, op in enumerate(order):
            self._position[op] = position
        self._peak_from = _peaks_to_come(LiveSet(graph, workspace), order)
        self._started = bytearray(len(order))
        self._next = 0
        self._last = -1
        self._ahead = 0

    @property
    def following(self) -> OpId:
        """The first operator of the frugal order that has not started."""
        return self._order[self._next]

    def soon(self) -> Iterator[OpId]:
        """Operators that have not started, of the part of the frugal order that is walked, in its order."""
        return (op for op in self._order[self._next : self._next + WINDOW] if not self._started[op])

    def delta(self, op: OpId) -> int:
        """Change of live bytes by ``op``."""
        return self._done.delta(op)

    def allows(self, op: OpId) -> bool:
        """Whether the state after starting ``op`` is safe; False also where finding out would take too long."""
        if op == self.following:
            return True
        if self._done.during(op) > self._target:
            return False
        # From a safe state, what frees at least as much as it leaves only lowers what is live until its own turn.
        if self._done.delta(op) <= 0:
            return True
        # What has started out of turn adds at most its live outputs to what the frugal order itself needs.
        if self._peak_from[self._next] + self._ahead + self._done.outputs[op] <= self._target:
            return True
        last = max(self._last, self._position[op])
        if last - self._next > WINDOW:
            return False
        # Beyond the last operator that has started the state is that of the frugal order itself, which fits.
        between = [other for other in self._order[self._next : last] if not self._started[other] and other != op]
        return self._done.peak_of([op, *between], enough=self._target) <= self._target

    def start(self, op: OpId) -> list[TensorId]:
        """Note that ``op`` starts; returns the buffers that now have one reader left."""
        done, graph = self._done, self._graph
        for buffer in done.freed_by(op):
            if self._position[graph.tensor_producer[buffer]] >= self._next:
                self._ahead -= graph.tensor_bytes[buffer]
        single = done.run(op)
        self._ahead += done.alive_outputs(op)
        self._started[op] = 1
        self._last = max(self._last, self._position[op])
        while self._next < len(self._order) and self._started[self._order[self._next]]:
            self._ahead -= done.alive_outputs(self._order[self._next])
            self._next += 1
        return single


def _peaks_to_come(state: LiveSet, order: Sequence[OpId]) -> list[int]:
    """Peak of the frugal order from each of its positions on."""
    peaks = []
    for op in order:
        peaks.append(state.during(op))
        state.run(op)
    for position in range(len(peaks) - 2, -1, -1):
        peaks[position] = max(peaks[position], peaks[position + 1])
    return peaks
