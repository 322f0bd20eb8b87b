"""One cell of a grid, computed in whatever process it lands in."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

from simsched.experiment.grid import Cell, GraphSpec
from simsched.graph.model import Graph
from simsched.output.records import comparison_rows
from simsched.problem import Problem
from simsched.result import Failure
from simsched.run import compare_named
from simsched.schedulers.base import Scheduler

Row = dict[str, Any]
Job = tuple[str, Cell]
"""Key of a run, and its cell."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Shape(NamedTuple):
    """Everything about a cell that decides its problem, but for the seed."""

    graph: GraphSpec
    hardware: str
    streams: int | None
    memory_capacity: int | None
    microbatches: int | None
    cost_model: str | None
    strict: bool
    launch: str | None
    device_model: str | None
    place: str | None


KEPT = 4
_graphs: dict[tuple[Any, ...], Graph] = {}
_problems: dict[Shape, Problem] = {}
"""The last few of this process; neighbouring cells share them."""


def forget() -> None:
    """Drop what this process remembers, so that files that have changed are read again."""
    _graphs.clear()
    _problems.clear()


def prepare() -> None:
    """Leave interruptions to the parent, which knows what is finished; without a parent there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    """End when the parent is gone: killed, it could not say so, and workers would wait for work forever."""
    multiprocessing.connection.wait([sentinel])
    os._exit(1)


def problem_of(cell: Cell) -> Problem:
    """Load or recall the problem of a cell.

    Raises
    ------
    InputError, UnknownNameError, CostError
        If the graph, the hardware or a cost cannot be used.
    """
    problem = _recall(_problems, shape_of(cell), lambda: cell.scenario.problem(_graph_of(cell)))
    return problem if problem.seed == cell.scenario.seed else replace(problem, seed=cell.scenario.seed)


def shape_of(cell: Cell) -> Shape:
    """Return what two cells have in common that share a problem."""
    scenario = cell.scenario
    return Shape(
        cell.graph,
        scenario.hardware,
        scenario.streams,
        scenario.memory_capacity,
        scenario.microbatches,
        scenario.cost_model,
        scenario.strict,
        scenario.launch,
        scenario.device_model,
        scenario.place,
    )


@cache
def scheduler_of(spec: str) -> Scheduler:
    """Make a scheduler once per process: it has no state of its own, and to look names up takes time."""
    from simsched.schedulers.registry import make_scheduler

    return make_scheduler(spec)


def _graph_of(cell: Cell) -> Graph:
    scenario = cell.scenario
    key = (cell.graph, scenario.microbatches, scenario.strict)
    return _recall(_graphs, key, lambda: cell.graph.load(scenario))


def _recall(kept: dict[Key, Value], key: Key, make: Callable[[], Value]) -> Value:
    if key not in kept:
        while len(kept) >= KEPT:
            del kept[next(iter(kept))]
        kept[key] = make()
    return kept[key]


def execute(jobs: Sequence[Job]) -> list[tuple[str, Row, float]]:
    """Run some cells.

    Returns
    -------
    list of (str, dict, float)
        Key, row of results, and seconds that the scheduler took.
    """
    return [(key, *_row(cell)) for key, cell in jobs]


def _row(cell: Cell) -> tuple[Row, float]:
    scenario = cell.scenario
    problem = problem_of(cell)
    named = [(scheduler_of(cell.scheduler), cell.scheduler)]
    comparison = compare_named(problem, named, memory=scenario.memory, noise=scenario.noise, seed=scenario.seed)
    ((run, row),) = comparison_rows(comparison)
    return row, 0.0 if isinstance(run, Failure) else run.scheduler_seconds
