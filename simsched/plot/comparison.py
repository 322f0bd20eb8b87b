"""Makespans of several schedulers in the corridor between the bounds, with their peak memory beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from simsched.analysis.bounds import Bound
from simsched.analysis.metrics import serial_time
from simsched.plot.figure import figure_of, new_axes, new_figure, settle
from simsched.plot.memory import busiest_device
from simsched.plot.scales import fitting, inner_size, plain_number, show_bytes, show_time, time_text
from simsched.plot.style import INK, LINES, LOWER_BOUND_LINE, clean, percent, styled
from simsched.result import Comparison, Failure, Result
from simsched.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORRIDOR = "#F3F0E4"
_LOOKS: dict[str, tuple[str, Any, str]] = {
    "lower bound": (LOWER_BOUND_LINE, "-", "lower bound"),
    "serial": ("#222222", "-", "serial work"),
    "graham_brent": ("#228833", (0, (6, 2)), "Graham-Brent, upper bound of greedy runs"),
    "critical_path": (LOWER_BOUND_LINE, (0, (1, 1.5)), "critical path"),
    "area": ("#4477AA", (0, (4, 2)), "area"),
}


@styled
def plot_comparison(
    comparison: Comparison | Sequence[Comparison], *, ax: Axes | None = None, memory_ax: Axes | None = None
) -> Axes:
    """Draw makespans as horizontal bars.

    One comparison is drawn in units of time: the corridor between the best lower bound and the serial time is shaded,
    each bound is a line, and peak memory is beside it. Several are drawn as groups, each divided by its own lower
    bound, so that nothing can be below 1.

    Parameters
    ----------
    comparison : Comparison or sequence of Comparison
    ax : Axes, optional
        Where to draw; a new figure by default.
    memory_ax : Axes, optional
        Where to draw the peaks when ``ax`` is given.

    Returns
    -------
    Axes
        Those of the makespans: data in ns for one comparison, makespan / lower bound for several.
    """
    if isinstance(comparison, Comparison):
        return _one(comparison, ax, memory_ax)
    return _several(comparison, ax)


def _one(comparison: Comparison, ax: Axes | None, memory_ax: Axes | None) -> Axes:
    runs = list(comparison.runs())
    own = ax is None
    if ax is None:
        figure = new_figure(11.5, 2.4 + 0.42 * max(len(runs), 1), own=True)
        if any(any(result.trace.memory.live) for result in comparison.results):
            ax, memory_ax = figure.subplots(1, 2, sharey=True, width_ratios=[3, 1])
        else:
            ax = figure.add_subplot()
    problem = comparison.problem
    unit = problem.graph.time_unit
    limits = corridor(comparison)
    longest = max([bound.value for bound in limits] + [result.makespan for result in comparison.results])
    ax.set_xlim(0, longest * 1.05 or 1)
    _draw_corridor(ax, limits)
    for row, run in enumerate(runs):
        if isinstance(run, Result):
            ax.barh(row, run.makespan, height=0.62, color=LINES[0], alpha=0.85, zorder=2, gid="makespan")
            length = time_text(run.makespan, ax.get_xlim()[1], unit)
            _beside(ax, row, f"{length}  {_gap(run.makespan, limits[0].value)}")
    _rows(ax, [_label(run) for run in runs])
    show_time(ax.xaxis, ax.get_xlim()[1], unit, "makespan")
    ax.set_title(clean(f"{problem.graph.name} on {problem.hardware.name}: makespan by scheduler", 90))
    _bound_legend(ax, limits, unit, own=own)
    if memory_ax is not None:
        _draw_peaks(memory_ax, comparison, runs)
    settle(ax)
    _draw_failures(ax, runs)
    return ax


def _label(run: Result | Failure) -> str:
    return run.label if isinstance(run, Result) else run.scheduler


def _gap(makespan: int, lowest: int) -> str:
    if makespan == lowest:
        return "optimal"
    return f"+{percent(makespan - lowest, lowest)}" if lowest else ""


def corridor(comparison: Comparison) -> list[Bound]:
    """Return the bounds worth drawing.

    The best lower bound comes first, then the critical path, the largest area, Graham-Brent where it holds, and the
    serial time last.
    """
    found = comparison.bounds()
    lower = [bound for bound in found if bound.kind == "lower"]
    best = max(lower, key=lambda bound: bound.value)
    area = max((bound for bound in lower if bound.name.startswith("area")), key=lambda bound: bound.value)
    serial = serial_time(comparison.problem, comparison.actual)
    return [
        Bound("lower bound", best.value, "lower", best.statement, best.name),
        *(bound for bound in lower if bound.name == "critical_path"),
        Bound("area", area.value, "lower", area.statement, area.name),
        *(bound for bound in found if bound.name == "graham_brent"),
        Bound("serial", serial, "upper", "All operators one after the other.", "sum of durations"),
    ]


def _draw_corridor(ax: Axes, limits: Sequence[Bound]) -> None:
    ax.axvspan(limits[0].value, limits[-1].value, color=CORRIDOR, zorder=0, linewidth=0, gid="corridor")
    for bound in limits:
        colour, style, _ = _LOOKS[bound.name]
        ax.axvline(bound.value, color=colour, linestyle=style, linewidth=1.8, zorder=3, gid=f"bound:{bound.name}")


def _bound_legend(ax: Axes, limits: Sequence[Bound], unit: str, *, own: bool) -> None:
    handles = []
    for bound in limits:
        colour, style, name = _LOOKS[bound.name]
        by = f" (by {bound.source})" if bound.name == "lower bound" else ""
        label = f"{name}: {time_text(bound.value, ax.get_xlim()[1], unit)}{by}"
        handles.append(Line2D([], [], color=colour, linestyle=style, linewidth=1.8, label=label))
    if own:
        figure_of(ax).legend(handles=handles, loc="outside lower center", ncols=3)
    else:
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.2), ncols=2, borderaxespad=0)


def _beside(ax: Axes, row: int, text: str) -> None:
    """Write a value into the column to the right, where no line can cross it."""
    ax.text(
        1.01,
        row,
        text,
        transform=ax.get_yaxis_transform(),
        va="center",
        ha="left",
        fontsize=9.5,
        color=INK,
        gid="value",
    )


def _draw_failures(ax: Axes, runs: Sequence[Result | Failure]) -> None:
    """Write why there is no bar, as far as it fits once the layout is known."""
    for row, run in enumerate(runs):
        if isinstance(run, Failure):
            text = fitting(clean(f"no run: {run.message}", 300), inner_size(ax)[0] * 0.9, 9)
            ax.text(
                0.01, row, text, transform=ax.get_yaxis_transform(), va="center", ha="left", color="#CC3311",
                fontsize=9, zorder=5, gid="failure", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip


def _rows(ax: Axes, labels: Sequence[str]) -> None:
    ax.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    ax.set_yticks(range(len(labels)), [clean(label, 40) for label in labels])
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=True, axis="x")


def _draw_peaks(ax: Axes, comparison: Comparison, runs: Sequence[Result | Failure]) -> None:
    """Draw the peak of the device whose memory fills most."""
    device = busiest_device(comparison.results)
    highest = max((result.trace.memory.peak(device) for result in comparison.results), default=0)
    ax.set_xlim(0, highest * 1.45 or 1)
    for row, run in enumerate(runs):
        if isinstance(run, Result):
            peak = run.trace.memory.peak(device)
            ax.barh(row, peak, height=0.62, color="#BBBBBB", zorder=2, gid="peak")
            ax.annotate(
                format_size(peak), (peak, row), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9.5,
                color=INK, gid="peak-value",
            )  # fmt: skip
    show_bytes(ax.xaxis, highest, "peak memory", ticks=3)
    ax.tick_params(axis="y", length=0, labelleft=False)
    ax.grid(visible=True, axis="x")
    if len(comparison.problem.devices) > 1:
        ax.set_title(f"on {clean(comparison.problem.devices[device].name, 16)}")


def _several(comparisons: Sequence[Comparison], ax: Axes | None) -> Axes:
    schedulers = list(dict.fromkeys(result.label for one in comparisons for result in one.results))
    height = 1.6 + len(comparisons) * (0.25 + 0.17 * max(len(schedulers), 1))
    ax = new_axes(ax, 10.5, min(height, 14))
    thick = 0.8 / max(len(schedulers), 1)
    largest = 1.0
    for group, one in enumerate(comparisons):
        lowest = corridor(one)[0].value
        for result in one.results:
            ratio = _ratio(result, lowest)
            largest = max(largest, ratio)
            number = schedulers.index(result.label)
            ax.barh(
                group - 0.4 + (number + 0.5) * thick, ratio, height=thick * 0.9, color=LINES[number % len(LINES)],
                hatch="" if number < len(LINES) else "///", edgecolor="white", linewidth=0.4, zorder=2,
                label=clean(result.label, 40), gid="ratio",
            )  # fmt: skip
            if len(schedulers) * len(comparisons) <= 80:
                _ratio_value(ax, ratio, group - 0.4 + (number + 0.5) * thick)
    _rows(ax, [one.problem.graph.name for one in comparisons])
    ax.axvline(1, color=LOWER_BOUND_LINE, linewidth=1.8, zorder=3, gid="bound:lower bound")
    ax.set_xlim(0, largest * 1.05)
    ax.set_xlabel("makespan / lower bound (1 would be optimal)")
    ax.xaxis.set_major_formatter(lambda value, _: plain_number(value))
    hardware = list(dict.fromkeys(one.problem.hardware.name for one in comparisons))
    ax.set_title(clean(f"makespan by scheduler on {', '.join(hardware)}", 90))
    handles, labels = ax.get_legend_handles_labels()
    first = {label: handle for handle, label in reversed(list(zip(handles, labels, strict=True)))}
    if first:
        names = [clean(scheduler, 40) for scheduler in schedulers]
        ax.legend([first[name] for name in names], names, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    settle(ax)
    return ax


def _ratio_value(ax: Axes, ratio: float, at: float) -> None:
    ax.annotate(
        f"{ratio:.2f}", (ratio, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7.5, color=INK,
        gid="value", zorder=5, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3},
    )  # fmt: skip


def _ratio(result: Result, lowest: int) -> float:
    return result.makespan / lowest if lowest else 1.0
