"""Schedule generation on several devices: serial forward and backward passes with transfers between devices."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from simsched.schedulers.search.effort import Effort, Member
from simsched.schedulers.search.world import Rows, World, merge

FREE = -1
"""Device of an operator that goes where it ends first (in a backward pass: begins last)."""


class Several:
    """Makes members from orders and places, and pays for them.

    Parameters
    ----------
    world : World
    effort : Effort
    """

    def __init__(self, world: World, effort: Effort) -> None:
        self.world = world
        self._effort = effort

    def forward(self, order: Sequence[int], where: Sequence[int]) -> Member:
        """Start operators as early as possible on their devices, in a topological order."""
        self._effort.spend()
        start, end, places = self._serial(order, where, self.world.before, self.world.kind)
        order = sorted(range(len(end)), key=list(zip(end, start, strict=True)).__getitem__)
        return self._effort.note(Member(max(end, default=0), order, start, end, places, True))

    def backward(self, order: Sequence[int], where: Sequence[int]) -> Member:
        """End operators as late as possible, the last of the order first; the schedule begins at 0 all the same."""
        self._effort.spend()
        start, end, places = self._serial(order[::-1], where, self.world.after, self.world.kind_back)
        length = max(end, default=0)
        start, end = [length - time for time in end], [length - time for time in start]
        order = sorted(range(len(start)), key=list(zip(start, end, strict=True)).__getitem__)
        return self._effort.note(Member(length, order, start, end, places, False))

    def _serial(
        self, order: Sequence[int], where: Sequence[int], before: Rows, kind: Sequence[Sequence[int]]
    ) -> tuple[list[int], list[int], list[int]]:
        world = self.world
        durations, needs, guards, allowed = world.durations, world.needs, world.guard, world.allowed
        begin, end, places = [0] * world.count, [0] * world.count, list(where)
        times = [[0] for _ in guards]
        free = [[units] for units in world.full]
        for op in order:
            place = places[op]
            found = (-1, 0, 0)
            for device in (place,) if place >= 0 else allowed[op]:
                start = 0
                for other, rows in before[op]:
                    arrival = end[other] + rows[kind[places[other]][device]]
                    if arrival > start:
                        start = arrival
                duration, need = durations[device][op], needs[device][op]
                if need:
                    start = _earliest(times[device], free[device], start, duration, need, guards[device])
                if found[0] < 0 or start + duration < found[2]:
                    found = (device, start, start + duration)
            place, start, stop = found
            places[op], begin[op], end[op] = found
            need = needs[place][op]
            if need:
                span = _take(times[place], free[place], start, stop, need)
                merge(times[place], free[place], span, world.smallest[place], guards[place])
        return begin, end, places


def _earliest(times: list[int], free: list[int], start: int, duration: int, need: int, guard: int) -> int:
    """Earliest start from which a demand fits for as long as it lasts."""
    number = bisect_right(times, start) - 1
    last = len(times)
    stop = start + duration
    while True:
        if (free[number] - need) & guard != guard:
            number += 1
            start = times[number]
            stop = start + duration
        else:
            number += 1
            if number == last or times[number] >= stop:
                return start


def _take(times: list[int], free: list[int], start: int, stop: int, need: int) -> tuple[int, int]:
    """Hold a demand from start to stop; returns the first interval in between and the first after it."""
    first = bisect_right(times, start) - 1
    if times[first] != start:
        first += 1
        times.insert(first, start)
        free.insert(first, free[first - 1])
    number, last = first, len(times)
    while number < last and times[number] < stop:
        free[number] -= need
        number += 1
    if number == last or times[number] != stop:
        times.insert(number, stop)
        free.insert(number, free[number - 1] + need)
    return first, number
