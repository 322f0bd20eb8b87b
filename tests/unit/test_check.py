# ruff: noqa: E501 - messages are written whole, as users read them
from __future__ import annotations

from dataclasses import replace

import pytest

from simsched.analysis.check import check_trace, require_valid
from simsched.errors import TraceError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import lanes, procs
from simsched.problem import Problem
from simsched.trace import Trace, Transfer, Wait
from tests.builders import linked_pair, problem_of, rigid, small_gpu, with_memory
from tests.traces import SERIAL, STEPS, changed, memory_steps, relaunched, tensors, trace_of

A, C, B, D = 0, 1, 2, 3


def diamond(**builder: int) -> Graph:
    """a(2) before b(3); c(5) beside them; d(7) after both: 2 + 3 = 5 meet c's 5."""
    made = GraphBuilder("diamond", time_unit="tick")
    for name, duration in (("a", 2), ("c", 5), ("b", 3), ("d", 7)):
        made.add_op(name, duration=duration)
    for pair in ("ab", "bd", "cd"):
        made.add_edge(*pair)
    return made.build()


@pytest.fixture
def problem() -> Problem:
    return problem_of(diamond(), lanes(2))


@pytest.fixture
def trace(problem: Problem) -> Trace:
    rows = [
        ("a", "d0/s0", 0, 0, 0, 2),
        ("c", "d0/s1", 0, 0, 0, 5),
        ("b", "d0/s0", 2, 2, 2, 5),
        ("d", "d0/s0", 5, 5, 5, 12),
    ]
    return trace_of(problem, rows)


def test_a_valid_run_passes(problem, trace):
    assert check_trace(problem, trace) == []
    require_valid(problem, trace)


def test_a_static_schedule_passes_with_everything_launched_at_0(problem, trace):
    static = changed(trace, dispatch={B: 0, D: 0})
    assert check_trace(problem, static) == []


@pytest.mark.parametrize(
    ("mutation", "message"),
    [
        (lambda t: changed(t, start={D: 4}, end={D: 11}), "dependency: 'd' starts at 4, before its predecessor 'c' ends at 5"),
        (lambda t: changed(t, start={D: 4}, end={D: 11}), "stream: 'd' starts at 4 while 'b' runs until 5 on d0/s0"),
        (lambda t: changed(t, start={D: 4}, end={D: 11}), "dispatch: 'd' starts at 4, before it is dispatched at 5"),
        (lambda t: changed(t, end={D: 13}), "duration: 'd' ran from 5 to 13 on d0: 8 instead of 7"),
        (lambda t: changed(t, start={A: -1}), "duration: 'a' never started (start -1)"),
        (lambda t: changed(t, start={D: 6}, end={D: 13}), "wait: 'd' had everything at 5, yet nothing happened until 6 and no reason is recorded"),
        (lambda t: changed(t, ready={D: 2}), "ready: 'd' is recorded as ready at 2; its last predecessor ended at 5"),
        (lambda t: changed(t, ready={A: 1}), "ready: 'a' is recorded as ready at 1; its last predecessor ended at 0"),
        (lambda t: changed(t, stream={B: 1}), "stream: 'b' starts at 2 while 'c' runs until 5 on d0/s1"),
        (lambda t: changed(t, stream={B: 2}), "complete: operator 'b' ran on stream 2; streams go from 0 to 1"),
        (lambda t: changed(t, stream={B: -1}), "complete: operator 'b' ran on stream -1; streams go from 0 to 1"),
        (lambda t: changed(t, dispatch={B: 1}), "dispatch: 'b' is dispatched at 1, when nothing ended or arrived"),
        (lambda t: relaunched(t, (A, B, C, D)), "order: 'c' was dispatched at 0, listed after 'b' at 2"),
        (lambda t: relaunched(changed(t, dispatch={B: 0, D: 0}), (A, C, D, B)), "stream: 'b' starts at 2, before 'd' at 5, which was launched earlier on d0/s0"),
        (lambda t: relaunched(t, (A, C, B)), "complete: operator 'd' is missing from the launch order"),
        (lambda t: relaunched(t, (A, C, B, 9)), "complete: the launch order names operator 9; ids go from 0 to 3"),
        (lambda t: relaunched(t, (A, C, B, B)), "complete: operator 'b' is in the launch order twice"),
        (lambda t: replace(t, end=t.end[:3]), "complete: column 'end' has 3 rows for 4 operators"),
        (lambda t: replace(t, waits=(Wait(D, "resource", 4, 5),)), "wait: 'd' is recorded as waiting (resource) from 4 to 5; it could wait only between 5 and its start at 5"),
        (lambda t: replace(t, waits=(Wait(9, "resource", 4, 5),)), "wait: a wait names operator 9, out of range"),
        (lambda t: replace(t, transfers=(Transfer(A, B, 0, 0, 2, 2, 0),)), "transfer: a transfer 'a' -> 'b' is recorded that does not happen, or twice"),
        (lambda t: replace(t, transfers=(Transfer(A, 9, 0, 0, 2, 2, 0),)), "transfer: a transfer names operators 0 and 9, out of range"),
        (lambda t: replace(t, memory=memory_steps((0, 0, 11))), "memory: 11 B are recorded as live on d0 from 0 on; it is 0 B ('a', 'c' starts)"),
        (lambda t: replace(t, memory=memory_steps((0, 1, 0))), "memory: a step at 0 names device 1, which does not exist"),
        (lambda t: replace(t, memory=memory_steps((2, 0, 0), (1, 0, 0))), "memory: a step at 1 is recorded after one at 2"),
    ],
)  # fmt: skip
def test_a_changed_run_is_caught_with_its_culprit(problem, trace, mutation, message):
    found = check_trace(problem, mutation(trace))
    assert message in found
    with pytest.raises(TraceError) as caught:
        require_valid(problem, mutation(trace))
    assert message in str(caught.value)


