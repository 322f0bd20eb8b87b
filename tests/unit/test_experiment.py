"""Experiments: the grid, the figures, what does not change the results, and interruptions."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from simsched.errors import ConfigError
from simsched.experiment import Experiment, load_experiment, run_experiment
from simsched.experiment.grid import cells_of
from simsched.experiment.report import write_report
from simsched.experiment.runner import LOG
from simsched.experiment.store import Store, key_of, problem_hash
from simsched.experiment.worker import problem_of, shape_of
from simsched.noise import Noise
from tests.cli import ROOT, command, environment, invoke, objects

GRID = """\
name: grid
graphs:
  - residual
  - generate: chain
    parameters: {n: [3, 5]}
hardware: [{lanes: [1, 2]}, "procs:2"]
schedulers: [serial, "random:3"]
noise: [none, 0.5]
seeds: [0, 7]
plots:
  - {file: spans, x: machines, y: makespan_ns, panels: graph}
"""


def experiment_of(text: str, tmp_path: Path) -> Experiment:
    path = tmp_path / "experiment.yaml"
    path.write_text(text)
    return load_experiment(path)


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "runs.csv").open() as file:
        return list(csv.DictReader(file))


def results(folder: Path) -> dict[str, bytes]:
    """Everything in a folder that must not depend on how it was made."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in (LOG, "timing.json")}


def test_a_grid_is_the_product_of_its_axes_in_the_order_of_the_file(tmp_path: Path) -> None:
    cells = cells_of(experiment_of(GRID, tmp_path))
    assert len(cells) == 3 * 3 * 2 * 2 * 2
    assert [cell.graph.label for cell in cells[::24]] == ["residual", "chain(n=3)", "chain(n=5)"]
    assert list(dict.fromkeys(cell.scenario.hardware for cell in cells)) == ["lanes:1", "lanes:2", "procs:2"]
    first = [(cell.scenario.noise, cell.scenario.seed, cell.scheduler) for cell in cells[:8]]
    level = Noise("lognormal", 0.5)
    assert first == [
        (None, 0, "serial"), (None, 0, "random:3"), (None, 7, "serial"), (None, 7, "random:3"),
        (level, 0, "serial"), (level, 0, "random:3"), (level, 7, "serial"), (level, 7, "random:3"),
    ]  # fmt: skip


def test_dimensions_microbatches_capacities_and_patterns_are_axes_too(tmp_path: Path) -> None:
    text = (
        "name: more\ngraphs: ['rewrite_*', {graph: residual, dims: {batch: [1, 8]}}]\nhardware: lanes:2\n"
        "schedulers: serial\nmicrobatches: [1, 2]\nmemory: [block, strict]\nmemory_capacity: [1 GiB, 2 GiB]\n"
    )
    cells = cells_of(experiment_of(text, tmp_path))
    labels = ["rewrite_after", "rewrite_before", "residual(batch=1)", "residual(batch=8)"]
    assert list(dict.fromkeys(cell.graph.label for cell in cells)) == labels
    assert {cell.scenario.memory_capacity for cell in cells} == {2**30, 2**31}
    assert {cell.scenario.memory for cell in cells} == {"block", "strict"}
    assert {cell.scenario.microbatches for cell in cells} == {1, 2}
    assert cells[-1].scenario.dims == {"batch": 8}
    assert len(cells) == 4 * 2 * 2 * 2


def test_launch_modes_device_models_and_placement_rules_are_axes_and_columns(tmp_path: Path) -> None:
    text = (
        "name: machine\ngraphs: residual\nhardware: toy_box\nschedulers: serial\nlaunch: [free, graph]\n"
        "device_model: [lanes, sm_share]\nplace: ['*=cpu', 'contiguous:gpu*']\n"
    )
    cells = cells_of(experiment_of(text, tmp_path))
    found = [(cell.scenario.launch, cell.scenario.device_model, cell.scenario.place) for cell in cells]
    assert found == list(itertools.product(("free", "graph"), ("lanes", "sm_share"), ("*=cpu", "contiguous:gpu*")))
    columns = cells[0].columns()
    assert (columns["launch"], columns["device_model"], columns["place"]) == ("free", "lanes", "*=cpu")
    assert len({shape_of(cell) for cell in cells}) == 8
    assert not {"launch", "device_model", "place"} & cells_of(experiment_of(GRID, tmp_path))[0].columns().keys()


