"""What-if: operators fused into one kernel, and dependencies left out, each worked by hand."""

from __future__ import annotations

import dataclasses
import random
from fractions import Fraction

import networkx
import pytest

from simsched.cost.base import KernelCost
from simsched.errors import ConfigError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, Efficiency, HardwareProfile, lanes, procs
from simsched.problem import make_problem
from simsched.run import run
from simsched.whatif import Changes, whatif
from simsched.whatif.fusion import fused, fused_cost, without_edge
from simsched.whatif.variant import variant_of
from tests.builders import problem_of
from tests.whatif_cases import gpu, kernels, model, ticks

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


def in_place() -> Graph:
    """a makes t (17 bytes); b overwrites it with u, d overwrites that with w; c makes v (5 bytes) of w."""
    builder = GraphBuilder("inplace", time_unit="tick")
    for name, size in (("t", 17), ("u", 17), ("w", 17), ("v", 5)):
        builder.add_tensor(name, bytes=size)
    builder.add_op("a", duration=2, outputs=["t"])
    builder.add_op("b", duration=3, inputs=["t"], outputs=["u"], inplace={"u": "t"})
    builder.add_op("d", duration=5, inputs=["u"], outputs=["w"], inplace={"w": "u"})
    builder.add_op("c", duration=7, inputs=["w"], outputs=["v"])
    return builder.build()


@pytest.mark.parametrize(
    ("names", "shares", "peak"),
    [
        (("b", "d"), {"w": "t"}, 17 + 5),  # w lies where t lay, by way of u, which is gone
        (("a", "b"), {"w": "u"}, 17 + 5),  # u is made by the kernel, and lies where nothing lay
        (("d", "c"), {"u": "t"}, 17 + 5),  # w is gone, v has a place of its own
        (("a", "b", "d", "c"), {}, 5),
    ],
)
def test_buffers_that_the_parts_shared_with_their_inputs(
    names: tuple[str, ...], shares: dict[str, str], peak: int
) -> None:
    problem = problem_of(in_place(), lanes(1))
    new = fused(variant_of(problem), names).problem
    found = {new.graph.tensor_names[one]: new.graph.tensor_names[other] for one, other in new.graph.inplace.items()}
    assert found == shares
    result = run(new, "critical_path")
    assert (result.makespan, result.trace.memory.peak(0)) == (17, peak)


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
