"""Placing blocks on SMs: the fast way against one block after the other, and waves."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.cost.base import Block, KernelCost
from simsched.engine.devices.sm_state import SmState, most_room
from simsched.engine.devices.waves import Waves, waves_of
from simsched.hardware import SmLimits


def one_by_one(rooms: list[int], blocks: int) -> list[int]:
    """The rule itself: each block to the SM with most room, ties to the lowest number."""
    left, counts = list(rooms), [0] * len(rooms)
    for _ in range(blocks):
        best = max(range(len(left)), key=lambda sm: (left[sm], -sm), default=-1)
        if best < 0 or not left[best]:
            break
        left[best] -= 1
        counts[best] += 1
    return counts


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 80))
def test_blocks_go_where_most_room_is_as_if_placed_one_by_one(rooms: list[int], blocks: int) -> None:
    assert most_room(rooms, blocks) == one_by_one(rooms, blocks)


def test_a_huge_room_costs_no_more_than_a_small_one() -> None:
    assert most_room([10**12, 10**12 + 3], 10**12) == [499_999_999_999, 3 + 499_999_999_998]


LIMITS = SmLimits(warps=48, threads=1536, blocks=16, registers=65536, shared_memory=100_000, warp_size=32)
SHAPES = [
    Block(threads=256),
    Block(threads=160, registers=40),
    Block(threads=1024, registers=32),
    Block(threads=33, shared_memory=30_000),
    Block(threads=1),
    Block(threads=96, registers=255, shared_memory=7_777),
]


def room_by_hand(limits: SmLimits, resident: Counter[Block], block: Block, alone: bool) -> int:
    """Further blocks on one SM, from the list of those that are there."""
    if alone:
        return 0
    stated = [
        (limits.threads, lambda b: b.threads),
        (limits.warps, lambda b: -(-b.threads // limits.warp_size)),
        (limits.registers, lambda b: b.threads * b.registers),
        (limits.shared_memory, lambda b: b.shared_memory),
        (limits.blocks, lambda _: 1),
    ]
    rooms = []
    for limit, of in stated:
        if limit is not None and of(block):
            rooms.append((limit - sum(n * of(other) for other, n in resident.items())) // of(block))
    return min(rooms)


@given(st.data())
def test_a_history_of_blocks_comes_and_goes_as_if_each_were_placed_alone(data: st.DataObject) -> None:
    limits = data.draw(
        st.sampled_from([LIMITS, SmLimits(threads=1100), SmLimits(blocks=3, registers=70_000), SmLimits(warps=40)])
    )
    sms = data.draw(st.integers(1, 5))
    state = SmState(sms, limits)
    shown: list[Counter[Block]] = [Counter() for _ in range(sms)]
    alone = [False] * sms
    there: list[tuple[Block | None, tuple[tuple[int, int], ...]]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        if there and data.draw(st.booleans()):
            block, places = there.pop(data.draw(st.integers(0, len(there) - 1)))
            state.give_back(state.need(block), places)
            for sm, count in places:
                if block is None:
                    alone[sm] = False
                else:
                    shown[sm][block] -= count
            continue
        block = data.draw(st.sampled_from([*SHAPES, None]))
        if block is None:
            rooms = [int(not alone[sm] and not shown[sm].total()) for sm in range(sms)]
        else:
            rooms = [room_by_hand(limits, shown[sm], block, alone[sm]) for sm in range(sms)]
        assert [state.room(state.need(block), sm) for sm in range(sms)] == rooms
        wanted = data.draw(st.integers(0, 40))
        places = state.place(state.need(block), wanted)
        assert list(places) == [(sm, count) for sm, count in enumerate(one_by_one(rooms, wanted)) if count]
        for sm, count in places:
            if block is None:
                alone[sm] = True
            else:
                shown[sm][block] += count
        there.append((block, places))
        assert state.residents == sum(count for _, places in there for _, count in places)


def test_everything_is_free_again_after_all_blocks_have_gone() -> None:
    state = SmState(3, LIMITS)
    first = state.place(state.need(SHAPES[1]), 4)
    second = state.place(state.need(None), 2)
    assert (first, second) == (((0, 2), (1, 1), (2, 1)), ())
    state.give_back(state.need(SHAPES[1]), first)
    assert state.residents == 0
    assert state.place(state.need(None), 7) == ((0, 1), (1, 1), (2, 1))
    assert state.place(state.need(SHAPES[0]), 1) == ()


@pytest.mark.parametrize("limits", [None, SmLimits(), SmLimits(shared_memory=5)])
def test_a_block_has_an_sm_to_itself_where_nothing_limits_it(limits: SmLimits | None) -> None:
    state, block = SmState(2, limits), Block(threads=64)
    assert (state.need(block), state.per_sm(block)) == (None, 1)
    assert state.place(state.need(block), 3) == ((0, 1), (1, 1))
    assert state.room(state.need(block), 0) == 0
    state.give_back(None, ((0, 1), (1, 1)))
    assert state.room(None, 1) == 1


@pytest.mark.parametrize(
    ("waves", "lengths", "sizes"),
    [
        (Waves(blocks=109, full=108, body=2003), [1001, 1002], [108, 1]),
        (Waves(blocks=109, full=108, body=2003, tail=903), [1100, 903], [108, 1]),
        (Waves(blocks=10, full=3, body=31, tail=1), [10, 10, 10, 1], [3, 3, 3, 1]),
        (Waves(blocks=3, full=3, body=7), [7], [3]),
        (Waves(blocks=0, full=3, body=7), [7], [0]),
        (Waves(blocks=5, full=1, body=3), [0, 1, 0, 1, 1], [1] * 5),
    ],
)
def test_waves_share_the_body_in_whole_ns(waves: Waves, lengths: list[int], sizes: list[int]) -> None:
    assert [waves.length(wave) for wave in range(waves.count)] == lengths
    assert [waves.size(wave) for wave in range(waves.count)] == sizes
    assert sum(lengths) == waves.body


def test_a_wave_draws_its_part_of_the_kernel_and_never_more_than_there_is() -> None:
    # 6 blocks in waves of 4 and 2 of 50 ns each; alone on the whole device its arithmetic would take 60 ns: a block 10.
    waves = Waves(blocks=6, full=4, body=100, compute=60.0, memory=300.0)
    assert waves.draw(0, 4) == (4 * (10 / 50), 1.0)
    assert waves.draw(0, 1) == (10 / 50, 0.25)
    assert waves.draw(1, 2) == (2 * (10 / 50), 1.0)
    assert Waves(blocks=6, full=6, body=0, compute=60.0).draw(0, 6) == (0.0, 0.0)
    assert Waves(blocks=0, full=6, body=90, memory=45.0).draw(0, 0) == (0.0, 0.5)


def test_the_last_wave_is_scaled_as_the_duration_is_and_is_left_out_where_it_is_the_only_one() -> None:
    cost = KernelCost(1000, tail_ns=300, peak_ns=17.0)
    assert waves_of(cost, 109, 108, 1000, 20, 3.0) == Waves(109, 108, 980, 300, 17.0, 3.0)
    assert waves_of(cost, 109, 108, 1103, 22, 3.0) == Waves(109, 108, 1081, 330, 17.0, 3.0)
    assert waves_of(cost, 108, 108, 1000, 20, 3.0) == Waves(108, 108, 980, 0, 17.0, 3.0)
    assert waves_of(cost, 109, 108, 310, 250, 0.0).tail == 60, "never more than all waves together"
