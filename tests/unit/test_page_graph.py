"""The graph in the document of a page: edges, and the groups of a large one."""

from __future__ import annotations

from simsched.colours import FILLS, OTHER_FILL, type_colours
from simsched.graph.builder import GraphBuilder
from simsched.graph.io import load_graph
from simsched.page.document import page_document
from simsched.page.groups import MOST
from simsched.run import run
from tests.page_shapes import faults_of


def test_kinds_of_edges_are_summed() -> None:
    builder = GraphBuilder("kinds", time_unit="tick")
    for tensor in "tu":
        builder.add_tensor(tensor, bytes=1, kind="activation")
    builder.add_op("a", duration=1, outputs=["t", "u"], writes=["buffer"])
    builder.add_op("b", duration=1, inputs=["t", "u"], reads=["buffer"])
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


def test_groups_stay_few_where_every_level_leaves_some_over() -> None:
    """Of 500 levels of 7 operators: three groups in each would be 1,500."""
    builder = GraphBuilder("even", time_unit="tick")
    for op in range(3500):
        builder.add_op(f"v{op}", duration=1)
        for before in range(op - 7, op - 5) if op >= 7 else ():
            if before // 7 == op // 7 - 1:
                builder.add_edge(f"v{before}", f"v{op}")
    part = page_document([run(builder.build(), "topological", "lanes:7")])["graph"]
    assert part["layout"]["levels"] == 500
    assert len(part["groups"]["names"]) == 1000


def test_groups_of_a_level_stand_beside_each_other() -> None:
    part = page_document([run("layered_random(n=5000, seed=7)", "topological", "lanes:8")])["graph"]
    groups: dict[tuple[int, int], list[float]] = {}
    for group, level, x in zip(part["groups"]["of"], part["layout"]["level"], part["layout"]["x"], strict=True):
        groups.setdefault((level, group), []).append(x)
    for (level, group), places in groups.items():
        after = groups.get((level, group + 1))
        assert after is None or max(places) < min(after)


def test_names_that_put_most_into_one_block_are_not_groups() -> None:
    builder = GraphBuilder("lopsided", time_unit="tick")
    for number in range(3600):
        builder.add_op(f"main/op{number}" if number % 10 else f"side{number}/op", duration=1)
    groups = page_document([run(builder.build(), "topological", "lanes:4")])["graph"]["groups"]
    assert "main" not in groups["names"]


def test_names_are_followed_as_deep_as_they_run_forward() -> None:
    """Blocks follow each other; inside each, left and right take turns."""
    builder = GraphBuilder("deep", time_unit="tick")
    names = [f"b{number // 100}/{'left' if number % 2 else 'right'}/op{number}" for number in range(3600)]
    for before, name in zip(["", *names], names, strict=False):
        builder.add_op(name, duration=1)
        if before:
            builder.add_edge(before, name)
    groups = page_document([run(builder.build(), "topological", "lanes:1")])["graph"]["groups"]
    assert groups["names"] == [f"b{number}" for number in range(36)]


def test_types_have_the_fills_of_the_pictures() -> None:
    graph = load_graph("inception_v1")
    part = page_document([run(graph, "serial", "a100_sxm_80gb")])["graph"]
    colours = type_colours(graph.op_types)
    for name, fill in zip(part["types"], part["fills"], strict=True):
        assert (*FILLS, OTHER_FILL)[fill] == colours[name]
    assert [part["types"][number] for number in part["type"]] == list(graph.op_types)
    assert part["fills"][part["types"].index("Conv")] == 0


def test_edges_that_pass_levels_are_led_around() -> None:
    builder = GraphBuilder("long", time_unit="tick")
    for name in "abcd":
        builder.add_op(name, duration=1)
    for pair in ("ab", "bc", "cd", "ad"):
        builder.add_edge(*pair)
    layout = page_document([run(builder.build(), "serial", "lanes:1")])["graph"]["layout"]
    assert (layout["level"], layout["levels"]) == ([0, 1, 2, 3], 4)
    ((source, target, *way),) = layout["routes"]
    assert (source, target, way[1::2]) == (0, 3, [1, 2])
    assert all(abs(x - layout["x"][1]) > 0.5 for x in way[0::2])
