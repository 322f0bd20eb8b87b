# ruff: noqa: E501 - messages are written whole, as users read them
from __future__ import annotations

from dataclasses import replace

import pytest

from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes, procs
from simsched.schedulers.critical_path import CriticalPath
from simsched.trace import Transfer, Wait
from tests.builders import linked_pair, problem_of, with_memory
from tests.traces import SERIAL, STEPS, memory_steps, tensors, trace_of


def test_live_bytes_follow_the_lifetimes():
    problem = problem_of(tensors(), lanes(1))
    assert check_trace(problem, trace_of(problem, SERIAL, memory=memory_steps(*STEPS))) == []


@pytest.mark.parametrize(
    ("number", "step", "message"),
    [
        (1, (0, 0, 102), "memory: 102 B are recorded as live on d0 from 0 on; it is 103 B ('a' starts)"),
        (2, (2, 0, 121), "memory: 121 B are recorded as live on d0 from 2 on; it is 144 B ('a' ends, 'b' starts)"),
        (4, (5, 0, 128), "memory: 128 B are recorded as live on d0 from 5 on; it is 131 B ('b' ends, 'c' starts)"),
        (5, (10, 0, 100), "memory: 100 B are recorded as live on d0 from 10 on; it is 117 B ('c' ends)"),
        (3, (5, 0, 161), "memory: steps between 131 B and 161 B are recorded on d0 within the instant 5; they lie between 114 B and 144 B, the highest at 131 B or more ('b' ends, 'c' starts)"),
        (3, (5, 0, 90), "memory: steps between 90 B and 131 B are recorded on d0 within the instant 5; they lie between 114 B and 144 B, the highest at 131 B or more ('b' ends, 'c' starts)"),
    ],
)  # fmt: skip
def test_a_false_step_is_caught(number, step, message):
    problem = problem_of(tensors(), lanes(1))
    steps = list(STEPS)
    steps[number] = step
    assert message in check_trace(problem, trace_of(problem, SERIAL, memory=memory_steps(*steps)))


def test_a_run_without_memory_steps_is_caught():
    problem = problem_of(tensors(), lanes(1))
    assert check_trace(problem, trace_of(problem, SERIAL)) == [
        "memory: 0 B are recorded as live on d0 from 0 on; it is 103 B ('a' starts)"
    ]


def test_the_capacity_is_a_limit_in_block_and_strict_runs():
    problem = problem_of(tensors(), with_memory(lanes(1), 143))
    run = trace_of(problem, SERIAL, memory=memory_steps(*STEPS))
    assert check_trace(problem, run) == []
    message = "memory: 144 B are live on d0 at 2, its capacity is 143 B ('a' ends, 'b' starts)"
    assert check_trace(problem, run, memory="block") == [message]
    assert check_trace(problem, run, memory="strict") == [message]
    enough = problem_of(tensors(), with_memory(lanes(1), 144))
    assert check_trace(enough, run, memory="strict") == []


def test_an_operator_of_no_time_elsewhere_frees_late():
    # At 2 a ends and b takes 5 B beside the 10 B of a, which z, on the other device, reads; z ends at 2 and frees them.
    builder = GraphBuilder("remote", time_unit="tick")
    for name, size in (("a", 10), ("b", 5)):
        builder.add_tensor(f"t{name}", bytes=size)
    builder.add_op("a", duration=2, outputs=["ta"], device="p0")
    builder.add_op("b", duration=3, outputs=["tb"], device="p0")
    builder.add_op("z", duration=0, inputs=["ta"], device="p1")
    builder.add_edge("a", "b")
    problem = problem_of(builder.build(), procs(2))
    run = simulate(problem, CriticalPath())
    assert run.memory.curve(0) == [(0, 10), (2, 5), (5, 0)]
    assert run.memory.peak(0) == 15
    assert check_trace(problem, run) == []


def test_of_two_readers_that_end_together_the_one_of_no_time_frees():
    # r and z read the 10 B of a; at 2 + 4 both end, z a round later, when b has taken 5 B on the device of a.
    builder = GraphBuilder("together", time_unit="tick")
    for name, size in (("a", 10), ("b", 5)):
        builder.add_tensor(f"t{name}", bytes=size)
    builder.add_op("a", duration=2, outputs=["ta"], device="p0")
    builder.add_op("r", duration=4, inputs=["ta"], device="p1")
    builder.add_op("z", duration=0, inputs=["ta"], device="p1")
    builder.add_op("b", duration=3, outputs=["tb"], device="p0")
    builder.add_edge("r", "z")
    builder.add_edge("r", "b")
    problem = problem_of(builder.build(), procs(2))
    run = simulate(problem, CriticalPath())
    assert (run.end[1], run.end[2]) == (6, 6)
    assert run.memory.curve(0) == [(0, 10), (6, 5), (9, 0)]
    assert run.memory.peak(0) == 15
    assert check_trace(problem, run) == []


def test_waiting_for_memory_is_a_reason_only_where_it_is_short():
    builder = GraphBuilder("two", time_unit="tick")
    for name, duration, size in (("a", 3, 7), ("b", 2, 5)):
        builder.add_tensor(f"t{name}", bytes=size)
        builder.add_op(name, duration=duration, outputs=[f"t{name}"])
    problem = problem_of(builder.build(), with_memory(lanes(2), 11))
    rows = [("a", "d0/s0", 0, 0, 0, 3), ("b", "d0/s1", 0, 0, 3, 5)]
    steps = memory_steps((0, 0, 0), (0, 0, 7), (3, 0, 0), (3, 0, 5), (5, 0, 0))
    run = trace_of(problem, rows, memory=steps, waits=(Wait(1, "memory", 0, 3),))
    assert check_trace(problem, run, memory="block") == []
    text = "wait: 'b' is recorded as waiting for memory of d0"
    assert check_trace(problem, run) == [f"{text}, which was no limit to it in this run"]
    roomy = problem_of(problem.graph, with_memory(lanes(2), 12))
    assert check_trace(roomy, run, memory="block") == [f"{text} from 0 to 3, but it fits there"]


