"""Hardware as values: devices, links, host, and a source for each figure.

Profiles are YAML files (``hardware_profiles/``) read by :mod:`simsched.profiles`; this module holds what they
become, and the two short forms for theory: ``lanes:4`` (one device, four identical lanes) and ``procs:4``
(four devices of one lane each, joined by links that add only the delays written on edges).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

from simsched.errors import ConfigError, Fault, UnknownNameError

DeviceKind = Literal["gpu", "cpu", "npu", "tpu", "ideal"]
DeviceModelName = Literal["lanes", "sm_share", "blocks"]
LaunchMode = Literal["free", "serial", "graph"]
"""How kernels get to the device: at no cost; one after the other, launched by the host; all at once, as one graph."""
ThreadLaw = Literal["linear", "amdahl", "table"]
"""How much faster several cores are than one, see :mod:`simsched.cost.speedup`."""
LinkSharing = Literal["full_duplex", "half_duplex", "unshared"]
"""Whether copies share a link's bandwidth: those of one direction, those of both, or none."""


@dataclass(frozen=True, slots=True)
class SmLimits:
    """What fits on one SM (compute unit, core) at a time; None where no figure is known."""

    warps: int | None = None
    threads: int | None = None
    blocks: int | None = None
    registers: int | None = None
    shared_memory: int | None = None
    shared_memory_block: int | None = None
    warp_size: int = 32


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Fractions of the peaks that good kernels reach (0 < f <= 1)."""

    matrix: float = 1.0
    vector: float = 1.0
    bandwidth: float = 1.0


@dataclass(frozen=True, slots=True)
class ComputeUnits:
    """Arithmetic units of one SM (compute unit, core), from which the peaks follow.

    Profiles are checked with them (:mod:`simsched.profiles`); kernels are costed by the peaks alone.

    Attributes
    ----------
    vector_lanes : int or None
        fp32 multiply-adds per clock outside the matrix units.
    matrix_units : int or None
        Tensor cores, matrix cores.
    matrix_fma : mapping of str to int
        Multiply-adds per matrix unit and clock, by dtype.
    """

    vector_lanes: int | None = None
    matrix_units: int | None = None
    matrix_fma: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Threads:
    """Intra-operator threads of a CPU: how many cores one operator takes, and how much faster they make it.

    Attributes
    ----------
    per_operator : int
        Cores that an operator takes; fewer where it has fewer independent parts.
    law : {"linear", "amdahl", "table"}
    serial : float
        Of ``amdahl``: the fraction of an operator's time on one core that more cores do not shorten.
    table : tuple of (int, float)
        Of ``table``: measured speed-ups, cores ascending. One core is 1 by definition.
    core_bandwidth : float or None
        Bytes per second that one core alone can draw; None where it is not known: then one core draws all.
    """

    per_operator: int
    law: ThreadLaw = "linear"
    serial: float = 0.0
    table: tuple[tuple[int, float], ...] = ()
    core_bandwidth: float | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """One device.

    Attributes
    ----------
    name : str
        Unique in its profile, e.g. ``"d0"``.
    kind : str
        ``gpu``, ``cpu``, ``npu``, ``tpu`` or ``ideal``.
    model : str
        The device model that decides how kernels share it: ``lanes``, ``sm_share`` or ``blocks``.
    streams : int
        In-order queues; under ``lanes`` each is one machine.
    resources : mapping of str to int
        Renewable resources that operators may demand, e.g. ``{"sms": 108, "tensor_units": 432}``.
    memory_capacity, memory_usable : int or None
        Bytes, nominal and what a program gets. None is unlimited.
    memory_bandwidth : float or None
        Bytes per second.
    memory_clock : float or None
        Hz, as drivers report it: data moves on both edges.
    memory_bus : int or None
        Bits.
    peaks : mapping
        ``{"vector": {"fp32": 19.5e12}, "matrix": {"fp16": 312e12, "tf32": ...}}`` in FLOP/s, dense.
    efficiency : Efficiency
    launch_ns : int
        Fixed cost added to each kernel whose duration comes from the cost model.
    graph_launch_ns : int or None
        The same cost where the kernel is part of a graph that is launched as a whole (:attr:`Host.mode` ``graph``);
        None where it is not known: then it is ``launch_ns``.
    clocks : mapping of str to float
        ``vector`` and ``matrix`` clocks in Hz.
    copy_engines, max_resident_kernels, l2_bytes : int or None
    sm_limits : SmLimits or None
    units : ComputeUnits
    stream_priorities : tuple of int
        Priority of each stream; lower is more urgent, as in CUDA. Empty where all are alike.
    threads : Threads or None
        Of a CPU whose operators run on several cores; None where the cost model alone says how many SMs they fill.

    Raises
    ------
    ConfigError
        If there are priorities, but not one for each stream.
    """

    name: str
    kind: DeviceKind = "ideal"
    model: DeviceModelName = "lanes"
    streams: int = 1
    resources: Mapping[str, int] = field(default_factory=dict)
    memory_capacity: int | None = None
    memory_usable: int | None = None
    memory_bandwidth: float | None = None
    memory_clock: float | None = None
    memory_bus: int | None = None
    peaks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    efficiency: Efficiency = Efficiency()
    launch_ns: int = 0
    graph_launch_ns: int | None = None
    clocks: Mapping[str, float] = field(default_factory=dict)
    copy_engines: int | None = None
    max_resident_kernels: int | None = None
    l2_bytes: int | None = None
    sm_limits: SmLimits | None = None
    units: ComputeUnits = ComputeUnits()
    stream_priorities: tuple[int, ...] = ()
    threads: Threads | None = None

    def __post_init__(self) -> None:
        if self.stream_priorities and len(self.stream_priorities) != self.streams:
            message = f"{len(self.stream_priorities)} stream priorities for {self.streams} streams; give one for each"
            raise ConfigError(f"device {self.name!r}", [Fault(message)])

    @property
    def capacity(self) -> int | None:
        """Bytes that a run may use: the usable memory where it is known, else the nominal one."""
        return self.memory_usable if self.memory_usable is not None else self.memory_capacity

    @property
    def sms(self) -> int:
        """Number of SMs (compute units, cores), or 1 where the profile has none."""
        return self.resources.get("sms", 1)


@dataclass(frozen=True, slots=True)
class Link:
    """A link between two devices or switches: ``latency + bytes / bandwidth`` for a copy that is alone on it.

    Attributes
    ----------
    a, b : str
        Names of devices or switches.
    latency_ns : int
        Uses no bandwidth.
    bandwidth : float or None
        Bytes per second, in each direction; None is unlimited.
    sharing : {"full_duplex", "half_duplex", "unshared"}
        Which copies share the bandwidth: those of the same direction, those of both, or none.
    """

    a: str
    b: str
    latency_ns: int = 0
    bandwidth: float | None = None
    sharing: LinkSharing = "full_duplex"


class Hop(NamedTuple):
    """One link on the way of a copy: its number in the profile, and whether it is crossed from ``a`` to ``b``."""

    link: int
    forward: bool


@dataclass(frozen=True, slots=True)
class Host:
    """The host that launches kernels.

    Attributes
    ----------
    launch_ns : int
        What one launch costs the thread that launches.
    mode : {"free", "serial", "graph"}
        Whether a run is charged with launches: not at all; each one in turn; or one launch for the whole graph.
    threads : int
        Threads of the host that launch; stream s is served by thread ``s % threads``.
    graph_ns : int
        What the launch of a whole graph costs.
    sync_ns : int
        From the end of a kernel until the host can act on it.
    event_ns : int
        From the end of a kernel until one in another stream of the same device, which waits for it, can start.
    """

    launch_ns: int = 0
    mode: LaunchMode = "free"
    threads: int = 1
    graph_ns: int = 0
    sync_ns: int = 0
    event_ns: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """Where figures come from. ``kind`` is measured, datasheet, derived or illustrative."""

    kind: Literal["measured", "datasheet", "derived", "illustrative"]
    cite: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a profile as its file states it: ``80 GiB``, and the tag of its source, empty for none."""

    text: str
    tag: str = ""


