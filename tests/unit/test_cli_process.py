"""The command line as a process: exit codes, streams, pipes, colours, start-up."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import ROOT, command, environment, process

HEAVY = ("simpy", "numpy", "networkx", "matplotlib", "rich", "pydantic", "yaml", "onnx")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("compare", "residual", "-H", "lanes:2"), 0),
        (("compare", "resdual", "-H", "lanes:2"), 2),
        (("run", "residual", "-H", "lanes:2", "-s", "nope"), 2),
        ((), 2),
        (("--help",), 0),
        (("--version",), 0),
    ],
)
def test_exit_codes_and_streams(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    done = process(*words, cwd=tmp_path)
    assert done.returncode == code
    assert bool(done.stdout) is (code == 0)
    assert bool(done.stderr) is (code != 0)
    assert "Traceback" not in done.stderr


def test_an_internal_error_is_not_blamed_on_the_user(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "import simsched.output.records\n"
        "def fail(*_, **__): raise RuntimeError('on purpose')\n"
        "simsched.output.records.comparison_object = fail\n"
        "from simsched.cli import main\nmain(prog_name='simsched')\n"
    )
    words = [sys.executable, "broken.py", "compare", "residual", "-H", "lanes:2", "--json"]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert done.stderr == (
        "internal error: RuntimeError: on purpose\n"
        "This is a fault of simsched, not of your input. Set SIMSCHED_DEBUG=1 to see where, and please report it.\n"
    )
    shown = environment(SIMSCHED_DEBUG="1")
    done = subprocess.run(words, cwd=tmp_path, env=shown, capture_output=True, text=True, check=False)
    assert "Traceback" in done.stderr


def test_a_reader_that_goes_away_is_no_error_message(tmp_path: Path) -> None:
    words = command("run", "chain:3000", "-H", "lanes:1", "--steps")
    child = subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(60) == 141


def test_a_folder_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = process("compare", "residual", "-H", "lanes:2", "-o", "file/out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: file/out: not a directory\n"


def on_a_terminal(*words: str, cwd: Path, **more: str) -> str:
    """Run a command whose stdout is a terminal of 80 columns."""
    import pty
    import struct
    from fcntl import ioctl
    from termios import TIOCSWINSZ

    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    settings = environment(TERM="xterm-256color", **more)
    with subprocess.Popen(command(*words), cwd=cwd, env=settings, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        assert child.wait(60) == 0
    os.close(ours)
    return b"".join(parts).decode()


def test_a_terminal_gets_a_drawn_table_and_no_color_is_respected(tmp_path: Path) -> None:
    words = ("compare", "residual", "-H", "lanes:2", "-s", "serial,critical_path")
    drawn = on_a_terminal(*words, cwd=tmp_path)
    assert "─" in drawn
    assert "critical_path" in drawn
    plain = on_a_terminal(*words, cwd=tmp_path, NO_COLOR="1")
    assert "\x1b[" not in plain
    assert "─" not in plain
    piped = process(*words, cwd=tmp_path).stdout
    assert "\x1b[" not in piped
    assert max(map(len, piped.splitlines())) <= 80


def loaded_by(*words: str, cwd: Path) -> set[str]:
    code = (
        "import sys\n"
        f"sys.argv = ['simsched', *{list(words)!r}]\n"
        "from simsched.cli import main\n"
        "try:\n    main(prog_name='simsched')\n"
        "except SystemExit:\n    print('\\n' + ' '.join(sorted({name.split('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=environment(), capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [("--help",), ("compare", "--help"), ("experiment", "--help"), ("--version",)])
def test_help_is_light(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert loaded_by(*words, cwd=tmp_path).isdisjoint(HEAVY)


def test_a_comparison_for_machines_loads_no_heavy_library(tmp_path: Path) -> None:
    loaded = loaded_by("compare", "residual", "-H", "lanes:2", "--json", cwd=tmp_path)
    assert loaded.isdisjoint({"numpy", "networkx", "matplotlib", "rich", "onnx"})


def cpu_seconds(*words: str, cwd: Path) -> float:
    """Median CPU time of a process over ten runs."""
    spent = []
    for _ in range(10):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], cwd=cwd, env=environment(), capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


def test_help_takes_less_than_a_tenth_of_a_second(tmp_path: Path) -> None:
    bare = cpu_seconds("-c", "pass", cwd=tmp_path)
    assert cpu_seconds("-m", "simsched", "--help", cwd=tmp_path) - bare < 0.100


def test_import_simsched_is_lighter_than_three_times_simpy(tmp_path: Path) -> None:
    bare = cpu_seconds("-c", "pass", cwd=tmp_path)
    ours, simpy = (cpu_seconds("-c", f"import {name}", cwd=tmp_path) - bare for name in ("simsched", "simpy"))
    assert ours < 3 * simpy


def test_users_own_schedulers_lie_where_the_command_is_typed(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from simsched.schedulers.listing import list_policy\n"
        "@dataclass(frozen=True)\n"
        "class Backwards:\n"
        "    by: int = 1\n"
        "    def start(self, problem):\n"
        "        return list_policy(problem, [self.by * op for op in range(len(problem.graph))])\n"
    )
    done = process("compare", "residual", "-H", "lanes:2", "-s", "mine:Backwards,mine:Backwards(by=3)", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mine:Backwards(by=3)" in done.stdout
    assert str(ROOT) != str(tmp_path)
