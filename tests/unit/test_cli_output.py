"""``--output``: what is written, that it can be read again, and that equal commands write equal bytes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from simsched.analysis.metrics import metrics
from simsched.errors import ConfigError
from simsched.output.recorded import is_recorded, read_comparison, read_run
from tests.cli import invoke, objects

NET = """\
name: two kinds
tensors:
  - {name: w, shape: [128, 64], dtype: fp32, kind: parameter}
  - {name: x, shape: [64, 128], dtype: fp32, kind: input}
  - {name: y, shape: [64, 64], dtype: fp32}
  - {name: z, shape: [64, 64], dtype: fp32, kind: output}
operators:
  - {name: dense, op_type: MatMul, inputs: [x, w], outputs: [y]}
  - {name: relu, op_type: Relu, inputs: [y], outputs: [z]}
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    (folder / "net.yaml").write_text(NET)
    done = invoke(
        "compare", str(folder / "net.yaml"), "residual", "-H", "a100_sxm_80gb", "--streams", "3", "--noise", "0.2",
        "--seed", "3", "-s", "serial,memory_aware(slack=0.5)", "-o", str(folder / "out"),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_file_of_a_run_is_there(written: Path) -> None:
    found = set(files(written / "out"))
    runs = {"run.json", "trace.json", "perfetto.json", "ops.csv", "memory.csv", "schedule.txt", "gantt.png"}
    for graph, pictures in (("two-kinds", {"comparison.png", "tradeoff.png"}), ("residual", {"comparison.png"})):
        expected = {f"{graph}/problem.json", *(f"{graph}/{name}" for name in pictures)}
        expected |= {f"{graph}/{run}/{name}" for run in ("serial", "memory_aware-slack-0.5") for name in runs}
        assert {name for name in found if name.startswith(f"{graph}/")} == expected
    assert {name for name in found if "/" not in name} == {"manifest.json", "timing.json", "runs.csv"}


def test_the_manifest_says_how_to_make_it_again(written: Path) -> None:
    found = json.loads((written / "out" / "manifest.json").read_text())
    assert found["parameters"] == {"hardware": "a100_sxm_80gb", "seed": 3, "streams": 3, "noise": "lognormal(0.2)"}
    first = found["problems"][0]
    assert first["graph"]["name"] == "two kinds"
    assert len(first["graph"]["sha256"]) == len(first["hardware"]["sha256"]) == 64
    assert [run["canonical"] for run in first["runs"]] == ["serial", "memory_aware(slack=0.5)"]
    assert set(found["files"]) == set(files(written / "out")) - {"manifest.json", "timing.json"}
    assert objects("check", str(written / "out" / "manifest.json"))[0]["files"] == len(found["files"])


def test_tables_agree_with_the_runs(written: Path) -> None:
    folder = written / "out" / "two-kinds" / "serial"
    result = read_run(folder)
    with (folder / "ops.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["dense", "relu"]
    assert [int(row["end_ns"]) for row in rows] == list(result.trace.end)
    with (folder / "memory.csv").open() as file:
        steps = list(csv.DictReader(file))
    assert (
        max(int(step["live_bytes"]) for step in steps) == metrics(result).peak_bytes == 4 * (128 * 64 * 2 + 64 * 64 * 2)
    )
    with (written / "out" / "runs.csv").open() as file:
        table = list(csv.DictReader(file))
    assert table[0]["graph"].endswith("net.yaml")
    assert int(table[0]["makespan_ns"]) == result.makespan
    assert [row["scheduler"] for row in table] == ["serial", "memory_aware(slack=0.5)"] * 2


def test_recorded_runs_are_the_runs(written: Path) -> None:
    comparison = read_comparison(written / "out" / "two-kinds")
    assert [result.label for result in comparison.results] == ["serial", "memory_aware(slack=0.5)"]
    assert comparison.valid
    from simsched.analysis.check import check_trace

    for result in comparison.results:
        assert result.actual is not None
        assert check_trace(result.problem, result.trace, memory=result.memory, actual=result.actual) == []
    (again,) = objects(
        "compare", str(written / "net.yaml"), "-H", "a100_sxm_80gb", "--streams", "3", "--noise", "0.2", "--seed", "3",
        "-s", "serial",
    )  # fmt: skip
    assert comparison.results[0].makespan == again["runs"][0]["makespan_ns"]
    assert comparison.problem.cost(0).flops == 2 * 64 * 128 * 64
    assert comparison.problem.hardware.devices[0].sms == 108


def test_recorded_runs_do_not_need_the_files_that_they_came_from(written: Path, tmp_path: Path) -> None:
    (written / "net.yaml").rename(tmp_path / "moved.yaml")
    try:
        for kind, source in (
            ("gantt", "two-kinds/serial"),
            ("comparison", "two-kinds"),
            ("roofline", "two-kinds"),
            ("dag", "residual"),
        ):
            target = tmp_path / f"{kind}.png"
            done = invoke("plot", kind, str(written / "out" / source), "-o", str(target))
            assert done.exit_code == 0, done.output
            assert target.read_bytes().startswith(b"\x89PNG")
    finally:
        (tmp_path / "moved.yaml").rename(written / "net.yaml")


def test_a_recorded_schedule_and_trace_can_be_followed(written: Path) -> None:
    folder = written / "out" / "residual" / "memory_aware-slack-0.5"
    words = ("run", "residual", "-H", "a100_sxm_80gb", "--streams", "3", "--noise", "0.2", "--seed", "3", "--schedule")
    spans = [
        objects(*words, str(folder / name))[0]["runs"][0]["makespan_ns"] for name in ("schedule.txt", "trace.json")
    ]
    assert spans == [read_run(folder).makespan] * 2


def test_equal_commands_write_equal_bytes(written: Path, tmp_path: Path) -> None:
    words = ("compare", "residual", "-H", "lanes:2", "-s", "serial,random:3", "-o")
    for name in ("one", "two"):
        assert invoke(*words, str(tmp_path / name)).exit_code == 0
    first, second = files(tmp_path / "one"), files(tmp_path / "two")
    first.pop("timing.json"), second.pop("timing.json")
    assert first == second


def test_a_second_run_takes_the_place_of_the_first(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    invoke("compare", "residual", "-H", "lanes:2", "-s", "serial,critical_path", "-o", out)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    invoke("compare", "residual", "-H", "lanes:2", "-s", "serial", "-o", out)
    found = set(files(tmp_path / "out"))
    assert "residual/serial/trace.json" in found
    assert "notes.txt" in found
    assert not any("critical_path" in name or "comparison" in name for name in found)


def test_failed_runs_are_recorded_too(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(NET)
    words = (
        "compare",
        str(path),
        "-H",
        "a100_sxm_80gb",
        "-s",
        "serial",
        "--memory-capacity",
        "1 KiB",
        "-o",
        str(tmp_path / "out"),
    )
    assert invoke(*words).exit_code == 1
    comparison = read_comparison(tmp_path / "out")
    assert comparison.results == ()
    assert comparison.failures[0].message.startswith("OutOfMemoryError: ")
    with (tmp_path / "out" / "runs.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["valid"], row["error"].split(":")[0]) == ("false", "OutOfMemoryError")
    assert invoke("plot", "comparison", str(tmp_path / "out")).exit_code == 1


def test_what_is_not_a_recorded_run_is_said_so(tmp_path: Path, written: Path) -> None:
    assert not is_recorded(tmp_path)
    with pytest.raises(ConfigError, match="holds no recorded runs"):
        read_comparison(tmp_path)
    with pytest.raises(ConfigError, match=r"holds several problems; name one of: .*residual, .*two-kinds"):
        read_comparison(written / "out")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "problem.json").write_text('{"simsched_problem": 1, "graph": {}}')
    with pytest.raises(ConfigError, match=r"problem\.json: 7 problems"):
        read_comparison(broken)


def test_a_changed_file_is_found_by_check(written: Path) -> None:
    path = written / "out" / "residual" / "serial" / "ops.csv"
    before = path.read_bytes()
    path.write_bytes(before + b"more\n")
    try:
        (found,) = objects("check", str(written / "out" / "manifest.json"), exit_code=2)
        assert [item["message"] for item in found["problems"]] == [
            "residual/serial/ops.csv has changed since it was written"
        ]
    finally:
        path.write_bytes(before)
