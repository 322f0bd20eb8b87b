"""Times, sizes and amounts of work as graph files write them: with a unit, or as plain numbers.

Every function raises ``ValueError`` with a message that says what to write; the validation adds the place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simsched import units
from simsched.config.validation import shown
from simsched.graph.attributes import TimeScale
from simsched.graph.textfile import LARGEST

NO_UNIT = TimeScale("ns", None)
"""For files that do not say their ``time_unit``: a plain number is no time."""


def read_time(value: Any, scale: TimeScale) -> int:
    """Return a time in ns, or ticks.

    Examples
    --------
    >>> read_time("2.6 us", NO_UNIT), read_time(3, TimeScale.named("us"))
    (2600, 3000)
    """
    if type(value) is int and scale.bare is not None and 0 <= value * scale.bare <= LARGEST:
        return value * scale.bare
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and scale.bare is None and value >= 0:
        raise ValueError(f"'{value}' has no unit; write '{value} us', or 'time_unit: us' for the whole file")
    return _read(scale.time, value, "7" if scale.unit == "tick" else "2.6 us")


def read_duration(value: Any, scale: TimeScale) -> int | dict[str, int]:
    """Return a time, or times by device."""
    if not isinstance(value, dict):
        return read_time(value, scale)
    if not value:
        raise ValueError("expected a duration for at least one device, got none")
    durations = {}
    for device, time in value.items():
        try:
            durations[device] = read_time(time, scale)
        except ValueError as error:
            raise ValueError(f"on device {device!r}: {error}") from None
    return durations


def read_size(value: Any) -> int:
    """Return a size in bytes; a plain number counts bytes.

    Examples
    --------
    >>> read_size("4 MiB"), read_size(1024)
    (4194304, 1024)
    """
    if type(value) is int and 0 <= value <= LARGEST:
        return value
    size = _read(lambda given: units.size(given, bare=1), value, "4 MiB")
    if size > LARGEST:
        raise ValueError(f"{value!r} is too large; expected at most 10**15 bytes")
    return size


def read_flops(value: Any) -> int:
    """Return a number of operations, two in each multiply-add.

    Examples
    --------
    >>> read_flops("3.6 GFLOP")
    3600000000
    """
    if isinstance(value, str) and value.rstrip().endswith("MAC"):
        raise ValueError(f"{value!r} counts multiply-adds; write it under 'macs', or twice the number here")
    return _read(units.count, value, "3.6 GFLOP")


def read_macs(value: Any) -> int:
    """Return the operations in a number of multiply-adds.

    Examples
    --------
    >>> read_macs("1.8 GMAC")
    3600000000
    """
    if isinstance(value, str) and value.rstrip().endswith("FLOP"):
        raise ValueError(f"{value!r} counts operations, two in each multiply-add; write it under 'flops'")
    return 2 * _read(units.count, value, "1.8 GMAC")


def _read(parse: Callable[[Any], int], value: Any, example: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"expected a quantity such as {example!r}, got {shown(value)}")
    try:
        return parse(value)
    except ValueError as error:
        hint = f"; write for example {example!r}" if str(error).endswith("is not a number with a unit") else ""
        raise ValueError(f"{error}{hint}") from None
