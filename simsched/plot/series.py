"""Pictures of a table: columns of an experiment as lines, bars or points, one panel and one colour per value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from simsched.plot.figure import new_figure
from simsched.plot.scales import fitting, plain_number, show_bytes, show_time
from simsched.plot.style import INK, LINES, MARKERS, clean, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
REFERENCE_STYLES: tuple[Any, ...] = ((0, (1, 1.5)), (0, (5, 2)), (0, (5, 2, 1, 2)))
SHARES = frozenset({"gap", "utilisation", "balance", "idle"})
MOST_TICKS = 14


@dataclass(frozen=True, slots=True)
class Look:
    """What is drawn of a table.

    Attributes
    ----------
    kind : {"lines", "bars", "points"}
    x, y : str
        Columns; ``y`` must be numbers.
    lines : tuple of str
        Columns whose values, together, name a line.
    panels : str or None
        Column whose values have a panel each.
    references : tuple of str
        Columns drawn as thin grey lines.
    title : str
    log_x, log_y : bool
    """

    kind: Literal["lines", "bars", "points"]
    x: str
    y: str
    lines: tuple[str, ...]
    panels: str | None = None
    references: tuple[str, ...] = ()
    title: str = ""
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """Rows that share panel, line and x: their mean and the range around it."""

    x: Any
    mean: float
    low: float
    high: float


@styled
def plot_series(rows: Sequence[Row], look: Look) -> Figure:
    """Draw a table.

    Parameters
    ----------
    rows : sequence of mapping
        Rows without a value in ``x`` or ``y`` are left out. Rows that agree in all but, say, their seed become one
        point: the mean, with a band (lines) or whiskers (bars, points) from smallest to largest.
    look : Look

    Returns
    -------
    Figure
    """
    kept = [row for row in rows if row.get(look.x) is not None and row.get(look.y) is not None]
    panels = _distinct(str(row[look.panels]) for row in kept) if look.panels else [""]
    present = {label_of(row, look) for row in kept}
    labels = [label for label in _distinct(label_of(row, look) for row in rows) if label in present]
    columns = min(3, len(panels) or 1)
    lines = math.ceil((len(panels) or 1) / columns)
    width = max(7.5, 4.4 * columns)
    figure = new_figure(width, 0.9 + 3.6 * lines)
    axes = figure.subplots(lines, columns, squeeze=False)
    for number, ax in enumerate(axes.flat):
        if number >= len(panels):
            ax.set_visible(False)
            continue
        inside = [row for row in kept if not look.panels or str(row[look.panels]) == panels[number]]
        _draw(ax, inside, look, labels)
        if look.panels:
            ax.set_title(clean(_panel_title(look.panels, panels[number]), 44), fontsize=10.5)
    if look.title:
        # Bold letters are some 12 % wider than those that are measured.
        title = fitting(clean(look.title, 200), 72 * (width - 0.3) / 1.12, 12)
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    _add_legend(figure, axes.flat)
    return figure


def _add_legend(figure: Figure, axes: Iterable[Axes]) -> None:
    """One legend below all panels, with every line that occurs in any of them."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(name, handle)
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside lower left", ncols=min(4, len(entries)))


def _panel_title(column: str, value: str) -> str:
    """Say what a panel shows; a bare number needs the name of its column."""
    return value if value[:1].isalpha() else f"{words(column)}: {value}"


def label_of(row: Row, look: Look) -> str:
    """Name of the line to which a row belongs."""
    return ", ".join(str(row[column]) for column in look.lines if row.get(column) is not None)


def points_of(rows: Iterable[Row], x: str, y: str) -> list[Point]:
    """Gather rows by ``x``, in the order of the numbers or else of the rows."""
    groups: dict[Any, list[float]] = {}
    for row in rows:
        if row.get(y) is not None:
            groups.setdefault(row[x], []).append(float(row[y]))
    points = [Point(key, math.fsum(values) / len(values), min(values), max(values)) for key, values in groups.items()]
    if all(isinstance(point.x, (int, float)) for point in points):
        points.sort(key=lambda point: point.x)
    return points


def _draw(ax: Axes, rows: Sequence[Row], look: Look, labels: Sequence[str]) -> None:
    keys = _distinct(row[look.x] for row in rows)
    numeric = look.kind != "bars" and all(isinstance(key, (int, float)) for key in keys)
    place = {key: (float(key) if numeric else float(number)) for number, key in enumerate(keys)}
    for number, label in enumerate(labels):
        points = points_of([row for row in rows if label_of(row, look) == label], look.x, look.y)
        if points:
            _draw_line(ax, points, place, look, number, label, len(labels))
    for number, column in enumerate(look.references):
        points = points_of(rows, look.x, column)
        where = [place[point.x] for point in points]
        dashes = REFERENCE_STYLES[number % len(REFERENCE_STYLES)]
        ax.plot(
            where,
            [point.mean for point in points],
            color=INK,
            linewidth=1.3,
            linestyle=dashes,
            label=words(column),
            zorder=4,
        )
    _scale_x(ax, place, look, numeric)
    _scale_y(ax, rows, look)


