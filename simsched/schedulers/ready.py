"""Ready operators in groups that fit or do not fit alike: passing over many costs no more than passing over one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.budget import Budget, Demands

Group = tuple[object, ...]
"""What the operators of a group have in common: the devices that may run them, and their demands there."""


class ReadyGroups:
    """The ready list of a policy whose operators compete for more than streams.

    Operators of one group are all refused when the first of them is, memory aside, so each instant costs a look at
    every group and not at every operator. Only where memory is short are operators looked at one by one.

    Parameters
    ----------
    priority : sequence of int
        By operator id; higher goes first, ties to the lower id. May change until an operator is added.
    problem : Problem
    demands : Demands
    """

    def __init__(self, priority: Sequence[int], problem: Problem, demands: Demands) -> None:
        self._priority = priority
        self._problem = problem
        self._demands = demands
        self._numbers: dict[Group, int] = {}
        self._heaps: list[list[int]] = []

    def __len__(self) -> int:
        return sum(map(len, self._heaps))

    def add(self, op: OpId) -> None:
        """Add an operator that became ready."""
        number = self._numbers.setdefault(self._group(op), len(self._heaps))
        if number == len(self._heaps):
            self._heaps.append([])
        heappush(self._heaps[number], self._key(op))

    def ahead(self, op: OpId) -> int:
        """Number of operators in the list that come before ``op``."""
        key = self._key(op)
        return sum(other < key for heap in self._heaps for other in heap)

    def fitting(self, budget: Budget) -> Iterator[tuple[OpId, int]]:
        """Take out, in order of priority, the operators that fit, each with the device where it would end first.

        The caller takes from the budget what an operator needs before it asks for the next.
        """
        count = len(self._priority)
        heads = [(heap[0], number) for number, heap in enumerate(self._heaps) if heap]
        heapify(heads)
        short_of_memory: list[tuple[int, int]] = []
        while heads and budget.streams_left:
            key, number = heappop(heads)
            op = key % count
            if not budget.has_units(op):
                continue  # nor has any other of the group, for the rest of this instant
            heap = self._heaps[number]
            heappop(heap)
            if heap:
                heappush(heads, (heap[0], number))
            device = budget.best_device(op)
            if device is None:
                short_of_memory.append((number, key))
                continue
            yield op, device
        for number, key in short_of_memory:
            heappush(self._heaps[number], key)

    def _key(self, op: OpId) -> int:
        return op - self._priority[op] * len(self._priority)

    def _group(self, op: OpId) -> Group:
        devices = self._problem.allowed_devices(op)
        asked = (tuple(sorted(self._demands[device].get(op, {}).items())) for device in devices)
        return (devices, *asked)
