"""From the document of a profile file to a :class:`~simsched.hardware.HardwareProfile`, all faults at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from simsched.config import Document, located, validate
from simsched.errors import ConfigError, Fault, PathKey, suggest
from simsched.hardware import ComputeUnits, Device, Efficiency, Figure, HardwareProfile, Host, Link, SmLimits, Source
from simsched.profiles.figures import UNKNOWN, Parsed, split_tag

if TYPE_CHECKING:
    from simsched.profiles.schema import DeviceSection, ProfileSection, RatesSection

FIGURE_SECTIONS = ("devices", "links", "host")


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

    beyond = list(_faults_beyond_schema(document.data))
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
            Link(each.between[0], each.between[1], each.latency.value or 0, each.bandwidth.value)
            for each in section.links
        ),
        host=Host(section.host.launch.value or 0),
        sources={tag: Source(each.kind, each.cite) for tag, each in section.sources.items()},
        figures=dict(_figures(section)),
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


# --- what the schema cannot say; read from the raw data, so that it is reported beside the schema's own faults -----


def _faults_beyond_schema(data: Any) -> Iterator[Fault]:
    if not isinstance(data, dict):
        return
    sources = data.get("sources")
    tags = [tag for tag in sources if isinstance(tag, str)] if isinstance(sources, dict) else []
    for section in FIGURE_SECTIONS:
        yield from _unknown_tags(data.get(section), (section,), tags)
    raw_devices = data.get("devices")
    devices = raw_devices if isinstance(raw_devices, list) else []
    yield from _device_faults(devices)
    names = [each["name"] for each in devices if isinstance(each, dict) and isinstance(each.get("name"), str)]
    links = data.get("links")
    yield from _link_faults(links if isinstance(links, list) else [], names)


def _unknown_tags(value: Any, path: PathKey, tags: list[str]) -> Iterator[Fault]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _unknown_tags(inner, (*path, key), tags)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _unknown_tags(inner, (*path, number), tags)
    else:
        tag = split_tag(value)[1]
        if tag and tag not in tags:
            hint = suggest(tag, tags) if tags else "add it under 'sources'"
            yield Fault(f"source {tag!r} is not listed under 'sources'; {hint}", path)


def _device_faults(devices: list[Any]) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for number, device in enumerate(devices):
        if not isinstance(device, dict):
            continue
        path: PathKey = ("devices", number)
        name = device.get("name")
        if isinstance(name, str):
            if name in seen:
                yield Fault(f"device {name!r} is given twice (first as devices[{seen[name]}])", (*path, "name"))
            seen.setdefault(name, number)
        given = [key for key in ("sms", "cores") if key in device]
        if len(given) == 2:
            yield Fault("'sms' and 'cores' mean the same; give one of them", (*path, "cores"))
        counts = [split_tag(device[key])[0] for key in given]
        if device.get("model") == "sm_share" and all(count in (None, UNKNOWN) for count in counts):
            yield Fault("model 'sm_share' needs the number of 'sms' (or 'cores')", path)
        resources = device.get("resources")
        if isinstance(resources, dict) and "sms" in resources:
            yield Fault("SMs are given as 'sms' of the device, not among its resources", (*path, "resources", "sms"))


def _link_faults(links: list[Any], names: list[str]) -> Iterator[Fault]:
    seen: dict[frozenset[str], int] = {}
    for number, link in enumerate(links):
        ends = link.get("between") if isinstance(link, dict) else None
        if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            continue
        path: PathKey = ("links", number, "between")
        for position, end in enumerate(ends):
            if end not in names:
                yield Fault(f"no device is called {end!r}; {suggest(end, names)}", (*path, position))
        if ends[0] == ends[1]:
            yield Fault(f"a link joins two devices, not {ends[0]!r} with itself", path)
        pair = frozenset(ends)
        if pair in seen:
            yield Fault(f"these devices are linked already by links[{seen[pair]}]", path)
        seen.setdefault(pair, number)
