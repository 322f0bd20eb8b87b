"""What is shown of profiles: one row a profile, and one row a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from simsched.hardware import Device, HardwareProfile
from simsched.profiles.load import load_hardware, profile_names
from simsched.units import format_duration, format_rate, format_size

UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One device of one profile, as text; ``-`` for figures that are not known or do not exist."""

    profile: str
    device: str
    kind: str
    model: str
    streams: str
    sms: str
    fp32: str
    half: str
    int8: str
    memory: str
    usable: str
    bandwidth: str
    launch: str
    sources: str


HEADINGS = {
    "profile": "profile", "device": "device", "kind": "kind", "model": "model", "streams": "streams",
    "sms": "SMs or cores", "fp32": "fp32 vector", "half": "fp16/bf16 matrix", "int8": "int8 matrix",
    "memory": "memory", "usable": "usable", "bandwidth": "bandwidth", "launch": "launch", "sources": "sources",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of a profile.

    Attributes
    ----------
    path : str
        E.g. ``gpu.memory.bandwidth``.
    value : str
    source : str
        Kind of its source, or ``none``.
    cite : str
    """

    path: str
    value: str
    source: str
    cite: str


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One link of a profile, as text; ``-`` for no latency, and for bandwidth without a limit."""

    link: str
    latency: str
    bandwidth: str
    sharing: str


def profile_rows(names: list[str] | None = None) -> list[ProfileRow]:
    """Load profiles and return a row for each device.

    Parameters
    ----------
    names : list of str, optional
        All that can be found by default.

    Raises
    ------
    ConfigError
        If a file is malformed.
    """
    return [row for name in (profile_names() if names is None else names) for row in profile_row(load_hardware(name))]


def profile_row(profile: HardwareProfile) -> list[ProfileRow]:
    """Return the rows of one profile, a row a device."""
    return [_device_row(profile, number, device) for number, device in enumerate(profile.devices)]


def _device_row(profile: HardwareProfile, number: int, device: Device) -> ProfileRow:
    vector, matrix = device.peaks.get("vector", {}), device.peaks.get("matrix", {})
    inside = f"devices[{number}]."
    tags = {figure.tag for path, figure in profile.figures.items() if path.startswith(inside)}
    kinds = {profile.sources[tag].kind if tag else "none" for tag in tags}
    return ProfileRow(
        profile=profile.name,
        device=device.name,
        kind=device.kind,
        model=device.model,
        streams=str(device.streams),
        sms=str(device.resources["sms"]) if "sms" in device.resources else UNKNOWN,
        fp32=_rate(vector.get("fp32"), "FLOP/s"),
        half=_rate(matrix.get("fp16", matrix.get("bf16")), "FLOP/s"),
        int8=_rate(matrix.get("int8"), "OP/s"),
        memory=_size(device.memory_capacity),
        usable=_size(device.memory_usable),
        bandwidth=_rate(device.memory_bandwidth, "B/s"),
        launch=format_duration(device.launch_ns) if device.launch_ns else UNKNOWN,
        sources=", ".join(sorted(kinds)) or UNKNOWN,
    )


def figure_rows(profile: HardwareProfile) -> list[FigureRow]:
    """Return every known figure of a profile with its source.

    Parameters
    ----------
    profile : HardwareProfile
        One that was read from a file; the short forms have no figures.
    """
    rows = []
    for path, figure in profile.figures.items():
        place, _, key = path.partition(".")
        if place.startswith("devices["):
            place = profile.devices[int(place[len("devices[") : -1])].name
        source = profile.sources.get(figure.tag)
        kind, cite = (source.kind, source.cite) if source else ("none", "")
        rows.append(FigureRow(f"{place}.{key}", figure.text, kind, cite))
    return rows


def link_rows(profile: HardwareProfile) -> list[LinkRow]:
    """Return the links of a profile, in its order."""
    return [
        LinkRow(
            f"{link.a} - {link.b}",
            format_duration(link.latency_ns) if link.latency_ns else UNKNOWN,
            _rate(link.bandwidth, "B/s"),
            link.sharing.replace("_", " "),
        )
        for link in profile.links
    ]


def host_text(profile: HardwareProfile) -> str:
    """Say how the host of a profile launches, and what that costs.

    Examples
    --------
    >>> from simsched.hardware import Host, lanes
    >>> host_text(lanes(2))
    'launches cost the host nothing'
    >>> from dataclasses import replace
    >>> host_text(replace(lanes(2), host=Host(5000, "serial", threads=2, event_ns=300)))
    'launches one after the other (serial), 5 us each, on 2 threads; event 300 ns'
    """
    host = profile.host
    costs = [
        f"{name} {format_duration(cost)}" for name, cost in (("sync", host.sync_ns), ("event", host.event_ns)) if cost
    ]
    if host.mode == "free":
        return "launches cost the host nothing"
    if host.mode == "graph":
        text = f"launches everything as one graph, {format_duration(host.graph_ns)}"
        costs = costs[-1:] if host.event_ns else []
    else:
        text = f"launches one after the other (serial), {format_duration(host.launch_ns)} each"
        text += f", on {host.threads} threads" if host.threads > 1 else ""
    return "; ".join([text, *costs])


def markdown_table(rows: list[ProfileRow], columns: Sequence[str] = ()) -> str:
    """Return rows as a Markdown table.

    Parameters
    ----------
    rows : list of ProfileRow
    columns : sequence of str, optional
        Names of fields; all by default.
    """
    names = list(columns) or [field.name for field in fields(ProfileRow)]
    lines = ["| " + " | ".join(HEADINGS[name] for name in names) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(getattr(row, name) for name in names) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _rate(value: float | None, unit: str) -> str:
    return UNKNOWN if value is None else format_rate(value, unit)


def _size(value: int | None) -> str:
    return UNKNOWN if value is None else format_size(value)
