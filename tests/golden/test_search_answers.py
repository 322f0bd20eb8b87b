"""The search against published optima: a sample; ``python -m benchmarks.search`` makes the whole table.

Each plan is simulated as planned, and the referee sees the run. Figures are those of seed 0: they move whenever the
search draws in another order, so limits stand where the worst seed of several would pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.search import SETS, Row
from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.schedulers.anytime import Anytime
from tests.known_answers import folder


def above(rows: Iterator[Row], schedules: int) -> list[float]:
    """By how much the simulated makespans exceed the optima, as fractions."""
    scheduler, found = Anytime(schedules), []
    for name, problem, best in rows:
        trace = simulate(problem, scheduler)
        assert check_trace(problem, trace) == [], name
        assert trace.makespan >= best, name
        found.append(trace.makespan / best - 1)
    return found


@pytest.mark.parametrize(
    ("name", "every", "mean", "optimal"),
    [("psplib", 12, 0.006, 0.80), ("stg", 10, 0.0002, 0.98), ("auckland_optimal", 8, 0.01, 0.85)],
)
def test_a_sample_of_each_set(name: str, every: int, mean: float, optimal: float) -> None:
    rows = list(SETS[name](folder(name)))[::every]
    found = above(iter(rows), 1000)
    assert sum(found) / len(found) <= mean
    assert found.count(0.0) / len(found) >= optimal


def test_more_schedules_come_closer() -> None:
    rows = list(SETS["psplib"](folder("psplib")))[::16]
    few, many = above(iter(rows), 50), above(iter(rows), 2000)
    assert sum(many) < sum(few) / 2
