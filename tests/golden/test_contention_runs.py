"""The same answers of SimGrid (known answers ``contention_simgrid``), given by whole runs of the simulator.

Flops are bytes here: a host of f flop/s is a device whose memory moves f B/s, and a computation is a kernel bound by
it. Transfers are copies over the links of the hardware. Not expressible as a run, and therefore tested on the solver
alone (``test_contention_answers.py``): rigid tasks that demand more cores than their host has, or cores of two hosts
at once (a kernel runs on one device, and is refused where it can never fit); a host that changes its speed in the
middle of a run; a task whose progress drives two flows of unequal size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.hardware import Device, HardwareProfile, Link
from simsched.problem import make_problem
from simsched.run import run
from simsched.schedulers.registry import make_scheduler
from simsched.trace import Trace
from tests.golden.test_contention_answers import answers

S = 10**9  # ns


@cache
def finishes() -> Mapping[str, Any]:
    """By name of the case."""
    return {entry["name"]: entry for kind in ("dynamic", "dag") for entry in answers()[kind]}


def finish(name: str) -> int:
    return round(finishes()[name]["finish"] * S)


def host(name: str, flops: float, streams: int = 8) -> Device:
    return Device(name, "cpu", "sm_share", streams, {"sms": streams}, memory_bandwidth=flops)


def computing(flops: Sequence[int], speeds: Sequence[int]) -> Trace:
    """Computations side by side, each on the host of its number, or all on the only host."""
    builder = GraphBuilder("computing")
    for number, amount in enumerate(flops):
        place = min(number, len(speeds) - 1)
        builder.add_op(f"c{number}", duration=amount * S // speeds[place], traffic=amount, device=f"h{place}")
    hardware = HardwareProfile("hosts", tuple(host(f"h{number}", speed) for number, speed in enumerate(speeds)))
    return checked(builder, hardware)


def sending(sizes: Sequence[tuple[str, str, int]], links: Sequence[Link], switches: Sequence[str] = ()) -> Trace:
    """Transfers that all start at 0; the makespan is the last arrival, since making and reading take no time."""
    builder = GraphBuilder("sending")
    for number, (start, end, size) in enumerate(sizes):
        builder.add_tensor(f"t{number}", bytes=size)
        builder.add_op(f"make{number}", duration=0, outputs=[f"t{number}"], device=start)
        builder.add_op(f"read{number}", duration=0, inputs=[f"t{number}"], device=end)
    places = sorted({place for start, end, _ in sizes for place in (start, end)})
    devices = tuple(Device(place, streams=8) for place in places)
    return checked(builder, HardwareProfile("net", devices, tuple(links), switches=tuple(switches)))


def checked(builder: GraphBuilder, hardware: HardwareProfile) -> Trace:
    """A run that the referee has seen."""
    return run(make_problem(builder.build(), hardware), "critical_path").trace


def test_one_computation() -> None:
    assert computing([1], [1]).makespan == finish("1 flop on 1 flop/s")


def test_two_computations_share_a_host() -> None:
    assert computing([1, 1], [1]).end == [finish("2x1 flop on one 1 flop/s host")] * 2


def test_hosts_of_different_speed() -> None:
    trace = computing([1, 1], [1, 2])
    assert trace.makespan == finish("1 flop each on 1 and 2 flop/s hosts")
    assert trace.end == [S, S // 2]


def test_a_transfer_has_latency_and_bandwidth() -> None:
    trace = sending([("a", "b", 1)], [Link("a", "b", S // 2, 1)])
    assert trace.makespan == finish("1 B over 1 B/s link, latency .5")


def test_opposite_directions_share_a_half_duplex_link() -> None:
    flows = [("a", "b", 1), ("b", "a", 1)]
    trace = sending(flows, [Link("a", "b", S // 2, 1, "half_duplex")])
    assert trace.makespan == finish("two 1 B flows, opposite directions, SAME shared (half-duplex) link")
    assert sending(flows, [Link("a", "b", S // 2, 1)]).makespan == 3 * S // 2  # each direction has its own bandwidth


def test_nobody_shares_a_fat_pipe() -> None:
    trace = sending([("a", "b", 1)] * 2, [Link("a", "b", S // 2, 1, "unshared")])
    assert trace.makespan == finish("two 1 B flows on fatpipe link")


def test_a_route_of_three_links() -> None:
    links = [Link("a", "x", S // 2, 1), Link("x", "y", S, 1, "unshared"), Link("y", "b", S // 2, 1)]
    trace = sending([("a", "b", 1)] * 2, links, switches=["x", "y"])
    assert trace.makespan == finish("two such flows")


def test_scatter() -> None:
    links = [Link("root", "x", S, 1), *(Link("x", f"r{size}", S, 1) for size in (1, 2, 3))]
    trace = sending([("root", f"r{size}", size) for size in (1, 2, 3)], links, switches=["x"])
    expected = finishes()["scatter 1,2,3 B from one 1 B/s link, total latency 2"]["finish_each"]
    assert sorted(move.end for move in trace.transfers) == [round(end * S) for end in expected]


def test_a_small_transfer_beside_a_large_one() -> None:
    trace = sending([("a", "b", 10**8), ("a", "b", 1)], [Link("a", "b", 100_000, 1.25e8)])
    # SimGrid asserts four decimals; the link also carries the one byte, which takes 8 ns.
    assert [move.end for move in trace.transfers] == [100_016, 800_100_008]
    assert abs(trace.makespan - finish("1e8 B and 1 B together on 1.25e8 B/s latency 1e-4")) <= 50_000


def test_sending_while_computing() -> None:
    builder = GraphBuilder("both")
    builder.add_tensor("t", bytes=1)
    builder.add_op("make", duration=0, outputs=["t"], device="a")
    builder.add_op("read", duration=0, inputs=["t"], device="b")
    builder.add_op("compute", duration=2 * S, traffic=2, device="a")
    hardware = HardwareProfile("net", (host("a", 1), host("b", 1)), (Link("a", "b", S // 2, 1),))
    trace = checked(builder, hardware)
    assert trace.makespan == finish("send 1 B (1 B/s, .5 s) while computing 2 flop at 1 flop/s")
    assert trace.transfers[0].end == 3 * S // 2


@pytest.mark.parametrize(("cores", "expected"), [(2, 10), (4, 10)])
def test_rigid_tasks_on_the_cores_that_they_demand(cores: int, expected: int) -> None:
    builder = GraphBuilder("rigid")
    builder.add_op("task", duration=10 * S, demands={"sms": cores})
    builder.add_op("background", duration=50 * S, demands={"sms": 1})
    problem = make_problem(builder.build(), HardwareProfile("h", (host("h", 1, streams=5),)))
    trace = simulate(problem, make_scheduler("topological"))
    assert trace.end[0] == expected * S
    assert "2 cores on 4-core: 10" in finishes()["multicore ptask (rigid parallel task)"]["timeline"]


def test_two_parents_then_a_child() -> None:
    builder = GraphBuilder("dag")
    for name, flops, place in (("p", 2, "a"), ("q", 3, "b"), ("child", 1, "a")):
        builder.add_op(name, duration=flops * S, traffic=flops, device=place)
    builder.add_edge("p", "child")
    builder.add_edge("q", "child")
    trace = checked(builder, HardwareProfile("hosts", (host("a", 1), host("b", 1))))
    assert trace.makespan == finish("two parents (2 s, 3 s) then child 1 s, one host each")


def test_a_chain_over_a_disk() -> None:
    builder = GraphBuilder("disk")
    builder.add_op("first", duration=S, traffic=1, device="cpu")
    builder.add_op("write", duration=25 * S, traffic=25, device="disk")
    builder.add_op("read", duration=10 * S, traffic=10, device="disk")
    builder.add_op("last", duration=S, traffic=1, device="cpu")
    for before, after in (("first", "write"), ("write", "read"), ("read", "last")):
        builder.add_edge(before, after)
    trace = checked(builder, HardwareProfile("hosts", (host("cpu", 1), host("disk", 1))))
    assert trace.makespan == finish("exec 1 s; write 25 s; read 10 s; exec 1 s chain with disk")
