"""The graph in the document of a page: edges, and the groups of a large one."""

from __future__ import annotations

from simsched.graph.builder import GraphBuilder
from simsched.graph.io import load_graph
from simsched.page.document import page_document
from simsched.page.groups import MOST
from simsched.run import run
from tests.page_shapes import faults_of


def test_kinds_of_edges_are_summed() -> None:
    builder = GraphBuilder("kinds", time_unit="tick")
    builder.add_tensor("t", bytes=1, kind="activation")
    builder.add_op("a", duration=1, outputs=["t"], writes=["buffer"])
    builder.add_op("b", duration=1, inputs=["t"], reads=["buffer"])
    builder.add_op("c", duration=1, inputs=["t"])
    builder.add_op("d", duration=1, writes=["buffer"])
    builder.add_edge("a", "b")
    builder.add_edge("c", "d")
    graph = page_document([run(builder.build(), "serial", "lanes:1")])["graph"]
    assert graph["edges"] == [[0, 1, 1 + 2 + 4], [0, 2, 1], [0, 3, 4], [1, 3, 4], [2, 3, 2]]


def test_a_large_graph_has_groups_in_levels() -> None:
    for source in ("layered_random(n=4000, seed=3)", "chain(n=3500)", "fork_join(width=3500)"):
        graph = load_graph(source)
        document = page_document([run(graph, "topological", "lanes:8")])
        part = document["graph"]
        groups, of = part["groups"], part["groups"]["of"]
        assert faults_of(document) == []
        assert sorted(set(of)) == list(range(len(groups["names"])))
        assert 20 <= len(groups["names"]) <= MOST
        crossing = [(of[a], of[b]) for a, b, _ in part["edges"] if of[a] != of[b]]
        assert sorted({tuple(row[:2]) for row in groups["edges"]}) == sorted(set(crossing))
        assert sum(row[2] for row in groups["edges"]) == len(crossing)
        levels = groups["layout"]["level"]
        assert all(levels[a] < levels[b] for a, b in crossing), source


def test_groups_are_neighbours_in_the_drawing() -> None:
    """No group spans more levels than its band, and none is much larger than the others."""
    part = page_document([run("layered_random(n=20000)", "topological", "lanes:8")])["graph"]
    levels: dict[int, set[int]] = {}
    for group, level in zip(part["groups"]["of"], part["layout"]["level"], strict=True):
        levels.setdefault(group, set()).add(level)
    assert all(len(found) == 1 for found in levels.values())
    counts = [part["groups"]["of"].count(group) for group in range(len(levels))]
    assert max(counts) <= 2 * 20_000 / len(levels)


def test_groups_follow_names_that_say_where_operators_belong() -> None:
    builder = GraphBuilder("named", time_unit="tick")
    for block in range(40):
        for number in range(90):
            name = f"block.{block}/{'left' if number % 2 else 'right'}/op{number}"
            builder.add_op(name, duration=1)
            if number > 1:
                builder.add_edge(f"block.{block}/{'left' if number % 2 else 'right'}/op{number - 2}", name)
            elif block:
                builder.add_edge(f"block.{block - 1}/{'left' if number % 2 else 'right'}/op{88 + number}", name)
    groups = page_document([run(builder.build(), "topological", "lanes:2")])["graph"]["groups"]
    assert len(groups["names"]) == 80
    assert {"block.0/left", "block.39/right"} <= set(groups["names"])
    assert sorted({row[2] for row in groups["edges"]}) == [1]


def test_names_whose_blocks_run_in_a_circle_are_not_groups() -> None:
    """Every operator of block n + 1 follows one of block n, and block 0 comes back at the end."""
    builder = GraphBuilder("circle", time_unit="tick")
    for number in range(3600):
        builder.add_op(f"block{number % 20}/op{number}", duration=1)
        if number:
            builder.add_edge(f"block{(number - 1) % 20}/op{number - 1}", f"block{number % 20}/op{number}")
    groups = page_document([run(builder.build(), "topological", "lanes:1")])["graph"]["groups"]
    assert "block0" not in groups["names"]
    levels = groups["layout"]["level"]
    assert all(levels[source] < levels[target] for source, target, _ in groups["edges"])
