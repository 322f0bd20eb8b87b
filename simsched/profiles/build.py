"""From the document of a profile file to a :class:`~simsched.hardware.HardwareProfile`, all faults at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from simsched.config import Document, located, validate
from simsched.errors import ConfigError, Fault, PathKey
from simsched.hardware import (
    ComputeUnits,
    Device,
    Efficiency,
    Figure,
    HardwareProfile,
    Host,
    Link,
    SmLimits,
    Source,
    Threads,
)
from simsched.profiles.faults import FIGURE_SECTIONS, faults_beyond_schema
from simsched.profiles.figures import Parsed

if TYPE_CHECKING:
    from simsched.profiles.schema import DeviceSection, HostSection, ProfileSection, RatesSection, ThreadsSection


def build_profile(document: Document, name: str) -> HardwareProfile:
    """Check the document of a profile and build it.

    Parameters
    ----------
    document : Document
    name : str
        Used where the file does not name itself.

    Raises
    ------
    ConfigError
        With every fault of the file.
    """
    from simsched.profiles.schema import ADAPTER

    beyond = list(faults_beyond_schema(document.data))
    try:
        section = validate(document, ADAPTER)
    except ConfigError as error:
        raise located(document, [*error.faults, *beyond]) from None
    if beyond:
        raise located(document, beyond)
    return HardwareProfile(
        name=section.name or name,
        description=section.description,
        devices=tuple(_device(each) for each in section.devices),
        links=tuple(
            Link(each.between[0], each.between[1], each.latency.value or 0, each.bandwidth.value, each.sharing)
            for each in section.links
        ),
        host=_host(section.host),
        sources={tag: Source(each.kind, each.cite) for tag, each in section.sources.items()},
        figures=dict(_figures(section)),
        switches=tuple(section.switches),
    )


def _host(section: HostSection) -> Host:
    return Host(
        launch_ns=section.launch.value or 0,
        mode=section.mode,
        threads=int(section.threads),
        graph_ns=section.graph_launch.value or 0,
        sync_ns=section.sync.value or 0,
        event_ns=section.event.value or 0,
    )


def _device(section: DeviceSection) -> Device:
    memory, efficiency, limits = section.memory, section.efficiency, section.sm_limits
    resources = {name: count.value for name, count in section.resources.items() if count.value is not None}
    sms = section.sms.value or section.cores.value
    return Device(
        name=section.name,
        kind=section.kind,
        model=section.model,
        streams=int(section.streams),
        resources=resources if sms is None else {"sms": sms, **resources},
        memory_capacity=memory.capacity.value,
        memory_usable=memory.usable.value,
        memory_bandwidth=memory.bandwidth.value,
        memory_clock=memory.clock.value,
        memory_bus=memory.bus.value,
        peaks={unit: rates for unit in ("vector", "matrix") if (rates := _known(getattr(section.peaks, unit)))},
        efficiency=Efficiency(
            *(share.value or 1.0 for share in (efficiency.matrix, efficiency.vector, efficiency.bandwidth))
        ),
        launch_ns=section.launch.value or 0,
        clocks=_known(section.clocks),
        copy_engines=section.copy_engines.value,
        max_resident_kernels=section.max_resident_kernels.value,
        l2_bytes=section.l2.value,
        sm_limits=None if limits is None else SmLimits(**{"warp_size": 32, **_known(limits)}),
        units=ComputeUnits(
            section.units.vector_lanes.value, section.units.matrix_units.value, _known(section.units.matrix_fma)
        ),
        graph_launch_ns=section.launch_in_graph.value,
        stream_priorities=tuple(int(priority) for priority in section.stream_priorities),
        threads=None if section.threads is None else _threads(section.threads),
    )


def _threads(section: ThreadsSection) -> Threads:
    table = sorted((int(cores), ratio.value) for cores, ratio in section.table.items() if ratio.value is not None)
    return Threads(
        per_operator=int(section.per_operator),
        law=section.law,
        serial=0.0 if section.serial is None else section.serial.value or 0.0,
        table=tuple(table),
        core_bandwidth=section.core_bandwidth.value,
    )


def _known(section: RatesSection | Any) -> dict[str, Any]:
    """Figures of a section whose values are known, by key."""
    return {name: figure.value for name, figure in section if isinstance(figure, Parsed) and figure.value is not None}


def _figures(section: ProfileSection) -> Iterator[tuple[str, Figure]]:
    """Path of each known figure, in the order of the schema."""

    def walk(value: Any, path: PathKey) -> Iterator[tuple[str, Figure]]:
        if isinstance(value, Parsed):
            if value.value is not None:
                yield Fault("", path).where, Figure(value.text, value.tag)
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                yield from walk(inner, (*path, key))
        elif isinstance(value, (list, tuple)):
            for number, inner in enumerate(value):
                yield from walk(inner, (*path, number))
        elif hasattr(value, "model_fields_set"):
            for key, inner in value:
                yield from walk(inner, (*path, key))

    for name in FIGURE_SECTIONS:
        yield from walk(getattr(section, name), (name,))
