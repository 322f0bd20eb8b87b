from __future__ import annotations

from dataclasses import replace

from simsched.analysis.check import check_trace
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.trace import Wait
from tests.builders import linked_pair, problem_of, rigid, small_gpu
from tests.traces import trace_of


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
