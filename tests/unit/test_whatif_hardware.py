"""What-if: every figure of the hardware by name, its values, and what is costed again."""

from __future__ import annotations

import dataclasses

import pytest

from simsched.cost.base import KernelCost
from simsched.errors import ConfigError, GraphError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, Efficiency, HardwareProfile, Host, Link, SmLimits, procs
from simsched.problem import make_problem
from simsched.run import run
from simsched.whatif import Changes, whatif
from simsched.whatif.answer import apply
from simsched.whatif.figures import edited, find, handles
from simsched.whatif.variant import variant_of, with_hardware
from tests.builders import problem_of
from tests.whatif_cases import gpu, kernels, model, ticks

# --- hardware ---------------------------------------------------------------------------------------------------


def test_every_figure_can_be_replaced_by_its_name_and_nothing_else_changes() -> None:
    profile = HardwareProfile(
        "box",
        (gpu().devices[0], dataclasses.replace(gpu(sm_limits=SmLimits(threads=64)).devices[0], name="b")),
        (Link("gpu", "b", 3, 5e9),),
        Host(launch_ns=7, mode="serial", threads=2, graph_ns=11, sync_ns=13, event_ns=17),
    )
    for handle in handles(profile):
        if isinstance(handle.value, (int, float)) and handle.value and handle.name != "sms":
            text = "x0.5" if handle.name.startswith("efficiency") else "x3"
            changed, (edit,) = edited(profile, {handle.full: text})
            assert changed.content_hash != profile.content_hash, handle.full
            others = [
                (mine.full, mine.value) for mine, theirs in zip(handles(changed), handles(profile), strict=True)
                if mine.value != theirs.value
            ]  # fmt: skip
            assert [name for name, _ in others] == [handle.full]
            assert edit.what == handle.label


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ({"memory_bandwidth": "x2"}, ("memory_bandwidth", 20e9)),
        ({"memory_bandwidth": "3.35 TB/s"}, ("memory_bandwidth", 3.35e12)),
        ({"device.gpu.launch": "2.5 us"}, ("launch_ns", 2500)),
        ({"launch": "x0.125"}, ("launch_ns", 12)),  # 12.5 to the even neighbour
        ({"memory_capacity": "24 GiB"}, ("memory_usable", 24 * 2**30)),
        ({"memory.capacity": "unlimited"}, ("memory_usable", None)),
        ({"streams": "5"}, ("streams", 5)),
        ({"streams": "x0.01"}, ("streams", 1)),
        ({"max_resident_kernels": "9"}, ("max_resident_kernels", 9)),
        ({"copy_engines": "2"}, ("copy_engines", 2)),
        ({"model": "lanes"}, ("model", "lanes")),
        ({"efficiency.bandwidth": "80 %"}, ("efficiency", Efficiency(bandwidth=0.8))),
        ({"peaks": "x2"}, ("peaks", {"vector": {"fp32": 8e9}})),
        ({"peaks.vector.fp32": "1 TFLOP/s"}, ("peaks", {"vector": {"fp32": 1e12}})),
    ],
)
def test_values_with_units_and_factors(setting: dict[str, str], value: tuple[str, object]) -> None:
    changed, _ = edited(gpu(), setting)
    assert getattr(changed.devices[0], value[0]) == value[1]


def test_more_sms_are_of_the_same_kind() -> None:
    changed, (edit,) = edited(gpu(), {"sms": "6"})
    assert (changed.devices[0].sms, changed.devices[0].peaks) == (6, {"vector": {"fp32": 6e9}})
    assert str(edit) == "sms: 4 -> 6, its peaks in proportion"
    assert changed.name == "toy with sms 6"


def test_of_several_devices_each_has_the_figure_or_one_is_named() -> None:
    profile = procs(3)
    assert [device.streams for device in edited(profile, {"streams": "2"})[0].devices] == [2, 2, 2]
    assert [device.streams for device in edited(profile, {"p1.streams": "2"})[0].devices] == [1, 2, 1]
    assert [handle.label for handle in find(profile, "device.p1.streams")] == ["p1.streams"]


def test_priorities_of_streams_are_cut_or_the_last_one_goes_on() -> None:
    profile = gpu(stream_priorities=(0, -1, 2))
    assert edited(profile, {"streams": "2"})[0].devices[0].stream_priorities == (0, -1)
    assert edited(profile, {"streams": "5"})[0].devices[0].stream_priorities == (0, -1, 2, 2, 2)