def _draw_line(
    ax: Axes, points: Sequence[Point], place: Mapping[Any, float], look: Look, number: int, label: str, count: int
) -> None:
    colour, marker = LINES[number % len(LINES)], MARKERS[number % len(MARKERS)]
    xs, means = [place[point.x] for point in points], [point.mean for point in points]
    reach = [[point.mean - point.low for point in points], [point.high - point.mean for point in points]]
    spread = any(map(any, reach))
    if look.kind == "bars":
        width = 0.8 / count
        xs = [x - 0.4 + width * (number + 0.5) for x in xs]
        ax.bar(xs, means, width=width * 0.92, color=colour, label=clean(label, 40), zorder=2)
        if spread:
            ax.errorbar(xs, means, yerr=reach, fmt="none", ecolor="#222222", elinewidth=1, zorder=3)
    elif look.kind == "points":
        ax.errorbar(
            xs,
            means,
            yerr=reach if spread else None,
            color=colour,
            fmt=marker,
            markersize=7,
            alpha=0.9,
            label=clean(label, 40),
        )
    else:
        # Lines that coincide must all be seen: later ones are thinner.
        ax.plot(
            xs,
            means,
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=2.6 - 1.4 * number / count,
            label=clean(label, 40),
        )
        if spread:
            lows, highs = [point.low for point in points], [point.high for point in points]
            ax.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0)


def _scale_x(ax: Axes, place: Mapping[Any, float], look: Look, numeric: bool) -> None:
    if not numeric:
        names = [clean(str(key), 24) for key in place]
        tilted = sum(map(len, names)) > 40
        ax.set_xticks(list(place.values()), names, rotation=30 if tilted else 0, ha="right" if tilted else "center")
        ax.set_xlabel(words(look.x))
        return
    values = sorted(place.values())
    if look.log_x and values and values[0] > 0:
        ax.set_xscale("log", base=2)
    if look.x.endswith(("_ns", "_bytes")):
        _name_axis(ax.xaxis, look.x, max(values, default=0.0), "ns")
        return
    if 0 < len(values) <= MOST_TICKS:
        ax.xaxis.set_major_locator(FixedLocator(values))
        ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
    ax.set_xlabel(words(look.x))


def _scale_y(ax: Axes, rows: Sequence[Row], look: Look) -> None:
    ax.grid(True, axis="y")
    if look.log_y:
        ax.set_yscale("log")
    elif look.kind != "points":
        _from_zero(ax, rows, look)
    unit = str(rows[0].get("time_unit", "ns")) if rows else "ns"
    _name_axis(ax.yaxis, look.y, ax.get_ylim()[1], unit)
    if look.log_y:
        _log_ticks(ax.yaxis, look.y)


def _log_ticks(axis: Axis, column: str) -> None:
    """Label a logarithmic axis over its whole length: by 1, 2, 5, 10, 20, ... or, for bytes, by doublings."""
    axis.set_major_locator(LogLocator(2.0) if column.endswith("_bytes") else LogLocator(10.0, (1.0, 2.0, 5.0)))
    axis.set_minor_locator(NullLocator())


def _from_zero(ax: Axes, rows: Sequence[Row], look: Look) -> None:
    """Show 0 where nothing lies below it, so that lengths compare as they look."""
    values = [float(row[look.y]) for row in rows]
    if min(values, default=0.0) >= 0.0:
        ax.set_ylim(0.0, ax.get_ylim()[1] if max(values, default=0.0) else 1.0)


def _name_axis(axis: Axis, column: str, largest: float, unit: str) -> None:
    if column.endswith("_ns"):
        show_time(axis, largest, unit, words(column))
    elif column.endswith("_bytes"):
        show_bytes(axis, largest, words(column))
    elif column in SHARES:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))
        axis.set_label_text(words(column))
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
        axis.set_label_text(words(column))


def words(column: str) -> str:
    """Say a column's name as people do.

    Examples
    --------
    >>> words("makespan_ns"), words("graph.layers"), words("gap")
    ('makespan', 'layers', 'gap to the lower bound')
    """
    known = {
        "machines": "lanes",
        "lower_bound_ns": "best lower bound",
        "amdahl_ns": "Amdahl, rigorous (a bound)",
        "noise_level": "standard deviation of the error (logarithm)",
        "graph.microbatches": "microbatches",
        "idle": "idle time of the streams (bubble)",
        "gap": "gap to the lower bound",
        "speedup": "speed-up over serial",
        "amdahl_textbook_ns": "Amdahl, textbook (a model)",
    }
    if column in known:
        return known[column]
    return column.removeprefix("graph.").removesuffix("_ns").removesuffix("_bytes").replace("_", " ")


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
