from __future__ import annotations

from simsched.analysis.critical import realised_critical_path, realised_path
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.problem import Problem
from simsched.trace import Trace, Transfer, Wait
from tests.builders import linked_pair, problem_of, rigid, zoo_graphs
from tests.traces import trace_of


def told(problem: Problem, trace: Trace) -> list[tuple[str, str, int, int, str]]:
    names = problem.graph.names
    return [(part.kind, names[part.op], part.start, part.end, part.reason) for part in realised_path(problem, trace)]


def independent(*durations: tuple[str, int], demands: int = 0) -> Problem:
    builder = GraphBuilder("independent", time_unit="tick")
    for name, duration in durations:
        builder.add_op(name, duration=duration, demands={"cores": demands} if demands else None)
    return problem_of(builder.build(), rigid(3, cores=4))


def test_dependencies_come_before_streams():
    problem = problem_of(zoo_graphs()["diamond"], lanes(2))
    rows = [
        ("v0", "d0/s0", 0, 0, 0, 2),
        ("v1", "d0/s1", 2, 2, 2, 5),
        ("v2", "d0/s0", 2, 2, 2, 7),
        ("v3", "d0/s0", 7, 7, 7, 14),
    ]
    trace = trace_of(problem, rows)
    assert told(problem, trace) == [
        ("operator", "v0", 0, 2, "start"),
        ("operator", "v2", 2, 7, "dependency"),
        ("operator", "v3", 7, 14, "dependency"),
    ]
    assert realised_critical_path(problem, trace) == (0, 2, 3)


def test_a_stream_is_a_reason():
    problem = independent(("a", 3), ("b", 5))
    trace = trace_of(problem, [("a", "d0/s0", 0, 0, 0, 3), ("b", "d0/s0", 0, 0, 3, 8)])
    assert told(problem, trace) == [("operator", "a", 0, 3, "start"), ("operator", "b", 3, 8, "stream")]


def test_a_resource_leads_to_who_gave_back_most_of_it():
    builder = GraphBuilder("units", time_unit="tick")
    for name, duration, cores in (("a", 3, 1), ("b", 3, 3), ("c", 5, 4)):
        builder.add_op(name, duration=duration, demands={"cores": cores})
    problem = problem_of(builder.build(), rigid(3, cores=4))
    rows = [("a", "d0/s0", 0, 0, 0, 3), ("b", "d0/s1", 0, 0, 0, 3), ("c", "d0/s2", 0, 0, 3, 8)]
    trace = trace_of(problem, rows, waits=(Wait(2, "resource", 0, 3),))
    assert told(problem, trace) == [("operator", "b", 0, 3, "start"), ("operator", "c", 3, 8, "resource")]


def test_memory_is_a_reason():
    problem = independent(("a", 3), ("b", 5))
    rows = [("a", "d0/s0", 0, 0, 0, 3), ("b", "d0/s1", 0, 0, 3, 8)]
    trace = trace_of(problem, rows, waits=(Wait(1, "memory", 0, 3),))
    assert told(problem, trace)[-1] == ("operator", "b", 3, 8, "memory")


def test_a_policy_that_kept_an_operator_back_is_a_reason():
    problem = independent(("a", 3), ("b", 5))
    trace = trace_of(problem, [("a", "d0/s0", 0, 0, 0, 3), ("b", "d0/s1", 3, 0, 3, 8)])
    assert told(problem, trace) == [("operator", "a", 0, 3, "start"), ("operator", "b", 3, 8, "policy")]


def test_a_transfer_and_idle_time_are_segments():
    builder = GraphBuilder("pair", time_unit="tick")
    builder.add_op("u", duration=3, device="d0")
    builder.add_op("v", duration=2, device="d1")
    builder.add_op("late", duration=7)
    builder.add_edge("u", "v", bytes=5)
    problem = problem_of(builder.build(), linked_pair(latency=7, bandwidth=1e9, streams=1))
    rows = [("u", "d0/s0", 0, 0, 0, 3), ("v", "d1/s0", 0, 3, 15, 17), ("late", "d0/s0", 15, 0, 15, 22)]
    trace = trace_of(problem, rows, transfers=(Transfer(0, 1, 0, 1, 3, 15, 5),))
    # Nothing ended at 15 but a transfer: the policy was asked, and started what could have run before.
    assert told(problem, trace) == [
        ("operator", "u", 0, 3, "start"),
        ("idle", "late", 3, 15, "idle"),
        ("operator", "late", 15, 22, "idle"),
    ]
    builder = GraphBuilder("pair", time_unit="tick")
    builder.add_op("u", duration=3, device="d0")
    builder.add_op("v", duration=2, device="d1")
    builder.add_edge("u", "v", bytes=5)
    problem = problem_of(builder.build(), linked_pair(latency=7, bandwidth=1e9, streams=1))
    assert told(problem, trace_of(problem, rows[:2])) == [
        ("operator", "u", 0, 3, "start"),
        ("transfer", "v", 3, 15, "transfer"),
        ("operator", "v", 15, 17, "transfer"),
    ]


def test_operators_that_take_no_time_are_on_the_path():
    problem = problem_of(zoo_graphs()["some_zero"], lanes(2))  # 2 -> 0 -> 3 and 2 -> 0 -> 5
    rows = [
        ("v0", "d0/s0", 0, 0, 0, 2),
        ("v1", "d0/s0", 2, 2, 2, 2),
        ("v3", "d0/s1", 2, 2, 2, 2),
        ("v2", "d0/s0", 2, 2, 2, 5),
        ("v4", "d0/s1", 2, 2, 2, 7),
    ]
    assert told(problem, trace_of(problem, rows)) == [
        ("operator", "v0", 0, 2, "start"),
        ("operator", "v3", 2, 2, "dependency"),
        ("operator", "v4", 2, 7, "dependency"),
    ]


def test_even_a_run_that_breaks_the_rules_is_filled():
    problem = independent(("a", 3))
    late = trace_of(problem, [("a", "d0/s0", 2, 0, 2, 5)])
    assert told(problem, late) == [("idle", "a", 0, 2, "idle"), ("operator", "a", 2, 5, "idle")]


def test_an_empty_run_has_no_path():
    problem = problem_of(zoo_graphs()["empty"], lanes(1))
    assert realised_path(problem, trace_of(problem, [])) == ()