def test_without_a_capacity_nothing_is_a_limit():
    problem = problem_of(tensors(), lanes(1))
    assert check_trace(problem, trace_of(problem, SERIAL, memory=memory_steps(*STEPS)), memory="block") == []


def test_weights_count_from_the_first_instant():
    problem = problem_of(tensors(), lanes(1))
    late = memory_steps((2, 0, 144), *STEPS[3:])
    message = "memory: 0 B are recorded as live on d0 from 0 on; it is 103 B ('a' starts)"
    assert check_trace(problem, trace_of(problem, SERIAL, memory=late)) == [message]


def test_waiting_for_memory_on_several_devices_counts_what_comes_from_elsewhere():
    """v on d1 needs 3 of its own and 5 from d0, while b holds 7 of 14 there; what is there already takes nothing."""
    builder = GraphBuilder("remote", time_unit="tick")
    for name, size in (("tu", 5), ("tb", 7), ("tv", 3)):
        builder.add_tensor(name, bytes=size)
    builder.add_op("u", duration=2, outputs=["tu"], device="d0")
    builder.add_op("b", duration=6, outputs=["tb"], device="d1")
    builder.add_tensor("tl", bytes=0)
    builder.add_op("l", duration=1, outputs=["tl"], device="d1")
    builder.add_op("v", duration=4, inputs=["tu", "tl"], outputs=["tv"], device="d1")
    rows = [("u", "d0/s0", 0, 0, 0, 2), ("b", "d1/s0", 0, 0, 0, 6)]
    rows += [("l", "d1/s1", 0, 0, 0, 1), ("v", "d1/s1", 0, 2, 6, 10)]
    steps = memory_steps((0, 0, 5), (0, 1, 7), (6, 1, 0), (6, 1, 8), (10, 1, 0), (10, 0, 0))
    for capacity, messages in (
        (14, []),
        (15, ["wait: 'v' is recorded as waiting for memory of d1 from 2 to 6, but it fits there"]),
    ):
        apart = replace(linked_pair(), links=())  # what crosses takes no time, and counts when its reader starts
        problem = problem_of(builder.build(), with_memory(apart, capacity))
        run = trace_of(problem, rows, memory=steps, waits=(Wait(3, "memory", 2, 6),))
        assert check_trace(problem, run, memory="block") == messages


def test_an_operator_that_takes_no_time_must_show_in_the_steps():
    builder = GraphBuilder("brief", time_unit="tick")
    builder.add_op("z", duration=0, workspace=13)
    problem = problem_of(builder.build(), lanes(1))
    rows = [("z", "d0/s0", 0, 0, 0, 0)]
    shown = memory_steps((0, 0, 0), (0, 0, 13), (0, 0, 0))
    assert check_trace(problem, trace_of(problem, rows, memory=shown)) == []
    found = check_trace(problem, trace_of(problem, rows, memory=memory_steps((0, 0, 0))))
    assert found == [
        "memory: steps between 0 B and 0 B are recorded on d0 within the instant 0; "
        "they lie between 0 B and 13 B, the highest at 13 B or more ('z' ends, 'z' starts)"
    ]


def test_copies_and_weights_on_several_devices():
    """x makes 5 B on d0, copied to d1 in [3, 10) for y [10, 13) and z [11, 15): there in [3, 15); w (100 B) reaches d1 with z."""
    builder = GraphBuilder("copies", time_unit="tick")
    builder.add_tensor("w", bytes=100, kind="parameter")
    builder.add_tensor("t", bytes=5)
    builder.add_op("x", duration=3, outputs=["t"], device="d0")
    builder.add_op("d", duration=11, device="d1")
    builder.add_op("y", duration=3, inputs=["t"], device="d1")
    builder.add_op("z", duration=4, inputs=["t", "w"], device="d1", after=["d"])
    problem = problem_of(builder.build(), linked_pair(latency=2, bandwidth=1e9))
    rows = [
        ("x", "d0/s0", 0, 0, 0, 3),
        ("d", "d1/s0", 0, 0, 0, 11),
        ("y", "d1/s1", 0, 3, 10, 13),
        ("z", "d1/s0", 0, 11, 11, 15),
    ]
    moves = (Transfer(0, 2, 0, 1, 3, 10, 5, problem.graph.tensor_names.index("t"), 3),)
    steps = memory_steps((0, 0, 5), (3, 1, 5), (11, 1, 105), (15, 1, 100), (15, 0, 0))
    assert check_trace(problem, trace_of(problem, rows, transfers=moves, memory=steps)) == []
    twice = memory_steps((0, 0, 5), (3, 1, 5), (11, 1, 110), (13, 1, 105), (15, 1, 100), (15, 0, 0))
    assert check_trace(problem, trace_of(problem, rows, transfers=moves, memory=twice)) == [
        "memory: 110 B are recorded as live on d1 from 11 on; it is 105 B ('d' ends, 'z' starts)"
    ]
