"""The computation graph in levels, folded into columns where it is long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsched.colours import OTHER_FILL, type_colours
from simsched.graph.layout import Layout, layered_layout
from simsched.graph.model import DependencyKind, Graph, OpId
from simsched.graph.ranks import critical_path
from simsched.plot.columns import BOX_HEIGHT, BOX_WIDTH, Columns, Point, course, fold
from simsched.plot.figure import new_axes, settle
from simsched.plot.legend import type_patches
from simsched.plot.scales import fitting, inner_size
from simsched.plot.style import INK, MUTED, clean, duration_text, styled
from simsched.problem import Problem
from simsched.units import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EDGE = "#8A8A8A"
_STYLES: dict[DependencyKind, tuple[str, str, Any]] = {
    DependencyKind.DATA: ("data", _EDGE, "-"),
    DependencyKind.CONTROL: ("control", "#4477AA", (0, (4, 2))),
    DependencyKind.RAW: ("buffer, read after write", "#AA3377", "-"),
    DependencyKind.WAR: ("buffer, write after read", "#AA3377", (0, (1, 1.3))),
    DependencyKind.WAW: ("buffer, write after write", "#AA3377", (0, (5, 1.5, 1, 1.5))),
}


@styled
def plot_dag(graph: Graph | Problem, *, ax: Axes | None = None) -> Axes:
    """Draw a graph, an operator a box, a level a row; edges go downwards.

    Boxes are coloured by operator type; the critical path is outlined where durations are known: those of the first
    device for a problem, the explicit ones for a graph. Long graphs are folded into columns, read like a newspaper.

    Parameters
    ----------
    graph : Graph or Problem
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Boxes are 1 apart; levels grow downwards within a column.
    """
    problem = graph if isinstance(graph, Problem) else None
    graph = graph.graph if isinstance(graph, Problem) else graph
    durations = _durations(graph, problem)
    path = critical_path(graph, durations) if durations is not None and any(durations) else []
    layout = layered_layout(graph, sweeps=12 if len(graph) <= 5000 else 4)
    columns = fold(layout)
    ax = _axes(ax, columns)
    colours = type_colours(graph.op_types)
    _draw_edges(ax, graph, layout, columns, path)
    _draw_boxes(ax, graph, layout, columns, colours, path)
    _draw_levels(ax, layout, columns)
    _draw_legend(ax, graph, colours, path)
    _title(ax, graph, layout, durations, path)
    _draw_names(ax, graph, layout, columns, durations)
    return ax


def _durations(graph: Graph, problem: Problem | None) -> Sequence[int] | None:
    if problem is not None:
        return problem.shortest_durations()
    known = [duration for duration in graph.durations if duration is not None]
    return known if len(known) == len(graph) else None


def _axes(ax: Axes | None, columns: Columns) -> Axes:
    width = min(max(1.15 * columns.width + 3.0, 7.5), 15)
    height = min(max(0.72 * columns.height + 1.2, 3.0), 9.0)
    ax = new_axes(ax, width, height)
    ax.set_xlim(-0.1, columns.width + 0.1)
    ax.set_ylim(columns.height - 0.45, -0.55 if columns.count == 1 else -1.1)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


# --- edges ------------------------------------------------------------------------------------------------------


def _draw_edges(ax: Axes, graph: Graph, layout: Layout, columns: Columns, path: Sequence[OpId]) -> None:
    critical = set(pairwise(path))
    lines: dict[DependencyKind, list[list[Point]]] = {}
    bold: list[list[Point]] = []
    jumps: tuple[list[list[Point]], list[list[Point]]] = ([], [])
    for (source, target), kind in _kinds(graph).items():
        for points, jump in course(layout, columns, source, target):
            on_path = (source, target) in critical
            (jumps[on_path] if jump else lines.setdefault(kind, [])).append(points)
            if on_path and not jump:
                bold.append(points)
    thin = 1.1 if len(graph) <= 60 else 0.8 if len(graph) <= 300 else 0.45
    for own, colour in zip(jumps, ("#BBBBBB", INK), strict=True):
        look = LineCollection(own, colors=colour, linewidths=0.7 * thin, zorder=0, gid="jumps")
        ax.add_collection(look, autolim=False)
    for kind, own in sorted(lines.items()):
        _, colour, style = _STYLES[kind if len(set(graph.edges.kind)) > 1 else DependencyKind.DATA]
        ax.add_collection(
            LineCollection(own, colors=colour, linewidths=thin, linestyles=[style], zorder=1, gid=f"edges:{kind.name}"),
            autolim=False,
        )
    ax.add_collection(
        LineCollection(bold, colors=INK, linewidths=2.2 * thin, zorder=2, gid="critical-edges"), autolim=False
    )
    if len(graph) <= 60:
        _draw_tips(ax, [points for own in lines.values() for points in own])


def _kinds(graph: Graph) -> dict[tuple[OpId, OpId], DependencyKind]:
    """Return the kind of each edge; where there are several, data first."""
    edges = graph.edges
    kinds: dict[tuple[OpId, OpId], int] = {}
    for source, target, code in zip(edges.source, edges.target, edges.kind, strict=True):
        kinds[source, target] = min(code, kinds.get((source, target), code))
    return {edge: DependencyKind(kinds[edge]) for edge in sorted(kinds)}


def _draw_tips(ax: Axes, lines: Sequence[Sequence[Point]]) -> None:
    """Small triangles where edges arrive."""
    tips = [[(x, y), (x - 0.035, y - 0.1), (x + 0.035, y - 0.1)] for x, y in (points[-1] for points in lines)]
    ax.add_collection(PolyCollection(tips, facecolors="#666666", linewidths=0, zorder=2, gid="tips"), autolim=False)


# --- boxes ------------------------------------------------------------------------------------------------------


def _draw_boxes(
    ax: Axes, graph: Graph, layout: Layout, columns: Columns, colours: Mapping[str, str], path: Sequence[OpId]
) -> None:
    groups: dict[str, list[list[Point]]] = {}
    places = [columns.place(x, level) for x, level in zip(layout.x, layout.level, strict=True)]
    for op, place in enumerate(places):
        groups.setdefault(graph.op_types[op], []).append(_box(place))
    edge = 0.8 if len(graph) <= 300 else 0.3
    for op_type, colour in colours.items():
        boxes = PolyCollection(
            groups[op_type], facecolors=colour, edgecolors="#555555", linewidths=edge, zorder=3, gid=f"nodes:{op_type}"
        )
        ax.add_collection(boxes, autolim=False)
    if path:
        outline = [_box(places[op]) for op in path]
        width = 2.2 if len(graph) <= 100 else 1.4 if len(graph) <= 400 else 0.9
        ax.add_collection(
            PolyCollection(outline, facecolors="none", edgecolors=INK, linewidths=width, zorder=4, gid="critical"),
            autolim=False,
        )


def _box(place: Point) -> list[Point]:
    x, y = place
    half, up = BOX_WIDTH / 2, BOX_HEIGHT / 2
    return [(x - half, y - up), (x + half, y - up), (x + half, y + up), (x - half, y + up)]


def _draw_levels(ax: Axes, layout: Layout, columns: Columns) -> None:
    """Write the number of each level, or the range of levels of each column where there are several."""
    if columns.count == 1:
        every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 10**9) if columns.height / step <= 25)
        ax.set_yticks(range(0, layout.levels, every))
        ax.tick_params(axis="y", length=0, labelcolor=MUTED, labelsize=9)
        ax.set_ylabel("level", color=MUTED)
        return
    for column, gutter in enumerate(columns.gutters):
        first = column * columns.height
        last = min(first + columns.height, layout.levels) - 1
        ax.text(gutter + 0.62, -0.55, f"{first}–{last}", ha="left", va="bottom", color=MUTED, fontsize=8, gid="levels")
    ax.set_ylabel("levels, column by column", color=MUTED)


def _draw_names(ax: Axes, graph: Graph, layout: Layout, columns: Columns, durations: Sequence[int] | None) -> None:
    """Write names, and durations below them, as far as boxes have room once the layout is known."""
    settle(ax)
    width, height = inner_size(ax)
    across = BOX_WIDTH * width / (ax.get_xlim()[1] - ax.get_xlim()[0]) - 4
    tall = BOX_HEIGHT * height / abs(ax.get_ylim()[0] - ax.get_ylim()[1])
    timed = durations is not None and tall >= 24
    size = min(10.0, tall * (0.42 if timed else 0.62))
    if size < 5 or across < 3 * size:
        return
    for op, name in enumerate(graph.names):
        x, y = columns.place(layout.x[op], layout.level[op])
        text = fitting(clean(name, 200), across, size, 4, keep="end")
        if timed and durations is not None:
            length = duration_text(durations[op], graph.time_unit)
            ax.text(
                x,
                y + 0.13,
                length,
                ha="center",
                va="center",
                fontsize=0.85 * size,
                color="#444444",
                zorder=5,
                gid="duration",
            )
        ax.text(
            x,
            y - (0.12 if timed else 0),
            text,
            ha="center",
            va="center",
            fontsize=size,
            color=INK,
            zorder=5,
            gid="name",
        )


def _draw_legend(ax: Axes, graph: Graph, colours: Mapping[str, str], path: Sequence[OpId]) -> None:
    entries: list[Patch | Line2D] = []
    if len(colours) > 1 or OTHER_FILL in colours.values():
        entries += type_patches(colours, colours.keys(), "#555555")
    if path:
        entries.append(Patch(facecolor="none", edgecolor=INK, linewidth=1.8, label="critical path"))
    kinds = sorted(set(graph.edges.kind))
    for code in kinds if len(kinds) > 1 else ():
        name, colour, style = _STYLES[DependencyKind(code)]
        entries.append(Line2D([], [], color=colour, linestyle=style, linewidth=1.3, label=name))
    if entries:
        ax.legend(handles=entries, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def _title(ax: Axes, graph: Graph, layout: Layout, durations: Sequence[int] | None, path: Sequence[OpId]) -> None:
    text = f"{clean(graph.name, 50)}: {plural(len(graph), 'operator')}, {plural(layout.levels, 'level')}"
    if path and durations is not None:
        length = duration_text(sum(durations[op] for op in path), graph.time_unit)
        text += f", critical path {length} over {plural(len(path), 'operator')}"
    ax.set_title(text)
