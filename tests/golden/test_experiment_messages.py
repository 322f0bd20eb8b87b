"""Malformed experiments: every fault with its place, and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from simsched.cli import main

HEAD = "name: mine\ngraphs: residual\nhardware: lanes:2\nschedulers: serial\n"

FAULTY: list[tuple[str, str]] = [
    ("", "mine.yaml: the file is empty"),
    ("- residual\n", "mine.yaml:1:1: expected a mapping, got a list"),
    (
        "name: mine\n",
        "mine.yaml: 3 problems\n"
        "  1:1  graphs: this key is missing\n"
        "  1:1  hardware: this key is missing\n"
        "  1:1  schedulers: this key is missing",
    ),
    (HEAD + "sheduler: fifo\n", "mine.yaml:5:1: sheduler: unknown key; did you mean 'schedulers'?"),
    (HEAD + "name: other\n", "mine.yaml:5:1: name: given twice (first on line 1)"),
    (
        HEAD.replace("mine", "../mine"),
        "mine.yaml:1:7: name: '../mine' is not a plain name; use letters, digits, '_' and '-'",
    ),
    (HEAD + "seeds: [0, -1]\n", "mine.yaml:5:12: seeds[1]: expected at least 0, got -1"),
    (HEAD + "seeds: 1.5\n", "mine.yaml:5:8: seeds: expected a whole number or a list, got 1.5"),
    (
        HEAD + "seeds: []\n",
        "mine.yaml:5:8: seeds: an empty list makes an empty grid; leave the key out, or name at least one value",
    ),
    (HEAD + "seeds: [1, 1]\n", "mine.yaml:5:8: seeds: a value is given twice"),
    (HEAD + "streams: many\n", "mine.yaml:5:10: streams: expected a whole number or a list, got 'many'"),
    (HEAD + "memory: blok\n", "mine.yaml:5:9: memory: 'blok' is not a choice here; did you mean 'block'?"),
    (
        HEAD + "memory_capacity: [24 GiB, 24]\n",
        "mine.yaml:5:27: memory_capacity[1]: expected text, got 24; write '24' in quotes",
    ),
    (
        HEAD + "memory_capacity: 24 Gb\n",
        "mine.yaml:5:18: memory_capacity: unknown unit 'Gb' in '24 Gb'; expected one of: B, kB, KB, MB, GB, TB, KiB, "
        "MiB, GiB, TiB",
    ),
    (
        HEAD + "noise: [0.1, .nan]\n",
        "mine.yaml:5:14: noise[1]: .nan is not a finite number; quote it if it is text",
    ),
    (HEAD + "noise: uniform(3)\n", "mine.yaml:5:8: noise: the level of uniform noise lies between 0 and 1; got 3"),
    (
        HEAD.replace("graphs: residual", "graphs: [{grph: residual}]"),
        "mine.yaml: 2 problems\n"
        "  2:10  graphs[0].graph: this key is missing\n"
        "  2:11  graphs[0].grph: unknown key; did you mean 'graph'?",
    ),
    (
        HEAD.replace("graphs: residual", "graphs: {graph: bert, dims: {batch: [1, 0]}}"),
        "mine.yaml:2:41: graphs.dims.batch[1]: expected at least 1, got 0",
    ),
    (
        HEAD + "plots:\n  - {file: a/b, x: machines, y: makespan_ns}\n",
        "mine.yaml:6:12: plots[0].file: 'a/b' is not a plain name; use letters, digits, '_' and '-'",
    ),
    (
        HEAD + "plots:\n  - {file: a, x: machines, y: makespan_ns, kind: pie}\n",
        "mine.yaml:6:50: plots[0].kind: 'pie' is not a choice here; expected one of: lines, bars, points",
    ),
    # What only shows when names are looked up:
    (HEAD.replace("residual", "resdual"), "unknown graph 'resdual'; did you mean 'residual'?"),
    (HEAD.replace("residual", "'zzz*'"), "mine: graphs[0]: no graph matches 'zzz*'"),
    (HEAD.replace("lanes:2", "lanes:x"), "lanes:x: 'x' is not a number of lanes; write for example 'lanes:4'"),
    (HEAD.replace("serial", "serail"), "unknown scheduler 'serail'; did you mean 'serial'?"),
    (
        HEAD.replace("serial", "memory_aware(slack=-1)"),
        "mine: schedulers[0]: memory_aware: slack must be between 0 and 1e9, got -1.0",
    ),
    (
        HEAD.replace("graphs: residual", "graphs: {generate: chian}"),
        "mine: graphs[0].generate: unknown generator 'chian'; did you mean 'chain'?",
    ),
    (
        HEAD.replace("graphs: residual", "graphs: {generate: chain, parameters: {m: 3}}"),
        "chain(m=3): generator 'chain' has no parameter 'm'; expected one of: n, duration, ccr",
    ),
    (
        HEAD + "plots:\n  - {file: a, x: machines, y: makespan}\n",
        "mine: plots[0].y: the table has no column 'makespan'; did you mean 'makespan_ns'?",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), FAULTY, ids=[message.split(": ", 1)[-1][:50] for _, message in FAULTY])
def test_a_malformed_experiment_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(text)
    done = CliRunner().invoke(main, ["experiment", "mine.yaml"], prog_name="simsched")
    assert done.exit_code == 2, done.output
    lines = [line for line in done.stderr.split("\n") if not line.startswith("mine: ") or " of " not in line]
    assert "\n".join(lines) == f"error: {message}\n"
