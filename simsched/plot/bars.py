"""What a Gantt chart draws, as plain numbers: rows, bars, gaps and markers of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Trace


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: an operator, or a run of operators that are too short to be told apart.

    Attributes
    ----------
    row : int
    start, end : int
        ns.
    op_type : str
        For a run of operators, the type with the most time.
    ops : tuple of int
    """

    row: int
    start: int
    end: int
    op_type: str
    ops: tuple[OpId, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows from the top, and what is in them.

    Attributes
    ----------
    streams : tuple of int
        Stream of each row; streams that ran nothing have none.
    bars : tuple of Bar
    gaps : tuple of (row, start, end)
        Idle time of each row, up to the makespan.
    marks : tuple of (row, time, operator)
        Operators that take no time.
    resolution : int
        Bars and gaps shorter than this many ns are merged with their neighbours; 0 when everything is exact.
    """

    streams: tuple[int, ...]
    bars: tuple[Bar, ...]
    gaps: tuple[tuple[int, int, int], ...]
    marks: tuple[tuple[int, int, OpId], ...]
    resolution: int = 0


def chart_of(problem: Problem, trace: Trace, exact_up_to: int = 2000, columns: int = 2000) -> Chart:
    """Arrange a run in rows.

    Parameters
    ----------
    problem : Problem
    trace : Trace
    exact_up_to : int
        Runs with more operators are merged: what is narrower than ``1/columns`` of the makespan becomes part of a
        longer bar, so that the number of bars stays bounded.
    """
    resolution = 0 if len(trace) <= exact_up_to else max(trace.makespan // columns, 1)
    rows: dict[int, list[OpId]] = {}
    for op in trace.start_order:
        rows.setdefault(trace.stream[op], []).append(op)
    streams = tuple(sorted(rows))
    bars: list[Bar] = []
    gaps: list[tuple[int, int, int]] = []
    marks: list[tuple[int, int, OpId]] = []
    for row, stream in enumerate(streams):
        timed = [op for op in rows[stream] if trace.end[op] > trace.start[op]]
        marks += [(row, trace.start[op], op) for op in rows[stream] if trace.end[op] == trace.start[op]]
        own = _row_bars(row, timed, problem.graph.op_types, trace, resolution)
        gaps += _row_gaps(row, own, trace.makespan, resolution)
        bars += own
    return Chart(streams, tuple(bars), tuple(gaps), tuple(marks), resolution)


@dataclass(slots=True)
class _Run:
    """Neighbouring operators that become one bar."""

    start: int
    end: int
    ops: list[OpId] = field(default_factory=list)
    share: dict[str, int] = field(default_factory=dict)

    def add(self, op: OpId, op_type: str, start: int, end: int) -> None:
        self.ops.append(op)
        self.share[op_type] = self.share.get(op_type, 0) + end - start
        self.end = end


def _row_bars(row: int, ops: Sequence[OpId], types: Sequence[str], trace: Trace, resolution: int) -> list[Bar]:
    runs: list[_Run] = []
    for op in ops:
        start, end = trace.start[op], trace.end[op]
        short = end - start < resolution
        last = runs[-1] if runs else None
        open_run = last is not None and last.end - last.start < resolution and start - last.end < resolution
        if not (short and open_run):
            last = _Run(start, end)
            runs.append(last)
        assert last is not None
        last.add(op, types[op], start, end)
    # Of several types the one with the most time names the bar; ties go to the first name.
    return [
        Bar(row, run.start, run.end, min(run.share, key=lambda name: (-run.share[name], name)), tuple(run.ops))
        for run in runs
    ]


def _row_gaps(row: int, bars: Sequence[Bar], makespan: int, resolution: int) -> list[tuple[int, int, int]]:
    gaps = []
    free = 0
    for bar in bars:
        if bar.start - free > resolution:
            gaps.append((row, free, bar.start))
        free = bar.end
    if makespan - free > resolution:
        gaps.append((row, free, makespan))
    return gaps
