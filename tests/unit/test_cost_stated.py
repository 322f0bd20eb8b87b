"""Grids and blocks that a graph states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simsched.cost.base import Block
from simsched.cost.stated import Launch, stated_launch
from simsched.errors import GraphError
from simsched.graph.builder import GraphBuilder
from simsched.graph.dump import dump_graph
from simsched.graph.model import Graph
from simsched.hardware import HardwareProfile, SmLimits
from simsched.problem import make_problem
from simsched.profiles import load_hardware
from tests.builders import small_gpu

A100 = load_hardware("a100_sxm_80gb")


def one(attributes: dict[str, Any], **extra: Any) -> Graph:
    builder = GraphBuilder("one")
    builder.add_op("a", attributes=attributes, **({"duration": 700} | extra))
    return builder.build()


def limited(**limits: int) -> HardwareProfile:
    hardware = small_gpu(sms=5)
    return replace(hardware, devices=(replace(hardware.devices[0], sm_limits=SmLimits(**limits)),))


def test_a_stated_grid_reaches_the_cost() -> None:
    graph = one({"grid": 109, "block": {"threads": 256, "registers": 64, "shared_memory": 1024}})
    cost = make_problem(graph, A100).cost(0)
    assert (cost.duration, cost.grid, cost.block, cost.bound) == (700, 109, Block(256, 64, 1024), "explicit")
    # 65,536 / (256 x 64) = 4 blocks an SM: ceil(109 / 4) = 28 SMs
    assert cost.sms == 28
    assert make_problem(graph, A100).demand(0)["sms"] == 28


def test_a_grid_without_a_block_has_one_block_an_sm() -> None:
    problem = make_problem(one({"grid": 109}), A100)
    assert (problem.cost(0).grid, problem.cost(0).block, problem.cost(0).sms) == (109, None, 108)
    assert make_problem(one({"grid": 3}), A100).cost(0).sms == 3


def test_a_stated_demand_wins_over_the_grid() -> None:
    assert make_problem(one({"grid": 109}, demands={"sms": 7}), A100).demand(0) == {"sms": 7}


def test_stated_flops_are_drawn_from_the_peak() -> None:
    # fp32 on the vector units: 19.5 TFLOP/s x 0.8
    cost = make_problem(one({"grid": 2}, flops=31_200_000), A100).cost(0)
    assert cost.peak_ns == pytest.approx(2000.0)


def test_on_lanes_no_sms_are_held() -> None:
    hardware = replace(A100, devices=(replace(A100.devices[0], model="lanes"),))
    assert make_problem(one({"grid": 109}), hardware).demand(0) == {}


def test_it_survives_a_dump() -> None:
    attributes = {"grid": 11, "block": {"threads": 96}}
    graph = one(attributes)
    assert dump_graph(graph)["operators"][0]["attributes"] == attributes
    assert stated_launch(graph, 0) == Launch(11, Block(96, 0, 0))


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"grid": 0}, "operator 'a' states 'grid' as 0; expected a whole number from 1 to 10**15"),
        ({"grid": True}, "states 'grid' as True"),
        ({"grid": [3, 4]}, "states 'grid' as [3, 4]"),
        ({"block": {"threads": 32}}, "states a 'block' without a 'grid'"),
        ({"grid": 3, "block": 256}, "states the block 256; expected a mapping"),
        ({"grid": 3, "block": {"registers": 3}}, "states a block without 'threads'"),
        ({"grid": 3, "block": {"threads": 32, "register": 3}}, "unknown 'register' of its block; did you mean"),
        ({"grid": 3, "block": {"threads": 32, "registers": -1}}, "states 'registers' as -1"),
        (
            {"grid": 3, "block": {"threads": 1024, "registers": 65}},
            "states a block that needs more registers than an SM of device 'gpu' has",
        ),
    ],
)
def test_what_cannot_be_is_named(attributes: dict[str, Any], expected: str) -> None:
    with pytest.raises(GraphError) as caught:
        make_problem(one(attributes), A100)
    assert expected in str(caught.value)


def test_a_device_on_which_no_block_fits_is_left_out() -> None:
    first, second = limited(threads=64).devices[0], limited(threads=128).devices[0]
    hardware = HardwareProfile("two", (first, replace(second, name="d1")))
    problem = make_problem(one({"grid": 3, "block": {"threads": 100}}), hardware)
    assert problem.allowed_devices(0) == (1,)
