from __future__ import annotations

import csv
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis.bounds import amdahl_rigorous, amdahl_textbook, bounds, graham_brent, lower_bound
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.graph.psplib import load_sm
from simsched.graph.stg import load_stg
from simsched.hardware import HardwareProfile, lanes, native, procs
from simsched.problem import Problem
from tests.builders import linked_pair, problem_of, random_graph, rigid, small_gpu, with_memory, zoo, zoo_graphs
from tests.exhaustive import greedy_makespans, optimal_makespan, optimal_on_devices
from tests.known_answers import folder
from tests.strategies import graphs


def values(problem: Problem, **choices) -> dict[str, int]:
    return {bound.name: bound.value for bound in bounds(problem, **choices)}


def fork() -> Graph:
    """a(2), then b(3), c(5), d(7), e(11) side by side, then f(13)."""
    builder = GraphBuilder("fork", time_unit="tick")
    for name, duration in zip("abcdef", (2, 3, 5, 7, 11, 13), strict=True):
        builder.add_op(name, duration=duration)
    for middle in "bcde":
        builder.add_edge("a", middle)
        builder.add_edge(middle, "f")
    return builder.build()


def test_every_bound_by_hand():
    # W = 41, CP = 2 + 11 + 13 = 26, S = 2 + 13 = 15
    found = {bound.name: (bound.value, bound.kind) for bound in bounds(problem_of(fork(), lanes(2)))}
    assert found == {
        "critical_path": (26, "lower"),
        "area(streams)": (21, "lower"),  # 41 / 2 = 20.5
        "window(streams)": (27, "lower"),  # a to e end 13 before the end: 13 + 28 / 2 (from the front: 2 + 39 / 2)
        "amdahl": (28, "lower"),  # 15 + 26 / 2
        "graham_brent": (33, "upper"),  # 41 / 2 + 26 / 2 = 33.5
        "amdahl_textbook": (34, "model"),  # 41 (26/41 + 15/41 / 2) = 33.5
    }


def test_the_best_lower_bound_is_named():
    best = lower_bound(problem_of(fork(), lanes(2)))
    assert (best.name, best.value) == ("amdahl", 28)
    said = "Operators ordered with every other one run beside nothing (15 of 41); the rest shares 2 streams."
    assert best.statement == said
    assert lower_bound(problem_of(fork(), lanes(4))).value == 26


def test_one_stream_is_said_in_the_singular():
    said = {bound.name: bound.statement for bound in bounds(problem_of(fork(), lanes(1)))}
    assert said["area(streams)"] == "The work on streams, of which there is one, without a gap."
    assert said["amdahl"].endswith("the rest shares 1 stream.")


def test_a_chain_beside_independent_operators_beats_the_textbook_curve():
    # Ten operators in a chain and ten independent ones: 10 on two lanes; f = CP / W = 1/2 claims 15.
    problem = problem_of(zoo_graphs()["chain_beside_independent"], lanes(2))
    found = values(problem)
    assert found["amdahl_textbook"] == 15
    assert found["amdahl"] == found["critical_path"] == found["area(streams)"] == 10
    assert lower_bound(problem).value == 10
    assert found["graham_brent"] == 15


def test_the_three_formulas_are_exact():
    work, huge = 10**18 + 1, 3
    assert amdahl_rigorous(work, 5, huge) == 5 + Fraction(work - 5, 3)
    assert amdahl_textbook(work, Fraction(1, 7), huge) == Fraction(work, 7) + Fraction(6 * work, 21)
    assert graham_brent(work, 11, huge) == Fraction(work, 3) + Fraction(22, 3)
    graph = GraphBuilder("large", time_unit="ns")
    for number in range(3):
        graph.add_op(f"v{number}", duration=3 * 10**17 + 1)
    # (9e17 + 3) / 2 is not a whole number, and no float holds it.
    assert values(problem_of(graph.build(), lanes(2)))["area(streams)"] == 450000000000000002


def test_area_per_resource_and_where_it_binds():
    builder = GraphBuilder("rigid", time_unit="tick")
    for name, duration, cores, ports in (("a", 2, 3, 1), ("b", 3, 2, 2), ("c", 5, 4, 0)):
        builder.add_op(name, duration=duration, demands={"cores": cores, "ports": ports})
    found = values(problem_of(builder.build(), rigid(3, cores=4, ports=2)))
    assert found["area(cores)"] == 8  # (6 + 6 + 20) / 4
    assert found["area(ports)"] == 4  # (2 + 6) / 2
    assert found["area(streams)"] == 4  # 10 / 3
    assert "graham_brent" not in found


def test_heads_and_tails_sharpen_the_area():
    builder = GraphBuilder("late", time_unit="tick")
    builder.add_op("a", duration=7)
    for number in range(4):
        builder.add_op(f"b{number}", duration=5, after=["a"])
    found = values(problem_of(builder.build(), lanes(2)))
    assert found["area(streams)"] == 14  # 27 / 2
    assert found["window(streams)"] == 17  # 7 + 20 / 2


