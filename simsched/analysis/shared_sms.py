"""Cohorts of blocks that share the SMs, the arithmetic and the bandwidth of a device: how fast each was when."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from simsched.analysis.shared_bandwidth import NEARLY, Piece
from simsched.analysis.waves import Grid
from simsched.graph.model import OpId
from simsched.sharing.fair import bottleneck_fair_rates
from simsched.trace import Cohort


class _Step(NamedTuple):
    """From a time on: the speed of a cohort, what limits it, and the arithmetic and the bandwidth that it gets."""

    time: int
    speed: float
    limit: str
    arithmetic: float
    bandwidth: float


_TIME = itemgetter(0)
FULL_SPEED = _Step(0, 1.0, "", 0.0, 0.0)


class SharedSms:
    """Cohorts that share the places of SMs, arithmetic and bandwidth.

    Parameters
    ----------
    rows : sequence of Cohort
    grids : mapping of int to Grid
        By operator.
    begin : mapping of int to int
        When the launch of each operator was over.
    """

    def __init__(self, rows: Sequence[Cohort], grids: Mapping[OpId, Grid], begin: Mapping[OpId, int]) -> None:
        self.rows = sorted(rows, key=lambda row: (row.start, row.op, row.wave, row.end))
        self.grids, self._begin = grids, begin
        self._of: dict[OpId, list[int]] = {}
        for number, row in enumerate(self.rows):
            self._of.setdefault(row.op, []).append(number)

    @cached_property
    def ended(self) -> dict[int, list[Cohort]]:
        """Cohorts that ended at an instant."""
        found: dict[int, list[Cohort]] = {}
        for row in self.rows:
            found.setdefault(row.end, []).append(row)
        return found

    @cached_property
    def _longest(self) -> int:
        return max((row.end - row.start for row in self.rows), default=0)

    def last_placed(self, op: OpId) -> int:
        """When the last block of an operator got its place."""
        return self.rows[self._of[op][-1]].start

    def resident(self, time: int) -> list[tuple[OpId, int]]:
        """Operators with blocks on the device from an instant on, and how many; those with most first."""
        found: dict[OpId, int] = {}
        first = bisect_left(self.rows, time - self._longest, key=lambda row: row.start)
        for row in self.rows[first : bisect_right(self.rows, time, key=lambda row: row.start)]:
            if row.end > time and row.places:
                found[row.op] = found.get(row.op, 0) + row.blocks
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    @cached_property
    def _flows(self) -> list[list[_Step]]:
        """By cohort: from when on it had which speed."""
        found: list[list[_Step]] = [[] for _ in self.rows]
        events: dict[int, list[int]] = {}
        for number, row in enumerate(self.rows):
            begin = max(row.start, self._begin[row.op])
            if row.end > begin:
                events.setdefault(begin, []).append(number)
                events.setdefault(row.end, []).append(~number)
        active: dict[int, tuple[float, float]] = {}
        known: dict[tuple[tuple[float, float], ...], list[tuple[float, str]]] = {}
        for time in sorted(events):
            for number in events[time]:
                if number < 0:
                    del active[~number]
                else:
                    row = self.rows[number]
                    active[number] = self.grids[row.op].draws(row.wave, row.blocks)
            key = tuple(active.values())
            if key not in known:
                known[key] = _speeds(key)
            for (number, (compute, memory)), (speed, limit) in zip(active.items(), known[key], strict=True):
                steps = found[number]
                if not steps or steps[-1][1:3] != (speed, limit):
                    steps.append(_Step(time, speed, limit, compute * speed, memory * speed))
        return found

    def pieces(self, op: OpId, begin: int, end: int) -> Iterator[Piece]:
        """Yield how fast an operator ran: as fast as the cohort of its that ended last, or short of places."""
        numbers, grid = self._of.get(op, []), self.grids.get(op)
        if grid is None:
            yield Piece(begin, end)
            return
        times = {begin}
        for number in numbers:
            times.update((self.rows[number].start, self.rows[number].end))
            times.update(step.time for step in self._flows[number])
        cuts = [*sorted(time for time in times if begin <= time < end), end]
        here: list[int] = []
        left, following = grid.blocks, 0
        for start, finish in pairwise(cuts):
            while following < len(numbers) and self.rows[numbers[following]].start <= start:
                here.append(numbers[following])
                left -= self.rows[numbers[following]].blocks
                following += 1
            here = [number for number in here if self.rows[number].end > start]
            yield self._piece(grid, here, left, start, finish)

    def _piece(self, grid: Grid, here: Sequence[int], left: int, start: int, end: int) -> Piece:
        """How an operator ran with these cohorts on the device, and so many blocks left to place."""
        places = sum(self.rows[number].blocks for number in here)
        wanted = min(grid.full, places + left)
        if left and places < wanted:
            return Piece(start, end, places / wanted, "room", waiting=left)
        if not here:
            return Piece(start, end)
        number = max(here, key=lambda each: (self.rows[each].end, self.rows[each].wave, each))
        step = self._step(number, start)
        return Piece(start, end, step.speed, step.limit, tail=not left and grid.partial(self.rows[number].wave))

    def _step(self, number: int, time: int) -> _Step:
        """Speed of a cohort from an instant on; a full one where it has not begun to run."""
        steps = self._flows[number]
        place = bisect_right(steps, time, key=_TIME) - 1
        return steps[place] if place >= 0 else FULL_SPEED

    def drawing(self, time: int, limit: str) -> list[tuple[OpId, float]]:
        """Operators that draw from an instant on, and which part of the arithmetic or the bandwidth each gets."""
        found: dict[OpId, float] = {}
        first = bisect_left(self.rows, time - self._longest, key=lambda row: row.start)
        for number in range(first, bisect_right(self.rows, time, key=lambda row: row.start)):
            row, step = self.rows[number], self._step(number, time)
            share = step.arithmetic if limit == "arithmetic" else step.bandwidth
            if row.end > time and share > 0:
                found[row.op] = found.get(row.op, 0.0) + share
        return list(found.items())

    def loads(self) -> Iterator[tuple[int, float, float]]:
        """Yield, after each change, the time, and which part of the bandwidth was wanted and given."""
        changes: dict[int, tuple[float, float]] = {}

        def add(time: int, wanted: float, given: float) -> None:
            before = changes.get(time, (0.0, 0.0))
            changes[time] = before[0] + wanted, before[1] + given

        for steps, row in zip(self._flows, self.rows, strict=True):
            wanted = self.grids[row.op].draws(row.wave, row.blocks)[1]
            before = 0.0
            for step in steps if wanted else ():
                add(step.time, wanted if not before else 0.0, step.bandwidth - before)
                before = step.bandwidth
            if before:
                add(row.end, -wanted, -before)
        wanted = given = 0.0
        for time in sorted(changes):
            wanted, given = wanted + changes[time][0], given + changes[time][1]
            yield time, max(wanted, 0.0), max(given, 0.0)


def _speeds(draws: Sequence[tuple[float, float]]) -> list[tuple[float, str]]:
    """Speed of each flow, and what limits it; draws are those of arithmetic and bandwidth at full speed."""
    rows = [[draw[resource] for draw in draws] for resource in (0, 1)]
    if all(sum(row) <= 1 for row in rows):
        return [(1.0, "")] * len(draws)
    rates = bottleneck_fair_rates([1.0, 1.0], rows, bounds=[1.0] * len(draws))
    most = [max(weight * rate for weight, rate in zip(row, rates, strict=True)) for row in rows]
    full = [sum(weight * rate for weight, rate in zip(row, rates, strict=True)) >= NEARLY for row in rows]
    found: list[tuple[float, str]] = []
    for (compute, _), rate in zip(draws, rates, strict=True):
        if rate > NEARLY:
            found.append((1.0, ""))
        else:
            found.append((rate, "arithmetic" if full[0] and compute * rate >= most[0] * NEARLY else "bandwidth"))
    return found
