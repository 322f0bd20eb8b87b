"""``simsched whatif`` and ``simsched streams``: messages, tables, JSON, files and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simsched.output.tables import display_width
from tests.cli import invoke, objects

WHATIF = "Try 'simsched whatif --help'."
STREAMS = "Try 'simsched streams --help'."

MESSAGES: list[tuple[str, str]] = [
    (
        "whatif residual -H lanes:1",
        "nothing is changed; write for example --scale conv1=0.5, --set memory_bandwidth=x2 or --streams 4; or "
        "--sensitivity for what matters most\n" + WHATIF,
    ),
    ("whatif", "missing argument RUN|GRAPH\n" + WHATIF),
    (
        "whatif residual --streams 2",
        "no hardware given; write for example --hardware a100_sxm_80gb or --hardware "
        "lanes:4 ('simsched list hardware')\n" + WHATIF,
    ),
    ("whatif residual -H lanes:1 --scale Conv9=0.5", "unknown operator 'Conv9'; did you mean 'Conv2'?"),
    ("whatif residual -H lanes:1 --scale type:Cnv=2", "unknown operator type 'Cnv'; did you mean 'Conv'?"),
    (
        "whatif residual -H lanes:1 --scale Q*=2",
        "--scale: no operator of 'residual' matches 'Q*'; there are Input, Conv1, BN, Conv2, ReLU, Add, Output, ...",
    ),
    ("whatif residual -H lanes:1 --scale Conv1=-1", "--scale: Conv1: a factor cannot be negative: -1"),
    ("whatif residual -H lanes:1 --scale Conv1=2us", "--scale: Conv1: expected a factor such as 0.5, got '2us'"),
    (
        "whatif residual -H lanes:1 --scale Conv1",
        "--scale: 'Conv1' is not a name and a value; write for example conv1=0.5",
    ),
    ("whatif residual -H lanes:1 --scale Conv1=2 --scale Conv1=3", "--scale: 'Conv1' is given twice"),
    (
        "whatif residual -H lanes:1 --set bandwith=x2",
        "unknown figure of 'lanes:1' 'bandwith'; did you mean 'memory_bandwidth'?",
    ),
    (
        "whatif residual -H lanes:1 --set memory_bandwidth=x2",
        "--set: d0.memory_bandwidth: it is not known or has no limit, so it cannot be multiplied; write for example "
        "'2 TB/s'",
    ),
    (
        "whatif residual -H lanes:1 --set streams=2.5",
        "--set: d0.streams: expected a whole number from 1 to 1000000000, got '2.5'",
    ),
    (
        "whatif residual -H lanes:1 --fuse Conv1",
        "--fuse: 'Conv1' names fewer than two operators; write for example conv1,relu1",
    ),
    (
        "whatif residual -H lanes:1 --fuse Conv1,Cnv2",
        "unknown operator of graph 'residual' 'Cnv2'; did you mean 'Conv2'?",
    ),
    (
        "whatif residual -H lanes:1 --fuse Conv1,Add",
        "--fuse: 'Conv1' and 'Add' cannot be one kernel: between them runs 'BN' (Conv1 -> BN -> Add); fuse it too, or "
        "leave one of them out",
    ),
    (
        "whatif residual -H lanes:1 --drop-edge Conv1",
        "--drop-edge: 'Conv1' does not name two operators; write for example conv1,add1",
    ),
    (
        "whatif residual -H lanes:1 --drop-edge Conv1,Add",
        "--drop-edge: 'Add' does not wait for 'Conv1'; it waits for: BN, ReLU",
    ),
    (
        "whatif residual -H lanes:1 --streams 2 --sensitivity",
        "--sensitivity makes its own changes; leave the others out\n" + WHATIF,
    ),
    ("whatif residual -H lanes:1 --streams 2 --tries 5", "--tries belongs to --sensitivity\n" + WHATIF),
    (
        "whatif residual -H lanes:1 --streams 0",
        "--streams: expected a whole number from 1 to 100000, got '0'\n" + WHATIF,
    ),
    ("whatif residual -H lanes:1 -s serial,random", "--scheduler takes one scheduler\n" + WHATIF),
    ("whatif residual -H lanes:1 --streams 2 --base serial,random", "--base takes one scheduler\n" + WHATIF),
    ("whatif residual -H lanes:1 -s critcal_path", "unknown scheduler 'critcal_path'; did you mean 'critical_path'?"),
    (
        "streams residual",
        "no hardware given; write for example --hardware a100_sxm_80gb or --hardware lanes:4 "
        "('simsched list hardware')\n" + STREAMS,
    ),
    ("streams residual -H lanes:1 -s serial,random", "--scheduler takes one scheduler\n" + STREAMS),
    ("streams residual -H lanes:1 --max 0", "--max: expected a whole number from 1 to 100000, got '0'\n" + STREAMS),
    ("streams", "missing argument GRAPH\n" + STREAMS),
]


@pytest.mark.parametrize(("line", "message"), MESSAGES, ids=[line for line, _ in MESSAGES])
def test_bad_command_lines_are_answered_with_what_to_write(line: str, message: str) -> None:
    done = invoke(*line.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {message}\n"


def test_old_beside_new_for_people() -> None:
    done = invoke("whatif", "residual", "-H", "lanes:1", "--streams", "2")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "residual (7 operators, 7 edges) on lanes:1",
        "critical_path: 7 before, 6 after: 1.167 times as fast (exactly 7/6).",
        "Other operators decide the end: BN no longer.",
    ]
    text = done.stdout
    for row in (
        "streams       1      2",
        "makespan                          7              6       -14.3 %",
        "lower bound                       7              6       -14.3 %",
        "  which is            area(streams)  critical_path",
        "waiting for a stream            1      0          -1",
        "together                        7      6          -1",
        "BN          3 to 4  2 to 3  1 earlier",
    ):
        assert f"\n{row}\n" in text, row
    assert max(map(display_width, lines)) <= 80


def test_slower_the_same_and_no_time_at_all() -> None:
    slower = invoke("whatif", "residual", "-H", "lanes:1", "--scale", "Conv1=3")
    assert "critical_path: 7 before, 9 after: 1.286 times as long (exactly 9/7).\n" in slower.stdout
    assert "The same operators decide the end (realised critical path).\n" in slower.stdout
    same = invoke("whatif", "residual", "-H", "lanes:2", "--streams", "3")
    assert "critical_path: 6 before and after; the change makes no difference.\n" in same.stdout
    assert "No operator ends at another time.\n" in same.stdout
    gone = invoke("whatif", "residual", "-H", "lanes:2", "--scale", "*=0")
    assert "critical_path: 6 before, 0 after.\n" in gone.stdout


def test_json_of_a_what_if() -> None:
    words = (
        "whatif",
        "residual",
        "-H",
        "lanes:1",
        "--fuse",
        "Conv1,BN,Conv2",
        "--scale",
        "Conv1+BN+Conv2=2",
        "-s",
        "serial",
    )
    (found,) = objects(*words)
    assert found["changes"] == ["--fuse Conv1,BN,Conv2", "--scale Conv1+BN+Conv2=2", "--scheduler serial"]
    assert (found["speedup"], found["speedup_exact"]) == (0.7, "7/10")
    assert (found["before"]["makespan_ns"], found["after"]["makespan_ns"]) == (7, 10)
    assert (found["before"]["scheduler"], found["after"]["scheduler"]) == ("critical_path", "serial")
    assert found["after"]["valid"] is True
    assert sum(found["after"]["account_ns"].values()) == 10
    assert found["edits"][0] == {"what": "Conv1+BN+Conv2", "before": "3", "after": "3, one kernel"}
    assert found["moves"][0]["shift_ns"] == 3
    assert invoke(*words, "--json").stdout == invoke(*words, "--json").stdout


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded") / "out"
    done = invoke(
        "compare", "residual", "-H", "lanes:1", "-s", "serial,greedy_ready:spt", "--noise", "0.4", "--seed", "3",
        "-o", str(folder),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return folder


def test_a_recorded_run_is_enough(recorded: Path) -> None:
    run = recorded / "residual" / "greedy_ready-spt"
    (found,) = objects("whatif", str(run), "--streams", "2")
    old = json.loads((run / "run.json").read_text())
    assert found["before"]["scheduler"] == found["after"]["scheduler"] == "greedy_ready:spt"
    assert found["before"]["makespan_ns"] == sum(old["actual"][0])
    assert found["after"]["makespan_ns"] < found["before"]["makespan_ns"]


def test_which_run_and_what_is_recorded_already(recorded: Path) -> None:
    done = invoke("whatif", str(recorded), "--streams", "2")
    assert done.exit_code == 2
    assert "whatif takes one run; name the folder of one: " in done.stderr
    run = str(recorded / "residual" / "serial")
    done = invoke("whatif", run, "--streams", "2", "-H", "lanes:2", "--memory", "block")
    assert done.exit_code == 2
    assert f"{run} is recorded, with all that it was run under; leave --hardware and --memory out" in done.stderr


def test_pictures_are_written_and_equal_commands_write_equal_bytes(tmp_path: Path) -> None:
    for name, words in {
        "whatif": ("whatif", "residual", "-H", "lanes:1", "--streams", "2"),
        "sensitivity": ("whatif", "graham", "-H", "lanes:3", "--sensitivity"),
        "streams": ("streams", "graham", "-H", "lanes:1", "--max", "4"),
    }.items():
        paths = [tmp_path / f"{name}{number}.png" for number in (1, 2)]
        for path in paths:
            done = invoke(*words, "-o", str(path))
            assert done.exit_code == 0, done.output
            # The path is longer than a line, which is folded.
            assert "written to" in done.stdout
        first, second = (path.read_bytes() for path in paths)
        assert first == second
        assert first.startswith(b"\x89PNG")
    done = invoke("streams", "graham", "-H", "lanes:1", "-o", str(tmp_path / "picture.pgn"))
    assert done.exit_code == 2
    assert "unknown picture format '.pgn'; did you mean '.png'?" in done.stderr


def test_what_matters_most() -> None:
    done = invoke("whatif", "residual", "-H", "lanes:1", "--sensitivity", "--tries", "2", "--top", "1")
    assert done.exit_code == 0
    said = "critical_path takes 7. 2 of 7 operators were tried, each 10 % shorter: first those on the realised"
    assert said in " ".join(done.stdout.split())
    assert "\nInput         1     0         6  -14.29 %             100 %\n" in done.stdout
    assert "\nstreams   1      2  -14.29 %    2  -14.29 %\n" in done.stdout
    (found,) = objects("whatif", "residual", "-H", "lanes:1", "--sensitivity")
    assert (found["complete"], found["operators"], found["makespan_ns"]) == (True, 7, 7)
    assert {effect["kind"] for effect in found["effects"]} == {"operator", "figure"}
    assert [effect["level"] for effect in found["effects"]][:2] == ["11/10", "2"]
    assert sum(effect["gain_ns"] for effect in found["effects"] if effect["kind"] == "operator") == 7


def test_an_interruption_shows_what_is_known_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    from simsched.sensitivity import Bench

    whole = Bench.effect
    count = 0

    def effect(self: Bench, probe: object) -> object:
        nonlocal count
        count += 1
        if count == 5:
            raise KeyboardInterrupt
        return whole(self, probe)  # type: ignore[arg-type]

    monkeypatch.setattr(Bench, "effect", effect)
    done = invoke("whatif", "residual", "-H", "lanes:1", "--sensitivity")
    assert done.exit_code == 130
    assert "\nstreams   1" in done.stdout
    assert "interrupted; 4 of 9 changes had been tried, and are shown" in done.stderr
    count = 0
    done = invoke("whatif", "residual", "-H", "lanes:1", "--sensitivity", "--json")
    assert json.loads(done.stdout)["complete"] is False


def test_streams_for_people() -> None:
    done = invoke("streams", "graham", "-H", "lanes:1", "-s", "greedy_ready:list", "--max", "4")
    assert done.exit_code == 0
    assert done.stdout == (
        "graham (9 operators, 5 edges) on lanes:1\n"
        "greedy_ready:list: use 3 streams: 2.83 times as fast as on 1. A 4th costs 25.0\n"
        "%: the critical path takes 100 % of the makespan.\n"
        "From 4 streams on it takes longer: 25.0 % there. Likely cause: the order, in\n"
        "which the chain to the last end waits 3 longer behind less urgent operators\n"
        "(priority inversion, as in Graham's anomaly).\n"
        "\n"
        "streams  makespan  speed-up     gain  limited by\n"
        "1              34     1.00x           streams (100 %)\n"
        "2              17     2.00x  +50.0 %  streams (100 %)\n"
        "3 <            12     2.83x  +29.4 %  the critical path (100 %)\n"
        "4              15     2.27x  -25.0 %  waiting for a stream (20 %)\n"
    )


def test_json_of_streams() -> None:
    words = ("streams", "graham", "-H", "lanes:1", "-s", "greedy_ready:list", "--max", "4")
    (found,) = objects(*words)
    assert (found["recommended"], found["harmful_from"], found["time_unit"]) == (3, 4, "tick")
    assert found["harm"] == {"streams": 4, "cause": "inversion", "differences_ns": {"work": 6, "no_stream": -3}}
    assert [point["makespan_ns"] for point in found["points"]] == [34, 17, 12, 15]
    assert [point["limit"] for point in found["points"]] == ["streams", "streams", "critical_path", "no_stream"]
    assert all(sum(point["account_ns"].values()) == point["makespan_ns"] for point in found["points"])
    assert invoke(*words, "--json").stdout == invoke(*words, "--json").stdout


def test_streams_beyond_what_can_run_at_once() -> None:
    done = invoke("streams", "residual", "-H", "lanes:1", "--max", "3")
    assert (
        "critical_path: use 2 streams: 1.17 times as fast as on 1. A 3rd gains nothing: the critical path takes 100 % "
        "of the makespan, and never more than 2 operators could run at once."
    ) in " ".join(done.stdout.split())
    alone = invoke("streams", "chain:5", "-H", "lanes:1", "--max", "1")
    said = "critical_path: use 1 stream. More were not tried; here the critical path takes 100 % of the makespan."
    assert said in " ".join(alone.stdout.split())


def test_a_number_of_streams_that_cannot_be_carried_out_has_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(
        "time_unit: tick\ntensors:\n  - {name: x, bytes: 5}\n  - {name: y, bytes: 5}\n"
        "operators:\n  - {name: a, duration: 3, outputs: [x]}\n  - {name: b, duration: 3, outputs: [y]}\n"
    )
    words = ("-H", "lanes:1", "--memory", "strict", "--memory-capacity", "4 B")
    done = invoke("streams", str(path), *words)
    assert done.exit_code == 1
    assert "error: OutOfMemoryError" in done.stderr
    done = invoke("whatif", str(path), *words, "--streams", "2")
    assert done.exit_code == 1
    assert done.stdout == ""


def test_interrupted_streams_show_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    import simsched.advice as module

    whole = module.measured

    def measured(*arguments: object, **options: object):  # type: ignore[no-untyped-def]
        for number, point in enumerate(whole(*arguments, **options)):  # type: ignore[arg-type]
            if number == 2:
                raise KeyboardInterrupt
            yield point

    monkeypatch.setattr(module, "measured", measured)
    done = invoke("streams", "residual", "-H", "lanes:1")
    assert done.exit_code == 130
    assert "use 2 streams" in done.stdout
    assert "interrupted; 2 of 8 numbers of streams had been tried, and are shown" in done.stderr


def test_several_devices() -> None:
    (found,) = objects("streams", "residual", "-H", "procs:2", "--max", "2")
    assert "p0/streams" in found["points"][0]["pressures"]
    (found,) = objects("whatif", "residual", "-H", "procs:2", "--set", "p1.streams=3")
    assert found["edits"] == [{"what": "p1.streams", "before": "1", "after": "3"}]
