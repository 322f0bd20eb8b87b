"""What-if: changes of graphs, costs and hardware, each worked by hand; and that nothing else changes."""

from __future__ import annotations

import dataclasses
import random
from fractions import Fraction

import networkx
import pytest

from simsched.cost.base import KernelCost
from simsched.errors import ConfigError, GraphError, SchedulerError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, Efficiency, HardwareProfile, Host, Link, SmLimits, lanes, procs
from simsched.problem import make_problem
from simsched.result import Result
from simsched.run import run
from simsched.whatif import Changes, whatif
from simsched.whatif.answer import apply
from simsched.whatif.changes import exact, parse_edge, parse_group, parse_scales, parse_settings
from simsched.whatif.figures import edited, find, handles
from simsched.whatif.fusion import fused, fused_cost, without_edge
from simsched.whatif.variant import actual_of, matching, scaled, variant_of, with_hardware
from tests.builders import problem_of


def ticks(durations: dict[str, int], *edges: str, types: dict[str, str] | None = None) -> Graph:
    """Operators of one letter, edges as pairs of letters."""
    builder = GraphBuilder("g", time_unit="tick")
    for name, duration in durations.items():
        builder.add_op(name, (types or {}).get(name, "op"), duration=duration)
    for source, target in edges:
        builder.add_edge(source, target)
    return builder.build()


def gpu(**more: object) -> HardwareProfile:
    """1 FLOP and 0.1 B a ns on each of 4 SMs together 10 B a ns; a launch takes 100 ns."""
    device = Device(
        "gpu", kind="gpu", model="sm_share", streams=3, resources={"sms": 4}, memory_bandwidth=10e9,
        peaks={"vector": {"fp32": 4e9}}, launch_ns=100, **more,  # type: ignore[arg-type]
    )  # fmt: skip
    return HardwareProfile("toy", (device,))


def model(graph: Graph, op: int, device: Device) -> KernelCost:
    """The roofline, without looking at grids: all of the device for every kernel."""
    flops, moved = graph.flops.get(op, 0), graph.traffic.get(op, 0)
    assert device.memory_bandwidth is not None
    compute = flops * 1e9 / device.peaks["vector"]["fp32"]
    memory = moved * 1e9 / device.memory_bandwidth
    slower = max(compute, memory)
    return KernelCost(
        int(slower) + device.launch_ns, flops=flops, bytes=moved, sms=device.sms, compute_ns=compute, memory_ns=memory,
        launch_ns=float(device.launch_ns), bound="compute" if compute > memory else "memory",
    )  # fmt: skip


def kernels() -> Graph:
    """a makes x for b and c; b makes y for c alone; c makes z."""
    builder = GraphBuilder("kernels")
    for name, size in (("x", 700), ("y", 1100), ("z", 130)):
        builder.add_tensor(name, bytes=size)
    builder.add_op("a", "Conv", outputs=["x"], flops=40_000, traffic=3_000)
    builder.add_op("b", "Relu", inputs=["x"], outputs=["y"], flops=4_000, traffic=1_800)
    builder.add_op("c", "Add", inputs=["x", "y"], outputs=["z"], flops=400, traffic=1_930)
    return builder.build()


# --- operators --------------------------------------------------------------------------------------------------


def test_scaling_multiplies_the_durations_of_what_a_pattern_means() -> None:
    graph = ticks({"a1": 7, "a2": 5, "b": 11}, types={"a1": "Conv", "b": "Conv"})
    problem = problem_of(graph, lanes(1))
    for scale, expected in (
        ({"a1": 3}, [21, 5, 11]),
        ({"a*": "0.5"}, [4, 2, 11]),  # 3.5 and 2.5 go to the even neighbour
        ({"type:Conv": Fraction(1, 11)}, [1, 5, 1]),  # 7/11 is nearer to 1
        ({"type:C?nv": 0}, [0, 5, 0]),
        ({"a1": 2, "a*": 2}, [28, 10, 11]),
    ):
        variant, edits, _ = apply(problem, Changes(scale=scale))  # type: ignore[arg-type]
        assert list(variant.problem.durations(0)) == expected, scale
        assert len(edits) == len(scale)
    assert list(problem.durations(0)) == [7, 5, 11], "the first problem is never touched"