def test_times_of_graphs_in_ns_are_written_in_full(trace):
    problem = problem_of(replace(diamond(), time_unit="ns"), lanes(2))
    found = check_trace(problem, changed(trace, end={D: 1_000_013}))
    assert found == ["duration: 'd' ran from 5 ns to 1000013 ns on d0: 1000008 instead of 7"]


def test_many_violations_of_a_rule_are_counted():
    builder = GraphBuilder("many", time_unit="tick")
    for number in range(30):
        builder.add_op(f"v{number}", duration=2)
    problem = problem_of(builder.build(), lanes(30))
    rows = [(f"v{number}", f"d0/s{number}", 0, 0, 0, 3) for number in range(30)]
    found = check_trace(problem, trace_of(problem, rows))
    assert len(found) == 21
    assert found[0] == "duration: 'v0' ran from 0 to 3 on d0: 3 instead of 2"
    assert found[-1] == "duration: and 10 more"


def test_actual_durations_replace_the_estimates(problem, trace):
    actual = [[2, 5, 3, 11]]
    assert check_trace(problem, changed(trace, end={D: 16}), actual=actual) == []
    assert check_trace(problem, trace, actual=actual) == ["duration: 'd' ran from 5 to 12 on d0: 7 instead of 11"]


# --- devices --------------------------------------------------------------------------------------------------


def pair(place: str | None = None) -> Problem:
    """u(3) sends 5 bytes to v(2), which may have to run on d1; the link takes 7 + 5 ns."""
    builder = GraphBuilder("pair", time_unit="tick")
    builder.add_op("u", duration=3, device="d0")
    builder.add_op("v", duration=2, device=place)
    builder.add_edge("u", "v", bytes=5)
    return problem_of(builder.build(), linked_pair(latency=7, bandwidth=1e9, streams=1))


def remote_run(problem: Problem) -> Trace:
    memory = memory_steps((0, 0, 5), (15, 1, 5), (17, 1, 0), (17, 0, 0))
    rows = [("u", "d0/s0", 0, 0, 0, 3), ("v", "d1/s0", 0, 3, 15, 17)]
    return trace_of(problem, rows, transfers=(Transfer(0, 1, 0, 1, 3, 15, 5),), memory=memory)


