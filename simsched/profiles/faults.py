"""What the schema of profiles cannot say: names that belong together, figures that another one needs.

Read from the raw data, so that these faults are reported beside the schema's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simsched.errors import Fault, PathKey, suggest
from simsched.profiles.figures import UNKNOWN, split_tag

FIGURE_SECTIONS = ("devices", "links", "host")
_LAW_FIGURES = {"amdahl": "serial", "table": "table"}
"""The figure that a speed-up law needs, and that no other law uses."""


def faults_beyond_schema(data: Any) -> Iterator[Fault]:
    """Yield the faults of a profile that no type of a single key can find.

    Parameters
    ----------
    data : object
        The document, of any form: what has the wrong shape is left to the schema.
    """
    if not isinstance(data, dict):
        return
    sources = data.get("sources")
    tags = [tag for tag in sources if isinstance(tag, str)] if isinstance(sources, dict) else []
    for section in FIGURE_SECTIONS:
        yield from _unknown_tags(data.get(section), (section,), tags)
    devices = _list(data, "devices")
    yield from _device_faults(devices)
    names = [each["name"] for each in devices if isinstance(each, dict) and isinstance(each.get("name"), str)]
    switches = _list(data, "switches")
    yield from _switch_faults(switches, names)
    yield from _link_faults(_list(data, "links"), names, [name for name in switches if isinstance(name, str)])


def _list(data: dict[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    return value if isinstance(value, list) else []


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


# --- devices ---------------------------------------------------------------------------------------------------


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
        lacks_sms = all(count in (None, UNKNOWN) for count in counts)
        if device.get("model") in ("sm_share", "blocks") and lacks_sms:
            yield Fault(f"model {device['model']!r} needs the number of 'sms' (or 'cores')", path)
        resources = device.get("resources")
        if isinstance(resources, dict) and "sms" in resources:
            yield Fault("SMs are given as 'sms' of the device, not among its resources", (*path, "resources", "sms"))
        yield from _priority_faults(device, path)
        threads = device.get("threads")
        if isinstance(threads, dict):
            if "sm_limits" in device:
                message = "'threads' are of a CPU and 'sm_limits' of a GPU; a device has one of them"
                yield Fault(message, (*path, "threads"))
            count = None if lacks_sms or len(counts) != 1 else _number(counts[0])
            yield from _thread_faults(threads, (*path, "threads"), count, lacks_sms)


def _priority_faults(device: dict[str, Any], path: PathKey) -> Iterator[Fault]:
    priorities, streams = device.get("stream_priorities"), device.get("streams")
    if not isinstance(priorities, list) or not priorities or isinstance(streams, bool) or not isinstance(streams, int):
        return
    if len(priorities) != streams:
        message = f"expected a priority for each of the {streams} streams, got {len(priorities)}"
        yield Fault(message, (*path, "stream_priorities"))


def _thread_faults(threads: dict[str, Any], path: PathKey, cores: int | None, lacks_cores: bool) -> Iterator[Fault]:
    """Yield what a speed-up law lacks, what it has too much, and cores that are not there."""
    wanted = threads.get("per_operator")
    wanted = None if isinstance(wanted, bool) or not isinstance(wanted, int) else wanted
    if lacks_cores:
        yield Fault("threads need the number of 'cores' (or 'sms')", path)
    elif cores is not None and wanted is not None and wanted > cores:
        yield Fault(f"an operator cannot take {wanted} of {cores} cores", (*path, "per_operator"))
    law = threads.get("law")
    for name, key in _LAW_FIGURES.items():
        if law == name and key not in threads:
            yield Fault(f"law {name!r} needs {key!r}", path)
        elif law in ("linear", "amdahl", "table") and law != name and key in threads:
            yield Fault(f"{key!r} belongs to law {name!r}, not to {law!r}", (*path, key))
    table = threads.get("table")
    if isinstance(table, dict):
        yield from _table_faults(table, (*path, "table"), wanted)


def _table_faults(table: dict[str, Any], path: PathKey, wanted: int | None) -> Iterator[Fault]:
    known: dict[int, str] = {}
    for key in table:
        cores = _number(key)
        if cores is None:
            yield Fault(f"{key!r} is not a number of cores; write for example 4: 3.6", (*path, key))
        elif cores in known:
            yield Fault(f"{cores} cores are given twice (first as {known[cores]!r})", (*path, key))
        else:
            known[cores] = key
            value = split_tag(table[key])[0]
            if value == UNKNOWN:
                yield Fault("a measured speed-up cannot be unknown; leave it out", (*path, key))
            elif cores == 1 and str(value) not in ("1", "1.0"):
                yield Fault("one core is as fast as one core; write 1, or leave it out", (*path, key))
    largest = max(known, default=1)
    if wanted is not None and wanted > largest:
        message = f"the table ends at {largest} cores, and nothing is extrapolated; measure {wanted}, or take fewer"
        yield Fault(message, path)


def _number(value: object) -> int | None:
    """Read a count of at least 1; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


# --- links and switches ------------------------------------------------------------------------------------------


def _switch_faults(switches: list[Any], devices: list[str]) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for number, name in enumerate(switches):
        if not isinstance(name, str):
            continue
        if name in devices:
            yield Fault(f"{name!r} is a device; give the switch another name", ("switches", number))
        if name in seen:
            yield Fault(f"switch {name!r} is given twice (first as switches[{seen[name]}])", ("switches", number))
        seen.setdefault(name, number)


def _link_faults(links: list[Any], devices: list[str], switches: list[str]) -> Iterator[Fault]:
    names = [*devices, *switches]
    what = "device or switch" if switches else "device"
    seen: dict[frozenset[str], int] = {}
    for number, link in enumerate(links):
        ends = link.get("between") if isinstance(link, dict) else None
        if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            continue
        path: PathKey = ("links", number, "between")
        for position, end in enumerate(ends):
            if end not in names:
                yield Fault(f"no {what} is called {end!r}; {suggest(end, names)}", (*path, position))
        if ends[0] == ends[1]:
            yield Fault(f"a link joins two devices, not {ends[0]!r} with itself", path)
        pair = frozenset(ends)
        if pair in seen:
            yield Fault(f"these two are linked already by links[{seen[pair]}]", path)
        seen.setdefault(pair, number)
