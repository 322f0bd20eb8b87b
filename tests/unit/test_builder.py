"""The graph builder: ids, orders, tensors, buffers, faults; against networkx and by hand."""

from __future__ import annotations

import gc
import itertools
import random
import sys
from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.errors import GraphError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, TensorKind
from simsched.graph.tensors import tensor_size
from tests.builders import built, message_of


def rows_of(graph: Graph) -> list[tuple[str, str, str, str]]:
    return [(graph.names[row.source], graph.names[row.target], row.kind.name, row.via) for row in graph.dependencies()]


# --- ids and order ----------------------------------------------------------------------------------------------


def test_ids_are_the_order_of_insertion_where_that_is_topological() -> None:
    graph = built("bacd", [("b", "a"), ("a", "d"), ("b", "c")])
    assert graph.names == ["b", "a", "c", "d"]
    assert graph.durations == [0, 1, 2, 3]
    assert [list(row) for row in graph.succ] == [[1, 2], [3], [], []]
    assert [list(row) for row in graph.pred] == [[], [0], [0], [1]]


def test_otherwise_ids_are_kahns_order_with_ties_by_insertion() -> None:
    graph = built("dcba", [("a", "d"), ("b", "d"), ("a", "c")])
    # Ready at first: b (2), a (3). Then a frees d (0) and c (1), which come in the order of insertion.
    assert graph.names == ["b", "a", "d", "c"]
    assert graph.durations == [2, 3, 0, 1]
    assert [list(row) for row in graph.succ] == [[2], [2, 3], [], []]


