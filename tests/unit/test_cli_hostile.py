"""The command line in hostile surroundings: streams that are closed or full, signals, names that terminals obey."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from simsched.output.visible import visible, visible_json, visible_line
from tests.cli import command, environment, invoke, process

RUN = ("run", "residual", "-H", "lanes:2")


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of sh in which ``$S`` is simsched."""
    words = ["sh", "-c", line.replace("$S", " ".join(command()))]
    return subprocess.run(words, cwd=cwd, env=environment(), capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("line", "code", "err"),
    [
        ("$S run residual -H lanes:2 >&-", 0, ""),
        ("$S run residual -H lanes:2 --json <&- >&- 2>&-", 0, ""),
        ("$S run resdual -H lanes:2 2>&-", 2, ""),
        ("$S run resdual -H lanes:2 2>/dev/full", 2, ""),
        ("$S run residual -H lanes:2 >/dev/full", 2, "error: no space left on device\n"),
        ("$S run residual -H lanes:2 --json >/dev/full", 2, "error: no space left on device\n"),
        ("$S --help >/dev/full", 2, "error: no space left on device\n"),
        ("mkdir d && cd d && rmdir ../d && $S run residual -H lanes:2 >/dev/null", 0, ""),
    ],
)
def test_closed_and_full_streams(tmp_path: Path, line: str, code: int, err: str) -> None:
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = shell(line, tmp_path)
    assert (done.returncode, done.stderr) == (code, err)


def test_a_closed_output_is_not_taken_for_a_file_of_ours(tmp_path: Path) -> None:
    assert shell("$S run residual -H lanes:2 -o out >&-", tmp_path).returncode == 0
    done = process("check", "out/manifest.json", cwd=tmp_path)
    assert done.stdout.startswith("out/manifest.json: valid"), done.stderr


GRID = (
    "name: long\ngraphs: ['chain:20000']\nhardware: [lanes:2]\nschedulers: [critical_path, memory_aware]\n"
    f"seeds: {list(range(40))}\nnoise: [0.1]\n"
)


def children(pid: int) -> list[int]:
    found = []
    for task in Path("/proc").glob("[0-9]*"):
        try:
            fields = (task / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(task.name))
    return found


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc which processes there are")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_workers_end_with_the_command(tmp_path: Path, number: signal.Signals, code: int) -> None:
    (tmp_path / "long.yaml").write_text(GRID)
    words = command("experiment", "long.yaml", "-j", "2", "-o", "out")
    with (tmp_path / "err").open("wb") as err:
        child = subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=err)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out/runs.jsonl").is_file() or len(workers := children(child.pid)) < 2:
        assert time.monotonic() < deadline
        assert child.poll() is None
        time.sleep(0.05)
    os.kill(child.pid, number)
    assert child.wait(30) == code
    while not all(map(gone, workers)):
        assert time.monotonic() < deadline, "workers outlive the command"
        time.sleep(0.05)
    assert "Traceback" not in (tmp_path / "err").read_text()


EVIL = "\x1b[31mred\x1b[0m\u202eright\x9bto\rleft\nnext"
SHOWN = r"\x1b[31mred\x1b[0m\u202eright\x9bto\rleft"


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    graph = {"name": EVIL, "time_unit": "tick", "operators": [{"name": EVIL, "duration": 5}]}
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(graph))
    for words in (("check", str(path)), ("run", str(path), "-H", "lanes:2", "--steps")):
        done = invoke(*words)
        assert done.exit_code == 0, done.stderr
        assert SHOWN in done.stdout.replace("\n", "")
        assert not set(done.stdout) & set("\x1b\u202e\x9b\r")
    machine = invoke("run", str(path), "-H", "lanes:2", "--json")
    assert not set(machine.stdout) & set("\x1b\u202e\x9b\r")
    assert json.loads(machine.stdout)["graph_name"] == EVIL


def test_messages_cannot_command_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "evil.json"
    operators = [
        {"name": "\x1b[2Ja", "duration": 1, "after": ["b"]},
        {"name": "b", "duration": 1, "after": ["\x1b[2Ja"]},
    ]
    path.write_text(json.dumps({"time_unit": "tick", "operators": operators}))
    done = invoke("check", str(path))
    assert done.exit_code == 2
    assert r"\x1b[2Ja -> b -> \x1b[2Ja" in done.stderr
    assert "\x1b" not in done.stderr


def test_visible_text() -> None:
    assert visible("plain, é, 日本, 😀\nnext") == "plain, é, 日本, 😀\nnext"
    assert visible_line("a\tb\nc\x7f") == r"a\tb\nc\x7f"
    assert visible("nu/\udcff.yaml") == r"nu/\xff.yaml"  # the byte 0xff of a name that is not UTF-8
    assert json.loads(visible_json(json.dumps(EVIL, ensure_ascii=False))) == EVIL


@pytest.mark.parametrize(
    "words", [("run", "x" * 9000, "-H", "lanes:1"), (*RUN, "--seed", "9" * 5000), (*RUN, "-s", "y" * 9000)]
)
def test_a_long_word_is_shortened_in_messages(words: tuple[str, ...]) -> None:
    done = invoke(*words)
    assert done.exit_code == 2
    assert "characters)..." in done.stderr
    assert len(done.stderr) < 1200


def test_a_dimension_of_thousands_of_digits_is_bad_input() -> None:
    done = invoke(*RUN, "--dim", "b=" + "9" * 5000)
    assert done.exit_code == 2
    assert "is not a name and a positive whole number" in done.stderr


def test_names_that_are_not_utf8_end_in_files_that_are(tmp_path: Path) -> None:
    name = b"\xff.yaml"
    try:
        (tmp_path / os.fsdecode(name)).write_text("operators: [{name: a, duration: 1 us}]")
    except OSError:
        pytest.skip("this file system keeps only names in UTF-8")
    done = process("run", os.fsdecode(name), "-H", "lanes:1", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert process("check", "out/manifest.json", cwd=tmp_path).returncode == 0
