"""Traces written by hand, and valid ones with one thing changed."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from simsched.problem import Problem
from simsched.trace import MemorySteps, Trace

Row = tuple[str, str, int, int, int, int]
"""Operator, stream, dispatch, ready, start, end."""


def trace_of(problem: Problem, rows: Sequence[Row], **rest: Any) -> Trace:
    """Build a trace from rows in launch order."""
    graph, streams = problem.graph, problem.stream_names
    columns: dict[str, list[int]] = {name: [0] * len(graph) for name in ("stream", "dispatch", "ready", "start", "end")}
    launched = []
    for name, stream, *times in rows:
        op = graph.index[name]
        launched.append(op)
        values = [streams.index(stream), *times]
        for column, value in zip(columns.values(), values, strict=True):
            column[op] = value
    return Trace(
        array("i", columns["stream"]),
        *(array("q", columns[name]) for name in ("dispatch", "ready", "start", "end")),
        array("i", launched),
        **rest,
    )


def memory_steps(*steps: tuple[int, int, int]) -> MemorySteps:
    """Memory steps from rows of time, device, live bytes."""
    times, devices, live = zip(*steps, strict=True) if steps else ((), (), ())
    return MemorySteps(array("q", times), array("i", devices), array("q", live))


def changed(trace: Trace, **columns: Mapping[int, int]) -> Trace:
    """Copy a trace with some rows of some columns changed: ``changed(trace, start={3: 7})``."""
    new: dict[str, Any] = {}
    for name, rows in columns.items():
        column = array(getattr(trace, name).typecode, getattr(trace, name))
        for op, value in rows.items():
            column[op] = value
        new[name] = column
    return replace(trace, **new)


def relaunched(trace: Trace, order: Sequence[int]) -> Trace:
    """Copy a trace with another launch order."""
    return replace(trace, launch_order=array("i", order))
