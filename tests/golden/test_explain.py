"""What ``simsched explain`` prints, line by line, for runs that can be followed in one's head."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import invoke, objects

RESIDUAL = """\
residual (7 operators, 7 edges) on lanes:1
critical_path: Output ended last, at 7. The chain of 6 operators that led to it
ran for 6 (86 %) and waited for 1 (14 %).

what ran on the realised critical path  operators  time    share
Conv, duration stated                           2     2   28.6 %
Add, duration stated                            1     1   14.3 %
BatchNormalization, duration stated             1     1   14.3 %
Input, duration stated                          1     1   14.3 %
Output, duration stated                         1     1   14.3 %
Relu, duration stated                           1     1   14.3 %
together                                              7  100.0 %

what the chain to the last end did  operators  time    share
Conv, duration stated                       2     2   28.6 %
Add, duration stated                        1     1   14.3 %
Input, duration stated                      1     1   14.3 %
Output, duration stated                     1     1   14.3 %
Relu, duration stated                       1     1   14.3 %
not dispatched: every stream taken          1     1   14.3 %
together                                          7  100.0 %

waited longest  waited  because it
BN                   1  is not dispatched: every stream that may run it is
                        taken, by Conv2
ReLU                 1  is not dispatched: every stream that may run it is
                        taken, by BN
"""

TWO_LANES = """\
residual (7 operators, 7 edges) on lanes:2
critical_path: Output ended last, at 6. On the way to it no operator waited for
anything but its predecessors.

what ran on the realised critical path  operators  time    share
Conv, duration stated                           2     2   33.3 %
Add, duration stated                            1     1   16.7 %
Input, duration stated                          1     1   16.7 %
Output, duration stated                         1     1   16.7 %
Relu, duration stated                           1     1   16.7 %
together                                              6  100.0 %

No operator waited after its last predecessor had ended.
"""

BN = """\
BN (BatchNormalization) ran on d0/s0 from 3 to 4. It was ready at 2, dispatched
at 3 (b-level 3; first of 2 ready); it started 1 after it was ready. It is on
the realised critical path.

from  to  for  it
   0   2    2  waits for Conv1 to end
   2   3    1  is not dispatched: every stream that may run it is taken, by
               Conv2
   3   4    1  runs; the graph states its duration

ReLU (Relu) ran on d0/s0 from 4 to 5. It was ready at 3, dispatched at 4
(b-level 3; nothing else is ready); it started 1 after it was ready. It is on
the realised critical path.

from  to  for  it
   0   3    3  waits for Conv2 to end
   3   4    1  is not dispatched: every stream that may run it is taken, by BN
   4   5    1  runs; the graph states its duration
"""

KERNELS = """\
name: kernels
operators:
  - {name: load, duration: 2 us, demands: {sms: 1}}
  - {name: wide, duration: 7 us, demands: {sms: 3}, after: [load]}
  - {name: pair, duration: 5 us, demands: {sms: 2}, after: [load]}
  - {name: tail, duration: 3 us, demands: {sms: 1}, after: [load]}
"""
ORDER = "gpu/s0: load wide\ngpu/s1: pair\ngpu/s2: tail\nlaunch: load wide pair tail\n"

TAIL = """\
tail (op) ran on gpu/s2 from 9 us to 12 us. It was ready at 2 us, dispatched at
0 ns (as the schedule says); it started 7 us after it was ready. It is not on
the realised critical path.

from     to   for  it
0 ns   2 us  2 us  waits for load to end
2 us   9 us  7 us  waits in the queue of gpu behind pair, which needs 2 of
                   gpu/sms, 1 free, 1 short; held by wide 3
