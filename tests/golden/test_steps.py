"""The scheduling loop told step by step: every line of small stories that were worked out by hand."""

from __future__ import annotations

from simsched import GraphBuilder, run
from simsched.analysis.explain import Explanation
from simsched.cost.base import KernelCost
from simsched.hardware import Device, HardwareProfile, lanes, procs
from simsched.output.steps import SHOWN, tell
from simsched.result import Result
from tests.builders import problem_of
from tests.unit.test_explain import static
from tests.unit.test_explain_shared import kernels, pair, two_copies
from tests.unit.test_run import residual

RESIDUAL = """\
time 0
  became ready Input
  ready set    Input
  free         d0/s0, d0/s1
  dispatched   Input to d0/s0: b-level 6; nothing else is ready
  started      Input on d0/s0, until 1

time 1
  finished     Input
  became ready Conv1
  ready set    Conv1
  free         d0/s0, d0/s1
  dispatched   Conv1 to d0/s0: b-level 5; nothing else is ready
  started      Conv1 on d0/s0, until 2

time 2
  finished     Conv1
  became ready BN, Conv2
  ready set    BN, Conv2
  free         d0/s0, d0/s1
  dispatched   Conv2 to d0/s0: b-level 4; first of 2 ready
  dispatched   BN to d0/s1: b-level 3; nothing else is ready
  started      Conv2 on d0/s0, until 3
  started      BN on d0/s1, until 3

time 3
  finished     BN, Conv2
  became ready ReLU
  ready set    ReLU
  free         d0/s0, d0/s1
  dispatched   ReLU to d0/s0: b-level 3; nothing else is ready
  started      ReLU on d0/s0, until 4

time 4
  finished     ReLU
  became ready Add
  ready set    Add
  free         d0/s0, d0/s1
  dispatched   Add to d0/s0: b-level 2; nothing else is ready
  started      Add on d0/s0, until 5

time 5
  finished     Add
  became ready Output
  ready set    Output
  free         d0/s0, d0/s1
  dispatched   Output to d0/s0: b-level 1; nothing else is ready
  started      Output on d0/s0, until 6

time 6
  finished     Output
  ready set    (empty)
  free         d0/s0, d0/s1

the end: 7 operators, makespan 6"""


def test_the_residual_example_line_by_line() -> None:
    result = run(residual(), "critical_path", lanes(2), explain=True)
    assert "\n".join(tell(result)) == RESIDUAL


def test_one_lane_makes_the_second_branch_wait() -> None:
    result = run(residual(), "critical_path", lanes(1), explain=True)
    story = "\n".join(tell(result)).split("\n\n")
    assert story[2] == (
        "time 2\n"
        "  finished     Conv1\n"
        "  became ready BN, Conv2\n"
        "  ready set    BN, Conv2\n"
        "  free         d0/s0\n"
        "  dispatched   Conv2 to d0/s0: b-level 4; first of 2 ready\n"
        "  started      Conv2 on d0/s0, until 3\n"
        "  waits        BN: no stream is free"
    )
    assert story[-1] == "the end: 7 operators, makespan 7"


def test_a_schedule_that_is_followed_waits_in_its_queues() -> None:
    builder = GraphBuilder("fork", time_unit="tick")
    builder.add_op("a", duration=2)
    builder.add_op("b", duration=3, after=["a"])
    builder.add_op("c", duration=5, after=["a"])
    graph = builder.build()
    from simsched.schedule import Schedule
    from simsched.schedulers.follow import Follow

    result = run(graph, Follow(Schedule({0: (0, 1, 2)})), lanes(1), explain=True)
    story = "\n".join(tell(result)).split("\n\n")
    assert story[0] == (
        "time 0\n"
        "  became ready a\n"
        "  ready set    a\n"
        "  free         d0/s0\n"
        "  dispatched   a to d0/s0: as the schedule says\n"
        "  dispatched   b to d0/s0: as the schedule says\n"
        "  dispatched   c to d0/s0: as the schedule says\n"
        "  started      a on d0/s0, until 2"
    )
    assert "  waits        c: behind b on d0/s0" in story[1].split("\n")


