"""networkx graphs: values, both ways, and networkx's own algorithms as the oracle."""

from __future__ import annotations

import time
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from simsched.graph.builder import GraphBuilder
from simsched.graph.io import load_graph
from simsched.graph.model import DependencyKind, Graph
from simsched.graph.nx import from_networkx, to_networkx
from simsched.graph.ranks import b_level, t_level
from tests.strategies import graphs, random_graph, zoo_graphs


def described(graph: Graph) -> dict[str, Any]:
    """All that a graph says, by names, so that the order in which precedence was declared does not count."""
    rows = [(graph.names[row.source], graph.names[row.target], row.kind, row.via) for row in graph.dependencies()]
    return {
        "about": (graph.name, graph.time_unit, graph.native, graph.description, graph.origin, graph.notes),
        "operators": [vars_of(graph, op) for op in range(len(graph))],
        "tensors": [graph.tensor(tensor) for tensor in range(len(graph.tensor_names))],
        "rows": sorted(rows),
        "delays": graph.delays,
    }


def vars_of(graph: Graph, op: int) -> tuple[Any, ...]:
    sparse = (graph.flops, graph.traffic, graph.workspace)
    return graph.operator(op), [column.get(op) for column in sparse]


# --- values -------------------------------------------------------------------------------------------------------


def test_nodes_in_the_order_of_the_graph_with_their_attributes():
    g: nx.DiGraph[str] = nx.DiGraph(name="net", time_unit="us")
    g.add_node("b", duration="2 ms", op_type="Conv", color="red")
    g.add_node("a", duration=0.5, demands={"sms": np.int64(3)}, flops="3 GFLOP", workspace="1 KiB", device="d0")
    g.add_node("c", duration={"p0": 2, "p1": "3 ms"}, traffic=13)
    graph = from_networkx(g)
    assert (graph.name, graph.time_unit) == ("net", "ns")
    b, a, c = graph.operators()
    assert (b.name, b.duration, b.op_type) == ("b", 2_000_000, "Conv")
    assert (a.name, a.duration, a.demands, a.device, a.op_type) == ("a", 500, {"sms": 3}, "d0", "op")
    assert (graph.flops, graph.traffic, graph.workspace) == ({1: 3 * 10**9}, {2: 13}, {1: 1024})
    assert c.duration == {"p0": 2000, "p1": 3_000_000}


@pytest.mark.parametrize("value", [np.int32(7), np.int64(7), np.float32(7), np.float64(7), 7.0, "7", 7])
def test_whole_numbers_of_any_type(value: Any):
    g: nx.DiGraph[str] = nx.DiGraph()
    g.add_node("a", duration=value)
    graph = from_networkx(g)
    assert (graph.durations[0], type(graph.durations[0])) == (7, int)


@pytest.mark.parametrize(
    "value", [np.bool_(True), np.nan, np.float64("inf"), "", [], None.__class__, "7 h", -0.5, 10**16]
)
def test_other_values_are_faults_and_never_library_errors(value: Any):
    g: nx.DiGraph[str] = nx.DiGraph()
    g.add_node("a", duration=value)
    with pytest.raises(Exception, match="node 'a': duration: ") as caught:
        from_networkx(g)
    assert type(caught.value).__name__ == "GraphError"


def test_nodes_that_are_no_text_are_named_by_their_text():
    g = nx.DiGraph([(0, 1), ((2, 3), 0)])
    nx.set_node_attributes(g, 5, "duration")
    graph = from_networkx(g)
    assert list(graph.names) == ["(2, 3)", "0", "1"]
    assert list(map(list, graph.succ)) == [[1], [2], []]


def test_parallel_edges_keep_each_their_tensor_and_one_name_is_one_tensor():
    g: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    g.add_nodes_from("abc", duration=1)
    g.add_edge("a", "b", bytes=3)
    g.add_edge("a", "b", bytes=5)
    g.add_edge("a", "b", tensor="t", bytes=7)
    g.add_edge("a", "c", tensor="t", bytes=7, delay=11)
    graph = from_networkx(g)
    sizes = dict(zip(graph.tensor_names, graph.tensor_bytes, strict=True))
    assert sizes == {"t": 7, "a->b": 3, "a->b#2": 5}
    assert graph.tensor(0).consumers == (1, 2)
    assert graph.delays == {(0, 2): 11}


