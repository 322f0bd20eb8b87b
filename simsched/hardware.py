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
from dataclasses import dataclass, field
from typing import Literal

from simsched.errors import UnknownNameError

DeviceKind = Literal["gpu", "cpu", "npu", "tpu", "ideal"]
DeviceModelName = Literal["lanes", "sm_share"]


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
class Device:
    """One device.

    Attributes
    ----------
    name : str
        Unique in its profile, e.g. ``"d0"``.
    kind : str
        ``gpu``, ``cpu``, ``npu``, ``tpu`` or ``ideal``.
    model : str
        The device model that decides how kernels share it: ``lanes`` or ``sm_share``.
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
    clocks : mapping of str to float
        ``vector`` and ``matrix`` clocks in Hz.
    copy_engines, max_resident_kernels, l2_bytes : int or None
    sm_limits : SmLimits or None
    units : ComputeUnits
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
    clocks: Mapping[str, float] = field(default_factory=dict)
    copy_engines: int | None = None
    max_resident_kernels: int | None = None
    l2_bytes: int | None = None
    sm_limits: SmLimits | None = None
    units: ComputeUnits = ComputeUnits()

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
    """A link between two devices, the same in both directions: ``latency + bytes / bandwidth``."""

    a: str
    b: str
    latency_ns: int = 0
    bandwidth: float | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """The host that launches kernels. ``launch_ns`` is what one launch costs it; no run is charged with it yet."""

    launch_ns: int = 0


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

    def device(self, name: str) -> Device:
        """Return a device by name, or raise :class:`UnknownNameError` with the nearest name."""
        for device in self.devices:
            if device.name == name:
                return device
        raise UnknownNameError(f"device of {self.name!r}", name, [device.name for device in self.devices])

    def link(self, a: str, b: str) -> Link | None:
        """Return the link between two devices, or None where data crosses at no cost."""
        for link in self.links:
            if {link.a, link.b} == {a, b}:
                return link
        return None

    @property
    def content_hash(self) -> str:
        """SHA-256 over every figure that can change a simulated number."""
        parts = [self.devices, self.links, self.host]
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