def test_a_transfer_is_waited_for_and_recorded():
    problem = pair("d1")
    assert check_trace(problem, remote_run(problem)) == []


def test_a_dispatch_at_an_arrival_passes():
    problem = pair("d1")
    assert check_trace(problem, changed(remote_run(problem), dispatch={1: 15})) == []


@pytest.mark.parametrize(
    ("mutation", "message"),
    [
        (lambda t: changed(t, start={1: 14}, end={1: 16}), "dependency: 'v' starts at 14, before its predecessor 'u' (end 3) has arrived on d1 at 15"),
        (lambda t: changed(t, start={1: 16}, end={1: 18}), "wait: 'v' had everything at 15, yet nothing happened until 16 and no reason is recorded"),
        (lambda t: changed(t, ready={1: 15}), "ready: 'v' is recorded as ready at 15; its last predecessor ended at 3"),
        (lambda t: replace(t, transfers=()), "transfer: 'u' -> 'v' is not recorded: 5 B from d0 to d1, 3 to 15"),
        (lambda t: replace(t, transfers=(Transfer(0, 1, 0, 1, 3, 14, 5),)), "transfer: 'u' -> 'v' is recorded as 5 B from d0 to d1, 3 to 14, should be 5 B from d0 to d1, 3 to 15"),
        (lambda t: replace(t, transfers=(Transfer(0, 1, 0, 4, 3, 15, 5),)), "transfer: 'u' -> 'v' is recorded as from device 0 to device 4, should be 5 B from d0 to d1, 3 to 15"),
        (lambda t: replace(t, transfers=t.transfers * 2), "transfer: a transfer 'u' -> 'v' is recorded that does not happen, or twice"),
        (lambda t: changed(t, stream={1: 0}), "placement: 'v' ran on d0; it may run only on d1"),
        (lambda t: replace(t, memory=memory_steps((0, 0, 5), (17, 0, 0))), "memory: 0 B are recorded as live on d1 from 15 on; it is 5 B ('v' starts)"),
    ],
)  # fmt: skip
def test_a_changed_transfer_is_caught(mutation, message):
    problem = pair("d1")
    assert message in check_trace(problem, mutation(remote_run(problem)))


def test_a_duration_per_device_is_that_of_the_device_it_ran_on():
    builder = GraphBuilder("two", time_unit="tick")
    builder.add_op("v", duration={"p0": 3, "p1": 5})
    problem = problem_of(builder.build(), procs(2))
    assert check_trace(problem, trace_of(problem, [("v", "p1/s0", 0, 0, 0, 5)])) == []
    found = check_trace(problem, trace_of(problem, [("v", "p1/s0", 0, 0, 0, 3)]))
    assert found == ["duration: 'v' ran from 0 to 3 on p1: 3 instead of 5"]


# --- resources and queues -------------------------------------------------------------------------------------


def demanding(*ops: tuple[str, int, int], resource: str = "cores") -> Graph:
    builder = GraphBuilder("demanding", time_unit="tick")
    for name, duration, units in ops:
        builder.add_op(name, duration=duration, demands={resource: units})
    return builder.build()


def test_a_resource_within_its_capacity_passes_and_waiting_for_it_is_a_reason():
    problem = problem_of(demanding(("a", 2, 3), ("b", 3, 2), ("c", 5, 1)), rigid(3, cores=4))
    rows = [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 0, 0, 2, 5), ("c", "d0/s2", 0, 0, 0, 5)]
    run = trace_of(problem, rows, waits=(Wait(1, "resource", 0, 2),))
    assert check_trace(problem, run) == []
    assert "wait: 'b' had everything at 0, yet nothing happened until 2 and no reason is recorded" in check_trace(
        problem, replace(run, waits=())
    )


def test_an_overfilled_resource_is_caught_with_those_who_hold_it():
    problem = problem_of(demanding(("a", 2, 3), ("b", 3, 2), ("c", 5, 1)), rigid(3, cores=4))
    rows = [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 0, 0, 0, 3), ("c", "d0/s2", 0, 0, 0, 5)]
    found = check_trace(problem, trace_of(problem, rows))
    assert found == ["resource: 6 cores of d0 are in use at 0, it has 4: 'a', 'b', 'c'"]