def test_other_words_for_the_attributes():
    g: nx.DiGraph[str] = nx.DiGraph()
    g.add_node("a", cost=2, kind="Conv")
    g.add_node("b", cost=3, kind="Relu")
    g.add_edge("a", "b", size=5, lag=7)
    words = {"duration": "cost", "op_type": "kind", "bytes": "size", "delay": "lag"}
    graph = from_networkx(g, name="other", time_unit="us", **words)
    assert list(graph.durations) == [2000, 3000]
    assert list(graph.op_types) == ["Conv", "Relu"]
    assert (list(graph.tensor_bytes), graph.delays) == ([5], {(0, 1): 7000})


def test_a_bare_graph_takes_one_tick_a_node_and_says_so():
    graph = from_networkx(nx.DiGraph([("a", "b")]))
    assert list(graph.durations) == [1, 1]
    assert graph.notes == ("no node has a duration or op_type: each takes one tick",)


def test_an_empty_graph():
    assert len(from_networkx(nx.DiGraph())) == 0
    assert len(to_networkx(from_networkx(nx.DiGraph()))) == 0


def test_views_of_a_graph():
    for kind in (nx.DiGraph, nx.MultiDiGraph):
        g = kind([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
        nx.set_node_attributes(g, {"a": 2, "b": 3, "c": 5, "d": 7}, "duration")
        part = from_networkx(g.subgraph(["a", "c", "d"]))
        assert dict(zip(part.names, part.durations, strict=True)) == {"a": 2, "c": 5, "d": 7}
        assert list(map(list, part.succ)) == [[1], [2], []]
        assert list(from_networkx(g.reverse(copy=False)).names) == ["d", "c", "b", "a"]


def test_the_users_graph_is_not_changed():
    g = nx.DiGraph([(1, 2)])
    nx.set_node_attributes(g, {1: {"duration": 2, "demands": {"sms": 1}}, 2: {"duration": "3"}})
    before = nx.node_link_data(g, edges="links")
    graph = from_networkx(g)
    g.nodes[1]["demands"]["sms"] = 99
    assert graph.demands[0] == {"sms": 1}
    g.nodes[1]["demands"]["sms"] = 1
    assert nx.node_link_data(g, edges="links") == before


# --- both ways ------------------------------------------------------------------------------------------------------


def everything() -> Graph:
    """Build a graph that uses nearly every field."""
    builder = GraphBuilder("everything", time_unit="ns")
    builder.description, builder.origin = "a graph", "this file"
    builder.native = {"R1": 5}
    builder.notes.append("made by hand")
    builder.add_tensor("w", shape=(3, 5), dtype="fp16", kind="parameter")
    builder.add_tensor("x", bytes=7, kind="input")
    builder.add_tensor("y", shape=(2,), dtype="fp32", kind="output")
    builder.add_tensor("unread", bytes=3)
    builder.add_op(
        "a", "Conv", inputs=["x", "w", "x"], outputs=["h", "unread"], attributes={"group": 2, "pads": [1, 1]}
    )
    builder.add_op("b", "Relu", duration=11, inputs=["h"], outputs=["y"], writes=["buffer"], workspace=13)
    builder.add_op("c", "Copy", duration={"p0": 17, "p1": 19}, reads=["buffer"], demands={"R1": 2}, traffic=23)
    builder.add_op("d", "Set", duration=29, writes=["buffer"], after=["a"], flops=31, device="p0")
    builder.add_edge("c", "d", bytes=37, delay=41)
    builder.add_edge("c", "d", bytes=43)
    builder.add_edge("a", "c", delay=47)
    return builder.build()


@pytest.mark.parametrize(
    "graph",
    [
        everything(),
        *zoo_graphs(200, 50).values(),
        *(random_graph(seed, 40, delays=(0, 2, 5), devices=("p0", "p1"), shuffle=True) for seed in range(5)),
    ],
    ids=lambda graph: graph.name,
)
def test_there_and_back(graph: Graph):
    g = to_networkx(graph)
    assert described(from_networkx(g)) == described(graph)
    assert described(from_networkx(g.copy())) == described(graph)


@given(graphs(delays=True, devices=("p0", "p1"), demands={"sms": 3}))
def test_there_and_back_with_drawn_graphs(graph: Graph):
    again = from_networkx(to_networkx(graph))
    assert described(again) == described(graph)


@pytest.mark.parametrize("name", ["residual", "graham_fewer_arcs", "heft_topcuoglu", "conv_bn_relu", "resnet50"])
def test_there_and_back_with_shipped_graphs(name: str):
    graph = load_graph(name)
    assert described(from_networkx(to_networkx(graph))) == described(graph)


def test_what_the_edges_of_networkx_say():
    g = to_networkx(everything())
    found = sorted((u, v, data["kind"], data.get("tensor"), data.get("bytes")) for u, v, data in g.edges(data=True))
    tensor = [(u, v, name, size) for u, v, kind, name, size in found if kind == "data"]
    assert tensor == [("a", "b", "h", 0), ("c", "d", None, 37), ("c", "d", None, 43)]
    assert [(u, v) for u, v, kind, *_ in found if kind == "raw"] == [("b", "c")]
    assert [(u, v) for u, v, kind, *_ in found if kind == "war"] == [("c", "d")]
    assert [(u, v) for u, v, kind, *_ in found if kind == "waw"] == [("b", "d")]


def test_a_graph_that_networkx_changed():
    g = to_networkx(load_graph("diamond"))
    g.remove_node("B")
    g.add_node("E", duration=11)
    g.add_edge("D", "E", bytes=13)
    graph = from_networkx(g)
    assert list(graph.names) == ["A", "C", "D", "E"]
    assert max(b_level(graph, graph.durations)) == 2 + 5 + 7 + 11  # type: ignore[arg-type]
    assert list(graph.tensor_bytes) == [13]


def test_an_operator_may_be_removed_with_what_only_it_made():
    g = to_networkx(everything())
    g.remove_node("b")
    graph = from_networkx(g)
    assert "b" not in graph.names
    assert "y" not in graph.tensor_names
    assert {"w", "x", "h", "unread"} <= set(graph.tensor_names)


# --- networkx as the oracle -------------------------------------------------------------------------------------------


def with_weights(graph: Graph) -> nx.DiGraph[int]:
    """Ids instead of names; each edge weighs what its source takes."""
    g: nx.DiGraph[int] = nx.DiGraph()
    g.add_nodes_from(range(len(graph)))
    g.add_weighted_edges_from((u, v, graph.durations[u]) for u, row in enumerate(graph.succ) for v in row)
    return g


@given(graphs(max_operators=12))
def test_levels_and_orders_agree_with_networkx(graph: Graph):
    g = to_networkx(graph)
    generations = [sorted(graph.id_of(name) for name in level) for level in nx.topological_generations(g)]
    ones = [1] * len(graph)
    depth = t_level(graph, ones)
    assert generations == [[op for op in range(len(graph)) if depth[op] == level] for level in range(len(generations))]
    position = {name: number for number, name in enumerate(g)}
    assert all(position[u] < position[v] for u, v in g.edges())
    durations: list[int] = list(graph.durations)  # type: ignore[arg-type]
    weighted = with_weights(graph)
    weighted.add_weighted_edges_from((op, -1, time) for op, time in enumerate(durations))
    assert max(b_level(graph, durations), default=0) == nx.dag_longest_path_length(weighted)


def test_kinds_are_those_of_the_model():
    assert {kind.name.lower() for kind in DependencyKind} == {"data", "control", "raw", "war", "waw"}


def test_a_large_graph_is_converted_in_time_proportional_to_its_size():
    """Four times the graph may take at most eight times as long: no part of it is quadratic."""

    def seconds(count: int) -> float:
        g: nx.DiGraph[int] = nx.DiGraph()
        g.add_nodes_from(range(count), duration=3)
        g.add_edges_from((max(0, node - step), node) for node in range(1, count) for step in (1, 7))
        start = time.process_time()
        graph = from_networkx(g)
        assert len(graph) == count
        return time.process_time() - start

    seconds(1000)
    assert seconds(40_000) <= 8 * min(seconds(10_000) for _ in range(3)) + 0.05
