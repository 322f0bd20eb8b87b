"""The second simulator against runs worked out by hand; the engine has to agree with both."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simsched.engine.simulator import simulate
from tests.reference.engine import refer
from tests.reference.flows import max_min, two_resources
from tests.reference.hand_worked import EVERY, Answer
from tests.reference.told import Told, told_by


def compare(answer: Answer, told: Told) -> None:
    problem = answer.problem
    graph = problem.graph
    assert {name: (told.start[op], told.end[op]) for op, name in enumerate(graph.names)} == answer.spans
    copies = {f"{graph.tensor_names[m[7]]}>{problem.devices[m[3]].name}": m[4:6] for m in told.transfers if m[7] >= 0}
    assert copies == answer.copies
    assert told.launched == list(answer.launched)
    if answer.cohorts:
        rows = [(graph.names[op], *rest) for op, *rest in told.cohorts]
        assert sorted(rows) == sorted(answer.cohorts)


@pytest.mark.parametrize("name", EVERY)
def test_the_reference_agrees_with_the_run_worked_out_by_hand(name: str) -> None:
    answer = EVERY[name]
    compare(answer, refer(answer.problem, answer.scheduler, actual=answer.durations))


def test_max_min_fairness() -> None:
    third = Fraction(1, 3)
    assert max_min([None, third, None], ["l", "l", "l"], {"l": Fraction(1)}) == [third] * 3
    assert max_min([None, Fraction(1, 5), None], ["l", "l", "l"], {"l": Fraction(1)}) == [
        Fraction(2, 5), Fraction(1, 5), Fraction(2, 5),
    ]  # fmt: skip
    # Bertsekas and Gallager's parking lot: one flow over both links, two on the first, one on the second.
    assert max_min([None] * 4, ["lm", "l", "l", "m"], {"l": Fraction(1), "m": Fraction(1)}) == [
        third, third, third, Fraction(2, 3),
    ]  # fmt: skip


def test_bottleneck_fairness() -> None:
    half, one = Fraction(1, 2), Fraction(1)
    assert two_resources([(half, half), (half, Fraction(0))]) == [one, one]
    assert two_resources([(one, half), (half, one)]) == [Fraction(2, 3)] * 2
    assert two_resources([(one, Fraction(0)), (Fraction(0), one)]) == [one, one]
    # The first two fill the first resource, the last two the second; the middle one draws most of both.
    assert two_resources([(one, Fraction(0)), (one, one), (Fraction(0), one)]) == [half] * 3


@pytest.mark.parametrize("name", EVERY)
def test_the_engine_agrees_with_the_run_worked_out_by_hand(name: str) -> None:
    answer = EVERY[name]
    trace = simulate(answer.problem, answer.scheduler, actual=answer.durations)
    compare(answer, told_by(trace, len(answer.problem.devices)))
