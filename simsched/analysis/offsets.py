"""Addresses for a run whose allocations are all known: static memory planning of a finished run.

To find the smallest arena is dynamic storage allocation, strongly NP-hard (M. R. Garey, D. S. Johnson, "Computers and
intractability", 1979, problem SR2). Three ways are tried, and the smallest arena is kept:

- by size: the largest first, each into the gap that it fills best or the lowest one (Y. Pisarchyk, J. Lee, "Efficient
  memory management for deep neural net inference", MLSys workshop 2020, arXiv:2001.03288; TensorFlow Lite Micro
  uses the lowest);
- stacked: always what can lie lowest on top of what is placed already, nothing into gaps;
- annealed: the same, with the order among equals and a handicap for each allocation changed again and again. What
  limits the arena is a pile of allocations from the bottom to the top, each resting on the next; a change anywhere else
  cannot help, so one of the pile is moved (as the critical path is in job-shop scheduling: P. J. M. van Laarhoven et
  al., "Job shop scheduling by simulated annealing", Operations Research 40, 1992, doi:10.1287/opre.40.1.113).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

from simsched.analysis.allocations import Allocation, peak_of
from simsched.analysis.arena import replay

BUDGET = 100_000_000
"""Neighbours looked at while annealing: a few seconds."""
ROUNDS = 3000
"""Changes tried from each of the starts."""
SPREADS = (0.2, 0.0, 0.0)
"""Largest handicap of each start, as part of the ideal peak."""
WARMTH = 0.02
"""How much worse a change may make things at first, as part of the ideal peak."""
MOST_PAIRS = 4_000_000
"""Pairs of allocations in use at once up to which they are looked at pair by pair."""
PLACED = 1 << 62


@dataclass(frozen=True, slots=True)
class Plan:
    """Addresses for allocations that are all known.

    Attributes
    ----------
    size : int
        Bytes of the arena.
    offsets : tuple of int
        Address of each allocation, in their order.
    ideal : int
        Most bytes in use at once, each allocation rounded up: no arena is smaller.
    plain : int
        Arena of the largest first, each into the gap that it fills best; the same as ``size`` or more.
    rule : str
        What found it: ``by size``, ``stacked``, ``annealed``, or ``replay`` where the pairs are too many for these.
    """

    size: int
    offsets: tuple[int, ...]
    ideal: int
    plain: int
    rule: str


def plan_offsets(allocations: Sequence[Allocation], *, alignment: int = 1, budget: int = BUDGET, seed: int = 1) -> Plan:
    """Plan the addresses of allocations.

    Resident ones lie at the bottom. Two allocations in use at the same step never overlap.

    Parameters
    ----------
    allocations : sequence of Allocation
        As of :func:`simsched.analysis.allocations.allocations_of`.
    alignment : int
        Sizes are rounded up to multiples of it, so that addresses are multiples too.
    budget : int
        Neighbours to look at while annealing; 0 tries the simple rules alone.
    seed : int
        Of the annealing's random numbers.
    """
    offsets = [0] * len(allocations)
    base = 0
    moving = []
    for number, one in enumerate(allocations):
        if one.resident:
            offsets[number] = base
            base += -(-one.size // alignment) * alignment
        elif one.first < one.last:
            moving.append(number)
    ideal = peak_of(allocations, alignment)
    near = _neighbours([allocations[number] for number in moving])
    if near is None:
        used = min(
            (replay(allocations, fit, alignment=alignment) for fit in ("best", "first")), key=lambda use: use.size
        )
        return Plan(used.size, used.offsets, ideal, used.size, "replay")
    packing = Packing([-(-allocations[number].size // alignment) * alignment for number in moving], near, ideal - base)
    plain, (size, places, rule) = packing.best(budget, seed)
    for number, place in zip(moving, places, strict=True):
        offsets[number] = base + place
    return Plan(base + size, tuple(offsets), ideal, base + plain, rule)


def _neighbours(allocations: Sequence[Allocation]) -> list[tuple[int, ...]] | None:
    """For each allocation those that are in use at the same time; None where the pairs are too many."""
    near: list[list[int]] = [[] for _ in allocations]
    active: list[int] = []
    pairs = 0
    for number in sorted(range(len(allocations)), key=lambda number: allocations[number].first):
        active = [other for other in active if allocations[other].last > allocations[number].first]
        pairs += len(active)
        if pairs > MOST_PAIRS:
            return None
        for other in active:
            near[number].append(other)
            near[other].append(number)
        active.append(number)
    return [tuple(sorted(row)) for row in near]


Placed = tuple[int, list[int], str]
"""Size of the arena, addresses, and what found them."""
Draw = Callable[[], float]
"""Draws a number from 0 to below 1."""


class Packing:
    """Sizes to be placed, and which may not overlap.

    Parameters
    ----------
    sizes : sequence of int
    near : sequence of sequence of int
        For each, those that are in use at the same time.
    ideal : int
        A lower bound of the arena, at which the search ends.
    """

    __slots__ = ("_ideal", "_near", "_sizes")

    def __init__(self, sizes: Sequence[int], near: Sequence[Sequence[int]], ideal: int) -> None:
        self._sizes = sizes
        self._near = near
        self._ideal = ideal

    def best(self, budget: int, seed: int) -> tuple[int, Placed]:
        """Return the arena of plain best fit by size, and the smallest one that any of the ways finds."""
        numbers = range(len(self._sizes))
        by_size = sorted(numbers, key=lambda one: (-self._sizes[one], one))
        tightest = self.in_gaps(by_size, tightest=True)
        plain = self._height(tightest)
        found: list[Placed] = [(plain, tightest, "by size")]
        for order in (by_size, list(numbers)):
            places = self.in_gaps(order, tightest=False)
            found.append((self._height(places), places, "by size" if order is by_size else "stacked"))
        crowded = sorted(numbers, key=lambda one: (-len(self._near[one]), one))
        for order in (crowded, by_size):
            size, places, _ = self.stack(order, [0] * len(order))
            found.append((size, places, "stacked"))
        best = min(found, key=lambda one: one[0])
        tries = min(ROUNDS, budget // (len(SPREADS) * (sum(map(len, self._near)) + len(numbers) + 1)))
        for start, spread in enumerate(SPREADS):
            if best[0] > self._ideal and tries > 10:
                best = min(best, self._anneal(crowded, tries, spread, seed + start), key=lambda one: one[0])
        return plain, best

    def in_gaps(self, order: Sequence[int], *, tightest: bool) -> list[int]:
        """Place one after the other: in the gap among its neighbours that it fills best, or in the lowest one."""
        places = [-1] * len(order)
        for one in order:
            size, bottom, found, room = self._sizes[one], 0, -1, PLACED
            for low, high in sorted((places[o], places[o] + self._sizes[o]) for o in self._near[one] if places[o] >= 0):
                if size <= low - bottom < room:
                    found, room = bottom, low - bottom
                    if not tightest:
                        break
                bottom = max(bottom, high)
            places[one] = bottom if found < 0 else found
        return places

    def stack(self, order: Sequence[int], handicap: Sequence[int], limit: int = PLACED) -> tuple[int, list[int], int]:
        """Place always what would lie lowest, its handicap added; of equals what comes first in ``order``.

        Returns
        -------
        size : int
            Of the arena; 0 where the cost exceeds ``limit``.
        places : list of int
        cost : int
            Twice the size, and how far each place reaches above the ideal.
        """
        sizes, near, ideal, count = self._sizes, self._near, self._ideal, len(order)
        rank = [0] * count
        for position, one in enumerate(order):
            rank[one] = position
        low, places = [0] * count, [0] * count
        heap = [handicap[one] * count + rank[one] for one in order]
        heapify(heap)
        top = above = 0
        while heap:
            key, position = divmod(heap[0], count)
            one = order[position]
            bottom = low[one]
            if key != bottom + handicap[one]:
                heapreplace(heap, (bottom + handicap[one]) * count + position)  # it has been lifted since
                continue
            heappop(heap)
            low[one] = PLACED
            places[one] = bottom
            high = bottom + sizes[one]
            if high > top:
                top = high
            if high > ideal:
                above += high - ideal
                if 2 * top + above > limit:
                    return 0, places, limit + 1
            for other in near[one]:
                if low[other] < high:
                    low[other] = high
        return top, places, 2 * top + above

    def _anneal(self, order: list[int], tries: int, spread: float, seed: int) -> Placed:
        """Change the order or a handicap of one in a pile that reaches the top; keep what is not much worse."""
        draw = random.Random(seed).random
        count, reach = len(order), int(spread * self._ideal)
        handicap = [0] * count
        size, places, cost = self.stack(order, handicap)
        best: Placed = (size, places, "annealed")
        for number in range(tries):
            pile = self._pile(places, size, draw)
            one = pile[int(draw() * len(pile))]
            changed, shifted = order, handicap
            if draw() < 0.5 and reach:
                near = self._near[one]
                lifts = draw() < 0.4 and len(near) > 0
                other = near[int(draw() * len(near))] if lifts else one
                shifted = handicap.copy()
                shifted[other] += int((draw() - (0.3 if lifts else 0.7)) * reach)
            else:
                changed = order.copy()
                position = changed.index(one)
                del changed[position]
                changed.insert(int(draw() * (position + 1 if draw() < 0.6 else count)), one)
            slack = int(2 * WARMTH * self._ideal * (tries - number) / tries * draw())
            found, tried, price = self.stack(changed, shifted, cost + slack)
            if found:
                order, handicap, size, places, cost = changed, shifted, found, tried, price
                if size < best[0]:
                    best = (size, places, "annealed")
                    if size <= self._ideal:
                        break
        return best

    def _pile(self, places: Sequence[int], size: int, draw: Draw) -> list[int]:
        """One that reaches the top, what it rests on, and so on to the bottom."""
        sizes = self._sizes
        highest = [one for one, place in enumerate(places) if place + sizes[one] == size]
        pile = [highest[int(draw() * len(highest))]]
        while places[pile[-1]]:
            bottom = places[pile[-1]]
            below = [other for other in self._near[pile[-1]] if places[other] + sizes[other] == bottom]
            pile.append(below[int(draw() * len(below))])
        return pile

    def _height(self, places: Sequence[int]) -> int:
        return max((place + size for place, size in zip(places, self._sizes, strict=True)), default=0)
