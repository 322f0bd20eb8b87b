"""The machine-readable contract: keys that do not change, and what they hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simsched.output.records import RUN_COLUMNS, run_row
from simsched.run import SCHEDULERS, run
from tests.cli import invoke, objects
from tests.unit.test_run import residual

REQUIRED = {"scheduler", "makespan_ns", "critical_path_ns", "serial_ns", "lower_bound_ns", "peak_bytes", "valid"}


def test_compare_prints_one_object_per_graph_and_line() -> None:
    found = objects(
        "compare", "residual", "rewrite_before", "rewrite_after", "-H", "lanes:2", "-s", "serial,critical_path"
    )
    assert [item["graph"] for item in found] == ["residual", "rewrite_before", "rewrite_after"]
    assert {item["hardware"] for item in found} == {"lanes:2"}
    spans = [[entry["makespan_ns"] for entry in item["runs"]] for item in found]
    assert spans == [[7, 6], [5, 5], [5, 3]]
    for item in found:
        assert [entry["scheduler"] for entry in item["runs"]] == ["serial", "critical_path"]
        assert all(entry.keys() >= REQUIRED for entry in item["runs"])
        assert all(entry["valid"] is True and entry["error"] is None for entry in item["runs"])


def test_the_figures_of_the_residual_example() -> None:
    (found,) = objects("compare", "residual", "--hardware", "lanes:2", "--schedulers", "serial,greedy_ready:spt")
    serial, greedy = found["runs"]
    assert (serial["makespan_ns"], greedy["makespan_ns"]) == (7, 6)
    assert {(entry["critical_path_ns"], entry["serial_ns"], entry["lower_bound_ns"]) for entry in found["runs"]} == {
        (6, 7, 6)
    }
    assert found["critical_path"] == ["Input", "Conv1", "Conv2", "ReLU", "Add", "Output"]
    assert (found["operators"], found["edges"], found["time_unit"]) == (7, 7, "tick")
    assert (greedy["scheduler"], greedy["canonical"]) == ("greedy_ready:spt", "greedy_ready(rule=spt)")
    assert greedy["speedup"] == 1.166667
    bounds = {bound["name"]: (bound["ns"], bound["kind"]) for bound in found["bounds"]}
    assert bounds["critical_path"] == (6, "lower")
    assert bounds["area(streams)"] == (4, "lower")
    assert bounds["graham_brent"] == (6, "upper")
    assert bounds["amdahl_textbook"][1] == "model"


@pytest.mark.parametrize(
    ("graph", "lanes", "makespan"),
    [
        ("graham", 3, 12),
        ("graham_other_list", 3, 14),
        ("graham_minus_one", 3, 13),
        ("graham", 4, 15),
        ("graham_fewer_arcs", 3, 16),
    ],
)
def test_the_anomalies_of_graham(graph: str, lanes: int, makespan: int) -> None:
    (found,) = objects("compare", graph, "-H", f"lanes:{lanes}", "-s", "greedy_ready:list")
    assert [entry["makespan_ns"] for entry in found["runs"]] == [makespan]


def test_text_is_echoed_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text("name: inside\ntime_unit: tick\noperators:\n  - {name: a, duration: 3}\n")
    (found,) = objects("compare", str(path), "-H", "lanes:2", "-s", "random:7, memory_aware(slack=0.5)")
    assert (found["graph"], found["graph_name"]) == (str(path), "inside")
    assert [entry["scheduler"] for entry in found["runs"]] == ["random:7", "memory_aware(slack=0.5)"]
    assert [entry["canonical"] for entry in found["runs"]] == ["random(seed=7)", "memory_aware(slack=0.5)"]


def test_run_follows_a_schedule_text(tmp_path: Path) -> None:
    path = tmp_path / "order.txt"
    path.write_text("# one lane does it all\nd0/s1: Input Conv1 BN Conv2 ReLU Add Output\n")
    (found,) = objects("run", "residual", "--hardware", "lanes:2", "--schedule", str(path))
    (entry,) = found["runs"]
    assert (entry["makespan_ns"], entry["valid"]) == (7, True)
    assert entry["scheduler"] == f"follow:{path}"
    path.write_text("d0/s0: Input Conv1 Conv2 ReLU Add Output\nd0/s1: BN\n")
    (found,) = objects("run", "residual", "--hardware", "lanes:2", "--schedule", str(path))
    assert found["runs"][0]["makespan_ns"] == 6


def test_devices_and_streams_of_the_short_forms(tmp_path: Path) -> None:
    graph = tmp_path / "two.yaml"
    graph.write_text(
        "time_unit: tick\noperators:\n  - {name: a, duration: 2}\n  - {name: b, duration: 3}\n"
        "edges:\n  - {from: a, to: b, delay: 5}\n"
    )
    order = tmp_path / "order.txt"
    order.write_text("p0/s0: a\np3/s0: b\n")
    (found,) = objects("run", str(graph), "-H", "procs:4", "--schedule", str(order))
    assert found["runs"][0]["makespan_ns"] == 2 + 5 + 3
    order.write_text("p2/s0: a b\n")
    (found,) = objects("run", str(graph), "-H", "procs:4", "--schedule", str(order))
    assert found["runs"][0]["makespan_ns"] == 2 + 3
    order.write_text("d0/s3: a b\n")
    (found,) = objects("run", str(graph), "-H", "lanes:4", "--schedule", str(order))
    assert found["runs"][0]["makespan_ns"] == 2 + 3


RCP = "4 2\n3 2\n0 0 0 2 2 3\n5 2 1 1 4\n7 2 1 1 4\n0 0 0 0\n"


def test_native_hardware_has_the_capacities_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "project.rcp"
    path.write_text(RCP)
    (found,) = objects("compare", str(path), "-H", "native", "-s", "serial,critical_path")
    # Two activities need 2 of 3 units of the first resource: they cannot overlap.
    assert [entry["makespan_ns"] for entry in found["runs"]] == [12, 12]
    assert all(entry["valid"] for entry in found["runs"])
    (facts,) = objects("check", str(path))
    assert facts["native"] == {"R1": 3, "R2": 2}


def test_a_failed_run_has_nulls_an_error_and_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_text(
        "time_unit: tick\ntensors:\n  - {name: x, bytes: 3 MiB}\n"
        "operators:\n  - {name: a, duration: 2, outputs: [x]}\n  - {name: b, duration: 5, inputs: [x]}\n"
    )
    words = ("compare", str(path), "-H", "lanes:2", "-s", "serial,critical_path", "--memory-capacity", "2 MiB")
    (found,) = objects(*words, exit_code=1)
    for entry in found["runs"]:
        assert (entry["makespan_ns"], entry["peak_bytes"], entry["valid"]) == (None, None, False)
        assert (entry["critical_path_ns"], entry["serial_ns"], entry["lower_bound_ns"]) == (7, 7, 7)
        assert entry["error"]["type"] == "OutOfMemoryError"
        assert "2 MiB" in entry["error"]["message"]
    assert objects(*words[:-1], "3 MiB")[0]["runs"][0]["peak_bytes"] == 3 * 2**20


def test_without_the_referee_valid_is_null() -> None:
    (found,) = objects("compare", "residual", "-H", "lanes:2", "-s", "serial", "--no-check")
    assert found["runs"][0]["valid"] is None


def test_an_invalid_run_is_told_and_has_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simsched.analysis.check.check_trace", lambda *_, **__: ["BN starts too early"])
    (found,) = objects("compare", "residual", "-H", "lanes:2", "-s", "serial", exit_code=1)
    assert found["runs"][0]["valid"] is False
    assert found["runs"][0]["violations"] == ["BN starts too early"]
    done = invoke("run", "residual", "-H", "lanes:2")
    assert done.exit_code == 1
    assert "INVALID" in done.stdout
    assert "BN starts too early" in done.stdout


def test_equal_commands_print_equal_bytes_and_timing_is_asked_for() -> None:
    words = ("compare", "residual", "-H", "lanes:2", "--noise", "0.3", "--seed", "5", "--json")
    first, second = invoke(*words), invoke(*words)
    assert first.stdout == second.stdout
    assert "seconds" not in first.stdout
    timed = json.loads(invoke(*words, "--timing").stdout)
    assert all(entry["scheduler_seconds"] > 0 for entry in timed["runs"])


def test_the_default_schedulers() -> None:
    (found,) = objects("compare", "residual", "-H", "lanes:2")
    assert tuple(entry["scheduler"] for entry in found["runs"]) == SCHEDULERS


def test_check_counts_operators_edges_and_devices(tmp_path: Path) -> None:
    found = objects("check", "residual", "procs:4", "a100_sxm_80gb")
    assert [(item["kind"], item["operators"], item["edges"], item["devices"]) for item in found] == [
        ("graph", 7, 7, 0),
        ("hardware profile", 0, 0, 4),
        ("hardware profile", 0, 0, 1),
    ]
    assert all(item["valid"] for item in found)
    order = tmp_path / "order.txt"
    order.write_text("p0/s0: a b # and so on\np1/s0: c\n")
    (facts,) = objects("check", str(order))
    assert (facts["kind"], facts["operators"], facts["devices"], facts["streams"]) == ("schedule", 3, 2, 2)


def test_check_lists_every_fault_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text("operators:\n  - {name: a, duraton: 3}\n  - {name: a, duration: 3 us}\n")
    (found,) = objects("check", str(path), exit_code=2)
    assert found["valid"] is False
    assert [(item["line"], item["column"], item["where"]) for item in found["problems"]] == [
        (2, 15, "operators[0].duraton")
    ]
    assert found["problems"][0]["message"] == "unknown key; did you mean 'duration'?"


def test_columns_of_tables_are_the_documented_ones() -> None:
    from simsched.hardware import lanes

    assert tuple(run_row(run(residual(), "serial", lanes(2)))) == RUN_COLUMNS


def test_symbolic_names_of_listed_things() -> None:
    for kind, some in {
        "graphs": {"residual", "inception_v1"},
        "hardware": {"a100_sxm_80gb", "toy_4sm"},
        "schedulers": set(SCHEDULERS) | {"random", "follow"},
        "generators": {"chain", "transformer_block", "pipeline_graph"},
        "experiments": {"amdahl_scaling", "wrong_estimates"},
    }.items():
        rows = objects("list", kind)
        assert {row["name"] for row in rows} >= some
        assert all(row["description"] for row in rows), kind