def test_an_exact_name_wins_over_a_pattern_and_over_a_type() -> None:
    builder = GraphBuilder("odd", time_unit="tick")
    for name in ("[a]", "a", "type:a"):
        builder.add_op(name, "a", duration=1)
    graph = builder.build()
    assert matching(graph, "[a]") == [0]
    assert matching(graph, "[ab]") == [1]
    assert matching(graph, "type:a") == [2]


def test_a_whole_cost_is_scaled_but_what_it_holds_is_not() -> None:
    problem = make_problem(kernels(), gpu(), model)
    old = problem.costs[0][0]
    assert (old.duration, old.compute_ns, old.memory_ns) == (10_100, 10_000.0, 300.0)
    new = scaled(variant_of(problem), {0: Fraction(3, 10)}).problem.costs[0][0]
    assert new == dataclasses.replace(
        old, duration=3030, flops=12_000, bytes=900, compute_ns=3000.0, memory_ns=90.0, launch_ns=30.0
    )
    assert (new.sms, new.bound) == (4, "compute")


def test_the_share_of_bandwidth_that_a_scaled_kernel_draws_stays() -> None:
    problem = make_problem(kernels(), gpu(), model)
    half = scaled(variant_of(problem), {1: Fraction(1, 2)}).problem
    took = [each.durations(0)[1] for each in (problem, half)]
    assert took == [1100, 550]
    assert half.draw(1, 0, 550) == pytest.approx(problem.draw(1, 0, 1100))


def test_durations_per_device_stated_work_and_actual_durations_are_scaled_too() -> None:
    builder = GraphBuilder("devices", time_unit="tick")
    builder.add_op("a", duration={"p0": 4, "p1": 6}, flops=10, traffic=20)
    builder.add_op("b", duration=8)
    problem = problem_of(builder.build(), procs(2))
    variant = scaled(variant_of(problem), {0: Fraction(5, 2)})
    assert [list(variant.problem.durations(device)) for device in (0, 1)] == [[10, 8], [15, 8]]
    assert (variant.problem.graph.flops[0], variant.problem.graph.traffic[0]) == (25, 50)
    # a took half as long again as estimated, b a quarter less; each errs by as much after the change.
    assert actual_of(variant, problem, [[6, 6], [9, 6]]) == [[15, 6], [round(22.5), 6]]
    assert actual_of(variant, problem, None) is None


@pytest.mark.parametrize(
    ("text", "number"), [("0.1", Fraction(1, 10)), (0.1, Fraction(1, 10)), ("1e-2", Fraction(1, 100))]
)
def test_factors_are_the_decimals_that_were_written(text: str | float, number: Fraction) -> None:
    assert exact("a", text) == number


def test_names_may_hold_equal_signs() -> None:
    assert parse_scales(["a=b=0.5", "c = 2"]) == {"a=b": Fraction(1, 2), "c": Fraction(2)}
    assert parse_settings(["launch = 2 us"]) == {"launch": "2 us"}
    assert parse_group("a, b,c") == ("a", "b", "c")
    assert parse_edge("a,b") == ("a", "b")


# --- fusion -----------------------------------------------------------------------------------------------------


def test_a_fused_kernel_saves_the_traffic_between_its_parts_and_all_launches_but_one() -> None:
    problem = make_problem(kernels(), gpu(), model)
    # Apart: a 10,000 + 100; b max(1000, 180) + 100; c max(100, 193) + 100.
    assert list(problem.durations(0)) == [10_100, 1_100, 293]
    variant = fused(variant_of(problem), ["c", "b"])
    graph = variant.problem.graph
    assert (list(graph.names), list(graph.op_types)) == (["a", "b+c"], ["Conv", "Relu+Add"])
    assert variant.origin == [(0,), (1, 2)]
    cost = variant.problem.costs[0][1]
    # y (1100 B) is neither written nor read; x is read by b and by c, as each of them reads it.
    assert (cost.flops, cost.bytes) == (4_400, 1_800 + 1_930 - 2 * 1_100)
    assert (cost.compute_ns, cost.memory_ns, cost.launch_ns) == (1_100.0, 153.0, 100.0)
    assert (cost.duration, cost.bound, cost.sms) == (1_200, "compute", 4)
    assert [graph.tensor_names[t] for t in graph.inputs[1]] == ["x"]
    assert "y" not in graph.tensor_names
    assert variant.problem.costs[0][0] == problem.costs[0][0]


