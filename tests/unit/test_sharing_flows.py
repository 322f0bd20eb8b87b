"""Activities over several resources, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import pytest

from simsched.sharing.fair import bottleneck_fair_rates, max_min_rates
from simsched.sharing.flows import Flows


def drain(flows: Flows) -> dict[int, int]:
    """End of each flow that is in."""
    ends: dict[int, int] = {}
    while len(flows):
        now = flows.next_time()
        assert now is not None
        done = flows.due(now)
        assert done == sorted(done)
        ends.update(dict.fromkeys(done, now))
    assert flows.next_time() is None
    return ends


def test_copies_over_one_link() -> None:
    flows = Flows([2.0])
    flows.add(0, {0: 1.0}, 700, inf, 0)
    flows.add(1, {0: 1.0}, 300, inf, 100)
    # 200 bytes are through at 100; then 1 byte/ns each: 300 more to 400; the last 200 bytes take 100 ns.
    assert drain(flows) == {0: 500, 1: 400}


def test_a_copy_held_back_elsewhere_leaves_its_share_to_others() -> None:
    flows = Flows([10.0, 3.0])
    flows.add(5, {0: 1.0, 1: 1.0}, 300, inf, 0)
    flows.add(9, {0: 1.0}, 700, inf, 0)
    flows.add(2, {0: 1.0}, 60, 0.5, 0)
    assert [flows.rate(key) for key in (5, 9, 2)] == [3.0, 6.5, 0.5]
    # The second has 50 bytes left at 100, and then 9.5 bytes/ns: 5.3 ns.
    assert drain(flows) == {5: 100, 9: 106, 2: 120}


def test_a_flow_at_its_bound_is_exact() -> None:
    flows = Flows([1.0, 1.0], bottleneck_fair_rates)
    flows.add(0, {0: 0.3, 1: 0.2}, 10**15 + 1, 1.0, 7)
    for key in range(1, 8):
        flows.add(key, {0: 0.1, 1: 0.1}, 1000 + key, 1.0, 7 + key)
    ends = drain(flows)
    assert ends == {0: 10**15 + 8} | {key: 1007 + 2 * key for key in range(1, 8)}


@pytest.mark.parametrize("rule", [max_min_rates, bottleneck_fair_rates])
@pytest.mark.parametrize("uses", [[0.1] * 10, [0.1, 0.2, 0.3, 0.3, 0.05, 0.05]])
def test_flows_that_just_fit_are_not_slowed(rule: object, uses: list[float]) -> None:
    # The second sum is above 1 by a rounding.
    flows = Flows([1.0], rule)  # type: ignore[arg-type]
    for key, use in enumerate(uses):
        flows.add(key, {0: use}, 10**12 + key, 1.0, 0)
    assert [flows.rate(key) for key in range(len(uses))] == [1.0] * len(uses)
    assert drain(flows) == {key: 10**12 + key for key in range(len(uses))}


def test_a_flow_whose_rate_stays_is_not_touched_by_others_that_come_and_go() -> None:
    flows = Flows([1.0])
    flows.add(0, {0: 1.0}, 3 * 10**14, 0.3, 0)
    for key in range(1, 200):
        begin = key * 10**12 + key
        flows.add(key, {0: 1.0}, 70, inf, begin)
        assert flows.due(begin + 100) == [key]
    assert flows.next_time() == 10**15


def test_ends_are_rounded_up() -> None:
    flows = Flows([1.0])
    flows.add(0, {0: 1.0}, 1, 2 / 3, 0)
    flows.add(1, {}, 1, 2 / 3, 0)
    flows.add(2, {}, 3, 1 / 3, 0)
    assert drain(flows) == {0: 2, 1: 2, 2: 9}


def test_only_what_is_connected_is_solved_again() -> None:
    asked: list[tuple[list[float], int]] = []

    def rule(
        capacities: Sequence[float],
        rows: Sequence[Sequence[float]],
        *,
        bounds: Sequence[float | None] | None = None,
    ) -> list[float]:
        asked.append((list(capacities), len(rows[0])))
        return max_min_rates(capacities, rows, bounds=bounds)

    flows = Flows([2.0, 3.0, 5.0, 7.0], rule)
    flows.add(0, {0: 1.0, 1: 1.0}, 600, inf, 0)
    flows.add(1, {2: 1.0}, 600, inf, 0)
    flows.add(2, {1: 1.0, 0: 0.0}, 600, inf, 0)
    assert flows.next_time() == 120
    assert asked == [([2.0, 3.0], 2), ([5.0], 1)]
    assert flows.due(120) == [1]
    flows.add(3, {3: 1.0}, 70, inf, 120)
    assert flows.next_time() == 130
    assert asked[2:] == [([7.0], 1)]
    assert flows.due(130) == [3]
    assert flows.next_time() == 400
    assert flows.due(400) == [0, 2]
    assert len(asked) == 3


def test_asking_changes_nothing() -> None:
    asked, quiet = Flows([1.0, 0.7]), Flows([1.0, 0.7])
    for flows in (asked, quiet):
        for key in range(5):
            flows.add(key, {key % 2: 1.0, 0: 0.3}, 1000 + 137 * key, inf, 0)
    for now in range(0, 900, 7):
        assert asked.due(now) == []
        assert asked.next_time() == quiet.next_time()
    assert drain(asked) == drain(quiet)


def test_what_cannot_run_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity of resource 1 is 0; expected a finite number above 0"):
        Flows([1.0, 0])
    with pytest.raises(ValueError, match="flow 3 uses no resource and has no bound"):
        Flows([1.0]).add(3, {0: 0.0}, 10, inf, 0)