def test_an_operator_that_takes_no_time_needs_its_units_too():
    problem = problem_of(demanding(("a", 4, 3), ("z", 0, 2)), rigid(2, cores=4))
    rows = [("a", "d0/s0", 0, 0, 0, 4), ("z", "d0/s1", 0, 0, 0, 0)]
    assert check_trace(problem, trace_of(problem, rows)) == []  # before a, within the instant
    builder = GraphBuilder("late", time_unit="tick")
    builder.add_op("a", duration=4, demands={"cores": 3})
    builder.add_op("b", duration=1)
    builder.add_op("z", duration=0, demands={"cores": 2}, after=["b"])
    problem = problem_of(builder.build(), rigid(3, cores=4))
    rows = [("a", "d0/s0", 0, 0, 0, 4), ("b", "d0/s1", 0, 0, 0, 1), ("z", "d0/s1", 1, 1, 1, 1)]
    found = check_trace(problem, trace_of(problem, rows))
    assert found == ["resource: 'z' needs 2 cores of d0 at 1, it has 4 and 3 are in use by 'a'"]


def test_waiting_for_a_resource_that_is_free_is_caught():
    problem = problem_of(demanding(("a", 2, 3), ("b", 3, 1)), rigid(2, cores=4))
    rows = [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 0, 0, 2, 5)]
    found = check_trace(problem, trace_of(problem, rows, waits=(Wait(1, "resource", 0, 2),)))
    assert found == ["wait: 'b' is recorded as waiting for a resource of d0, but at 0 all that it needs is free"]


def test_resuming_too_late_is_caught():
    problem = problem_of(demanding(("a", 2, 4), ("b", 3, 1), ("c", 7, 0)), rigid(3, cores=4))
    rows = [("a", "d0/s0", 0, 0, 0, 2), ("c", "d0/s2", 0, 0, 0, 7), ("b", "d0/s1", 0, 0, 7, 10)]
    found = check_trace(problem, trace_of(problem, rows, waits=(Wait(1, "resource", 0, 7),)))
    assert found == [
        "wait: 'b' is recorded as waiting for a resource of d0, but at just before 7 all that it needs is free"
    ]


def test_waits_that_overlap_and_unknown_reasons_are_caught():
    problem = problem_of(demanding(("a", 4, 4), ("b", 3, 1)), rigid(2, cores=4))
    rows = [("a", "d0/s0", 0, 0, 0, 4), ("b", "d0/s1", 0, 0, 4, 7)]
    waits = (Wait(1, "resource", 0, 3), Wait(1, "resource", 2, 4))
    found = check_trace(problem, trace_of(problem, rows, waits=waits))
    assert found == [
        "wait: 'b' is recorded as waiting (resource) from 2 to 4; it could wait only between 3 and its start at 4"
    ]
    gap = (Wait(1, "resource", 0, 1), Wait(1, "resource", 3, 4))
    assert check_trace(problem, trace_of(problem, rows, waits=gap)) == [
        "wait: 'b' had everything at 1, yet nothing happened until 3 and no reason is recorded"
    ]
    odd = (Wait(1, "weather", 0, 4),)
    assert check_trace(problem, trace_of(problem, rows, waits=odd)) == [
        "wait: 'b' waits for 'weather'; known are resource, memory, queue"
    ]
    queued = (Wait(1, "queue", 0, 4),)
    assert check_trace(problem, trace_of(problem, rows, waits=queued)) == [
        "wait: 'b' is recorded as waiting in the queue of d0, a device of model 'lanes' has none"
    ]


def test_a_resource_that_the_device_lacks_is_caught():
    builder = GraphBuilder("elsewhere", time_unit="tick")
    builder.add_op("v", duration=3, demands={"cores": 2})
    hardware = linked_pair()
    rich = replace(hardware.devices[0], resources={"cores": 2})
    problem = problem_of(builder.build(), replace(hardware, devices=(rich, hardware.devices[1])))
    found = check_trace(problem, trace_of(problem, [("v", "d1/s0", 0, 0, 0, 3)]))
    assert found == [
        "placement: 'v' ran on d1; it may run only on d0",
        "resource: 2 cores of d1 are in use at 0, it has 0: 'v'",
    ]


