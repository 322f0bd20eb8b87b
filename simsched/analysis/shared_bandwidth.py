"""Bodies of kernels that share the bandwidth of a device max-min fairly: how fast each of them was when.

Each gets what it draws at full speed, or the *level* of the instant, where that is less (progressive filling:
Bertsekas and Gallager, *Data Networks*, 1992, section 6.5.2). So one step function, the level over time, says how fast
everybody was.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from math import inf
from operator import itemgetter
from typing import NamedTuple

from simsched.graph.model import OpId

# Shares are counted in whole parts of the bandwidth, so that sums do not depend on who came first; what is meant to
# add up to 1 may miss it by a rounding.
WHOLE = 1 << 56
SLACK = WHOLE // 10**12
NEARLY = 1 - 1e-9
"""Above this part of its capacity a resource counts as full, and a speed as full speed."""


class Piece(NamedTuple):
    """A time within which the speed of a kernel did not change.

    Attributes
    ----------
    start, end : int
        ns.
    speed : float
        Progress against that alone; with ``room`` the part of the blocks that had a place, of those that would have
        one alone.
    limit : str
        Why it is below 1: ``bandwidth``, ``arithmetic``, ``room``; else empty.
    tail : bool
        Whether only the last, partial wave of blocks was left.
    waiting : int
        With ``room``: how many blocks had no place.
    """

    start: int
    end: int
    speed: float = 1.0
    limit: str = ""
    tail: bool = False
    waiting: int = 0


class SharedBandwidth:
    """Bodies that share one bandwidth max-min fairly.

    Parameters
    ----------
    bodies : iterable of (int, int, int, float)
        Operator, begin and end of its body in ns, and the part of the bandwidth that it draws at full speed.
    """

    def __init__(self, bodies: Iterable[tuple[OpId, int, int, float]]) -> None:
        self._bodies = sorted((row for row in bodies if row[2] > row[1]), key=itemgetter(1, 0))
        self._draw = {op: draw for op, _, _, draw in self._bodies}

    @cached_property
    def _changes(self) -> list[tuple[int, int]]:
        """When bodies begin and end, and by how much that changes what is wanted, in parts of ``WHOLE``."""
        rows = [(begin, int(draw * WHOLE)) for _, begin, _, draw in self._bodies]
        rows += [(end, -int(draw * WHOLE)) for _, _, end, draw in self._bodies]
        rows.sort()
        return rows

    @cached_property
    def levels(self) -> tuple[list[int], list[float]]:
        """Times, and from each on the most that a body gets; infinite where all get what they draw."""
        times: list[int] = []
        levels: list[float] = []
        rows = self._changes
        if max(accumulate(change for _, change in rows), default=0) <= WHOLE:
            return times, levels
        shares: list[int] = []
        total, last = 0, inf
        for number, (time, change) in enumerate(rows, 1):
            total += change
            if change > 0:
                insort(shares, change)
            elif change < 0:
                del shares[bisect_left(shares, -change)]
            if number < len(rows) and rows[number][0] == time:
                continue
            level = inf if total <= WHOLE else _level(shares)
            if level != last:
                times.append(time)
                levels.append(level)
                last = level
        return times, levels

    def pieces(self, op: OpId, begin: int, end: int) -> Iterator[Piece]:
        """Yield how fast the body of an operator ran."""
        draw = self._draw.get(op)
        if draw is None:
            yield Piece(begin, end)
            return
        times, levels = self.levels
        place = bisect_right(times, begin)
        level = levels[place - 1] if place else inf
        while begin < end:
            until = min(times[place], end) if place < len(times) else end
            speed = min(level / draw, 1.0)
            yield Piece(begin, until) if speed > NEARLY else Piece(begin, until, speed, "bandwidth")
            if place < len(times):
                level = levels[place]
            begin, place = until, place + 1

    def drawing(self, time: int) -> list[tuple[OpId, float]]:
        """Bodies in flight from an instant on, and which part of the bandwidth each gets."""
        times, levels = self.levels
        place = bisect_right(times, time)
        level = levels[place - 1] if place else inf
        return [(op, min(draw, level)) for op, begin, end, draw in self._at(time)]

    def _at(self, time: int) -> Iterator[tuple[OpId, int, int, float]]:
        """Bodies in flight; those that began long ago are found by the longest of all."""
        first = bisect_left(self._bodies, time - self._longest, key=itemgetter(1))
        for row in self._bodies[first : bisect_right(self._bodies, time, key=itemgetter(1))]:
            if row[2] > time:
                yield row

    @cached_property
    def _longest(self) -> int:
        return max((end - begin for _, begin, end, _ in self._bodies), default=0)

    def loads(self) -> Iterator[tuple[int, float, float]]:
        """Yield, after each change, the time, and which part of the bandwidth was wanted and given."""
        total, rows = 0, self._changes
        for number, (time, change) in enumerate(rows, 1):
            total += change
            if number == len(rows) or rows[number][0] != time:
                wanted = total / WHOLE
                yield time, wanted, min(wanted, 1.0)


def _level(shares: Sequence[int]) -> float:
    """The level of progressive filling: shares ascending, in parts of ``WHOLE``; infinite where all fit."""
    free, left = WHOLE, len(shares)
    for share in shares:
        if share * left > free + SLACK:
            return free / (left * WHOLE)
        free -= share
        left -= 1
    return inf
