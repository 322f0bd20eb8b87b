from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import given

from simsched.analysis.serial_work import serial_operators, serial_work
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from tests.builders import zoo_graphs
from tests.strategies import graphs


def by_closure(graph: Graph, durations: list[int]) -> list[int]:
    """Straight from the definition: comparable in the transitive closure with every operator that counts."""
    plain = nx.DiGraph()
    plain.add_nodes_from(range(len(graph)))
    plain.add_edges_from((op, other) for op, targets in enumerate(graph.succ) for other in targets)
    closure = nx.transitive_closure_dag(plain)
    positive = [op for op in range(len(graph)) if durations[op]]
    counts = set(positive)
    for op in range(len(graph)):
        before = any(closure.has_edge(other, op) for other in positive)
        after = any(closure.has_edge(op, other) for other in positive)
        if before and after:
            counts.add(op)
    return [
        op
        for op in sorted(counts)
        if all(other == op or closure.has_edge(op, other) or closure.has_edge(other, op) for other in counts)
    ]


@given(graphs(12, tensors=False))
def test_two_passes_agree_with_the_transitive_closure(graph):
    assert serial_operators(graph, graph.durations) == by_closure(graph, graph.durations)


def waisted(seed: int) -> Graph:
    """Blocks of a few operators between waists; some operators skip a waist, so that it is no longer one."""
    rng = random.Random(seed)
    builder = GraphBuilder("waisted", time_unit="tick")
    waist = builder.add_op("w0", duration=1)
    for stage in range(1, 8):
        block = [
            builder.add_op(f"b{stage}_{part}", duration=rng.choice((0, 2, 3))) for part in range(rng.randint(1, 4))
        ]
        after = builder.add_op(f"w{stage}", duration=rng.choice((1, 5)))
        for name in block:
            if rng.random() < 0.95:
                builder.add_edge(waist, name)
            if rng.random() < 0.95:
                builder.add_edge(name, after)
        waist = after
    return builder.build()


@pytest.mark.parametrize("seed", range(60))
def test_two_passes_agree_on_graphs_with_waists(seed):
    graph = waisted(seed)
    assert serial_operators(graph, graph.durations) == by_closure(graph, graph.durations)


def test_graphs_with_waists_have_some_of_each():
    counts = [len(serial_operators(waisted(seed), waisted(seed).durations)) for seed in range(60)]
    assert min(counts) <= 2
    assert max(counts) >= 8
    assert len(set(counts)) >= 6


def test_a_chain_is_serial_and_independent_operators_are_not():
    zoo = zoo_graphs(deep=1000, wide=100)
    assert serial_work(zoo["deep"], [1] * 1000) == 1000
    assert serial_work(zoo["wide"], [3] * 100) == 0
    assert serial_work(zoo["one"], [7]) == 7
    assert serial_work(zoo["empty"], []) == 0


def test_a_diamond_counts_its_ends():
    graph = zoo_graphs()["diamond"]
    assert serial_operators(graph, (2, 3, 5, 7)) == [0, 3]
    assert serial_work(graph, (2, 3, 5, 7)) == 2 + 7


def hourglass(*, constant: bool) -> Graph:
    """a and b, then c, then d and e; with ``constant``, an operator of no time that only d reads."""
    builder = GraphBuilder("hourglass", time_unit="tick")
    for name, duration in zip("abcde", (2, 3, 5, 7, 11), strict=True):
        builder.add_op(name, duration=duration)
    for pair in ("ac", "bc", "cd", "ce"):
        builder.add_edge(*pair)
    if constant:
        builder.add_op("k", duration=0)
        builder.add_edge("k", "d")
    return builder.build()


def test_a_constant_of_no_time_does_not_make_the_waist_parallel():
    for constant in (False, True):
        graph = hourglass(constant=constant)
        assert serial_work(graph, graph.durations) == 5
    with_time = [duration or 13 for duration in hourglass(constant=True).durations]
    assert serial_work(hourglass(constant=True), with_time) == 0