def test_what_others_read_is_still_written_but_not_read_again() -> None:
    problem = make_problem(kernels(), gpu(), model)
    variant = fused(variant_of(problem), ["a", "b"])
    cost = variant.problem.costs[0][0]
    assert cost.bytes == 3_000 + 1_800 - 700  # b no longer reads x; c still does
    assert [variant.problem.graph.tensor_names[t] for t in variant.problem.graph.outputs[0]] == ["x", "y"]
    whole = fused(variant, ["a+b", "c"])
    assert list(whole.problem.graph.names) == ["a+b+c"]
    assert whole.origin == [(0, 1, 2)]
    everything = whole.problem.costs[0][0]
    assert everything.bytes == 3_000 + 1_800 + 1_930 - 3 * 700 - 2 * 1_100
    assert everything.duration == 11_100 + 100


def test_stated_durations_are_added() -> None:
    graph = ticks({"a": 2, "b": 3, "c": 5, "d": 7}, "ab", "bc", "ad")
    problem = problem_of(graph, lanes(2))
    variant = fused(variant_of(problem), ["a", "b"])
    assert list(variant.problem.graph.names) == ["a+b", "c", "d"]
    assert list(variant.problem.durations(0)) == [5, 5, 7]
    assert list(variant.problem.graph.pred) == [(), (0,), (0,)]
    answer = whatif(run(problem, "critical_path"), Changes(fuse=[("a", "b")]))
    # d no longer starts after a, but after the kernel.
    assert (answer.before.makespan, answer.after.makespan) == (10, 12)
    assert answer.path_changed
    assert [(answer.after.problem.graph.names[move.op], move.shift) for move in answer.moves() if move.shift] == [
        ("d", 3)
    ]


def test_the_memory_of_what_is_not_written_is_not_held() -> None:
    builder = GraphBuilder("memory", time_unit="tick")
    for name, size in (("x", 17), ("y", 31), ("z", 7)):
        builder.add_tensor(name, bytes=size)
    builder.add_op("a", duration=2, outputs=["x"])
    builder.add_op("b", duration=3, inputs=["x"], outputs=["y"])
    builder.add_op("c", duration=5, inputs=["y"], outputs=["z"])
    problem = problem_of(builder.build(), lanes(1))
    answer = whatif(run(problem, "serial"), Changes(fuse=[("b", "c")]))
    peaks = [each.trace.memory.peak(0) for each in (answer.before, answer.after)]
    assert peaks == [17 + 31, 17 + 7]
    assert answer.speedup == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "c"), "'a' and 'c' cannot be one kernel: between them runs 'b' (a -> b -> c)"),
        (("a", "d"), "'a' and 'd' cannot be one kernel: between them runs 'c' (a -> c -> d)"),
        (("a",), "expected at least two operators, got a"),
        (("b", "b"), "expected at least two operators, got b, b"),
    ],
)
def test_operators_in_the_middle_cannot_be_left_out(names: tuple[str, ...], message: str) -> None:
    problem = problem_of(ticks({"a": 2, "b": 3, "c": 5, "d": 7}, "ab", "bc", "cd", "ac"), lanes(1))
    with pytest.raises(ConfigError) as error:
        fused(variant_of(problem), names)
    assert message in str(error.value)


def test_operators_that_know_nothing_of_each_other_may_be_one_kernel() -> None:
    problem = problem_of(ticks({"a": 2, "b": 3, "c": 5}, "ac"), lanes(2))
    variant = fused(variant_of(problem), ["a", "b"])
    assert list(variant.problem.durations(0)) == [5, 5]
    variant = fused(variant_of(problem), ["b", "c"])
    assert (list(variant.problem.graph.names), list(variant.problem.graph.pred)) == (["a", "b+c"], [(), (0,)])


