"""The figures of a hardware profile by name, to be read and replaced one at a time.

A device's figures are called as in its profile (``memory_bandwidth``, ``sms``, ``peaks.matrix.fp16``), the host's
begin with ``host.``, those of links with ``link.``. Where there are several devices or links, the name of one may stand
before it: ``gpu.sms``, ``link.cpu-gpu.bandwidth``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from simsched import units
from simsched.errors import ConfigError, Fault, UnknownNameError
from simsched.hardware import Device, DeviceModelName, HardwareProfile, Host, LaunchMode, Link, LinkSharing

Value = int | float | str | None
Path = tuple[str, ...]
Owner = Device | Link | Host

SOURCE = "--set"
UNLIMITED = "unlimited"


@dataclass(frozen=True, slots=True)
class Kind:
    """How figures of one kind are written.

    Attributes
    ----------
    read : callable
        Text to a value; raises ValueError.
    show : callable
        A value to text that people read.
    example : str
    least : int or None
        The smallest whole number that it may be; None where it is no whole number.
    cost : bool
        Whether less of it is better, as of a latency.
    """

    read: Callable[[str], Any]
    show: Callable[[Any], str]
    example: str
    least: int | None = None
    cost: bool = False


@dataclass(frozen=True, slots=True)
class Handle:
    """One figure of one device, link or host.

    Attributes
    ----------
    part : {"devices", "links", "host"}
    number : int
        Which device or link.
    owner : str
        Name of the device, ``a-b`` for a link, ``host``.
    name : str
        Without the owner for devices: ``memory_bandwidth``; ``link.bandwidth``; ``host.launch``.
    path : tuple of str
        Where it is in the value: attributes and keys.
    value : int, float, str or None
        None where it is not known, or unlimited.
    kind : Kind
    stated : str
        Its path in the profile's file, of which the source is known; see ``HardwareProfile.figures``.
    label : str
        What it is called in tables: with its device or link where there are several.
    """

    part: Literal["devices", "links", "host"]
    number: int
    owner: str
    name: str
    path: Path
    value: Value
    kind: Kind
    stated: str = ""
    label: str = ""

    @property
    def full(self) -> str:
        """The name that no other figure of the profile has."""
        if self.part == "devices":
            return f"{self.owner}.{self.name}"
        return self.name if self.part == "host" else f"link.{self.owner}.{self.name.removeprefix('link.')}"

    def show(self, value: Value) -> str:
        """Write a value of this figure."""
        return UNLIMITED if value is None else self.kind.show(value)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 10**9):
        raise ValueError(f"expected a whole number from 1 to 1000000000, got {text!r}")
    return int(text)


def _share(text: str) -> float:
    number, unit = units.split(text)
    share = number / 100 if unit == "%" else number
    if unit not in ("", "%") or not 0 < share <= 1:
        raise ValueError(f"expected a fraction above 0 and up to 1, such as 0.8 or '80 %', got {text!r}")
    return float(share)


def _size(text: str) -> int:
    number = units.size(text)
    if number < 1:
        raise ValueError(f"expected a positive size such as '24 GiB', got {text!r}")
    return number


def _word(choices: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}, got {text!r}")
        return text

    return read


def _rate(unit: str) -> Callable[[Any], str]:
    return lambda value: units.format_rate(value, unit)


COUNT = Kind(_whole, str, "8", least=1)
SIZE = Kind(_size, units.format_size, "24 GiB", least=1)
TIME = Kind(units.duration, units.format_duration, "2.5 us", least=0, cost=True)
RATE = Kind(units.bandwidth, _rate("B/s"), "2 TB/s")
FLOPS = Kind(units.flops, _rate("FLOP/s"), "312 TFLOP/s")
SHARE = Kind(_share, lambda value: f"{value:.4g}", "0.8")
MODEL = Kind(_word(get_args(DeviceModelName)), str, "sm_share")
MODE = Kind(_word(get_args(LaunchMode)), str, "serial")
SHARING = Kind(_word(get_args(LinkSharing)), str, "half_duplex")

# Name, place in the value, kind, place in the file. What follows from other figures (clocks, units) is not among them.
_DEVICE: tuple[tuple[str, Path, Kind, str], ...] = (
    ("model", ("model",), MODEL, "model"),
    ("streams", ("streams",), COUNT, "streams"),
    ("memory_capacity", ("memory_usable",), SIZE, "memory.usable"),
    ("memory_bandwidth", ("memory_bandwidth",), RATE, "memory.bandwidth"),
    ("launch", ("launch_ns",), TIME, "launch"),
    ("graph_launch", ("graph_launch_ns",), TIME, "graph_launch"),
    ("copy_engines", ("copy_engines",), COUNT, "copy_engines"),
    ("max_resident_kernels", ("max_resident_kernels",), COUNT, "max_resident_kernels"),
    ("l2", ("l2_bytes",), SIZE, "l2"),
    ("efficiency.matrix", ("efficiency", "matrix"), SHARE, "efficiency.matrix"),
    ("efficiency.vector", ("efficiency", "vector"), SHARE, "efficiency.vector"),
    ("efficiency.bandwidth", ("efficiency", "bandwidth"), SHARE, "efficiency.bandwidth"),
)


def handles(profile: HardwareProfile) -> tuple[Handle, ...]:
    """Return every figure that can be replaced, devices first, in the order of the profile."""
    found: list[Handle] = []
    for number, device in enumerate(profile.devices):
        for name, path, kind, stated in _device_figures(device):
            value = device.capacity if name == "memory_capacity" else _get(device, path)
            place = f"devices[{number}].{stated}"
            found.append(Handle("devices", number, device.name, name, path, value, kind, place))
    for number, link in enumerate(profile.links):
        owner = f"{link.a}-{link.b}"
        rows = (("latency", "latency_ns", TIME), ("bandwidth", "bandwidth", RATE), ("sharing", "sharing", SHARING))
        for word, key, kind in rows:
            place = f"links[{number}].{word}"
            found.append(Handle("links", number, owner, f"link.{word}", (key,), getattr(link, key), kind, place))
    for item in dataclasses.fields(profile.host):
        word = item.name.removesuffix("_ns")
        kind = MODE if word == "mode" else TIME if item.name.endswith("_ns") else COUNT
        value = getattr(profile.host, item.name)
        found.append(Handle("host", 0, "host", f"host.{word}", (item.name,), value, kind, f"host.{word}"))
    several = {"devices": len(profile.devices) > 1, "links": len(profile.links) > 1, "host": False}
    return tuple(
        dataclasses.replace(handle, label=handle.full if several[handle.part] else handle.name) for handle in found
    )


def _device_figures(device: Device) -> Iterator[tuple[str, Path, Kind, str]]:
    yield from _DEVICE
    for resource in device.resources:
        name = "sms" if resource == "sms" else f"resources.{resource}"
        yield name, ("resources", resource), COUNT, name
    for unit, rates in device.peaks.items():
        for dtype in rates:
            yield f"peaks.{unit}.{dtype}", ("peaks", unit, dtype), FLOPS, f"peaks.{unit}.{dtype}"
    for section in ("sm_limits", "threads"):
        inner = getattr(device, section)
        if inner is None:
            continue
        for item in dataclasses.fields(inner):
            kind = _inner_kind(item.name, getattr(inner, item.name))
            if kind is not None:
                yield f"{section}.{item.name}", (section, item.name), kind, f"{section}.{item.name}"


def _inner_kind(name: str, value: Any) -> Kind | None:
    """Kind of a figure of what fits on one SM, or of the threads of a CPU; None for words and tables."""
    if isinstance(value, (str, tuple)):
        return None
    if name.endswith("bandwidth"):
        return RATE
    if name == "serial":
        return SHARE
    return SIZE if name.startswith("shared_memory") else COUNT


def find(profile: HardwareProfile, text: str) -> tuple[Handle, ...]:
    """Return the figures that a name means: one, or the same of several devices or links, or a group (``peaks``).

    Raises
    ------
    UnknownNameError
        If the profile has no such figure; with the nearest name.
    """
    every = handles(profile)
    wanted = text.strip().removeprefix("device.").replace("memory.", "memory_")
    found = [handle for handle in every if wanted in (handle.name, handle.full)]
    if not found:
        inside = [
            handle for handle in every if handle.name.startswith(f"{wanted}.") or handle.full.startswith(f"{wanted}.")
        ]
        if len({id(handle.kind) for handle in inside}) == 1:
            found = inside
    if not found:
        names = [handle.name for handle in every]
        if len(profile.devices) > 1 or len(profile.links) > 1:
            names += [handle.full for handle in every]
        raise UnknownNameError(f"figure of {profile.name!r}", text, dict.fromkeys(names))
    return tuple(found)


def new_value(handle: Handle, text: str) -> Value:
    """Return what a figure becomes: ``x2`` times what it is, or an absolute value with its unit.

    Raises
    ------
    ConfigError
        If the text is neither, or there is nothing to multiply.
    """
    text = text.strip()
    try:
        if text[:1] in ("x", "×") and text[1:2].strip() and (text[1].isdigit() or text[1] in ".+-"):
            return _multiplied(handle, factor_of(text[1:]))
        if text == UNLIMITED and handle.path[0] in ("memory_usable", "copy_engines", "max_resident_kernels"):
            return None
        value: Value = handle.kind.read(text)
    except ValueError as error:
        raise ConfigError(SOURCE, [Fault(f"{handle.full}: {error}")]) from None
    return value


def factor_of(text: str) -> Fraction:
    """Read a factor exactly: ``0.5``, ``2``.

    Raises
    ------
    ValueError
        If it is not a number, or negative.
    """
    number, unit = units.split(text)
    if unit:
        raise ValueError(f"expected a factor such as 0.5, got {text!r}")
    if number < 0:
        raise ValueError(f"a factor cannot be negative: {text}")
    return number


def _multiplied(handle: Handle, factor: Fraction) -> Value:
    value, kind = handle.value, handle.kind
    if value is None:
        raise ValueError(
            f"it is not known or has no limit, so it cannot be multiplied; write for example {kind.example!r}"
        )
    if isinstance(value, str):
        raise ValueError(f"it is a word, so it cannot be multiplied; write for example {kind.example!r}")
    if not factor and kind.least != 0:
        raise ValueError("it cannot become 0")
    if kind.least is not None:
        return max(kind.least, round(value * factor))
    product = float(Fraction(value) * factor)
    if kind is SHARE and product > 1:
        raise ValueError(f"{product:.4g} is more than 1, and it is a fraction of a peak")
    return product


def with_value(profile: HardwareProfile, handle: Handle, value: Value) -> HardwareProfile:
    """Return the profile with one figure replaced.

    More or fewer SMs are of the same kind: the peaks of the device change with them. Priorities of streams are cut, or
    the last one holds for further streams. What the profile's file says about a changed figure is left out.
    """
    if handle.part == "host":
        return dataclasses.replace(profile, host=_set(profile.host, handle.path, value))
    figures = {path: figure for path, figure in profile.figures.items() if path != handle.stated}
    if handle.part == "links":
        links = list(profile.links)
        links[handle.number] = _set(links[handle.number], handle.path, value)
        return dataclasses.replace(profile, links=tuple(links), figures=figures)
    devices = list(profile.devices)
    device = devices[handle.number]
    if handle.name == "streams" and device.stream_priorities:
        device = _streams(device, int(value or 1))
    else:
        device = _set(device, handle.path, value)
    if handle.name == "sms":
        before, after = devices[handle.number].sms, int(value or 1)
        peaks = {
            unit: {dtype: rate * after / before for dtype, rate in row.items()} for unit, row in device.peaks.items()
        }
        device = dataclasses.replace(device, peaks=peaks)
        gone = f"devices[{handle.number}].peaks."
        figures = {path: figure for path, figure in figures.items() if not path.startswith(gone)}
    devices[handle.number] = device
    return dataclasses.replace(profile, devices=tuple(devices), figures=figures)


def _streams(device: Device, count: int) -> Device:
    priorities = device.stream_priorities[:count]
    longer = (*priorities, *[device.stream_priorities[-1]] * (count - len(priorities)))
    return dataclasses.replace(device, streams=count, stream_priorities=longer)


def _get(owner: Any, path: Path) -> Any:
    for key in path:
        owner = owner.get(key) if isinstance(owner, Mapping) else getattr(owner, key)
    return owner


def _set(owner: Any, path: Path, value: Any) -> Any:
    key, *rest = path
    if rest:
        value = _set(owner[key] if isinstance(owner, Mapping) else getattr(owner, key), tuple(rest), value)
    if isinstance(owner, Mapping):
        return {**owner, key: value}
    return dataclasses.replace(owner, **{key: value})


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that was changed, in words: what, from what, to what."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.what}: {self.before} -> {self.after}"


def edited(profile: HardwareProfile, settings: Mapping[str, str]) -> tuple[HardwareProfile, tuple[Edit, ...]]:
    """Return the profile with figures replaced, in the order in which they are given, and what was changed.

    Parameters
    ----------
    profile : HardwareProfile
    settings : mapping of str to str
        Name of a figure to ``x2`` or to a value with its unit.

    Raises
    ------
    UnknownNameError, ConfigError
        If there is no such figure, or the text is no value of it.

    Examples
    --------
    >>> from simsched.hardware import lanes
    >>> profile, edits = edited(lanes(2), {"streams": "x2"})
    >>> profile.name, profile.devices[0].streams, str(edits[0])
    ('lanes:2 with streams x2', 4, 'streams: 2 -> 4')
    """
    edits: list[Edit] = []
    first = profile
    for text, value_text in settings.items():
        for found in find(profile, text):
            handle = next(each for each in handles(profile) if each.full == found.full and each.number == found.number)
            value = new_value(handle, value_text)
            profile = with_value(profile, handle, value)
            note = ", its peaks in proportion" if handle.name == "sms" and first.devices[handle.number].peaks else ""
            edits.append(Edit(handle.label, handle.show(handle.value), f"{handle.show(value)}{note}"))
    if settings:
        listed = ", ".join(f"{name} {value}" for name, value in settings.items())
        profile = dataclasses.replace(profile, name=f"{profile.name} with {listed}")
    return profile, tuple(edits)
