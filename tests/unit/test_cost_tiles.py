"""Matrix kernels in tiles and waves, against numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.cost import tiles
from simsched.cost.base import Block, KernelCost
from simsched.cost.peaks import Peak
from simsched.cost.registry import work_of
from simsched.cost.roofline import Roofline
from simsched.cost.tiles import fastest
from simsched.cost.work import Convolution, Work
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, SmLimits
from simsched.profiles import load_hardware

# 7 SMs, each of which advances 10 outputs by a step in a ns: 2 FLOP x 10 x 7 = 140 FLOP a ns. Two blocks fit on an SM.
SMS, RATE = 7, 10
PEAK = Peak("vector.fp32", 140e9, 1.0)
LIMITS = SmLimits(registers=2 * 128 * 128)
DEVICE = Device(
    "gpu", kind="gpu", model="sm_share", resources={"sms": SMS}, sm_limits=LIMITS,
    memory_bandwidth=1e12, launch_ns=300, peaks={"vector": {"fp32": 140e9}},
)  # fmt: skip
BLOCK = Block(128, 128, 16 * 1024)
V100 = load_hardware("v100_sxm2_16gb").devices[0]


def product(batch: int, m: int, n: int, k: int, convolution: Convolution | None = None) -> Work:
    flops = 2 * batch * m * n * k
    return Work(flops, 0, 0, "matrix", tiles=(batch, m, n, k), convolution=convolution)


def time(work: Work, device: Device = DEVICE, sms: int = SMS, peak: Peak = PEAK) -> tuple[float, int, float]:
    way = fastest(work, device, peak, sms)
    assert way is not None
    assert way.block == BLOCK
    return way.compute, way.grid, way.tail


@pytest.fixture
def one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 128 x 64 only."""
    monkeypatch.setattr(tiles, "TILES", tiles.TILES[:1])


def test_a_tile_on_each_sm() -> None:
    # 7 tiles of 128 x 64: 8,192 outputs on each SM, 819.2 ns a step, 11 steps: too few to be divided
    assert time(product(1, 7 * 128, 64, 11)) == (pytest.approx(8192 / RATE * 11), 7, 0)


def test_an_sm_with_little_work_waits_for_its_own_steps() -> None:
    # one tile of 64 x 64: 4,096 outputs, less than the 6,400 that hide the latency of a step
    assert time(product(1, 64, 64, 11)) == (pytest.approx(6400 / RATE * 11), 1, 0)
    # two on an SM: 14 tiles, 8,192 outputs on each SM, more than 6,400
    assert time(product(14, 64, 64, 11)) == (pytest.approx(8192 / RATE * 11), 14, 0)


@pytest.mark.usefixtures("one_size")
def test_a_tile_more_than_sms_takes_as_long_as_two_each() -> None:
    assert time(product(8, 128, 64, 11)) == (pytest.approx(2 * 8192 / RATE * 11), 8, 0)


def test_the_fastest_size_of_tiles_is_taken() -> None:
    # 8 tiles of 128 x 64: 18,022 ns, as above. 16 tiles of 64 x 64: a wave of 14, two on an SM (819.2 ns a step), and
    # 2 more, one on an SM (640 ns a step).
    assert time(product(8, 128, 64, 11)) == (pytest.approx((819.2 + 640) * 11), 16, pytest.approx(7040))


@pytest.mark.usefixtures("one_size")
def test_a_third_tile_on_an_sm_makes_a_second_wave() -> None:
    # 14 fit at a time; the 15th is a wave of its own, one tile on an SM
    compute, grid, tail = time(product(15, 128, 64, 11))
    assert (grid, tail) == (15, pytest.approx(8192 / RATE * 11))
    assert compute == pytest.approx(3 * 8192 / RATE * 11)


@pytest.mark.usefixtures("one_size")
def test_on_fewer_sms() -> None:
    assert time(product(1, 7 * 128, 64, 11), sms=3) == (pytest.approx(3 * 8192 / RATE * 11), 7, pytest.approx(9011.2))


def test_a_long_product_is_divided_along_k() -> None:
    # One tile of 128 x 64 and 96 steps. In one part: 819.2 x 96 = 78,643 ns. In 2 parts of 48 steps, and 4 of 24, the
    # parts are on SMs of their own: 39,322 and 19,661 ns; 8 parts would have 12 steps each, fewer than 16. Tiles of
    # 64 x 64: 2 x 4 parts are 8 on 7 SMs, 819.2 x 24 again. A launch adds partial sums: 300 ns, and 2 x 4 parts x 4 B x
    # 8,192 = 262,144 B at 1,000 B a ns.
    compute, grid, _ = time(product(1, 128, 64, 96))
    assert (compute, grid) == (pytest.approx(19_660.8 + 300 + 262.144), 4)


