"""``simsched page``: what it takes, what it writes, and what it says when it cannot."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from simsched.output.recorded import read_run
from tests.cli import invoke, process


def scene_of(path: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    assert found is not None
    scene: dict[str, Any] = json.loads(found[1])["scene"]
    return scene


def labels(path: Path) -> list[tuple[str, int]]:
    return [(run["label"], run["makespan"]) for run in scene_of(path)["runs"]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    for hardware, name in (("lanes:2", "two"), ("lanes:1", "one")):
        words = ("compare", "residual", "-H", hardware, "-s", "serial,critical_path", "-o", str(folder / name))
        done = invoke(*words)
        assert done.exit_code == 0, done.output
    assert invoke("compare", "diamond", "-H", "lanes:2", "-s", "serial", "-o", str(folder / "other")).exit_code == 0
    return folder


def written(output: Path, *words: str, exit_code: int = 0) -> str:
    done = invoke("page", *words, "-o", str(output))
    assert done.exit_code == exit_code, done.output
    return done.output


def refused(*words: str) -> str:
    """The one message of a call that fails for bad input."""
    done = invoke("page", *words)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Try ")]
    assert len(lines) == 1
    return lines[0]


def test_a_graph_is_run_and_shown(tmp_path: Path) -> None:
    output = tmp_path / "deep" / "page.html"
    said = written(output, "residual", "-H", "lanes:2", "-s", "serial,critical_path,greedy_ready:spt")
    found = re.fullmatch(r"writtento(\S+)\((\d+)\.?\d*KiB,3runsofresidual\)", "".join(said.split()))
    assert found is not None, said
    assert found[1] == str(output)
    assert int(found[2]) == output.stat().st_size // 1024
    assert labels(output) == [("serial", 7), ("critical_path", 6), ("greedy_ready:spt", 6)]
    assert scene_of(output)["title"] == "residual on lanes:2"


def test_the_schedulers_are_those_of_compare(tmp_path: Path) -> None:
    written(tmp_path / "p.html", "residual", "-H", "lanes:2")
    names = ["serial", "topological", "critical_path", "greedy_ready", "memory_aware", "pipeline"]
    assert [label for label, _ in labels(tmp_path / "p.html")] == names


def test_reasons_of_the_policy_are_there(tmp_path: Path) -> None:
    written(tmp_path / "p.html", "residual", "-H", "lanes:2", "-s", "critical_path")
    (run,) = scene_of(tmp_path / "p.html")["runs"]
    assert len(run["reasons"]) == 7
    assert all(run["reasons"].values())


def test_the_default_file_is_here(tmp_path: Path) -> None:
    done = process("page", "residual", "-H", "lanes:2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert labels(tmp_path / "page.html")[0] == ("serial", 7)


def test_a_folder_of_runs_is_shown_as_it_was_recorded(recorded: Path, tmp_path: Path) -> None:
    written(tmp_path / "p.html", str(recorded / "two"))
    assert labels(tmp_path / "p.html") == [("serial", 7), ("critical_path", 6)]
    trace = read_run(recorded / "two" / "residual" / "critical_path").trace
    run = scene_of(tmp_path / "p.html")["runs"][1]
    assert (run["start"], run["end"]) == (list(trace.start), list(trace.end))


def test_the_folder_of_one_run_is_shown(recorded: Path, tmp_path: Path) -> None:
    written(tmp_path / "p.html", str(recorded / "two" / "residual" / "serial"))
    assert labels(tmp_path / "p.html") == [("serial", 7)]


def test_recorded_and_simulated_pages_are_equal(recorded: Path, tmp_path: Path) -> None:
    written(tmp_path / "a.html", str(recorded / "two"))
    written(tmp_path / "b.html", "residual", "-H", "lanes:2", "-s", "serial,critical_path")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_runs_on_several_machines_stand_side_by_side(recorded: Path, tmp_path: Path) -> None:
    written(tmp_path / "p.html", str(recorded / "two"), str(recorded / "one" / "residual" / "critical_path"))
    assert labels(tmp_path / "p.html") == [
        ("serial on lanes:2", 7),
        ("critical_path on lanes:2", 6),
        ("critical_path on lanes:1", 7),
    ]
    assert [machine["name"] for machine in scene_of(tmp_path / "p.html")["machines"]] == ["lanes:2", "lanes:1"]


def test_the_title_and_the_scenario_are_taken(tmp_path: Path) -> None:
    written(
        tmp_path / "p.html", "residual", "-H", "lanes:2", "-s", "serial", "--title", "<b>Mine</b>", "--streams", "3",
        "--memory", "block", "--memory-capacity", "1 KiB", "--no-lessons",
    )  # fmt: skip
    scene = scene_of(tmp_path / "p.html")
    assert scene["title"] == "<b>Mine</b>"
    assert len(scene["machines"][0]["streams"]) == 3
    assert scene["machines"][0]["devices"][0]["capacity"] == 1024
    assert scene["runs"][0]["memory"] == "block"


STALLS = "class Stalls:\n    def start(self, problem):\n        return lambda view: ()\n"


def test_a_run_that_fails_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "stalls.py").write_text(STALLS)
    words = ("residual", "-H", "lanes:2", "-s", "serial,stalls:Stalls")
    done = process("page", *words, "-o", "p.html", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("stalls:Stalls failed: SchedulerStalledError: ")
    assert done.stdout.startswith("written to p.html")
    scene = scene_of(tmp_path / "p.html")
    assert [run["label"] for run in scene["runs"]] == ["serial"]
    assert [failure["label"] for failure in scene["failures"]] == ["stalls:Stalls"]
    assert scene["failures"][0]["message"] in done.stderr
    assert process("compare", *words, "-o", "out", cwd=tmp_path).returncode == 1
    again = process("page", "out", "-o", "again.html", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (1, done.stderr)
    assert scene_of(tmp_path / "again.html")["failures"] == scene["failures"]


def test_without_any_run_there_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "stalls.py").write_text(STALLS)
    done = process("page", "residual", "-H", "lanes:2", "-s", "stalls:Stalls", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: stalls:Stalls: SchedulerStalledError: ")
    assert not (tmp_path / "page.html").exists()


def test_nothing_to_show_is_refused() -> None:
    assert "name a graph" in refused()
    assert "no hardware given" in refused("residual")


def test_a_path_that_leads_nowhere_is_said_before_anything_else() -> None:
    done = invoke("page", "results/none/")
    assert done.exit_code == 2
    assert done.stderr == "error: results/none/: no such file or folder\n"


def test_wrong_folders_are_refused(recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert refused(str(tmp_path / "empty")).startswith(f"error: {tmp_path}/empty: holds no recorded runs; write some")
    assert "another graph" in refused(str(recorded / "two"), str(recorded / "other"))
    assert "holds recorded runs" in refused(str(recorded / "two"), "-H", "lanes:2")
    assert "holds recorded runs" in refused(str(recorded / "two"), "-s", "serial")
    assert "either folders" in refused(str(recorded / "two"), "residual", "-H", "lanes:2")
    assert "a page shows one graph" in refused("residual", "diamond", "-H", "lanes:2")
    assert "did you mean 'residual'" in refused("residuall", "-H", "lanes:2")


def test_a_damaged_recording_is_refused(recorded: Path, tmp_path: Path) -> None:
    shutil.copytree(recorded / "two", tmp_path / "two")
    trace = tmp_path / "two" / "residual" / "serial" / "trace.json"
    trace.write_text(trace.read_text().replace('"start":[0', '"start":["x"'))
    assert "not a recorded run" in refused(str(tmp_path / "two"))


def test_a_place_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    found = refused("residual", "-H", "lanes:2", "-o", str(tmp_path / "file" / "page.html"))
    assert found == f"error: {tmp_path}/file: is not a folder"
    assert "directory" in refused("residual", "-H", "lanes:2", "-o", str(tmp_path))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_bad_scheduler_is_refused() -> None:
    assert "did you mean 'critical_path'" in refused("residual", "-H", "lanes:2", "-s", "critical_pat")


def test_a_large_page_says_how_far_it_is(tmp_path: Path) -> None:
    words = ("page", "layered_random(n=3000)", "-H", "lanes:8", "-s", "topological,critical_path")
    done = invoke(*words, "-o", str(tmp_path / "p.html"))
    assert done.exit_code == 0
    assert done.stderr == "page: 0 of 2 runs\npage: 1 of 2 runs\npage: 2 of 2 runs\n"


@pytest.mark.parametrize("words", [("page", "-o", "page.html"), ("serve", "--write", "site", "--no-lessons")])
def test_a_run_that_breaks_a_rule_is_said(recorded: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    shutil.copytree(recorded / "two" / "residual", tmp_path / "runs")
    path = tmp_path / "runs" / "serial" / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "violations": ["a ends before it starts"]}))
    command, option, output, *rest = words
    done = invoke(command, str(tmp_path / "runs"), option, str(tmp_path / output), *rest)
    assert done.exit_code == 1, done.output
    assert "serial: the referee finds this run INVALID" in " ".join(done.stderr.split())
