"""The document of a page: exactly the declared shapes, and figures that agree with the rest of simsched."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, cast

import networkx as nx
import pytest

from simsched.analysis.explain import Explanation
from simsched.analysis.metrics import metrics
from simsched.engine.simulator import simulate
from simsched.errors import ConfigError, SchedulerError
from simsched.graph.builder import GraphBuilder
from simsched.graph.io import load_graph
from simsched.hardware import lanes
from simsched.output.story import operator_record
from simsched.page import reasons_part
from simsched.page.document import page_document
from simsched.page.groups import MOST
from simsched.problem import MemoryMode
from simsched.result import Failure, Result
from simsched.run import compare, run
from tests.page_shapes import shapes
from tests.reference.cases import case_of
from tests.strategies import linked_pair, problem_of, random_graph, with_memory, zoo

ZOO = zoo(deep=300, wide=120)
Document = dict[str, Any]


def faults_of(document: Document) -> list[str]:
    json.dumps(document, allow_nan=False)
    return shapes().faults("PageDocument", document)


def drawn_runs() -> Iterator[Result]:
    """Runs with everything that operators can share: blocks, bandwidth, links, copies, launches, noise, memory."""
    for seed in range(120):
        case = case_of(random.Random(seed))
        try:
            memory = cast("MemoryMode", case.memory)
            trace = simulate(case.problem, case.scheduler, memory=memory, actual=case.actual, explain=True)
        except SchedulerError:
            continue
        yield Result(case.problem, f"case {seed}", trace, memory, case.actual, ())


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Result, Document]]:
    found = [(result, page_document([result])) for result in drawn_runs()]
    assert len(found) > 80
    return found


@pytest.fixture(scope="module")
def classic() -> list[tuple[Result, Document]]:
    """Every problem of the zoo under two schedulers."""
    found = []
    for problem in ZOO.values():
        results = compare(problem, "topological,memory_aware", explain=True).results
        document = page_document(results)
        found += [
            (result, {**document, "runs": [part]}) for result, part in zip(results, document["runs"], strict=True)
        ]
    return found


@pytest.fixture(scope="module")
def pairs(
    drawn: list[tuple[Result, Document]], classic: list[tuple[Result, Document]]
) -> list[tuple[Result, Document]]:
    return drawn + classic


# --- shapes ---------------------------------------------------------------------------------------------------


def test_documents_are_of_the_declared_shape(pairs: list[tuple[Result, Document]]) -> None:
    for result, document in pairs:
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


def test_columns_are_those_of_the_trace(pairs: list[tuple[Result, Document]]) -> None:
    for result, document in pairs:
        part, trace = document["runs"][0], result.trace
        for name in ("stream", "dispatch", "ready", "start", "end", "launched"):
            assert part[name] == list(getattr(trace, name))
        assert part["order"] == list(trace.launch_order)
        assert part["makespan"] == max(trace.end, default=0)
        assert {int(op): text for op, text in part["reasons"].items()} == trace.reasons


# --- reasons --------------------------------------------------------------------------------------------------


def test_parts_fill_the_time_of_every_operator(pairs: list[tuple[Result, Document]]) -> None:
    seen: set[str] = set()
    for result, document in pairs:
        part = document["runs"][0]
        for op, parts in enumerate(part["parts"]):
            waits = [each for each in parts if each["kind"] == "wait"]
            assert parts[: len(waits)] == waits
            assert sum(each["end"] - each["start"] for each in waits) == result.trace.start[op]
            reached = 0
            for each in parts:
                assert each["start"] == reached < each["end"]
                reached = each["end"]
            assert reached == result.trace.end[op]
            seen.update(each["reason"] for each in parts)
    assert {"dependency", "copy", "copy_engine", "host_launch", "memory", "room", "bandwidth", "resource"} <= seen
    assert {"no_stream", "held", "passed_over", "stream", "queue", "launch", "event", "host_sync"} <= seen
    assert "unknown" not in seen


def told(part: Mapping[str, Any], document: Document) -> dict[str, Any]:
    """A part in the words of the JSON of ``simsched explain``."""
    names, devices = document["graph"]["names"], document["machines"][0]["devices"]
    moves = document["runs"][0]["transfers"]
    culprit, device, copy = part.get("culprit"), part.get("device"), part.get("copy")
    return {
        "kind": part["kind"],
        "reason": part["reason"],
        "start_ns": part["start"],
        "end_ns": part["end"],
        "culprit": None if culprit is None else names[culprit],
        "device": None if device is None else devices[device]["name"],
        "short": [{"of": of, "needs": needs, "free": free} for of, needs, free in part.get("short", [])],
        "holders": [[names[op], units] for op, units in part.get("holders", [])],
        "tensors": part.get("tensors", []),
        "ahead": part.get("ahead", 0),
        "speed": part.get("speed", 1),
        "shared_with": [[names[op], share] for op, share in part.get("sharers", [])],
        "copy": None
        if copy is None
        else {
            "tensor": document["graph"]["tensors"]["names"][moves[copy][7]],
            "from": devices[moves[copy][2]]["name"],
            "to": devices[moves[copy][3]]["name"],
            "bytes": moves[copy][6],
        },
    }


def test_parts_say_what_explain_says(drawn: list[tuple[Result, Document]]) -> None:
    for result, document in drawn:
        story = Explanation(result)
        for op, parts in enumerate(document["runs"][0]["parts"]):
            record = operator_record(story, op)
            expected = [{name: each[name] for name in each if name != "text"} for each in record["parts"]]
            assert [told(each, document) for each in parts] == expected


def test_parts_name_who_held_what_was_short() -> None:
    """Worked out by hand: of four bytes, the second operator needs three while the first holds two."""
    builder = GraphBuilder("short", time_unit="tick")
    for name, size, duration in (("a", 2, 5), ("b", 3, 7)):
        builder.add_tensor(f"t{name}", bytes=size, kind="activation")
        builder.add_op(name, duration=duration, outputs=[f"t{name}"])
    problem = problem_of(builder.build(), with_memory(lanes(2), 4))
    document = page_document([run(problem, "heft", memory="block")])
    (_, parts) = document["runs"][0]["parts"]
    assert parts == [
        {
            "kind": "wait", "reason": "memory", "start": 0, "end": 5, "culprit": 0, "device": 0,
            "short": [["memory", 3, 2]], "tensors": [["ta", 2]],
        },
        {"kind": "run", "reason": "explicit", "start": 5, "end": 12},
    ]  # fmt: skip


def test_large_runs_leave_open_why_the_policy_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(random_graph(1, 60, degree=0.3), lanes(2))
    result = run(problem, "critical_path")
    full = page_document([result])["runs"][0]["parts"]
    assert {"no_stream"} <= {each["reason"] for parts in full for each in parts}
    for name in ("MOST_INSTANTS", "MOST_ENTRIES"):
        with monkeypatch.context() as patch:
            entries = sum(map(reasons_part._entries, (each for parts in full for each in parts)))
            patch.setattr(reasons_part, name, -1 if name == "MOST_INSTANTS" else entries - 1)
            outline = page_document([result])["runs"][0]["parts"]
        reasons = {each["reason"] for parts in outline for each in parts}
        assert "undispatched" in reasons
        assert reasons.isdisjoint({"no_stream", "held", "passed_over"})
    monkeypatch.setattr(reasons_part, "MOST_ENTRIES", 59)
    document = page_document([result])
    assert document["runs"][0]["parts"] is None
    assert faults_of(document) == []


# --- use ------------------------------------------------------------------------------------------------------


def integral(steps: Mapping[str, Any], until: int) -> int:
    """Sum of value x time up to an instant."""
    times = [*steps["time"], until]
    return sum(value * (end - begin) for value, begin, end in zip(steps["value"], times, times[1:], strict=False))


def used(document: Document, what: str, device: int) -> int:
    part = document["runs"][0]
    found = [row for row in part["usage"] if (row["what"], row["device"]) == (what, device)]
    assert len(found) <= 1
    for row in found:
        assert not row["value"] or row["value"][-1] == 0
        assert all(0 <= value <= row["capacity"] for value in row["value"])
        assert row["time"] == sorted(set(row["time"]))
    return integral(found[0], part["makespan"]) if found else 0


def test_usage_adds_up_to_the_figures(pairs: list[tuple[Result, Document]]) -> None:
    for result, document in pairs:
        figures, problem = metrics(result), result.problem
        for device, described in enumerate(problem.devices):
            busy = sum(figures.streams[stream].busy for stream in problem.device_streams[device])
            assert used(document, "streams", device) == busy
            for use in figures.resources:
                if use.device == described.name:
                    assert used(document, use.resource, device) == use.used


def test_bandwidth_adds_up_to_the_figures(drawn: list[tuple[Result, Document]]) -> None:
    """As far as whole nanoseconds allow: each end is rounded."""
    compared = 0
    for result, document in drawn:
        for use in metrics(result).bandwidth:
            device = [each.name for each in result.problem.devices].index(use.device)
            found = used(document, "bandwidth", device) / use.rate
            assert found == pytest.approx(use.used, abs=1 + len(result.trace) + len(result.trace.cohorts))
            compared += use.used > 20
    assert compared > 10


def test_memory_steps_have_the_peak_and_the_end(pairs: list[tuple[Result, Document]]) -> None:
    for result, document in pairs:
        for use, steps in zip(metrics(result).memory, document["runs"][0]["memory_steps"], strict=True):
            assert max(steps["value"], default=0) == use.peak
            assert (steps["value"] or [0])[-1] == use.final
            assert steps["time"] == sorted(steps["time"])


def test_a_peak_within_an_instant_is_kept() -> None:
    """An operator of no length has its 7 bytes live at 3 only, beside the 2 that are live until 3."""
    builder = GraphBuilder("brief", time_unit="tick")
    builder.add_tensor("x", bytes=2, kind="activation")
    builder.add_tensor("y", bytes=7, kind="activation")
    builder.add_op("a", duration=3, outputs=["x"])
    builder.add_op("b", duration=0, inputs=["x"], outputs=["y"])
    document = page_document([run(problem_of(builder.build(), lanes(1)), "serial")])
    assert document["runs"][0]["memory_steps"] == [{"time": [0, 3, 3], "value": [2, 9, 0]}]
    assert document["runs"][0]["figures"]["peak_bytes"] == 9


def test_spans_add_up_to_the_live_bytes(pairs: list[tuple[Result, Document]]) -> None:
    compared = 0
    for result, document in pairs:
        part, sizes = document["runs"][0], document["graph"]["tensors"]["bytes"]
        held = [(device, begin, end, sizes[tensor]) for tensor, device, begin, end in part["spans"]]
        for op, stream in enumerate(part["stream"]):  # workspaces are no tensors
            device = document["machines"][0]["stream_device"][stream]
            held.append((device, part["start"][op], part["end"][op], result.problem.workspace(op, device)))
        for device, steps in enumerate(part["memory_steps"]):
            after = dict(zip(steps["time"], steps["value"], strict=True))
            for time, live in after.items():
                if time < part["makespan"]:  # what stays to the end and what is freed then have the same end
                    now = (row[3] for row in held if row[0] == device and row[1] <= time < row[2])
                    assert sum(now) == live
                    compared += 1
    assert compared > 500


# --- figures and bounds ---------------------------------------------------------------------------------------


def test_figures_follow_from_the_document(pairs: list[tuple[Result, Document]]) -> None:
    for result, document in pairs:
        part = document["runs"][0]
        figures, makespan = part["figures"], part["makespan"]
        busy = sum(end - start for start, end in zip(part["start"], part["end"], strict=True))
        lower = [bound["ns"] for bound in document["machines"][0]["bounds"] if bound["kind"] == "lower"]
        assert figures["lower_bound"] == max(lower) <= makespan
        expected = (makespan - max(lower)) / max(lower) if max(lower) else None if makespan else 0
        assert figures["gap"] == (None if expected is None else pytest.approx(expected, abs=1e-6))
        assert figures["parallelism"] == pytest.approx(busy / makespan if makespan else 0, abs=1e-6)
        assert figures["speedup"] == pytest.approx(figures["serial"] / makespan if makespan else 1, abs=1e-6)
        assert figures["peak_bytes"] == max(max(steps["value"], default=0) for steps in part["memory_steps"])
        if result.actual is None:
            assert figures["critical_path"] == longest_path(document)


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


def test_the_path_fills_the_run_where_nothing_else_held_it_up(pairs: list[tuple[Result, Document]]) -> None:
    for _, document in pairs:
        part = document["runs"][0]
        ends = [part["end"][op] for op in part["path"]]
        assert ends == sorted(ends)
        assert (ends or [0])[-1] == part["makespan"]


def test_work_says_what_each_operator_cost() -> None:
    result = run("inception_v1", "critical_path", "a100_sxm_80gb")
    work = page_document([result])["runs"][0]["work"]
    graph = result.problem.graph
    assert sum(work["flops"]) / 1e9 == pytest.approx(2.885, abs=0.0005)  # graphs/README.md
    assert set(work["bounds"]) == {"compute", "memory", "launch", "none"}
    for op, bound in enumerate(work["bound"]):
        if work["bounds"][bound] in ("compute", "memory"):
            assert (work["compute"][op] > work["memory"][op]) is (work["bounds"][bound] == "compute")
    op = graph.id_of("conv1/7x7_s2")
    assert work["alone"][op] == work["estimate"][op] == result.problem.durations(0)[op]


# --- the graph ------------------------------------------------------------------------------------------------


def test_kinds_of_edges_are_summed() -> None:
    builder = GraphBuilder("kinds", time_unit="tick")
    builder.add_tensor("t", bytes=1, kind="activation")
    builder.add_op("a", duration=1, outputs=["t"], writes=["buffer"])
    builder.add_op("b", duration=1, inputs=["t"], reads=["buffer"])
    builder.add_op("c", duration=1, inputs=["t"])
    builder.add_op("d", duration=1, writes=["buffer"])
    builder.add_edge("a", "b")
    builder.add_edge("c", "d")
    graph = page_document([run(builder.build(), "serial", "lanes:1")])["graph"]
    assert graph["edges"] == [[0, 1, 1 + 2 + 4], [0, 2, 1], [0, 3, 4], [1, 3, 4], [2, 3, 2]]


def test_a_large_graph_has_groups_in_levels() -> None:
    for source in ("layered_random(n=4000, seed=3)", "chain(n=3500)", "fork_join(width=3500)"):
        graph = load_graph(source)
        document = page_document([run(graph, "topological", "lanes:8")])
        part = document["graph"]
        groups, of = part["groups"], part["groups"]["of"]
        assert faults_of(document) == []
        assert sorted(set(of)) == list(range(len(groups["names"])))
        assert 20 <= len(groups["names"]) <= MOST
        crossing = [(of[a], of[b]) for a, b, _ in part["edges"] if of[a] != of[b]]
        assert sorted({tuple(row[:2]) for row in groups["edges"]}) == sorted(set(crossing))
        assert sum(row[2] for row in groups["edges"]) == len(crossing)
        levels = groups["layout"]["level"]
        assert all(levels[a] < levels[b] for a, b in crossing), source


def test_groups_are_neighbours_in_the_drawing() -> None:
    """No group spans more levels than its band, and none is much larger than the others."""
    part = page_document([run("layered_random(n=20000)", "topological", "lanes:8")])["graph"]
    levels: dict[int, set[int]] = {}
    for group, level in zip(part["groups"]["of"], part["layout"]["level"], strict=True):
        levels.setdefault(group, set()).add(level)
    assert all(len(found) == 1 for found in levels.values())
    counts = [part["groups"]["of"].count(group) for group in range(len(levels))]
    assert max(counts) <= 2 * 20_000 / len(levels)


def test_groups_follow_names_that_say_where_operators_belong() -> None:
    builder = GraphBuilder("named", time_unit="tick")
    for block in range(40):
        for number in range(90):
            name = f"block.{block}/{'left' if number % 2 else 'right'}/op{number}"
            builder.add_op(name, duration=1)
            if number > 1:
                builder.add_edge(f"block.{block}/{'left' if number % 2 else 'right'}/op{number - 2}", name)
            elif block:
                builder.add_edge(f"block.{block - 1}/{'left' if number % 2 else 'right'}/op{88 + number}", name)
    groups = page_document([run(builder.build(), "topological", "lanes:2")])["graph"]["groups"]
    assert len(groups["names"]) == 80
    assert {"block.0/left", "block.39/right"} <= set(groups["names"])
    assert sorted({row[2] for row in groups["edges"]}) == [1]


def test_names_whose_blocks_run_in_a_circle_are_not_groups() -> None:
    """Every operator of block n + 1 follows one of block n, and block 0 comes back at the end."""
    builder = GraphBuilder("circle", time_unit="tick")
    for number in range(3600):
        builder.add_op(f"block{number % 20}/op{number}", duration=1)
        if number:
            builder.add_edge(f"block{(number - 1) % 20}/op{number - 1}", f"block{number % 20}/op{number}")
    groups = page_document([run(builder.build(), "topological", "lanes:1")])["graph"]["groups"]
    assert "block0" not in groups["names"]
    levels = groups["layout"]["level"]
    assert all(levels[source] < levels[target] for source, target, _ in groups["edges"])


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
