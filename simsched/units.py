"""Text with units to numbers and back: ``"80 GiB"``, ``"3.35 TB/s"``, ``"312 TFLOP/s"``, ``"2.6 us"``.

Capacities are bytes (GiB and GB differ and are always written out), durations integer nanoseconds,
rates per second as floats. A number without a unit is refused, except where a caller allows it.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction

_NUMBER = re.compile(r"\s*([+-]?(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*$")

LARGEST_EXPONENT = 200

TIME_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}
BYTE_UNITS = {
    "B": 1,
    "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
BANDWIDTH_UNITS = {f"{unit}/s": factor for unit, factor in BYTE_UNITS.items()}
FLOPS_UNITS = {
    f"{prefix}{name}": factor
    for prefix, factor in {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}.items()
    for name in ("FLOP/s", "OP/s")
}
FREQUENCY_UNITS = {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
COUNT_UNITS = {
    f"{prefix}{name}": factor
    for prefix, factor in {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}.items()
    for name in ("FLOP", "MAC")
}


def split(text: str) -> tuple[Fraction, str]:
    """Split ``"2.6 us"`` into an exact number and its unit (empty if there is none).

    Raises
    ------
    ValueError
        If the text does not start with a finite number.
    """
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit")
    try:
        number = Decimal(match[1].replace("_", ""))
    except InvalidOperation as error:  # pragma: no cover - the pattern admits only decimal numbers
        raise ValueError(f"{text!r} is not a number with a unit") from error
    # Exact arithmetic on 1e999999999 would not end.
    if number and abs(number.adjusted()) > LARGEST_EXPONENT:
        raise ValueError(f"{text!r} is out of range")
    return Fraction(number), match[2]


def _quantity(value: object, units: dict[str, int], example: str, bare: int | None) -> Fraction:
    """Turn ``value`` into an exact number of base units; ``bare`` is the factor of a unitless number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"expected a quantity such as {example!r}, got {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number; write for example {example!r}")
    if isinstance(value, int):
        number, unit = Fraction(value), ""
    else:
        number, unit = split(value if isinstance(value, str) else repr(float(value)))
    if not unit:
        if bare is None:
            choices = " or ".join(repr(f"{value} {name}") for name in _suggested(units))
            raise ValueError(f"{str(value)!r} has no unit; write {choices}")
        return number * bare
    if unit not in units:
        raise ValueError(f"unknown unit {unit!r} in {value!r}; expected one of: {', '.join(units)}")
    return number * units[unit]


def _suggested(units: dict[str, int]) -> list[str]:
    preferred = ("GiB", "GB", "GB/s", "TB/s", "us", "ms", "TFLOP/s", "TOP/s", "MHz", "GHz", "GFLOP", "GMAC")
    return [unit for unit in preferred if unit in units][:2]


def duration(value: object, bare: int | None = None) -> int:
    """Parse a duration into integer nanoseconds, rounding half to even.

    Parameters
    ----------
    value : str, int or float
        ``"2.6 us"``, or a bare number if ``bare`` is given.
    bare : int, optional
        Nanoseconds per unit of a bare number; None refuses bare numbers.

    Examples
    --------
    >>> duration("2.6 us"), duration(5, bare=1000)
    (2600, 5000)
    """
    number = _quantity(value, TIME_UNITS, "2.6 us", bare)
    if number < 0:
        raise ValueError(f"a duration cannot be negative: {value!r}")
    return round(number)


def size(value: object, bare: int | None = None) -> int:
    """Parse a capacity into bytes.

    Examples
    --------
    >>> size("80 GiB"), size("80 GB")
    (85899345920, 80000000000)
    """
    number = _quantity(value, BYTE_UNITS, "4 MiB", bare)
    if number < 0:
        raise ValueError(f"a size cannot be negative: {value!r}")
    return round(number)


def bandwidth(value: object) -> float:
    """Parse a rate into bytes per second.

    Examples
    --------
    >>> bandwidth("3.35 TB/s")
    3350000000000.0
    """
    return _positive(value, BANDWIDTH_UNITS, "2039 GB/s")


def flops(value: object) -> float:
    """Parse a peak into floating-point (or integer) operations per second.

    Examples
    --------
    >>> flops("312 TFLOP/s")
    312000000000000.0
    """
    return _positive(value, FLOPS_UNITS, "312 TFLOP/s")


def frequency(value: object) -> float:
    """Parse a clock into hertz.

    Examples
    --------
    >>> frequency("1410 MHz")
    1410000000.0
    """
    return _positive(value, FREQUENCY_UNITS, "1410 MHz")


def count(value: object) -> int:
    """Parse a number of operations; a bare number counts single operations.

    Examples
    --------
    >>> count("3.6 GFLOP"), count(1000)
    (3600000000, 1000)
    """
    number = _quantity(value, COUNT_UNITS, "3.6 GFLOP", 1)
    if number < 0:
        raise ValueError(f"a number of operations cannot be negative: {value!r}")
    return round(number)


def _positive(value: object, units: dict[str, int], example: str) -> float:
    number = _quantity(value, units, example, None)
    if number <= 0:
        raise ValueError(f"expected a positive quantity such as {example!r}, got {value!r}")
    return float(number)


def format_duration(nanoseconds: float, unit: str = "ns") -> str:
    """Write a duration for people; with ``unit="tick"`` as a plain number.

    Examples
    --------
    >>> format_duration(2600), format_duration(12, "tick"), format_duration(2_500_000_000)
    ('2.6 us', '12', '2.5 s')
    """
    if unit == "tick":
        return f"{nanoseconds:g}" if nanoseconds != int(nanoseconds) else str(int(nanoseconds))
    for name, factor in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if abs(nanoseconds) >= factor:
            return f"{_short(nanoseconds / factor)} {name}"
    return f"{_short(nanoseconds)} ns"


def format_size(number: float) -> str:
    """Write a number of bytes for people, in binary units.

    Examples
    --------
    >>> format_size(80 * 2**30), format_size(1536), format_size(12)
    ('80 GiB', '1.5 KiB', '12 B')
    """
    for name in ("TiB", "GiB", "MiB", "KiB"):
        if abs(number) >= BYTE_UNITS[name]:
            return f"{_short(number / BYTE_UNITS[name])} {name}"
    return f"{_short(number)} B"


def format_rate(number: float, unit: str) -> str:
    """Write a rate with a decimal prefix.

    Examples
    --------
    >>> format_rate(2.039e12, "B/s"), format_rate(312e12, "FLOP/s"), format_rate(1.41e9, "Hz")
    ('2.039 TB/s', '312 TFLOP/s', '1.41 GHz')
    """
    for prefix, factor in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= factor:
            return f"{_short(number / factor)} {prefix}{unit}"
    return f"{_short(number)} {unit}"


def plural(count: int, noun: str) -> str:
    """Count things in words.

    Examples
    --------
    >>> plural(1, "task"), plural(3, "task"), plural(100_000, "task")
    ('1 task', '3 tasks', '100,000 tasks')
    """
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def _short(number: float) -> str:
    """At most four significant digits, never in scientific notation below 10,000."""
    if number == int(number) and abs(number) < 10**6:
        return str(int(number))
    return f"{number:.4g}"
