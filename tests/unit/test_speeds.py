"""Speeds over time against the rules of sharing, asked at each instant."""

from __future__ import annotations

import time as clock
from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis.shared_bandwidth import Piece, SharedBandwidth
from simsched.analysis.shared_sms import SharedSms
from simsched.analysis.waves import Grid, grid_of
from simsched.sharing.fair import bottleneck_fair_rates, max_min_rates
from simsched.trace import Cohort
from tests.unit.test_explain_shared import grid, kernels, sms

draws = st.sampled_from((0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 1.0))
bodies = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 12), draws), max_size=8)


@given(bodies)
def test_each_body_gets_its_max_min_fair_share_at_each_instant(drawn: list[tuple[int, int, float]]) -> None:
    rows = [(op, begin, begin + length, draw) for op, (begin, length, draw) in enumerate(drawn)]
    shared = SharedBandwidth(rows)
    speed = {(op, at): piece.speed for op, begin, end, _ in rows for piece in shared.pieces(op, begin, end)
             for at in range(piece.start, piece.end)}  # fmt: skip
    for at in range(34):
        here = [row for row in rows if row[1] <= at < row[2]]
        rates = max_min_rates([1.0], [[1.0] * len(here)], bounds=[row[3] for row in here]) if here else []
        assert dict(shared.drawing(at)) == pytest.approx({row[0]: rate for row, rate in zip(here, rates, strict=True)})
        for (op, _, _, draw), rate in zip(here, rates, strict=True):
            assert speed[op, at] == pytest.approx(rate / draw)


@given(bodies)
def test_what_is_wanted_and_given_adds_up(drawn: list[tuple[int, int, float]]) -> None:
    rows = [(op, begin, begin + length, draw) for op, (begin, length, draw) in enumerate(drawn)]
    for at, wanted, given_ in SharedBandwidth(rows).loads():
        assert wanted == pytest.approx(sum(draw for _, begin, end, draw in rows if begin <= at < end))
        assert given_ == pytest.approx(min(wanted, 1))


def test_draws_that_just_fit_slow_nobody() -> None:
    shared = SharedBandwidth((op, 0, 10, 0.1) for op in range(10))
    assert shared.levels == ([], [])
    assert list(shared.pieces(3, 0, 10)) == [Piece(0, 10)]


def test_a_draw_too_small_to_count_changes_nothing() -> None:
    shared = SharedBandwidth([(0, 0, 10, 1e-18), (1, 0, 10, 0.6), (2, 2, 8, 0.6)])
    assert [piece.speed for piece in shared.pieces(0, 0, 10)] == [1, 1, 1]
    assert [(piece.start, piece.end) for piece in shared.pieces(1, 0, 10)] == [(0, 2), (2, 8), (8, 10)]
    assert shared.levels == ([2, 8], [0.5, inf])


def test_a_body_that_draws_nothing_is_at_full_speed() -> None:
    assert list(SharedBandwidth([]).pieces(7, 3, 5)) == [Piece(3, 5)]


def test_many_bodies_that_fit_are_cheap() -> None:
    rows = [(op, 10 * op, 10 * op + 40, 0.2) for op in range(100_000)]
    began = clock.process_time()
    assert SharedBandwidth(rows).levels == ([], [])
    assert clock.process_time() - began < 2


# --- blocks -------------------------------------------------------------------------------------------------------


def test_the_waves_of_a_grid_add_up_to_its_body() -> None:
    problem = kernels({"a": grid(311, 10, launch_ns=11.0, tail_ns=40)}, sms())
    found = grid_of(problem, 0, 0, 311)
    assert found == Grid(10, 4, 300, 40, 0.0, 0.0)
    assert [found.length(wave) for wave in range(3)] == [130, 130, 40]
    assert [found.size(wave) for wave in range(3)] == [4, 4, 2]
    assert [found.partial(wave) for wave in range(3)] == [False, False, True]
    # A run that takes twice as long has a launch and a last wave of twice the length.
    assert grid_of(problem, 0, 0, 622) == Grid(10, 4, 600, 80, 0.0, 0.0)


def test_a_grid_of_whole_waves_has_no_tail() -> None:
    found = Grid(8, 4, 7, 0, 0.0, 0.0)
    assert [found.length(wave) for wave in range(2)] == [3, 4]
    assert not found.partial(1)
    assert not Grid(3, 4, 7, 0, 0.0, 0.0).partial(0), "one wave that fills half the device is no tail"


def test_without_a_grid_there_are_as_many_blocks_as_sms() -> None:
    device = sms()
    problem = kernels({"a": replace(grid(100, 0), sms=3)}, device)
    assert grid_of(problem, 0, 0, 100) == Grid(3, 4, 100, 0, 0.0, 0.0)
    assert grid_of(kernels({"a": grid(100, 0)}, device), 0, 0, 100).waves == 1


amounts = st.sampled_from((0.0, 10.0, 40.0, 80.0, 100.0))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), amounts, amounts), min_size=1, max_size=5))
def test_cohorts_have_bottleneck_fair_speeds_at_each_instant(drawn: list[tuple[int, int, float, float]]) -> None:
    rows = [Cohort(op, 0, begin, begin + length, ((op, 1),)) for op, (begin, length, _, _) in enumerate(drawn)]
    grids = {op: Grid(1, 8, 100, 0, compute, memory) for op, (_, _, compute, memory) in enumerate(drawn)}
    shared = SharedSms(rows, grids, {row.op: row.start for row in rows})
    for at in range(18):
        here = [row.op for row in rows if row.start <= at < row.end]
        weights = [[grids[op].draws(0, 1)[side] for op in here] for side in (0, 1)]
        rates = bottleneck_fair_rates([1.0, 1.0], weights, bounds=[1.0] * len(here)) if here else []
        for op, rate in zip(here, rates, strict=True):
            (piece,) = [piece for piece in shared.pieces(op, 0, 20) if piece.start <= at < piece.end]
            assert piece.speed == pytest.approx(rate)
            assert bool(piece.limit) == (piece.speed < 1)
        for side, limit in enumerate(("arithmetic", "bandwidth")):
            given_ = {op: weight * rate for op, weight, rate in zip(here, weights[side], rates, strict=True) if weight}
            assert dict(shared.drawing(at, limit)) == pytest.approx(given_)
    total = sum(given_ for _, _, given_ in shared.loads())
    assert total >= 0
