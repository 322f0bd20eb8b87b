"""The parallel scheme on one device whose operators compete for streams and units: the same choice, made quickly.

Where several devices or memory make the choice harder, :class:`simsched.schedulers.ready.ReadyGroups` makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from operator import le, sub

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import View
from simsched.schedulers.budget import Demands

Choice = tuple[OpId, int, str]
Units = tuple[int, ...]
"""What the operators of one group demand of each resource."""
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
        self._heaps: dict[Units, list[int]] = {}
        self._heap_of = self._sorted_out(demands)

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
        for stream in streams[:left]:
            found = _first_that_fits(self._heaps, free)
            if found is None:
                break
            units, heap = found
            key = heappop(heap)
            op = key % count
            chosen.append((op, stream, self._worded(op, key) if view.explaining else ""))
            free = list(map(sub, free, units))
        return chosen

    def _worded(self, op: OpId, key: int) -> str:
        heaps = self._heaps.values()
        ready = sum(map(len, heaps)) + 1
        return self._reason(op, ready, sum(other < key for heap in heaps for other in heap))


def _first_that_fits(heaps: Mapping[Units, list[int]], free: list[int]) -> tuple[Units, list[int]] | None:
    """The group of the first operator that fits what is free, with its units."""
    best: tuple[Units, list[int]] | None = None
    first = 0
    for units, heap in heaps.items():
        if heap and (best is None or heap[0] < first) and all(map(le, units, free)):
            best, first = (units, heap), heap[0]
    return best
