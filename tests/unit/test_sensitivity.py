"""What matters most: small runs in which the effect of each change is worked by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, lanes
from simsched.problem import make_problem
from simsched.result import Result
from simsched.run import run
from simsched.sensitivity import (
    Bench,
    Effect,
    Probe,
    better,
    effects,
    felt,
    figure_probes,
    most,
    operator_probes,
    ranked_operators,
    sensitivity,
)
from simsched.whatif.figures import handles
from tests.builders import problem_of


def two_chains() -> Graph:
    """a (30) before b (50), beside c (70): the path of 80 has 10 to spare over c."""
    builder = GraphBuilder("two", time_unit="tick")
    for name, duration in (("a", 30), ("b", 50), ("c", 70), ("z", 0)):
        builder.add_op(name, duration=duration)
    builder.add_edge("a", "b")
    return builder.build()


def result(streams: int = 2) -> Result:
    return run(problem_of(two_chains(), lanes(streams)), "critical_path")


def by_name(found: list[Effect], level: Fraction = Fraction(9, 10)) -> dict[str, Effect]:
    return {effect.probe.name: effect for effect in found if effect.probe.level == level}


def test_only_what_decides_the_end_matters() -> None:
    found = by_name(sensitivity(result()))
    assert {name: (effect.saved, effect.gain) for name, effect in found.items()} == {
        "a": (3, 3), "b": (5, 5), "c": (7, 0),
    }  # fmt: skip
    assert (found["b"].before, found["b"].after, found["b"].makespan) == ("50", "45", 75)
    assert [found[name].leverage for name in "abc"] == [1.0, 1.0, 0.0]
    assert felt(found["b"], 80) == -0.0625
    on_one = by_name(sensitivity(result(1)))
    assert {name: effect.gain for name, effect in on_one.items()} == {"a": 3, "b": 5, "c": 7}


def test_the_path_goes_first_the_longest_of_it_first_and_what_takes_no_time_is_left_out() -> None:
    names = two_chains().names
    assert [names[op] for op in ranked_operators(result())] == ["b", "a", "c"]
    assert [probe.name for probe in operator_probes(result(), 2)] == ["b", "a"]


def test_large_graphs_are_sampled() -> None:
    chain = run("chain:30000", "serial", "lanes:1", check=False)
    assert len(operator_probes(chain)) == 20
    middle = run("chain:1000", "serial", "lanes:1", check=False)
    assert len(operator_probes(middle)) == 200


def test_streams_are_worth_what_they_are() -> None:
    found = sensitivity(result(1))
    (row,) = most(found, "figure")
    # On one lane 150; on two, from 1.1 or 2 times as many, 80.
    assert [(effect.before, effect.after, effect.makespan) for effect in row] == [("1", "2", 80), ("1", "2", 80)]
    assert most(sensitivity(result(2)), "figure") == []


def test_a_duration_of_one_tick_becomes_none() -> None:
    builder = GraphBuilder("one", time_unit="tick")
    builder.add_op("a", duration=1)
    found = by_name(sensitivity(run(problem_of(builder.build(), lanes(1)), "serial")))
    assert (found["a"].after, found["a"].saved, found["a"].gain) == ("0", 1, 1)


def toy(launch: int = 100) -> HardwareProfile:
    device = Device(
        "gpu", kind="gpu", model="lanes", streams=1, memory_bandwidth=10e9, launch_ns=launch,
        peaks={"vector": {"fp32": 4e9, "int32": 4e9}},
    )  # fmt: skip
    return HardwareProfile("toy", (device,))


def kernels() -> Graph:
    builder = GraphBuilder("kernels")
    builder.add_tensor("x", shape=(1,), dtype="fp32")
    builder.add_op("dense", "Custom", flops=40_000, traffic=3_000, outputs=["x"])
    builder.add_op("move", "Custom", flops=0, traffic=50_000, inputs=["x"])
    return builder.build()


def test_figures_are_made_better_one_at_a_time() -> None:
    base = run(make_problem(kernels(), toy()), "serial")
    assert base.makespan == 10_000 + 100 + 5_000 + 100
    found = {(effect.probe.name, effect.probe.level): effect for effect in sensitivity(base, tries=0)}
    two, little = Fraction(2), Fraction(11, 10)
    assert found["memory_bandwidth", two].gain == 2_500
    assert found["memory_bandwidth", little].makespan == 10_100 + 4_546 + 100  # 50,000 B at 11 B a ns, rounded up
    assert found["launch", two].gain == 100
    assert (found["launch", little].after, found["launch", little].gain) == ("91 ns", 18)
    assert found["peaks.vector.fp32", two].gain == 5_000
    assert found["peaks.vector.int32", two].gain == 0
    names = [row[0].probe.name for row in most(found.values(), "figure")]
    assert names == ["peaks.vector.fp32", "memory_bandwidth", "launch"]


@pytest.mark.parametrize("launch", [1, 2, 3])
def test_a_latency_becomes_smaller_by_a_nanosecond_at_least(launch: int) -> None:
    (handle,) = [each for each in handles(toy(launch)) if each.name == "launch"]
    assert better(handle, Fraction(11, 10)) == launch - 1


def test_capacity_counts_only_in_runs_that_heed_it() -> None:
    builder = GraphBuilder("memory", time_unit="tick")
    for name in "xy":
        builder.add_tensor(name, bytes=3)
    builder.add_op("a", duration=5, outputs=["x"])
    builder.add_op("b", duration=7, outputs=["y"])
    hardware = HardwareProfile("small", (Device("d0", streams=2, memory_usable=3),))
    problem = problem_of(builder.build(), hardware)
    waiting = run(problem, "critical_path", memory="block")
    assert waiting.makespan == 12
    row = next(row for row in most(sensitivity(waiting, tries=0), "figure") if row[0].probe.name == "memory_capacity")
    assert [(effect.after, effect.makespan) for effect in row] == [("4 B", 12), ("6 B", 7)]
    unbounded = run(problem, "critical_path")
    assert "memory_capacity" not in {probe.name for probe in figure_probes(unbounded)}


def test_a_run_that_cannot_be_carried_out_is_told_and_not_ranked() -> None:
    bench = Bench(run(problem_of(two_chains(), lanes(2)), "critical_path"))
    (handle,) = [each for each in handles(lanes(2)) if each.name == "streams"]
    effect = Effect(Probe("figure", "streams", handle=handle), "2", "4", None, error="it cannot")
    assert most([effect], "figure") == []
    assert bench.base.makespan == 80


def test_what_is_known_so_far_can_be_had_at_any_time() -> None:
    bench = Bench(result())
    stream = effects(bench, operator_probes(result()))
    first = next(stream)
    assert (first.probe.name, first.gain) == ("b", 5)
    assert [effect.probe.name for effect in stream] == ["a", "c"]


def test_costs_of_an_unknown_model_leave_figures_out_but_not_operators() -> None:
    from simsched.cost.base import KernelCost

    base = run(make_problem(kernels(), toy(), lambda *_: KernelCost(77, bound="compute")), "serial")
    found = sensitivity(base)
    errors = {effect.probe.name for effect in found if effect.error}
    assert errors == {"memory_bandwidth", "launch", "peaks.vector.fp32", "peaks.vector.int32"}
    assert "name that one with --cost-model" in next(effect.error for effect in found if effect.error)
    assert by_name(found)["dense"].gain == 8


def test_a_faster_operator_may_make_a_run_longer() -> None:
    """Graham's anomaly: with all operators a tick shorter, 12 become 13; one at a time some gains are negative or 0."""
    base = run("graham", "greedy_ready:list", "lanes:3")
    found = sensitivity(base)
    assert all(effect.makespan is not None for effect in found)
    assert sum(effect.gain for effect in by_name(found).values()) < sum(
        effect.saved for effect in by_name(found).values()
    )
