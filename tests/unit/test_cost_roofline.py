"""The roofline model against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.cost.registry import DEFAULT
from simsched.cost.roofline import Roofline, whole_ns
from simsched.cost.work import vector
from simsched.errors import CostError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, Efficiency, lanes
from simsched.problem import make_problem
from simsched.profiles import load_hardware

# 26 TFLOP/s x 0.5 = 13,000 FLOP a ns; 170 GB/s x 0.1 = 17 B a ns; 7 ns of launch.
LANES = Device(
    "d0",
    memory_bandwidth=170e9,
    peaks={"vector": {"fp32": 26e12}, "matrix": {"fp16": 46e12}},
    efficiency=Efficiency(matrix=0.25, vector=0.5, bandwidth=0.1),
    launch_ns=7,
)
TOY = load_hardware("toy_4sm").devices[0]  # 1000 FLOP and 100 B a ns; 250 FLOP a ns on each of 4 SMs; 1000 ns launch


def stated(flops: int, traffic: int, **extra: object) -> Graph:
    builder = GraphBuilder("one")
    builder.add_op("a", flops=flops, traffic=traffic, **extra)  # type: ignore[arg-type]
    return builder.build()


def matmul(m: int, n: int, k: int, dtype: str = "fp32") -> Graph:
    builder = GraphBuilder("product")
    builder.add_tensor("x", shape=(m, k), dtype=dtype, kind="input")
    builder.add_tensor("w", shape=(k, n), dtype=dtype, kind="parameter")
    builder.add_tensor("y", shape=(m, n), dtype=dtype)
    builder.add_op("mm", "MatMul", inputs=["x", "w"], outputs=["y"])
    return builder.build()


def unary(op_type: str, shape: tuple[int, ...], dtype: str = "fp32") -> Graph:
    builder = GraphBuilder("unary")
    builder.add_tensor("x", shape=shape, dtype=dtype, kind="input")
    builder.add_tensor("y", shape=shape, dtype=dtype)
    builder.add_op("u", op_type, inputs=["x"], outputs=["y"])
    return builder.build()


def test_the_slower_side_and_the_launch() -> None:
    # 390,000,000 / 13,000 = 30,000 ns of arithmetic; 1,700 / 17 = 100 ns of memory
    cost = Roofline()(stated(390_000_000, 1_700), 0, LANES)
    assert (cost.compute_ns, cost.memory_ns, cost.launch_ns) == (30_000.0, pytest.approx(100), 7.0)
    assert (cost.duration, cost.bound) == (30_007, "compute")
    # 13,000 / 13,000 = 1 ns of arithmetic; 1,001 / 17 = 58.9 ns of memory, rounded up
    cost = Roofline()(stated(13_000, 1_001), 0, LANES)
    assert (cost.duration, cost.bound) == (59 + 7, "memory")
    assert cost.intensity == pytest.approx(13_000 / 1_001)
    # 34 / 17 = 2 ns of memory, less than the launch
    cost = Roofline()(stated(13, 34), 0, LANES)
    assert (cost.duration, cost.bound) == (9, "launch")


def test_workspace_and_figures_are_passed_on() -> None:
    cost = Roofline()(stated(13_000, 1_001, workspace=19), 0, LANES)
    assert (cost.flops, cost.bytes, cost.workspace, cost.sms, cost.known) == (13_000, 1_001, 19, 0, True)


def test_a_matrix_product_that_fills_the_device() -> None:
    cost = Roofline()(matmul(256, 128, 64), 0, TOY)
    # 2 x 256 x 128 x 64 = 4,194,304 FLOP; 4 B x (256 x 64 + 64 x 128 + 256 x 128) = 229,376 B; 2 x 2 tiles
    assert (cost.flops, cost.bytes, cost.sms) == (4_194_304, 229_376, 4)
    assert (cost.compute_ns, cost.memory_ns) == pytest.approx((4194.304, 2293.76))
    assert (cost.duration, cost.bound) == (4195 + 1000, "compute")


def test_half_a_product_on_half_of_the_sms_takes_as_long() -> None:
    cost = Roofline()(matmul(128, 128, 64), 0, TOY)
    # 2,097,152 FLOP at 2 / 4 of the peak; the memory side keeps the whole bandwidth: 131,072 B / 100
    assert cost.sms == 2
    assert (cost.compute_ns, cost.memory_ns) == pytest.approx((4194.304, 1310.72))
    assert cost.duration == 5195


def test_lower_precision_uses_the_matrix_unit_and_moves_half() -> None:
    cost = Roofline()(matmul(256, 128, 64, "fp16"), 0, TOY)
    # 4,194,304 / 4000 = 1048.576 ns; 114,688 B / 100 = 1146.88 ns
    assert (cost.compute_ns, cost.memory_ns) == pytest.approx((1048.576, 1146.88))
    assert (cost.duration, cost.bound) == (1147 + 1000, "memory")


def test_an_element_wise_kernel() -> None:
    cost = Roofline()(unary("Relu", (3, 1024)), 0, TOY)
    # 3,072 comparisons in three blocks of 1024 elements, one to an SM: 750 FLOP a ns; 24,576 B / 100
    assert cost.sms == 3
    assert (cost.compute_ns, cost.memory_ns) == pytest.approx((4.096, 245.76))
    assert (cost.duration, cost.bound) == (1246, "launch")


def test_a_stated_demand_of_sms_wins() -> None:
    graph = stated(1_000_000, 0, demands={"sms": 1})
    cost = Roofline()(graph, 0, TOY)
    assert (cost.sms, cost.compute_ns) == (1, 4000.0)
    problem = make_problem(graph, load_hardware("toy_4sm"))
    assert (problem.demand(0), problem.durations()[0]) == ({"sms": 1}, 5000)


def test_kernels_side_by_side_never_compute_faster_than_the_device() -> None:
    for m, n in ((1, 1), (128, 64), (129, 64), (640, 320)):
        cost = Roofline()(matmul(m, n, 4096), 0, TOY)
        rate = cost.flops / cost.compute_ns
        side_by_side = TOY.sms // cost.sms
        assert rate * side_by_side <= 1000 * (1 + 1e-12)


def test_a_view_costs_nothing_not_even_a_launch() -> None:
    cost = Roofline()(unary("Reshape", (5, 7)), 0, TOY)
    assert (cost.duration, cost.sms, cost.bytes, cost.bound, cost.known) == (0, 0, 0, "none", True)


def test_an_unknown_operator_is_costed_by_its_bytes() -> None:
    cost = Roofline()(unary("Wobble", (5, 700)), 0, TOY)
    # 2 x 14,000 B / 100
    assert (cost.duration, cost.flops, cost.bytes, cost.known) == (280 + 1000, 0, 28_000, False)


def test_an_operator_that_runs_a_kernel_on_nothing_costs_a_launch() -> None:
    cost = Roofline()(unary("Relu", (0, 7)), 0, TOY)
    assert (cost.duration, cost.sms, cost.bound) == (1000, 1, "launch")


def test_fp32_products_may_use_tf32_units() -> None:
    a100 = load_hardware("a100_sxm_80gb").devices[0]
    graph = matmul(108 * 128, 64, 8192)  # 108 tiles fill all SMs
    flops = 2 * 108 * 128 * 64 * 8192
    plain, fast = Roofline()(graph, 0, a100), Roofline(fp32_math="tf32")(graph, 0, a100)
    assert plain.sms == 108
    assert plain.compute_ns == pytest.approx(flops / (19.5e3 * 0.8))
    assert fast.compute_ns == pytest.approx(flops / (156e3 * 0.869))


def test_fp32_math_of_another_kind() -> None:
    with pytest.raises(CostError, match=r"^fp32_math is 'fp32' or 'tf32', not 'bf16'$"):
        Roofline(fp32_math="bf16")  # type: ignore[arg-type]


def test_a_device_without_vector_peaks_is_costed_by_bytes_and_multiplies_fp32_in_bf16() -> None:
    tpu = load_hardware("tpu_v5e").devices[0]
    relu, product = Roofline()(unary("Relu", (1000, 1000)), 0, tpu), Roofline()(matmul(512, 512, 512), 0, tpu)
    assert (relu.compute_ns, relu.memory_ns) == (0.0, pytest.approx(8e6 / (819 * 0.85)))
    assert product.compute_ns == pytest.approx(2 * 512**3 / (197e3 * 0.8))


def test_a_registry_of_ones_own() -> None:
    mine = DEFAULT.with_rule("Wobble", lambda op: vector(op, 3_000_000, 4096))
    cost = Roofline(registry=mine)(unary("Wobble", (5, 700)), 0, TOY)
    assert (cost.compute_ns, cost.known) == (3000.0, True)


def test_explicit_durations_win() -> None:
    builder = GraphBuilder("mixed")
    builder.add_op("a", duration=11, flops=10**9)
    builder.add_op("b", flops=10**9)
    problem = make_problem(builder.build(), load_hardware("toy_4sm"))
    assert list(problem.durations()) == [11, 10**6 + 1000]
    assert problem.cost(0).bound == "explicit"


def test_ideal_hardware_cannot_cost_a_network() -> None:
    builder = GraphBuilder("net")
    builder.add_tensor("x", shape=(2, 3), dtype="fp32", kind="input")
    for number, (source, target) in enumerate((("x", "y"), ("y", "z"), ("z", "t"))):
        builder.add_tensor(target, shape=(2, 3), dtype="fp32")
        builder.add_op(f"relu{number}", "Relu", inputs=[source], outputs=[target])
    builder.add_op("timed", duration=5)
    with pytest.raises(CostError) as caught:
        make_problem(builder.build(), lanes(4))
    assert str(caught.value) == (
        "operator 'relu0' (Relu) and 2 other operators without a duration: device 'd0' has neither peaks nor memory "
        "bandwidth to cost it by; give durations in the graph, or choose hardware with such figures, "
        "e.g. a100_sxm_80gb"
    )


def test_an_operator_about_which_nothing_is_known() -> None:
    builder = GraphBuilder("bare")
    builder.add_op("a")
    builder.add_op("b")
    with pytest.raises(CostError) as caught:
        make_problem(builder.build(), load_hardware("toy_4sm"))
    assert str(caught.value) == (
        "operator 'a' (op) and 1 other operator without a duration: there is nothing to cost it by; "
        "give a 'duration', or 'flops', or tensors"
    )


def test_a_dtype_without_a_peak() -> None:
    with pytest.raises(CostError) as caught:
        Roofline()(matmul(3, 5, 7, "fp64"), 0, TOY)
    assert str(caught.value) == (
        "operator 'mm' (MatMul): device 'gpu' has peaks.vector.fp32, peaks.matrix.fp16, and none of "
        "peaks.matrix.fp64, peaks.vector.fp64; add one to its profile, or give the operator a duration"
    )


def test_peaks_without_bandwidth() -> None:
    device = Device("d0", peaks={"vector": {"fp32": 1e12}})
    assert Roofline()(stated(3_000_000, 0), 0, device).duration == 3000
    with pytest.raises(CostError, match="device 'd0' has no memory bandwidth to cost it by"):
        Roofline()(stated(3_000_000, 1), 0, device)


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [(0.0, 0), (1e-9, 0), (1e-5, 1), (7.0, 7), (7.0000000001, 7), (7.00001, 8), (6.999999, 7)],
)
def test_rounding_is_up_and_free_of_float_noise(nanoseconds: float, expected: int) -> None:
    assert whole_ns(nanoseconds) == expected


@given(st.integers(1, 10**15), st.integers(0, 10**12), st.integers(1, 4))
def test_more_work_never_takes_less(flops: int, traffic: int, sms: int) -> None:
    def duration(flops: int, traffic: int, sms: int) -> int:
        return Roofline()(stated(flops, traffic, demands={"sms": sms}), 0, TOY).duration

    here = duration(flops, traffic, sms)
    assert here >= max(flops * 4 / (1000 * sms), traffic / 100) + 1000 - 1e-3
    assert duration(2 * flops, traffic, sms) >= here
    assert duration(flops, 2 * traffic, sms) >= here
    assert duration(flops, traffic, 4) <= here
