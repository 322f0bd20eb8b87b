"""The parallel scheme on one device whose operators compete for streams and units: the same choice, made quickly.

Where several devices or memory make the choice harder, :class:`simsched.schedulers.ready.ReadyGroups` makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from operator import le, sub

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import View
from simsched.schedulers.budget import Demands

Choice = tuple[OpId, int, str]
Units = tuple[int, ...]
"""What the operators of one group demand of each resource."""
Group = tuple[Units, list[int]]
"""Their demands, and a heap of those that are ready."""
Reason = Callable[[OpId, int, int], str]
"""``reason(op, ready, passed)``: words for a dispatch, by how many were ready and how many of them were passed over."""


class OneDevice:
    """Takes the first ready operators that fit, passing over those that do not.

    Operators of one group have equal demands: they fit or do not fit alike, so that each instant costs a look at every
    group and not at every operator.

    Parameters
    ----------
    priority : sequence of int
        By operator id; higher goes first, ties to the lower id. May change until an operator becomes ready.
    problem : Problem
        With one device.
    demands : Demands
    reason : callable
    """

    def __init__(self, priority: Sequence[int], problem: Problem, demands: Demands, reason: Reason) -> None:
        device = problem.devices[0]
        self._priority, self._count, self._reason = priority, len(priority), reason
        self._names = [name for name in device.resources if any(name in demand for demand in demands[0].values())]
        limit = device.max_resident_kernels
        self._spare = 0 if limit is None else max(device.streams - limit, 0)
        one = len(self._names) == 1
        self._first = _first_of_one_resource if one else _first_that_fits
        self._heaps: dict[Units, list[int]] = {}
        self._heap_of = self._sorted_out(demands)
        self._groups = list(self._heaps.items())

    def _sorted_out(self, demands: Demands) -> list[list[int]]:
        """Heap of each operator's group."""
        names, heaps = self._names, self._heaps
        found = [heaps.setdefault((0,) * len(names), [])] * self._count
        for op, demand in demands[0].items():
            units = tuple([demand.get(name, 0) for name in names])
            heap = heaps.get(units)
            if heap is None:
                heap = heaps[units] = []
            found[op] = heap
        return found

    def __call__(self, view: View) -> Sequence[Choice]:
        """Choose for one instant."""
        count, priority, heap_of = self._count, self._priority, self._heap_of
        for op in view.newly_ready:
            heappush(heap_of[op], op - priority[op] * count)
        streams = view.idle_streams
        left = len(streams) - self._spare
        chosen: list[Choice] = []
        if left <= 0:
            return chosen
        everything = view.free(0)
        free = [everything[name] for name in self._names]
        group = self._first(self._groups, free)
        while group is not None:
            key = heappop(group[1])
            op = key % count
            chosen.append((op, streams[len(chosen)], self._worded(op, key) if view.explaining else ""))
            if len(chosen) == left:
                break
            free = list(map(sub, free, group[0]))
            group = self._first(self._groups, free)
        return chosen

    def _worded(self, op: OpId, key: int) -> str:
        heaps = self._heaps.values()
        ready = sum(map(len, heaps)) + 1
        return self._reason(op, ready, sum(other < key for heap in heaps for other in heap))


def _first_that_fits(groups: Sequence[Group], free: Sequence[int]) -> Group | None:
    """The group of the first operator that fits what is free."""
    best: Group | None = None
    first = 0
    for group in groups:
        units, heap = group
        if heap and (best is None or heap[0] < first) and all(map(le, units, free)):
            best, first = group, heap[0]
    return best


def _first_of_one_resource(groups: Sequence[Group], free: Sequence[int]) -> Group | None:
    """Do the same where there is one resource, as on most devices: several times as fast."""
    (there,) = free
    best: Group | None = None
    first = 0
    for group in groups:
        (needed,), heap = group
        if heap and needed <= there and (best is None or heap[0] < first):
            best, first = group, heap[0]
    return best
