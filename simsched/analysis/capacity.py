"""What bounds are computed from: shortest durations, heads and tails, and the work on each capacity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simsched.graph.model import OpId
from simsched.graph.ranks import b_level, t_level
from simsched.hardware import Device
from simsched.problem import Problem

BANDWIDTH, COMPUTE = "bandwidth", "compute"
"""What kernels share in fractions; the unit is all that a device has."""

Durations = Sequence[Sequence[int]]
"""Per device, by operator id, in ns."""


@dataclass(frozen=True, slots=True)
class Group:
    """Operators that some devices alone may run, on a capacity that those devices have together.

    Attributes
    ----------
    resource : str
        A renewable resource, ``streams``, ``bandwidth`` or ``compute``.
    devices : tuple of int
    capacity : int
        Units that the devices have together.
    ops : sequence of int
        Operators that no other device may run.
    use : sequence of int
        Units x ns that each of ``ops`` needs at least.
    """

    resource: str
    devices: tuple[int, ...]
    capacity: int
    ops: Sequence[OpId]
    use: Sequence[int]


@dataclass(frozen=True, slots=True)
class Case:
    """A problem, prepared for bounding.

    Attributes
    ----------
    problem : Problem
    shortest : sequence of int
        Duration of each operator on the device where it is shortest, in ns.
    heads, tails : sequence of int
        Time that must pass before each operator's start and after its end, in ns.
    groups : sequence of Group
        Streams and resources, over all devices first.
    """

    problem: Problem
    shortest: Sequence[int]
    heads: Sequence[int]
    tails: Sequence[int]
    groups: Sequence[Group]

    @property
    def machines(self) -> int:
        """How many operators can run at once."""
        return self.groups[0].capacity

    @property
    def work(self) -> int:
        """Sum of the shortest durations, in ns."""
        return sum(self.shortest)

    @property
    def path(self) -> int:
        """Length of the longest path of shortest durations, in ns."""
        return max((tail + self.shortest[op] for op, tail in enumerate(self.tails)), default=0)


def bound_case(problem: Problem, actual: Durations | None) -> Case:
    """Prepare a problem, with its estimated durations or with actual ones per device."""
    graph = problem.graph
    columns = [problem.durations(device) for device in range(len(problem.devices))] if actual is None else actual
    shortest = problem.least(columns)
    levels = b_level(graph, shortest)
    tails = [level - duration for level, duration in zip(levels, shortest, strict=True)]
    groups = list(_groups(problem, columns, shortest))
    return Case(problem, shortest, t_level(graph, shortest), tails, groups)


def _groups(problem: Problem, columns: Durations, shortest: Sequence[int]) -> Iterator[Group]:
    """Streams and renewable resources: over all devices first, then over each set that some operators are tied to."""
    everywhere = tuple(range(len(problem.devices)))
    sets = dict.fromkeys([everywhere, *sorted({tuple(sorted(devices)) for devices in problem.allowed.values()})])
    names = dict.fromkeys(name for device in problem.devices for name in device.resources)
    uses = {
        name: problem.least([_use(problem, columns[device], device, name) for device in everywhere]) for name in names
    }
    fluid = {
        name: problem.least([_fluid_use(problem, columns[device], device, name) for device in everywhere])
        for name in (BANDWIDTH, COMPUTE)
    }
    for devices in sets:
        inside = set(devices)
        ops: Sequence[OpId] = range(len(problem.graph))
        if devices != everywhere:
            ops = [op for op, allowed in sorted(problem.allowed.items()) if inside.issuperset(allowed)]
        count = sum(machines(problem, device) for device in devices)
        yield Group("streams", devices, count, ops, [shortest[op] for op in ops])
        for name, use in uses.items():
            capacity = sum(problem.devices[device].resources.get(name, 0) for device in devices)
            if capacity and any(use[op] for op in ops):
                yield Group(name, devices, capacity, ops, [use[op] for op in ops])
        for name, use in fluid.items():
            capacity = sum(_shares(problem.devices[device], name) for device in devices)
            if capacity and any(use[op] for op in ops):
                yield Group(name, devices, capacity, ops, [use[op] for op in ops])


def _use(problem: Problem, durations: Sequence[int], device: int, name: str) -> Sequence[int]:
    """Units x ns of one resource that each operator uses on one device."""
    use = [0] * len(problem.graph)
    for op in problem.graph.demands.keys() | problem.costs[device].keys():
        use[op] = problem.demand(op, device).get(name, 0) * durations[op]
    return use


def _shares(device: Device, name: str) -> bool:
    """Whether kernels of a device share its bandwidth, or its arithmetic apart from whole SMs."""
    if name == BANDWIDTH:
        return device.model != "lanes" and device.memory_bandwidth is not None
    return device.model == "blocks"


def _fluid_use(problem: Problem, durations: Sequence[int], device: int, name: str) -> Sequence[int]:
    """Ns of all of the device's bandwidth or arithmetic that each operator uses there, rounded down."""
    use = [0] * len(problem.graph)
    if not _shares(problem.devices[device], name):
        return use
    costs = problem.costs[device]
    if name == COMPUTE:
        for op, cost in costs.items():
            # No more than the body: a kernel alone never draws more than there is.
            use[op] = min(int(cost.peak_ns), durations[op] - problem.launch_part(op, device, durations[op]))
        return use
    for op in problem.graph.traffic.keys() | costs.keys():
        body = durations[op] - problem.launch_part(op, device, durations[op])
        use[op] = int(problem.draw(op, device, durations[op]) * body)
    return use


def machines(problem: Problem, device: int) -> int:
    """How many operators can run at once on a device."""
    described = problem.devices[device]
    resident = described.max_resident_kernels
    return described.streams if resident is None else min(described.streams, resident)