def test_a_narrow_block_divides_k_among_its_threads() -> None:
    # One row: tiles of 1 x 64, whose blocks take all 4 parts of 64 steps themselves, without another launch.
    assert time(product(1, 1, 64, 64)) == (pytest.approx(6400 / RATE * 16), 1, 0)


def test_no_tile_fits() -> None:
    small = Device("gpu", model="sm_share", resources={"sms": 7}, sm_limits=SmLimits(registers=1024))
    assert fastest(product(1, 128, 64, 11), small, PEAK, 7) is None


def window(size: int = 3, stride: int = 1, dilation: int = 1, output: tuple[int, int] = (5, 4)) -> Convolution:
    return Convolution(3, output, (size, size), (stride, stride), (dilation, dilation))


FILTERS = 41 * 4 * 64 * 448 / 1000
"""Filters of 64 x 448 channels: 9 elements of 4 B are read, and 16 written and read, at 1,000 B a ns."""


@pytest.mark.usefixtures("one_size")
def test_winograds_filtering_of_3_x_3_windows() -> None:
    # 3 images of 20 x 16 outputs, 64 channels in, 448 out: 3 x 10 x 8 = 240 tiles of 2 x 2. 16 products of 240 x 448 x
    # 64: 16 x 2 x 7 = 224 blocks, 16 waves of two on an SM: 1,638.4 ns for each of 64 steps.
    # Directly: 960 rows, 448 columns, 576 steps: 8 x 7 = 56 blocks, 4 waves.
    winograd = 15_000 + FILTERS + 16 * 1638.4 * 64
    assert winograd < 15_000 + 4 * 1638.4 * 576
    work = product(1, 960, 448, 576, window(output=(20, 16)))
    assert time(work) == (pytest.approx(winograd), 224, pytest.approx(1638.4 * 64))


@pytest.mark.usefixtures("one_size")
def test_winograds_filtering_does_not_pay_for_few_outputs() -> None:
    # 3 images of 5 x 4: 3 x 3 x 2 = 18 tiles of 2 x 2. 16 products of 18 x 448 x 64: tiles of 32 x 64, 112 blocks, 8
    # waves of two on an SM, whose 4,096 outputs hide no latency: 640 ns for each of 64 steps.
    # Directly: 60 rows are tiles of 64 x 64, one on an SM, whose blocks take two parts of k: 819.2 ns x 288 steps.
    direct = 15_000 + 819.2 * 288
    assert direct < 15_000 + FILTERS + 8 * 640 * 64
    assert time(product(1, 60, 448, 576, window())) == (pytest.approx(direct), 7, 0)


@pytest.mark.usefixtures("one_size")
@pytest.mark.parametrize("shape", [window(5), window(stride=2), window(dilation=2)])
def test_other_windows_are_direct_products(shape: Convolution) -> None:
    work = product(1, 960, 448, 576, shape)
    assert time(work)[0] == pytest.approx(15_000 + 4 * 1638.4 * 576)


@pytest.mark.usefixtures("one_size")
def test_matrix_units_multiply_directly() -> None:
    work = product(1, 960, 448, 576, window(output=(20, 16)))
    assert time(work, peak=Peak("matrix.fp16", 140e9, 1.0))[0] == pytest.approx(15_000 + 4 * 1638.4 * 576)


# --- as costs ---------------------------------------------------------------------------------------------------


def convolution(batch: int, cin: int, cout: int, size: int, kernel: int = 1, **extra: Any) -> Graph:
    builder = GraphBuilder("conv")
    builder.add_tensor("x", shape=(batch, cin, size, size), dtype="fp32", kind="input")
    builder.add_tensor("w", shape=(cout, cin, kernel, kernel), dtype="fp32", kind="parameter")
    builder.add_tensor("y", shape=(batch, cout, size, size), dtype="fp32")
    builder.add_op("c", "Conv", inputs=["x", "w"], outputs=["y"], **extra)
    return builder.build()


def cost_of(graph: Graph, device: Device = V100) -> KernelCost:
    return Roofline()(graph, 0, device)


def test_the_rule_of_convolutions_says_their_windows() -> None:
    attributes = {"strides": [1, 1], "dilations": [2, 1]}
    work = work_of(convolution(2, 3, 5, 7, 3, attributes=attributes), 0)
    assert work.convolution == Convolution(2, (7, 7), (3, 3), (1, 1), (2, 1))
    assert work_of(convolution(2, 3, 5, 7), 0).convolution == Convolution(2, (7, 7), (1, 1), (1, 1), (1, 1))