@given(st.integers(0, 30), st.integers(0, 2**32), st.floats(0, 0.4), st.booleans())
def test_order_and_neighbours_agree_with_networkx(count: int, seed: int, density: float, shuffled: bool) -> None:
    rng = random.Random(seed)
    order = list(range(count))
    if shuffled:
        rng.shuffle(order)
    pairs = [(u, v) for u, v in itertools.combinations(order, 2) if rng.random() < density]
    pairs += rng.sample(pairs, len(pairs) // 3)
    rng.shuffle(pairs)
    graph = built([f"n{number}" for number in range(count)], [(f"n{u}", f"n{v}") for u, v in pairs])
    reference = nx.DiGraph()
    reference.add_nodes_from(range(count))
    reference.add_edges_from(pairs)
    if all(u < v for u, v in pairs):
        expected = list(range(count))
    else:
        expected = list(nx.lexicographical_topological_sort(reference))
    assert graph.names == [f"n{old}" for old in expected]
    rank = {old: new for new, old in enumerate(expected)}
    for new, old in enumerate(expected):
        assert graph.succ[new] == tuple(sorted(rank[other] for other in reference.successors(old)))
        assert graph.pred[new] == tuple(sorted(rank[other] for other in reference.predecessors(old)))
    assert graph.edge_count == reference.number_of_edges()
    assert len(graph.edges) == len(pairs)


def test_a_chain_of_100_000_builds_without_recursion_in_either_direction() -> None:
    count = 100_000
    names = [f"n{number}" for number in range(count)]
    for step in (1, -1):
        builder = GraphBuilder("chain", time_unit="tick")
        builder.add_ops(names, range(count))
        ordered = names[::step]
        builder.add_edges(ordered[:-1], ordered[1:])
        graph = builder.build()
        assert graph.names == ordered
        assert graph.edge_count == count - 1
        assert all(graph.succ[op] == (op + 1,) for op in range(count - 1))


def test_a_ring_of_100_000_is_told_without_recursion() -> None:
    count = 100_000
    names = [f"n{number}" for number in range(count)]
    builder = GraphBuilder("ring", time_unit="tick")
    builder.add_ops(names)
    builder.add_edges(names, names[1:] + names[:1])
    with pytest.raises(GraphError) as caught:
        builder.build()
    assert len(caught.value.faults[0].related) == 13
    assert caught.value.faults[0].message.endswith(" -> n10 -> n11 -> (99988 more) -> n0")


def test_a_graph_does_not_change_with_its_builder() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("a", duration=2, demands={"sms": 3})
    first = builder.build()
    builder.add_op("b", duration=5, after=["a"])
    builder.add_edge("a", "b", bytes=7)
    second = builder.build()
    assert (len(first), first.names, first.durations, first.demands) == (1, ["a"], [2], {0: {"sms": 3}})
    assert first.tensor_names == []
    assert (len(second), second.edge_count) == (2, 1)


def test_an_empty_graph_and_a_single_operator() -> None:
    assert repr(GraphBuilder("nothing").build()) == "Graph('nothing': 0 operators, 0 edges, 0 tensors)"
    assert built("a", []).succ == [()]


# --- dependencies -----------------------------------------------------------------------------------------------


def test_edges_carry_nothing_or_a_tensor_of_their_own() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_tensor("a->b", bytes=1, kind="input")
    for name in "abc":
        builder.add_op(name, duration=1)
    builder.add_edge("a", "b", bytes=7)
    builder.add_edge("a", "b", bytes=11)
    builder.add_edge("a", "b")
    builder.add_edge("b", "c", bytes=0)
    graph = builder.build()
    assert graph.tensor_names == ["a->b", "a->b#2", "a->b#3", "b->c"]
    assert graph.tensor_bytes == [1, 7, 11, 0]
    assert graph.outputs == [(1, 2), (3,), ()]
    assert graph.inputs == [(), (1, 2), (3,)]
    assert rows_of(graph) == [
        ("a", "b", "CONTROL", ""),
        ("a", "b", "DATA", "a->b#2"),
        ("a", "b", "DATA", "a->b#3"),
        ("b", "c", "DATA", "b->c"),
    ]
    assert graph.edge_count == 2


def test_the_largest_delay_of_a_pair_counts() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    for name in "ba":
        builder.add_op(name, duration=1)
    for delay in (5, 11, 7):
        builder.add_edge("a", "b", delay=delay)
    graph = builder.build()
    assert graph.names == ["a", "b"]
    assert graph.delays == {(0, 1): 11}


def test_reads_and_writes_give_raw_war_and_waw() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("w1", duration=1, writes=["x"])
    builder.add_op("r1", duration=1, reads=["x"])
    builder.add_op("r2", duration=1, reads=["x", "y"])
    builder.add_op("w2", duration=1, writes=["x"])
    builder.add_op("both", duration=1, reads=["x"], writes=["x", "y"])
    graph = builder.build()
    assert set(rows_of(graph)) == {
        ("w1", "r1", "RAW", "x"),
        ("w1", "r2", "RAW", "x"),
        ("r1", "w2", "WAR", "x"),
        ("r2", "w2", "WAR", "x"),
        ("w1", "w2", "WAW", "x"),
        ("w2", "both", "RAW", "x"),
        ("w2", "both", "WAW", "x"),
        ("r2", "both", "WAR", "y"),
    }
    assert list(graph.buffers) == ["x", "y"]


@given(st.data())
def test_the_orders_of_a_buffer_do_not_depend_on_independent_reads(data: st.DataObject) -> None:
    """Adding the operators in another order that keeps every conflict gives the same dependencies."""
    accesses = data.draw(st.lists(st.tuples(st.sampled_from("xy"), st.booleans()), min_size=1, max_size=8))
    names = [f"n{number}" for number in range(len(accesses))]

    def graph_of(order: Sequence[int]) -> Graph:
        builder = GraphBuilder("g", time_unit="tick")
        for number in order:
            buffer, writes = accesses[number]
            builder.add_op(names[number], duration=1, **{"writes" if writes else "reads": [buffer]})
        return builder.build()

    first = graph_of(range(len(accesses)))
    conflicts = nx.DiGraph()
    conflicts.add_nodes_from(range(len(accesses)))
    conflicts.add_edges_from((first.index[a], first.index[b]) for a, b, *_ in rows_of(first))
    orders = list(itertools.islice(nx.all_topological_sorts(conflicts), 20))
    other = data.draw(st.sampled_from(orders))
    assert set(rows_of(graph_of(other))) == set(rows_of(first))


def test_tensors_join_operators_and_undeclared_outputs_have_no_size() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_tensor("image", shape=[1, 3, 5, 7], dtype="fp16")
    builder.add_tensor("w", bytes=13, kind="parameter")
    builder.add_tensor("y", bytes=17, kind="output")
    builder.add_op("b", duration=1, inputs=["t", "w", "t"], outputs=["y"])
    builder.add_op("a", duration=1, inputs=["image", "w"], outputs=["t", "dead"])
    graph = builder.build()
    assert graph.names == ["a", "b"]
    kinds = {
        tensor.name: (tensor.kind, tensor.bytes, tensor.producer, tensor.consumers)
        for tensor in map(graph.tensor, range(5))
    }
    assert kinds == {
        "image": (TensorKind.INPUT, 210, None, (0,)),
        "w": (TensorKind.PARAMETER, 13, None, (0, 1)),
        "y": (TensorKind.OUTPUT, 17, 1, ()),
        "t": (TensorKind.ACTIVATION, 0, 0, (1,)),
        "dead": (TensorKind.ACTIVATION, 0, 0, ()),
    }
    assert rows_of(graph) == [("a", "b", "DATA", "t")]
    names = graph.tensor_names
    assert [[names[tensor] for tensor in row] for row in graph.inputs] == [["image", "w"], ["t", "w", "t"]]


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [((1, 64, 56, 56), "fp32", 802816), ((), "fp64", 8), ((3,), "int4", 2), ((5,), "int2", 2), ((0, 7), "fp32", 0)],
)
def test_tensor_sizes(shape: tuple[int, ...], dtype: str, size: int) -> None:
    assert tensor_size(shape, dtype) == size


