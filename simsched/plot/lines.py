"""Lines through measured points: the plot of most experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from simsched.plot.figure import new_axes, settle
from simsched.plot.scales import plain_number
from simsched.plot.style import INK, LINES, MARKERS, clean, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = Sequence[tuple[float, float]]


@styled
def plot_lines(
    series: Mapping[str, Points],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    spreads: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    references: Mapping[str, float | Points] | None = None,
    log_x: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw named series of points.

    Parameters
    ----------
    series : mapping of str to sequence of (x, y)
        Drawn in the order given, each by ascending ``x``.
    x_label, y_label, title : str
        With units, e.g. ``"makespan (ms)"``.
    spreads : mapping of str to sequence of (low, high), optional
        A band per point of a series, e.g. the quartiles over seeds, in the order of its points.
    references : mapping of str to number or points, optional
        Values to compare with: a number is a horizontal line, points a dashed curve (a closed form).
    log_x : bool
        Whether doublings of ``x`` get equal steps.
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    ax = new_axes(ax, 9, 4.8)
    for number, (name, points) in enumerate(series.items()):
        order = sorted(range(len(points)), key=lambda index: points[index])
        colour = LINES[number % len(LINES)]
        x, y = [points[index][0] for index in order], [points[index][1] for index in order]
        ax.plot(
            x, y, color=colour, marker=MARKERS[number % len(MARKERS)], markersize=5.5, linewidth=1.8,
            label=clean(name, 40), gid="series", zorder=3,
        )  # fmt: skip
        if spreads and name in spreads:
            low, high = ([spreads[name][index][side] for index in order] for side in (0, 1))
            ax.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0, gid="spread")
    for number, (name, value) in enumerate((references or {}).items()):
        _reference(ax, name, value, ((0, (6, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))[number % 3])
    if log_x:
        ax.set_xscale("log", base=2)
        places = sorted({x for points in series.values() for x, _ in points})
        ax.set_xticks(places if len(places) <= 14 else places[:: -(-len(places) // 14)])
        ax.minorticks_off()
    for axis, label in ((ax.xaxis, x_label), (ax.yaxis, y_label)):
        axis.set_major_formatter(lambda value, _: plain_number(value))
        axis.set_label_text(clean(label, 80))
    bottom, top = ax.get_ylim()
    if min((y for points in series.values() for _, y in points), default=1) >= 0 and bottom < 0.5 * top:
        ax.set_ylim(0, top)
    ax.set_title(clean(title, 90))
    ax.grid(visible=True)
    if series or references:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    settle(ax)
    return ax


def _reference(ax: Axes, name: str, value: float | Points, style: tuple[int, tuple[float, ...]]) -> None:
    label = clean(name, 50)
    if isinstance(value, int | float):
        ax.axhline(value, color=INK, linewidth=1.3, linestyle=style, label=label, gid="reference", zorder=4)
    else:
        points = sorted(value)
        x, y = [at for at, _ in points], [height for _, height in points]
        ax.plot(x, y, color=INK, linewidth=1.3, linestyle=style, label=label, gid="reference", zorder=4)