def test_a_convolution_on_a_v100() -> None:
    # Orion: 512 -> 2048 channels at 7 x 7, batch 4: measured 71.0 us on 16 SMs of 4 blocks, 64 tiles of 128 x 64.
    # 15.7 TFLOP/s x 0.8 / 80 SMs / 2 = 78.5 outputs a ns: 8,192 / 78.5 x 512 = 53,431 ns. Other tiles and parts make
    # the fullest SM no less full.
    cost = cost_of(convolution(4, 512, 2048, 7))
    assert cost.compute_ns == pytest.approx(15_000 + 8192 / 78.5 * 512)
    assert (cost.grid, cost.block, cost.tail_ns) == (64, BLOCK, 0)
    assert cost.duration == 15_000 + 53_431 + 2_200
    # 411,041,792 FLOP / 12,560 a ns are 32,726 ns of the whole device: 38.3 of 80 SMs' worth of 68,431 ns
    assert cost.peak_ns == pytest.approx(32_726.26, abs=0.01)
    assert cost.sms == 39


def test_the_last_wave_is_known_where_arithmetic_decides() -> None:
    # 32 x 28 x 28 = 25,088 rows: 196 tiles x 8 of 512 columns = 1,568 blocks; 320 a wave: 4 waves and 288 blocks
    cost = cost_of(convolution(32, 256, 512, 28))
    assert (cost.grid, cost.bound) == (1568, "compute")
    assert cost.tail_ns == int(4 * 8192 / 78.5 * 256)


def test_where_memory_decides_waves_are_equal() -> None:
    cost = cost_of(convolution(128, 32, 32, 56))
    assert (cost.bound, cost.tail_ns) == ("memory", 0)


def test_demands_that_the_graph_states_bound_the_sms() -> None:
    whole, few = cost_of(convolution(4, 512, 2048, 7)), cost_of(convolution(4, 512, 2048, 7, demands={"sms": 16}))
    assert few.sms == 16
    assert few.compute_ns == pytest.approx(15_000 + 4 * (whole.compute_ns - 15_000))


def test_stated_grids_are_quantised() -> None:
    def of(grid: int) -> KernelCost:
        builder = GraphBuilder("stated")
        builder.add_op("a", flops=grid * 10**9, attributes={"grid": grid, "block": {"threads": 1024}})
        return Roofline()(builder.build(), 0, V100)

    # 10^9 FLOP on an SM at 157 a ns; two blocks of 1,024 threads fit on an SM
    one = 1e9 / 157
    assert [round(of(grid).compute_ns / one, 6) for grid in (1, 80, 81, 160, 161)] == [1, 1, 2, 2, 3]
    assert [of(grid).sms for grid in (1, 80, 81, 160, 161)] == [1, 80, 41, 80, 80]
    assert (of(160).tail_ns, of(161).tail_ns, of(161).grid) == (0, int(one), 161)


def test_lanes_have_the_whole_peak() -> None:
    device = Device("d0", streams=2, sm_limits=V100.sm_limits, memory_bandwidth=1e12, peaks={"vector": {"fp32": 1e12}})
    cost = cost_of(convolution(4, 1024, 512, 14), device)
    assert (cost.compute_ns, cost.sms, cost.grid) == (pytest.approx(822_083.584), 0, 0)


def test_blocks_and_sm_share_take_equally_long() -> None:
    from dataclasses import replace

    graph = convolution(4, 1024, 512, 14)
    assert cost_of(graph, replace(V100, model="blocks")) == cost_of(graph)


sizes = st.integers(1, 3000)


@settings(max_examples=200)
@given(st.integers(1, 20), sizes, sizes, sizes)
def test_no_product_computes_faster_than_the_sms_that_it_holds(batch: int, m: int, n: int, k: int) -> None:
    builder = GraphBuilder("mm")
    builder.add_tensor("a", shape=(batch, m, k), dtype="fp32", kind="input")
    builder.add_tensor("b", shape=(batch, k, n), dtype="fp32", kind="input")
    builder.add_tensor("c", shape=(batch, m, n), dtype="fp32")
    builder.add_op("mm", "MatMul", inputs=["a", "b"], outputs=["c"])
    cost = cost_of(builder.build())
    assert cost.peak_ns * V100.sms <= (cost.duration - V100.launch_ns) * cost.sms * (1 + 1e-9)
    assert 1 <= cost.sms <= V100.sms
    assert cost.grid >= 1
    assert 0 <= cost.tail_ns <= cost.compute_ns


def test_constants_are_those_of_the_decision_note() -> None:
    assert (tiles.SATURATION, tiles.CONVOLUTION_START_NS, tiles.CONVOLUTION_PARTS) == (6400, 15_000, 2)
    assert (tiles.PRODUCT_PARTS, tiles.SHORTEST) == (32, 16)
    assert [(tile.rows, tile.columns) for tile in tiles.TILES] == [(128, 64), (64, 64)]