def test_the_same_costs_in_other_places_are_another_run(tmp_path: Path) -> None:
    text = "name: places\ngraphs: diamond\nhardware: 'procs:2'\nschedulers: serial\nplace: ['*=p0', '*=p1']\n"
    keys = set()
    for cell in cells_of(experiment_of(text, tmp_path)):
        problem = problem_of(cell)
        assert problem.durations(0) == problem.durations(1)
        keys.add(key_of(cell, problem_hash(problem), "serial"))
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("place: fastst", ":5:8: place: 'fastst': 'fastst' is not a rule; did you mean 'fastest'?"),
        ("launch: [free, sereal]", ":5:16: launch[1]: 'sereal' is not a choice here; did you mean 'serial'?"),
        ("device_model: block", ":5:15: device_model: 'block' is not a choice here; did you mean 'blocks'?"),
        ("place: []", ":5:8: place: an empty list makes an empty grid; leave the key out, or name at least one value"),
    ],
)
def test_malformed_axes_of_a_machine(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        experiment_of(f"name: bad\ngraphs: residual\nhardware: toy_box\nschedulers: serial\n{line}\n", tmp_path)
    assert str(caught.value).endswith(f"experiment.yaml{message}")


def test_rows_hold_what_a_single_run_prints(tmp_path: Path) -> None:
    finished = run_experiment(experiment_of(GRID, tmp_path), tmp_path / "out", jobs=1)
    assert len(finished.rows) == 72
    for row in finished.rows[::7]:
        words = ["run", row["graph"], "-H", row["hardware"], "-s", row["scheduler"], "--seed", str(row["seed"])]
        (entry,) = objects(*words, *(["--noise", row["noise"]] if row["noise"] else []))[0]["runs"]
        for key in ("makespan_ns", "serial_ns", "lower_bound_ns", "gap", "peak_bytes", "valid"):
            assert row[key] == entry[key]
    assert finished.computed + finished.kept == len({json.dumps(row, sort_keys=True) for row in finished.rows})


def test_the_number_of_processes_does_not_change_a_byte(tmp_path: Path) -> None:
    experiment = experiment_of(GRID, tmp_path)
    for name, jobs in (("one", 1), ("two", 2)):
        write_report(run_experiment(experiment, tmp_path / name, jobs=jobs), tmp_path / name)
    assert results(tmp_path / "one") == results(tmp_path / "two")
    assert set(results(tmp_path / "one")) == {"runs.csv", "spans.png", "manifest.json"}


def test_what_is_finished_is_not_computed_again(tmp_path: Path) -> None:
    small = GRID.replace("seeds: [0, 7]", "seeds: 0")
    first = run_experiment(experiment_of(small, tmp_path), tmp_path / "out", jobs=1)
    again = run_experiment(experiment_of(small, tmp_path), tmp_path / "out", jobs=1)
    larger = run_experiment(experiment_of(GRID, tmp_path), tmp_path / "out", jobs=1)
    assert (first.computed, first.kept) == (36, 0)
    assert (again.computed, again.kept) == (0, 36)
    assert (larger.computed, larger.kept) == (36, 36)
    assert again.rows == first.rows


def test_a_changed_graph_is_another_run(tmp_path: Path) -> None:
    net = tmp_path / "net.yaml"
    text = f"name: one\ngraphs: {net}\nhardware: lanes:1\nschedulers: serial\n"
    for duration in (3, 5):
        net.write_text(f"time_unit: tick\noperators:\n  - {{name: a, duration: {duration}}}\n")
        finished = run_experiment(experiment_of(text, tmp_path), tmp_path / "out", jobs=1)
        assert (finished.computed, finished.rows[0]["makespan_ns"]) == (1, duration)


def test_a_line_that_was_cut_short_is_computed_again(tmp_path: Path) -> None:
    experiment = experiment_of(GRID, tmp_path)
    first = run_experiment(experiment, tmp_path / "out", jobs=1)
    log = tmp_path / "out" / LOG
    whole = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(whole[:10]) + b"not json\n" + whole[10][:40])
    again = run_experiment(experiment, tmp_path / "out", jobs=1)
    assert again.kept == 10
    assert again.rows == first.rows
    lines = log.read_bytes().splitlines()
    assert len(lines) == 72 + 1
    assert all(json.loads(line) for number, line in enumerate(lines) if number != 10)


