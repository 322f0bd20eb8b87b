"""What people read: sentences, tables within 80 columns, help."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from simsched.cli import main
from simsched.cli.app import COMMANDS
from simsched.output.tables import display_width
from tests.cli import ROOT, invoke


def walk(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that lead to it."""
    context = click.Context(group)
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append(((*path, name), command))
        if isinstance(command, click.Group):
            found += walk(command, (*path, name))
    return found


def all_commands() -> list[tuple[tuple[str, ...], click.Command]]:
    assert isinstance(main, click.Group)
    return [((), main), *walk(main)]


def example_of(command: click.Command) -> str:
    assert command.epilog is not None
    assert command.epilog.startswith("Example: simsched")
    return command.epilog.removeprefix("Example: ")


@pytest.mark.parametrize(
    ("path", "command"), all_commands(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_help_has_an_example_and_fits_the_page(path: tuple[str, ...], command: click.Command) -> None:
    done = invoke(*path, "--help")
    assert done.exit_code == 0
    assert done.stdout.rstrip().endswith(example_of(command))
    assert max(map(display_width, done.stdout.splitlines())) <= 80


def write_results(folder: Path) -> None:
    """Write a table such as an experiment leaves behind."""
    folder.mkdir(parents=True)
    rows = ["graph,hardware,scheduler,noise,seed,makespan_ns,lower_bound_ns,valid"]
    rows += [
        f"g,lanes:2,{name},{noise},0,{time},9,true" for name, time in (("a", 9), ("b", 11)) for noise in ("", "0.2")
    ]
    (folder / "runs.csv").write_text("\n".join(rows))


@pytest.mark.parametrize(
    ("path", "command"), all_commands(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_the_example_of_every_help_text_runs(
    path: tuple[str, ...], command: click.Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(example_of(command))
    if path == ("rank",):
        write_results(Path(words[2]))
    if ">" in words:
        words = words[: words.index(">")]
    done = invoke(*words[1:])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip()


def test_the_top_page_shows_the_first_line_of_each_command() -> None:
    assert isinstance(main, click.Group)
    for name, command in ((path[0], command) for path, command in walk(main) if len(path) == 1):
        assert command.get_short_help_str(200).rstrip(".") == COMMANDS[name][1].rstrip(".")


def test_one_of_a_kind_is_said_in_the_singular() -> None:
    done = invoke("run", "chain:1", "--hardware", "lanes:1", "--steps")
    assert "\nthe end: 1 operator, makespan 1\n" in done.stdout
    assert "\nchain_1 (1 operator, 0 edges) on lanes:1\n" in done.stdout


def test_comparison_for_people() -> None:
    done = invoke("compare", "residual", "--hardware", "lanes:2", "--schedulers", "serial,critical_path,greedy_ready")
    lines = done.stdout.splitlines()
    assert lines[:5] == [
        "residual (7 operators, 7 edges) on lanes:2",
        "critical_path and greedy_ready both take 6: 1.17 times as fast as one operator",
        "after the other, and no schedule can be shorter (critical_path).",
        "",
        "scheduler      makespan  speed-up     gap  peak   use  own time  valid",
    ]
    assert [line.split()[:6] for line in lines[5:8]] == [
        ["serial", "7", "1.00x", "16.7", "%", "-"],
        ["critical_path", "6", "1.17x", "0.0", "%", "-"],
        ["greedy_ready", "6", "1.17x", "0.0", "%", "-"],
    ]
    assert all(line.endswith("yes") for line in lines[5:8])
    assert lines[9].split() == ["bound", "value", "kind", "what", "it", "says"]
    assert lines[10].startswith("critical_path        6  lower bound        The operators of the longest path")
    assert max(map(display_width, lines)) <= 80


def test_a_comparison_that_has_a_single_winner_and_a_gap() -> None:
    done = invoke("compare", "heft_topcuoglu", "-H", "procs:3", "-s", "serial,critical_path")
    assert "above the lower bound" in done.stdout.splitlines()[1] + done.stdout.splitlines()[2]


def test_failures_are_told_beside_the_table(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_text(
        "name: big\ntensors:\n  - {name: x, bytes: 3 MiB}\n"
        "operators:\n  - {name: a, duration: 2 us, outputs: [x]}\n  - {name: b, duration: 5 us, inputs: [x]}\n"
    )
    done = invoke("compare", str(path), "-H", "lanes:2", "-s", "serial", "--memory-capacity", "2 MiB")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[1] == "No scheduler could carry out its run."
    assert lines[4].split() == ["serial", "failed", "-", "-", "-", "-", "-", "no"]
    assert any(line.startswith("serial failed. OutOfMemoryError: ") for line in lines)


def test_a_run_for_people() -> None:
    lines = invoke("run", "residual", "-H", "lanes:2").stdout.splitlines()
    assert lines[1].startswith("critical_path: 6, 1.17 times as fast as one operator after the other")
    assert "what decided the end  Input > Conv1 > Conv2 > ReLU > Add > Output" in lines
    assert "d0/s0           6  100 %" in lines
    assert "d0/s1           1   17 %" in lines
    assert max(map(display_width, lines)) <= 80


def test_unknown_operator_types_are_listed_with_their_share(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(
        "name: odd\ntensors:\n  - {name: x, bytes: 100 MB}\n  - {name: y, bytes: 300 MB}\n"
        "operators:\n"
        "  - {name: a, op_type: Frobnicate, outputs: [x]}\n"
        "  - {name: b, op_type: Relu, inputs: [x], outputs: [y]}\n"
    )
    done = invoke("compare", str(path), "-H", "a100_sxm_80gb", "-s", "serial")
    assert "Operator types of unknown cost" in done.stdout
    assert "Frobnicate (1, " in done.stdout.replace("\n", " ")
    assert invoke("compare", str(path), "-H", "a100_sxm_80gb", "-s", "serial", "--strict").exit_code == 2


def test_steps_are_told_in_ticks() -> None:
    done = invoke("run", "residual", "-H", "lanes:2", "--steps")
    assert done.stdout.startswith("time 0\n  became ready Input\n")
    assert "\nthe end: 7 operators, makespan 6\n" in done.stdout


def test_what_is_listed_and_shown_fits_the_page() -> None:
    for words in (("list", "graphs"), ("list", "hardware"), ("list", "schedulers"), ("list", "generators"),
                  ("list", "experiments"), ("profile", "list"), ("profile", "show", "a100_sxm_80gb"),
                  ("profile", "show", "lanes:4"), ("profile", "check")):  # fmt: skip
        done = invoke(*words)
        assert done.exit_code == 0, done.output
        assert max(map(display_width, done.stdout.splitlines())) <= 80, words


def test_a_new_profile_is_written_and_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("profile", "new", "my_gpu", "-o", "my_gpu.yaml").exit_code == 0
    done = invoke("profile", "check", "my_gpu.yaml")
    assert (done.exit_code, "right" in done.stdout) == (0, True)


def test_a_profile_with_a_wrong_figure_has_exit_code_2(tmp_path: Path) -> None:
    text = (ROOT / "hardware_profiles" / "a100_sxm_80gb.yaml").read_text()
    path = tmp_path / "wrong.yaml"
    path.write_text(text.replace("fp32: 19.5 TFLOP/s", "fp32: 39 TFLOP/s"))
    done = invoke("profile", "check", str(path))
    assert done.exit_code == 2
    assert "gpu.peaks.vector.fp32" in done.stdout


def test_descriptions_of_several_lines_are_listed_as_one() -> None:
    done = invoke("list", "graphs")
    assert done.exit_code == 0
    assert "fuse the three." in done.output
    assert "\\n" not in done.output
