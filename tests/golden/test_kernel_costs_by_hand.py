"""Three operators of Inception v1 on an A100, from their shapes to their places in a run, worked out by hand.

The A100's figures are those of its profile: 19.5 TFLOP/s of fp32 on the vector units, of which good kernels reach 0.8
(products of fp32 matrices run there too: fp32 has no matrix unit), so 15.6 FLOP a ps; 2039 GB/s, of which 0.88 are
reached, so 1794.32 B a ns; 108 SMs; a launch of 2600 ns. One SM advances 15,600 / 2 / 108 = 72.222 outputs of a matrix
product by a step in a ns. Other kernels on s SMs compute at s/108 of the peak.
"""

from __future__ import annotations

import pytest

from simsched import run
from simsched.cost.base import KernelCost
from simsched.result import Result

# conv1/7x7_s2: 3 x 224 x 224 to 64 x 112 x 112 with windows of 7 x 7, stride 2.
#   Outputs: 64 * 112 * 112 = 802,816, each of 3 * 7 * 7 = 147 multiply-adds: 2 * 147 * 802,816 = 236,027,904 FLOPs.
#   Bytes: input 4 * 3 * 224 * 224 = 602,112, weights 4 * 64 * 147 = 37,632, bias 4 * 64 = 256, output 4 * 802,816 =
#   3,211,264; together 3,851,264.
#   As a product it has 112 * 112 = 12,544 rows and 64 columns: 98 * 1 tiles of 128 x 64, one an SM, four fit on one.
#   Compute: 8,192 outputs / 72.222 * 147 steps = 16,673.87 ns, and 15,000 to start a convolution: 31,673.87 ns.
#   Memory: 3,851,264 / 1794.32 = 2,146.36 ns. Duration: 31,674 + 2,600 = 34,274 ns.
#   SMs: its blocks find place on 98 / 4 = 25, but 236,027,904 / 15,600 = 15,130 ns of the whole device's arithmetic in
#   31,674 ns are 51.6 SMs' worth: 52.
CONV = ("conv1/7x7_s2", 236_027_904, 3_851_264, 52, 31_673.87, 2_146.36, 34_274, "compute", 98)

# conv1/7x7_s2/maxpool: 64 x 112 x 112 to 64 x 55 x 55 with windows of 3 x 3.
#   Outputs: 64 * 55 * 55 = 193,600, each of 9 elements: 1,742,400 operations.
#   Bytes: 3,211,264 + 4 * 193,600 = 3,985,664.
#   ceil(193,600 / 1,024) = 190 blocks of 256 threads, 2,048 / 256 = 8 an SM: ceil(190 / 8) = 24 SMs.
#   Compute: 1,742,400 / (15,600 * 24 / 108) = 502.62 ns. Memory: 3,985,664 / 1794.32 = 2,221.27 ns.
#   Duration: 2,222 + 2,600 = 4,822 ns, most of it the launch.
POOL = ("conv1/7x7_s2/maxpool", 1_742_400, 3_985_664, 24, 502.62, 2_221.27, 4_822, "launch", 190)

# loss3/classifier: 1 x 1024 times 1024 x 1000, plus a bias of 1000.
#   2 * 1,024 * 1,000 = 2,048,000 FLOPs.
#   Bytes: 4 * (1,024 + 1,024,000 + 1,000 + 1,000) = 4,108,096.
#   One row: 1,000 columns are ceil(1,000 / 64) = 16 tiles of 1 x 64, whose blocks divide the 1,024 steps into 32 parts.
#   32 * 64 = 2,048 sums hide no latency: 6,400 / 72.222 * 1,024 / 32 = 2,835.69 ns.
#   Memory: 4,108,096 / 1794.32 = 2,289.50 ns. Duration: 2,836 + 2,600 = 5,436 ns.
#   SMs: 16 / 4 = 4, but 2,048,000 / 15,600 = 131.28 ns of the whole device's arithmetic are 5 SMs' worth.
GEMM = ("loss3/classifier", 2_048_000, 4_108_096, 5, 2_835.69, 2_289.50, 5_436, "compute", 16)


@pytest.fixture(scope="module")
def result() -> Result:
    return run("inception_v1", "critical_path", "a100_sxm_80gb")


@pytest.mark.parametrize("row", [CONV, POOL, GEMM], ids=["conv", "pool", "gemm"])
def test_costs_from_shapes(result: Result, row: tuple[str, int, int, int, float, float, int, str, int]) -> None:
    name, flops, traffic, sms, compute, memory, duration, bound, grid = row
    op = result.problem.graph.id_of(name)
    cost: KernelCost = result.problem.cost(op)
    assert (cost.flops, cost.bytes, cost.sms, cost.grid) == (flops, traffic, sms, grid)
    assert cost.compute_ns == pytest.approx(compute, abs=0.006)
    assert cost.memory_ns == pytest.approx(memory, abs=0.006)
    assert (cost.launch_ns, cost.duration, cost.bound) == (2600, duration, bound)
    assert result.problem.demand(op)["sms"] == sms
    assert result.trace.end[op] - result.trace.start[op] == duration


def test_the_first_kernels_run_back_to_back(result: Result) -> None:
    # Convolution, ReLU and pooling are a chain at the start: 34,274 + 6,180 + 4,822 = 45,276 ns. The ReLU reads and
    # writes 3,211,264 B: 6,422,528 / 1794.32 = 3,579.37, so 3,580 + 2,600 = 6,180 ns.
    trace, graph = result.trace, result.problem.graph
    ops = [graph.id_of(name) for name in ("conv1/7x7_s2", "conv1/7x7_s2/relu", "conv1/7x7_s2/maxpool")]
    assert [(trace.start[op], trace.end[op]) for op in ops] == [(0, 34_274), (34_274, 40_454), (40_454, 45_276)]