def test_demands_devices_buffers_and_delays_of_a_fused_kernel() -> None:
    builder = GraphBuilder("all", time_unit="tick")
    builder.add_op("w", duration=2, writes=["buffer"])
    builder.add_op("a", duration=3, demands={"units": 2, "sms": 3}, reads=["buffer"])
    builder.add_op("b", duration=5, demands={"units": 5, "other": 1}, after=["a"], device="d0")
    builder.add_op("v", duration=7, writes=["buffer"])
    builder.add_edge("w", "b", delay=11)
    builder.add_edge("w", "a", delay=13)
    device = Device("d0", resources={"units": 7, "other": 1, "sms": 4}, streams=2)
    hardware = HardwareProfile("h", (device, dataclasses.replace(device, name="d1")))
    problem = problem_of(builder.build(), hardware)
    new = fused(variant_of(problem), ["a", "b"]).problem
    op = new.graph.id_of("a+b")
    assert new.demand(op, 0) == {"units": 5, "other": 1, "sms": 3}
    assert new.allowed_devices(op) == (0,)
    assert new.graph.placement[op] == "d0"
    assert sorted(new.graph.pred[new.graph.id_of("v")]) == sorted([new.graph.id_of("w"), op])
    assert new.graph.delays == {(new.graph.id_of("w"), op): 13}
    assert run(new, "critical_path").valid


def test_kernels_of_different_devices_cannot_be_one() -> None:
    builder = GraphBuilder("two", time_unit="tick")
    builder.add_op("a", duration=1, device="p0")
    builder.add_op("b", duration=1, device="p1")
    with pytest.raises(ConfigError, match="no device may run all of a, b"):
        fused(variant_of(problem_of(builder.build(), procs(2))), ["a", "b"])


def test_buffers_between_the_parts_keep_the_order_of_their_uses() -> None:
    """m reads what a wrote; v overwrites it: a kernel of a and v would have m in its middle."""
    builder = GraphBuilder("buffers", time_unit="tick")
    builder.add_op("a", duration=1, writes=["s"])
    builder.add_op("m", duration=1, reads=["s"])
    builder.add_op("v", duration=1, writes=["s"])
    builder.add_op("z", duration=1)
    problem = problem_of(builder.build(), lanes(2))
    with pytest.raises(ConfigError, match="between them runs 'm'"):
        fused(variant_of(problem), ["a", "v"])
    graph = fused(variant_of(problem), ["a", "z"]).problem.graph
    assert [graph.names[op] for op in graph.pred[graph.id_of("v")]] == ["a+z", "m"]


def test_costs_of_parts_that_neither_side_explains_count_to_the_arithmetic() -> None:
    wave = KernelCost(50, flops=8, compute_ns=20.0, memory_ns=10.0, launch_ns=10.0, bound="compute", bytes=100)
    plain = KernelCost(40, flops=8, compute_ns=7.0, memory_ns=30.0, launch_ns=10.0, bound="memory", bytes=300, grid=3)
    device = Device("d", memory_bandwidth=10e9, efficiency=Efficiency(bandwidth=0.5))
    both = fused_cost([wave, plain], [0, 0], device)
    # 400 B at 5 B a ns are 80 ns; 40 of the wave's 50 ns are no launch, and 7 are the other's.
    assert (both.memory_ns, both.compute_ns, both.duration, both.grid) == (80.0, 47.0, 90, 3)
    less = fused_cost([wave, plain], [70, 150], device)
    assert (less.bytes, less.memory_ns, less.duration, less.bound) == (180, 36.0, 57, "compute")
    # Bytes that rules do not count cannot be saved twice.
    assert fused_cost([wave, plain], [170, 150], device).bytes == 150
    measured = dataclasses.replace(plain, bound="measured")
    added = fused_cost([wave, measured], [0, 0], device)
    assert (added.duration, added.bound) == (90, "measured")


