"""The layered layout: levels are longest paths, edges go down, nothing overlaps, and the picture never changes."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import given, settings

from simsched.graph.builder import GraphBuilder
from simsched.graph.layout import layered_layout, layers
from simsched.graph.model import Graph
from tests.builders import random_graph, zoo_graphs
from tests.strategies import graphs


def graph_of(*edges: str, names: str = "") -> Graph:
    builder = GraphBuilder("drawn", time_unit="tick")
    for name in names or sorted({letter for edge in edges for letter in edge}):
        builder.add_op(name, duration=1)
    for source, target in edges:
        builder.add_edge(source, target)
    return builder.build()


def networkx_levels(graph: Graph) -> list[int]:
    picture = nx.DiGraph()
    picture.add_nodes_from(range(len(graph)))
    picture.add_edges_from((op, other) for op, targets in enumerate(graph.succ) for other in targets)
    levels = [0] * len(graph)
    for level, members in enumerate(nx.topological_generations(picture)):
        for op in members:
            levels[op] = level
    return levels


@settings(deadline=None)
@given(graphs())
def test_every_layout_is_sound(graph: Graph) -> None:
    layout = layered_layout(graph)
    assert list(layout.level) == networkx_levels(graph) == layers(graph)
    rows: dict[int, list[float]] = {}
    for level, x in zip(layout.level, layout.x, strict=True):
        rows.setdefault(level, []).append(x)
    for row in rows.values():
        assert all(right - left >= 1 - 1e-9 for left, right in pairwise(sorted(row)))
    assert layout.levels == len(rows)
    assert min(layout.x, default=0.5) == pytest.approx(0.5)
    assert layout.width == pytest.approx(max(layout.x, default=-0.5) + 0.5)
    for op, targets in enumerate(graph.succ):
        for other in targets:
            between = [level for _, level in layout.routes.get((op, other), ())]
            assert between == list(range(layout.level[op] + 1, layout.level[other]))


def test_long_edges_pass_beside_the_boxes_of_other_levels() -> None:
    layout = layered_layout(random_graph(5, 60, degree=1.5, reach=12))
    assert layout.routes
    for points in layout.routes.values():
        for x, level in points:
            for other, at in zip(layout.x, layout.level, strict=True):
                assert at != level or abs(x - other) >= 0.7 - 1e-9


def test_a_chain_is_a_straight_line_and_a_diamond_is_symmetric() -> None:
    assert set(layered_layout(graph_of("ab", "bc", "cd")).x) == {0.5}
    diamond = layered_layout(graph_of("ab", "ac", "bd", "cd"))
    assert diamond.x == pytest.approx((1.0, 0.5, 1.5, 1.0))
    assert diamond.level == (0, 1, 1, 2)


def test_crossings_that_can_be_avoided_are() -> None:
    # a-f and b-e cross in the order of insertion; exchanging e and f removes the crossing.
    graph = graph_of("ac", "bd", "cf", "de")
    layout = layered_layout(graph)
    place = dict(zip(graph.names, layout.x, strict=True))
    assert (place["f"] < place["e"]) == (place["c"] < place["d"])


def crossings(graph: Graph) -> int:
    """Pairs of edges between neighbouring levels that cross, by comparing every pair."""
    layout = layered_layout(graph)
    pieces = []
    for op, targets in enumerate(graph.succ):
        for other in targets:
            way = [(layout.x[op], layout.level[op]), *layout.routes.get((op, other), ())]
            way.append((layout.x[other], layout.level[other]))
            pieces += list(pairwise(way))
    return sum(
        first[0][1] == second[0][1] and (first[0][0] - second[0][0]) * (first[1][0] - second[1][0]) < 0
        for first, second in combinations(sorted(set(pieces)), 2)
    )


def test_planar_trees_have_no_crossings() -> None:
    tree = graph_of("ab", "ac", "ad", "be", "bf", "cg", "dh", "di", names="acbdgefih")
    assert crossings(tree) == 0


def test_parts_of_a_graph_stand_side_by_side() -> None:
    layout = layered_layout(graph_of("ab", "cd", names="acbde"))
    graph = graph_of("ab", "cd", names="acbde")
    place = dict(zip(graph.names, layout.x, strict=True))
    assert (place["a"], place["b"]) == (0.5, 0.5)
    assert (place["c"], place["d"]) == (1.5, 1.5)
    assert place["e"] == 2.5


def test_edges_without_waypoints_when_there_would_be_too_many() -> None:
    graph = random_graph(5, 300, degree=2, reach=200)
    level = layers(graph)
    pairs = [(source, op) for op in range(len(graph)) for source in graph.pred[op]]
    needed = {(source, op) for source, op in pairs if level[op] - level[source] > 1}
    assert set(layered_layout(graph).routes) == needed
    few = set(layered_layout(graph, max_waypoints=40).routes)
    assert few
    assert few < needed
    assert layered_layout(graph, max_waypoints=0).routes == {}


@pytest.mark.parametrize("name", ["empty", "one", "deep", "wide", "disconnected"])
def test_edges_of_what_is_allowed(name: str) -> None:
    graph = zoo_graphs(deep=3000, wide=400)[name]
    layout = layered_layout(graph)
    assert len(layout.x) == len(graph)


def test_the_same_picture_under_every_hash_seed() -> None:
    program = (
        "from simsched.graph.layout import layered_layout; from tests.builders import random_graph; "
        "layout = layered_layout(random_graph(3, 120)); print(layout.x, sorted(layout.routes.items()))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }  # fmt: skip
    assert len(texts) == 1
