"""Fair rates on several resources, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from simsched.sharing import bottleneck
from simsched.sharing.fair import bottleneck_fair_rates, max_min_rates


def test_max_min_on_a_line_of_links() -> None:
    # The textbook's line: one flow over all links, one on each. The long one gets a half of the narrowest.
    rows = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    assert max_min_rates([6, 2, 5], rows) == [1, 5, 1, 4]


def test_max_min_with_bounds_gives_what_they_leave_to_others() -> None:
    assert max_min_rates([10], [[1, 1, 1]], bounds=[2, None, 3]) == [2, 5, 3]
    assert max_min_rates([10], [[1, 1, 1]], bounds=[20, 30, 40]) == [10 / 3] * 3


def test_penalties_share_in_their_inverse_ratio() -> None:
    thirds = [Fraction(1), Fraction(2), Fraction(3)]
    assert max_min_rates([Fraction(11)], [[Fraction(1)] * 3], thirds) == [6, 3, 2]


def test_a_capacity_is_asked_with_the_number_of_its_users() -> None:
    asked: list[int] = []

    def capacity(users: int) -> float:
        asked.append(users)
        return 12.0 / users

    assert max_min_rates([capacity, 100.0], [[1, 0, 1], [1, 1, 1]]) == [3.0, 94.0, 3.0]
    assert asked == [2]


def test_a_flow_that_needs_next_to_nothing_of_a_full_resource_is_not_stopped_by_rounding() -> None:
    # What the second flow leaves is 0 in floats; the others' rates cannot be lower than the level reached by then.
    assert max_min_rates([0.3], [[1e-17, 1.0, 1e-20, 1e-20]], bounds=[None, 0.3, 0.7, None]) == [0.3] * 4


def test_bounds_are_returned_as_they_are() -> None:
    bounds = [0.1, 0.2, 0.3]
    for rule in (max_min_rates, bottleneck_fair_rates):
        rates = rule([1.0], [[1.0, 1.0, 1.0]], bounds=bounds)
        assert rates == bounds


@pytest.mark.parametrize("rule", [max_min_rates, bottleneck_fair_rates])
def test_flows_without_resources_run_at_their_bounds(rule: Callable[..., list[float]]) -> None:
    assert rule([1.0], [[1.0, 0.0]], bounds=[None, 7.0]) == [1.0, 7.0]
    assert rule([], [], bounds=[3.0, 5.0]) == [3.0, 5.0]
    assert rule([], [], bounds=[]) == []
    assert rule([1.0, 2.0], [[], []]) == []
    with pytest.raises(ValueError, match="flow 1 uses no resource and has no bound"):
        rule([1.0], [[1.0, 0.0]])


def test_bottleneck_equalises_shares_of_the_full_resource() -> None:
    assert bottleneck_fair_rates([Fraction(1)], [[Fraction(2), Fraction(3), Fraction(5)]]) == [
        Fraction(1, 6),
        Fraction(1, 9),
        Fraction(1, 15),
    ]


def test_bottleneck_with_two_resources_full() -> None:
    # A computes (1, 1/4), B moves bytes (1/4, 1): each is held back by its own resource, 1 = r + r/4.
    rows = [[Fraction(1), Fraction(1, 4)], [Fraction(1, 4), Fraction(1)]]
    assert bottleneck_fair_rates([Fraction(1)] * 2, rows, [Fraction(1)] * 2) == [Fraction(4, 5)] * 2


def test_bottleneck_where_one_flow_is_bound_and_the_other_takes_the_rest() -> None:
    rows = [[Fraction(1, 10), Fraction(1)], [Fraction(1, 2), Fraction(1, 2)]]
    assert bottleneck_fair_rates([Fraction(1)] * 2, rows, [Fraction(1)] * 2) == [1, Fraction(9, 10)]


def test_bottleneck_on_two_equal_links_in_a_row() -> None:
    rows = [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    assert bottleneck_fair_rates([1.0, 1.0], rows) == pytest.approx([1 / 3] * 3, rel=1e-15)
    assert bottleneck_fair_rates([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]]) == pytest.approx([0.5] * 2, rel=1e-15)


def test_a_cycle_of_resources_that_hold_back_each_others_flows() -> None:
    # Each resource is wanted wholly by its own flow and by half by the one before: symmetric, so 2/3 each.
    size = 7
    rows = [[Fraction(0)] * size for _ in range(size)]
    for i in range(size):
        rows[i][i], rows[(i + 1) % size][i] = Fraction(1), Fraction(1, 2)
    assert bottleneck_fair_rates([Fraction(1)] * size, rows) == [Fraction(2, 3)] * size


def test_a_path_that_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    # On these four resources the capacities have to grow again for a while.
    monkeypatch.setattr(bottleneck, "PACES", 1)
    rows = [[3, 3, 2], [2, 3, 3], [0, 4, 5], [0, 3, 5]]
    rates = bottleneck_fair_rates([Fraction(1)] * 4, [[Fraction(weight) for weight in row] for row in rows])
    assert rates == [Fraction(17, 120), Fraction(1, 8), Fraction(1, 10)]


def spied(monkeypatch: pytest.MonkeyPatch, lost: Callable[[bool, int], bool]) -> list[tuple[bool, int]]:
    """Attempts that are made, as (whether exact, which pace), of which some are said to be lost."""
    made: list[tuple[bool, int]] = []
    attempt = bottleneck._attempt

    def spy(*arguments: Any) -> Any:
        made.append((isinstance(arguments[0][0], Fraction), arguments[3]))
        return None if lost(*made[-1]) else attempt(*arguments)

    monkeypatch.setattr(bottleneck, "_attempt", spy)
    return made


def test_floats_that_lose_the_path_are_followed_again_in_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    made = spied(monkeypatch, lambda exact, pace: not exact or pace == 0)
    rates = bottleneck_fair_rates([1.0], [[1.0, 4.0]])
    assert rates == [0.5, 0.125]
    assert [type(rate) for rate in rates] == [float, float]
    assert made == [(False, 0), (True, 0), (True, 1)]


@pytest.mark.parametrize(
    ("rates", "fair"),
    [
        ([0.4, 0.6, 0.5], True),
        ([0.4 + 1e-13, 0.6, 0.5], True),
        ([0.5, 0.5, 0.5], False),  # the first is above its bound
        ([0.4, 0.7, 0.5], False),  # the first resource is more than full
        ([0.4, 0.5, 0.5], False),  # the second flow could be faster
        ([0.3, 0.7, 0.5], False),  # the first flow has neither its bound nor the largest share
        ([0.4, 0.6, -0.5], False),
    ],
)
def test_rates_are_judged(rates: list[float], fair: bool) -> None:
    rows = [[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    assert bottleneck._is_fair(rates, [1.0, 1.0], rows, [0.4, None, None], bottleneck.ACCURACY) is fair


def test_floats_suffice_where_they_find_fair_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    made = spied(monkeypatch, lambda *_: False)
    assert bottleneck_fair_rates([1.0], [[1.0, 4.0]]) == [0.5, 0.125]
    assert made == [(False, 0)]


def test_no_rates_is_an_error_that_shows_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bottleneck, "_attempt", lambda *_: None)
    with pytest.raises(ArithmeticError, match=r"no bottleneck-fair rates found for capacities \[3.0\]"):
        bottleneck_fair_rates([3.0], [[1.0]])