@dataclass(frozen=True, eq=False)
class HardwareProfile:
    """Devices, links and host, with a source per figure.

    Attributes
    ----------
    name, description : str
    devices : tuple of Device
    links : tuple of Link
    switches : tuple of str
        Where links meet without a device.
    host : Host
    sources : mapping of str to Source
        By tag.
    figures : mapping of str to Figure
        By path, e.g. ``devices[0].memory.bandwidth``; those that are known.
    """

    name: str
    devices: tuple[Device, ...]
    links: tuple[Link, ...] = ()
    host: Host = Host()
    description: str = ""
    sources: Mapping[str, Source] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    switches: tuple[str, ...] = ()

    def device(self, name: str) -> Device:
        """Return a device by name, or raise :class:`UnknownNameError` with the nearest name."""
        for device in self.devices:
            if device.name == name:
                return device
        raise UnknownNameError(f"device of {self.name!r}", name, [device.name for device in self.devices])

    def link(self, a: str, b: str) -> Link | None:
        """Return the direct link between two devices, or None where there is none."""
        for link in self.links:
            if {link.a, link.b} == {a, b}:
                return link
        return None

    def route(self, a: str, b: str) -> tuple[Hop, ...]:
        """Return the links that a copy from ``a`` to ``b`` crosses: the fewest, of equal ones those listed first.

        Empty where no links join them: then data crosses at no cost. Copies pass through switches, not devices.

        Examples
        --------
        >>> links = (Link("cpu", "hub"), Link("g0", "hub"), Link("g1", "hub"))
        >>> box = HardwareProfile("box", (Device("cpu"), Device("g0"), Device("g1")), links, switches=("hub",))
        >>> box.route("g0", "g1")
        (Hop(link=1, forward=True), Hop(link=2, forward=False))
        """
        routes = self._routes.get(a)
        if routes is None:
            routes = self._routes[a] = self._routes_from(a)
        return routes.get(b, ())

    @cached_property
    def _routes(self) -> dict[str, dict[str, tuple[Hop, ...]]]:
        """Routes that have been asked for: runs ask for the same few again and again."""
        return {}

    def _routes_from(self, start: str) -> dict[str, tuple[Hop, ...]]:
        """Search breadth first, links in the order of the profile: the first way to a place is the one to keep."""
        hops: dict[str, list[tuple[str, Hop]]] = {}
        for number, link in enumerate(self.links):
            hops.setdefault(link.a, []).append((link.b, Hop(number, True)))
            hops.setdefault(link.b, []).append((link.a, Hop(number, False)))
        reached: dict[str, tuple[Hop, ...]] = {start: ()}
        frontier = [start]
        while frontier:
            following: list[str] = []
            for place in frontier:
                for other, hop in hops.get(place, []):
                    if other not in reached:
                        reached[other] = (*reached[place], hop)
                        if other in self.switches:
                            following.append(other)
            frontier = following
        return reached

    @property
    def charged_devices(self) -> tuple[Device, ...]:
        """The devices with what a launch costs them in this host mode; cost models are asked with these."""
        if self.host.mode != "graph":
            return self.devices
        return tuple(
            device if device.graph_launch_ns is None else replace(device, launch_ns=device.graph_launch_ns)
            for device in self.devices
        )

    @property
    def content_hash(self) -> str:
        """SHA-256 over every figure that can change a simulated number."""
        parts = [self.devices, self.links, self.host, self.switches]
        text = json.dumps(parts, default=dataclasses.asdict, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def lanes(count: int) -> HardwareProfile:
    """One ideal device ``d0`` with ``count`` identical lanes: P | prec | Cmax of scheduling theory."""
    return HardwareProfile(f"lanes:{count}", (Device("d0", streams=count),), description=f"{count} identical lanes")


def procs(count: int) -> HardwareProfile:
    """``count`` ideal devices ``p0``, ``p1``, ... of one lane each; edges pay their own delay between devices."""
    devices = tuple(Device(f"p{number}") for number in range(count))
    return HardwareProfile(f"procs:{count}", devices, description=f"{count} processors with pure edge delays")


def native(capacities: Mapping[str, int], operators: int) -> HardwareProfile:
    """One ideal device with a file's own resource capacities and as many streams as it can use."""
    device = Device("d0", streams=max(operators, 1), resources=dict(capacities))
    return HardwareProfile("native", (device,), description="the capacities that the graph file carries")
