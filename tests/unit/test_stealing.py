"""Work stealing: who takes what from whom, worked by hand."""

from __future__ import annotations

import re

import pytest

import simsched
from simsched.errors import SchedulerError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, lanes
from simsched.schedulers.dynamic.stealing import WorkStealing
from simsched.schedulers.registry import make_scheduler, scheduler_spec
from simsched.testing import check_scheduler
from simsched.trace import Trace
from tests.builders import rigid


def spawning(durations: dict[str, int], edges: list[tuple[str, str]], cores: dict[str, int] | None = None) -> Graph:
    builder = GraphBuilder("spawning", "tick")
    for name, duration in durations.items():
        builder.add_op(name, duration=duration, demands={"cores": cores[name]} if cores and name in cores else None)
    for source, target in edges:
        builder.add_edge(source, target)
    return builder.build()


def rows(graph: Graph, trace: Trace) -> dict[str, tuple[int, int]]:
    """Stream and start of each operator."""
    return {name: (trace.stream[op], trace.start[op]) for op, name in enumerate(graph.names)}


def test_owners_take_the_newest_and_thieves_the_oldest() -> None:
    graph = spawning(
        {"r": 2, "a": 3, "b": 5, "c": 7, "d": 11, "e": 2},
        [("r", "a"), ("r", "b"), ("r", "c"), ("a", "d"), ("c", "e")],
    )
    trace = simsched.run(graph, WorkStealing(), lanes(2), explain=True).trace
    # At 2 stream 0 has a, b, c, of which a is the newest, and stream 1 steals c. At 5 a has made d ready, which is
    # newer than b: depth first. At 9 c has made e ready, stream 1's own. At 11 it steals b.
    assert rows(graph, trace) == {"r": (0, 0), "a": (0, 2), "c": (1, 2), "d": (0, 5), "e": (1, 9), "b": (1, 11)}
    assert trace.reasons[1] == "the newest of its stream"
    assert trace.reasons[3] == "stolen from d0/s0, its oldest"


def test_owners_come_before_thieves() -> None:
    graph = spawning({"p": 3, "q": 3, "a": 5, "b": 7}, [("q", "a"), ("q", "b")])
    # Stream 0 takes p, stream 1 steals q. At 3 both are idle: what q made ready is stream 1's, which takes a first.
    assert rows(graph, simsched.run(graph, WorkStealing(), lanes(2)).trace) == {
        "p": (0, 0),
        "q": (1, 0),
        "a": (1, 3),
        "b": (0, 3),
    }


def test_of_several_predecessors_that_end_at_once_the_first_has_the_operator() -> None:
    graph = spawning({"p": 3, "q": 3, "a": 5}, [("p", "a"), ("q", "a")])
    assert rows(graph, simsched.run(graph, WorkStealing(), lanes(2)).trace)["a"] == (0, 3)


def test_what_does_not_fit_is_passed_over() -> None:
    graph = spawning({"a": 5, "b": 3, "c": 2}, [], {"a": 3, "b": 2, "c": 1})
    trace = simsched.run(graph, WorkStealing(), rigid(2, cores=4)).trace
    # a is the newest of stream 0. Stream 1 steals the oldest that fits beside it: c at once; then b has to wait for a.
    assert [trace.start[op] for op in range(3)] == [0, 5, 0]


def _around(victim: str, seed: int) -> dict[str, tuple[int, int]]:
    """Two devices of two streams each; streams 1, 2 and 3 have an operator of their own to be stolen."""
    devices = tuple(Device(name, streams=2) for name in ("near", "far"))
    builder = GraphBuilder("around", "tick")
    builder.add_op("short", duration=2)
    for number, device in ((1, "near"), (2, "far"), (3, "far")):
        builder.add_op(f"p{number}", duration=1, device=device)
        for child in "xy":
            builder.add_op(f"{child}{number}", duration=50)
            builder.add_edge(f"p{number}", f"{child}{number}")
    graph = builder.build()
    return rows(graph, simsched.run(graph, WorkStealing(victim, seed), HardwareProfile("two", devices)).trace)


def test_neighbours_are_robbed_first() -> None:
    robbed = {}
    for victim in ("near", "random"):
        found = [_around(victim, seed) for seed in range(12)]
        assert all(rows["short"] == (0, 0) for rows in found)
        # At 1 the other streams take x1, x2 and x3, and at 2 stream 0 steals.
        robbed[victim] = {name for rows in found for name, row in rows.items() if row == (0, 2)}
    assert robbed == {"near": {"y1"}, "random": {"y1", "y2", "y3"}}


def test_round_robin_goes_on_after_the_last_victim() -> None:
    builder = GraphBuilder("round", "tick")
    for number in range(3):
        builder.add_op(f"p{number}", duration=1)
    for number in range(3):
        for child in range(4):
            builder.add_op(f"c{number}{child}", duration=40 if child == 0 else 3)
            builder.add_edge(f"p{number}", f"c{number}{child}")
    graph = builder.build()
    trace = simsched.run(graph, WorkStealing("round_robin"), lanes(4)).trace
    # At 0 streams 1 and 2 steal p2 and p1 of stream 0, and stream 3 nothing. From 1 on it robs 0, 1 and 2 in turn, the
    # oldest first.
    third = sorted((trace.start[op], graph.names[op]) for op in range(len(graph)) if trace.stream[op] == 3)
    assert [start for start, _ in third] == [1, 4, 7, 10, 13, 16, 19, 22, 25]
    assert [name for _, name in third] == ["c03", "c23", "c13", "c02", "c22", "c12", "c01", "c21", "c11"]


def test_random_victims_depend_on_the_seed_alone() -> None:
    edges = [(f"p{n % 3}", f"v{n}") for n in range(60)]
    graph = spawning({f"p{n}": 1 for n in range(3)} | {f"v{n}": 1 + n % 7 for n in range(60)}, edges)
    streams = [list(simsched.run(graph, WorkStealing(seed=seed), lanes(6)).trace.stream) for seed in (3, 3, 4, 5, 6)]
    assert streams[0] == streams[1]
    assert len({tuple(row) for row in streams}) > 1
    by_run = [list(simsched.run(graph, "work_stealing", lanes(6), seed=seed).trace.stream) for seed in (3, 4)]
    assert by_run == [streams[0], streams[2]]


def test_words() -> None:
    assert make_scheduler("work_stealing:near") == WorkStealing("near")
    assert scheduler_spec(WorkStealing("round_robin", 3)) == "work_stealing(victim=round_robin, seed=3)"
    with pytest.raises(
        UnknownNameError, match=re.escape("unknown victim of work_stealing 'neer'; did you mean 'near'?")
    ):
        make_scheduler("work_stealing:neer")
    with pytest.raises(SchedulerError, match="work_stealing: seed must be at least 0, got -1"):
        make_scheduler("work_stealing(seed=-1)")


@pytest.mark.parametrize("spec", ["work_stealing", "work_stealing:round_robin", "work_stealing(victim=near, seed=3)"])
def test_the_contract(spec: str) -> None:
    assert check_scheduler(make_scheduler(spec)) == 27
