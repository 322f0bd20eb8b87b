"""Schedule generation on one device: serial forward and backward passes, and the parallel scheme.

The serial scheme takes operators in a given order and starts each as early as its predecessors and the free units
allow, in a gap between others too (J. E. Kelley, "The critical-path method: resources planning and scheduling", in:
Industrial Scheduling, 1963); the parallel one goes through time and starts, in order of priority, what is ready and
fits (R. Kolisch, EJOR 90, 1996, doi:10.1016/0377-2217(95)00357-6). A backward pass is a forward one in reversed time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from heapq import heappop, heappush

from simsched.schedulers.search.effort import Effort, Member
from simsched.schedulers.search.world import World, merge

Times = tuple[list[int], list[int]]


class OneDevice:
    """Makes members from orders, and pays for them.

    Parameters
    ----------
    world : World
        Of one device.
    effort : Effort
    """

    def __init__(self, world: World, effort: Effort) -> None:
        self.world = world
        self._effort = effort
        self._durations = world.durations[0]
        self._needs = world.needs[0]

    def forward(self, order: Sequence[int], where: Sequence[int]) -> Member:
        """Start operators as early as possible, in a topological order."""
        del where
        self._effort.spend()
        start, end = self._serial(order, self.world.pred)
        return self._member(start, end)

    def backward(self, order: Sequence[int], where: Sequence[int]) -> Member:
        """End operators as late as possible, the last of the order first; the schedule begins at 0 all the same."""
        del where
        self._effort.spend()
        start, end = self._serial(order[::-1], self.world.succ)
        length = max(end, default=0)
        start, end = [length - time for time in end], [length - time for time in start]
        order = sorted(range(len(start)), key=list(zip(start, end, strict=True)).__getitem__)
        return self._effort.note(Member(length, order, start, end, [], False))

    def parallel(self, rank: Sequence[int]) -> Member:
        """Go through time and start what is ready and fits, lowest rank first."""
        self._effort.spend()
        return self._member(*self._parallel(rank))

    def _member(self, start: list[int], end: list[int]) -> Member:
        """Return a schedule of a forward pass: the next one goes backward, by end."""
        order = sorted(range(len(end)), key=list(zip(end, start, strict=True)).__getitem__)
        return self._effort.note(Member(max(end, default=0), order, start, end, [], True))

    def _serial(self, order: Sequence[int], before: Sequence[Sequence[int]]) -> Times:
        durations, needs, guard, smallest = self._durations, self._needs, self.world.guard[0], self.world.smallest[0]
        begin, end = [0] * len(order), [0] * len(order)
        times, free = [0], [self.world.full[0]]
        # By demand, where an operator was not let in: what is no shorter and no earlier is not let in there either.
        refused: dict[int, tuple[int, int, int]] = {}
        for op in order:
            start = 0
            for other in before[op]:
                if end[other] > start:
                    start = end[other]
            need = needs[op]
            if not need:
                begin[op], end[op] = start, start + durations[op]
                continue
            duration, ready = durations[op], start
            if need in refused:
                shortest, earliest, until = refused[need]
                if duration >= shortest and earliest <= start < until:
                    start = until
            first = bisect_right(times, start) - 1
            last = len(times)
            stop = start + duration
            number = first
            while True:
                if (free[number] - need) & guard != guard:
                    number += 1
                    first = number
                    start = times[number]
                    stop = start + duration
                else:
                    number += 1
                    if number == last or times[number] >= stop:
                        break
            begin[op], end[op] = start, stop
            if start > ready:
                refused[need] = duration, ready, start
            if times[first] != start:
                first += 1
                number += 1
                times.insert(first, start)
                free.insert(first, free[first - 1])
            if number == len(times) or times[number] != stop:
                times.insert(number, stop)
                free.insert(number, free[number - 1])
            for place in range(first, number):
                free[place] -= need
            if smallest:
                merge(times, free, (first, number), smallest, guard)
        return begin, end

    def _parallel(self, rank: Sequence[int]) -> Times:
        world, durations, needs, guard = self.world, self._durations, self._needs, self.world.guard[0]
        left = list(map(len, world.pred))
        # Operators of equal demands fit or do not fit alike: the first of each group is looked at.
        heaps: dict[int, list[tuple[int, int]]] = {need: [] for need in needs}
        groups = list(heaps.items())
        for op, before in enumerate(left):
            if not before:
                heappush(heaps[needs[op]], (rank[op], op))
        begin, end = [0] * world.count, [0] * world.count
        running: list[tuple[int, int]] = []
        free, now = world.full[0], 0
        while True:
            best: list[tuple[int, int]] = []
            for need, heap in groups:
                if heap and (not best or heap[0] < best[0]) and (free - need) & guard == guard:
                    best = heap
            if best:
                _, op = heappop(best)
                free -= needs[op]
                begin[op] = now
                end[op] = now + durations[op]
                heappush(running, (end[op], op))
                continue
            if not running:
                return begin, end
            now = running[0][0]
            while running and running[0][0] == now:
                _, op = heappop(running)
                free += needs[op]
                for other in world.succ[op]:
                    left[other] -= 1
                    if not left[other]:
                        heappush(heaps[needs[other]], (rank[other], other))
