"""Copies over links on hand-worked runs: what keeps them waiting, and what is said when they can never start."""

from __future__ import annotations

import pytest

from simsched.engine.simulator import simulate
from simsched.errors import OutOfMemoryError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import Device, HardwareProfile, Link
from simsched.problem import Problem, make_problem
from simsched.schedule import parse_schedule
from simsched.schedulers.critical_path import CriticalPath
from simsched.schedulers.follow import Follow


def two_devices(capacity: int, last_reads: str) -> Problem:
    """Two tensors of 60 B made on d0 and read on d1, at 1 B/ns after 3 ns of latency."""
    builder = GraphBuilder("copies")
    builder.add_tensor("t", bytes=60)
    builder.add_tensor("u", bytes=60)
    builder.add_tensor("v", bytes=10)
    builder.add_op("a", duration=10, outputs=["t"], device="d0")
    builder.add_op("b", duration=20, outputs=["u"], device="d0")
    builder.add_op("c", duration=5, inputs=["t"], outputs=["v"], device="d1")
    builder.add_op("e", duration=5, inputs=["u"], device="d1")
    builder.add_op("f", duration=5, inputs=[last_reads, "v"], device="d1")
    builder.add_edge("e", "f")
    devices = (Device("d0", streams=2), Device("d1", streams=2, memory_capacity=capacity))
    return make_problem(builder.build(), HardwareProfile("pair", devices, (Link("d0", "d1", 3, 1e9),)))


def test_a_copy_waits_until_it_fits() -> None:
    problem = two_devices(100, "u")
    schedule = parse_schedule("d0/s0: a\nd0/s1: b\nd1/s0: c f\nd1/s1: e\n", problem)
    trace = simulate(problem, Follow(schedule), memory="block")
    first, second = trace.transfers
    # t comes from 10 to 73 and dies when c ends, at 78; then u has room.
    assert (first.tensor, first.asked, first.start, first.end) == (0, 10, 10, 73)
    assert (second.tensor, second.asked, second.start, second.end) == (1, 20, 78, 141)
    assert trace.memory.peak(1) == 70


def test_a_copy_that_will_never_fit_is_no_deadlock_but_a_lack_of_memory() -> None:
    with pytest.raises(OutOfMemoryError) as caught:
        simulate(two_devices(100, "t"), CriticalPath(), memory="block")
    assert caught.value.needed == 130
    assert str(caught.value).splitlines()[0] == (
        "at 78 ns operator 'e' does not fit into device 'd1': 130 B (130 B) would be live, the capacity is "
        "100 B (100 B)"
    )
    assert simulate(two_devices(130, "t"), CriticalPath(), memory="block").memory.peak(1) == 130
