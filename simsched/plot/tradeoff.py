"""Time against peak memory, with the runs that no other run beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simsched.analysis.bounds import lower_bound
from simsched.plot.figure import new_axes, settle
from simsched.plot.memory import busiest_device, say_no_memory
from simsched.plot.scales import show_bytes, show_time, time_text
from simsched.plot.style import CAPACITY_LINE, INK, LINES, LOWER_BOUND_LINE, MARKERS, clean, styled
from simsched.result import Comparison, Result
from simsched.units import format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[int, int]


@styled
def plot_tradeoff(runs: Comparison | Sequence[Result], *, device: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw each run as a point of makespan and peak memory; the Pareto front is joined by a line.

    Parameters
    ----------
    runs : Comparison or sequence of Result
        Runs of one graph; capacities may differ.
    device : int, optional
        The device whose memory is meant; by default the one that fills most.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Data are ns and bytes.
    """
    results = list(runs.results if isinstance(runs, Comparison) else runs)
    ax = new_axes(ax, 9.5, 5.2)
    ax.grid(visible=True)
    if not results:
        return ax
    problem = results[0].problem
    device = busiest_device(results) if device is None else device
    points = [(result.makespan, result.trace.memory.peak(device)) for result in results]
    _limits(ax, results, points, device)
    _front(ax, points)
    for number, (own, names) in enumerate(_groups(results, points).items()):
        ax.plot(
            [time for time, _ in own], [peak for _, peak in own], linestyle="none", markersize=9,
            marker=MARKERS[number % len(MARKERS)], color=LINES[number % len(LINES)], markeredgecolor="white",
            markeredgewidth=0.8, label=_label(ax, names, own, problem.graph.time_unit), gid="run", zorder=4,
            clip_on=False,
        )  # fmt: skip
    ax.set_title(clean(f"{problem.graph.name} on {problem.hardware.name}: makespan against peak memory", 90))
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    settle(ax)
    return ax


def pareto(points: Sequence[Point]) -> list[int]:
    """Return the indices of the points that no other point beats, by their first value.

    A point beats another that is no better in either value; of equal points the first is kept.

    Examples
    --------
    >>> pareto([(5, 1), (3, 3), (4, 4), (3, 3), (2, 9)])
    [4, 1, 0]
    """
    front = []
    least: int | None = None
    for index in sorted(range(len(points)), key=lambda number: (*points[number], number)):
        if least is None or points[index][1] < least:
            front.append(index)
            least = points[index][1]
    return front


def _groups(results: Sequence[Result], points: Sequence[Point]) -> dict[tuple[Point, ...], list[str]]:
    """Return the points of each scheduler; schedulers with the same points share a marker."""
    own: dict[str, list[Point]] = {}
    for result, point in zip(results, points, strict=True):
        own.setdefault(result.label, []).append(point)
    groups: dict[tuple[Point, ...], list[str]] = {}
    for name, places in own.items():
        groups.setdefault(tuple(places), []).append(name)
    return groups


def _label(ax: Axes, names: Sequence[str], points: Sequence[Point], unit: str) -> str:
    joined = ",\n".join(clean(name, 40) for name in names)
    if len(points) > 1:
        return f"{joined} ({len(points)} runs)"
    return f"{joined}: {time_text(points[0][0], ax.get_xlim()[1], unit)}, {format_size(points[0][1])}"


def _limits(ax: Axes, results: Sequence[Result], points: Sequence[Point], device: int) -> None:
    """Frame the points with room around them; draw the lower bound and the capacity where they are near."""
    problem = results[0].problem
    bound = lower_bound(problem, actual=results[0].actual).value
    times, peaks = [time for time, _ in points], [peak for _, peak in points]
    span = max(max(times) - min(times), max(times) // 10, 1)
    left, right = min(times) - 0.12 * span, max(times) + 0.12 * span
    if bound >= min(times) - 0.6 * span:
        left = min(left, bound - 0.05 * span)
        label = f"lower bound on the makespan: {time_text(bound, right, problem.graph.time_unit)}"
        ax.axvline(bound, color=LOWER_BOUND_LINE, linewidth=1.6, linestyle=(0, (5, 2)), gid="lower-bound", label=label)
    ax.set_xlim(left, right)
    capacity = problem.devices[device].capacity
    top = max(peaks)
    if capacity is not None and capacity <= 1.6 * top:
        label = f"capacity: {format_size(capacity)}"
        ax.axhline(capacity, color=CAPACITY_LINE, linewidth=1.4, linestyle=(0, (6, 2)), gid="capacity", label=label)
        top = max(top, capacity)
    if max(peaks) == min(peaks):  # nothing to magnify: the axis from zero says that memory does not differ
        ax.set_ylim(0, 1.3 * top or 1)
    else:
        rise = top - min(peaks)
        ax.set_ylim(max(min(peaks) - 0.15 * rise, 0), top + 0.15 * rise)
    if not top:
        say_no_memory(ax)
    show_time(ax.xaxis, right, problem.graph.time_unit, "makespan")
    show_bytes(ax.yaxis, top, "peak memory")


def _front(ax: Axes, points: Sequence[Point]) -> None:
    """Join the front by steps: in the corner to the upper right of each step everything is beaten."""
    front = [points[index] for index in pareto(points)]
    times, peaks = [float(time) for time, _ in front], [float(peak) for _, peak in front]
    ax.plot(times, peaks, drawstyle="steps-post", color=INK, linewidth=1.2, zorder=3, gid="front", label="Pareto front")
    ax.plot(times, peaks, "o", markersize=14, markerfacecolor="none", markeredgecolor=INK, zorder=3, gid="front-points")
