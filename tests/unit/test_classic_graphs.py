"""The small classic graphs that ship: what their descriptions claim, held against the publications."""

from __future__ import annotations

import json

import pytest

from simsched.cost.registry import unknown_types, work_of
from simsched.engine.simulator import simulate
from simsched.graph.io import load_graph
from simsched.graph.model import Graph
from simsched.graph.ranks import b_level
from simsched.hardware import lanes, procs
from simsched.problem import make_problem
from simsched.schedule import parse_schedule
from simsched.schedulers.follow import Follow
from simsched.schedulers.registry import make_scheduler
from tests.known_answers import REPOSITORY, folder

GRAPHS = REPOSITORY / "graphs"
CLASSICS = sorted(path.stem for path in GRAPHS.glob("*.yaml"))

GRAHAM = {"T1": 3, "T2": 2, "T3": 2, "T4": 2, "T5": 4, "T6": 4, "T7": 4, "T8": 4, "T9": 9}
ORDERS = {("T1", "T9"), ("T4", "T5"), ("T4", "T6"), ("T4", "T7"), ("T4", "T8")}


def makespan(name: str, scheduler: str, count: int) -> int:
    graph = load_graph(name)
    return simulate(make_problem(graph, lanes(count)), make_scheduler(scheduler)).makespan


def edges(graph: Graph) -> set[tuple[str, str]]:
    return {(graph.names[u], graph.names[v]) for u, row in enumerate(graph.succ) for v in row}


def durations(graph: Graph) -> dict[str, int | None]:
    return dict(zip(graph.names, graph.durations, strict=True))


def work_and_critical_path(name: str) -> tuple[int, int]:
    graph = load_graph(name)
    return sum(graph.durations), max(b_level(graph, graph.durations))  # type: ignore[arg-type]


def test_there_are_as_many_as_were_promised():
    assert {
        "residual", "rewrite_before", "rewrite_after", "graham", "graham_other_list", "graham_minus_one",
        "graham_fewer_arcs", "heft_topcuoglu", "conv_bn_relu", "fork_join", "diamond",
    } <= set(CLASSICS)  # fmt: skip


@pytest.mark.parametrize("name", CLASSICS)
def test_each_says_what_it_is_and_where_it_comes_from(name: str):
    graph = load_graph(name)
    assert graph.name == name
    assert len(graph.description) > 60
    assert len(graph.origin) > 20
    assert unknown_types(graph) == {}


def test_residual():
    graph = load_graph("residual")
    assert list(graph.names) == ["Input", "Conv1", "BN", "Conv2", "ReLU", "Add", "Output"]
    assert set(graph.durations) == {1}
    expected = "Input-Conv1 Conv1-BN Conv1-Conv2 Conv2-ReLU BN-Add ReLU-Add Add-Output"
    assert edges(graph) == {tuple(pair.split("-")) for pair in expected.split()}
    assert work_and_critical_path("residual") == (7, 6)
    assert makespan("residual", "serial", 2) == 7
    assert makespan("residual", "greedy_ready", 2) == 6


def test_the_rewrite():
    assert edges(load_graph("rewrite_before")) == {("A", "B"), ("B", "C"), ("C", "D"), ("D", "E")}
    assert edges(load_graph("rewrite_after")) == {("A", "B"), ("A", "C"), ("B", "D"), ("C", "E")}
    assert work_and_critical_path("rewrite_before") == (5, 5)
    assert work_and_critical_path("rewrite_after") == (5, 3)
    assert makespan("rewrite_before", "critical_path", 2) == 5
    assert makespan("rewrite_after", "critical_path", 2) == 3


def test_diamond_and_fork_join():
    assert work_and_critical_path("diamond") == (2 + 3 + 5 + 7, 2 + 5 + 7)
    assert makespan("diamond", "greedy_ready", 2) == 14
    assert work_and_critical_path("fork_join") == (46, 21)
    assert makespan("fork_join", "critical_path", 4) == 21
    # The best that two lanes can do is 7+3 beside 5+3, and 11 beside 5+5+4; in the order of the file the rounds take
    # 10 and 16.
    assert makespan("fork_join", "critical_path", 2) == 1 + 10 + 1 + 14 + 1
    assert makespan("fork_join", "greedy_ready", 2) == 29


@pytest.mark.parametrize(
    ("name", "count", "expected"),
    [
        ("graham", 3, 12),
        ("graham", 4, 15),
        ("graham_other_list", 3, 14),
        ("graham_minus_one", 3, 13),
        ("graham_fewer_arcs", 3, 16),
    ],
)
def test_grahams_anomaly(name: str, count: int, expected: int):
    assert makespan(name, "greedy_ready:list", count) == expected


def test_the_variants_of_graham_differ_in_one_thing_each():
    base = load_graph("graham")
    assert durations(base) == GRAHAM
    assert edges(base) == ORDERS
    other = load_graph("graham_other_list")
    assert list(other.names) == [f"T{task}" for task in (1, 2, 4, 5, 6, 3, 9, 7, 8)]
    assert (durations(other), edges(other)) == (GRAHAM, ORDERS)
    shorter = load_graph("graham_minus_one")
    assert (durations(shorter), edges(shorter)) == ({task: time - 1 for task, time in GRAHAM.items()}, ORDERS)
    fewer = load_graph("graham_fewer_arcs")
    assert (durations(fewer), edges(fewer)) == (GRAHAM, ORDERS - {("T4", "T5"), ("T4", "T6")})
    assert [list(graph.names) for graph in (base, shorter, fewer)] == [list(GRAHAM)] * 3


def test_graham_against_the_published_instance():
    published = json.loads((folder("graham_anomalies") / "instance.json").read_text())
    assert {f"T{task}": time for task, time in published["durations"].items()} == GRAHAM
    assert {(f"T{a}", f"T{b}") for a, b in published["precedence"]} == ORDERS


def test_heft_example_against_the_published_instance():
    published = json.loads((folder("heft_topcuoglu") / "instance.json").read_text())
    graph = load_graph("heft_topcuoglu")
    rows = [[operator.duration[f"p{p}"] for p in range(3)] for operator in graph.operators()]  # type: ignore[index]
    assert rows == published["cost_task_by_processor"]
    delays = [[u + 1, v + 1, delay] for (u, v), delay in graph.delays.items()]
    assert sorted(delays) == sorted(published["edges_from_to_comm"])
    problem = make_problem(graph, procs(3))
    assert problem.transfer_ns(0, 1, 0, 1) == 18
    assert problem.transfer_ns(0, 1, 2, 2) == 0


def test_heft_schedule_is_eighty():
    """The published HEFT schedule, followed task by task."""
    text = "p0/s0: T2 T8\np1/s0: T4 T6 T9 T10\np2/s0: T1 T3 T5 T7\n"
    graph = load_graph("heft_topcuoglu")
    problem = make_problem(graph, procs(3))
    trace = simulate(problem, Follow(parse_schedule(text, problem)))
    assert trace.makespan == 80
    ends = dict(zip(graph.names, trace.end, strict=True))
    assert [ends[f"T{task}"] for task in range(1, 11)] == [9, 40, 28, 26, 38, 42, 49, 62, 68, 80]


def test_conv_bn_relu():
    graph = load_graph("conv_bn_relu")
    flops = [work_of(graph, op).flops for op in range(3)]
    assert flops[0] == 1_849_688_064
    assert max(flops[1:]) < flops[0] / 100
    assert [graph.tensor(tensor).kind for tensor in graph.outputs[2]] == ["output"]
    activation = 8 * 64 * 56 * 56 * 4
    assert work_of(graph, 2).bytes == 2 * activation
