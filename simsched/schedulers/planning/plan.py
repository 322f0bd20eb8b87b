"""Plan: a start, an end and a stream for each operator, as a planner expects them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simsched.graph.model import OpId
from simsched.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Plan:
    """What a planner expects; all columns are indexed by operator id, times are in ns.

    Attributes
    ----------
    stream : sequence of int
        Stream of each operator, by its id in the problem.
    start, end : sequence of int
    """

    stream: Sequence[int]
    start: Sequence[int]
    end: Sequence[int]

    @property
    def makespan(self) -> int:
        """Last end in ns; 0 for an empty plan."""
        return max(self.end, default=0)

    @property
    def order(self) -> list[OpId]:
        """Operators by start; of one instant those that take no time first, then by id, which is topological."""
        return sorted(range(len(self.start)), key=lambda op: (self.start[op], self.end[op] > self.start[op], op))

    def schedule(self) -> Schedule:
        """Return the order on each stream and of the launches, which the engine can follow."""
        streams: dict[int, list[OpId]] = {}
        for op in self.order:
            streams.setdefault(self.stream[op], []).append(op)
        return Schedule({stream: tuple(ops) for stream, ops in sorted(streams.items())}, tuple(self.order))
