"""Blocks per SM: by hand from CUDA's limits, and against brute force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.cost.base import Block
from simsched.cost.occupancy import Occupancy, needs, occupancy
from simsched.hardware import SmLimits
from simsched.profiles import load_hardware

V100 = load_hardware("v100_sxm2_16gb").devices[0].sm_limits
T4 = load_hardware("t4").devices[0].sm_limits
A100 = load_hardware("a100_sxm_80gb").devices[0].sm_limits


@pytest.mark.parametrize(
    ("block", "limits", "expected"),
    [
        # 2048 threads an SM: 2048 / 256 = 8; registers 256 x 32 = 8,192: 65,536 / 8,192 = 8 too, threads come first.
        (Block(256, 32), V100, Occupancy(8, "threads")),
        # 256 x 33 = 8,448 registers: 7 fit (59,136), 8 would take 67,584.
        (Block(256, 33), V100, Occupancy(7, "registers")),
        # 128 threads of 128 registers: 16,384 registers, a quarter of the file; volta_scudnn_128x64's shape.
        (Block(128, 128), V100, Occupancy(4, "registers")),
        # 96 KiB of shared memory: 3 blocks of 32,000 B, not 4.
        (Block(64, 16, 32_000), V100, Occupancy(3, "shared_memory")),
        (Block(64, 16, 98_304), V100, Occupancy(1, "shared_memory")),
        # more than a block may have, and more than an SM has
        (Block(64, 16, 98_305), V100, Occupancy(0, "shared_memory")),
        # A100: 164 KiB an SM, but 163 KiB a block
        (Block(64, 16, 163 * 1024), A100, Occupancy(1, "shared_memory")),
        (Block(64, 16, 164 * 1024), A100, Occupancy(0, "shared_memory")),
        # small blocks: 32 an SM on a V100, 16 on a T4
        (Block(32, 16), V100, Occupancy(32, "blocks")),
        (Block(32, 16), T4, Occupancy(16, "blocks")),
        # 33 threads take two warps: 64 / 2 = 32 by warps and by blocks, 2048 // 33 = 62 by threads
        (Block(33), V100, Occupancy(32, "warps")),
        # 65 threads take three warps: 64 // 3 = 21, while 2048 // 65 = 31
        (Block(65), V100, Occupancy(21, "warps")),
        # 1024 threads of 65 registers: 66,560, more than an SM has
        (Block(1024, 65), V100, Occupancy(0, "registers")),
        (Block(1024, 64), T4, Occupancy(1, "threads")),
        (Block(7, 11, 13), None, Occupancy(1, "none")),
        (Block(7, 11, 13), SmLimits(), Occupancy(1, "none")),
        (Block(7), SmLimits(registers=65536), Occupancy(1, "none")),
        (Block(65), SmLimits(warps=8, warp_size=64), Occupancy(4, "warps")),
    ],
)
def test_blocks_on_an_empty_sm(block: Block, limits: SmLimits | None, expected: Occupancy) -> None:
    assert occupancy(block, limits) == expected


amounts = st.integers(1, 300)
optional = st.none() | amounts


@given(
    st.builds(Block, threads=amounts, registers=st.integers(0, 9), shared_memory=st.integers(0, 200)),
    st.builds(
        SmLimits,
        threads=optional,
        warps=optional,
        registers=st.none() | st.integers(1, 3000),
        shared_memory=optional,
        blocks=st.integers(1, 40),
        warp_size=st.integers(1, 64),
    ),
)
def test_as_many_as_can_be_put_one_by_one(block: Block, limits: SmLimits) -> None:
    left = {row.limit: row.there for row in needs(block, limits)}
    count = 0
    while all(left[row.limit] >= row.need for row in needs(block, limits)):
        for row in needs(block, limits):
            left[row.limit] -= row.need
        count += 1
    found = occupancy(block, limits)
    assert found.blocks == count
    assert found.limiter in left
    assert next(row.need for row in needs(block, limits) if row.limit == found.limiter) > left[found.limiter]
