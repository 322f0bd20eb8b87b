"""Mean ranks of schedulers with their intervals, one panel beside the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simsched.plot.figure import new_figure
from simsched.plot.scales import fitting
from simsched.plot.style import INK, LINES, MUTED, clean, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
WIDEST_NAME = 150.0
"""Points that a name may take beside its row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scheduler: its mean rank and the interval around it, NaN where there is none."""

    name: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RankPanel:
    """One ranking, the best scheduler first."""

    title: str
    rows: tuple[Row, ...]


@styled
def plot_ranking(panels: Sequence[RankPanel], *, title: str = "") -> Figure:
    """Draw mean ranks as points on their intervals.

    Every panel has the rows of the first one, in its order, so that what moves between panels is seen to move.

    Parameters
    ----------
    panels : sequence of RankPanel
        At least one, of the same schedulers.
    title : str

    Returns
    -------
    Figure
    """
    names = [row.name for row in panels[0].rows]
    columns = min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    figure = new_figure(max(6.0, 2.4 + 2.9 * columns), lines * (1.3 + 0.3 * len(names)))
    axes = figure.subplots(lines, columns, squeeze=False, sharey=True).flat
    for ax, panel in zip(axes, panels, strict=False):
        _draw(ax, panel, names)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    first = axes[0]
    first.set_yticks(range(len(names)), [fitting(clean(name, 60), WIDEST_NAME, 10) for name in names])
    first.invert_yaxis()
    if title:
        figure.suptitle(
            fitting(clean(title, 200), figure.get_figwidth() * 60, 12), x=0.01, ha="left", fontweight="bold"
        )
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # saved twice it is the same twice
    return figure


def _draw(ax: Axes, panel: RankPanel, names: Sequence[str]) -> None:
    for row in panel.rows:
        place = names.index(row.name)
        if not math.isnan(row.low):
            ax.plot([row.low, row.high], [place, place], color=LINES[0], linewidth=2.5, solid_capstyle="butt")
        ax.plot([row.mean], [place], "o", color=INK, markersize=5)
    ax.set_xlim(0.5, len(names) + 0.5)
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("mean rank", color=MUTED)
    ax.set_title(fitting(clean(panel.title, 60), 170, 11), fontsize=11)
