# ruff: noqa: E501 - messages are written whole, as users read them
"""What the referee says where operators share something: runs worked out by hand, with one thing changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from simsched.analysis.check import check_trace
from simsched.analysis.check_blocks import most_room
from simsched.analysis.check_fair import bottleneck_speeds, level, link_rates
from simsched.engine.simulator import simulate
from simsched.trace import Cohort, Trace, Wait
from tests.reference.flows import max_min, one_resource, two_resources
from tests.reference.hand_worked import BLOCKS, COPIES, EVERY, HOST, SHARING, URGENT, Answer
from tests.traces import changed


def run_of(answer: Answer) -> Trace:
    return simulate(answer.problem, answer.scheduler, actual=answer.durations)


def said(answer: Answer, change: Callable[[Trace], Trace]) -> list[str]:
    return check_trace(answer.problem, change(run_of(answer)), actual=answer.durations)


@pytest.mark.parametrize("name", EVERY)
def test_runs_worked_out_by_hand_pass(name: str) -> None:
    assert said(EVERY[name], lambda trace: trace) == []


def op(answer: Answer, name: str) -> int:
    return answer.problem.graph.index[name]


def timed(answer: Answer, **ends: int) -> Callable[[Trace], Trace]:
    """Change the ends of operators."""
    return lambda trace: changed(trace, end={op(answer, name): end for name, end in ends.items()})


SMALL = SHARING["a small demand is met in full, and an end is rounded up"]
BOTH = SHARING["two that each need all bandwidth take twice as long"]


def test_an_end_too_early_or_too_late_is_caught_with_what_is_left() -> None:
    early, late = timed(SMALL, x=13), timed(SMALL, x=16)
    assert said(SMALL, early) == [
        "duration: 'x' ran from 0 ns to 13 ns on g, sharing bandwidth: 0.250 ns of its work were left then"
    ]
    assert said(SMALL, late) == [
        "duration: 'x' ran from 0 ns to 16 ns on g, sharing bandwidth: its work was done 2.667 ns before"
    ]
    assert said(SMALL, timed(SMALL, y=19)) == ["duration: 'y' ran from 0 ns to 19 ns on g: 19 instead of 20"]
    assert said(SMALL, timed(SMALL, y=21)) == ["duration: 'y' ran from 0 ns to 21 ns on g: 21 instead of 20"]


def test_bandwidth_that_nobody_has_is_caught() -> None:
    """Both at full speed: then half of the work of each is left."""
    assert said(BOTH, timed(BOTH, x=10, y=10)) == [
        f"duration: {name!r} ran from 0 ns to 10 ns on g, sharing bandwidth: 5.000 ns of its work were left then"
        for name in "xy"
    ]


def test_unfair_shares_are_caught() -> None:
    """x takes three quarters of the bandwidth until it ends: no less work is done, but not by the right one."""
    found = said(BOTH, timed(BOTH, x=13, y=20))
    assert [text.partition(" on g")[0] for text in found] == [
        "duration: 'x' ran from 0 ns to 13 ns",
        "duration: 'y' ran from 0 ns to 20 ns",
    ]


# --- queues and the host ------------------------------------------------------------------------------------------


def test_going_before_an_urgent_kernel_is_caught() -> None:
    answer = URGENT["an urgent kernel goes first, but nobody is thrown out"]
    y, z = op(answer, "y"), op(answer, "z")
    waits = (Wait(y, "resource", 0, 10), Wait(z, "queue", 4, 10), Wait(z, "resource", 10, 15))
    swap = changed(run_of(answer), start={y: 10, z: 15}, end={y: 15, z: 22})
    assert check_trace(answer.problem, replace(swap, waits=waits)) == [
        "queue: 'y' starts at 10 ns, before 'z', more urgent and in the queue of g since 4 ns",
        "wait: 'z' is recorded as waiting in the queue of g, but at 4 ns nobody is before it",
    ]


def test_waiting_in_a_queue_behind_nobody_is_caught() -> None:
    answer = URGENT["an urgent kernel is not held back"]
    z = op(answer, "z")
    late = changed(run_of(answer), start={z: 5}, end={z: 12})
    found = check_trace(answer.problem, replace(late, waits=(*late.waits, Wait(z, "queue", 4, 5))))
    assert found == ["wait: 'z' is recorded as waiting in the queue of g, but at 4 ns nobody is before it"]


def test_false_launches_are_caught() -> None:
    answer = HOST["launches come one after the other"]
    assert said(answer, lambda trace: changed(trace, launched={1: 9})) == [
        "launch: 'y' is recorded as launched at 9 ns; the host is through at 10 ns"
    ]
    assert said(answer, lambda trace: replace(trace, launched=())) == [
        "launch: column 'launched' has 0 rows for 3 operators"
    ]
    assert "launch: 'x' starts at 4 ns, before it is launched at 5 ns" in said(
        answer, lambda trace: changed(trace, start={0: 4}, end={0: 11})
    )
    assert said(BOTH, lambda trace: replace(trace, launched=[0, 0])) == [
        "launch: 2 launches are recorded; the host is free in this run"
    ]


def test_an_event_that_is_not_waited_for_is_caught() -> None:
    answer = HOST["an event costs time between streams"]
    y = op(answer, "y")
    assert said(answer, lambda trace: changed(trace, start={y: 19}, end={y: 26})) == [
        "dependency: 'y' starts at 19 ns, before its predecessor 'x' (end 18 ns) has arrived on g at 20 ns"
    ]


# --- copies -------------------------------------------------------------------------------------------------------


def copies(**changes: dict[str, int]) -> Callable[[Trace], Trace]:
    """Change rows of copies: ``copies(tx={"end": 9})``; tensors are named after the operators that make them."""

    def change(trace: Trace, names: Any) -> Trace:
        moves = [
            replaced(move, **changes.get(names[move.tensor], {})) if move.tensor >= 0 else move
            for move in trace.transfers
        ]
        return replace(trace, transfers=tuple(moves))

    return lambda trace: change(trace, NAMES)


NAMES: list[str] = []


def replaced(row: Any, **fields: Any) -> Any:
    names = Cohort._fields if isinstance(row, Cohort) else TRANSFER
    return type(row)(**{name: getattr(row, name) for name in names} | fields)


TRANSFER = ("source", "target", "from_device", "to_device", "start", "end", "bytes", "tensor", "asked")


def with_copies(answer: Answer, **changes: dict[str, int]) -> list[str]:
    NAMES[:] = answer.problem.graph.tensor_names
    return said(answer, copies(**changes))


def test_bytes_that_come_too_early_or_too_late_are_caught() -> None:
    answer = COPIES["copies of one direction share a link"]
    assert "copy: the copy of 'tx' to b runs from 10 ns to 47 ns; 1.000 of 20 B are not through then" in with_copies(
        answer, tx={"end": 47}
    )
    assert "copy: the copy of 'tz' to b runs from 14 ns to 56 ns; all bytes are through 3.000 ns before" in with_copies(
        answer, tz={"end": 56}
    )


def test_too_many_copies_on_an_engine_and_overtaking_are_caught() -> None:
    answer = COPIES["one engine copies one tensor at a time"]
    assert "copy: 2 copies use a at 20 ns, it has 1 copy engines: the copy of 'tx' to b, the copy of 'tz' to b" in (
        with_copies(answer, tz={"start": 20})
    )
    # w's bytes cannot come before x's: tx is asked for first
    turned = with_copies(answer, tz={"start": 14, "end": 37}, tx={"start": 37, "end": 60})
    assert (
        "copy: the copy of 'tz' to b starts at 14 ns, while the copy of 'tx' to b waits before it in the list since 10 ns"
        in turned
    )
    assert "copy: the copy of 'tx' to b waits from 10 ns to 37 ns, though at 10 ns nothing holds it back" in turned


def test_a_copy_that_waits_for_nothing_is_caught() -> None:
    answer = COPIES["one engine copies one tensor at a time"]
    assert "copy: the copy of 'tz' to b waits from 14 ns to 35 ns, though just before 35 ns nothing holds it back" in (
        with_copies(answer, tz={"start": 35, "end": 58})
    )


# --- blocks -------------------------------------------------------------------------------------------------------


def cohorts(name: str, number: int, **fields: Any) -> list[str]:
    """What is said when one cohort of a run is changed; cohorts are counted in order of start, operator and wave."""
    answer = BLOCKS[name]

    def change(trace: Trace) -> Trace:
        rows = sorted(trace.cohorts, key=lambda cohort: (cohort.start, cohort.op, cohort.wave))
        rows[number] = replaced(rows[number], **fields)
        return replace(trace, cohorts=tuple(rows))

    return said(answer, change)


WAVES = "five blocks on four places are two waves"


@pytest.mark.parametrize(
    ("number", "fields", "message"),
    [
        (0, {"places": ((0, 3), (1, 1))}, "blocks: blocks of 'x' are placed at 0 ns on SMs 0 (3), 1 (1); most room is on 0 (2), 1 (2)"),
        (0, {"places": ((0, 3), (1, 1))}, "blocks: SM 0 of g has 3 blocks in use, it has 2 at 0 ns, with blocks of 'x'"),
        (1, {"places": ((1, 1),)}, "blocks: blocks of 'x' are placed at 10 ns on SMs 1 (1); most room is on 0 (1)"),
        (1, {"places": ((2, 1),)}, "blocks: blocks of 'x' from 10 ns have places [(2, 1)]; expected SMs from 0 to 1, ascending, each with some blocks"),
        (1, {"places": ((0, 2),)}, "blocks: 6 blocks of 'x' are recorded in 2 cohorts; it has 5"),
        (1, {"wave": 0}, "blocks: blocks 4 to 4 of 'x', placed at 10 ns, are not one cohort of wave 0 (4 a wave)"),
        (1, {"end": 19}, "duration: 'x' ran from 0 ns to 20 ns; its blocks from 0 ns to 19 ns"),
        (0, {"end": 9}, "blocks: 'x' has 1 blocks to place at 9 ns, and g has room for more of them"),
        (0, {"end": 9}, "duration: blocks of 'x' ran from 0 ns to 9 ns on g; 1.000 ns of their work were left then"),
        (0, {"op": 9}, "blocks: a cohort names operator 9, out of range"),
    ],
)  # fmt: skip
def test_false_blocks_are_caught(number: int, fields: dict[str, Any], message: str) -> None:
    assert message in cohorts(WAVES, number, **fields)


def test_blocks_at_a_speed_that_there_is_not_are_caught() -> None:
    answer = BLOCKS["arithmetic is shared"]

    def fast(trace: Trace) -> Trace:
        rows = tuple(replaced(cohort, end=10) for cohort in trace.cohorts)
        return replace(changed(trace, end={0: 10, 1: 10}), cohorts=rows)

    assert said(answer, fast) == [
        f"duration: blocks of {name!r} ran from 0 ns to 10 ns on g; 5.000 ns of their work were left then"
        for name in "xy"
    ]


def test_blocks_where_there_are_none_are_caught() -> None:
    assert said(BOTH, lambda trace: replace(trace, cohorts=(Cohort(0, 0, 0, 20, ((0, 1),)),))) == [
        "blocks: blocks of 'x' are recorded on g, which places none"
    ]


# --- fair shares against exact fractions --------------------------------------------------------------------------


def test_fair_shares_agree_with_exact_ones() -> None:
    rng = random.Random(7)
    for _ in range(300):
        draws = [rng.choice((0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0)) for _ in range(rng.randint(1, 6))]
        exact = one_resource([Fraction(draw) for draw in draws])
        if sum(draws) > 1:
            most = level(sorted(draws), len(draws))
            assert [min(1.0, most / draw) for draw in draws] == pytest.approx([float(speed) for speed in exact])
        pairs = [(rng.choice((0.0, 0.2, 0.5, 1.0)), rng.choice((0.0, 0.3, 0.6, 1.0))) for _ in draws]
        fractions = [(Fraction(one), Fraction(other)) for one, other in pairs]
        assert bottleneck_speeds(pairs) == pytest.approx([float(speed) for speed in two_resources(fractions)])


def test_rates_over_links_agree_with_exact_ones() -> None:
    rng = random.Random(11)
    for _ in range(300):
        links = {link: rng.choice((0.3, 0.5, 1.0, 2.0)) for link in range(4)}
        crossed = [rng.sample(range(4), rng.randint(1, 3)) for _ in range(rng.randint(1, 6))]
        bounds = [rng.choice((float("inf"), 0.2, 0.9)) for _ in crossed]
        exact = max_min(
            [None if bound == float("inf") else Fraction(bound) for bound in bounds],
            crossed,
            {link: Fraction(rate) for link, rate in links.items()},
        )
        assert link_rates(bounds, crossed, links) == pytest.approx([float(rate) for rate in exact])


def test_most_room_is_taken_block_by_block() -> None:
    rng = random.Random(13)
    for _ in range(300):
        rooms = [rng.randint(0, 5) for _ in range(rng.randint(1, 6))]
        blocks, left, counts = rng.randint(0, 12), list(rooms), [0] * len(rooms)
        for _ in range(blocks):
            if max(left):
                sm = left.index(max(left))
                left[sm] -= 1
                counts[sm] += 1
        assert most_room(rooms, blocks) == counts
