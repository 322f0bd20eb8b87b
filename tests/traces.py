"""Traces written by hand, and valid ones with one thing changed."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
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
        *(columns[name] for name in ("stream", "dispatch", "ready", "start", "end")),
        launched,
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
        column = list(getattr(trace, name))
        for op, value in rows.items():
            column[op] = value
        new[name] = column
    return replace(trace, **new)


def relaunched(trace: Trace, order: Sequence[int]) -> Trace:
    """Copy a trace with another launch order."""
    return replace(trace, launch_order=list(order))


# --- a run with every kind of tensor, by hand -------------------------------------------------------------


def tensors() -> Graph:
    """a makes 3 (for b and c), b makes 7 that nobody reads and 11 for c, c makes the output of 17; weight of 100 B."""
    builder = GraphBuilder("tensors", time_unit="tick")
    builder.add_tensor("w", bytes=100, kind="parameter")
    for name, size in (("ta", 3), ("dead", 7), ("tb", 11)):
        builder.add_tensor(name, bytes=size)
    builder.add_tensor("out", bytes=17, kind="output")
    builder.add_op("a", duration=2, outputs=["ta"])
    builder.add_op("b", duration=3, inputs=["ta", "w"], outputs=["dead", "tb"], workspace=23)
    builder.add_op("c", duration=5, inputs=["ta", "tb"], outputs=["out"])
    return builder.build()


SERIAL = [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s0", 2, 2, 2, 5), ("c", "d0/s0", 5, 5, 5, 10)]
# 100; a starts: 103; b starts: +7 +11 +23 = 144, its end: -7 -23 = 114; c starts: +17 = 131; its end: -3 -11 = 117
STEPS = ((0, 0, 100), (0, 0, 103), (2, 0, 144), (5, 0, 114), (5, 0, 131), (10, 0, 117))
