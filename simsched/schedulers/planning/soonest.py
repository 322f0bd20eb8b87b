"""The pair that can start first, quickly: what ETF, the parallel scheme, Hu, and Coffman and Graham ask at every step.

Where nothing goes into gaps, an operator can start on a device when its inputs are there and the device has room for
it, whatever comes later. The second is the same for all operators that hold the same units. So those that only wait for
room stand in one line, by priority, and nobody has to look at each of them whenever something has been placed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from simsched.graph.model import OpId
from simsched.schedulers.planning.costs import DeviceId
from simsched.schedulers.planning.partial import PartialPlan
from simsched.schedulers.planning.priorities import Ranking

Place = tuple[int, int, OpId]
"""Start, priority negated, and operator: the lowest is placed next."""


class _Line:
    """Ready operators that hold the same units on one device; those placed elsewhere are dropped when they come up."""

    def __init__(self, room: Callable[[], int]) -> None:
        self._room = room
        self._there: list[tuple[int, OpId]] = []
        self._coming: list[Place] = []

    def add(self, arrival: int, priority: int, op: OpId) -> None:
        """Add an operator whose inputs arrive at an instant."""
        heappush(self._coming, (arrival, -priority, op))

    def first(self, placed: bytearray) -> Place | None:
        """Return who would start first here, or None where nobody is left."""
        there, coming, room = self._there, self._coming, self._room()
        while coming and (coming[0][0] <= room or placed[coming[0][2]]):
            _, priority, op = heappop(coming)
            heappush(there, (priority, op))
        while there and placed[there[0][1]]:
            heappop(there)
        if there:
            return room, *there[0]
        return coming[0] if coming else None


class _Lines:
    """All lines of one device."""

    def __init__(self, plan: PartialPlan, device: DeviceId) -> None:
        self._machine = plan.machines[device]
        self._needs = plan.needs[device]
        self._lines: dict[int, _Line] = {}

    def add(self, arrival: int, priority: int, op: OpId) -> None:
        """Add an operator whose inputs arrive at an instant."""
        need = self._needs.get(op, 0)
        line = self._lines.get(need)
        if line is None:
            earliest = self._machine.earliest
            line = self._lines[need] = _Line(lambda: earliest(op, 0, 0))
        line.add(arrival, priority, op)

    def first(self, placed: bytearray) -> Place | None:
        """Return who would start first on the device, or None where nobody is left; lines that are empty go."""
        best: Place | None = None
        for need, line in list(self._lines.items()):
            place = line.first(placed)
            if place is None:
                del self._lines[need]
            elif best is None or place < best:
                best = place
        return best


def place_soonest(
    plan: PartialPlan, ranking: Ranking, first: Iterable[OpId], after: Callable[[OpId], Iterable[OpId]]
) -> None:
    """Fill a plan without insertion: always the pair of operator and device that can start first.

    Parameters
    ----------
    plan : PartialPlan
        Empty, without insertion.
    ranking : Ranking
        Of equal starts the higher value goes first, then the lower id, on the first device.
    first : iterable of int
        Operators that are ready at the beginning.
    after : callable
        Operators that become ready when one is placed.
    """
    values, allowed = ranking.values, plan.costs.allowed
    lines = [_Lines(plan, device) for device in plan.costs.devices]
    placed = bytearray(plan.costs.count)

    def add(ops: Iterable[OpId]) -> None:
        for op in ops:
            arrivals = plan.arrivals(op)
            for device in allowed[op]:
                lines[device].add(arrivals[device], values[op], op)

    add(first)
    while True:
        best: Place | None = None
        home = -1
        for device, queue in enumerate(lines):
            place = queue.first(placed)
            if place is not None and (best is None or place < best):
                best, home = place, device
        if best is None:
            return
        start, _, op = best
        plan.place(op, home, start)
        placed[op] = 1
        add(after(op))
