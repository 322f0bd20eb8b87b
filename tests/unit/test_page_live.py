"""Requests of a live page: what edits do, what is answered to what is wrong, and that nothing is let through."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from simsched import whatif as whatif_package
from simsched.config.plain import to_plain
from simsched.graph.dump import dump_graph
from simsched.graph.io import load_graph
from simsched.graph.plain import graph_from_plain
from simsched.page.live import answer, runs_again
from simsched.profiles import load_hardware, with_model
from simsched.run import compare, run
from tests.page_requests import ask, named_problem, problem
from tests.unit.test_layering import modules_after


def makespan(given: Any = None, **edits: Any) -> int:
    found = ask(given, **edits)
    assert found["ok"], found
    document = found["document"]
    assert document["runs"][0]["valid"] is True
    assert document["failures"] == []
    time: int = document["runs"][0]["makespan"]
    # What comes back is the edited problem: run again without edits it is the same.
    again = ask(document["problem"])["document"]
    assert again["runs"] == document["runs"]
    assert again["problem"] == document["problem"]
    return time


def message(given: Any = None, **edits: Any) -> str:
    found = ask(given, **edits)
    assert not found["ok"], found
    text: str = found["error"]["message"]
    assert "Traceback" not in text
    return text


# --- edits, their results worked out by hand ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({}, 14),
        ({"durations": {"c": "11"}}, 18),
        ({"durations": {"c": 1}}, 10),
        ({"durations": {"a": "x3"}}, 24),
        ({"durations": {"a": "x0.5"}}, 11),  # 2.5 ticks, rounded to the even 2
        ({"remove_operators": ["a"]}, 9),
        ({"remove_operators": ["c"]}, 10),
        ({"remove_edges": [["a", "c"]]}, 10),
        ({"remove_edges": [["a", "b"]]}, 14),
        ({"add_edges": [["b", "c"]]}, 17),
        ({"add_edges": [{"from": "b", "to": "c", "bytes": "4 MiB"}]}, 17),
        ({"add_operators": [{"name": "e", "duration": "13", "after": ["d"]}]}, 27),
        ({"add_operators": [{"name": "e", "duration": "13"}], "add_edges": [["e", "c"]]}, 22),
        ({"hardware": {"streams": "1"}}, 17),
        ({"remove_operators": ["b"], "add_operators": [{"name": "b", "duration": "20"}]}, 20),
    ],
)
def test_an_edit_does_what_it_says(edits: dict[str, Any], expected: int) -> None:
    assert makespan(**edits) == expected


def test_sizes_of_tensors_and_capacities_are_heeded() -> None:
    # The edge's 10 bytes are live from the start of a to the end of b.
    assert ask()["document"]["runs"][0]["figures"]["peak_bytes"] == 10
    assert ask(tensors={"a->b": "3 KiB"})["document"]["runs"][0]["figures"]["peak_bytes"] == 3072
    small = ask(tensors={"a->b": "3 KiB"}, hardware={"memory_capacity": "2 KiB"}, memory="strict")
    assert not small["ok"]
    assert "3 KiB" in small["error"]["message"]


def test_an_operator_that_is_taken_out_leaves_its_outputs_as_inputs() -> None:
    given = named_problem("inception_v1", "a100_sxm_80gb")
    first = given["graph"]["operators"][0]
    kept = ask(given, remove_operators=[first["name"]])["document"]
    tensors = {row["name"]: row for row in kept["problem"]["graph"]["tensors"]}
    for name in first["outputs"]:
        assert tensors[name]["kind"] == "input"
    # Others cost what they did.
    whole = ask(given)["document"]
    before = dict(zip(whole["graph"]["names"], whole["machines"][0]["duration"], strict=True))
    after = dict(zip(kept["graph"]["names"], kept["machines"][0]["duration"], strict=True))
    assert len(after) == len(before) - 1
    assert after.items() <= before.items()


def test_an_edge_of_an_estimated_operator_goes_and_its_cost_stays() -> None:
    given = named_problem("squeezenet", "t4")
    graph = load_graph("squeezenet")
    source, target = 3, graph.succ[3][0]
    pair = [graph.names[source], graph.names[target]]
    document = ask(given, remove_edges=[pair])["document"]
    names = document["graph"]["names"]
    assert [names.index(pair[0]), names.index(pair[1])] not in [edge[:2] for edge in document["graph"]["edges"]]
    duration = document["machines"][0]["duration"][names.index(pair[1])]
    # The same as of simsched whatif --drop-edge, which keeps the costs.
    changes = whatif_package.Changes(drop=[(pair[0], pair[1])])
    other = whatif_package.whatif(run(graph, "critical_path", "t4"), changes).after
    assert duration == other.problem.durations()[other.problem.graph.index[pair[1]]]
    assert document["runs"][0]["makespan"] == other.makespan


def test_an_estimated_duration_becomes_a_factor_of_the_whole_cost() -> None:
    """As ``simsched whatif --scale``: it holds the SMs and draws the bandwidth that it did."""
    given = named_problem("inception_v1", "a100_sxm_80gb")
    name = given["graph"]["operators"][0]["name"]
    changes = whatif_package.Changes(scale={name: 2})
    expected = whatif_package.whatif(run("inception_v1", "critical_path", "a100_sxm_80gb"), changes).after
    assert makespan(given, durations={name: "x2"}) == expected.makespan
    estimate = run("inception_v1", "critical_path", "a100_sxm_80gb").problem.durations()[0]
    document = ask(given, durations={name: f"{2 * estimate} ns"})["document"]
    assert document["runs"][0]["makespan"] == expected.makespan
    assert document["problem"]["scales"] == {name: "2"}
    assert document["machines"][0]["duration"][0] == 2 * estimate
    # Two factors multiply; a time replaces the factor.
    again = ask(document["problem"], durations={name: "x0.75"})["document"]["problem"]
    assert again["scales"] == {name: "3/2"}
    assert ask(again, durations={name: f"{estimate} ns"})["document"]["problem"]["scales"] == {name: "1"}


@pytest.mark.parametrize("model", ["lanes", "sm_share", "blocks"])
def test_device_models_and_figures_are_those_of_the_library(model: Any) -> None:
    given = named_problem("shufflenet", "a100_sxm_80gb")
    found = ask(given, hardware={"model": model, "streams": "3"})["document"]["runs"][0]["makespan"]
    hardware = with_model(load_hardware("a100_sxm_80gb"), model)
    hardware = whatif_package.whatif(
        run("shufflenet", "critical_path", hardware), whatif_package.Changes(streams=3)
    ).after.problem.hardware
    assert found == run("shufflenet", "critical_path", hardware).makespan


def test_runs_are_those_of_compare() -> None:
    five = ("topological", "critical_path", "greedy_ready", "memory_aware", "pipeline")
    for graph, hardware in (("residual", "lanes:2"), ("heft_topcuoglu", "procs:3"), ("inception_v1", "toy_box")):
        given = problem(dump_graph(load_graph(graph)), to_plain(load_hardware(hardware)), five)
        runs = ask(given)["document"]["runs"]
        expected = compare(graph, five, hardware).results
        assert [(each["label"], each["start"]) for each in runs] == [
            (each.label, list(each.trace.start)) for each in expected
        ]


# --- what is wrong ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({"durations": {"c": "5 us"}}, "counts in ticks"),
        ({"durations": {"c": "-3"}}, "cannot be negative"),
        ({"durations": {"c": ""}}, "is not a number"),
        ({"durations": {"c": "x"}}, "'x' is not a number"),
        ({"durations": {"e": "5"}}, "unknown operator 'e'"),
        ({"durations": {"c": "1e99"}}, "too large"),
        ({"tensors": {"a->c": "5"}}, "unknown tensor 'a->c'"),
        ({"tensors": {"a->b": "lots"}}, "'lots' is not a number"),
        ({"remove_operators": ["z"]}, "unknown operator 'z'"),
        ({"remove_operators": ["a", "a"]}, "unknown operator 'a'"),
        ({"remove_edges": [["a", "d"]]}, "there is no such edge"),
        ({"add_edges": [["d", "a"]]}, "cycle: a -> "),
        ({"add_edges": [["a", "a"]]}, "cannot wait for itself"),
        ({"add_edges": [["a", "z"]]}, "unknown operator 'z'"),
        ({"add_operators": [{"name": "a", "duration": "1"}]}, "there is an operator 'a' already"),
        ({"add_operators": [{"name": " ", "duration": "1"}]}, "needs a name"),
        ({"add_operators": [{"name": "e"}]}, "duration of 'e'"),
        ({"hardware": {"sms": "4"}}, "unknown figure of 'lanes:2' 'sms'"),
        ({"hardware": {"streams": "0"}}, "whole number from 1"),
        ({"hardware": {"streams": "many"}}, "got 'many'"),
        ({"hardware": {"model": "blocks"}}, "shares SMs"),
        ({"hardware": {"model": "warp"}}, "not a device model"),
        ({"hardware": {"streams": "1000000"}}, "1000000 is no figure of hardware; expected 1 to 100000"),
        ({"memory": "some"}, "'some'"),
        ({"schedulers": []}, "choose at least one"),
        ({"schedulers": [{"spec": "crtical_path"}]}, "did you mean 'critical_path'?"),
        ({"schedulers": [{"spec": "optimal"}]}, "optimal"),
        ({"unknown": 3}, "unknown field 'unknown'"),
        ({"durations": 3}, "expected a mapping"),
        ({"add_edges": [["a"]]}, "expected [from, to]"),
        ({"add_operators": [{"name": 7, "duration": "1"}]}, "add_operators[0].name: expected text"),
        ({"add_operators": [{"name": "e", "duration": "1", "after": 3}]}, "add_operators[0].after: expected a list"),
        ({"add_operators": [{"name": "e", "duration": "1", "after": [["a"]]}]}, "after[0]: expected text"),
        ({"add_operators": [{"name": "e", "duration": []}]}, "add_operators[0].duration: expected text"),
        ({"add_operators": [{"name": "e", "op": "x"}]}, "unknown field 'op'"),
        ({"remove_operators": []  , "seed": "x"}, "expected a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(edits: dict[str, Any], expected: str) -> None:
    if edits == {"schedulers": [{"spec": "optimal"}]}:
        pytest.importorskip("ortools")
        assert ask(**edits)["ok"]
        return
    assert expected in message(**edits)


DEEP = '{"kind": "run", "problem": ' + "[" * 500 + "]" * 500 + "}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        DEEP,
        "[]",
        "3",
        '{"kind": "walk"}',
        '{"kind": "run"}',
        '{"kind": "run", "problem": {"graph": []}}',
        "\ud800",
    ],
)
def test_a_request_that_is_none_is_answered(text: str) -> None:
    found = json.loads(answer(text))
    assert found["ok"] is False
    assert found["error"]["type"] == "ConfigError"


REPLACEMENTS: tuple[Any, ...] = (None, 7, "x", [], {}, [[]], {"x": 1}, 0, -1, True, 1e308, 10**30)
TOY: dict[str, Any] = {
    "name": "d0", "model": "sm_share", "streams": 2, "resources": {"sms": 4}, "memory_bandwidth": 1e11,
    "peaks": {"vector": {"fp32": 1e12}}, "efficiency": {"vector": 0.5}, "launch_ns": 10, "memory_usable": 10**9,
}  # fmt: skip


def damaged() -> list[Any]:
    """The problem with each of its parts in turn replaced by something else."""
    found: list[Any] = []

    def visit(value: Any, put: Any) -> None:
        found.extend(put(other) for other in REPLACEMENTS if other != value)
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in items:

            def put_inside(new: Any, key: Any = key, value: Any = value) -> Any:
                changed = copy.copy(value)
                changed[key] = new
                return put(changed)

            visit(inner, put_inside)

    toy = {
        "devices": [TOY],
        "links": [{"a": "d0", "b": "d0", "bandwidth": 5e9}],
        "host": {"launch_ns": 5, "threads": 2},
    }
    visit(
        problem(hardware={"name": "toy", **toy}) | {"scales": {"a": "1"}, "memory": "block", "seed": 1},
        lambda value: value,
    )
    return found


def test_no_damage_of_a_link_reaches_the_inside() -> None:
    cases = damaged()
    assert len(cases) > 300
    for given in cases:
        found = ask(given if given else {"graph": None})
        assert found["ok"] or found["error"]["type"] != "internal", (given, found)


# --- around it ----------------------------------------------------------------------------------------------------


def test_what_cannot_be_run_again_is_known() -> None:
    assert runs_again(run("inception_v1", "serial", "a100_sxm_80gb"))
    assert not runs_again(run("inception_v1", "serial", "a100_sxm_80gb", noise=0.2))
    changes = whatif_package.Changes(scale={"type:Conv": 2})
    assert not runs_again(whatif_package.whatif(run("inception_v1", "serial", "t4"), changes).after)


def test_a_dump_is_rebuilt_without_pydantic_as_the_same_graph() -> None:
    for name in ("residual", "heft_topcuoglu", "inception_v1", "gpt2", "graham"):
        graph = load_graph(name)
        assert graph_from_plain(json.loads(json.dumps(dump_graph(graph)))).content_hash == graph.content_hash


def test_the_worker_needs_only_the_core() -> None:
    loaded = modules_after("from simsched.page.live import answer, warm_up\nwarm_up()")
    assert {"simsched", "simpy"} <= loaded
    assert loaded.isdisjoint({"pydantic", "numpy", "click", "matplotlib", "networkx", "rich", "onnx", "ortools"})