def test_links_and_host() -> None:
    links = (Link("p0", "p1", 7, 3e9), Link("p1", "p2", 11, 5e9))
    profile = dataclasses.replace(procs(3), links=links)
    changed, edits = edited(profile, {"link.bandwidth": "x2", "link.p1-p2.latency": "2 us", "host.mode": "serial"})
    assert [(link.latency_ns, link.bandwidth) for link in changed.links] == [(7, 6e9), (2000, 10e9)]
    assert changed.host == Host(mode="serial")
    assert [edit.what for edit in edits] == [
        "link.p0-p1.bandwidth", "link.p1-p2.bandwidth", "link.p1-p2.latency", "host.mode",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"bandwith": "x2"}, "unknown figure of 'toy' 'bandwith'; did you mean 'memory_bandwidth'?"),
        ({"peaks.matrix.fp16": "x2"}, "unknown figure of 'toy' 'peaks.matrix.fp16'; did you mean"),
        (
            {"memory_capacity": "x2"},
            "it is not known or has no limit, so it cannot be multiplied; write for example '24 GiB'",
        ),
        ({"memory_bandwidth": "2"}, "'2' has no unit; write '2 GB/s' or '2 TB/s'"),
        ({"memory_bandwidth": "x0"}, "it cannot become 0"),
        ({"memory_bandwidth": "x-2"}, "a factor cannot be negative: -2"),
        ({"memory_bandwidth": "-2 GB/s"}, "expected a positive quantity such as '2039 GB/s', got '-2 GB/s'"),
        ({"memory_bandwidth": "xy"}, "'xy' is not a number with a unit"),
        ({"memory_bandwidth": "x2 GB/s"}, "expected a factor such as 0.5, got '2 GB/s'"),
        ({"streams": "2.5"}, "expected a whole number from 1 to 1000000000, got '2.5'"),
        ({"streams": "0"}, "expected a whole number from 1 to 1000000000, got '0'"),
        ({"efficiency.matrix": "x2"}, "2 is more than 1, and it is a fraction of a peak"),
        ({"efficiency.matrix": "2"}, "expected a fraction above 0 and up to 1"),
        ({"model": "x2"}, "it is a word, so it cannot be multiplied; write for example 'sm_share'"),
        ({"model": "lane"}, "expected one of lanes, sm_share, blocks, got 'lane'"),
        ({"launch": "3"}, "'3' has no unit"),
        ({"launch": "unlimited"}, "'unlimited' is not a number with a unit"),
    ],
)
def test_figures_that_are_not_there_and_values_that_are_none(setting: dict[str, str], message: str) -> None:
    with pytest.raises((UnknownNameError, ConfigError)) as error:
        edited(gpu(), setting)
    assert message in str(error.value)


def test_operators_are_costed_again_only_where_a_figure_counts() -> None:
    problem = make_problem(kernels(), gpu(), model)
    asked: list[str] = []

    def watched(graph: Graph, op: int, device: Device) -> KernelCost:
        asked.append(graph.names[op])
        return model(graph, op, device)

    for setting, again in (
        ({"streams": "7"}, False), ({"memory_capacity": "1 GiB"}, False), ({"max_resident_kernels": "2"}, False),
        ({"memory_bandwidth": "x2"}, True), ({"launch": "0 ns"}, True), ({"sms": "8"}, True), ({"peaks": "x2"}, True),
    ):  # fmt: skip
        asked.clear()
        variant = with_hardware(variant_of(problem), edited(problem.hardware, setting)[0], watched)
        assert bool(asked) is again, setting
        assert again or variant.problem.costs == problem.costs
    faster = with_hardware(variant_of(problem), edited(problem.hardware, {"peaks": "x2"})[0], model).problem
    assert list(faster.durations(0)) == [5_100, 600, 293]


def test_a_model_that_did_not_make_the_costs_is_refused() -> None:
    problem = make_problem(kernels(), gpu(), lambda *_: KernelCost(123, bound="compute"))
    hardware = edited(problem.hardware, {"memory_bandwidth": "x2"})[0]
    with pytest.raises(
        ConfigError, match=r"'a' took 123 ns, and 10100 ns by this cost model.*name that one with --cost-model"
    ):
        with_hardware(variant_of(problem), hardware, model)


def test_hardware_on_which_an_operator_no_longer_fits_is_refused() -> None:
    builder = GraphBuilder("wide")
    builder.add_op("a", duration=5, demands={"sms": 3})
    problem = problem_of(builder.build(), gpu())
    with pytest.raises(GraphError, match="'a' demands 3 sms; device 'gpu' has 2"):
        apply(problem, Changes(hardware={"sms": "2"}))


def test_what_a_rule_placed_stays_placed() -> None:
    problem = problem_of(ticks({"a": 1, "b": 1}), procs(2))
    placed = dataclasses.replace(problem, allowed={0: (1,)})
    variant, _, _ = apply(placed, Changes(streams=3))
    assert variant.problem.allowed == {0: (1,)}


def test_stated_durations_do_not_heed_hardware_and_a_note_says_so() -> None:
    problem = problem_of(ticks({"a": 3}), gpu())
    answer = whatif(run(problem, "critical_path"), Changes(hardware={"memory_bandwidth": "x2"}))
    assert answer.speedup == 1
    assert "the graph states the operators' durations, which hardware figures do not change" in answer.notes[0]
