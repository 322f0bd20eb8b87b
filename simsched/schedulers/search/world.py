"""World: one problem in plain lists, as the inner loop of a search wants it.

A device is renewable units over time, its streams among them; see :class:`simsched.schedulers.planning.machines.Pool`.
Units of all resources of a device are packed into one integer, each resource with a guard bit above its field: where
all guard bits are still set after a demand has been subtracted, the demand fits.

Times are scaled where operators take no time: those then take one unit, and a ns is worth more units than there are
operators. Whatever fits in units fits in ns, in the same order, and the planner needs no rules for empty intervals.
"""

from __future__ import annotations

from collections.abc import Sequence

from simsched.graph.ranks import b_level, t_level
from simsched.problem import Problem
from simsched.schedulers.planning.costs import Costs
from simsched.schedulers.planning.partial import planned_demands

Rows = list[list[tuple[int, tuple[int, ...]]]]
"""By operator: its neighbours, each with the transfer by kind; the last entry is 0, for a pair on one device."""


Amount = tuple[int, dict[int, int]]
"""Capacity of one resource, and the demands of the operators that hold any of it."""


class World:
    """What a search knows of a problem.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    count : int
        Operators.
    scale : int
        Units of time in a ns.
    durations : list of list of int
        By device and operator, in units of time like all that follows.
    least : list of int
        Each operator's duration where it is shortest.
    pred, succ : sequence of sequence of int
    before, after : list of list
        Predecessors and successors with their transfers.
    kind, kind_back : sequence of sequence of int
        Kind of a transfer from the first device to the second; from the second to the first.
    full, guard : list of int
        Packed units and guard bits of each device.
    smallest : list of int
        Per device, the least that operators demand of each resource, packed.
    needs : list of list of int
        Packed demands by device and operator; 0 where an operator cannot be made to wait.
    amounts : list of list of (int, dict)
        By device: capacity and demands by operator of each resource that can be short, streams among them.
    units : list of list of (int, dict)
        The same without streams.
    alike : bool
        Whether devices could change names.
    transfers : list of list of int
        Mean transfers by operator and predecessor.
    tail, head : list of int
        Longest path from an operator on, and up to it, without transfers.
    """

    def __init__(self, problem: Problem) -> None:
        costs = Costs(problem)
        self.problem = problem
        self.count = count = costs.count
        self.devices = len(problem.devices)
        self.pred: Sequence[Sequence[int]] = problem.graph.pred
        self.succ: Sequence[Sequence[int]] = problem.graph.succ
        self.allowed = costs.allowed
        least = problem.shortest_durations()
        self.scale = scale = 1 << count.bit_length() if 0 in least else 1
        self.durations = [[time * scale or 1 for time in column] for column in costs.durations]
        self.least = [time * scale or 1 for time in least]
        self.kind = costs.kind
        self.kind_back = [list(row) for row in zip(*costs.kind, strict=True)]
        self.before, self.after = _neighbours(costs, scale)
        self.transfers = [[time * scale for time in times] for times in _rounded(costs)]
        self.full: list[int] = []
        self.guard: list[int] = []
        self.smallest: list[int] = []
        self.needs: list[list[int]] = []
        self.amounts: list[list[Amount]] = []
        self.units: list[list[Amount]] = []
        for device in range(self.devices):
            self._pack(device)
        self.alike = costs.identical and not problem.allowed and _alike(self)
        self.tail = b_level(problem.graph, self.least)
        self.head = t_level(problem.graph, self.least)

    def _pack(self, device: int) -> None:
        """Pack the units of one device, leaving out what can never be short."""
        described = self.problem.devices[device]
        streams = described.streams
        if described.max_resident_kernels is not None:
            streams = max(1, min(streams, described.max_resident_kernels))
        demands = planned_demands(self.problem, device)
        scarce = [
            (units, {op: demand[name] for op, demand in demands.items() if demand.get(name)})
            for name, units in described.resources.items()
        ]
        scarce = [(units, wanted) for units, wanted in scarce if sum(wanted.values()) > units]
        amounts = [(streams, dict.fromkeys(range(self.count), 1)), *scarce] if self.count > streams else scarce
        shift, full, guard, smallest, needs = 0, 0, 0, 0, [0] * self.count
        for units, wanted in amounts:
            full |= units << shift
            smallest |= (min(wanted.values()) if len(wanted) == self.count else 0) << shift
            for op, demand in wanted.items():
                needs[op] += demand << shift
            shift += units.bit_length() + 1
            guard |= 1 << (shift - 1)
        self.full.append(full | guard)
        self.guard.append(guard)
        self.smallest.append(smallest)
        self.needs.append(needs)
        self.amounts.append(amounts)
        self.units.append(scarce)


def merge(times: list[int], free: list[int], span: tuple[int, int], smallest: int, guard: int) -> None:
    """Make one interval of those side by side that are full for everybody, so that nobody looks at each.

    Parameters
    ----------
    times, free : list of int
        Begin of each interval, and what is free in it.
    span : tuple of int
        The first interval in which anything was taken, and the first one after.
    smallest, guard : int
        Where this is not free, nobody fits.
    """
    first, last = span
    for number in range(min(last, len(times) - 1), max(first, 1) - 1, -1):
        if (free[number] - smallest) & guard != guard and (free[number - 1] - smallest) & guard != guard:
            del times[number], free[number]


def _neighbours(costs: Costs, scale: int) -> tuple[Rows, Rows]:
    """Predecessors and successors with their transfers by kind, in units of time."""
    before: Rows = [[] for _ in range(costs.count)]
    after: Rows = [[] for _ in range(costs.count)]
    for op, pred in enumerate(costs.graph.pred):
        for number, other in enumerate(pred):
            times = (*(scale * rows[op][number] for rows in costs.transfers), 0)
            before[op].append((other, times))
            after[other].append((op, times))
    return before, after


def _rounded(costs: Costs) -> list[list[int]]:
    """Mean transfers by operator and predecessor, in whole ns."""
    return [[time // costs.scale for time in times] for times in costs.mean_transfers]


def _alike(world: World) -> bool:
    """Whether all devices have the same units and demands."""
    first = world.full[0], world.needs[0]
    return all(pair == first for pair in zip(world.full, world.needs, strict=True))