9 us  12 us  3 us  runs; the graph states its duration
"""


def written(*words: str) -> str:
    done = invoke("explain", *words)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_run_on_one_lane() -> None:
    assert written("residual", "--hardware", "lanes:1") == RESIDUAL


def test_a_run_in_which_nothing_waits_has_one_table() -> None:
    assert written("residual", "--hardware", "lanes:2") == TWO_LANES


def test_the_stories_of_two_operators() -> None:
    assert written("residual", "BN", "ReLU", "-H", "lanes:1") == BN


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recorded run of a small GPU whose queue is blocked at its head."""
    monkeypatch.chdir(tmp_path)
    Path("kernels.yaml").write_text(KERNELS)
    Path("order.txt").write_text(ORDER)
    done = invoke("run", "kernels.yaml", "-H", "toy_4sm", "--schedule", "order.txt", "--output", "recorded")
    assert done.exit_code == 0, done.output
    return next(Path("recorded").rglob("run.json")).parent


def test_a_recorded_run_is_explained_as_the_command_explains_it(kernels: Path) -> None:
    assert written(str(kernels), "tail") == TAIL
    assert written("recorded", "tail") == TAIL
    assert written("kernels.yaml", "tail", "-H", "toy_4sm", "-s", "follow:order.txt") == TAIL


def test_the_record_of_an_operator(kernels: Path) -> None:
    (found,) = objects("explain", str(kernels), "pair")
    assert (found["graph"], found["hardware"], found["scheduler"]) == ("kernels", "toy_4sm", "follow:order.txt")
    assert (found["operator"], found["stream"], found["wait_ns"]) == ("pair", "gpu/s1", 7000)
    assert [(part["reason"], part["start_ns"], part["end_ns"]) for part in found["parts"]] == [
        ("dependency", 0, 2000),
        ("resource", 2000, 9000),
        ("explicit", 9000, 14000),
    ]
    wait = found["parts"][1]
    assert (wait["culprit"], wait["holders"]) == ("wide", [["wide", 3]])
    assert wait["short"] == [{"of": "sms", "needs": 2, "free": 1}]


def test_the_record_of_a_run(kernels: Path) -> None:
    (found,) = objects("explain", str(kernels))
    assert found["makespan_ns"] == 14_000
    assert found["path"] == [{"kind": "operators", "what": "op", "bound": "explicit", "ns": 14_000, "operators": 3}]
    assert found["chain"] == [
        {"kind": "operators", "what": "op", "bound": "explicit", "ns": 7_000, "operators": 2},
        {"kind": "wait", "what": "resource", "bound": "", "ns": 7_000, "operators": 1},
    ]
    pair, tail = found["longest_waits"]
    assert (pair["operator"], pair["wait_ns"], pair["by_reason"]) == ("pair", 7000, {"resource": 7000})
    assert (tail["operator"], tail["wait_ns"], tail["by_reason"]) == ("tail", 7000, {"queue": 7000})
    assert (tail["longest"]["culprit"], tail["longest"]["start_ns"], tail["longest"]["end_ns"]) == ("pair", 2000, 9000)


SHARED = """\
name: shared
operators:
  - {name: read, duration: 4 us, bytes: 300 kB, demands: {sms: 2}}
  - {name: copy, duration: 4 us, bytes: 300 kB, demands: {sms: 2}}
"""


def test_the_record_of_an_operator_that_shared_bandwidth(tmp_path: Path) -> None:
    path = tmp_path / "shared.yaml"
    path.write_text(SHARED)
    (found,) = objects("explain", str(path), "copy", "-H", "toy_4sm")
    (part,) = found["parts"]
    assert (part["kind"], part["reason"], part["start_ns"], part["end_ns"]) == ("run", "bandwidth", 0, 6000)
    assert (part["speed"], part["shared_with"], part["copy"]) == (0.666667, [["read", 0.5]], None)
    (run,) = objects("explain", str(path), "-H", "toy_4sm")
    assert [(row["kind"], row["what"], row["ns"]) for row in run["path"]] == [
        ("operators", "op", 4000),
        ("lost", "bandwidth", 2000),
    ]


