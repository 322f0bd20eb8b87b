"""Experiments with grids of nothing or of too much, and logs that somebody has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import invoke

BASE = "name: e\ngraphs: [residual]\nhardware: lanes:2\nschedulers: [serial]\nseeds: [0, 1]\n"


@pytest.mark.parametrize(
    "change", [{"row": None}, {"row": {}}, {"row": {"makespan_ns": 1, "valid": True}}, {"key": []}]
)
def test_a_log_changed_by_hand_is_not_believed(tmp_path: Path, change: dict[str, object]) -> None:
    file, out = tmp_path / "e.yaml", tmp_path / "out"
    file.write_text(BASE)
    assert invoke("experiment", str(file), "-o", str(out)).exit_code == 0
    table, log = (out / "runs.csv").read_bytes(), (out / "runs.jsonl").read_text().splitlines()
    (out / "runs.jsonl").write_text(
        "\n".join([json.dumps({**json.loads(log[0]), **change}), "[" * 100_000, log[1], ""])
    )
    done = invoke("experiment", str(file), "-o", str(out))
    assert done.exit_code == 0, done.stderr
    assert "2 runs, 1 of them kept from before" in done.stdout
    assert (out / "runs.csv").read_bytes() == table


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[0, 1]", str(list(range(1001))) + f"\nstreams: {list(range(1, 1001))}", "the grid has 1,001,000 runs;"),
        ("lanes:2", "{lanes: []}", "the grid is empty"),
        ("[residual]", "{generate: chain, parameters: {n: []}}", "the grid is empty"),
        ("[0, 1]", "0\nplots: [{file: a, x: seed, y: scheduler}]", "column 'scheduler' holds text; expected numbers"),
    ],
)
def test_grids_that_make_no_sense(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(BASE.replace(old, new))
    for words in (("check", str(file)), ("experiment", str(file), "-o", str(tmp_path / "out"))):
        done = invoke(*words)
        assert done.exit_code == 2
        assert message in done.stderr