def test_resources_and_memory_are_told() -> None:
    builder = GraphBuilder("units", time_unit="tick")
    builder.add_tensor("x", bytes=1024)
    builder.add_op("a", duration=3, demands={"units": 2}, outputs=["x"])
    builder.add_op("b", duration=5, demands={"units": 2})
    builder.add_op("c", duration=2, inputs=["x"])
    device = Device("d0", streams=3, resources={"units": 3}, memory_capacity=4096)
    result = run(builder.build(), "greedy_ready", HardwareProfile("box", (device,)), explain=True)
    story = "\n".join(tell(result)).split("\n\n")
    assert story[0].split("\n")[3] == "  free         d0/s0, d0/s1, d0/s2; 3 of 3 d0/units"
    assert story[0].split("\n")[-1] == "  memory       d0 1 KiB of 4 KiB"
    assert "  waits        b: not chosen although a stream is free" in story[0].split("\n")
    assert story[1].split("\n")[4] == "  free         d0/s0, d0/s1, d0/s2; 3 of 3 d0/units"
    assert story[2].split("\n")[-1] == "  memory       d0 0 B of 4 KiB"
    assert story[-1] == "the end: 3 operators, makespan 8"


def test_data_on_its_way_is_told() -> None:
    from simsched.schedule import Schedule
    from simsched.schedulers.follow import Follow

    builder = GraphBuilder("away", time_unit="tick")
    builder.add_op("a", duration=2)
    builder.add_op("b", duration=3)
    builder.add_edge("a", "b", delay=7)
    result = run(builder.build(), Follow(Schedule({0: (0,), 1: (1,)})), procs(2), explain=True)
    story = "\n".join(tell(result)).split("\n\n")
    assert story[1].split("\n") == [
        "time 2",
        "  finished     a",
        "  became ready b",
        "  ready set    b",
        "  free         p0/s0",
        "  waits        b: its inputs are on their way to the device",
    ]
    assert story[-1] == "the end: 2 operators, makespan 12"


def test_operators_without_duration_end_at_once() -> None:
    builder = GraphBuilder("zero")
    builder.add_op("a", duration=0)
    builder.add_op("b", duration=1500, after=["a"])
    result = run(builder.build(), "critical_path", lanes(1), explain=True)
    lines = list(tell(result))
    assert "  started      a on d0/s0, and ended at once" in lines
    assert "  started      b on d0/s0, until 1.5 us" in lines
    assert "time 1.5 us" in lines


def test_long_lists_are_cut() -> None:
    builder = GraphBuilder("wide", time_unit="tick")
    for number in range(SHOWN + 5):
        builder.add_op(f"op{number}", duration=1)
    lines = list(tell(run(builder.build(), "critical_path", lanes(1), explain=True)))
    assert lines[1].endswith("op11 (+5 more)")


def told(story: Explanation) -> Result:
    assert isinstance(story.run, Result)
    return story.run


def test_launches_and_ends_that_are_seen_late_are_told() -> None:
    costs = {name: KernelCost(20) for name in "ab"}
    problem = kernels(costs, after={"b": "a"}, mode="serial", launch_ns=7, event_ns=3)
    assert list(tell(told(static(problem, "a", "b")))) == [
        "time 0 ns",
        "  became ready a",
        "  ready set    a",
        "  free         gpu/s0, gpu/s1, gpu/s2; 4 of 4 gpu/sms",
        "  dispatched   a to gpu/s0: as the schedule says",
        "  dispatched   b to gpu/s1: as the schedule says",
        "  waits        a: its launch by the host takes until 7 ns",
        "",
        "time 7 ns",
        "  launched     a",
        "  ready set    a",
        "  free         gpu/s2; 4 of 4 gpu/sms",
        "  started      a on gpu/s0, until 27 ns",
        "",
        "time 14 ns",
        "  launched     b",
        "  ready set    (empty)",
        "  free         gpu/s2; 4 of 4 gpu/sms",
        "",
        "time 27 ns",
        "  finished     a",
        "  became ready b",
        "  ready set    b",
        "  free         gpu/s0, gpu/s2; 4 of 4 gpu/sms",
        "  waits        b: the end of a predecessor in another stream is not seen yet",
        "",
        "time 30 ns",
        "  ready set    b",
        "  free         gpu/s0, gpu/s2; 4 of 4 gpu/sms",
        "  started      b on gpu/s1, until 50 ns",
        "",
        "time 50 ns",
        "  finished     b",
        "  ready set    (empty)",
        "  free         gpu/s0, gpu/s1, gpu/s2; 4 of 4 gpu/sms",
        "",
        "the end: 2 operators, makespan 50 ns",
    ]


def test_copies_are_told_when_they_begin_and_when_they_end() -> None:
    lines = list(tell(told(static(problem_of(two_copies(), pair(engines=1)), "a", "b", "c", "d"))))
    assert [line for line in lines if line.startswith(("time", "  copying", "  copied"))] == [
        "time 0",
        "time 4",
        "  copying      ta to d1",
        "time 27",
        "  copied       ta to d1",
        "  copying      tb to d1",
        "time 32",
        "time 60",
        "  copied       tb to d1",
        "time 65",
    ]
