"""List scheduling: the parallel scheme shared by critical-path, greedy-ready, memory-aware and random.

At each call every ready operator that fits what is free now is dispatched in priority order; those that do not fit
are passed over (R. Kolisch, "Serial and parallel resource-constrained project scheduling methods revisited", EJOR 90,
1996, doi:10.1016/0377-2217(95)00357-6). On identical lanes this is Graham's list scheduling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import cast

from simsched.errors import SchedulerError
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.budget import Budget, Demands, prepare_demands
from simsched.schedulers.one_device import OneDevice
from simsched.schedulers.ready import ReadyGroups

Words = Callable[[OpId], str]
"""Says in words what an operator's priority is, e.g. ``b-level 5``."""
Choice = tuple[OpId, int, str]
"""A dispatch as a plain tuple, which is cheaper to make."""


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

    Raises
    ------
    SchedulerError
        If a priority is NaN.
    """
    del problem
    return _keyed_policy(_whole_numbers(priority), words)


def fifo_policy(problem: Problem) -> Policy:
    """Return a policy in which operators go in the order in which they became ready; ties to the lower id."""
    priority = [0] * len(problem.graph)
    keyed = _keyed_policy(priority, no_words)
    arrived = 0

    def policy(view: View) -> Iterable[Choice]:
        nonlocal arrived
        for op in view.newly_ready:
            arrived += 1
            priority[op] = -arrived
        return keyed(view)

    return policy


def _whole_numbers(priority: Sequence[float]) -> Sequence[int]:
    """Priorities in the same order (equal ones equal), as integers."""
    if set(map(type, priority)) <= {int}:
        return cast("Sequence[int]", priority)
    odd = next((op for op, value in enumerate(priority) if math.isnan(value)), None)
    if odd is not None:
        raise SchedulerError(f"the priority of operator {odd} is not a number; it could not be compared")
    position = {value: number for number, value in enumerate(sorted(set(priority)))}
    return [position[value] for value in priority]


def _keyed_policy(priority: Sequence[int], words: Words) -> Policy:
    """The ready operator of highest priority first, ties to the lower id.

    Both are packed into one integer, smallest first, which is the cheapest thing to keep in a heap and needs no memory
    for operators that are not ready. Where operators compete for streams only, a heap gives the next one. Where they
    compete for more, the first that fits has to be searched for, and the policy turns into a :class:`_Contested`.
    """
    count = len(priority)
    heap: list[int] = []
    contested: Callable[[View], Iterable[Choice]] | None = None
    fresh = True

    def policy(view: View) -> Iterable[Choice]:
        nonlocal fresh, contested
        if fresh:
            fresh = False
            demands = prepare_demands(view.problem)
            if _is_contested(view, demands):
                contested = _contested(priority, words, view, demands)
        if contested is not None:
            return contested(view)
        for op in view.newly_ready:
            heappush(heap, op - priority[op] * count)
        chosen: list[Choice] = []
        if heap:
            explaining = view.explaining
            for stream in view.idle_streams:
                op = heappop(heap) % count
                chosen.append((op, stream, reason_text(words(op), len(heap) + 1, 0) if explaining else ""))
                if not heap:
                    break
        return chosen

    return policy


def _is_contested(view: View, demands: Demands) -> bool:
    """Whether operators compete for anything but streams."""
    devices = view.problem.devices
    limit = devices[0].max_resident_kernels
    return (
        len(devices) > 1
        or view.free_bytes(0) is not None
        or bool(demands[0])
        or (limit is not None and limit < devices[0].streams)
    )


def _contested(
    priority: Sequence[int], words: Words, view: View, demands: Demands
) -> Callable[[View], Iterable[Choice]]:
    """What chooses where operators compete for more than streams."""
    problem = view.problem
    if len(problem.devices) > 1 or view.free_bytes(0) is not None:
        return _Contested(priority, words, problem, demands)

    def reason(op: OpId, ready: int, passed: int) -> str:
        return reason_text(words(op), ready, passed)

    return OneDevice(priority, problem, demands, reason)


class _Contested:
    """Takes the first ready operators that fit, passing over those that do not."""

    def __init__(self, priority: Sequence[int], words: Words, problem: Problem, demands: Demands) -> None:
        self._words = words
        self._demands = demands
        self._ready = ReadyGroups(priority, problem, demands)

    def __call__(self, view: View) -> Iterable[Choice]:
        for op in view.newly_ready:
            self._ready.add(op)
        budget = Budget(view, self._demands)
        chosen: list[Choice] = []
        for op, device in self._ready.fitting(budget):
            reason = self._reason(op) if view.explaining else ""
            chosen.append((op, budget.take(op, device), reason))
        return chosen

    def _reason(self, op: OpId) -> str:
        return reason_text(self._words(op), len(self._ready) + 1, self._ready.ahead(op))


def reason_text(words: str, ready: int, passed: int) -> str:
    """Word the reason of a dispatch."""
    first = f"{words}; " if words else ""
    if ready == 1:
        return f"{first}nothing else is ready"
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
    demands: Demands | None = None

    def policy(view: View) -> Iterable[Dispatch]:
        nonlocal demands
        if demands is None:
            demands = prepare_demands(view.problem)
        budget = Budget(view, demands)
        for op in sorted(view.ready, key=lambda op: (key(op, view), op)):
            if not budget.streams_left:
                break
            device = budget.best_device(op)
            if device is not None:
                yield Dispatch(op, budget.take(op, device))

    return policy
