"""Costs: what a planner wants to know of a problem, in plain lists, and the means that ranks are made of.

Published ranks take the mean of a task's durations over the processors and of a transfer over the pairs of processors.
Means are kept as whole numbers, in units of ``1 / scale`` ns: ranks that are equal on paper are equal here, so that
ties do not depend on rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from simsched.problem import Problem

DeviceId = int


class Costs:
    """Durations and transfers of one problem.

    Transfers are those of :meth:`simsched.problem.Problem.transfer_ns`: each has its links to itself. Pairs of devices
    whose routes are made of the same links in all that matters form one *kind*, so that every transfer is worked out
    once and not once per pair. Launches by the host, events between streams, shared bandwidth and memory are left out.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    durations : sequence of sequence of int
        Estimates in ns, by device and operator.
    allowed : sequence of tuple of int
        Devices that may run each operator.
    kind : sequence of sequence of int
        Kind of the transfers from one device to another, by both; -1 within a device.
    transfers : sequence of sequence of sequence of int
        ns by kind and operator, for its predecessors in the order of ``graph.pred``.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.graph = problem.graph
        self.count = len(problem.graph)
        self.devices = range(len(problem.devices))
        self.durations = [problem.durations(device) for device in self.devices]
        self.allowed = [tuple(self.devices)] * self.count
        for op in problem.allowed:
            self.allowed[op] = problem.allowed_devices(op)
        self.kind, examples = _kinds(problem)
        self.transfers = [self._of_pair(*pair) for pair in examples]

    def _of_pair(self, source: DeviceId, target: DeviceId) -> list[list[int]]:
        """Transfers to every operator from its predecessors, from one device to another."""
        problem, graph = self.problem, self.graph
        names = [problem.devices[device].name for device in (source, target)]
        if problem.hardware.route(*names):
            move = problem.transfer_ns
            return [[move(other, op, source, target) for other in pred] for op, pred in enumerate(graph.pred)]
        delays = graph.delays
        if not delays:
            return [[0] * len(pred) for pred in graph.pred]
        return [[delays.get((other, op), 0) for other in pred] for op, pred in enumerate(graph.pred)]

    @cached_property
    def identical(self) -> bool:
        """Whether every operator takes equally long wherever it runs, and every transfer from wherever to wherever."""
        first = self.durations[0]
        return len(self.transfers) <= 1 and all(column is first or column == first for column in self.durations[1:])

    @cached_property
    def scale(self) -> int:
        """The means' unit is ``1 / scale`` ns."""
        if self.identical:
            return 1
        places = {len(devices) for devices in self.allowed}
        pairs = len(self.devices) * (len(self.devices) - 1)
        return math.lcm(*sorted(places), pairs if len(self.transfers) > 1 else 1)

    @cached_property
    def mean_durations(self) -> Sequence[int]:
        """Mean duration of each operator over the devices that may run it, in ``1 / scale`` ns."""
        if self.identical:
            return self.durations[0]
        scale = self.scale
        found = list(map(sum, zip(*self.durations, strict=True)))
        every = scale // len(self.devices) if scale % len(self.devices) == 0 else 1
        found = [total * every for total in found]
        for op, devices in enumerate(self.allowed):
            if len(devices) < len(self.devices):
                found[op] = sum(self.durations[device][op] for device in devices) * (scale // len(devices))
        return found

    @cached_property
    def mean_transfers(self) -> Sequence[Sequence[int]]:
        """Mean transfer over all pairs of different devices, by operator and predecessor, in ``1 / scale`` ns."""
        scale, kinds = self.scale, len(self.transfers)
        if not kinds:
            return [[0] * len(pred) for pred in self.graph.pred]
        if kinds == 1:
            (only,) = self.transfers
            return only if scale == 1 else [[scale * time for time in times] for times in only]
        flat = [kind for row in self.kind for kind in row if kind >= 0]
        weights = [flat.count(kind) * (scale // len(flat)) for kind in range(kinds)]
        return [
            [sum(weight * times[number] for weight, times in zip(weights, rows, strict=True)) for number in range(size)]
            for size, *rows in zip(map(len, self.graph.pred), *self.transfers, strict=True)
        ]

    def median_durations(self) -> list[int]:
        """Median duration of each operator over the devices that may run it, in half ns."""
        found = []
        for op, devices in enumerate(self.allowed):
            times = sorted(self.durations[device][op] for device in devices)
            middle = len(times) // 2
            found.append(times[middle] + times[middle] if len(times) % 2 else times[middle - 1] + times[middle])
        return found

    def longest_after(self, durations: Sequence[int], transfers: Sequence[Sequence[int]] | None = None) -> list[int]:
        """Longest path from each operator's end to an exit.

        Parameters
        ----------
        durations : sequence of int
        transfers : sequence of sequence of int, optional
            By operator and predecessor, in the unit of the durations; none at all by default.
        """
        after = [0] * self.count
        pred = self.graph.pred
        for op in range(self.count - 1, -1, -1):
            length = after[op] + durations[op]
            if transfers is None:
                for other in pred[op]:
                    if length > after[other]:
                        after[other] = length
            else:
                for other, time in zip(pred[op], transfers[op], strict=True):
                    if length + time > after[other]:
                        after[other] = length + time
        return after

    def longest_before(self, durations: Sequence[int], transfers: Sequence[Sequence[int]] | None = None) -> list[int]:
        """Longest path from an entry to each operator's start; the parameters are those of :meth:`longest_after`."""
        before = [0] * self.count
        for op, pred in enumerate(self.graph.pred):
            if pred:
                times = [0] * len(pred) if transfers is None else transfers[op]
                before[op] = max(
                    before[other] + durations[other] + time for other, time in zip(pred, times, strict=True)
                )
        return before


def _kinds(problem: Problem) -> tuple[list[list[int]], list[tuple[DeviceId, DeviceId]]]:
    """Kind of each pair of devices, and a pair of each kind."""
    hardware = problem.hardware
    numbers: dict[tuple[object, ...], int] = {}
    examples: list[tuple[DeviceId, DeviceId]] = []
    rows: list[list[int]] = []
    for source, left in enumerate(problem.devices):
        row = []
        for target, right in enumerate(problem.devices):
            if source == target:
                row.append(-1)
                continue
            links = [hardware.links[number] for number, _ in hardware.route(left.name, right.name)]
            alike = tuple((link.latency_ns, link.bandwidth, link.sharing) for link in links)
            if alike not in numbers:
                numbers[alike] = len(examples)
                examples.append((source, target))
            row.append(numbers[alike])
        rows.append(row)
    return rows, examples
