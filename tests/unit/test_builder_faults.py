"""What the graph builder refuses, and how it says so; cycles against networkx."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.graph.builder import GraphBuilder
from simsched.graph.cycles import shortest_cycle
from simsched.graph.model import DependencyKind
from simsched.graph.order import predecessors, topological_order
from tests.builders import message_of

# --- faults -----------------------------------------------------------------------------------------------------


def add(builder: GraphBuilder, **fields: Any) -> None:
    builder.add_op("a", **fields)


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"duration": -1}, "g: operators[0].duration: a duration cannot be negative: -1"),
    ({"duration": 2.5}, "g: operators[0].duration: a duration must be a whole number of ns or ticks, got 2.5"),
    ({"duration": "2 us"}, "g: operators[0].duration: a duration must be a whole number of ns or ticks, got '2 us'"),
    ({"duration": {"p0": -3}}, "g: operators[0].duration.p0: expected a whole number of at least 0, got -3"),
    ({"demands": {"sms": -1}}, "g: operators[0].demands.sms: expected a whole number of at least 0, got -1"),
    ({"demands": {"sms": 0.5}}, "g: operators[0].demands.sms: expected a whole number of at least 0, got 0.5"),
    ({"flops": -1}, "g: operators[0].flops: expected at least 0, got -1"),
    ({"flops": 10**24 + 1}, "g: operators[0].flops: expected at most 10**24"),
    ({"workspace": -1}, "g: operators[0].workspace: expected at least 0, got -1"),
    ({"inputs": ["x"]}, "g: operators[0].inputs[0]: operator 'a' reads unknown tensor 'x'; there are none"),
    ({"after": ["b"]}, "g: operators[0].after[0]: operator 'a' comes after unknown operator 'b'; expected one of: a"),
    (
        {"outputs": ["x", "x"]},
        "g: operators[0].outputs[1]: tensor 'x' is already produced by 'a'; a tensor has one producer",
    ),
    ({"duration": 2**62 + 1}, "g: the durations sum to more than 2**62 ns (146 years), which cannot be simulated"),
    ({"workspace": 2**62 + 1}, "g: the tensors sum to more than 2**62 bytes, which cannot be simulated"),
]


@pytest.mark.parametrize(("fields", "message"), FAULTS, ids=[str(fields)[:40] for fields, _ in FAULTS])
def test_faults_of_an_operator(fields: dict[str, Any], message: str) -> None:
    builder = GraphBuilder("g")
    add(builder, **fields)
    assert message_of(builder) == message


def test_names_that_are_no_text() -> None:
    builder = GraphBuilder("g")
    builder.add_ops(["a", 7])  # type: ignore[list-item]
    assert message_of(builder) == "g: operators[1].name: the name of an operator is text that is not empty, got 7"


def test_faults_of_tensors() -> None:
    builder = GraphBuilder("g")
    builder.add_tensor("a", bytes=-1)
    builder.add_tensor("b", shape=[1])
    builder.add_tensor("c", shape=[2, -1], dtype="fp32")
    builder.add_tensor("d", shape=[1], dtype="fp23")
    builder.add_tensor("e", bytes=1, kind="weights")
    builder.add_tensor("a", bytes=1)
    assert message_of(builder).splitlines() == [
        "g: 6 problems",
        "  tensors.a.bytes: a size cannot be negative: -1",
        "  tensors.b: tensor 'b' needs 'bytes', or both 'shape' and 'dtype'",
        "  tensors.c.shape: a dimension cannot be negative: [2, -1]",
        "  tensors.d.dtype: unknown dtype 'fp23'; did you mean 'fp32'?",
        "  tensors.e.kind: unknown kind 'weights'; expected one of: activation, input, parameter, output",
        "  tensors.a: tensor 'a' is declared twice",
    ]


# --- cycles -----------------------------------------------------------------------------------------------------


@given(st.integers(1, 9), st.integers(0, 2**32), st.floats(0.05, 0.6))
def test_the_cycle_that_is_told_is_a_shortest_one(count: int, seed: int, density: float) -> None:
    rng = random.Random(seed)
    succ = [[v for v in range(count) if rng.random() < density] for _ in range(count)]
    reference = nx.DiGraph()
    reference.add_nodes_from(range(count))
    reference.add_edges_from((u, v) for u in range(count) for v in succ[u])
    order, left = topological_order(succ)
    assert len(order) + len(left) == count
    assert bool(left) is not nx.is_directed_acyclic_graph(reference)
    if left:
        cycle = shortest_cycle(succ, left)
        assert all(cycle[position] in succ[cycle[position - 1]] for position in range(len(cycle)))
        assert len(cycle) == min(map(len, nx.simple_cycles(reference)))
        assert cycle[0] == min(cycle)


def test_when_patience_ends_some_cycle_is_told() -> None:
    ring = [[(op + 1) % 1000] for op in range(1000)]
    ring[999].append(998)
    assert shortest_cycle(ring, range(1000), patience=500) == list(range(1000))
    assert shortest_cycle(ring, range(1000)) == [998, 999]


def test_predecessors_turn_successors_round() -> None:
    assert predecessors([(1, 2), (2,), ()]) == [(), (0,), (0, 1)]


def test_a_cycle_shows_what_makes_each_of_its_orders() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("a", inputs=["t"], outputs=["s"])
    builder.add_op("b", inputs=["s"], writes=["x"])
    builder.add_op("c", reads=["x"])
    builder.add_op("d", after=["c"])
    builder.add_op("e", outputs=["t"])
    builder.add_edge("d", "e", bytes=3)
    assert message_of(builder).splitlines() == [
        "g: operators[1].inputs[0]: the graph has a cycle: a -> b -> c -> d -> e -> a",
        "  operators[1].inputs[0]: a -> b, through tensor 's'",
        "  operators[2].reads[0]: b -> c, through buffer 'x'",
        "  operators[3].after[0]: c -> d",
        "  edges[0]: d -> e",
        "  operators[0].inputs[0]: e -> a, through tensor 't'",
    ]


def test_kinds_are_kept_for_each_dependency() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("a", outputs=["t"], writes=["x"])
    builder.add_op("b", inputs=["t"], reads=["x"], after=["a"])
    graph = builder.build()
    assert graph.edge_count == 1
    assert [row.kind for row in graph.dependencies()] == [
        DependencyKind.CONTROL,
        DependencyKind.RAW,
        DependencyKind.DATA,
    ]
