"""The realised critical path in a Gantt chart: outlined bars, joined by lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from matplotlib.collections import LineCollection, PolyCollection

from simsched.plot.bars import Chart
from simsched.plot.style import INK
from simsched.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_HEIGHT = 0.78


def boxes_of(spans: Iterable[tuple[int, int, int]], height: float = BAR_HEIGHT) -> list[list[tuple[float, float]]]:
    """Return the corners of boxes around row centres."""
    half = height / 2
    return [
        [(start, row - half), (start, row + half), (end, row + half), (end, row - half)] for row, start, end in spans
    ]


def draw_critical(ax: Axes, chart: Chart, result: Result, critical: Sequence[int]) -> None:
    """Outline critical bars; where bars are merged or many, outlines would be all one sees, so underline instead."""
    members = frozenset(critical)
    own = [(bar.row, bar.start, bar.end) for bar in chart.bars if not members.isdisjoint(bar.ops)]
    if not own:
        return
    if underlined(chart):
        low = BAR_HEIGHT / 2
        boxes = [[(s, r + low - 0.1), (s, r + low + 0.04), (e, r + low + 0.04), (e, r + low - 0.1)] for r, s, e in own]
        outline = PolyCollection(boxes, facecolors=INK, linewidths=0, zorder=4, gid="critical")
    else:
        outline = PolyCollection(
            boxes_of(own), facecolors="none", edgecolors=INK, linewidths=1.7, zorder=4, gid="critical"
        )
        links = LineCollection(
            _links(chart, result, critical), colors=INK, linewidths=1, zorder=3, gid="critical-links"
        )
        ax.add_collection(links, autolim=False)
    ax.add_collection(outline, autolim=False)


def _links(chart: Chart, result: Result, critical: Sequence[int]) -> list[list[tuple[float, float]]]:
    """Return lines from each critical operator to the next one where that is not beside it."""
    trace, half = result.trace, BAR_HEIGHT / 2
    row_of = {stream: row for row, stream in enumerate(chart.streams)}
    found: list[list[tuple[float, float]]] = []
    for before, after in pairwise(critical):
        upper, lower = row_of[trace.stream[before]], row_of[trace.stream[after]]
        side = half if lower > upper else -half if lower < upper else 0
        if side or trace.end[before] < trace.start[after]:
            found.append([(trace.end[before], upper + side), (trace.start[after], lower - side)])
    return found


def underlined(chart: Chart) -> bool:
    """Whether bars are so many that outlines would hide them."""
    return len(chart.bars) > 120
