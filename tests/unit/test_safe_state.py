"""Safe states: whatever is allowed leaves the rest of the frugal order below the target."""

from __future__ import annotations

import random

import pytest

from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.graph.lifetimes import frugal_order, sequential_peak
from simsched.graph.model import Graph
from simsched.hardware import lanes
from simsched.problem import make_problem
from simsched.schedulers.critical_path import CriticalPath
from simsched.schedulers.memory_aware import MemoryAware
from simsched.schedulers.safe_state import SafeState
from tests.builders import random_graph


@pytest.mark.parametrize("seed", range(60))
def test_what_is_allowed_is_safe_and_the_next_of_the_order_always_is(seed: int) -> None:
    source = random.Random(seed)
    graph = random_graph(seed, source.choice([8, 20, 50]), sizes=(0, 1, 7, 31, 100))
    workspace = [source.choice([0, 0, 5, 40]) for _ in range(len(graph))]
    order, peak = frugal_order(graph, workspace)
    target = int(peak * source.choice([1, 1, 1.3, 3]))
    state = SafeState(graph, workspace, order, target)
    started: list[int] = []
    while len(started) < len(graph):
        ready = [op for op in order if op not in started and all(before in started for before in graph.pred[op])]
        assert state.following in ready
        assert state.allows(state.following)
        for op in ready:
            rest = [other for other in order if other not in started and other != op]
            # The oracle: run everything from the start, in this very order.
            if state.allows(op):
                assert sequential_peak(graph, [*started, op, *rest], workspace) <= target, (seed, started, op)
        allowed = [op for op in ready if state.allows(op)]
        chosen = source.choice(allowed)
        state.start(chosen)
        started.append(chosen)


def independent_chains(chains: int, length: int) -> Graph:
    source = random.Random(1)
    builder = GraphBuilder("chains", "tick")
    for chain in range(chains):
        for step in range(length):
            builder.add_op(f"{chain}.{step}", duration=source.randint(1, 10))
        for step in range(1, length):
            builder.add_edge(f"{chain}.{step - 1}", f"{chain}.{step}", bytes=source.randint(1, 1000))
    return builder.build()


@pytest.mark.parametrize(("chains", "length", "slack"), [(300, 10, 40), (2000, 2, 40), (10, 100, 20)])
def test_with_room_for_all_lanes_no_time_is_lost_on_wide_graphs(chains: int, length: int, slack: float) -> None:
    # Longest path first opens every chain at once; what frees most first keeps a fraction of that alive.
    problem = make_problem(independent_chains(chains, length), lanes(8))
    fast, careful = simulate(problem, CriticalPath()), simulate(problem, MemoryAware(slack=slack))
    assert careful.makespan == fast.makespan
    assert careful.memory.peak(0) <= fast.memory.peak(0)
    if chains > 10:
        assert careful.memory.peak(0) < fast.memory.peak(0) / 2