def test_the_log_is_only_added_to(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with Store(path) as store:
        store.add("a", {"makespan_ns": 7})
    before = path.read_bytes()
    with Store(path) as store:
        assert store.rows == {"a": {"makespan_ns": 7}}
        store.add("b", {"makespan_ns": 11})
        assert path.read_bytes().startswith(before)
        proof = hashlib.sha256(b'{"makespan_ns": 11}').hexdigest()[:16]
        assert path.read_text().endswith(f'{{"key":"b","sum":"{proof}","row":{{"makespan_ns":11}}}}\n')


def test_failed_runs_are_rows(tmp_path: Path) -> None:
    net = tmp_path / "net.yaml"
    net.write_text(
        "time_unit: tick\ntensors:\n  - {name: x, bytes: 3 MiB}\n"
        "operators:\n  - {name: a, duration: 2, outputs: [x]}\n  - {name: b, duration: 5, inputs: [x]}\n"
    )
    text = (
        f"name: tight\ngraphs: {net}\nhardware: lanes:1\nschedulers: serial\n"
        "memory: block\nmemory_capacity: [2 MiB, 3 MiB]\n"
    )
    (tmp_path / "tight.yaml").write_text(text)
    words = ("experiment", str(tmp_path / "tight.yaml"), "-o", str(tmp_path / "out"))
    first, second = objects(*words, exit_code=1)
    assert first.get("makespan_ns") is None
    assert first["error"].startswith("OutOfMemoryError: ")
    assert (second["makespan_ns"], second["peak_bytes"], second["valid"]) == (7, 3 * 2**20, True)
    rows = table(tmp_path / "out")
    assert [(row["makespan_ns"], row["valid"]) for row in rows] == [("", "false"), ("7", "true")]
    (tmp_path / "tight.yaml").write_text(text + "failures: expected\n")
    done = invoke(*words)
    assert done.exit_code == 0
    assert "2 runs, 2 of them kept from before; 1 could not be carried out, 0 break a rule" in done.stdout


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    done = invoke("experiment", "critical_path_before_after", "-o", str(tmp_path))
    assert done.exit_code == 2
    assert "is not empty and was not written by simsched" in done.stderr


LONG = """\
name: long
graphs:
  - generate: layered_random
    parameters: {n: 700, seed: [1, 2]}
hardware: lanes:4
schedulers: [critical_path, "greedy_ready:fifo", topological]
noise: [none, 0.3]
seeds: [0, 1, 2, 3, 4]
plots:
  - {file: spans, x: seed, y: makespan_ns, panels: graph}
"""


def interrupted(folder: Path, words: tuple[str, ...], after: int) -> str:
    """Start a command, interrupt it when so many runs are in the log, and return what it said."""
    log = folder / "out" / LOG
    child = subprocess.Popen(
        command(*words), cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (log.exists() and log.read_bytes().count(b"\n") >= after):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    # As from a keyboard: to the whole group, the workers among them.
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    return said


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_experiment_goes_on_and_ends_with_the_same_bytes(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "long.yaml").write_text(LONG)
    words = ("experiment", "long.yaml", "-o", "out", "--jobs", jobs)
    said = interrupted(tmp_path, words, after=8)
    assert said.splitlines()[-1] == "interrupted; what is finished is kept in out; the same command goes on from there"
    assert "Traceback" not in said
    done = (tmp_path / "out" / LOG).read_bytes().count(b"\n")
    assert 8 <= done < 60
    assert not (tmp_path / "out" / "manifest.json").exists()
    first = subprocess.run(command(*words), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert f"60 runs, {done} of them kept from before" in first.stdout
    whole = ("experiment", "long.yaml", "-o", "whole")
    subprocess.run(command(*whole), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert results(tmp_path / "out") == results(tmp_path / "whole")


AT_ONCE = """\
class Mine:
    def start(self, problem):
        waiting = [(0, 0, ""), (1, 0, ""), (2, {stream}, "")]
        return lambda view: [waiting.pop(0) for _ in range(len(waiting))]
"""


def test_schedulers_and_schedules_that_were_edited_run_again(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(
        "time_unit: tick\noperators: [{name: a, duration: 3}, {name: b, duration: 5}, {name: c, duration: 7}]\n"
    )
    (tmp_path / "mine.py").write_text(AT_ONCE.format(stream=0))
    (tmp_path / "other.py").write_text(AT_ONCE.format(stream=1))
    (tmp_path / "plan.txt").write_text("d0/s0: a b\nd0/s1: c\n")
    (tmp_path / "edited.yaml").write_text(
        "{name: edited, graphs: net.yaml, hardware: 'lanes:2', "
        "schedulers: ['mine:Mine', 'other:Mine', 'follow:plan.txt']}"
    )

    def spans() -> tuple[list[str], str]:
        words = command("experiment", "edited.yaml", "-o", "out", "--jobs", "1")
        done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
        return [row["makespan_ns"] for row in table(tmp_path / "out")], done.stdout

    assert spans()[0] == ["15", "8", "8"]
    (tmp_path / "mine.py").write_text("# Shorter.\n" + AT_ONCE.format(stream=1))
    (tmp_path / "plan.txt").write_text("d0/s0: a c\nd0/s1: b\n")
    again, said = spans()
    assert again == ["8", "8", "10"]
    assert "3 runs, 1 of them kept from before" in said


def test_a_worker_that_dies_is_said_so_and_what_is_finished_is_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import os\nclass Killer:\n    def start(self, problem):\n        os._exit(3)\n")
    text = LONG.replace("critical_path,", "'mine:Killer',").replace("n: 700", "n: 20")
    (tmp_path / "killer.yaml").write_text(text)
    words = command("experiment", "killer.yaml", "-o", "out", "--jobs", "2")
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "error: a worker process died, perhaps for lack of memory; finished runs are kept: run the same command again, "
        "with a smaller --jobs"
    )
    assert "Traceback" not in done.stderr


def shipped() -> list[Path]:
    return sorted((ROOT / "experiments").glob("*.yaml"))


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_shipped_experiments_are_valid_and_have_a_paragraph(path: Path) -> None:
    experiment = load_experiment(path)
    assert experiment.name == path.stem
    assert len(experiment.description) > 60
    assert experiment.plots
    page = (ROOT / "docs" / "explanation" / "experiments.md").read_text("utf-8")
    assert f"simsched experiment {experiment.name}" in page
    (facts,) = objects("check", str(path))
    assert facts["runs"] == len(cells_of(experiment)) > 1


def rows_of(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.chdir(tmp_path)
    return objects("experiment", name, "--no-plots")


def test_the_critical_path_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of("critical_path_before_after", tmp_path, monkeypatch)
    spans = {(row["graph"], row["machines"]): row["makespan_ns"] for row in rows}
    assert {row["critical_path_ns"] for row in rows if row["graph"] == "rewrite_before"} == {5}
    assert {row["critical_path_ns"] for row in rows if row["graph"] == "rewrite_after"} == {3}
    assert spans == {
        ("rewrite_before", 1): 5, ("rewrite_before", 2): 5, ("rewrite_before", 3): 5, ("rewrite_before", 4): 5,
        ("rewrite_after", 1): 5, ("rewrite_after", 2): 3, ("rewrite_after", 3): 3, ("rewrite_after", 4): 3,
    }  # fmt: skip


def test_the_bubble_of_a_pipeline_is_the_published_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of("pipeline_bubble", tmp_path, monkeypatch)
    for row in rows:
        batches = row["graph.microbatches"]
        if row["scheduler"].startswith("pipeline"):
            # (m + p - 1)(F + B), of which (p - 1) / (m + p - 1) is idle.
            assert row["makespan_ns"] == (batches + 3) * 8
            assert row["idle"] == round(3 / (batches + 3), 6)
        held = {"pipeline:gpipe": batches, "pipeline:1f1b": min(batches, 4)}.get(row["scheduler"])
        assert held is None or row["peak_bytes"] == 7 * held


def test_memory_is_worth_time_only_to_those_who_mind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of("memory_against_time", tmp_path, monkeypatch)
    spans = {(row["scheduler"], row["memory_capacity"] // 2**20): row.get("makespan_ns") for row in rows}
    careless = [spans["critical_path", size] for size in (38, 42, 46, 50, 54, 58)]
    assert careless == [None] * 6
    free = spans["critical_path", 62]
    assert free is not None
    careful = [spans["memory_aware(slack=1)", size] or 0 for size in (38, 42, 46, 50, 54, 58, 62)]
    assert 1.3 * free < careful[0] < 1.4 * free
    assert 1.05 * free < careful[1] < 1.1 * free
    assert all(0 < span < 1.02 * free for span in careful[2:])
    assert all(row["peak_bytes"] <= row["memory_capacity"] for row in rows if row["error"] is None)


def test_structure_decides_and_not_the_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of("schedulers_on_six_networks", tmp_path, monkeypatch)
    speeds = {(row["graph"], row["streams"], row["scheduler"]): row["speedup"] for row in rows}
    assert {speed for (graph, _, _), speed in speeds.items() if graph == "densenet121"} == {1.0}
    assert speeds["inception_v1", 8, "critical_path"] > 2.4
    assert speeds["inception_v1", 8, "topological"] < 1.1
    greedy = [row for row in rows if row["scheduler"] not in ("serial", "topological")]
    # BERT's three products for query, key and value do not fit beside each other, which no bound sees.
    assert all(row["gap"] < 0.005 for row in greedy if row["streams"] == 8 and row["graph"] != "bert_base")
    assert all(0.05 < row["gap"] < 0.1 for row in greedy if row["graph"] == "bert_base")
    assert speeds["bert_base", 8, "critical_path"] == pytest.approx(speeds["bert_base", 2, "critical_path"], rel=1e-3)
