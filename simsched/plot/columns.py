"""A layered layout folded into columns, like the text of a newspaper, and the ways of edges through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from simsched.graph.layout import Layout
from simsched.graph.model import OpId

Point = tuple[float, float]

BOX_HEIGHT = 0.56
BOX_WIDTH = 0.88
_GUTTER = 1.2


@dataclass(frozen=True, slots=True)
class Columns:
    """How levels are folded: ``height`` levels a column, and the shift of each column in ``x``."""

    height: int
    count: int
    shifts: tuple[float, ...]
    gutters: tuple[float, ...]
    """Middle of the free space before each column."""
    width: float

    def place(self, x: float, level: int) -> Point:
        """Where a point of the layout goes on the page."""
        column = level // self.height
        return x + self.shifts[column], float(level - column * self.height)

    def column(self, level: int) -> int:
        """Column of a level."""
        return level // self.height


def fold(layout: Layout, aspect: float = 1.7) -> Columns:
    """Choose the number of columns that makes boxes of two to one largest on a page of this aspect."""
    if not layout.levels:
        return Columns(1, 1, (0.0,), (-_GUTTER / 2,), 1.0)
    best: tuple[float, Columns] | None = None
    for count in range(1, min(layout.levels, 24) + 1):
        height = -(-layout.levels // count)
        if -(-layout.levels // height) != count or (count > 1 and height < 8):
            continue
        columns = _columns(layout, height, count)
        size = min(aspect / (2 * columns.width), 1 / (height + 1))
        if best is None or size > best[0] * 1.15:
            best = (size, columns)
    assert best is not None
    return best[1]


def _columns(layout: Layout, height: int, count: int) -> Columns:
    lows, highs = [float("inf")] * count, [float("-inf")] * count
    points = [(x, level) for x, level in zip(layout.x, layout.level, strict=True)]
    points += [point for route in layout.routes.values() for point in route]
    for x, level in points:
        lows[level // height] = min(lows[level // height], x)
        highs[level // height] = max(highs[level // height], x)
    shifts: list[float] = []
    gutters: list[float] = []
    offset = 0.0
    for low, high in zip(lows, highs, strict=True):
        shifts.append(offset + 0.5 - low)
        gutters.append(offset - _GUTTER / 2)
        offset += high - low + 1 + _GUTTER
    return Columns(height, count, tuple(shifts), tuple(gutters), max(offset - _GUTTER, 1.0))


def course(layout: Layout, columns: Columns, source: OpId, target: OpId) -> Iterator[tuple[list[Point], bool]]:
    """Yield the pieces of an edge, and whether each jumps to another column.

    An edge passes a row vertically, beside its boxes, and bends only between rows.
    """
    half = BOX_HEIGHT / 2
    inner = layout.routes.get((source, target), ())
    stops = [(layout.x[source], layout.level[source]), *inner, (layout.x[target], layout.level[target])]
    piece: list[Point] = []
    for number, (x, level) in enumerate(stops):
        here_x, here_y = columns.place(x, level)
        if number and columns.column(level) != columns.column(stops[number - 1][1]):
            if len(piece) > 1:
                yield _smooth(piece), False
            yield _gutter(columns, piece[-1], (here_x, here_y - half), level), True
            piece = []
        if number:
            piece.append((here_x, here_y - half))
        if number < len(stops) - 1:
            piece.append((here_x, here_y + half))
    if len(piece) > 1:
        yield _smooth(piece), False


def _gutter(columns: Columns, start: Point, end: Point, level: int) -> list[Point]:
    """Way from the foot of a column to the head of another: along the gutter before it."""
    gutter = columns.gutters[columns.column(level)]
    foot, head = columns.height - 0.55, -0.45
    return _smooth([start, (gutter, foot), (gutter, head), end])


def _smooth(points: Sequence[Point], steps: int = 10) -> list[Point]:
    """Leave and arrive vertically, so that bends do not look like corners."""
    smooth = [points[0]]
    for (x0, y0), (x1, y1) in pairwise(points):
        if abs(x1 - x0) < 1e-6:
            smooth.append((x1, y1))
            continue
        for step in range(1, steps + 1):
            t = step / steps
            smooth.append((x0 + (x1 - x0) * t * t * (3 - 2 * t), y0 + (y1 - y0) * t))
    return smooth
