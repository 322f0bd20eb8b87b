"""Reading one figure of a profile: a quantity with its unit, and behind an ``@`` the tag of its source.

>>> reader(units.size, "4 MiB")("80 GiB @datasheet")
Parsed(value=85899345920, text='80 GiB', tag='datasheet')
>>> reader(units.size, "4 MiB")("unknown").value is None
True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from simsched import units

UNKNOWN = "unknown"
_TAG = re.compile(r"(?P<quantity>.*?)\s*@\s*(?P<tag>[^\s@]*)\s*\Z", re.DOTALL)


class Parsed(NamedTuple):
    """A figure in base units.

    Attributes
    ----------
    value : int, float or None
        None for a figure that exists but is not known.
    text : str
        As it is written.
    tag : str
        Of its source; empty where none is given.
    """

    value: Any
    text: str = ""
    tag: str = ""


def split_tag(raw: object) -> tuple[object, str]:
    """Split ``"80 GiB @datasheet"`` into the quantity and the tag.

    Examples
    --------
    >>> split_tag("108 @whitepaper"), split_tag(108)
    (('108', 'whitepaper'), (108, ''))
    """
    match = _TAG.match(raw) if isinstance(raw, str) else None
    return (match["quantity"], match["tag"]) if match else (raw, "")


def reader(parse: Callable[[object], Any], example: str) -> Callable[[object], Parsed]:
    """Return a reader of figures.

    Parameters
    ----------
    parse : callable
        Turns the quantity into base units; raises ValueError.
    example : str
        What a good quantity looks like, for messages.
    """

    def read(raw: object) -> Parsed:
        quantity, tag = split_tag(raw)
        if isinstance(raw, str) and "@" in raw and not tag:
            raise ValueError(f"{raw!r} names no source behind the @; write for example '{example} @datasheet'")
        if quantity == UNKNOWN:
            return Parsed(None, UNKNOWN, tag)
        if quantity is None or quantity == "":
            raise ValueError(f"nothing is written here; write for example '{example}', or 'unknown'")
        return Parsed(parse(quantity), str(quantity), tag)

    return read


def whole(value: object) -> int:
    """Parse a count of at least 1.

    Examples
    --------
    >>> whole("108"), whole(4)
    (108, 4)
    """
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9][0-9_]*", value):
        value = int(value.replace("_", ""))
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"expected a whole number of at least 1, got {_shown(value)}")
    return int(value)


def fraction(value: object) -> float:
    """Parse a fraction above 0 and up to 1, also written in percent.

    Examples
    --------
    >>> fraction(0.8), fraction("86.9 %")
    (0.8, 0.869)
    """
    number = _number(value)
    if number is None or not 0 < number <= 1:
        raise ValueError(f"expected a fraction above 0 and up to 1, such as 0.8 or '80 %', got {_shown(value)}")
    return number


def part(value: object) -> float:
    """Parse a fraction from 0 to 1, also written in percent.

    Examples
    --------
    >>> part(0), part("5 %")
    (0.0, 0.05)
    """
    number = _number(value)
    if number is None or not 0 <= number <= 1:
        raise ValueError(f"expected a fraction from 0 to 1, such as 0.05 or '5 %', got {_shown(value)}")
    return number


def ratio(value: object) -> float:
    """Parse how many times as fast something is: a number above 0.

    Examples
    --------
    >>> ratio("3.6"), ratio(2)
    (3.6, 2.0)
    """
    number = None if isinstance(value, str) and "%" in value else _number(value)
    if number is None or not 0 < number < 1e6:
        raise ValueError(f"expected how many times as fast, such as 3.6, got {_shown(value)}")
    return number


def _number(value: object) -> float | None:
    """Read a plain number or a percentage; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        if not isinstance(value, str):
            return float(value)
        amount, unit = units.split(value)
        return {"": float(amount), "%": float(amount / 100)}.get(unit)
    except (ValueError, OverflowError):
        return None


def bits(value: object) -> int:
    """Parse the width of a memory bus.

    Examples
    --------
    >>> bits("5120 bit")
    5120
    """
    message = f"expected a width such as '5120 bit', got {_shown(value)}"
    if not isinstance(value, str):
        raise ValueError(message)
    number, unit = units.split(value)
    if unit != "bit" or number.denominator != 1 or number < 1:
        raise ValueError(message)
    return int(number)


def identifier(text: str) -> str:
    """Check a name that appears in other places: of a profile, device, resource or source.

    Examples
    --------
    >>> identifier("gpu0")
    'gpu0'
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", text):
        raise ValueError(f"{_shown(text)} cannot be a name here; use letters, digits, '_', '-' and '.', a letter first")
    return text


def size(value: object) -> int:
    """Parse a capacity of at least one byte."""
    number = units.size(value)
    if number < 1:
        raise ValueError(f"expected a positive quantity such as '80 GiB', got {_shown(value)}")
    return number


def _shown(value: object) -> str:
    from simsched.config.validation import shown

    return shown(value)
