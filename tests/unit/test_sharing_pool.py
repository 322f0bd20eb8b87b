"""One resource shared max-min fairly, worked out by hand."""

from __future__ import annotations

import pytest

from simsched.sharing import pool as module
from simsched.sharing.pool import Pool


def run(flows: list[tuple[float, int, int]]) -> list[int]:
    """End of each flow; a flow is (cap, length, begin), in order of their begins."""
    pool = Pool()
    ends = [-1] * len(flows)
    coming = list(enumerate(flows))
    while coming or len(pool):
        times = [coming[0][1][2]] if coming else []
        first = pool.next_time()
        now = min(times if first is None else [*times, first])
        for key in pool.due(now):
            ends[key] = now
        while coming and coming[0][1][2] == now:
            key, (cap, length, _) = coming.pop(0)
            pool.add(key, cap, length, now)
    return ends


def test_two_equal_flows_share_and_the_longer_one_ends_at_full_speed() -> None:
    # Both at 2/3 of full speed: 210 ns of work take 315 ns; 90 ns are left.
    assert run([(0.75, 300, 0), (0.75, 210, 0)]) == [405, 315]


def test_levels_as_flows_leave() -> None:
    # The level is 0.4, speeds 1, 4/7, 4/9, to 1000; then 0.5, speeds 5/7 and 5/9, to 1180; the last has 3200/9 left.
    assert run([(0.2, 1000, 0), (0.7, 700, 0), (0.9, 900, 0)]) == [1000, 1180, 1536]


def test_a_flow_that_comes_slows_the_large_one_alone() -> None:
    # From 100 on 0.3 keeps its full speed and 0.8 gets 0.7 of it: 700 ns of work in 800 ns.
    assert run([(0.8, 800, 0), (0.3, 1000, 100)]) == [900, 1100]


def test_ends_are_rounded_up_to_whole_nanoseconds() -> None:
    assert run([(0.75, 1, 0), (0.75, 1, 0)]) == [2, 2]  # 1.5 ns
    assert run([(1.0, 1, 0), (1.0, 1, 0)]) == [2, 2]  # exactly 2 ns
    assert run([(1.0, 7, 0)] * 3) == [21] * 3  # thirds do not round up to 22


@pytest.mark.parametrize("caps", [[0.1] * 10, [1 / 3] * 3, [1 / 7] * 7, [0.7, 0.2, 0.1], [0.6, 0.3, 0.1]])
def test_caps_that_add_up_to_one_slow_nobody(caps: list[float]) -> None:
    pool = Pool()
    for key, cap in enumerate(caps):
        pool.add(key, cap, 10**12 + key, now=10**15)
    assert [pool.speed(key) for key in range(len(caps))] == [1.0] * len(caps)
    ends = []
    while len(pool):
        now = pool.next_time()
        assert now is not None
        ends += [now] * len(pool.due(now))
    assert ends == [10**15 + 10**12 + key for key in range(len(caps))]


def test_a_flow_that_comes_as_another_ends_is_not_slowed_by_it() -> None:
    pool = Pool()
    pool.add(0, 1.0, 100, now=0)
    pool.add(1, 0.6, 100, now=0)
    assert pool.due(200) == [0, 1]  # 0.5 each to 167, then the first alone
    pool.add(2, 0.7, 10**15 + 1, now=200)
    assert pool.next_time() == 200 + 10**15 + 1


@pytest.mark.parametrize("cap", [0.36, 0.4])
def test_a_flow_added_among_slowed_ones_as_the_others_leave_is_exact(cap: float) -> None:
    # When it comes, the flows of 0.3 still count as slowed by the two large ones, which end at the same instant.
    pool = Pool()
    for key, size in enumerate((0.3, 0.3, 1.0, 1.0)):
        pool.add(key, size, 10**6 if size < 1 else 77, now=0)
    assert pool.speed(0) == pytest.approx(0.25 / 0.3, rel=1e-15)
    assert pool.due(308) == [2, 3]
    pool.add(4, cap, 10**15 + 1, now=308)
    assert pool.speed(4) == 1.0
    now = pool.next_time()
    assert now == 308 + 10**6 - 256  # 308 ns at 5/6 of full speed, and what is left, rounded up
    assert pool.due(now) == [0, 1]
    assert pool.next_time() == 308 + 10**15 + 1