def test_the_record_of_an_operator_that_waited_for_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "copied.yaml"
    path.write_text(
        "name: copied\ntensors:\n  - {name: x, bytes: 20 kB}\n"
        "operators:\n  - {name: make, duration: 2 us, device: gpu0, outputs: [x]}\n"
        "  - {name: use, duration: 3 us, device: gpu1, inputs: [x]}\n"
    )
    (found,) = objects("explain", str(path), "use", "-H", "toy_box")
    copy = {"tensor": "x", "from": "gpu0", "to": "gpu1", "bytes": 20_000}
    # Two links of 1 us, then 20,000 B at 20 B/ns.
    assert [(part["reason"], part["end_ns"], part["copy"]) for part in found["parts"]] == [
        ("dependency", 2000, None),
        ("copy_latency", 4000, copy),
        ("copy", 5000, copy),
        ("explicit", 8000, None),
    ]


def test_a_long_story_is_told_at_both_ends(tmp_path: Path) -> None:
    # "last" needs 3 of 4 SMs and comes last: 30 times 3 ticks without room, then 2 ticks with room.
    rows = []
    for turn in range(30):
        after = f", after: [two{turn - 1}]" if turn else ""
        rows.append(f"  - {{name: four{turn}, duration: 3, demands: {{sms: 4}}{after}}}")
        rows.append(f"  - {{name: two{turn}, duration: 2, after: [four{turn}]}}")
    rows.append("  - {name: last, duration: 1, demands: {sms: 3}}")
    path = tmp_path / "turns.yaml"
    path.write_text("name: turns\ntime_unit: tick\noperators:\n" + "\n".join(rows) + "\n")
    words = (str(path), "last", "-H", "toy_4sm", "-s", "serial")
    (found,) = objects("explain", *words)
    turns = [row for turn in range(30) for row in (("passed_over", 5 * turn + 3), ("held", 5 * turn + 5))]
    assert [(part["reason"], part["end_ns"]) for part in found["parts"]] == [*turns, ("explicit", 151)]
    table = written(*words).split("\n\n")[1].splitlines()
    assert "  50  103   53  (21 more parts; --json has them all)" in table


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("residual", "Conv33", "-H", "lanes:2"), "error: unknown operator 'Conv33'; did you mean 'Conv2'?\n"),
        (
            ("residual", "BN"),
            "error: no hardware given; write for example --hardware a100_sxm_80gb or --hardware lanes:4 "
            "('simsched list hardware')\nTry 'simsched explain --help'.\n",
        ),
        (
            ("residual", "-H", "lanes:2", "-s", "serial,critical_path"),
            "error: --scheduler takes one scheduler\nTry 'simsched explain --help'.\n",
        ),
        (("residul", "-H", "lanes:2"), "error: unknown graph 'residul'; did you mean 'residual'?\n"),
    ],
)
def test_bad_input_says_what_to_write(words: tuple[str, ...], message: str) -> None:
    done = invoke("explain", *words)
    assert (done.exit_code, done.stderr) == (2, message)


def test_a_folder_brings_its_hardware_and_scheduler(kernels: Path) -> None:
    done = invoke("explain", str(kernels), "-H", "lanes:2")
    assert done.exit_code == 2
    assert f"{kernels} holds recorded runs, with hardware and scheduler" in done.stderr


def test_a_folder_of_several_runs_is_refused_with_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke("compare", "residual", "-H", "lanes:2", "-s", "serial,critical_path", "-o", "both")
    assert done.exit_code == 0, done.output
    done = invoke("explain", "both")
    assert done.exit_code == 2
    assert "name the folder of one: both/residual/critical_path, both/residual/serial" in done.stderr


def test_a_run_that_cannot_be_carried_out_says_why(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_text(
        "name: big\ntensors:\n  - {name: x, bytes: 3 MiB}\n"
        "operators:\n  - {name: a, duration: 2 us, outputs: [x]}\n  - {name: b, duration: 5 us, inputs: [x]}\n"
    )
    done = invoke("explain", str(path), "-H", "lanes:2", "--memory-capacity", "2 MiB")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: critical_path failed. OutOfMemoryError: ")


def test_a_run_without_operators(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("name: empty\noperators: []\n")
    assert written(str(path), "-H", "lanes:1") == (
        "empty (0 operators, 0 edges) on lanes:1\ncritical_path: The run has no operators.\n\n"
        "No operator waited after its last predecessor had ended.\n"
    )
