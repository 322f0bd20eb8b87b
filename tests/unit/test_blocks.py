"""Device model ``blocks``, driven alone: hand-worked stories, and random kernels against the block-by-block oracle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.cost.base import Block, KernelCost
from simsched.engine.simulator import simulate
from simsched.errors import CostError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import Device, HardwareProfile, SmLimits
from simsched.problem import make_problem
from simsched.schedule import Schedule
from simsched.schedulers.follow import Follow
from simsched.trace import Cohort, Wait
from tests.block_device import drive, gpu, kernel
from tests.blocks_reference import Kernel, Oracle, Ran

ALONE = SmLimits(threads=256)
"""An SM that holds one block of 256 threads."""
WIDE = Block(threads=256)


def test_109_blocks_on_108_sms_are_two_waves() -> None:
    story = drive(gpu(108, ALONE), [kernel(2003, 109, WIDE)])
    whole = tuple((sm, 1) for sm in range(108))
    assert story.cohorts == [Cohort(0, 0, 0, 1001, whole), Cohort(0, 1, 1001, 2003, ((0, 1),))]
    assert (story.start, story.end) == ({0: 0}, {0: 2003})


def test_108_blocks_on_108_sms_are_one_wave() -> None:
    (cohort,) = drive(gpu(108, ALONE), [kernel(2003, 108, WIDE)]).cohorts
    assert (cohort.wave, cohort.start, cohort.end, cohort.blocks) == (0, 0, 2003, 108)


def test_a_small_kernel_behind_a_full_one_starts_in_the_room_that_the_last_wave_leaves() -> None:
    story = drive(gpu(4, ALONE), [kernel(300, 10, WIDE), kernel(17, 1, WIDE)])
    assert story.start == {0: 0, 1: 200}, "the last wave has 2 blocks for 4 SMs"
    assert story.of(1) == [Cohort(1, 0, 200, 217, ((2, 1),))]
    assert story.end == {0: 300, 1: 217}
    assert story.waits == [
        Wait(1, "queue", 0, 200, "behind the head of the device's queue"),
    ]


def test_in_the_other_order_they_overlap_from_the_beginning() -> None:
    story = drive(gpu(4, ALONE), [kernel(17, 1, WIDE), kernel(300, 10, WIDE)])
    assert story.start == {0: 0, 1: 0}
    assert story.of(1)[1] == Cohort(1, 0, 17, 117, ((0, 1),)), "its fourth block takes the place of the small kernel"
    # Waves of 100: 3 at 0, 1 at 17 (wave 0), 3 at 100 (wave 1), 1 at 117 (wave 1), 2 at 200 (wave 2).
    assert sorted((row.wave, row.start, row.end, row.blocks) for row in story.of(1)) == [
        (0, 0, 100, 3), (0, 17, 117, 1), (1, 100, 200, 3), (1, 117, 217, 1), (2, 200, 300, 2),
    ]  # fmt: skip
    assert story.end == {0: 17, 1: 300}


def test_memory_bound_kernels_of_half_a_device_gain_nothing_by_running_together() -> None:
    device = gpu(4, ALONE, bandwidth=1e9)  # a byte a ns
    half = kernel(700, 2, WIDE, bytes=700, peak_ns=70.0)
    story = drive(device, [half, half])
    assert story.start == {0: 0, 1: 0}
    assert story.end == {0: 1400, 1: 1400}
    assert drive(device, [half, half], arrivals=[0, 700]).end == {0: 700, 1: 1400}


def test_compute_bound_kernels_of_half_a_device_take_half_the_time_together() -> None:
    half = kernel(700, 2, WIDE, bytes=70, peak_ns=350.0)
    assert drive(gpu(4, ALONE, bandwidth=1e9), [half, half]).end == {0: 700, 1: 700}


def test_arithmetic_is_shared_too_where_each_kernel_could_use_all_of_it() -> None:
    greedy = kernel(700, 2, WIDE, peak_ns=700.0)
    assert drive(gpu(4, ALONE), [greedy, greedy]).end == {0: 1400, 1: 1400}
    assert drive(gpu(4, ALONE), [greedy, kernel(300, 2, WIDE)]).end == {0: 700, 1: 300}


def test_an_urgent_kernel_waits_for_a_block_to_end_and_goes_before_the_rest_of_the_other() -> None:
    story = drive(gpu(2, ALONE), [kernel(300, 6, WIDE), kernel(13, 1, WIDE)], arrivals=[0, 41], priorities={1: -1})
    assert story.start == {0: 0, 1: 100}
    assert [(row.start, row.end, row.places) for row in story.of(0)] == [
        (0, 100, ((0, 1), (1, 1))),
        (100, 200, ((1, 1),)),
        (113, 213, ((0, 1),)),
        (200, 300, ((1, 1),)),
        (213, 313, ((0, 1),)),
    ]
    assert story.end == {0: 313, 1: 113}
    assert story.waits == [Wait(1, "resource", 41, 100, "sms: no room for its blocks")]


def test_equally_urgent_kernels_keep_the_order_in_which_they_came() -> None:
    one = kernel(10, 1, WIDE)
    assert drive(gpu(1, ALONE), [one, one, one], arrivals=[2, 1, 0]).start == {2: 0, 1: 10, 0: 20}
    assert drive(gpu(1, ALONE), [one, one, one], priorities={0: 5, 2: 1}).start == {1: 0, 2: 10, 0: 20}


VOLTA = SmLimits(threads=2048, warps=64, blocks=32, registers=65536, shared_memory=98304)
ONE_AN_SM = Block(threads=256, shared_memory=65536)
"""A block of X: two do not fit on one SM."""


def test_blocks_of_a_second_kernel_go_where_one_block_of_the_first_has_ended() -> None:
    # Y has three blocks of 160 threads. Beside a block of X an SM has room for (2048 - 256) // 160 = 11 of them (by
    # warps for (64 - 8) // 5 = 11); without it, for 2048 // 160 = 12 (64 // 5 = 12). So SM 0, where alone no block of X
    # is left, takes two before it is level with the others, and the third goes to SM 1. Kernels 0 and 1 see to it that
    # the first block of X comes to SM 0 at 1 and its others to SMs 1 to 4 at 31.
    full = Block(threads=2048)
    x, y = kernel(100, 5, ONE_AN_SM), kernel(10, 3, Block(threads=160))
    story = drive(gpu(5, VOLTA), [kernel(1, 1, full), kernel(31, 4, full), x, y], arrivals=[0, 0, 0, 101])
    assert story.of(2) == [
        Cohort(2, 0, 1, 101, ((0, 1),)),
        Cohort(2, 0, 31, 131, ((1, 1), (2, 1), (3, 1), (4, 1))),
    ]
    assert story.of(3) == [Cohort(3, 0, 101, 111, ((0, 2), (1, 1)))]


def test_beside_a_block_of_the_first_kernel_on_every_sm_those_of_the_second_spread() -> None:
    story = drive(gpu(5, VOLTA), [kernel(100, 5, ONE_AN_SM), kernel(10, 3, Block(threads=160))])
    assert story.of(1) == [Cohort(1, 0, 0, 10, ((0, 1), (1, 1), (2, 1)))]


def test_a_launch_comes_before_the_blocks_run_and_holds_their_places() -> None:
    story = drive(gpu(2, ALONE), [kernel(105, 4, WIDE, launch=5), kernel(10, 1, WIDE)])
    assert [(row.start, row.end) for row in story.of(0)] == [(0, 55), (55, 105)]
    assert story.start == {0: 0, 1: 105}


def test_blocks_that_come_during_the_launch_wait_for_its_end() -> None:
    story = drive(gpu(2, ALONE), [kernel(3, 1, WIDE), kernel(70, 2, WIDE, launch=20)])
    assert sorted((row.start, row.end, row.places) for row in story.of(1)) == [(0, 70, ((1, 1),)), (3, 70, ((0, 1),))]


def test_a_kernel_of_unknown_grid_takes_the_sms_that_it_demands_one_block_each() -> None:
    story = drive(gpu(5, SmLimits(threads=2048)), [kernel(40, sms=3), kernel(50, sms=3), kernel(7, sms=0)])
    assert story.of(0) == [Cohort(0, 0, 0, 40, ((0, 1), (1, 1), (2, 1)))]
    assert [(row.start, row.end, row.places) for row in story.of(1)] == [
        (0, 50, ((3, 1), (4, 1))),
        (40, 90, ((0, 1),)),
    ]
    assert story.of(2) == [Cohort(2, 0, 40, 47, ())], "a kernel that needs no SM waits for its turn only"


def test_kernels_that_take_no_time_end_at_once_wave_by_wave() -> None:
    story = drive(gpu(2, ALONE), [kernel(0, 5, WIDE), kernel(0), kernel(4, 2, WIDE)])
    assert story.end == {0: 0, 1: 0, 2: 4}
    assert [row.blocks for row in story.of(0)] == [2, 2, 1]
    # With one block on SM 0 for no time, the third kernel's blocks are placed in two steps of the same instant.
    assert {(row.start, row.end) for row in story.of(2)} == {(0, 4)}


def test_a_device_full_of_kernels_holds_back_the_queue_but_not_blocks_of_kernels_that_have_started() -> None:
    device = replace(gpu(1, ALONE), max_resident_kernels=1)
    story = drive(device, [kernel(20, 2, WIDE), kernel(3, 0), kernel(5, 1, WIDE)])
    assert [(row.op, row.start, row.end) for row in story.cohorts] == [
        (0, 0, 10),
        (0, 10, 20),
        (1, 20, 23),
        (2, 23, 28),
    ]
    assert story.waits == [
        Wait(1, "queue", 0, 10, "behind the head of the device's queue"),
        Wait(1, "resource", 10, 20, "resident kernels: 1 of 1"),
        Wait(2, "queue", 0, 20, "behind the head of the device's queue"),
        Wait(2, "resource", 20, 23, "resident kernels: 1 of 1"),
    ]


def test_where_both_sms_and_memory_are_short_the_wait_is_for_sms_first() -> None:
    builder = GraphBuilder("memory", time_unit="tick")
    launch = {"grid": 1, "block": {"threads": 256}}
    builder.add_tensor("held", bytes=7, kind="output")
    builder.add_op("first", duration=11, outputs=["held"], attributes=launch)
    builder.add_op("frees", duration=40, workspace=2, demands={"sms": 0})
    builder.add_op("late", duration=5, workspace=3, attributes=launch)
    device = replace(gpu(1, ALONE), memory_capacity=11)
    problem = make_problem(builder.build(), HardwareProfile("h", (device,)))
    trace = simulate(problem, Follow(Schedule({0: (0,), 1: (1,), 2: (2,)}, (0, 1, 2))), memory="block")
    assert list(trace.start) == [0, 0, 40]
    assert trace.waits == (
        Wait(2, "resource", 0, 11, "sms: no room for its blocks"),
        Wait(2, "memory", 11, 40, "memory: needs 3 B, 2 B free"),
    )


def test_a_block_that_fits_on_no_sm_is_named_before_anything_runs() -> None:
    with pytest.raises(CostError) as caught:
        drive(gpu(3, ALONE), [kernel(5, 1, WIDE), kernel(5, 2, Block(threads=257))])
    assert str(caught.value) == (
        "operator 'k1' on 'gpu': a block of 257 threads, 0 registers a thread and 0 B of shared memory does not fit on "
        "an empty SM; expected one within the profile's limits per SM"
    )


def test_a_hundred_thousand_blocks_are_a_few_hundred_cohorts() -> None:
    story = drive(gpu(132, SmLimits(threads=2048, blocks=32)), [kernel(10**6, 100_000, Block(threads=512))])
    assert story.end == {0: 10**6}
    assert len(story.cohorts) == -(-100_000 // (132 * 4))


# --- against the oracle ---------------------------------------------------------------------------------------

SHAPES = [Block(threads=64), Block(threads=96), Block(threads=160, registers=3), None]
LIMITS = SmLimits(threads=320, blocks=4, registers=600)
TIMES = (0, 1, 2, 3, 7, 19, 53, 101, 499)


@st.composite
def kernels_on_a_device(draw: st.DrawFn) -> tuple[Device, list[KernelCost], list[Kernel]]:
    """A few kernels of every kind on a small device, for the device model and for the oracle."""
    sms = draw(st.integers(1, 4))
    shared = draw(st.booleans())
    costs, shown = [], []
    for _ in range(draw(st.integers(1, 4))):
        block = draw(st.sampled_from(SHAPES))
        body, launch = draw(st.sampled_from(TIMES)), draw(st.sampled_from((0, 0, 5)))
        blocks = draw(st.integers(1, 12))
        peak = draw(st.sampled_from((0, 3, 17, 60, 250))) if shared else 0
        moved = draw(st.sampled_from((0, 5, 20, 90, 400))) if shared else 0
        tail = draw(st.sampled_from((0, 0, 1, 11)))
        costs.append(
            kernel(body + launch, blocks, block, launch=launch, tail_ns=tail, peak_ns=float(peak), bytes=moved)
        )
        need = None
        if block is not None:
            need = {"threads": block.threads, "blocks": 1, "registers": block.threads * block.registers}
        shown.append(
            Kernel(
                draw(st.sampled_from((0, 0, 0, 1, 10, 60))), blocks, need, body + launch, launch, tail,
                Fraction(peak), Fraction(moved), draw(st.sampled_from((0, 0, 0, -1))),
            )
        )  # fmt: skip
    return gpu(sms, LIMITS, bandwidth=1e9), costs, shown


def every_block(cohorts: list[Cohort]) -> list[Ran]:
    """One row a block."""
    return sorted(
        Ran(row.op, row.wave, sm, row.start, row.end)
        for row in cohorts
        for sm, count in row.places
        for _ in range(count)
    )


@given(kernels_on_a_device())
def test_cohorts_are_the_blocks_of_the_oracle(case: tuple[Device, list[KernelCost], list[Kernel]]) -> None:
    device, costs, shown = case
    oracle = Oracle(device.sms, {"threads": 320, "blocks": 4, "registers": 600}, shown)
    oracle.run()
    story = drive(device, costs, [one.arrival for one in shown], {op: one.priority for op, one in enumerate(shown)})
    assert every_block(story.cohorts) == sorted(oracle.ran)
    assert [story.start[op] for op in range(len(costs))] == oracle.start
    assert [story.end[op] for op in range(len(costs))] == oracle.end


@given(kernels_on_a_device())
def test_alone_a_kernel_takes_exactly_its_duration(case: tuple[Device, list[KernelCost], list[Kernel]]) -> None:
    device, costs, _ = case
    for cost in costs:
        story = drive(device, [cost], arrivals=[7])
        assert (story.start, story.end) == ({0: 7}, {0: 7 + cost.duration})
        assert sum(row.blocks for row in story.cohorts) == cost.grid


@given(kernels_on_a_device())
def test_nothing_is_over_its_limit_and_blocks_go_in_the_order_of_the_queue(
    case: tuple[Device, list[KernelCost], list[Kernel]],
) -> None:
    device, costs, shown = case
    story = drive(device, costs, [one.arrival for one in shown], {op: one.priority for op, one in enumerate(shown)})
    blocks = every_block(story.cohorts)
    assert len(blocks) == sum(cost.grid for cost in costs)
    for now in sorted({row.start for row in blocks}):
        for sm in range(device.sms):
            here = [costs[row.op].block for row in blocks if row.sm == sm and row.start <= now < row.end]
            known = [block for block in here if block is not None]
            assert len(here) == 1 or len(known) == len(here)
            assert len(here) <= 4
            assert sum(block.threads for block in known) <= 320
            assert sum(block.threads * block.registers for block in known) <= 600
    for op, one in enumerate(shown):
        mine = [row for row in blocks if row.op == op]
        assert [row.wave for row in sorted(mine, key=lambda row: (row.start, row.wave))] == sorted(
            row.wave for row in mine
        ), "blocks are placed in order"
        last = max(row.start for row in mine)
        for other, rival in enumerate(shown):
            if (rival.priority, rival.arrival, other) < (one.priority, one.arrival, op):
                here_first = max(row.start for row in blocks if row.op == other)
                between = [row.start for row in mine if rival.arrival <= row.start < here_first]
                assert not between, f"{op} placed blocks at {between} while {other} was before it, until {last}"
