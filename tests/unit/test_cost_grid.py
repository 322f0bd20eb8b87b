"""How many SMs kernels fill."""

from __future__ import annotations

import csv

import pytest

from simsched.cost.grid import blocks, blocks_per_sm, sm_demand
from simsched.cost.registry import work_of
from simsched.cost.work import Work
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, SmLimits
from simsched.profiles import load_hardware
from tests.known_answers import folder

V100 = load_hardware("v100_sxm2_16gb").devices[0]
HUGE = Device("gpu", model="sm_share", resources={"sms": 10**6}, sm_limits=V100.sm_limits)


def kernel(shape: tuple[int, ...], op_type: str = "Relu", **extra: object) -> Graph:
    builder = GraphBuilder("kernel")
    builder.add_tensor("x", shape=shape, dtype="fp32", kind="input")
    builder.add_tensor("y", shape=shape, dtype="fp32")
    builder.add_op("k", op_type, inputs=["x"], outputs=["y"], **extra)  # type: ignore[arg-type]
    return builder.build()


def convolution(batch: int, cin: int, cout: int, size: int, stride: int = 1, group: int = 1) -> Graph:
    builder = GraphBuilder("conv")
    builder.add_tensor("x", shape=(batch, cin, size * stride, size * stride), dtype="fp32", kind="input")
    builder.add_tensor("w", shape=(cout, cin // group, 1, 1), dtype="fp32", kind="parameter")
    builder.add_tensor("y", shape=(batch, cout, size, size), dtype="fp32")
    attributes = {"strides": [stride, stride], "kernel_shape": [1, 1], "group": group}
    builder.add_op("c", "Conv", inputs=["x", "w"], outputs=["y"], attributes=attributes)
    return builder.build()


def demand(graph: Graph, device: Device) -> int:
    return sm_demand(graph, 0, work_of(graph, 0), device)


@pytest.mark.parametrize(
    ("tiles", "expected"),
    [
        ((1, 128, 64, 5), 1),
        ((1, 129, 64, 5), 2),
        ((1, 128, 65, 5), 2),
        ((7, 300, 200, 11), 7 * 3 * 4),
        ((0, 9, 9, 9), 1),
    ],
)
def test_blocks_of_a_matrix_product(tiles: tuple[int, int, int, int], expected: int) -> None:
    assert blocks(Work(0, 0, 0, "matrix", tiles=tiles)) == expected


@pytest.mark.parametrize(("elements", "expected"), [(0, 1), (1, 1), (1024, 1), (1025, 2), (7 * 1024 + 1, 8)])
def test_blocks_of_other_kernels(elements: int, expected: int) -> None:
    assert blocks(Work(0, 0, 0, "vector", elements=elements)) == expected


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (SmLimits(threads=2048, blocks=32), 8),
        (SmLimits(threads=1536, blocks=24), 6),
        (SmLimits(threads=1024, blocks=16), 4),
        (SmLimits(threads=2048, blocks=3), 3),
        (SmLimits(threads=96), 1),
        (SmLimits(), 1),
        (SmLimits(registers=3 * 256 * 32), 3),
        (None, 1),
    ],
)
def test_blocks_on_an_sm(limits: SmLimits | None, expected: int) -> None:
    device = Device("gpu", sm_limits=limits)
    assert blocks_per_sm(Work(0, 0, 0, "vector", elements=9), device) == expected
    assert blocks_per_sm(Work(0, 0, 0, "matrix", tiles=(1, 9, 9, 9)), device) == 1


def test_without_limits_a_convolution_is_tiled_like_the_product_that_it_is() -> None:
    cores, many = (Device("cpu", model="sm_share", resources={"sms": sms}) for sms in (64, 10**6))
    # 4 x 56 x 56 = 12,544 rows: 98 tiles; 64 columns: 1; 256 columns: 4
    assert demand(convolution(4, 64, 64, 56), many) == 98
    assert demand(convolution(4, 64, 256, 56), many) == 4 * 98
    assert demand(convolution(4, 64, 256, 56), cores) == 64
    # 7 x 7 = 49 rows, 512 columns, at batch 1: 8 tiles
    assert demand(convolution(1, 2048, 512, 7), cores) == 8


def test_what_the_graph_demands_wins_within_the_device() -> None:
    assert demand(kernel((1 << 20,), demands={"sms": 3}), V100) == 3
    assert demand(kernel((1,), demands={"sms": 999}), V100) == 80
    assert demand(kernel((1 << 20,), demands={"tensor_units": 3}), V100) == 80


def test_a_kernel_without_a_grid_fills_the_device() -> None:
    assert demand(kernel((10,), "Fused", flops=10**9), V100) == 80
    builder = GraphBuilder("bytes")
    builder.add_tensor("x", bytes=4096, kind="input")
    builder.add_op("k", "Relu", inputs=["x"])
    assert demand(builder.build(), V100) == 80


def test_stated_flops_of_a_known_product_keep_its_tiles() -> None:
    builder = GraphBuilder("product")
    for name, shape in (("x", (128, 7)), ("w", (7, 192)), ("y", (128, 192))):
        builder.add_tensor(name, shape=shape, dtype="fp32")
    builder.add_op("mm", "MatMul", inputs=["x", "w"], outputs=["y"], flops=10**9)
    assert demand(builder.build(), V100) == 3


def test_views_and_lanes_hold_no_sms() -> None:
    assert demand(kernel((1 << 20,), "Reshape"), V100) == 0
    assert demand(kernel((1 << 20,)), Device("d0", streams=4)) == 0
    assert demand(kernel((0,)), V100) == 1


@pytest.mark.parametrize(("channels", "size", "expected"), [(64, 112, 392), (64, 56, 98), (256, 56, 392), (512, 7, 13)])
def test_element_wise_kernels_as_published_for_a_v100(channels: int, size: int, expected: int) -> None:
    """SMs that element-wise kernels of ResNet-50 need at batch 4 (Orion, EuroSys 2024): 8192 elements on each."""
    assert demand(kernel((4, channels, size, size)), HUGE) == expected


def test_every_element_wise_kernel_of_resnet50_needs_the_sms_that_were_counted() -> None:
    with (folder("orion_kernels") / "resnet50_4_fwd.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    counted = [int(row["SM_usage"]) for row in rows if "vectorized_elementwise_kernel" in row["Name"]]
    shapes = [(64, 112)]  # behind the first convolution; then, per block: two inner ones, the addition, the outer one
    for planes, size, repeats in ((64, 56, 3), (128, 28, 4), (256, 14, 6), (512, 7, 3)):
        for number in range(repeats):
            before = size * 2 if number == 0 and planes > 64 else size
            shapes += [(planes, before), (planes, size), (4 * planes, size), (4 * planes, size)]
    assert [demand(kernel((4, channels, size, size)), HUGE) for channels, size in shapes] == counted
