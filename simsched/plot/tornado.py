"""What matters most for the makespan: a bar for each thing that was changed, the largest effect on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from simsched.plot.figure import new_figure
from simsched.plot.scales import fitting
from simsched.plot.style import INK, LINES, MUTED, clean, percent, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALE = ("#4477AA", "#AFC6DE")
WIDEST_NAME = 210.0
"""Points that a name may take beside its bar."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One thing that was changed.

    Attributes
    ----------
    name : str
    shares : tuple of float
        Change of the makespan, as a share of the old one, for each level of the panel; negative is shorter.
    """

    name: str
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars that were changed in the same ways.

    Attributes
    ----------
    title : str
    levels : tuple of str
        What was done, the smallest change first; at most two.
    bars : tuple of Bar
        The largest effect first.
    """

    title: str
    levels: tuple[str, ...]
    bars: tuple[Bar, ...]


@styled
def plot_tornado(panels: Sequence[Panel], *, title: str = "") -> Figure:
    """Draw how much the makespan changes with each of several changes.

    Bars to the left are shorter runs, bars to the right longer ones. Where there are two levels, the pale bar is the
    larger change and the dark one within it the smaller.

    Parameters
    ----------
    panels : sequence of Panel
        One below the other, each with a scale of its own.
    title : str

    Returns
    -------
    Figure
    """
    rows = [max(1, len(panel.bars)) for panel in panels]
    figure = new_figure(9.5, 0.7 + sum(1.0 + 0.3 * count for count in rows))
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=[0.9 + 0.3 * count for count in rows])
    for ax, panel in zip(axes.flat, panels, strict=True):
        _draw(ax, panel)
    if title:
        figure.suptitle(fitting(clean(title, 200), 72 * 9.2 / 1.12, 12), x=0.01, ha="left", fontweight="bold")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # saved twice it is the same twice
    return figure


def _draw(ax: Axes, panel: Panel) -> None:
    largest = max((abs(share) for bar in panel.bars for share in bar.shares), default=0.0)
    colours = PALE if len(panel.levels) > 1 else (LINES[0],)
    for row, bar in enumerate(panel.bars):
        # Painted from the largest change to the smallest, so that each is seen.
        for level, share in reversed(list(enumerate(bar.shares))):
            height = 0.7 if level or len(panel.levels) == 1 else 0.34
            ax.barh(row, 100 * share, height=height, color=colours[level], zorder=2 + (not level), gid=f"level{level}")
        _beside(ax, row, bar)
    low = min((share for bar in panel.bars for share in bar.shares), default=0.0)
    high = max((share for bar in panel.bars for share in bar.shares), default=0.0)
    room = 0.34 * max(largest, 1e-9)
    left = 100 * (low - room) if low < 0 else -20 * max(largest, 1e-9)
    ax.set_xlim(left, 100 * (high + room) if high > 0 else 15 * max(largest, 1e-9))
    ax.set_ylim(max(len(panel.bars), 1) - 0.5, -0.5)
    ax.set_yticks(
        range(len(panel.bars)), [fitting(clean(bar.name, 80), WIDEST_NAME, 9.5, keep="end") for bar in panel.bars]
    )
    ax.tick_params(axis="y", length=0, labelsize=9.5)
    ax.axvline(0, color=INK, linewidth=1, zorder=4)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:+.3g} %" if value else "0")
    ax.grid(visible=True, axis="x")
    ax.set_title(panel.title, fontsize=10.5)
    if not panel.bars:
        ax.text(0.5, 0.5, "nothing that was tried changes the makespan", transform=ax.transAxes, ha="center",
                va="center", color=MUTED, gid="nothing")  # fmt: skip
        ax.set_xticks([])
    elif len(panel.levels) > 1:
        handles = [Patch(facecolor=colour, label=level) for colour, level in zip(colours, panel.levels, strict=True)]
        ax.legend(handles=handles, loc="lower left" if low < 0 else "lower right", framealpha=0.9, frameon=True)


def _beside(ax: Axes, row: int, bar: Bar) -> None:
    """Write the largest change beside its bar."""
    share = max(bar.shares, key=abs)
    left = share < 0
    sign = "-" if left else "+"
    ax.annotate(
        f"{sign}{percent(abs(share), 1)}", (100 * share, row), xytext=(-4 if left else 4, 0),
        textcoords="offset points", ha="right" if left else "left", va="center", fontsize=9, color=INK, gid="value",
    )  # fmt: skip
