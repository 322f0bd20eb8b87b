"""Device model ``lanes``: k identical machines, fixed durations.

Each stream is one machine, as in scheduling theory (P | prec | Cmax). An operator may also demand renewable
resources, held for its whole duration; operators that do not fit are passed over, so that later launches may start.
Launch order is thus what the priority list is in theory: a schedule in which nothing that fits ever waits is repeated
when its operators are launched in the order of their starts.

Not modelled: a stream of a real GPU is *not* a machine; kernels of several streams share SMs and bandwidth. Use
``sm_share`` for that.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from simsched.engine.devices.base import Site, Start
from simsched.graph.model import OpId


class Lanes:
    """Starts every pending operator that fits, earliest launch first; passes over those that do not."""

    def __init__(self, site: Site) -> None:
        self._gate, self._waits, self._durations = site.gate, site.waits, site.durations
        self._pending: list[tuple[int, OpId]] = []

    def push(self, op: OpId, launch: int) -> None:
        """Let an operator enter."""
        insort(self._pending, (launch, op))

    def advance(self, now: int, start: Start) -> None:
        """Start what fits."""
        left: list[tuple[int, OpId]] = []
        for entry in self._pending:
            op = entry[1]
            lacking = self._gate.lacks(op)
            if lacking is None:
                start(op)
                continue
            left.append(entry)
            if self._waits.reason(op) != lacking:
                self._waits.begin(op, lacking, now, self._gate.words(op))
        self._pending = left

    def run(self, op: OpId, now: int) -> int | None:
        """Return the end: nothing is shared."""
        return now + self._durations[op]

    def body(self, op: OpId, now: int) -> None:
        """Do nothing: the launch gap is like the rest."""

    def next_time(self, now: int) -> int | None:
        """Return None: ends are known at the start."""
        del now
        return None

    def due(self, now: int) -> Sequence[OpId]:
        """Return nothing: ends are known at the start."""
        del now
        return ()

    def waiting(self) -> bool:
        """Whether any operator waits."""
        return bool(self._pending)

    def pending(self) -> Sequence[OpId]:
        """Operators that wait, earliest launch first."""
        return [op for _, op in self._pending]
