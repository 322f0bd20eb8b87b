"""Whole columns of operators and edges make the same graph, and the same faults, as one by one."""

from __future__ import annotations

import pytest

from simsched.errors import GraphError
from simsched.graph.builder import GraphBuilder

NAMES = ["a", "b", "c", "d"]
DURATIONS = [2, 3, None, 5]
TYPES = ["Conv", "Relu", "Conv", "Add"]
PAIRS = [("a", "b"), ("a", "c"), ("a", "b"), ("c", "d"), ("b", "d")]
SIZES = [7, 11, 13, 17, 0]


def builder_with(tensor: str | None = None) -> GraphBuilder:
    builder = GraphBuilder("net", time_unit="tick")
    if tensor is not None:
        builder.add_tensor(tensor, bytes=19)
    return builder


@pytest.mark.parametrize("tensor", [None, "a->b", "a->c", "a->b#2"])
def test_columns_and_single_calls_make_the_same_graph(tensor: str | None):
    columns, single = builder_with(tensor), builder_with(tensor)
    columns.add_ops(NAMES, DURATIONS, TYPES)
    columns.add_edges([u for u, _ in PAIRS], [v for _, v in PAIRS], SIZES)
    for name, duration, op_type in zip(NAMES, DURATIONS, TYPES, strict=True):
        single.add_op(name, op_type, duration=duration)
    for (u, v), size in zip(PAIRS, SIZES, strict=True):
        single.add_edge(u, v, bytes=size)
    graph = columns.build()
    assert graph.content_hash == single.build().content_hash
    assert list(graph.op_types) == TYPES
    made = dict(zip(graph.tensor_names, graph.tensor_bytes, strict=True))
    assert sorted(made.values()) == sorted(SIZES + ([19] if tensor else []))
    assert len(made) == len(SIZES) + (tensor is not None)


def test_edges_with_and_without_bytes_in_one_graph():
    builder = builder_with()
    builder.add_ops(NAMES, [1] * 4)
    builder.add_edges(["a"], ["b"])
    builder.add_edges(["a", "b"], ["c", "c"], [5, 7])
    builder.add_edge("c", "d", delay=3)
    graph = builder.build()
    assert list(map(list, graph.succ)) == [[1, 2], [2], [3], []]
    assert dict(zip(graph.tensor_names, graph.tensor_bytes, strict=True)) == {"a->c": 5, "b->c": 7}
    assert graph.delays == {(2, 3): 3}


def test_negative_sizes_are_faults_with_the_number_of_their_edge():
    builder = builder_with()
    builder.add_ops(NAMES)
    builder.add_edge("a", "b")
    builder.add_edges(["a", "b"], ["c", "c"], [5, -7])
    with pytest.raises(GraphError) as caught:
        builder.build()
    assert [(fault.path, fault.message) for fault in caught.value.faults] == [
        (("edges", 2, "bytes"), "a size cannot be negative: -7")
    ]
