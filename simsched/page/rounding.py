"""Numbers as they stand in documents: few digits, and the same on every machine."""

from __future__ import annotations

DIGITS = 6


def tidy(value: float, digits: int = DIGITS) -> float:
    """Round a number; what is whole then is written without a point.

    Examples
    --------
    >>> tidy(2 / 3), tidy(2.0000000001), tidy(-0.0)
    (0.666667, 2, 0)
    """
    found = round(float(value), digits)
    return int(found) if found.is_integer() else found
