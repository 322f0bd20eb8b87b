"""Malformed command lines: each is answered by one message that says what to write instead, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from simsched.cli import main

RUN = "Try 'simsched run --help'."
COMPARE = "Try 'simsched compare --help'."
PLOT = "Try 'simsched plot --help'."

MESSAGES: list[tuple[str, str]] = [
    ("compar residual", "unknown command 'compar'; did you mean 'compare'?\nTry 'simsched --help'."),
    ("profile shw lanes:2", "unknown command 'shw'; did you mean 'show'?\nTry 'simsched profile --help'."),
    (
        "run",
        "no graph given; name one or more, for example: inception_v1 ('simsched list graphs')\n" + RUN,
    ),
    (
        "compare residual",
        "no hardware given; write for example --hardware a100_sxm_80gb or --hardware lanes:4 "
        "('simsched list hardware')\n" + COMPARE,
    ),
    ("compare residual -H", "option '-H' requires an argument"),
    ("compare residual --hardwre lanes:2", "unknown option '--hardwre'; did you mean '--hardware'?\n" + COMPARE),
    ("compare resdual -H lanes:2", "unknown graph 'resdual'; did you mean 'residual'?"),
    ("compare residual chain:x -H lanes:2", "chain:x: parameter 'n' is 'x'; expected a whole number"),
    ("compare residual -H lans:2", "lans:2: unknown short form 'lans'; expected 'lanes' or 'procs', as in 'lanes:4'"),
    (
        "compare residual -H lanes:0",
        "lanes:0: expected from 1 to 100000 lanes, got 0; write for example 'lanes:4'",
    ),
    (
        "compare residual -H native",
        "native: graph 'residual' carries no capacities of its own (files in .sm and .rcp format do); write for "
        "example 'lanes:4', or the name of a profile",
    ),
    ("compare residual -H lanes:2 -s critcal_path", "unknown scheduler 'critcal_path'; did you mean 'critical_path'?"),
    (
        "compare residual -H lanes:2 -s memory_aware(slck=1)",
        "--schedulers: scheduler 'memory_aware' has no parameter 'slck'; did you mean 'slack'?\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 -s memory_aware(slack=nan)",
        "--schedulers: memory_aware: slack must be between 0 and 1e9, got nan\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 -s serial(",
        "--schedulers: 'serial(' is not a scheduler; write name, name:value or name(parameter=value)\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 -s ,",
        "--schedulers: no scheduler is named; write for example serial,critical_path\n" + COMPARE,
    ),
    (
        "run residual -H lanes:2 -s serial,random",
        "--scheduler takes one scheduler; write 'simsched compare' for several\n" + RUN,
    ),
    (
        "run residual -H lanes:2 -s serial --schedule order.txt",
        "--scheduler and --schedule exclude each other; a schedule is followed as it is\n" + RUN,
    ),
    (
        "run residual -H lanes:2 --schedule none.txt",
        "none.txt: no such file; --schedule takes a schedule text or a recorded trace",
    ),
    (
        "run residual -H lanes:2 --schedule order.txt",
        "order.txt: 2 problems\n"
        "  1:20: unknown operator 'Cnv2'; did you mean 'Conv2'?\n"
        "  2:1: unknown stream 'd0/s5'; did you mean 'd0/s1'?",
    ),
    ("run residual -H lanes:2 --steps --json", "--steps is for people; write it without --json\n" + RUN),
    (
        "compare residual -H lanes:2 --memory blok",
        "--memory: 'blok' is not a choice; did you mean 'block'?\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --memory-capacity 24",
        "--memory-capacity: '24' has no unit; write '24 GiB' or '24 GB'\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --memory-capacity inf",
        "--memory-capacity: 'inf' is not a number with a unit\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --memory-capacity 0B",
        "--memory-capacity: expected a positive size such as '24 GiB', got '0B'\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --memory-capacity -1GiB",
        "--memory-capacity: a size cannot be negative: '-1GiB'\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --seed nan",
        "--seed: expected a whole number from 0 to 9223372036854775807, got 'nan'\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --streams 0",
        "--streams: expected a whole number from 1 to 100000, got '0'\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --microbatches 1e3",
        "--microbatches: expected a whole number from 1 to 100000, got '1e3'\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --noise nan",
        "--noise: 'nan' is not a noise level; write a level such as 0.2, 'lognormal(0.2)' or 'uniform(0.2)'\n"
        + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --noise uniform(2)",
        "--noise: the level of uniform noise lies between 0 and 1; got 2\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --dim batch=0",
        "--dim: 'batch=0' is not a name and a positive whole number; write for example batch=8\n" + COMPARE,
    ),
    (
        "compare residual -H lanes:2 --cost-model fast",
        "fast: cannot be used as a cost model: write roofline, table:FILE or package.module:function",
    ),
    (
        "compare residual -H lanes:2 --cost-model math:pi",
        "math:pi: cannot be used as a cost model: it is float, which cannot be called",
    ),
    (
        "compare residual -H lanes:2 --cost-model table:none.csv",
        "none.csv: cannot be read: No such file or directory",
    ),
    (
        "compare residual -H lanes:2 -o taken",
        "taken: is not empty and was not written by simsched; name a new or an empty folder",
    ),
    ("list graph", "KIND: 'graph' is not a choice; did you mean 'graphs'?\nTry 'simsched list --help'."),
    (
        "list",
        "missing argument KIND; expected one of: graphs, hardware, schedulers, generators, experiments\n"
        "Try 'simsched list --help'.",
    ),
    ("check", "no file given; name one or more, for example: graphs/residual.yaml\nTry 'simsched check --help'."),
    ("check none.yaml", "none.yaml: no such file"),
    ("check order.tx", "order.tx: no such file; did you mean 'order.txt'?"),
    ("check residul", "unknown file or name 'residul'; did you mean 'residual'?"),
    ("check taken", "taken: is a folder; name a file in it, for example taken/manifest.json"),
    (
        "check taken/notes.txt",
        "taken/notes.txt:1:1: cannot tell what this is; expected a graph ('operators' or 'edges'), a hardware profile "
        "('devices'), an experiment ('graphs' and 'schedulers'), a schedule text ('device/stream: op op'), a recorded "
        "trace or a manifest",
    ),
    ("plot gant residual -H lanes:2", "KIND: 'gant' is not a choice; did you mean 'gantt'?\n" + PLOT),
    ("plot gantt residual -H lanes:2 -s serial,random", "gantt draws one run; name one scheduler\n" + PLOT),
    (
        "plot scaling residual -H lanes:2 --lanes 1,x",
        "--lanes: '1,x' is not a list of positive whole numbers; write for example 1,2,4,8\n" + PLOT,
    ),
    ("plot gantt taken -H lanes:2", "unknown graph 'taken'; expected one of: ..."),
    ("plot dag residual -o a.gif", "unknown picture format '.gif'; expected one of: .png, .svg, .pdf"),
    (
        "profile new bad!name",
        "profile: 'bad!name' cannot be a name here; use letters, digits, '_', '-' and '.', a letter first",
    ),
    (
        "profile new good -o order.txt",
        "order.txt exists already; name another file\nTry 'simsched profile new --help'.",
    ),
    ("experiment", "missing argument NAME|FILE\nTry 'simsched experiment --help'."),
    ("experiment amdahl_scalng", "unknown experiment 'amdahl_scalng'; did you mean 'amdahl_scaling'?"),
    (
        "experiment amdahl_scaling --jobs 0",
        "--jobs: expected a whole number from 1 to 1024, got '0'\nTry 'simsched experiment --help'.",
    ),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order.txt").write_text("d0/s0: Input Conv1 Cnv2\nd0/s5: BN\n")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes.txt").write_text("mine\n")
    return tmp_path


@pytest.mark.parametrize(("line", "message"), MESSAGES, ids=[line for line, _ in MESSAGES])
def test_a_malformed_command_line_is_answered(folder: Path, line: str, message: str) -> None:
    words = [word.replace("(", "(") for word in line.split(" ")]
    done = CliRunner().invoke(main, words, prog_name="simsched")
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    if message.endswith("..."):
        assert done.stderr.startswith(f"error: {message[:-3]}")
    else:
        assert done.stderr == f"error: {message}\n"
    assert sorted(path.name for path in folder.iterdir()) == ["order.txt", "taken"]
