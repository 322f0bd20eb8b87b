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


def test_a_flow_added_among_slowed_ones_that_just_left_is_exact() -> None:
    # Key 2 is put among the slowed flows before the level is known, though all fit by then.
    pool = Pool()
    pool.add(0, 0.9, 90, now=0)
    pool.add(1, 0.3, 10**6, now=0)
    pool.add(3, 0.8, 80, now=0)
    now = pool.next_time()
    assert now is not None
    assert pool.due(now) == [3]
    later = pool.next_time()
    assert later is not None
    assert pool.due(later) == [0]
    pool.add(2, 0.7, 10**14 + 3, now=later)
    assert pool.speed(2) == 1.0
    assert pool.due(10**6) == [1]
    assert pool.next_time() == later + 10**14 + 3


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


def test_entries_that_are_out_of_date_do_not_pile_up() -> None:
    pool = Pool()
    pool.add(0, 0.4, 10**9, now=0)
    now = 0
    for key in range(1, 2000):
        pool.add(2 * key, 0.9, 10, now)  # slows key 0 or not, in turn
        pool.add(2 * key + 1, 0.9, 10, now)
        while len(pool) > 1:
            following = pool.next_time()
            assert following is not None
            now = following
            pool.due(now)
    assert len(pool._capped) + len(pool._filled) <= 2 * (module.MOST_OUTDATED + 4)