def test_the_kernel_limit_counts_as_machines():
    graph = random_graph(1, 12, durations=(3, 5), sizes=())
    free, limited = (values(problem_of(graph, small_gpu(4, 4, resident=limit))) for limit in (None, 2))
    work = sum(graph.durations)
    assert free["area(streams)"] == -(-work // 4)
    assert limited["area(streams)"] == -(-work // 2)


def test_the_upper_bound_is_for_plain_lanes_only():
    graph = fork()
    assert "graham_brent" in values(problem_of(graph, lanes(2)))
    assert "graham_brent" not in values(problem_of(graph, lanes(2)), memory="block")
    assert "graham_brent" not in values(problem_of(graph, small_gpu(4, 2)))
    assert "graham_brent" not in values(problem_of(graph, procs(2)))


def test_actual_durations_replace_estimates():
    problem = problem_of(fork(), lanes(2))
    assert values(problem, actual=[[2, 3, 5, 7, 17, 13]])["critical_path"] == 32


def test_several_devices_take_the_shortest_durations_and_each_tied_group():
    builder = GraphBuilder("tied", time_unit="tick")
    builder.add_op("a", duration={"d0": 11, "d1": 3})
    builder.add_op("b", duration=5, device="d0")
    builder.add_op("c", duration=7, device="d0")
    builder.add_op("d", duration=13, device="d0")
    found = values(problem_of(builder.build(), linked_pair(streams=1)))
    assert found["critical_path"] == 13
    assert found["area(streams)"] == 14  # 3 + 5 + 7 + 13 over two streams
    assert found["area(d0/streams)"] == 25
    assert lower_bound(problem_of(builder.build(), linked_pair(streams=1))).value == 25


def test_transfers_that_no_placement_avoids_count():
    builder = GraphBuilder("forced", time_unit="tick")
    builder.add_op("a", duration=2, device="d0")
    builder.add_op("b", duration=3, device="d1")
    builder.add_op("c", duration=5)
    builder.add_edge("a", "b", bytes=7)
    builder.add_edge("b", "c", bytes=100)
    found = values(problem_of(builder.build(), linked_pair(latency=11, bandwidth=1e9)))
    assert found["critical_path"] == 10
    assert found["critical_path(transfers)"] == 2 + 11 + 7 + 3 + 5
    assert "critical_path(transfers)" not in values(problem_of(fork(), linked_pair()))


def test_an_empty_graph_has_bounds_of_0():
    assert set(values(problem_of(zoo_graphs()["empty"], lanes(3))).values()) == {0}


# --- against exhaustive search --------------------------------------------------------------------------------


@given(graphs(6, tensors=False), st.integers(1, 3))
def test_no_lower_bound_exceeds_the_optimum_on_lanes(graph, machines):
    optimum = optimal_makespan(graph, graph.durations, machines)
    for bound in bounds(problem_of(graph, lanes(machines))):
        if bound.kind == "lower":
            assert bound.value <= optimum, bound


@given(graphs(6, tensors=False, demands={"cores": 3}), st.integers(1, 3))
def test_no_lower_bound_exceeds_the_optimum_with_demands(graph, machines):
    needs = {op: units["cores"] for op, units in graph.demands.items()}
    optimum = optimal_makespan(graph, graph.durations, machines, needs, 3)
    for bound in bounds(problem_of(graph, rigid(machines, cores=3))):
        if bound.kind == "lower":
            assert bound.value <= optimum, bound


@given(st.data(), st.sampled_from([procs(2), linked_pair(streams=1), linked_pair(0, 5e8, 1)]))
def test_no_lower_bound_exceeds_the_optimum_on_devices(data, hardware: HardwareProfile):
    names = [device.name for device in hardware.devices]
    graph = data.draw(graphs(5, delays=True, devices=names))
    problem = problem_of(graph, hardware)
    optimum = optimal_on_devices(problem)
    for bound in bounds(problem):
        if bound.kind == "lower":
            assert bound.value <= optimum, bound


@given(graphs(5, tensors=False, durations=(1, 2, 3, 5, 7)), st.integers(1, 3))
def test_no_greedy_schedule_exceeds_graham_brent(graph, machines):
    found = values(problem_of(graph, lanes(machines)))
    for makespan in greedy_makespans(graph, graph.durations, machines):
        assert found["critical_path"] <= makespan <= found["graham_brent"]


def test_lower_bounds_are_often_tight():
    tight = 0
    for seed in range(60):
        graph = random_graph(seed, 6, sizes=(), durations=(1, 2, 3, 5, 7))
        tight += lower_bound(problem_of(graph, lanes(2))).value == optimal_makespan(graph, graph.durations, 2)
    assert tight >= 45


def test_the_zoo_has_bounds():
    for name, problem in zoo(deep=50, wide=20).items():
        assert lower_bound(problem).value >= values(problem)["critical_path"], name


def test_memory_does_not_change_lower_bounds():
    graph = random_graph(3, 20)
    free, tight = problem_of(graph, lanes(2)), problem_of(graph, with_memory(lanes(2), 200))
    assert lower_bound(free) == lower_bound(tight)


# --- against published optima ---------------------------------------------------------------------------------


def test_standard_task_graphs_are_bounded_from_below():
    place = folder("stg")
    rows = list(csv.DictReader((place / "stg_v2_optima_50.csv").read_text().splitlines()))
    by_file: dict[str, Graph] = {}
    tight = 0
    for row in rows:
        graph = by_file.setdefault(row["file"], load_stg(place / row["file"]))
        best = lower_bound(problem_of(graph, lanes(int(row["processors"]))))
        assert best.value <= int(row["best_found"]), row
        tight += best.value == int(row["best_found"])
    assert len(rows) == 720
    assert tight >= 670  # 660 without the windows


def test_project_scheduling_instances_are_bounded_from_below():
    place = folder("psplib")
    rows = list(csv.DictReader((place / "reference_j30.csv").read_text().splitlines()))
    for row in rows:
        graph = load_sm(place / "j30" / f"{row['instance']}.sm")
        problem = problem_of(graph, native(graph.native or {}, len(graph)))
        found = values(problem)
        assert found["critical_path"] == int(row["cpm_length"]), row
        areas = [value for name, value in found.items() if name.startswith("area(") and name != "area(streams)"]
        assert max(areas) == int(row["resource_work_bound"]), row
        assert lower_bound(problem).value <= int(row["best_known_makespan"]), row
    assert len(rows) == 480
