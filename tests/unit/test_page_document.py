"""The document of a page: exactly the declared shapes, and figures that follow from what it says."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest

from simsched.errors import ConfigError
from simsched.graph.io import load_graph
from simsched.page.document import page_document
from simsched.result import Failure
from simsched.run import run
from simsched.scenario import Scenario
from simsched.schedulers.proof import Proof
from tests.page_cases import Document, all_pairs
from tests.page_shapes import faults_of, shapes
from tests.strategies import linked_pair, problem_of, random_graph


def test_documents_are_of_the_declared_shape() -> None:
    for result, document in all_pairs():
        assert faults_of(document) == [], result.scheduler


def test_the_checker_of_shapes_finds_faults() -> None:
    document = page_document([run("residual", "serial", "lanes:2")])
    runs = document["runs"][0]
    planted = [
        {**document, "extra": 1},
        {name: value for name, value in document.items() if name != "title"},
        {**document, "graph": {**document["graph"], "unit": "s"}},
        {**document, "runs": [{**runs, "start": (0, 1)}]},
        {**document, "runs": [{**runs, "valid": 1}]},
        {**document, "runs": [{**runs, "figures": {**runs["figures"], "gap": float("inf")}}]},
        {**document, "runs": [{**runs, "spans": [[0, 0, 0]]}]},
        {**document, "runs": [{**runs, "reasons": {3: "x"}}]},
    ]
    assert [len(shapes().faults("PageDocument", each)) for each in planted] == [1] * len(planted)


def test_columns_are_those_of_the_trace() -> None:
    for result, document in all_pairs():
        part, trace = document["runs"][0], result.trace
        for name in ("stream", "dispatch", "ready", "start", "end", "launched"):
            assert part[name] == list(getattr(trace, name))
        assert part["order"] == list(trace.launch_order)
        assert part["makespan"] == max(trace.end, default=0)
        assert {int(op): text for op, text in part["reasons"].items()} == trace.reasons


# --- figures and bounds ---------------------------------------------------------------------------------------


def test_figures_follow_from_the_document() -> None:
    for result, document in all_pairs():
        part = document["runs"][0]
        machine, figures, makespan = document["machines"][0], part["figures"], part["makespan"]
        lower = [bound["ns"] for bound in machine["bounds"] if bound["kind"] == "lower"]
        assert figures["lower_bound"] == max(lower) <= makespan
        expected = (makespan - max(lower)) / max(lower) if max(lower) else None if makespan else 0
        assert figures["gap"] == (None if expected is None else pytest.approx(expected, abs=1e-6))
        assert figures["peak_bytes"] == max(max(steps["value"], default=0) for steps in part["memory_steps"])
        if result.actual is None:
            bounds = {bound["name"]: bound["ns"] for bound in machine["bounds"]}
            assert bounds["critical_path"] == longest_path(document)
            if len(machine["devices"]) == 1:
                serial = sum(machine["duration"])
                assert figures["speedup"] == pytest.approx(serial / makespan if makespan else 1, abs=1e-6)


def longest_path(document: Document) -> int:
    """By networkx, from what the document says."""
    graph: nx.DiGraph[tuple[int, bool]] = nx.DiGraph()
    machine = document["machines"][0]
    graph.add_nodes_from((op, False) for op in range(len(machine["duration"])))
    graph.add_edges_from((((op, False), (op, True), {"ns": ns}) for op, ns in enumerate(machine["duration"])))
    graph.add_edges_from((((a, True), (b, False), {"ns": 0}) for a, b, _ in document["graph"]["edges"]))
    return int(nx.dag_longest_path_length(graph, "ns"))


def test_slack_is_zero_on_a_longest_path_alone() -> None:
    """The diamond of 2, then 3 beside 5, then 7: only the operator of 3 may be late, by 2."""
    (machine,) = page_document([run("diamond", "serial", "lanes:2")])["machines"]
    assert machine["duration"] == [2, 3, 5, 7]
    assert machine["slack"] == [0, 2, 0, 0]


def test_the_path_fills_the_run_where_nothing_else_held_it_up() -> None:
    for _, document in all_pairs():
        part = document["runs"][0]
        ends = [part["end"][op] for op in part["path"]]
        assert ends == sorted(ends)
        assert (ends or [0])[-1] == part["makespan"]


def test_work_says_what_each_operator_cost() -> None:
    result = run("inception_v1", "critical_path", "a100_sxm_80gb")
    work = page_document([result])["runs"][0]["work"]
    graph = result.problem.graph
    assert sum(work["flops"]) / 1e9 == pytest.approx(2.885, abs=0.0005)  # graphs/README.md
    assert sum(work["bytes"]) / 1e6 == pytest.approx(111.7, abs=0.05)
    assert set(work["bounds"]) == {"compute", "memory", "launch", "none"}
    for op, bound in enumerate(work["bound"]):
        if work["bounds"][bound] in ("compute", "memory"):
            assert (work["compute"][op] > work["memory"][op]) is (work["bounds"][bound] == "compute")
    op = graph.id_of("conv1/7x7_s2")
    assert work["alone"][op] == work["estimate"][op] == result.problem.durations(0)[op]


# --- several runs ---------------------------------------------------------------------------------------------


def test_runs_on_different_hardware_are_different_machines() -> None:
    graph = load_graph("residual")
    results = [
        run(graph, spec, hardware) for hardware in ("lanes:2", "lanes:1") for spec in ("serial", "critical_path")
    ]
    document = page_document(results)
    assert [(each["label"], each["machine"], each["makespan"]) for each in document["runs"]] == [
        ("serial on lanes:2", 0, 7),
        ("critical_path on lanes:2", 0, 6),
        ("serial on lanes:1", 1, 7),
        ("critical_path on lanes:1", 1, 7),
    ]
    assert [each["name"] for each in document["machines"]] == ["lanes:2", "lanes:1"]
    assert document["title"] == "residual on lanes:2, lanes:1"
    assert faults_of(document) == []


def test_equal_hardware_read_twice_is_one_machine() -> None:
    results = [run("inception_v1", "serial", "a100_sxm_80gb"), run("inception_v1", "serial", "a100_sxm_80gb")]
    document = page_document(results)
    assert len(document["machines"]) == 1
    assert [each["label"] for each in document["runs"]] == ["serial", "serial (2)"]


def test_other_durations_or_another_memory_mode_are_another_machine() -> None:
    results = [
        run("residual", "critical_path", "lanes:2"),
        run("residual", "critical_path", "lanes:2", memory="block"),
        run("residual", "critical_path", "lanes:2", noise=0.9, seed=5),
    ]
    names = [each["name"] for each in page_document(results)["machines"]]
    assert len(set(names)) == 3


def test_runs_of_different_graphs_are_refused() -> None:
    results = [run("residual", "serial", "lanes:2"), run("diamond", "serial", "lanes:2")]
    with pytest.raises(ConfigError, match=r"residual \(7 operators\) and diamond \(4 operators\)"):
        page_document(results)
    with pytest.raises(ConfigError, match="no run"):
        page_document([], failures=[Failure("serial", "it fell")])


def test_failures_are_told() -> None:
    failure = Failure("strict one", "OutOfMemoryError: too small")
    document = page_document([run("residual", "serial", "lanes:2")], failures=[failure], title="Mine")
    assert document["failures"] == [{"label": "strict one", "message": "OutOfMemoryError: too small"}]
    assert document["title"] == "Mine"


def test_a_live_document_holds_what_a_rerun_needs() -> None:
    result = run(problem_of(random_graph(2, 9), linked_pair()), "heft", memory="block")
    document = page_document([result, result], live=True)
    problem = document["problem"]
    assert [each["spec"] for each in problem["schedulers"]] == ["heft"]
    assert problem["memory"] == "block"
    assert faults_of(document) == []


def test_other_costs_and_other_places_are_another_machine() -> None:
    tf32 = Scenario("a100_sxm_80gb", cost_model="roofline:tf32")
    graph = load_graph("inception_v1")
    results = [run(graph, "serial", "a100_sxm_80gb"), run(tf32.problem(graph), "serial")]
    assert len(page_document(results)["machines"]) == 2
    placed = [Scenario("toy_box", place=rule).problem(graph) for rule in ("Conv=gpu0; *=gpu1", "Conv=gpu1; *=gpu0")]
    assert len(page_document([run(problem, "serial") for problem in placed])["machines"]) == 2


def test_what_one_run_proves_bounds_all_on_its_machine() -> None:
    """27 is the best on two lanes, as graphs/README.md says; the other bounds are lower."""
    serial, path = run("fork_join", "serial", "lanes:2"), run("fork_join", "critical_path", "lanes:2")
    before = page_document([serial, path])["runs"]
    assert max(each["figures"]["lower_bound"] for each in before) < 27
    proved = replace(path, proved=Proof(27, "optimal", 27))
    for each in page_document([serial, proved])["runs"]:
        assert (each["figures"]["lower_bound"], each["figures"]["lower_bound_name"]) == (27, "proved")
