"""Which operator is placed next: the third part of a list scheduler.

``list`` takes the ready operator of highest priority and then looks for its device. The other orders look at every
ready operator with the best device that it has at that moment, and take the pair that is best: they decide on operator
and device together. An operator is *ready* once all its predecessors are placed; in the orders that go by batches, what
becomes ready waits until everything that was ready before is placed. Ties go to the higher priority, then
to the lower id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Protocol

from simsched.graph.model import OpId
from simsched.schedulers.planning.lines import place_by_lines
from simsched.schedulers.planning.partial import PartialPlan, Score, ends_first, starts_first
from simsched.schedulers.planning.priorities import Ranking

Order = Callable[[PartialPlan, Ranking, Score], None]
"""Fills a plan in which nothing is placed but what has begun."""


class _Supply(Protocol):
    """Gives out operators that may be placed."""

    def first(self) -> Iterable[OpId]:
        """What may be placed at the beginning."""

    def after(self, op: OpId) -> Iterable[OpId]:
        """What may be placed in addition once an operator is."""


class _Ready:
    """Counts predecessors that are not placed yet."""

    def __init__(self, plan: PartialPlan) -> None:
        self._succ = plan.costs.graph.succ
        self._missing = [len(pred) for pred in plan.costs.graph.pred]
        self._begun = plan.begun.stream
        for op in self._begun:
            for other in self._succ[op]:
                self._missing[other] -= 1

    def first(self) -> list[OpId]:
        """Operators that wait for none, ascending."""
        return [op for op, count in enumerate(self._missing) if not count and op not in self._begun]

    def after(self, op: OpId) -> Iterator[OpId]:
        """Operators that become ready when one is placed, ascending."""
        missing = self._missing
        for other in self._succ[op]:
            missing[other] -= 1
            if not missing[other]:
                yield other


class _Batches:
    """Like :class:`_Ready`, but what becomes ready waits until all that was ready before it has been placed."""

    def __init__(self, plan: PartialPlan) -> None:
        self._ready = _Ready(plan)
        self._left = 0
        self._next: list[OpId] = []

    def first(self) -> list[OpId]:
        """Operators that wait for none, ascending."""
        found = self._ready.first()
        self._left = len(found)
        return found

    def after(self, op: OpId) -> list[OpId]:
        """The next batch, once this one is placed."""
        self._next += self._ready.after(op)
        self._left -= 1
        if self._left:
            return []
        found, self._next = self._next, []
        self._left = len(found)
        return found


def by_list(plan: PartialPlan, ranking: Ranking, score: Score) -> None:
    """Take the ready operator of highest priority."""
    ready, count, values = _Ready(plan), plan.costs.count, ranking.values
    # Both in one integer, smallest first: priority, then id.
    heap = [op - values[op] * count for op in ready.first()]
    heapify(heap)
    while heap:
        op = heappop(heap) % count
        _, device, start = plan.best(op, plan.arrivals(op), score)
        plan.place(op, device, start)
        for other in ready.after(op):
            heappush(heap, other - values[other] * count)


def by_lowest_score(plan: PartialPlan, ranking: Ranking, score: Score) -> None:
    """Take the pair of lowest score: with the selection ``start`` what can start first (ETF, the parallel scheme)."""
    _take_lowest(plan, _Ready(plan), ranking, score, 1, [0] * plan.costs.count)


def by_level(plan: PartialPlan, ranking: Ranking, score: Score) -> None:
    """Take the pair of greatest dynamic level: priority less score (DLS)."""
    _take_lowest(plan, _Ready(plan), ranking, score, ranking.scale, ranking.values)


def by_lowest_of_batch(plan: PartialPlan, ranking: Ranking, score: Score) -> None:
    """Take the pair of lowest score, batch by batch (Min-Min)."""
    _take_lowest(plan, _Batches(plan), ranking, score, 1, [0] * plan.costs.count)


def by_highest_of_batch(plan: PartialPlan, ranking: Ranking, score: Score) -> None:
    """Take, of the best pairs of all operators of a batch, the one of highest score (Max-Min)."""
    _take_most(plan, _Batches(plan), ranking, score, _best_score)


def by_sufferage(plan: PartialPlan, ranking: Ranking, score: Score) -> None:
    """Take the operator that loses most without its best device: second-best score less best."""
    _take_most(plan, _Ready(plan), ranking, score, _loss)


def by_sufferage_of_batch(plan: PartialPlan, ranking: Ranking, score: Score) -> None:
    """Take the operator of a batch that loses most without its best device: second-best score less best (Sufferage)."""
    _take_most(plan, _Batches(plan), ranking, score, _loss)


def _take_lowest(
    plan: PartialPlan, ready: _Supply, ranking: Ranking, score: Score, scale: int, less: Sequence[int]
) -> None:
    """Take the pair of lowest key, which is ``scale`` times the score, less a number of the operator."""
    durations = plan.costs.durations
    if not plan.insertion and score is starts_first:
        place_by_lines(plan, ranking, ready.first(), ready.after, scale, lambda op, device: -less[op])
    elif not plan.insertion and score is ends_first:
        place_by_lines(
            plan,
            ranking,
            ready.first(),
            ready.after,
            scale,
            lambda op, device: scale * durations[device][op] - less[op],
        )
    else:
        _take_lowest_one_by_one(plan, ready, ranking, score, scale, less)


def _take_lowest_one_by_one(
    plan: PartialPlan, ready: _Supply, ranking: Ranking, score: Score, scale: int, less: Sequence[int]
) -> None:
    """Do the same by looking at operators one by one.

    Keys only grow while others are placed. So an old key is a lower bound, and it still holds where nothing has been
    placed on its device since: only what comes to the front of the heap with an old key is looked at again.
    """
    values = ranking.values
    changed = [0] * len(plan.machines)
    heap: list[tuple[int, int, int, int, int, int]] = []
    arrivals: dict[OpId, list[int]] = {}
    step = 0

    def look(op: OpId) -> None:
        value, device, start = plan.best(op, arrivals[op], score)
        heappush(heap, (value * scale - less[op], -values[op], op, device, start, step))

    def see(ops: Iterable[OpId]) -> None:
        for op in ops:
            arrivals[op] = plan.arrivals(op)
            look(op)

    see(ready.first())
    while heap:
        _, _, op, device, start, seen = heappop(heap)
        if changed[device] > seen:
            look(op)
            continue
        step += 1
        plan.place(op, device, start)
        changed[device] = step
        del arrivals[op]
        see(ready.after(op))


Worth = Callable[[PartialPlan, OpId, list[int], Score], tuple[int, int, int, int]]
"""What it is worth to place an operator next, its best device and start, and another device that the worth hangs on."""


def _best_score(plan: PartialPlan, op: OpId, arrivals: list[int], score: Score) -> tuple[int, int, int, int]:
    best, device, start = plan.best(op, arrivals, score)
    return best, device, start, device


def _loss(plan: PartialPlan, op: OpId, arrivals: list[int], score: Score) -> tuple[int, int, int, int]:
    """Second-best score less best; 0 where there is one device only."""
    best, device, start = plan.best(op, arrivals, score)
    others = [other for other in plan.costs.allowed[op] if other != device]
    if not others:
        return 0, device, start, device
    second, next_device, _ = plan.best(op, arrivals, score, others)
    return second - best, device, start, next_device


def _take_most(plan: PartialPlan, ready: _Supply, ranking: Ranking, score: Score, worth: Worth) -> None:
    """Take the operator that is worth most; only those whose devices changed are looked at again."""
    values = ranking.values
    found: dict[OpId, tuple[int, int, int, int]] = {}
    arrivals: dict[OpId, list[int]] = {}

    def look(op: OpId) -> None:
        found[op] = worth(plan, op, arrivals[op], score)

    def see(ops: Iterable[OpId]) -> None:
        for op in ops:
            arrivals[op] = plan.arrivals(op)
            look(op)

    see(ready.first())
    while found:
        op = max(found, key=lambda one: (found[one][0], values[one], -one))
        _, device, start, _ = found.pop(op)
        plan.place(op, device, start)
        for other in [other for other, (_, best, _, second) in found.items() if device in (best, second)]:
            look(other)
        see(ready.after(op))


ORDERS: Mapping[str, Order] = {
    "list": by_list,
    "lowest": by_lowest_score,
    "level": by_level,
    "lowest_of_batch": by_lowest_of_batch,
    "highest_of_batch": by_highest_of_batch,
    "sufferage": by_sufferage,
    "sufferage_of_batch": by_sufferage_of_batch,
}
"""Every order by its name."""
