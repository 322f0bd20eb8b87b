"""The roofline of a device with the operators of a graph on it.

Williams, Waterman, Patterson: "Roofline: an insightful visual performance model for multicore architectures",
Communications of the ACM 52(4), 2009. https://doi.org/10.1145/1498765.1498785
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from simsched.colours import type_colours
from simsched.cost.peaks import Fp32Math, Peak, find_peak
from simsched.cost.registry import work_of
from simsched.graph.model import OpId
from simsched.hardware import Device
from simsched.plot.figure import new_axes, settle
from simsched.plot.legend import type_patches
from simsched.plot.style import INK, LINES, MUTED, clean, duration_text, styled
from simsched.problem import Problem
from simsched.units import format_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Dots:
    """Operators on the roofline.

    Attributes
    ----------
    ops : tuple of int
        Operators with FLOPs, bytes and a duration.
    views : int
        Operators that take no time on this device.
    moves : int
        Operators that compute nothing and only move bytes.
    unknown : int
        Operators whose work is not known, so that only a duration is.
    """

    ops: tuple[OpId, ...]
    views: int
    moves: int
    unknown: int


@styled
def plot_roofline(problem: Problem, *, device: int = 0, fp32_math: Fp32Math = "fp32", ax: Axes | None = None) -> Axes:
    """Draw FLOP/s against arithmetic intensity: the roof of a device, and an operator a dot.

    The area of a dot is its share of the time, its colour the operator type. Roofs are peaks and bandwidth times the
    efficiency that the profile states. Dots lie below the roof by what a launch costs, and by the SMs that a kernel
    is too small to fill.

    Parameters
    ----------
    problem : Problem
    device : int
    fp32_math : {"fp32", "tf32"}
        The setting of the cost model that the problem was made with.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Data are FLOP per byte and FLOP/s, both logarithmic.
    """
    ax = new_axes(ax, 10.5, 5.8)
    described = problem.devices[device]
    ax.set_title(clean(f"{problem.graph.name} on {problem.hardware.name}: roofline of {described.name}", 90))
    dots = dots_of(problem, device)
    roofs = _roofs(problem, described, fp32_math)
    slope = described.memory_bandwidth
    if slope is None or not roofs:
        text = f"{clean(described.name, 30)} has no peaks or no bandwidth in its profile: there is no roof to draw"
        ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=MUTED, gid="empty")
        ax.set_axis_off()
        settle(ax)
        return ax
    slope *= described.efficiency.bandwidth
    _frame(ax, problem, device, dots, roofs, slope)
    lines = _draw_roofs(ax, described, roofs, slope)
    colours = type_colours(problem.graph.op_types)
    _draw_dots(ax, problem, device, dots, colours)
    _draw_legend(ax, problem, device, dots, colours, lines)
    settle(ax)
    return ax


def dots_of(problem: Problem, device: int) -> Dots:
    """Sort the operators of a problem by what a roofline can show of them."""
    shown, views, moves, unknown = [], 0, 0, 0
    for op in range(len(problem.graph)):
        cost = problem.cost(op, device)
        if cost.duration and cost.flops and cost.bytes:
            shown.append(op)
        elif not cost.duration:
            views += 1
        elif cost.bytes:
            moves += 1
        else:
            unknown += 1
    return Dots(tuple(shown), views, moves, unknown)


def _roofs(problem: Problem, device: Device, fp32_math: Fp32Math) -> list[tuple[Peak, bool]]:
    """Peaks of the device, highest first, and whether an operator of the graph uses each; equal ones are merged."""
    used: dict[str, Peak] = {}
    for op in range(len(problem.graph)):
        work = work_of(problem.graph, op)
        if work.unit != "none" and work.flops:
            peak = find_peak(device, work.unit, work.dtype, fp32_math)
            if peak is not None:
                used[peak.name] = peak
    wanted = {"vector": ("fp32",), "matrix": ("tf32", "fp16", "bf16")}
    others: dict[str, Peak] = {}
    for unit, share in (("vector", device.efficiency.vector), ("matrix", device.efficiency.matrix)):
        for dtype, rate in device.peaks.get(unit, {}).items():
            name = f"{unit}.{dtype}"
            if dtype in wanted[unit] and name not in used:
                others[name] = Peak(name, rate, share)
    merged: dict[tuple[float, bool], Peak] = {}
    for peaks, flag in ((used, True), (others, False)):
        for peak in peaks.values():
            key = (peak.rate * peak.efficiency, flag)
            known = merged.get(key)
            merged[key] = peak if known is None else known._replace(name=f"{known.name}, {peak.name.partition('.')[2]}")
    return [(merged[key], key[1]) for key in sorted(merged, reverse=True)]


def _frame(
    ax: Axes, problem: Problem, device: int, dots: Dots, roofs: Sequence[tuple[Peak, bool]], slope: float
) -> None:
    heights = [peak.rate * peak.efficiency for peak, _ in roofs]
    costs = [problem.cost(op, device) for op in dots.ops]
    x = [cost.intensity for cost in costs]
    y = [cost.flops * 1e9 / cost.duration for cost in costs]
    left = min([min(heights) / slope / 30, *(value / 2 for value in x)])
    right = max([max(heights) / slope * 12, *(value * 4 for value in x)])
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(left, right)
    ax.set_ylim(min([left * slope, *(value / 2 for value in y)]), max([*heights, *y]) * 3)
    ax.set_xlabel("arithmetic intensity (FLOP / byte)")
    ax.set_ylabel("FLOP/s")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    ax.yaxis.set_major_formatter(lambda value, _: _short_rate(value))
    ax.grid(visible=True)
    ax.minorticks_off()


def _short_rate(value: float) -> str:
    for factor, prefix in _PREFIXES:
        if value >= factor:
            return f"{value / factor:g} {prefix}"
    return f"{value:g}"


def _draw_roofs(ax: Axes, device: Device, roofs: Sequence[tuple[Peak, bool]], slope: float) -> list[Line2D]:
    """Draw the slope up to the highest roof, and each roof from where the slope reaches it; labels go to the legend."""
    left, right = ax.get_xlim()
    top = roofs[0][0].rate * roofs[0][0].efficiency
    lines = []
    for number, (peak, used) in enumerate(roofs):
        height = peak.rate * peak.efficiency
        text = f"{peak.name.replace('.', ' ')}: {format_rate(peak.rate, 'FLOP/s')} × {peak.efficiency:g}"
        lines += ax.plot(
            [height / slope, right], [height, height], color=LINES[number % len(LINES)] if used else "#AAAAAA",
            linestyle="-" if used else (0, (4, 2)), linewidth=2.4 if used else 1.2, zorder=2,
            gid="roof" if used else "other-roof", label=text if used else f"{text}\n(used by no operator here)",
        )  # fmt: skip
    text = f"memory: {format_rate(device.memory_bandwidth or 0.0, 'B/s')} × {device.efficiency.bandwidth:g}"
    lines += ax.plot(
        [left, top / slope], [left * slope, top], color=INK, linewidth=2.4, gid="slope", label=text, zorder=2
    )
    return lines


def _draw_dots(ax: Axes, problem: Problem, device: int, dots: Dots, colours: Mapping[str, str]) -> None:
    """Draw large dots first, so that small ones stay visible on top of them."""
    longest = max((problem.cost(op, device).duration for op in dots.ops), default=1)
    order = sorted(dots.ops, key=lambda op: (-problem.cost(op, device).duration, op))
    costs = [problem.cost(op, device) for op in order]
    ax.scatter(
        [cost.intensity for cost in costs], [cost.flops * 1e9 / cost.duration for cost in costs],
        s=[18 + 330 * cost.duration / longest for cost in costs],
        c=[colours[problem.graph.op_types[op]] for op in order],
        edgecolors="#333333", linewidths=0.6, alpha=0.9, zorder=3, gid="operators",
    )  # fmt: skip


def _draw_legend(
    ax: Axes, problem: Problem, device: int, dots: Dots, colours: Mapping[str, str], lines: Sequence[Line2D]
) -> None:
    shown = {problem.graph.op_types[op] for op in dots.ops}
    entries: list[Patch | Line2D] = [*lines, *type_patches(colours, shown, "#333333")]
    longest = max((problem.cost(op, device).duration for op in dots.ops), default=0)
    if longest:
        label = f"{duration_text(longest, problem.graph.time_unit)} (area is time)"
        look = {"marker": "o", "color": "none", "markeredgecolor": "#333333", "markerfacecolor": "white"}
        entries.append(Line2D([], [], markersize=18.6, label=label, **look))  # type: ignore[arg-type]
    ax.legend(handles=entries, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, labelspacing=0.7)
    reasons = {"without duration (views)": dots.views, "that only move bytes": dots.moves}
    reasons["of unknown work"] = dots.unknown
    notes = [f"{count} {reason}" for reason, count in reasons.items() if count]
    if notes:
        ax.annotate(
            "\n".join(["not shown:", *notes]), (1.01, 0), xycoords="axes fraction", ha="left", va="bottom", fontsize=9,
            color=MUTED, gid="left-out", xytext=(4, 0), textcoords="offset points",
        )  # fmt: skip
