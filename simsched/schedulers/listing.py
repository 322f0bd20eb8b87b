"""List scheduling: the parallel scheme shared by critical-path, greedy-ready, memory-aware and random.

At each call every ready operator that fits what is free now is dispatched in priority order; those that do not fit
are passed over (R. Kolisch, "Serial and parallel resource-constrained project scheduling methods revisited", EJOR 90,
1996, doi:10.1016/0377-2217(95)00357-6). On identical lanes this is Graham's list scheduling.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.budget import Budget, prepare_demands

Words = Callable[[OpId], str]
"""Says in words what an operator's priority is, e.g. ``b-level 5``."""


def no_words(op: OpId) -> str:
    """Say nothing about the priority of ``op``."""
    del op
    return ""


def list_policy(problem: Problem, priority: Sequence[float], words: Words = no_words) -> Policy:
    """Return a policy with fixed priorities.

    Parameters
    ----------
    problem : Problem
    priority : sequence of number
        By operator id; higher goes first, ties to the lower id.
    words : callable, optional
        Wording of an operator's priority for the dispatch's reason.
    """
    order = sorted(range(len(problem.graph)), key=priority.__getitem__, reverse=True)
    # sorted(reverse=True) keeps equal elements in their original order, so ties go to the lower id.
    rank = [0] * len(order)
    for position, op in enumerate(order):
        rank[op] = position
    return _ListPolicy(order, rank, words)


def fifo_policy(problem: Problem) -> Policy:
    """Return a policy in which operators go in the order in which they became ready; ties to the lower id."""
    rank = [0] * len(problem.graph)
    order: list[OpId] = []
    inner = _ListPolicy(order, rank, no_words)

    def policy(view: View) -> Iterable[tuple[OpId, int, str]]:
        for op in view.newly_ready:
            rank[op] = len(order)
            order.append(op)
        return inner(view)

    return policy


class _ListPolicy:
    """The shared part: a ready list by rank. ``order`` and ``rank`` are inverse to each other."""

    def __init__(self, order: Sequence[OpId], rank: Sequence[int], words: Words) -> None:
        self._order = order
        self._rank = rank
        self._words = words
        self._heap: list[int] = []
        self._waiting: list[int] = []
        self._demands: Mapping[int, Mapping[OpId, Mapping[str, int]]] | None = None
        self._plain: bool | None = None

    def __call__(self, view: View) -> Iterable[tuple[OpId, int, str]]:
        if self._plain is None:
            self._demands = prepare_demands(view)
            problem = view.problem
            limited = any(view.free_bytes(device) is not None for device in range(len(problem.devices)))
            self._plain = len(problem.devices) == 1 and not self._demands[0] and not limited
        return self._pop(view) if self._plain else self._scan(view)

    def _pop(self, view: View) -> list[tuple[OpId, int, str]]:
        """One device and nothing but streams to compete for: a heap will do."""
        heap, rank = self._heap, self._rank
        for op in view.newly_ready:
            heappush(heap, rank[op])
        if not heap:
            return []
        chosen: list[tuple[OpId, int, str]] = []
        for stream in view.idle_streams:
            if not heap:
                break
            op = self._order[heappop(heap)]
            reason = self._reason(op, len(heap) + 1) if view.explaining else ""
            chosen.append((op, stream, reason))
        return chosen

    def _scan(self, view: View) -> list[tuple[OpId, int, str]]:
        """Go through all ready operators in priority order, passing over those that do not fit."""
        waiting = self._waiting
        for op in view.newly_ready:
            insort(waiting, self._rank[op])
        budget = Budget(view, self._demands)
        chosen: list[tuple[OpId, int, str]] = []
        kept: list[int] = []
        for position, rank in enumerate(waiting):
            if not budget.streams_left:
                kept += waiting[position:]
                break
            op = self._order[rank]
            device = budget.best_device(op)
            if device is None:
                kept.append(rank)
                continue
            reason = self._reason(op, len(waiting) - position + len(kept), len(kept)) if view.explaining else ""
            chosen.append((op, budget.take(op, device), reason))
        self._waiting = kept
        return chosen

    def _reason(self, op: OpId, ready: int, passed: int = 0) -> str:
        return reason_text(self._words(op), ready, passed)


def reason_text(words: str, ready: int, passed: int) -> str:
    """Word the reason of a dispatch."""
    first = f"{words}; " if words else ""
    if ready == 1:
        return f"{first}the only ready operator"
    if passed:
        return f"{first}first of {ready} ready that fits ({passed} passed over)"
    return f"{first}first of {ready} ready"


def dynamic_list_policy(key: Callable[[OpId, View], tuple[float, ...]]) -> Policy:
    """Return a policy that sorts the ready list anew at each call, smallest key first, ties to the lower id.

    Parameters
    ----------
    key : callable
        ``key(op, view)``; may look at memory and at anything else that the view shows.
    """

    def policy(view: View) -> Iterable[Dispatch]:
        budget = Budget(view)
        for op in sorted(view.ready, key=lambda op: (key(op, view), op)):
            if not budget.streams_left:
                break
            device = budget.best_device(op)
            if device is not None:
                yield Dispatch(op, budget.take(op, device))

    return policy