def test_flows_are_due_whether_or_not_one_has_asked_when() -> None:
    flows = [(0.4, 700), (0.9, 60), (0.9, 61), (0.5, 400), (0.3, 120), (1.0, 333), (0.9, 64)]
    asked: dict[int, int] = {}
    polled: dict[int, int] = {}
    for ends, ask in ((asked, True), (polled, False)):
        pool = Pool()
        coming = list(range(len(flows)))
        for now in range(3000):
            if ask:
                pool.next_time()
            ends.update(dict.fromkeys(pool.due(now), now))
            if coming and now % 50 == 0:
                key = coming.pop(0)
                pool.add(key, *flows[key], now)
    assert len(polled) == len(flows)
    assert polled == asked


def test_no_work_ends_at_once_and_keys_may_come_again() -> None:
    pool = Pool()
    for now in (5, 5, 9):
        pool.add(4, 0.5, 0, now=now)
        assert pool.next_time() == now
        assert pool.due(now) == [4]
    assert pool.next_time() is None
    assert len(pool) == 0


def test_flows_that_end_together_come_in_order_of_their_keys() -> None:
    pool = Pool()
    for key in (7, 3, 11, 5):
        pool.add(key, 1.0 if key < 6 else 0.25, 100 if key < 6 else 400, now=0)
    assert pool.next_time() == 400
    assert pool.due(399) == []
    assert pool.due(400) == [3, 5, 7, 11]


def test_asking_changes_nothing() -> None:
    asked, quiet = Pool(), Pool()
    for pool in (asked, quiet):
        for key in range(5):
            pool.add(key, 0.3 + 0.07 * key, 1000 + 137 * key, now=0)
    for now in range(0, 1200, 7):
        assert asked.due(now) == []
        assert asked.next_time() == quiet.next_time()
    while len(quiet):
        now = quiet.next_time()
        assert now is not None
        assert asked.next_time() == now
        assert asked.due(now) == quiet.due(now)


def test_the_level_depends_on_the_flows_and_not_on_their_history() -> None:
    caps = [0.31, 0.07, 0.93, 0.11, 0.29, 0.55]
    speeds = []
    for order in ([0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4], [2, 4, 5, 0, 3, 1]):
        pool = Pool()
        for key in order:
            pool.add(key, caps[key], 10**9, now=0)
            pool.next_time()
        speeds.append([pool.speed(key) for key in range(6)])
    assert speeds[0] == speeds[1] == speeds[2]


def test_clocks_restart_without_loss_while_the_pool_is_busy() -> None:
    # Three flows that last for hours; short ones come and go. Exact: all rates are halves, quarters and so on.
    pool = Pool()
    hours = 10**13
    pool.add(0, 1.0, hours, now=0)
    pool.add(1, 0.25, hours, now=0)
    now, slow = 0, 0
    for key in range(2, 200):
        now += module.LONGEST_CLOCK // 3
        pool.add(key, 1.0, 300, now)  # alone with key 0 for 800 ns: 0.375 each
        ends = pool.next_time()
        assert ends == now + 800
        assert pool.due(ends) == [key]
        slow += 800
    # 0.75 outside and 0.375 inside the short ones' times, until the quarter is done; then at full speed.
    done = (hours - slow) * 3 // 4 + slow * 3 // 8
    assert pool.next_time() == hours
    assert pool.due(hours) == [1]
    assert pool.next_time() == hours + hours - done


def test_a_long_busy_time_costs_short_flows_no_accuracy() -> None:
    # 200 ns each exactly; on clocks of 10**15 ns, which count in eighths, it would be 201 ns.
    pool = Pool()
    for key in (0, 1):
        pool.add(key, 1.0, 10**15, now=0)
    for key in range(2, 12):
        now = key * 10**14 + key
        pool.add(key, 2 / 3, 100, now)
        assert pool.next_time() == now + 200
        assert pool.due(now + 200) == [key]


def test_entries_that_are_out_of_date_do_not_pile_up() -> None:
    # Key 0 runs at full speed or not, in turn; key 1 is always slowed and due before all its outdated entries.
    pool = Pool()
    pool.add(0, 0.4, 10**9, now=0)
    pool.add(1, 1.0, 10**6, now=0)
    crossings = 0
    now = 0
    for key in range(2, 3000):
        assert pool.speed(0) == 1.0
        pool.add(key, 1.0, 10, now)
        crossings += pool.speed(0) < 1.0
        now += 30
        assert pool.due(now) == [key]
    assert crossings == 2998
    assert len(pool._capped) + len(pool._filled) <= 2 * 3 + module.MOST_OUTDATED + 2