def test_too_many_resident_kernels_are_caught():
    problem = problem_of(demanding(("a", 2, 1), ("b", 3, 1), ("c", 5, 1), resource="sms"), small_gpu(4, 3, resident=2))
    rows = [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 0, 0, 0, 3), ("c", "d0/s2", 0, 0, 0, 5)]
    found = check_trace(problem, trace_of(problem, rows))
    assert found == ["resource: 3 resident kernels of d0 are in use at 0, it has 2: 'a', 'b', 'c'"]
    rows[2] = ("c", "d0/s2", 0, 0, 2, 7)
    assert check_trace(problem, trace_of(problem, rows, waits=(Wait(2, "resource", 0, 2),))) == []


def test_a_small_kernel_must_not_overtake_a_large_one_in_the_queue():
    graph = demanding(("first", 4, 3), ("large", 2, 4), ("small", 3, 1), resource="sms")
    problem = problem_of(graph, small_gpu(4, 3))
    rows = [
        ("first", "d0/s0", 0, 0, 0, 4),
        ("large", "d0/s1", 0, 0, 4, 6),
        ("small", "d0/s2", 0, 0, 6, 9),
    ]
    waits = (Wait(1, "resource", 0, 4), Wait(2, "queue", 0, 4), Wait(2, "resource", 4, 6))
    assert check_trace(problem, trace_of(problem, rows, waits=waits)) == []
    rows[2] = ("small", "d0/s2", 0, 0, 0, 3)
    found = check_trace(problem, trace_of(problem, rows, waits=waits[:1]))
    assert found == ["queue: 'small' starts at 0, before 'large', which entered the queue of d0 earlier, at 0"]
    as_lanes = replace(problem.devices[0], model="lanes")
    passing_over = problem_of(graph, replace(problem.hardware, devices=(as_lanes,)))
    assert check_trace(passing_over, trace_of(passing_over, rows, waits=waits[:1])) == []


def test_operators_of_one_instant_enter_the_queue_in_launch_order():
    problem = problem_of(demanding(("a", 2, 3), ("b", 3, 3), resource="sms"), small_gpu(4, 2))
    rows = [("b", "d0/s1", 0, 0, 0, 3), ("a", "d0/s0", 0, 0, 3, 5)]
    assert check_trace(problem, trace_of(problem, rows, waits=(Wait(0, "resource", 0, 3),))) == []
    rows = [("b", "d0/s1", 0, 0, 2, 5), ("a", "d0/s0", 0, 0, 0, 2)]
    found = check_trace(problem, trace_of(problem, rows, waits=(Wait(1, "resource", 0, 2),)))
    assert found == ["queue: 'a' starts at 0, before 'b', which entered the queue of d0 earlier, at 0"]


# --- memory ---------------------------------------------------------------------------------------------------


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
        problem = problem_of(builder.build(), with_memory(linked_pair(latency=0, bandwidth=None), capacity))
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
    """x makes 5 B on d0, read on d1 by y [10, 13) and z [11, 15): one copy [10, 15); w (100 B) reaches d1 with z."""
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
    moves = tuple(Transfer(0, op, 0, 1, 3, 10, 5) for op in (2, 3))
    steps = memory_steps((0, 0, 5), (10, 1, 5), (11, 1, 105), (15, 1, 100), (15, 0, 0))
    assert check_trace(problem, trace_of(problem, rows, transfers=moves, memory=steps)) == []
    twice = memory_steps((0, 0, 5), (10, 1, 5), (11, 1, 110), (13, 1, 105), (15, 1, 100), (15, 0, 0))
    assert check_trace(problem, trace_of(problem, rows, transfers=moves, memory=twice)) == [
        "memory: 110 B are recorded as live on d1 from 11 on; it is 105 B ('d' ends, 'z' starts)"
    ]
