"""Plain scalars by the core schema of YAML 1.2: ``1e3`` is a number, ``no`` is text, ``010`` is ten.

A number that Python would write differently keeps the spelling of the file as its ``str()``, so that an operator
called ``5319E7`` keeps its name.
"""

from __future__ import annotations

import math
import re
from typing import Any

_WORDS = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_STARTS = frozenset("0123456789+-.~nNtTfF")
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
LONGEST_NUMBER = 1000


class SpelledInt(int):
    """A whole number that the file spells in its own way, e.g. ``010``."""

    text: str

    def __str__(self) -> str:
        return self.text


class SpelledFloat(float):
    """A number that the file spells in its own way, e.g. ``5319E7``."""

    text: str

    def __str__(self) -> str:
        return self.text


def plain_scalar(text: str) -> Any:
    """Return the value of an unquoted YAML scalar.

    Raises
    ------
    ValueError
        For infinities, NaN, numbers too large for a float and numbers of more than 1000 digits.

    Examples
    --------
    >>> [plain_scalar(text) for text in ("1e3", "no", "010", "0o17", "0x1F", "12:30:45", "1_000", "~")]
    [1000.0, 'no', 10, 15, 31, '12:30:45', '1_000', None]
    >>> str(plain_scalar("5319E7"))
    '5319E7'
    """
    if not text:
        return None
    if text[0] not in _STARTS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.match(text):
        raise ValueError(f"{text} is not a finite number; quote it if it is text")
    base = 10 if _INTEGER.match(text) else 8 if _OCTAL.match(text) else 16 if _HEXADECIMAL.match(text) else 0
    if not base and not _FLOAT.match(text):
        return text
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number of {len(text)} characters; at most {LONGEST_NUMBER} are allowed")
    return _integer(int(text, base), text) if base else _float(text)


def _integer(number: int, text: str) -> int:
    if str(number) == text:
        return number
    odd = SpelledInt(number)
    odd.text = text
    return odd


def _float(text: str) -> float:
    number = float(text)
    if repr(number) == text:
        return number
    if math.isinf(number):
        raise ValueError(f"{text} is too large for a number")
    odd = SpelledFloat(number)
    odd.text = text
    return odd
