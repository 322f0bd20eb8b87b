"""Reasons of what operators share, on runs that were worked out by hand: bandwidth, host, copies, events, blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from simsched.analysis.breakdown import Row, path_breakdown
from simsched.analysis.critical import realised_path
from simsched.analysis.explain import Explanation
from simsched.analysis.timelines import Shortage
from simsched.cost.base import Block, KernelCost
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, Host, Link, SmLimits, lanes
from simsched.output.story import Story
from simsched.problem import Problem, make_problem
from simsched.run import run
from tests.builders import linked_pair, problem_of, with_memory
from tests.unit.test_explain import independent, static, told, words

GPU = Device("gpu", kind="gpu", model="sm_share", streams=3, resources={"sms": 4}, memory_bandwidth=1e9)


def kernels(
    costs: Mapping[str, KernelCost], device: Device = GPU, after: Mapping[str, str] | None = None, **host: object
) -> Problem:
    """Kernels of these costs; 1 B of traffic takes 1 ns of the whole bandwidth."""
    builder = GraphBuilder("kernels")
    for name in costs:
        builder.add_op(name, op_type="Conv", after=[(after or {})[name]] if name in (after or {}) else [])
    hardware = HardwareProfile("box", (device,), host=Host(**host))  # type: ignore[arg-type]
    return make_problem(builder.build(), hardware, lambda graph, op, _: costs[graph.names[op]])


def traffic(duration: int, moved: int, launch: int = 0) -> KernelCost:
    return KernelCost(duration, bytes=moved, launch_ns=float(launch), bound="memory")


def speeds(story: Explanation, op: int) -> list[tuple[str, int, int, float]]:
    return [(part.reason, part.start, part.end, part.speed) for part in story.runs(op)]


def segments(story: Explanation) -> list[tuple[str, str, int, int, str]]:
    names = story.run.problem.graph.names
    path = realised_path(story.run.problem, story.run.trace)
    return [(part.kind, names[part.op], part.start, part.end, part.reason) for part in path]


# --- bandwidth ----------------------------------------------------------------------------------------------------


def test_two_kernels_that_want_three_quarters_each_run_at_two_thirds() -> None:
    story = static(kernels({"a": traffic(310, 225, 10), "b": traffic(310, 225, 10)}), "a", "b")
    assert speeds(story, 0) == [("launch", 0, 10, 1), ("bandwidth", 10, 460, pytest.approx(2 / 3, abs=1e-12))]
    assert story.spent(0) == {"launch": 10, "bandwidth": 150, "memory": 300}
    (_, part) = story.parts(0)
    assert story.sharers(0, part) == ((1, 0.5),)
    assert words(story, "a") == [
        "is launched on the device",
        "runs at 67 % of its speed alone: shares the bandwidth of gpu with b 50 %",
    ]
    assert path_breakdown(story) == (
        Row("operators", "Conv", "memory", 300, 1),
        Row("launch", "launch", "", 10, 1),
        Row("lost", "bandwidth", "", 150, 1),
    )
    assert Story(story).headline() == (
        "b ended last, at 460 ns. The chain of one operator ran for 460 ns (100 %), 150 ns (33 %) of it lost by "
        "sharing, and waited for nothing."
    )
    assert "It took 150 ns longer than alone." in Story(story).introduction(0)


def test_one_that_wants_less_than_its_share_is_not_slowed() -> None:
    story = static(kernels({"a": traffic(100, 90), "b": traffic(50, 20)}), "a", "b")
    # b draws 0.4 and gets it; a draws 0.9 and gets 0.6. At 50 ns a has done 33.3 of its 100 ns, and goes on alone.
    assert speeds(story, 1) == [("memory", 0, 50, 1)]
    assert speeds(story, 0) == [("bandwidth", 0, 50, pytest.approx(2 / 3, abs=1e-12)), ("memory", 50, 117, 1)]
    assert story.spent(0) == {"bandwidth": 17, "memory": 100}
    (part, _) = story.runs(0)
    assert story.sharers(0, part) == ((1, pytest.approx(0.4)),)


def test_alone_means_full_speed_and_lanes_share_nothing() -> None:
    costs = {"a": traffic(100, 90), "b": traffic(50, 50)}
    serial = static(kernels(costs), "a b")
    assert [story for op in (0, 1) for story in speeds(serial, op)] == [("memory", 0, 100, 1), ("memory", 100, 150, 1)]
    ideal = static(kernels(costs, replace(GPU, model="lanes", resources={})), "a", "b")
    assert (speeds(ideal, 0), ideal.spent(1)) == ([("memory", 0, 100, 1)], {"memory": 50})


# --- the host -----------------------------------------------------------------------------------------------------


def test_launches_of_one_thread_come_through_one_after_the_other() -> None:
    costs = {name: KernelCost(20) for name in "abc"}
    story = static(kernels(costs, mode="serial", launch_ns=7), "a", "b", "c", launch="a b c")
    assert told(story, "a") == [("host_launch", 0, 7, None), ("explicit", 7, 27, None)]
    assert told(story, "c") == [("host", 0, 14, "b"), ("host_launch", 14, 21, None), ("explicit", 21, 41, None)]
    assert words(story, "c")[:2] == [
        "waits for the host, behind the launch of b and 1 before it",
        "is being launched by the host",
    ]
    assert segments(story) == [
        ("host", "a", 0, 7, "start"),
        ("host", "b", 7, 14, "host"),
        ("host", "c", 14, 21, "host"),
        ("operator", "c", 21, 41, "host"),
    ]
    assert path_breakdown(story) == (
        Row("operators", "Conv", "explicit", 20, 1),
        Row("wait", "host_launch", "", 21, 3),
    )


def test_two_threads_launch_side_by_side() -> None:
    costs = {name: KernelCost(20) for name in "abc"}
    story = static(kernels(costs, mode="serial", launch_ns=7, threads=2), "a", "b", "c", launch="a b c")
    assert told(story, "b")[0] == ("host_launch", 0, 7, None)
    assert told(story, "c")[:2] == [("host", 0, 7, "a"), ("host_launch", 7, 14, None)]
    assert words(story, "c")[0] == "waits for the host, behind the launch of a in thread 0"


def test_what_is_dispatched_at_a_completion_waits_until_the_host_knows_of_it() -> None:
    costs = {"a": KernelCost(20), "b": KernelCost(30)}
    problem = kernels(costs, after={"b": "a"}, mode="serial", launch_ns=5, sync_ns=3)
    story = Explanation(run(problem, "serial"))
    assert told(story, "b") == [
        ("dependency", 0, 25, "a"),
        ("host_sync", 25, 28, None),
        ("host_launch", 28, 33, None),
        ("explicit", 33, 63, None),
    ]
    assert segments(story)[2:] == [
        ("host_sync", "b", 25, 28, "policy"),
        ("host", "b", 28, 33, "policy"),
        ("operator", "b", 33, 63, "host"),
    ]
    assert [(row.what, row.time) for row in path_breakdown(story)] == [
        ("Conv", 50), ("host_launch", 10), ("host_sync", 3),
    ]  # fmt: skip


def test_a_graph_is_launched_as_a_whole() -> None:
    story = static(kernels({"a": KernelCost(20), "b": KernelCost(30)}, mode="graph", graph_ns=11), "a b")
    assert told(story, "a") == [("host_graph", 0, 11, None), ("explicit", 11, 31, None)]
    assert told(story, "b") == [("host_graph", 0, 11, None), ("stream", 11, 31, "a"), ("explicit", 31, 61, None)]
    assert segments(story)[0] == ("host", "a", 0, 11, "start")


def test_the_end_of_one_in_another_stream_is_seen_later() -> None:
    costs = {"a": KernelCost(20), "b": KernelCost(30), "c": KernelCost(10)}
    problem = kernels(costs, after={"b": "a", "c": "a"}, mode="graph", event_ns=3)
    story = static(problem, "a c", "b")
    assert told(story, "b") == [("dependency", 0, 20, "a"), ("event", 20, 23, "a"), ("explicit", 23, 53, None)]
    assert told(story, "c") == [("dependency", 0, 20, "a"), ("explicit", 20, 30, None)]
    assert segments(story)[1] == ("event", "b", 20, 23, "event")


# --- copies -------------------------------------------------------------------------------------------------------


def two_copies(**link: object) -> Graph:
    """a and b on d0 make 20 B and 30 B for c and d on d1."""
    builder = GraphBuilder("copies", time_unit="tick")
    for maker, reader, size in (("a", "c", 20), ("b", "d", 30)):
        builder.add_tensor(f"t{maker}", bytes=size)
        builder.add_op(maker, duration=4, device="d0", outputs=[f"t{maker}"])
        builder.add_op(reader, duration=5, device="d1", inputs=[f"t{maker}"])
    return builder.build()


def pair(engines: int | None = None, **link: object) -> HardwareProfile:
    devices = tuple(Device(f"d{number}", streams=2, copy_engines=engines) for number in (0, 1))
    return HardwareProfile("pair", devices, (Link("d0", "d1", 3, 1e9, **link),))  # type: ignore[arg-type]


def test_copies_share_a_link() -> None:
    story = static(problem_of(two_copies(), pair()), "a", "b", "c", "d")
    # Asked for at 4; bytes flow from 7 on, at 0.5 B/ns each: 20 B until 47, then the last 10 B of the other until 57.
    assert told(story, "c") == [
        ("dependency", 0, 4, "a"), ("copy_latency", 4, 7, "a"), ("copy", 7, 47, "a"), ("explicit", 47, 52, None),
    ]  # fmt: skip
    copied = [(part.start, part.end, part.speed) for part in story.waits(3) if part.reason == "copy"]
    assert copied == [(7, 47, 0.5), (47, 57, 1)]
    assert words(story, "d")[2] == (
        "waits for 30 B of b on the way from d0 to d1, at 50 % of the speed alone, sharing links with the copy of "
        "ta to d1"
    )
    assert [(row.kind, row.what, row.time) for row in path_breakdown(story)] == [
        ("operators", "op", 9), ("lost", "link", 20), ("wait", "copy", 30), ("wait", "copy_latency", 3),
    ]  # fmt: skip
    alone = static(problem_of(two_copies(), pair(sharing="unshared")), "a", "b", "c", "d")
    assert told(alone, "c")[2] == ("copy", 7, 27, "a")


def test_a_copy_waits_for_a_copy_engine() -> None:
    story = static(problem_of(two_copies(), pair(engines=1)), "a", "b", "c", "d")
    assert told(story, "d") == [
        ("dependency", 0, 4, "b"),
        ("copy_engine", 4, 27, "b"),
        ("copy_latency", 27, 30, "b"),
        ("copy", 30, 60, "b"),
        ("explicit", 60, 65, None),
    ]
    assert words(story, "d")[1] == (
        "waits for 30 B of b to be copied from d0 to d1: no copy engine of d0 is free, taken by the copy of ta to d1"
    )
    assert segments(story) == [
        ("operator", "a", 0, 4, "start"),
        ("copy", "c", 4, 27, "dependency"),
        ("copy", "d", 27, 60, "copy"),
        ("operator", "d", 60, 65, "transfer"),
    ]


def test_a_copy_that_waits_holds_back_those_behind_it() -> None:
    # d0 has two engines, d1 one and d2 as many as it likes: the copy of b waits, and holds back d0 for that of c.
    builder = GraphBuilder("copies", time_unit="tick")
    for maker, reader, device in (("a", "x", "d1"), ("b", "y", "d1"), ("c", "z", "d2")):
        builder.add_tensor(f"t{maker}", bytes=20)
        builder.add_op(maker, duration=4, device="d0", outputs=[f"t{maker}"])
        builder.add_op(reader, duration=5, device=device, inputs=[f"t{maker}"])
    devices = (Device("d0", streams=3, copy_engines=2), Device("d1", streams=2, copy_engines=1), Device("d2"))
    links = tuple(Link("d0", name, 3, 1e9) for name in ("d1", "d2"))
    story = static(problem_of(builder.build(), HardwareProfile("h", devices, links)), "a", "b", "c", "x", "y", "z")
    assert told(story, "z") == [
        ("dependency", 0, 4, "c"),
        ("copy_queue", 4, 27, "c"),
        ("copy_latency", 27, 30, "c"),
        ("copy", 30, 50, "c"),
        ("explicit", 50, 55, None),
    ]
    assert words(story, "z")[1] == ("waits for 20 B of c to be copied from d0 to d2: behind the copy of tb to d1")


def test_a_copy_waits_for_memory() -> None:
    builder = GraphBuilder("full", time_unit="tick")
    builder.add_tensor("big", bytes=80)
    builder.add_tensor("ta", bytes=40)
    builder.add_op("big", duration=30, device="d1", outputs=["big"])
    builder.add_op("a", duration=4, device="d0", outputs=["ta"])
    builder.add_op("b", duration=5, device="d1", inputs=["ta"])
    problem = problem_of(builder.build(), with_memory(pair(), 100))
    story = static(problem, "a", "", "big", "b", memory="block")
    # Until big ends at 30 there are 20 B free on d1.
    assert told(story, "b")[:3] == [
        ("dependency", 0, 4, "a"),
        ("copy_memory", 4, 30, "a"),
        ("copy_latency", 30, 33, "a"),
    ]
    part = next(part for part in story.waits(2) if part.reason == "copy_memory")
    assert (part.device, part.shortages) == (1, (Shortage("memory", 40, 20),))
    assert words(story, "b")[1] == (
        "waits for 40 B of a to be copied from d0 to d1: needs 40 B of d1/memory, 20 B free, 20 B short; "
        "largest tensors big 80 B"
    )
    assert segments(story)[:2] == [("operator", "big", 0, 30, "start"), ("copy", "b", 30, 73, "memory")]


def test_an_edge_has_a_delay_of_its_own_behind_its_copy() -> None:
    builder = GraphBuilder("delayed", time_unit="tick")
    builder.add_tensor("t", bytes=11)
    builder.add_op("u", duration=3, device="d0", outputs=["t"])
    builder.add_op("v", duration=2, device="d1", inputs=["t"])
    builder.add_edge("u", "v", delay=5)
    story = static(problem_of(builder.build(), linked_pair(latency=7)), "u", "", "v")
    assert told(story, "v")[1:4] == [("copy_latency", 3, 10, "u"), ("copy", 10, 21, "u"), ("delay", 21, 26, "u")]
    assert words(story, "v")[3] == "waits for the delay of the edge from u (5)"
    assert segments(story)[1:3] == [("copy", "v", 3, 21, "dependency"), ("delay", "v", 21, 26, "transfer")]


# --- queues -------------------------------------------------------------------------------------------------------


def test_the_head_of_a_more_urgent_queue_goes_first() -> None:
    device = replace(GPU, stream_priorities=(0, 0, -1))
    builder = GraphBuilder("urgent", time_unit="tick")
    for name, duration, sms in (("a", 10, 3), ("x", 2, 0), ("y", 4, 0), ("u", 5, 4), ("b", 7, 1)):
        builder.add_op(name, duration=duration, demands={"sms": sms})
    story = static(problem_of(builder.build(), HardwareProfile("h", (device,))), "a", "y b", "x u")
    # u comes at 2 and needs all 4 SMs, of which a has 3; it holds back b, which comes at 4 and for which there is room.
    assert told(story, "b") == [
        ("stream", 0, 4, "y"), ("priority", 4, 10, "u"), ("resource", 10, 15, "u"), ("explicit", 15, 22, None),
    ]  # fmt: skip
    assert words(story, "b")[1] == (
        "waits in the queue of gpu behind the more urgent u, which needs 4 of gpu/sms, 1 free, 3 short; held by a 3"
    )


# --- blocks -------------------------------------------------------------------------------------------------------

WHOLE_SM = Block(threads=256)


def sms(count: int = 4, **fields: object) -> Device:
    """Blocks of 256 threads fill an SM."""
    limits = SmLimits(threads=256, warps=64, blocks=32, registers=65536)
    return Device(
        "gpu", "gpu", "blocks", streams=2, resources={"sms": count}, sm_limits=limits, memory_bandwidth=1e9,
        **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def grid(duration: int, blocks: int, **fields: object) -> KernelCost:
    return KernelCost(duration, grid=blocks, block=WHOLE_SM, **fields)  # type: ignore[arg-type]


def test_the_last_wave_is_a_tail_and_a_kernel_behind_waits_for_the_rest_of_its_blocks() -> None:
    # 10 blocks on 4 SMs: waves of 4, 4 and 2, 100 ns each.
    story = static(kernels({"full": grid(300, 10), "tiny": grid(317, 1)}, sms()), "full", "tiny", launch="full tiny")
    assert speeds(story, 0) == [("explicit", 0, 200, 1), ("tail", 200, 300, 1)]
    assert story.spent(0) == {"tail": 100, "explicit": 200}
    assert told(story, "tiny") == [("queue", 0, 200, "full"), ("explicit", 200, 517, None)]
    assert words(story, "tiny")[0] == (
        "waits in the queue of gpu behind full, which finds no room for the rest of its blocks on gpu; "
        "held by blocks of full 4"
    )
    # tiny took the place of blocks of full, which itself ran on.
    assert segments(story) == [("operator", "full", 0, 200, "start"), ("operator", "tiny", 200, 517, "queue")]
    assert path_breakdown(story) == (Row("operators", "Conv", "explicit", 517, 2),)


def test_a_kernel_that_finds_room_for_some_of_its_blocks() -> None:
    story = static(kernels({"full": grid(300, 10), "tiny": grid(17, 1)}, sms()), "full", "tiny", launch="tiny full")
    # Until 17 one SM is taken: 3 of 4 blocks have a place, 7 wait. Its end is what it is alone.
    assert speeds(story, 0)[0] == ("room", 0, 17, 0.75)
    (part, *_) = story.runs(0)
    assert (part.ahead, story.holders(part, but=0)) == (7, ((1, 1),))
    assert words(story, "full")[0] == (
        "runs with part of its blocks; 7 blocks have no place on gpu, held by blocks of tiny 1"
    )
    assert "room" not in story.spent(0)
    assert sum(story.spent(0).values()) == 300


def test_no_room_for_a_first_block_names_who_has_the_places() -> None:
    story = static(kernels({"a": grid(100, 4), "b": grid(50, 2)}, sms()), "a", "b", launch="a b")
    assert told(story, "b") == [("room", 0, 100, "a"), ("explicit", 100, 150, None)]
    assert words(story, "b")[0] == (
        "waits for the device until blocks of a end: finds no room for a block on gpu; held by blocks of a 4"
    )


def test_blocks_share_arithmetic() -> None:
    # Each wants 0.8 of the arithmetic, with two of the four SMs.
    costs = {name: grid(100, 2, peak_ns=80.0, bound="compute") for name in "ab"}
    story = static(kernels(costs, sms()), "a", "b")
    assert speeds(story, 0) == [("arithmetic", 0, 160, pytest.approx(0.625))]
    assert story.spent(1) == {"arithmetic": 60, "compute": 100}
    (part,) = story.runs(0)
    assert story.sharers(0, part) == ((1, pytest.approx(0.5)),)
    assert words(story, "a") == ["runs at 62 % of its speed alone: shares the arithmetic of gpu with b 50 %"]


def test_blocks_share_bandwidth() -> None:
    costs = {name: grid(100, 2, bytes=75, bound="memory") for name in "ab"}
    story = static(kernels(costs, sms()), "a", "b")
    assert speeds(story, 0) == [("bandwidth", 0, 150, pytest.approx(2 / 3))]
    assert path_breakdown(story) == (
        Row("operators", "Conv", "memory", 100, 1),
        Row("lost", "bandwidth", "", 50, 1),
    )


def test_a_run_on_lanes_is_as_it_was() -> None:
    story = static(problem_of(independent(("a", 2, 0), ("b", 3, 0)), lanes(2)), "a", "b")
    assert (speeds(story, 0), story.spent(1)) == ([("explicit", 0, 2, 1)], {"explicit": 3})
