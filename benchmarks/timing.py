"""CPU time, and rows of the table."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Row(NamedTuple):
    """One figure; ``bar`` is the most that it may be."""

    name: str
    value: float
    unit: str
    bar: float | None = None


def cpu_seconds(call: Callable[[], T]) -> tuple[float, T]:
    """CPU time of one call, and what it returned."""
    begin = time.process_time()
    value = call()
    return time.process_time() - begin, value


def median_seconds(call: Callable[[], object], rounds: int) -> float:
    """Median CPU time of several calls."""
    return median(cpu_seconds(call)[0] for _ in range(rounds))
