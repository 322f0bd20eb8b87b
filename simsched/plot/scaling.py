"""Speed-up against the number of lanes or SMs, between Amdahl's bound and Amdahl's model."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from simsched.analysis.bounds import amdahl_rigorous, amdahl_textbook, lower_bound
from simsched.analysis.capacity import Case, bound_case
from simsched.analysis.metrics import serial_time
from simsched.analysis.serial_work import serial_work
from simsched.plot.figure import new_axes, settle
from simsched.plot.scales import plain_number
from simsched.plot.style import LINES, LOWER_BOUND_LINE, MARKERS, MUTED, clean, percent, styled
from simsched.problem import Problem
from simsched.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@styled
def plot_scaling(results: Sequence[Result], *, count: str = "auto", ax: Axes | None = None) -> Axes:
    """Draw the speed-up of one graph over its serial work, a line per scheduler, against the size of the hardware.

    Three limits are drawn for comparison, each named for what it is: the best lower bound on the makespan of each
    size (no run is above this line), Amdahl's law with the work that provably runs beside nothing (also a bound), and
    the textbook's curve with the critical path as the serial part (a model: runs may be above or below it).

    Parameters
    ----------
    results : sequence of Result
        Runs of one graph on hardware of different sizes.
    count : str
        What to count as size: ``"streams"``, or a renewable resource such as ``"sms"``; ``"auto"`` takes SMs where
        their number differs between the runs, else streams.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Data are machine counts and speed-ups.
    """
    ax = new_axes(ax, 9.5, 5.2)
    ax.grid(visible=True)
    ax.set_ylabel("speed-up over serial work")
    if not results:
        ax.set_xlabel("streams")
        return ax
    kind = _kind(results) if count == "auto" else count
    sizes = sorted({machines(result.problem, kind) for result in results})
    schedulers = list(dict.fromkeys(result.label for result in results))
    for number, scheduler in enumerate(schedulers):
        thick = 1 - number / len(schedulers)  # lines that coincide must all be seen: later ones are thinner
        own = sorted((machines(run.problem, kind), _speed_up(run)) for run in results if run.label == scheduler)
        ax.plot(
            [size for size, _ in own], [gain for _, gain in own], color=LINES[number % len(LINES)],
            linewidth=1.4 + 2 * thick, marker=MARKERS[number % len(MARKERS)], markersize=4.5 + 4 * thick,
            label=clean(scheduler, 40), zorder=3,
            gid="scheduler",
        )  # fmt: skip
    most = _draw_limits(ax, results, kind)
    name = _axis_name(results, kind)
    _scale(ax, sizes, name, max(most, *(_speed_up(result) for result in results)))
    ax.set_title(clean(f"{_subject(results)}: speed-up against {_NAMES.get(kind, kind)}", 90))
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    settle(ax)
    return ax


_NAMES = {"streams": "streams", "sms": "SMs"}


def _subject(results: Sequence[Result]) -> str:
    """Name the graph, and the hardware where all sizes of it have one name; lanes are named without their number."""
    graphs = dict.fromkeys(result.problem.graph.name for result in results)
    hardware = list(dict.fromkeys(result.problem.hardware.name for result in results))
    if all(name.startswith("lanes:") for name in hardware):
        hardware = ["identical lanes"]
    return ", ".join(graphs) + (f" on {hardware[0]}" if len(hardware) == 1 else "")


def machines(problem: Problem, kind: str) -> int:
    """Count the streams, or units of a resource, over all devices."""
    if kind == "streams":
        return len(problem.stream_device)
    return sum(device.resources.get(kind, 0) for device in problem.devices)


def _kind(results: Sequence[Result]) -> str:
    """What differs between the runs: SMs before streams; streams where neither does."""
    return "sms" if len({machines(result.problem, "sms") for result in results}) > 1 else "streams"


def _speed_up(result: Result) -> float:
    work = serial_time(result.problem, result.actual)
    return work / result.makespan if result.makespan else 1.0


def _draw_limits(ax: Axes, results: Sequence[Result], kind: str) -> float:
    """Draw the bound of each size, and Amdahl's curves where machines are lanes; return the highest limit.

    Runs of one size may differ in the durations that came true: the limit is the highest of theirs.
    """
    runs = {(machines(run.problem, kind), id(run.problem), id(run.actual)): run for run in results}
    highest: dict[int, float] = {}
    for (size, _, _), run in sorted(runs.items(), key=lambda item: item[0][0]):
        bound, work = lower_bound(run.problem, actual=run.actual).value, serial_time(run.problem, run.actual)
        highest[size] = max(highest.get(size, 0.0), work / bound if bound else 1.0)
    sizes, gains = list(highest), list(highest.values())
    ax.plot(sizes, gains, color=LOWER_BOUND_LINE, linewidth=1.2, zorder=2, gid="limit")
    ceiling = 10 * max(gains)
    ax.fill_between(
        sizes,
        gains,
        ceiling,
        color=LOWER_BOUND_LINE,
        alpha=0.13,
        linewidth=0,
        label="beyond the lower bound",
        gid="beyond",
    )
    if kind == "streams" and len({serial_time(run.problem, run.actual) for run in results}) == 1:
        _draw_amdahl(ax, min(results, key=lambda run: machines(run.problem, kind)), sizes)
    return max(gains)


def _draw_amdahl(ax: Axes, result: Result, marks: Sequence[int]) -> None:
    """Draw the bound, and for one device the textbook's curve.

    On several devices the bound counts shortest durations, while the speed-up is over the device that is best for
    all: ``total`` is more than ``work`` there, and the textbook, which knows one kind of machine, says nothing.
    """
    case: Case = bound_case(result.problem, result.actual)
    work, total = case.work, serial_time(result.problem, result.actual)
    if not work:
        return
    alone = len(result.problem.devices) == 1
    serial = serial_work(result.problem.graph, case.shortest)
    first = 1 if alone else marks[0]
    sizes = list(range(first, marks[-1] + 1)) if marks[-1] <= 512 else sorted({first, *marks})
    ax.plot(
        sizes, [float(total / amdahl_rigorous(work, serial, size)) for size in sizes], color="#222222", linewidth=1.4,
        linestyle=(0, (6, 2)), zorder=2, gid="amdahl",
        label=f"Amdahl, a bound:\n{percent(serial, work)} of the work runs alone",
    )  # fmt: skip
    if not alone:
        return
    fraction = Fraction(case.path, work)
    ax.plot(
        sizes, [float(work / amdahl_textbook(work, fraction, size)) for size in sizes], color=MUTED, linewidth=1.4,
        linestyle=(0, (1, 1.5)), zorder=2, gid="amdahl-textbook",
        label=f"Amdahl, textbook model, no bound:\nf = CP / W = {float(fraction):.3f}",
    )  # fmt: skip


def _axis_name(results: Sequence[Result], kind: str) -> str:
    """Say what is counted; only under the model ``lanes`` is a stream a machine."""
    machine = all(device.model == "lanes" for result in results for device in result.problem.devices)
    return "streams (lanes)" if kind == "streams" and machine else _NAMES.get(kind, kind)


def _scale(ax: Axes, sizes: Sequence[int], name: str, top: float) -> None:
    """Give doubling sizes equal steps; otherwise a linear axis."""
    if len(sizes) > 2 and sizes[-1] / max(sizes[0], 1) >= 8:
        ax.set_xscale("log", base=2)
    ax.set_xticks(sizes if len(sizes) <= 14 else sizes[:: -(-len(sizes) // 14)])
    ax.minorticks_off()
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: plain_number(value))
    ax.set_xlabel(name)
    ax.set_ylim(0, top * 1.25)
