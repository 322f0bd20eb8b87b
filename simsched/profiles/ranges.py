"""Whether the figures of hardware are of a size that hardware has, where it comes from data and not from a profile.

Profiles are checked where they are read, each figure by its own rule and with its line.
"""

from __future__ import annotations

from simsched.config.plain import to_plain
from simsched.errors import ConfigError, Fault, PathKey
from simsched.hardware import HardwareProfile

_COUNTS = frozenset({"streams", "threads", "per_operator", "copy_engines", "max_resident_kernels", "warp_size"})
_POSITIVE = frozenset({"memory_bandwidth", "bandwidth", "core_bandwidth", "peaks", "clocks", "resources", "efficiency"})
_SHARES = frozenset({"efficiency", "serial"})
_MOST_COUNT, _MOST = 100_000, 10**18


def check_hardware(profile: HardwareProfile, source: str = "hardware") -> HardwareProfile:
    """Return hardware whose figures are of a size that hardware has.

    Parameters
    ----------
    profile : HardwareProfile
    source : str
        What errors call it.

    Raises
    ------
    ConfigError
        With every figure that is not.
    """
    faults = [] if profile.devices else [Fault("there is no device", ("devices",))]
    for number, device in enumerate(profile.devices):
        place = ("devices", number)
        if device.model != "lanes" and "sms" not in device.resources:
            faults.append(Fault(f"model {device.model!r} shares SMs, and there are none", place))
        faults += _out_of_range(device, place)
    faults += [fault for number, link in enumerate(profile.links) for fault in _out_of_range(link, ("links", number))]
    faults += _out_of_range(profile.host, ("host",))
    if faults:
        raise ConfigError(source, faults)
    return profile


def _out_of_range(part: object, place: PathKey) -> list[Fault]:
    """Find the numbers of a part that no hardware has."""
    faults: list[Fault] = []

    def visit(value: object, path: PathKey) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                visit(inner, (*path, key))
        elif isinstance(value, list):
            for number, inner in enumerate(value):
                visit(inner, (*path, number))
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and "stream_priorities" not in path:
            counted = path[-1] in _COUNTS
            least = 1 if counted else 1e-9 if _POSITIVE.intersection(path) else 0
            most = 1 if _SHARES.intersection(path) else _MOST_COUNT if counted or "resources" in path else _MOST
            if not least <= value <= most:
                faults.append(Fault(f"{value!r} is no figure of hardware; expected {least} to {most}", path))

    visit(to_plain(part), place)
    return faults