@pytest.mark.parametrize("seed", range(40))
def test_operators_can_be_one_kernel_exactly_if_the_graph_stays_acyclic(seed: int) -> None:
    """networkx merges the nodes and says whether a cycle arises."""
    draw = random.Random(seed)
    names = [f"n{number}" for number in range(9)]
    builder = GraphBuilder("random", time_unit="tick")
    for name in names:
        builder.add_op(name, duration=draw.choice((0, 2, 3, 5, 7)))
    pairs = [(u, v) for place, u in enumerate(names) for v in names[place + 1 :] if draw.random() < 0.25]
    for u, v in pairs:
        builder.add_edge(u, v, bytes=draw.choice((None, 0, 11)))
    problem = problem_of(builder.build(), lanes(2))
    members = draw.sample(names, draw.choice((2, 2, 3, 4)))
    merged = networkx.DiGraph()
    merged.add_nodes_from(name if name not in members else "kernel" for name in names)
    ends = [["kernel" if end in members else end for end in pair] for pair in pairs]
    merged.add_edges_from((u, v) for u, v in ends if u != v)
    if not networkx.is_directed_acyclic_graph(merged):
        with pytest.raises(ConfigError, match="cannot be one kernel"):
            fused(variant_of(problem), members)
        return
    new = fused(variant_of(problem), members)
    graph = new.problem.graph
    kernel = next(name for name, ops in zip(graph.names, new.origin, strict=True) if len(ops) > 1)
    edges = {(graph.names[u], graph.names[v]) for u in range(len(graph)) for v in graph.succ[u]}
    assert {tuple("kernel" if end == kernel else end for end in pair) for pair in edges} == set(merged.edges)
    assert sum(new.problem.durations(0)) == sum(problem.durations(0))
    assert run(new.problem, "critical_path").valid


@pytest.mark.parametrize("factor", [0, 2, 7])
def test_everything_scaled_alike_is_the_same_run_on_another_clock(factor: int) -> None:
    answer = whatif(run("layered_random(n=60, seed=2)", "critical_path", "lanes:3"), Changes(scale={"*": factor}))
    assert answer.after.makespan == factor * answer.before.makespan
    if factor:
        assert list(answer.after.trace.start) == [factor * start for start in answer.before.trace.start]


# --- edges ------------------------------------------------------------------------------------------------------


def test_an_edge_is_dropped_with_what_it_carries() -> None:
    problem = make_problem(kernels(), gpu(), model)
    variant = without_edge(variant_of(problem), "b", "c")
    graph = variant.problem.graph
    assert [graph.names[op] for op in graph.pred[graph.id_of("c")]] == ["a"]
    assert {graph.names[op]: cost for op, cost in variant.problem.costs[0].items()} == {
        problem.graph.names[op]: cost for op, cost in problem.costs[0].items()
    }
    answer = whatif(run(problem_of(ticks({"a": 2, "b": 3}, "ab"), lanes(2)), "serial"), Changes(drop=[("a", "b")]))
    assert (answer.before.makespan, answer.after.makespan) == (5, 5)  # serial is serial
    answer = whatif(
        run(problem_of(ticks({"a": 2, "b": 3}, "ab"), lanes(2)), "critical_path"), Changes(drop=[("a", "b")])
    )
    assert (answer.before.makespan, answer.after.makespan, answer.speedup) == (5, 3, Fraction(5, 3))


def test_an_edge_that_is_not_there_or_comes_from_a_buffer_is_not_dropped() -> None:
    builder = GraphBuilder("buffers", time_unit="tick")
    builder.add_op("a", duration=1, writes=["s"])
    builder.add_op("m", duration=1, reads=["s"])
    problem = problem_of(builder.build(), lanes(2))
    with pytest.raises(ConfigError, match="ordered by the buffer 's'"):
        without_edge(variant_of(problem), "a", "m")
    with pytest.raises(ConfigError, match="'a' does not wait for 'm'; it waits for: nothing"):
        without_edge(variant_of(problem), "m", "a")
    with pytest.raises(UnknownNameError):
        without_edge(variant_of(problem), "m", "q")


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


# --- whole answers ----------------------------------------------------------------------------------------------


