"""Small instances as plain numbers, which a search can change, and how they become graphs and problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simsched.errors import ConfigError, Fault
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, TimeUnit
from simsched.hardware import HardwareProfile
from simsched.problem import Problem, make_problem

Vary = Literal["durations", "unlike", "edges", "delays", "demands", "operators", "hardware"]
VARY: tuple[Vary, ...] = ("durations", "unlike", "edges", "delays", "demands", "operators", "hardware")
"""What a search may change: durations; by device (``unlike``); edges; their delays; demands; operators; hardware."""

Edge = tuple[int, int, int]
"""Source, target and delay of an edge; the source has the lower number."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A graph and the hardware that it runs on.

    Attributes
    ----------
    hardware : int
        Number of the hardware in the space.
    names : tuple of str
        Of operators; their order is that of the graph.
    durations : tuple of tuple of int
        Steps of time by operator and place: place ``n`` is device ``n`` of whatever hardware.
    edges : tuple of (int, int, int)
        Ascending.
    demands : tuple of tuple of (str, int)
        Units of renewable resources by operator; what is not stated is not demanded.
    """

    hardware: int
    names: tuple[str, ...]
    durations: tuple[tuple[int, ...], ...]
    edges: tuple[Edge, ...]
    demands: tuple[tuple[tuple[str, int], ...], ...]

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Space:
    """Where a search may go.

    Attributes
    ----------
    hardware : tuple of (str, HardwareProfile)
        Names, as they are written for ``--hardware``, and profiles, one of which an instance runs on.
    vary : tuple of str
        What may be changed, of :data:`VARY`.
    most : int
        Operators of the largest instance.
    longest : int
        Steps of time of the longest duration and of the longest delay.
    step : int
        ns (ticks) of one step of time.
    unit : str
        In which graphs are written.
    start : Instance or None
        Where to begin; a random instance where there is none.
    """

    hardware: tuple[tuple[str, HardwareProfile], ...]
    vary: tuple[Vary, ...] = VARY
    most: int = 8
    longest: int = 100
    step: int = 1
    unit: TimeUnit = "tick"
    start: Instance | None = None

    @property
    def places(self) -> int:
        """Devices of the hardware that has most."""
        return max(len(profile.devices) for _, profile in self.hardware)

    def resources(self, hardware: int) -> tuple[tuple[str, int], ...]:
        """Renewable resources that every device of some hardware has, with the units of the smallest."""
        devices = self.hardware[hardware][1].devices
        shared = [name for name in devices[0].resources if all(name in device.resources for device in devices)]
        return tuple((name, min(device.resources[name] for device in devices)) for name in sorted(shared))

    def graph(self, instance: Instance, name: str = "instance") -> Graph:
        """Write an instance as a graph for its hardware."""
        devices = [device.name for device in self.hardware[instance.hardware][1].devices]
        builder = GraphBuilder(name, self.unit)
        for label, row, demands in zip(instance.names, instance.durations, instance.demands, strict=True):
            times = [steps * self.step for steps in row[: len(devices)]]
            alike = len(set(times)) == 1
            by_device = dict(zip(devices, times, strict=True))
            builder.add_op(label, duration=times[0] if alike else by_device, demands=dict(demands) or None)
        for source, target, delay in instance.edges:
            late = delay * self.step if len(devices) > 1 else 0
            builder.add_edge(instance.names[source], instance.names[target], delay=late or None)
        return builder.build()

    def problem(self, instance: Instance) -> Problem:
        """Return an instance as a problem."""
        return make_problem(self.graph(instance), self.hardware[instance.hardware][1])


def instance_of(problem: Problem, places: int, step: int) -> Instance:
    """Take the numbers out of a problem.

    Parameters
    ----------
    problem : Problem
    places : int
        Places of the space; those beyond the problem's devices repeat its last one.
    step : int
        ns of one step of time; durations are rounded to steps, none to nothing.

    Raises
    ------
    ConfigError
        If an operator may not run on every device: no instance can say so.

    Notes
    -----
    Tensors become delays: what it costs to bring them from one device to the next, the largest such cost between any
    two. Demands are those on the first device.
    """
    graph, count = problem.graph, len(problem.devices)
    kept = [op for op in range(len(graph)) if len(problem.allowed_devices(op)) < count]
    if kept:
        message = f"operator {graph.names[kept[0]]!r} may not run on every device; a duel needs a graph without that"
        raise ConfigError(graph.name, [Fault(message)])
    durations = tuple(
        tuple(max(1, round(problem.durations(min(place, count - 1))[op] / step)) for place in range(places))
        for op in range(len(graph))
    )
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    edges = tuple(
        (source, target, round(max((problem.transfer_ns(source, target, a, b) for a, b in pairs), default=0) / step))
        for source in range(len(graph))
        for target in sorted(set(graph.succ[source]))
    )
    demands = tuple(tuple(sorted(problem.demand(op, 0).items())) for op in range(len(graph)))
    return Instance(0, tuple(graph.names), durations, edges, demands)
