"""What the Gantt chart by SM draws, as plain numbers: which part of each SM each kernel takes, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from simsched.cost.occupancy import occupancy
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Cohort, Trace


class SmBar(NamedTuple):
    """Blocks of one kernel on one SM, or of several kernels that are too short to be told apart.

    Attributes
    ----------
    sm : int
    start, end : int
        ns.
    low, high : float
        Which part of the SM they take, from 0 to 1.
    op : int
        Of several kernels, the one with the most time.
    """

    sm: int
    start: int
    end: int
    low: float
    high: float
    op: OpId


class Stay(NamedTuple):
    """Blocks of one kernel on one SM from their placement to their end, and the part of the SM that they need."""

    start: int
    end: int
    part: float
    op: OpId


@dataclass(frozen=True, slots=True)
class SmChart:
    """The SMs of one device, and what is on them.

    Attributes
    ----------
    device : int
    sms : int
    bars : tuple of SmBar
        By SM, then by start.
    used : float
        Part of the time of all SMs, up to the makespan, in which an SM has a block.
    resolution : int
        Bars shorter than this many ns are merged with their neighbours; 0 when everything is exact.
    """

    device: int
    sms: int
    bars: tuple[SmBar, ...]
    used: float
    resolution: int = 0


def devices_with_blocks(problem: Problem, trace: Trace) -> list[int]:
    """Devices on which blocks were placed, ascending."""
    return sorted({problem.stream_device[trace.stream[row.op]] for row in trace.cohorts if row.places})


def sm_chart(problem: Problem, trace: Trace, device: int, exact_up_to: int = 40_000, columns: int = 1000) -> SmChart:
    """Arrange a run by SM.

    Parameters
    ----------
    problem : Problem
    trace : Trace
    device : int
    exact_up_to : int
        Where there are more bars, those narrower than ``1/columns`` of the makespan become part of a longer one.
    """
    placed = [
        row for row in trace.cohorts if row.start < row.end and problem.stream_device[trace.stream[row.op]] == device
    ]
    placed.sort(key=lambda row: (row.start, row.op, row.wave))
    stays = _stays(problem, device, placed)
    # Many SMs have had the same blocks at the same times.
    known: dict[tuple[Stay, ...], list[SmBar]] = {}
    by_sm: list[list[SmBar]] = []
    for sm, history in enumerate(map(tuple, stays)):
        if history not in known:
            known[history] = stacked(history)
        by_sm.append([bar._replace(sm=sm) for bar in known[history]])
    resolution = 0
    if sum(map(len, by_sm)) > exact_up_to:
        resolution = max(trace.makespan // columns, 1)
        by_sm = [_merged(bars, resolution) for bars in by_sm]
    busy = sum(map(_covered, stays))
    used = busy / (trace.makespan * len(stays)) if trace.makespan else 0.0
    return SmChart(device, len(stays), tuple(bar for bars in by_sm for bar in bars), used, resolution)


def _stays(problem: Problem, device: int, placed: Sequence[Cohort]) -> list[list[Stay]]:
    """What each SM had, in the order of placement."""
    described = problem.devices[device]
    stays: list[list[Stay]] = [[] for _ in range(described.sms)]
    for row in placed:
        cost = problem.cost(row.op, device)
        fitting = 1 if cost.block is None or not cost.grid else occupancy(cost.block, described.sm_limits).blocks
        for sm, count in row.places:
            stays[sm].append(Stay(row.start, row.end, count / fitting, row.op))
    return stays


def stacked(stays: Sequence[Stay]) -> list[SmBar]:
    """Stack what is on an SM at the same time, earlier placed below, within a height of 1.

    A kernel that would fit n times alone takes 1/n for each of its blocks. Kernels that are limited by different things
    can together need more than one whole; then all are drawn lower for as long as that lasts. A bar ends, and another
    begins, where its height or place changes.

    Examples
    --------
    >>> [tuple(bar) for bar in stacked([Stay(0, 5, 0.5, 7), Stay(2, 9, 0.25, 8)])]
    [(0, 0, 5, 0.0, 0.5, 7), (0, 2, 5, 0.5, 0.75, 8), (0, 5, 9, 0.0, 0.25, 8)]
    """
    times = sorted({time for stay in stays for time in (stay.start, stay.end)})
    latest: dict[int, int] = {}  # for each stay, its last bar
    bars: list[SmBar] = []
    coming = 0
    here: list[int] = []
    for now, then in pairwise(times):
        here = [number for number in here if stays[number].end > now]
        while coming < len(stays) and stays[coming].start <= now:
            here.append(coming)
            coming += 1
        scale = max(1.0, sum(stays[number].part for number in here))
        low = 0.0
        for number in here:
            stay = stays[number]
            high = low + stay.part / scale
            last = latest.get(number, -1)
            if last >= 0 and (bars[last].low, bars[last].high) == (low, high):
                bars[last] = bars[last]._replace(end=then)
            else:
                latest[number] = len(bars)
                bars.append(SmBar(0, now, then, low, high, stay.op))
            low = high
    return bars


def _merged(bars: Sequence[SmBar], resolution: int) -> list[SmBar]:
    """Let neighbours that are short become one bar, as high as the highest of them."""
    found: list[SmBar] = []
    times: dict[OpId, int] = {}
    for bar in bars:
        short = bar.end - bar.start < resolution
        last = found[-1] if found else None
        if last is None or not short or last.end - last.start >= resolution or bar.start - last.end >= resolution:
            found.append(bar)
            times = {bar.op: bar.end - bar.start}
            continue
        times[bar.op] = times.get(bar.op, 0) + bar.end - bar.start
        most = min(times, key=lambda op: (-times[op], op))
        found[-1] = SmBar(bar.sm, last.start, max(last.end, bar.end), 0.0, max(last.high, bar.high), most)
    return found


def _covered(stays: Sequence[Stay]) -> int:
    """Time in which an SM has a block, in ns; stays are sorted by their start."""
    covered = free = 0
    for stay in stays:
        if stay.end > free:
            covered += stay.end - max(stay.start, free)
            free = stay.end
    return covered
