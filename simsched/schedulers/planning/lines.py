"""The pair of lowest key, quickly, where keys are a start and what is known of operator and device beforehand.

Where nothing goes into gaps, an operator can start on a device when its inputs are there and the device has room for
it, whatever comes later. The second is the same for all operators that hold the same units. So those that only wait for
room stand in one line, in an order that does not change while they wait, and nobody has to look at each of them
whenever something has been placed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from simsched.graph.model import OpId
from simsched.schedulers.planning.costs import DeviceId
from simsched.schedulers.planning.partial import PartialPlan
from simsched.schedulers.planning.priorities import Ranking

Place = tuple[int, int, OpId, int]
"""Key, priority negated, operator, and its start: the lowest is placed next."""
Rest = Callable[[OpId, DeviceId], int]
"""What the key of an operator on a device is beside ``scale`` times its start."""


class _Line:
    """Ready operators that hold the same units on one device; those placed elsewhere are dropped when they come up."""

    def __init__(self, room: Callable[[], int], scale: int) -> None:
        self._room = room
        self._scale = scale
        self._there: list[tuple[int, int, OpId]] = []
        self._coming: list[tuple[int, int, int, OpId]] = []
        self._later: list[Place] = []

    def add(self, arrival: int, rest: int, priority: int, op: OpId) -> None:
        """Add an operator whose inputs arrive at an instant."""
        heappush(self._coming, (arrival, rest, -priority, op))
        heappush(self._later, (self._scale * arrival + rest, -priority, op, arrival))

    def first(self, placed: bytearray) -> Place | None:
        """Return whose key is lowest here, or None where nobody is left."""
        there, coming, later, room = self._there, self._coming, self._later, self._room()
        while coming and coming[0][0] <= room:
            heappush(there, heappop(coming)[1:])
        while there and placed[there[0][2]]:
            heappop(there)
        # Who has come since stands among those that are there.
        while later and (later[0][3] <= room or placed[later[0][2]]):
            heappop(later)
        if not there:
            return later[0] if later else None
        rest, priority, op = there[0]
        now = (self._scale * room + rest, priority, op, room)
        return later[0] if later and later[0] < now else now


class _Lines:
    """All lines of one device."""

    def __init__(self, plan: PartialPlan, device: DeviceId, scale: int) -> None:
        self._machine = plan.machines[device]
        self._needs = plan.needs[device]
        self._scale = scale
        self._lines: dict[int, _Line] = {}

    def add(self, arrival: int, rest: int, priority: int, op: OpId) -> None:
        """Add an operator whose inputs arrive at an instant."""
        need = self._needs.get(op, 0)
        line = self._lines.get(need)
        if line is None:
            earliest = self._machine.earliest
            line = self._lines[need] = _Line(lambda: earliest(op, 0, 0), self._scale)
        line.add(arrival, rest, priority, op)

    def first(self, placed: bytearray) -> Place | None:
        """Return whose key is lowest on the device, or None where nobody is left; lines that are empty go."""
        best: Place | None = None
        for need, line in list(self._lines.items()):
            place = line.first(placed)
            if place is None:
                del self._lines[need]
            elif best is None or place < best:
                best = place
        return best


def place_by_lines(
    plan: PartialPlan,
    ranking: Ranking,
    first: Iterable[OpId],
    after: Callable[[OpId], Iterable[OpId]],
    scale: int,
    rest: Rest,
) -> None:
    """Fill a plan without insertion: always the pair of operator and device of lowest key.

    Parameters
    ----------
    plan : PartialPlan
        Without insertion, and with nothing placed but what has begun.
    ranking : Ranking
        Of equal keys the higher value goes first, then the lower id, on the first device.
    first : iterable of int
        Operators that are ready at the beginning.
    after : callable
        Operators that become ready when one is placed.
    scale : int
    rest : callable
        The key of a pair is ``scale * start + rest(op, device)``.
    """
    values, allowed = ranking.values, plan.costs.allowed
    lines = [_Lines(plan, device, scale) for device in plan.costs.devices]
    placed = bytearray(plan.costs.count)

    def add(ops: Iterable[OpId]) -> None:
        for op in ops:
            arrivals = plan.arrivals(op)
            for device in allowed[op]:
                lines[device].add(arrivals[device], rest(op, device), values[op], op)

    add(first)
    while True:
        best: Place | None = None
        home = -1
        for device, queue in enumerate(lines):
            place = queue.first(placed)
            # Of one operator on several devices with equal keys, the first device is taken, whatever its start there.
            if place is not None and (best is None or place[:3] < best[:3]):
                best, home = place, device
        if best is None:
            return
        _, _, op, start = best
        plan.place(op, home, start)
        placed[op] = 1
        add(after(op))
