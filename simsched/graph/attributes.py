"""What people write on the nodes and edges of a drawing or of a networkx graph, as values.

Shared by :mod:`simsched.graph.dot` and :mod:`simsched.graph.nx`. Every function raises ``ValueError`` with a
message that says what to write; the caller adds the place.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from simsched import units
from simsched.errors import suggest
from simsched.graph.model import TimeUnit
from simsched.graph.textfile import LARGEST

TIME_SCALES = {"tick": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}

NODE_KEYS = ("duration", "op_type", "device", "demands", "flops", "traffic", "workspace")


@dataclass(frozen=True, slots=True)
class TimeScale:
    """How durations are written: ``unit`` is what the graph shows, ``bare`` the ns of a number without a unit."""

    unit: TimeUnit
    bare: int | None

    @classmethod
    def named(cls, name: str) -> TimeScale:
        """Return the scale of ``time_unit: name``."""
        if name not in TIME_SCALES:
            raise ValueError(f"unknown time unit {name!r}; {suggest(name, TIME_SCALES)}")
        return cls("tick" if name == "tick" else "ns", TIME_SCALES[name])

    def time(self, value: object) -> int:
        """Return a duration or delay in ns (ticks)."""
        value = plain_number(value)
        if self.unit == "tick":
            return _ticks(value)
        time = units.duration(value, self.bare)
        if time > LARGEST:
            raise ValueError(f"{value!r} is too long; expected at most 10**15 ns")
        return time

    def duration(self, value: object) -> int | dict[str, int]:
        """Return a duration, or durations by device when written as ``p0=14, p1=16`` or as a mapping."""
        if isinstance(value, str) and "=" in value:
            value = pairs(value)
        if isinstance(value, Mapping):
            if not value:
                raise ValueError("expected a duration for at least one device, got none")
            return {str(device): self.time(one) for device, one in value.items()}
        return self.time(value)


def plain_number(value: object) -> object:
    """Return numbers of other libraries (numpy's, for example) as Python's; everything else as it is."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def _ticks(value: object) -> int:
    number, unit = _exact(value)
    if unit:
        hint = "write a plain number, or say time_unit=ns, us, ms or s"
        raise ValueError(f"{value!r} has a unit, but the graph counts in ticks; {hint}")
    if number < 0:
        raise ValueError(f"a duration cannot be negative: {value!r}")
    if number.denominator != 1:
        raise ValueError(f"{value!r} is not a whole number of ticks")
    if number > LARGEST:
        raise ValueError(f"{value!r} is too large; expected at most 10**15")
    return int(number)


def _exact(value: object) -> tuple[Fraction, str]:
    if isinstance(value, str):
        return units.split(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, got {type(value).__name__}")
    try:
        return Fraction(value), ""
    except (ValueError, OverflowError):
        raise ValueError(f"{value} is not a finite number") from None


def size(value: object) -> int:
    """Return bytes: ``"4 MiB"`` or a number of bytes."""
    number = units.size(plain_number(value), bare=1)
    if number > LARGEST:
        raise ValueError(f"{value!r} is too large; expected at most 10**15 bytes")
    return number


def operations(value: object) -> int:
    """Return a number of operations, two for each multiply-add: ``"3.6 GFLOP"`` or a number."""
    number = units.count(plain_number(value))
    if isinstance(value, str) and value.rstrip().endswith("MAC"):
        raise ValueError(f"{value!r} counts multiply-adds; write twice the number, in FLOP")
    return number


def demands(value: object) -> dict[str, int]:
    """Return units by resource, from ``sms=2, tensor_units=1`` or a mapping."""
    given = pairs(value) if isinstance(value, str) else value
    if not isinstance(given, Mapping):
        raise ValueError(f"expected demands such as 'sms=2, tensor_units=1', got {value!r}")
    return {str(resource): _units(str(resource), one) for resource, one in given.items()}


def _units(resource: str, value: object) -> int:
    number = plain_number(value)
    if isinstance(number, str) and number.isascii() and number.isdecimal() and len(number) < 16:
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= LARGEST:
        raise ValueError(f"expected a whole number of units of {resource!r}, got {value!r}")
    return number


def pairs(text: str) -> dict[str, str]:
    """Split ``a=1, b=2``."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise ValueError(f"expected 'name=value, name=value', got {text!r}")
        if name in found:
            raise ValueError(f"{name!r} is given twice in {text!r}")
        found[name] = value
    return found


@dataclass
class NamedTensors:
    """Edges that name the tensor they carry: several edges with one name, from one source, are one tensor."""

    producer: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)

    def add(self, tensor: str, source: str, target: str, bytes: int) -> None:
        """Note one edge."""
        made_by = self.producer.setdefault(tensor, source)
        if made_by != source:
            raise ValueError(f"tensor {tensor!r} leaves {made_by!r} and {source!r}; a tensor has one producer")
        if self.sizes.setdefault(tensor, bytes) != bytes:
            raise ValueError(f"tensor {tensor!r} has {self.sizes[tensor]} bytes on another edge, {bytes} here")
        made = self.outputs.setdefault(source, [])
        if tensor not in made[-1:] and tensor not in made:
            made.append(tensor)
        self.inputs.setdefault(target, []).append(tensor)
