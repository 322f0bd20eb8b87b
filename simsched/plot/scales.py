"""Axes in units that people read, and room for text.

The data stay in ns and bytes, so that what a plot shows can be compared with the trace exactly; only the ticks scale.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import FuncFormatter, MaxNLocator

from simsched.units import BYTE_UNITS, TIME_UNITS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_TIME_STEPS = (("s", "s"), ("ms", "ms"), ("us", "µs"))
_SEPARATOR = re.compile(r"[/.:]")
_BYTE_STEPS = ("TiB", "GiB", "MiB", "KiB")


def time_scale(largest: float, unit: str) -> tuple[float, str]:
    """Nanoseconds per axis unit, and the unit's name: the largest one of which the axis holds at least one.

    Examples
    --------
    >>> time_scale(54_000, "ns"), time_scale(12, "tick")
    ((1000, 'µs'), (1, 'ticks'))
    """
    if unit == "tick":
        return 1, "ticks"
    for name, shown in _TIME_STEPS:
        if largest >= TIME_UNITS[name]:
            return TIME_UNITS[name], shown
    return 1, "ns"


def time_text(nanoseconds: int, largest: float, unit: str) -> str:
    """Write a duration in the unit of an axis that reaches to ``largest``, so that all labels of a plot compare.

    Examples
    --------
    >>> time_text(316_600, 2_600_000, "ns"), time_text(10_400_000, 11_000_000, "ns"), time_text(12, 15, "tick")
    ('0.3166 ms', '10.40 ms', '12')
    """
    factor, name = time_scale(largest, unit)
    if factor == 1:
        return str(nanoseconds) if unit == "tick" else f"{nanoseconds} ns"
    value = nanoseconds / factor
    return f"{value:,.0f} {name}" if value >= 1000 or not value else f"{value:#.4g} {name}"


def byte_scale(largest: float) -> tuple[float, str]:
    """Bytes per axis unit, and the unit's name.

    Examples
    --------
    >>> byte_scale(3 * 2**20), byte_scale(12)
    ((1048576, 'MiB'), (1, 'B'))
    """
    for name in _BYTE_STEPS:
        if largest >= BYTE_UNITS[name]:
            return BYTE_UNITS[name], name
    return 1, "B"


def show_time(axis: Axis, largest: float, unit: str, label: str = "time") -> None:
    """Write the ticks of an axis in ns in the unit that suits it, and name the unit."""
    factor, name = time_scale(largest, unit)
    _show(axis, factor)
    axis.set_label_text(f"{label} ({name})")


def show_bytes(axis: Axis, largest: float, label: str = "memory", ticks: int = 7) -> None:
    """Write the ticks of an axis in bytes in the unit that suits it, and name the unit."""
    factor, name = byte_scale(largest)
    _show(axis, factor, ticks)
    axis.set_label_text(f"{label} ({name})")


def _show(axis: Axis, factor: float, ticks: int = 7) -> None:
    axis.set_major_locator(_Scaled(factor, ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value / factor)))


def plain_number(value: float) -> str:
    """Write a tick as people write it: no exponents, thousands set apart.

    Examples
    --------
    >>> plain_number(1_200_000.0), plain_number(2.5), plain_number(0.0)
    ('1,200,000', '2.5', '0')
    """
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.4g}"


class _Scaled(MaxNLocator):
    """Round ticks in the unit of the axis, which a binary factor would spoil otherwise."""

    def __init__(self, factor: float, ticks: int) -> None:
        super().__init__(nbins=ticks, integer=factor == 1, steps=[1, 2, 2.5, 5, 10], min_n_ticks=2)
        self._factor = factor

    def tick_values(self, vmin: float, vmax: float) -> Any:
        ticks: Any = super().tick_values(vmin / self._factor, vmax / self._factor)
        return ticks * self._factor


@cache
def _ruler() -> RendererAgg:
    return RendererAgg(8, 8, 72)  # type: ignore[no-untyped-call]


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in points, measured with the font of all plots."""
    font = FontProperties(family=["DejaVu Sans"], size=size, weight="bold" if bold else "normal")
    width, _, _ = _ruler().get_text_width_height_descent(text, font, ismath=False)  # type: ignore[no-untyped-call]
    return float(width)


def inner_size(ax: Axes) -> tuple[float, float]:
    """Width and height of axes in points, once their figure is laid out."""
    box = ax.get_window_extent()
    points = 72 / ax.figure.dpi
    return box.width * points, box.height * points


def fitting(text: str, width: float, size: float, shortest: int = 8, *, keep: str = "start", bold: bool = False) -> str:
    """Cut a text to ``width`` points: whole, shortened to at least ``shortest`` letters, or nothing.

    Parameters
    ----------
    text : str
    width, size : float
        Points.
    shortest : int
    bold : bool
    keep : {"start", "end"}
        What to keep of a long text. Names say more at their end; of ``block1/conv2/Conv`` whole parts are kept where
        that is possible.
    """
    if text_width(text, size, bold=bold) <= width:
        return text
    if keep == "end":
        for part in _SEPARATOR.finditer(text, 1):
            tail = f"…{text[part.end() :]}"
            if len(tail) > 3 and text_width(tail, size) <= width:
                return tail
    room = int(len(text) * width / max(text_width(text, size), 1.0)) - 1
    while room >= shortest:
        cut = f"…{text[len(text) - room :].lstrip()}" if keep == "end" else f"{text[:room].rstrip()}…"
        if text_width(cut, size, bold=bold) <= width:
            return cut
        room -= 1
    return ""
