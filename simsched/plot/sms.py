"""Gantt chart by SM: which blocks were on which SM when, on a device of model ``blocks``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from simsched.colours import FILLS, type_colours
from simsched.errors import ConfigError, Fault
from simsched.plot.figure import figure_of, new_axes, settle
from simsched.plot.legend import type_patches
from simsched.plot.scales import fitting, inner_size, show_time, time_text
from simsched.plot.sm_rows import SmBar, SmChart, devices_with_blocks, sm_chart
from simsched.plot.style import IDLE, INK, MAKESPAN_LINE, clean, duration_text, percent, styled
from simsched.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADROOM_POINTS = 18.0


@styled
def plot_sms(
    result: Result,
    *,
    device: str | None = None,
    ax: Axes | None = None,
    x_max: int | None = None,
    exact_up_to: int = 40_000,
) -> Axes:
    """Draw one run as a Gantt chart with a row per SM of a device.

    A bar is the blocks of one kernel on one SM. Its height is the part of the SM that they take: full where no further
    block of that kernel would have fitted. What is on an SM at the same time is stacked. Grey is room that nobody took.
    Up to eight kernels have a colour each; where there are more, colours are those of operator types if there are
    several, else they take turns.

    Parameters
    ----------
    result : Result
        A run on a device of model ``blocks``; only that model knows where blocks are.
    device : str, optional
        Name of the device; the first on which blocks were placed by default.
    ax : Axes, optional
        Where to draw; a new figure by default.
    x_max : int, optional
        End of the time axis in ns, to compare runs on one scale.
    exact_up_to : int
        Number of bars up to which each is drawn at its own times.

    Returns
    -------
    Axes
        Its data are ns and SM numbers, SM 0 at the top.

    Raises
    ------
    ConfigError
        If no blocks were placed on the device.
    UnknownNameError
        If there is no such device.
    """
    chart = sm_chart(result.problem, result.trace, _device(result, device), exact_up_to)
    ax = new_axes(ax, 11, min(2.2 + 0.3 * chart.sms, 8.5))
    own = ax.figure.get_gid() is not None
    _frame(ax, result, chart, x_max)
    ax.barh(range(chart.sms), result.makespan, height=_row_height(chart), color=IDLE, linewidth=0, zorder=1, gid="room")
    colour_of, entries = _colours(result, chart)
    _draw_bars(ax, chart, colour_of)
    _draw_makespan(ax, result, chart)
    entries.append(Patch(facecolor=IDLE, label="room left"))
    if own:
        figure_of(ax).legend(handles=entries, loc="outside right upper", borderaxespad=0.3)
    else:
        ax.legend(handles=entries, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    _draw_names(ax, result, chart)
    return ax


def _device(result: Result, name: str | None) -> int:
    """The device to draw."""
    problem = result.problem
    having = devices_with_blocks(problem, result.trace)
    wanted = None if name is None else problem.devices.index(problem.hardware.device(name))
    if not having or (wanted is not None and wanted not in having):
        asked = problem.devices if wanted is None else problem.devices[wanted : wanted + 1]
        where = f" of {name!r}" if name is not None else ""
        hint = (
            "its kernels need none: durations that a graph states want a 'grid' or 'demands: {sms: ...}' beside them"
            if any(device.model == "blocks" for device in asked)
            else "only devices of model 'blocks' say where blocks are: simulate with --device-model blocks"
        )
        raise ConfigError("plot sms", [Fault(f"no block was placed on an SM{where} in this run; {hint}")])
    return having[0] if wanted is None else wanted


def _row_height(chart: SmChart) -> float:
    """Height of a row; where there are many, nothing is left between them."""
    return 0.86 if chart.sms <= 40 else 1.0


def _frame(ax: Axes, result: Result, chart: SmChart, x_max: int | None) -> None:
    problem, unit = result.problem, result.problem.graph.time_unit
    ax.set_xlim(0, (x_max or result.makespan or 1) * 1.015)
    height = inner_size(ax)[1]
    ax.set_ylim(chart.sms - 0.5, -0.5 - chart.sms * HEADROOM_POINTS / max(height - HEADROOM_POINTS, HEADROOM_POINTS))
    every = next(step for step in (1, 2, 4, 8, 12, 16, 32, 64, 128, chart.sms) if chart.sms <= 24 * step)
    ax.set_yticks(range(0, chart.sms, every))
    ax.tick_params(axis="y", length=0, pad=8)
    ax.set_ylabel("SM")
    ax.spines["left"].set_visible(False)
    show_time(ax.xaxis, ax.get_xlim()[1], unit)
    if chart.resolution:
        ax.set_xlabel(f"{ax.get_xlabel()}; bars shorter than {duration_text(chart.resolution, unit)} are merged")
    ax.grid(visible=True, axis="x")
    where = f"{problem.devices[chart.device].name} of " if len(problem.devices) > 1 else ""
    ax.set_title(clean(f"{problem.graph.name} on the SMs of {where}{problem.hardware.name}: {result.label}", 100))


def _colours(result: Result, chart: SmChart) -> tuple[Mapping[int, str], list[Patch]]:
    """Colour of each kernel that is shown, and what the legend says."""
    graph = result.problem.graph
    shown = list(dict.fromkeys(bar.op for bar in sorted(chart.bars, key=lambda bar: (bar.start, bar.op))))
    if len(shown) <= len(FILLS):
        by_op = dict(zip(sorted(shown), FILLS, strict=False))
        return by_op, [Patch(facecolor=colour, label=clean(graph.names[op], 28)) for op, colour in by_op.items()]
    types = {graph.op_types[op] for op in shown}
    if len(types) == 1:
        by_op = {op: FILLS[number % len(FILLS)] for number, op in enumerate(shown)}
        return by_op, [Patch(facecolor="none", edgecolor=INK, label="kernels, in turn")]
    colours = type_colours(graph.op_types)
    return {op: colours[graph.op_types[op]] for op in shown}, type_patches(colours, types)


def _span(bar: SmBar, height: float) -> tuple[float, float]:
    """Upper and lower edge of a bar in data; low parts of an SM are at the bottom of its row."""
    return bar.sm + height * (0.5 - bar.high), bar.sm + height * (0.5 - bar.low)


def _draw_bars(ax: Axes, chart: SmChart, colour_of: Mapping[int, str]) -> None:
    """Add one collection per kernel; bars that are narrow or low have no white edge."""
    width, height = inner_size(ax)
    by_time = width / (ax.get_xlim()[1] - ax.get_xlim()[0])
    by_row = height / abs(ax.get_ylim()[0] - ax.get_ylim()[1])
    row = _row_height(chart)
    for op, colour in colour_of.items():
        own = [bar for bar in chart.bars if bar.op == op]
        corners, edges = [], []
        for bar in own:
            top, bottom = _span(bar, row)
            corners.append([(bar.start, bottom), (bar.start, top), (bar.end, top), (bar.end, bottom)])
            room = min((bar.end - bar.start) * by_time, (bottom - top) * by_row)
            edges.append(0.7 if room > 6 else 0.3 if room > 3 else 0.0)
        bars = PolyCollection(
            corners, facecolors=colour, edgecolors="white", linewidths=edges, zorder=2, gid=f"blocks:{op}",
            rasterized=len(own) > 5000,
        )  # fmt: skip
        ax.add_collection(bars, autolim=False)


def _draw_makespan(ax: Axes, result: Result, chart: SmChart) -> None:
    unit, largest = result.problem.graph.time_unit, ax.get_xlim()[1]
    ax.axvline(result.makespan, color=MAKESPAN_LINE, linewidth=1.6, zorder=6, gid="makespan")
    share = percent(chart.used, 1)
    text = f"makespan {time_text(result.makespan, largest, unit)}; SMs have a block {share} of the time"
    left = result.makespan > 0.5 * largest
    ax.annotate(
        text, (result.makespan, ax.get_ylim()[1]), xytext=(-5 if left else 5, -2), textcoords="offset points",
        ha="right" if left else "left", va="top", color=MAKESPAN_LINE, fontsize=9.5, zorder=7, gid="flag",
    )  # fmt: skip


def _draw_names(ax: Axes, result: Result, chart: SmChart) -> None:
    """Write the name of a kernel once into each area of equal bars on neighbouring SMs that has room for it."""
    settle(ax)
    width, height = inner_size(ax)
    by_time = width / (ax.get_xlim()[1] - ax.get_xlim()[0])
    by_row = height / abs(ax.get_ylim()[0] - ax.get_ylim()[1])
    row = _row_height(chart)
    for area in _areas(chart.bars):
        first, middle = area[0], area[(len(area) - 1) // 2]
        (top, bottom), (highest, _), (_, lowest) = _span(middle, row), _span(first, row), _span(area[-1], row)
        # Bars that fill their SMs are one area where rows touch; else the name goes to the SM in the middle.
        if row == 1 and first.low == 0 and first.high > 0.99:
            top, bottom = highest, lowest
        size = min(10.0, 0.62 * (bottom - top) * by_row)
        room = (first.end - first.start) * by_time - 5
        if size < 5 or room <= size:
            continue
        text = fitting(clean(result.problem.graph.names[first.op], 200), room, size, keep="end")
        place: dict[str, Any] = {"ha": "center", "va": "center", "clip_on": True, "zorder": 5, "gid": "name"}
        if text:
            ax.text((first.start + first.end) / 2, (top + bottom) / 2, text, fontsize=size, color=INK, **place)


def _areas(bars: Sequence[SmBar]) -> list[list[SmBar]]:
    """Equal bars on neighbouring SMs."""
    found: list[list[SmBar]] = []
    alike = sorted(bars, key=lambda bar: (bar[1:], bar.sm))
    for _, group in groupby(alike, key=lambda bar: bar[1:]):
        for bar in group:
            if found and found[-1][-1][1:] == bar[1:] and found[-1][-1].sm == bar.sm - 1:
                found[-1].append(bar)
            else:
                found.append([bar])
    return found
