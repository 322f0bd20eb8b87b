"""Two runs, one below the other, on one time scale: what a change did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simsched.plot.bars import chart_of
from simsched.plot.figure import new_figure
from simsched.plot.gantt import plot_gantt
from simsched.plot.scales import fitting
from simsched.plot.style import MUTED, clean, duration_text, styled
from simsched.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@styled
def plot_before_after(before: Result, after: Result, *, change: str = "") -> Figure:
    """Draw the Gantt charts of an old and a new run on the same time axis.

    Parameters
    ----------
    before, after : Result
    change : str
        What was changed, for the title of the new run.

    Returns
    -------
    Figure
        The old makespan is a dotted line in the chart of the new run.
    """
    rows = [max(1, len(chart_of(run.problem, run.trace).streams)) for run in (before, after)]
    heights = [1.25 + min(0.42 * count, 5.0) for count in rows]
    figure = new_figure(11, sum(heights) + 0.4)
    upper, lower = figure.subplots(2, 1, height_ratios=heights)
    longest = max(before.makespan, after.makespan)
    for run, ax in ((before, upper), (after, lower)):
        plot_gantt(run, ax=ax, x_max=longest)
        ax.set_title("")
    _mark(lower, before.makespan)
    upper.set_xlabel("")
    figure.draw_without_rendering()
    for ax, text in ((upper, _words_before(before)), (lower, _words_after(before, after, change))):
        room = (figure.bbox.width - ax.get_window_extent().x0) * 72 / figure.dpi - 8
        ax.set_title(fitting(clean(text, 300), room, 12, bold=True))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # saved twice it is the same twice
    return figure


def _mark(ax: Axes, makespan: int) -> None:
    """Draw the old makespan into the chart of the new run."""
    ax.axvline(makespan, color=MUTED, linewidth=1.6, linestyle=(0, (1, 1.5)), zorder=6, gid="before")
    ax.annotate(
        "before", (makespan, 0.04), xycoords=("data", "axes fraction"), xytext=(-2, 0), color=MUTED, fontsize=9,
        textcoords="offset points", rotation=90, ha="right", va="bottom", zorder=7, gid="before-label",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )  # fmt: skip


def _words_before(run: Result) -> str:
    where = f"{run.problem.graph.name} on {run.problem.hardware.name}"
    return f"before: {where}, {run.label}: {duration_text(run.makespan, run.problem.graph.time_unit)}"


def _words_after(before: Result, after: Result, change: str) -> str:
    ratio = f", {before.makespan / after.makespan:.3g} times as fast" if after.makespan else ""
    what = f"; {change}" if change else ""
    return f"after: {duration_text(after.makespan, after.problem.graph.time_unit)}{ratio}{what}"
