"""Copies of tensors on several devices: allocated at the start of a copy or of a reader, freed with the tensor."""

from __future__ import annotations

from simsched.analysis.check import check_trace
from simsched.engine.memory import bytes_alone
from simsched.engine.residency import Residency
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import TensorKind
from simsched.hardware import procs
from simsched.problem import Problem
from simsched.trace import Transfer
from tests.builders import linked_pair, problem_of
from tests.traces import memory_steps, trace_of

A, B, C, D = range(4)


def shared(kind: TensorKind = TensorKind.ACTIVATION) -> Problem:
    """a makes 7 B; b and c read them on other devices, d at home, one after the other."""
    builder = GraphBuilder("shared", time_unit="tick")
    builder.add_tensor("t", bytes=7, kind=kind)
    builder.add_op("a", duration=2, outputs=["t"], device="p0")
    builder.add_op("b", duration=3, inputs=["t"], device="p1", workspace=5)
    builder.add_op("c", duration=5, inputs=["t"], device="p1", after=["b"])
    builder.add_op("d", duration=11, inputs=["t"], device="p0", after=["c"])
    return problem_of(builder.build(), procs(2))


def test_a_copy_over_links_counts_from_its_start_until_the_tensor_dies():
    memory = Residency(shared())
    memory.start(A, 0, 0)
    memory.finish(A, 0, 2)
    assert memory.copy_need(0, 1) == 7
    assert memory.need(B, 1) == 12
    memory.copy(0, 1, 3)
    assert memory.live == [7, 7]
    assert memory.copy_need(0, 1) == 0
    assert memory.need(B, 1) == 5
    memory.start(B, 1, 13)
    memory.finish(B, 1, 17)
    assert memory.live == [7, 7], "nobody reads it there now, but c will"
    assert memory.delta(C, 1) == 0, "d is still to read it, and keeps it everywhere"
    memory.start(C, 1, 19)
    memory.finish(C, 1, 23)
    assert memory.live == [7, 7]
    assert memory.alive(1, ()) == [0]
    assert memory.delta(D, 0) == -7
    memory.start(D, 0, 29)
    memory.finish(D, 0, 31)
    assert memory.live == [0, 0]
    assert memory.alive(1, ()) == []
    assert memory.steps().curve(1) == [(3, 7), (13, 12), (17, 7), (31, 0)]


def test_without_links_a_copy_comes_with_its_first_reader():
    memory = Residency(shared())
    memory.start(A, 0, 0)
    memory.finish(A, 0, 2)
    memory.start(B, 1, 2)
    assert memory.live == [7, 12]
    memory.finish(B, 1, 5)
    memory.start(C, 1, 7)
    assert memory.live == [7, 7]


def test_the_copy_of_a_graph_output_dies_with_its_last_reader():
    memory = Residency(shared(TensorKind.OUTPUT))
    for op, device in ((A, 0), (B, 1), (C, 1)):
        memory.start(op, device, op)
        memory.finish(op, device, op)
    assert memory.live == [7, 7]
    memory.start(D, 0, 5)
    assert memory.delta(D, 0) == 0
    memory.finish(D, 0, 6)
    assert memory.live == [7, 0]


def test_a_last_reader_on_the_device_takes_the_copy_with_it():
    builder = GraphBuilder("pair", time_unit="tick")
    builder.add_tensor("t", bytes=7)
    builder.add_op("a", duration=2, outputs=["t"], device="p0")
    builder.add_op("b", duration=3, inputs=["t"], device="p1")
    memory = Residency(problem_of(builder.build(), procs(2)))
    memory.start(A, 0, 0)
    memory.finish(A, 0, 2)
    assert memory.delta(B, 1) == 0
    memory.copy(0, 1, 2)
    assert memory.delta(B, 1) == -7


def test_an_operator_alone_needs_its_inputs_wherever_they_come_from():
    assert bytes_alone(shared(), 1) == [7, 12, 7, 7]


def test_the_referee_counts_a_copy_from_its_start_to_the_death_of_its_tensor():
    """x makes 5 B on d0 [0, 3); copied to d1 [3, 10); read there by y [13, 17) and by z on d0 [19, 30)."""
    builder = GraphBuilder("copied", time_unit="tick")
    builder.add_tensor("t", bytes=5)
    builder.add_op("x", duration=3, outputs=["t"], device="d0")
    builder.add_op("y", duration=4, inputs=["t"], device="d1")
    builder.add_op("z", duration=11, inputs=["t"], device="d0", after=["y"])
    problem = problem_of(builder.build(), linked_pair(latency=2, bandwidth=1e9))
    rows = [("x", "d0/s0", 0, 0, 0, 3), ("y", "d1/s1", 0, 3, 13, 17), ("z", "d0/s0", 0, 17, 19, 30)]
    moves = (Transfer(0, 1, 0, 1, 3, 10, 5, 0, 3),)
    right = memory_steps((0, 0, 5), (3, 1, 5), (30, 0, 0), (30, 1, 0))
    late = memory_steps((0, 0, 5), (13, 1, 5), (17, 1, 0), (30, 0, 0))
    found = [check_trace(problem, trace_of(problem, rows, transfers=moves, memory=steps)) for steps in (right, late)]
    assert [line for line in found[0] if line.startswith("memory")] == []
    assert [line for line in found[1] if line.startswith("memory")] == [
        "memory: 0 B are recorded as live on d1 from 3 on; it is 5 B (a copy of 't' starts)"
    ]
