"""Memory over time: one run under its Gantt chart, or several schedulers on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simsched.plot.figure import new_axes, settle
from simsched.plot.scales import show_bytes, show_time, time_text
from simsched.plot.style import CAPACITY_LINE, INK, LINES, MUTED, clean, percent, styled
from simsched.problem import Problem
from simsched.result import Comparison, Result
from simsched.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Steps = list[tuple[int, int]]

_FAR_ABOVE = 3
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))


def memory_curve(result: Result, device: int) -> Steps:
    """Return the steps ``(time, live bytes)`` of one device from time 0 to the makespan."""
    steps = result.trace.memory.curve(device)
    if not steps or steps[0][0] > 0:
        steps.insert(0, (0, 0))
    if result.makespan > steps[-1][0]:
        steps.append((result.makespan, steps[-1][1]))
    return steps


def busiest_device(results: Sequence[Result]) -> int:
    """Find the device whose memory fills most, seen over all runs; the first of equals."""
    devices = range(len(results[0].problem.devices)) if results else range(0)
    peaks = [max(result.trace.memory.peak(device) for result in results) for device in devices]
    return peaks.index(max(peaks)) if peaks else 0


def resident_bytes(problem: Problem, device: int) -> int:
    """Bytes of weights and graph inputs, which are resident from time 0; 0 where several devices may share them."""
    if len(problem.devices) > 1 or device:
        return 0
    sizes = zip(problem.graph.tensor_bytes, problem.graph.tensor_kinds, strict=True)
    return sum(size for size, kind in sizes if kind.persistent)


@styled
def plot_memory(runs: Comparison | Result, *, device: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw live bytes over time, a line per scheduler, with the peak of each and the capacity.

    Runs with the same curve share a line. Where weights and inputs are most of the memory, the axis starts there.

    Parameters
    ----------
    runs : Comparison or Result
    device : int, optional
        The device whose memory fills most by default.
    ax : Axes, optional
        Where to draw; a new figure by default.
    """
    results = runs.results if isinstance(runs, Comparison) else (runs,)
    problem = runs.problem
    ax = new_axes(ax, 9.5, 4.6)
    device = busiest_device(results) if device is None else device
    curves: dict[tuple[tuple[int, int], ...], list[Result]] = {}
    for result in results:
        curves.setdefault(tuple(memory_curve(result, device)), []).append(result)
    highest = max((live for curve in curves for _, live in curve), default=0)
    if results and not highest:
        say_no_memory(ax)
    show_range(ax, problem, device, highest)
    ax.set_xlim(0, max([result.makespan for result in results], default=0) * 1.02 or 1)
    for number, (curve, equal) in enumerate(curves.items()):
        draw_curve(ax, list(curve), number, _label(ax, equal, max(live for _, live in curve)))
    name = clean(f"{problem.graph.name} on {problem.hardware.name}", 80)
    where = f", memory of {clean(problem.devices[device].name, 20)}" if len(problem.devices) > 1 else ""
    ax.set_title(f"{name}: live memory{where}")
    show_time(ax.xaxis, ax.get_xlim()[1], problem.graph.time_unit)
    ax.grid(visible=True, axis="y")
    if results:
        title = "scheduler: peak, makespan"
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), title=title, alignment="left", borderaxespad=0)
    settle(ax)
    return ax


def _label(ax: Axes, equal: Sequence[Result], peak: int) -> str:
    unit = equal[0].problem.graph.time_unit
    names = ",\n".join(clean(result.label, 40) for result in equal)
    return f"{names}: {format_size(peak)}, {time_text(equal[0].makespan, ax.get_xlim()[1], unit)}"


def draw_curve(ax: Axes, steps: Steps, number: int, label: str, *, fill: bool = False) -> None:
    """Draw one curve and mark the first instant of its peak."""
    colour = LINES[number % len(LINES)]
    times = [float(time) for time, _ in steps]
    live = [float(value) for _, value in steps]
    dashes = _DASHES[number // len(LINES) % len(_DASHES)]
    ax.plot(
        times, live, drawstyle="steps-post", color=colour, linewidth=1.8, linestyle=dashes, label=label, gid="memory"
    )
    if fill:
        ax.fill_between(times, live, ax.get_ylim()[0], step="post", color=colour, alpha=0.22, linewidth=0)
    top = max(live)
    if top > 0:
        ax.plot([times[live.index(top)]], [top], "o", color=colour, markersize=5.5, gid="peak")


def show_range(ax: Axes, problem: Problem, device: int, peak: int, *, ticks: int = 7) -> None:
    """Scale the memory axis, and draw what is resident and the capacity.

    A capacity far above every peak is written as text instead; where more than half of the peak is resident all the
    time, the axis starts there.
    """
    capacity = problem.devices[device].capacity
    near = capacity is not None and capacity <= _FAR_ABOVE * peak
    top = max(peak, capacity if near and capacity is not None else 0)
    resident = resident_bytes(problem, device)
    floor = resident if 2 * resident > peak > resident else 0
    bottom = floor - 0.22 * (peak - floor) if floor else 0.0
    ax.set_ylim(bottom, max(peak + 0.3 * (peak - floor), top + 0.14 * (top - floor)) or 1)
    show_bytes(ax.yaxis, top, ticks=ticks)
    inside = ax.get_yaxis_transform()
    if resident and resident < peak:
        text = f"weights and inputs {format_size(resident)}" + ("; the axis is cut below" if floor else "")
        ax.axhline(resident, color=MUTED, linewidth=1, linestyle=(0, (1, 1.5)), gid="resident")
        ax.annotate(
            text, (0.995, resident), xycoords=inside, xytext=(0, -3), textcoords="offset points", ha="right", va="top",
            color=MUTED, fontsize=9, gid="resident-label",
        )  # fmt: skip
    if capacity is None:
        return
    text = f"capacity {format_size(capacity)}"
    if near:
        ax.axhline(capacity, color=CAPACITY_LINE, linewidth=1.4, linestyle=(0, (6, 2)), gid="capacity")
        ax.text(0.995, capacity, text, transform=inside, ha="right", va="bottom", color=CAPACITY_LINE)
    else:
        share = f"{text} is far above: the peak is {percent(peak, capacity)} of it"
        ax.text(
            0.995, 0.97, share, transform=ax.transAxes, ha="right", va="top", color=MUTED, fontsize=9, gid="capacity"
        )


def say_no_memory(ax: Axes) -> None:
    """Write across an empty picture why it is empty."""
    ax.text(
        0.5, 0.5, "the operators of this graph hold no memory: it states no tensors", transform=ax.transAxes,
        ha="center", va="center", color=MUTED, gid="no-memory",
    )  # fmt: skip


def mark_peak(ax: Axes, steps: Steps, text: str) -> None:
    """Write the peak beside its marker, on the side where there is room."""
    peak = max(live for _, live in steps)
    first = next(time for time, live in steps if live == peak)
    right = first < 0.7 * ax.get_xlim()[1]
    offset = (4, 4) if right else (-4, 4)
    ax.annotate(
        text, (first, peak), xytext=offset, textcoords="offset points",
        ha="left" if right else "right", va="bottom", color=INK, fontsize=9.5, gid="peak-label",
    )  # fmt: skip