# --- columns at once --------------------------------------------------------------------------------------------


def test_columns_give_the_same_graph_as_one_by_one() -> None:
    rng = random.Random(7)
    names = [f"n{number}" for number in range(50)]
    times = [rng.choice([None, 2, 3, 5]) for _ in names]
    pairs = [(rng.choice(names), rng.choice(names)) for _ in range(80)]
    pairs = [(u, v) if int(u[1:]) > int(v[1:]) else (v, u) for u, v in pairs if u != v]
    sizes = [rng.choice([None, 0, 11]) for _ in pairs]
    delays = [rng.choice([None, None, 13]) for _ in pairs]
    types = [rng.choice(["Conv", "Relu"]) for _ in names]
    one = GraphBuilder("g", time_unit="tick")
    for name, time, op_type in zip(names, times, types, strict=True):
        one.add_op(name, op_type, duration=time)
    for (source, target), size, delay in zip(pairs, sizes, delays, strict=True):
        one.add_edge(source, target, bytes=size, delay=delay)
    many = GraphBuilder("g", time_unit="tick")
    many.add_ops(iter(names[:20]), iter(times[:20]), types[:20])
    many.add_ops(names[20:], times[20:], types[20:])
    many.add_edges([u for u, _ in pairs], [v for _, v in pairs], sizes, delays)
    first, second = one.build(), many.build()
    assert first.content_hash == second.content_hash
    assert first.succ == second.succ
    assert first.names != names  # the edges lead backwards, so that the operators were sorted


def test_columns_are_checked_like_single_operators() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("a", duration=1)
    builder.add_ops(["b", "a", "b", ""], [1, -2, np.int64(3), True])
    builder.add_edges(["a", "a"], ["b", "b"], [None, -5], [-7, None])
    assert message_of(builder).splitlines() == [
        "g: 7 problems",
        "  operators[2].duration: a duration cannot be negative: -2",
        "  operators[4].duration: a duration must be a whole number of ns or ticks, got True",
        "  operators[2].name: operator 'a' is declared twice",
        "    operators[0].name: first declared here",
        "  operators[3].name: operator 'b' is declared twice",
        "    operators[1].name: first declared here",
        "  edges[1].bytes: a size cannot be negative: -5",
        "  edges[0].delay: a delay cannot be negative: -7",
        "  operators[4].name: the name of an operator is text that is not empty, got ''",
    ]


def test_columns_of_different_length_are_refused() -> None:
    builder = GraphBuilder("g")
    with pytest.raises(ValueError, match="2 names, but 1 durations and 2 operator types"):
        builder.add_ops(["a", "b"], [1])
    with pytest.raises(ValueError, match="1 sources of edges, but 2 targets"):
        builder.add_edges(["a"], ["b", "c"])
    with pytest.raises(ValueError, match="1 edges, but 2 values of 'bytes'"):
        GraphBuilder("g").add_edges(["a"], ["b"], [1, 2])


def test_integers_of_other_libraries_become_plain_ones() -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("a", duration=np.int32(5), demands={"sms": np.int64(3)})
    builder.add_ops(["b"], [np.int16(7)])
    builder.add_op("c", duration={"p0": np.int64(11)})
    graph = builder.build()
    values = [graph.durations[0], graph.durations[1], graph.demands[0]["sms"], graph.device_durations[2]["p0"]]
    assert values == [5, 7, 3, 11]
    assert all(type(value) is int for value in values)


def test_building_leaves_the_collector_as_it_was() -> None:
    for on in (True, False):
        (gc.enable if on else gc.disable)()
        try:
            built("ab", [("a", "b")])
            with pytest.raises(GraphError):
                built("ab", [("a", "b"), ("b", "a")])
            assert gc.isenabled() is on
        finally:
            gc.enable()


def test_names_and_empty_rows_are_shared_so_that_graphs_stay_small() -> None:
    graph = built("abc", [("a", "c")])
    assert graph.inputs[0] is graph.outputs[2] is graph.succ[1]
    assert sys.getsizeof(graph.succ[0]) == sys.getsizeof((1,))