def result() -> Result:
    """Two chains of 3 + 5 and 7 on one lane."""
    return run(problem_of(ticks({"a": 3, "b": 5, "c": 7}, "ab"), lanes(1)), "critical_path")


def test_more_streams_and_another_scheduler() -> None:
    answer = whatif(result(), Changes(streams=2))
    assert (answer.before.makespan, answer.after.makespan, answer.speedup) == (15, 8, Fraction(15, 8))
    assert answer.path_changed
    assert answer.paths == (("a", "c", "b"), ("a", "b"))
    answer = whatif(result(), Changes(streams=2, scheduler="serial"))
    assert (answer.after.makespan, answer.after.label) == (15, "serial")
    assert [str(edit) for edit in answer.edits] == ["streams: 1 -> 2", "scheduler: critical_path -> serial"]


def test_no_change_is_exactly_the_same_run() -> None:
    answer = whatif(result(), Changes())
    assert answer.speedup == 1
    assert not answer.path_changed
    assert all(move.shift == 0 for move in answer.moves())
    assert list(answer.before.trace.start) == list(answer.after.trace.start)


def test_a_problem_is_run_first_and_changes_are_carried_out_in_their_order() -> None:
    problem = problem_of(ticks({"a": 3, "b": 5, "c": 7}, "ab"), lanes(1))
    changes = Changes(fuse=[("a", "b")], scale={"a+b": 2}, streams=2)
    answer = whatif(problem, changes, scheduler="serial")
    assert answer.before.label == "serial"
    assert dict(zip(answer.after.problem.graph.names, answer.after.problem.durations(0), strict=True)) == {
        "a+b": 16,
        "c": 7,
    }
    assert answer.after.makespan == 23
    assert changes.words() == ("--streams 2", "--fuse a,b", "--scale a+b=2")
    with pytest.raises(UnknownNameError):
        whatif(problem, Changes(fuse=[("a", "b")], scale={"a": 2}))


def test_an_answer_of_no_length() -> None:
    problem = problem_of(ticks({"a": 0}), lanes(1))
    assert whatif(problem, Changes(streams=2)).speedup == 1
    problem = problem_of(ticks({"a": 3}), lanes(1))
    assert whatif(problem, Changes(scale={"a": 0})).speedup == 0


def test_the_same_operators_are_misjudged_after_a_change() -> None:
    """Noise is drawn by operator id; fusing must not shift it onto others."""
    graph = ticks(dict.fromkeys("abcdef", 1_000), "ab", "bc")
    noisy = run(problem_of(graph, lanes(3)), "critical_path", noise=0.3, seed=5)
    answer = whatif(noisy, Changes(fuse=[("a", "b")]))
    assert noisy.actual is not None
    assert answer.after.actual is not None
    old = dict(zip(graph.names, noisy.actual[0], strict=True))
    new = dict(zip(answer.after.problem.graph.names, answer.after.actual[0], strict=True))
    assert new == {**{name: old[name] for name in "cdef"}, "a+b": old["a"] + old["b"]}


def test_a_schedule_is_followed_again_and_cannot_be_followed_by_other_operators() -> None:
    from simsched.schedulers.follow import Follow

    first = result()
    followed = run(first.problem, Follow(first.trace))
    followed = dataclasses.replace(followed, written="follow:gone.txt")
    answer = whatif(followed, Changes(scale={"c": 3}))
    assert (answer.before.makespan, answer.after.makespan) == (15, 29)
    with pytest.raises(SchedulerError, match="name a scheduler for the new run with --scheduler"):
        whatif(followed, Changes(fuse=[("a", "b")]))
    assert whatif(followed, Changes(fuse=[("a", "b")], scheduler="serial")).after.makespan == 15


def test_a_record_that_does_not_come_out_again_is_refused() -> None:
    first = result()
    trace = dataclasses.replace(first.trace, end=[end + 1 for end in first.trace.end])
    with pytest.raises(ConfigError, match="critical_path took 16 when it was recorded, and takes 15 now"):
        whatif(dataclasses.replace(first, trace=trace), Changes(streams=2))
