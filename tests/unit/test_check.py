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
from tests.builders import linked_pair, problem_of
from tests.traces import changed, memory_steps, relaunched, trace_of

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


COPY = Transfer(0, 1, 0, 1, 3, 15, 5, 0, 3)


def remote_run(problem: Problem) -> Trace:
    memory = memory_steps((0, 0, 5), (3, 1, 5), (17, 1, 0), (17, 0, 0))
    rows = [("u", "d0/s0", 0, 0, 0, 3), ("v", "d1/s0", 0, 3, 15, 17)]
    return trace_of(problem, rows, transfers=(COPY,), memory=memory)


def moved(trace: Trace, **fields: int) -> Trace:
    return replace(trace, transfers=(changed_copy(**fields),))


def changed_copy(**fields: int) -> Transfer:
    names = ("source", "target", "from_device", "to_device", "start", "end", "bytes", "tensor", "asked")
    return Transfer(**({name: getattr(COPY, name) for name in names} | fields))


def test_a_transfer_is_waited_for_and_recorded():
    problem = pair("d1")
    assert check_trace(problem, remote_run(problem)) == []


def test_a_dispatch_at_an_arrival_passes():
    """v could read from 15 on, though nothing ends then; the delay runs whether it has been dispatched or not."""
    builder = GraphBuilder("apart", time_unit="tick")
    builder.add_op("u", duration=3, device="p0")
    builder.add_op("v", duration=2, device="p1")
    builder.add_edge("u", "v", delay=12)
    problem = problem_of(builder.build(), procs(2))
    rows = [("u", "p0/s0", 0, 0, 0, 3), ("v", "p1/s0", 15, 3, 15, 17)]
    run = trace_of(problem, rows, transfers=(Transfer(0, 1, 0, 1, 3, 15, 0),))
    assert check_trace(problem, run) == []
    assert check_trace(problem, replace(run, transfers=())) == [
        "transfer: 'u' -> 'v' is not recorded: 0 B from p0 to p1, 3 to 15"
    ]
    late = changed(run, dispatch={1: 16}, start={1: 16}, end={1: 18})
    assert check_trace(problem, late) == ["dispatch: 'v' is dispatched at 16, when nothing ended or arrived"]


@pytest.mark.parametrize(
    ("mutation", "message"),
    [
        (lambda t: changed(t, start={1: 14}, end={1: 16}), "dependency: 'v' starts at 14, before its predecessor 'u' (end 3) has arrived on d1 at 15"),
        (lambda t: changed(t, start={1: 16}, end={1: 18}), "wait: 'v' had everything at 15, yet nothing happened until 16 and no reason is recorded"),
        (lambda t: changed(t, ready={1: 15}), "ready: 'v' is recorded as ready at 15; its last predecessor ended at 3"),
        (lambda t: replace(t, transfers=()), "copy: the copy of 'u->v' to d1 is not recorded"),
        (lambda t: moved(t, end=14), "copy: the copy of 'u->v' to d1 runs from 3 to 14; 1.000 of 5 B are not through then"),
        (lambda t: moved(t, end=17), "copy: the copy of 'u->v' to d1 runs from 3 to 17; all bytes are through 2.000 ns before"),
        (lambda t: moved(t, end=8), "copy: the copy of 'u->v' to d1 runs from 3 to 8; its latency is over at 10, then 5 B are to flow"),
        (lambda t: moved(t, start=2), "copy: the copy of 'u->v' to d1 starts at 2, before it is asked for at 3"),
        (lambda t: moved(t, start=4, end=16), "copy: the copy of 'u->v' to d1 waits from 3 to 4, though at 3 nothing holds it back"),
        (lambda t: moved(t, to_device=4), "copy: a copy of tensor 0 from device 0 to device 4 is recorded, which there cannot be"),
        (lambda t: moved(t, to_device=0), "copy: the copy of 'u->v' to d0 is recorded, which nobody needs"),
        (lambda t: moved(t, tensor=1), "copy: a copy of tensor 1 from device 0 to device 1 is recorded, which there cannot be"),
        (lambda t: moved(t, bytes=4), "copy: the copy of 'u->v' to d1 is recorded with bytes 4; it is 5"),
        (lambda t: moved(t, asked=2), "copy: the copy of 'u->v' to d1 is recorded with asked 2; it is 3"),
        (lambda t: moved(t, source=1), "copy: the copy of 'u->v' to d1 is recorded with source 1; it is 0"),
        (lambda t: moved(t, target=7), "copy: the copy of 'u->v' to d1 is recorded with target 7; it is 1"),
        (lambda t: moved(t, tensor=-1), "transfer: a transfer 'u' -> 'v' is recorded that does not happen, or twice"),
        (lambda t: replace(t, transfers=t.transfers * 2), "copy: the copy of 'u->v' to d1 is recorded twice"),
        (lambda t: changed(t, stream={1: 0}), "placement: 'v' ran on d0; it may run only on d1"),
        (lambda t: replace(t, memory=memory_steps((0, 0, 5), (17, 0, 0))), "memory: 0 B are recorded as live on d1 from 3 on; it is 5 B (a copy of 'u->v' starts)"),
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
