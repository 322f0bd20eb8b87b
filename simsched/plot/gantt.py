"""Gantt chart of one run: who ran when and where, what was idle, how far from the bound, and memory below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsched.analysis.bounds import lower_bound
from simsched.analysis.critical import realised_path
from simsched.colours import type_colours
from simsched.plot.bars import Chart, chart_of
from simsched.plot.critical import BAR_HEIGHT, boxes_of, draw_critical, underlined
from simsched.plot.figure import figure_of, new_figure, settle
from simsched.plot.legend import type_patches
from simsched.plot.memory import busiest_device, draw_curve, mark_peak, memory_curve, show_range
from simsched.plot.scales import fitting, inner_size, show_time, text_width, time_text
from simsched.plot.style import IDLE, INK, LOWER_BOUND_LINE, MAKESPAN_LINE, clean, duration_text, percent, styled
from simsched.result import Result
from simsched.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADROOM_POINTS = 31.0


@styled
def plot_gantt(
    result: Result,
    *,
    ax: Axes | None = None,
    memory_ax: Axes | None = None,
    x_max: int | None = None,
    exact_up_to: int = 2000,
) -> Axes:
    """Draw one run as a Gantt chart, a row per stream that ran something.

    Bars are coloured by operator type and named where the name fits; the operators of the realised critical path are
    outlined, idle time is hatched, operators without duration are diamonds. Lines mark the makespan and the best
    lower bound. Runs of more than ``exact_up_to`` operators are drawn at a bounded resolution.

    Parameters
    ----------
    result : Result
    ax : Axes, optional
        Where to draw; by default a new figure, with the memory of the busiest device below where there is any.
    memory_ax : Axes, optional
        Where to draw the memory when ``ax`` is given.
    x_max : int, optional
        End of the time axis in ns, to compare runs on one scale.
    exact_up_to : int
        Number of operators up to which every one has its own bar.

    Returns
    -------
    Axes
        Those of the chart. Its data are ns and row numbers from 0 at the top.
    """
    chart = chart_of(result.problem, result.trace, exact_up_to)
    own = ax is None
    if ax is None:
        ax, memory_ax = _new_axes(result, chart)
    _frame(ax, result, chart, x_max)
    if memory_ax is not None:
        _draw_memory(ax, memory_ax, result, chart)
    colours = type_colours(result.problem.graph.op_types)
    _draw_idle(ax, chart)
    _draw_bars(ax, chart, colours)
    path = realised_path(result.problem, result.trace)
    critical = [segment.op for segment in path if segment.kind == "operator"]
    draw_critical(ax, chart, result, critical)
    _draw_marks(ax, chart, colours, result.problem.graph.op_types)
    _draw_lines(ax, result)
    _draw_legend(ax, chart, colours, own=own)
    _draw_names(ax, result, chart)
    return ax


def _new_axes(result: Result, chart: Chart) -> tuple[Axes, Axes | None]:
    rows = max(len(chart.streams), 1)
    height = min(1.9 + 0.42 * rows, 8.5)
    if not len(result.trace.memory) or not any(result.trace.memory.live):
        return new_figure(11, height, own=True).add_subplot(), None
    figure = new_figure(11, height + 1.7, own=True)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[height - 0.9, 1.55])
    return upper, lower


def _frame(ax: Axes, result: Result, chart: Chart, x_max: int | None) -> None:
    problem, rows = result.problem, len(chart.streams)
    ax.set_xlim(0, (x_max or result.makespan or 1) * 1.015)
    ax.set_ylim(max(rows, 1) - 0.5, -0.5 - _headroom(ax, rows))
    every = -(-rows // 40) or 1
    ax.set_yticks(
        range(0, rows, every), [clean(problem.stream_names[chart.streams[row]], 24) for row in range(0, rows, every)]
    )
    ax.tick_params(axis="y", length=0, pad=8, labelsize=10 if rows <= 24 else 7)
    ax.spines["left"].set_visible(False)
    _time_axis(ax, result, chart, ax.get_xlim()[1])
    ax.grid(visible=True, axis="x")
    ax.set_title(clean(f"{problem.graph.name} on {problem.hardware.name}: {result.label}", 100))


def _headroom(ax: Axes, rows: int) -> float:
    """Rows of free space above the first one that leave room for two lines of text."""
    height = inner_size(ax)[1]
    return max(rows, 1) * HEADROOM_POINTS / max(height - HEADROOM_POINTS, HEADROOM_POINTS)


def _time_axis(ax: Axes, result: Result, chart: Chart, largest: float) -> None:
    unit = result.problem.graph.time_unit
    show_time(ax.xaxis, largest, unit)
    if chart.resolution:
        ax.set_xlabel(f"{ax.get_xlabel()}; bars shorter than {duration_text(chart.resolution, unit)} are merged")


def _draw_idle(ax: Axes, chart: Chart) -> None:
    ax.add_collection(
        PolyCollection(
            boxes_of(chart.gaps), facecolors="none", edgecolors=IDLE, linewidths=0, hatch="////", zorder=1, gid="idle"
        ),
        autolim=False,
    )


def _draw_bars(ax: Axes, chart: Chart, colours: Mapping[str, str]) -> None:
    """Add one collection per operator type, so that ten thousand bars stay cheap; narrow bars have no white edge."""
    points = inner_size(ax)[0] / (ax.get_xlim()[1] - ax.get_xlim()[0])
    for op_type, colour in colours.items():
        own = [(bar.row, bar.start, bar.end) for bar in chart.bars if bar.op_type == op_type]
        if own:
            edges = [_edge((end - start) * points) for _, start, end in own]
            bars = PolyCollection(
                boxes_of(own), facecolors=colour, edgecolors="white", linewidths=edges, zorder=2,
                gid=f"bars:{op_type}", rasterized=len(own) > 5000,
            )  # fmt: skip
            ax.add_collection(bars, autolim=False)


def _edge(width: float) -> float:
    """Width of the white edge of a bar this wide, in points: it must not swallow the bar."""
    return 0.7 if width > 6 else 0.3 if width > 3 else 0


def _draw_marks(ax: Axes, chart: Chart, colours: Mapping[str, str], types: Sequence[str]) -> None:
    if chart.marks:
        times, rows = [time for _, time, _ in chart.marks], [row for row, _, _ in chart.marks]
        fills = [colours[types[op]] for _, _, op in chart.marks]
        ax.scatter(
            times, rows, s=48, marker="D", c=fills, edgecolors=INK, linewidths=0.9, zorder=5, clip_on=False,
            gid="zero-length",
        )  # fmt: skip


def _draw_lines(ax: Axes, result: Result) -> None:
    """Draw makespan and lower bound, labelled in the headroom: on one line if they coincide."""
    unit, makespan = result.problem.graph.time_unit, result.makespan
    bound = lower_bound(result.problem, actual=result.actual)
    optimal = bound.value == makespan
    largest = ax.get_xlim()[1]
    text = f"makespan {time_text(makespan, largest, unit)}"
    _vertical(ax, makespan, MAKESPAN_LINE, "-", "makespan")
    if not makespan:
        return
    if optimal:
        _flag(ax, makespan, f"{text} = lower bound, so optimal", MAKESPAN_LINE, 0)
        return
    gap = percent(makespan - bound.value, bound.value) if bound.value else "all"
    _vertical(ax, bound.value, LOWER_BOUND_LINE, (0, (5, 2)), "lower-bound")
    _flag(ax, makespan, f"{text} (gap {gap})", MAKESPAN_LINE, 0)
    _flag(ax, bound.value, f"lower bound {time_text(bound.value, largest, unit)} by {bound.name}", LOWER_BOUND_LINE, 1)


def _vertical(ax: Axes, at: float, colour: str, style: Any, gid: str) -> None:
    ax.axvline(at, color=colour, linewidth=1.6, linestyle=style, zorder=6, gid=gid)


def _flag(ax: Axes, at: float, text: str, colour: str, line: int) -> None:
    """Write a label in the headroom above the rows, on the side of its line where there is room."""
    left = at > 0.5 * ax.get_xlim()[1]
    ax.annotate(
        text, (at, ax.get_ylim()[1]), xytext=(-5 if left else 5, -3 - 14 * line), textcoords="offset points",
        ha="right" if left else "left", va="top", color=colour, fontsize=9.5, zorder=7, gid="flag",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
    )  # fmt: skip


def _draw_legend(ax: Axes, chart: Chart, colours: Mapping[str, str], *, own: bool) -> None:
    shown = {bar.op_type for bar in chart.bars}
    entries: list[Patch | Line2D] = []
    if len(colours) > 1:
        entries += type_patches(colours, shown)
    if underlined(chart):
        entries.append(Line2D([], [], color=INK, linewidth=3, label="critical path of the run"))
    elif chart.bars:
        entries.append(Patch(facecolor="none", edgecolor=INK, linewidth=1.7, label="critical path of the run"))
    if chart.gaps:
        entries.append(Patch(facecolor="none", edgecolor="#BBBBBB", hatch="////", linewidth=0, label="idle"))
    if chart.marks:
        diamond = Line2D(
            [], [], marker="D", color="none", markeredgecolor=INK, markerfacecolor="white", label="no duration"
        )
        entries.append(diamond)
    if entries and own:  # a legend of the figure does not stretch the upper panel
        figure_of(ax).legend(handles=entries, loc="outside right upper", borderaxespad=0.3)
    elif entries:
        ax.legend(handles=entries, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def _draw_names(ax: Axes, result: Result, chart: Chart) -> None:
    """Write names into bars that have room, once the layout is known."""
    settle(ax)
    width, height = inner_size(ax)
    rows = abs(ax.get_ylim()[0] - ax.get_ylim()[1])
    size = min(10.0, 0.62 * BAR_HEIGHT * height / rows)
    if size < 5:
        return
    points = width / (ax.get_xlim()[1] - ax.get_xlim()[0])
    names = result.problem.graph.names
    for bar in chart.bars:
        room = (bar.end - bar.start) * points - 5
        if len(bar.ops) == 1 and room > size:
            name = clean(names[bar.ops[0]], 200)
            small = 0.75 * size
            fits = small if small >= 6 and text_width(name, small) <= room < text_width(name, size) else size
            text = fitting(name, room, fits, keep="end")
            place: dict[str, Any] = {"ha": "center", "va": "center", "clip_on": True, "zorder": 5, "gid": "name"}
            if text:
                ax.text((bar.start + bar.end) / 2, bar.row, text, fontsize=fits, color=INK, **place)


def _draw_memory(ax: Axes, memory_ax: Axes, result: Result, chart: Chart) -> None:
    problem = result.problem
    device = busiest_device([result])
    steps = memory_curve(result, device)
    peak = max(live for _, live in steps)
    memory_ax.set_xlim(*ax.get_xlim())
    show_range(memory_ax, problem, device, peak, ticks=4)
    draw_curve(memory_ax, steps, 0, "live memory", fill=True)
    if len(problem.devices) > 1:
        memory_ax.set_ylabel(f"{clean(problem.devices[device].name, 12)} {memory_ax.get_ylabel()}")
    mark_peak(memory_ax, steps, f"peak {format_size(peak)}")
    memory_ax.grid(visible=True, axis="both")
    _time_axis(memory_ax, result, chart, ax.get_xlim()[1])
    ax.set_xlabel("")
    ax.tick_params(axis="x", labelbottom=False, length=0)
