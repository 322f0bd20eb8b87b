"""The exact scheduler against published optima; samples of the tables that ``python -m benchmarks.answers`` makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.answers import SETS, Instance
from simsched.run import run
from tests.known_answers import folder

pytest.importorskip("ortools")


def rows_of(name: str, place: str, every: int) -> list[Instance]:
    found: Path = folder(place).parent
    return list(SETS[name](found))[::every]


@pytest.mark.parametrize(
    ("name", "place", "every"), [("stg", "stg", 23), ("psplib", "psplib", 37), ("auckland", "auckland_optimal", 29)]
)
def test_every_known_optimum_is_proved_and_simulated(name: str, place: str, every: int) -> None:
    rows = [row for row in rows_of(name, place, every) if row.proved]
    assert len(rows) >= 9
    for row in rows:
        result = run(row.make(), "optimal(time=60)")
        assert result.proved is not None
        assert (result.makespan, result.proved.bound, result.proved.status) == (row.best, row.best, "optimal"), row.name
