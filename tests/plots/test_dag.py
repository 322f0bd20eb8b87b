"""The DAG picture and the roofline: boxes, edges and dots are read back from the axes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from simsched.graph.builder import GraphBuilder
from simsched.graph.layout import layered_layout
from simsched.graph.model import Graph
from simsched.hardware import lanes, procs
from simsched.plot.columns import BOX_HEIGHT, BOX_WIDTH, course, fold
from simsched.plot.dag import plot_dag
from simsched.plot.roofline import dots_of, plot_roofline
from tests.builders import problem_of, random_graph, zoo_graphs
from tests.plots.looks import boxes, diamond, kernels, legend, marked, points, ways, words


def chain(count: int) -> Graph:
    builder = GraphBuilder("chain", time_unit="tick")
    for number in range(count):
        builder.add_op(f"v{number}", duration=2, after=[f"v{number - 1}"] if number else [])
    return builder.build()


def test_boxes_lie_on_their_levels_coloured_by_type() -> None:
    graph = diamond()
    layout = layered_layout(graph)
    ax = plot_dag(graph)
    found = {}
    for op_type in ("Conv", "Relu", "Add", "Shape"):
        for left, right, top, bottom in boxes(ax, f"nodes:{op_type}"):
            assert (right - left, bottom - top) == pytest.approx((BOX_WIDTH, BOX_HEIGHT))
            found[round((left + right) / 2, 6), round((top + bottom) / 2, 6)] = op_type
    columns = zip(layout.x, layout.level, graph.op_types, strict=True)
    expected = {(round(x, 6), level): kind for x, level, kind in columns}
    assert found == expected


def test_every_edge_leaves_and_arrives_at_its_boxes() -> None:
    graph = diamond()
    layout = layered_layout(graph)
    ends = {(way[0], way[-1]) for way in ways(plot_dag(graph), "edges:")}
    expected = set()
    for op, targets in enumerate(graph.succ):
        for other in targets:
            start = (layout.x[op], layout.level[op] + BOX_HEIGHT / 2)
            expected.add((start, (layout.x[other], layout.level[other] - BOX_HEIGHT / 2)))
    assert ends == expected


def test_the_critical_path_is_outlined_and_named() -> None:
    ax = plot_dag(diamond())
    assert len(boxes(ax, "critical")) == 3
    assert len(ways(ax, "critical-edges")) == 2
    assert ax.get_title(loc="left") == "diamond: 5 operators, 4 levels, critical path 14 over 3 operators"
    assert sorted(words(ax, "name")) == ["a", "b", "c", "d", "z"]
    assert sorted(words(ax, "duration")) == ["0", "2", "3", "5", "7"]
    assert legend(ax) == ["Conv", "Add", "Relu", "Shape", "critical path"]


def test_a_problem_gives_the_durations() -> None:
    builder = GraphBuilder("two", time_unit="tick")
    builder.add_op("a", duration={"p0": 3, "p1": 2})
    builder.add_op("b", duration=5, after=["a"])
    graph = builder.build()
    assert plot_dag(graph).get_title(loc="left") == "two: 2 operators, 2 levels"
    assert "critical path 7" in plot_dag(problem_of(graph, procs(2))).get_title(loc="left")


def test_kinds_of_dependencies_have_their_own_lines() -> None:
    builder = GraphBuilder("kinds", time_unit="tick")
    builder.add_tensor("t", bytes=3)
    builder.add_op("write", duration=1, writes=["buffer"], outputs=["t"])
    builder.add_op("read", duration=1, reads=["buffer"])
    builder.add_op("again", duration=1, writes=["buffer"], inputs=["t"])
    builder.add_op("last", duration=1, after=["again"])
    ax = plot_dag(builder.build())
    assert len(ways(ax, "edges:DATA")) == 1  # write to again, also write after write
    assert len(ways(ax, "edges:RAW")) == 1
    assert len(ways(ax, "edges:WAR")) == 1
    assert len(ways(ax, "edges:CONTROL")) == 1
    named = ["data", "control", "buffer, read after write", "buffer, write after read", "buffer, write after write"]
    assert legend(ax) == ["critical path", *named]


def test_a_long_graph_is_folded_into_columns() -> None:
    graph = chain(100)
    layout = layered_layout(graph)
    columns = fold(layout)
    assert columns.count > 1
    assert columns.count * columns.height >= 100
    ax = plot_dag(graph)
    assert len(boxes(ax, "nodes:")) == 100
    assert len(ways(ax, "jumps")) == columns.count - 1
    assert len(ways(ax, "edges:")) == 99 - (columns.count - 1)
    first, *_, last = words(ax, "levels")
    assert (first.split("–")[0], last.split("–")[1]) == ("0", "99")
    places = [(left, top) for left, _, top, _ in boxes(ax, "nodes:")]
    assert len(set(places)) == 100


def test_edges_only_go_down_within_a_column() -> None:
    graph = random_graph(3, 150, degree=1.5, reach=8)
    layout = layered_layout(graph)
    columns = fold(layout)
    for op, targets in enumerate(graph.succ):
        for other in targets:
            for way, jump in course(layout, columns, op, other):
                downward = all(before[1] <= after[1] for before, after in pairwise(way))
                assert jump or downward


@pytest.mark.parametrize("name", ["empty", "one", "one_zero", "wide", "disconnected", "zero_length"])
def test_edges_of_what_is_allowed(name: str) -> None:
    graph = zoo_graphs()[name]
    assert len(boxes(plot_dag(graph), "nodes:")) == len(graph)


def test_names_are_dropped_where_there_is_no_room() -> None:
    ax = plot_dag(random_graph(3, 900))
    assert words(ax, "name") == []


# --- roofline ---------------------------------------------------------------------------------------------------


def test_dots_are_intensity_and_achieved_rate() -> None:
    ax = plot_roofline(kernels())
    (dots,) = marked(ax, "operators")
    # dense: 8e6 / 0.8e12 s = 10,000 ns + 1,000; thin: 9e5 B / 90e9 B/s = 10,000 ns + 1,000.
    places = sorted((float(x), float(y)) for x, y in dots.get_offsets())
    assert places[0] == pytest.approx((0.1, 90_000 / 11e-6))
    assert places[1] == pytest.approx((8e6 / 9e4, 8e6 / 11e-6))
    assert dots_of(kernels(), 0).views == 1
    assert words(ax, "left-out") == [
        "not shown:\n1 without duration (views)\n1 that only move bytes\n1 of unknown work"
    ]


def test_roofs_are_peaks_and_bandwidth_times_efficiency() -> None:
    ax = plot_roofline(kernels())
    assert points(ax, "roof")[0] == pytest.approx((0.8e12 / 90e9, 0.8e12))
    assert points(ax, "other-roof")[0] == pytest.approx((4e12 / 90e9, 4e12))
    (x0, y0), (x1, y1) = points(ax, "slope")
    assert (y0 / x0, y1 / x1) == pytest.approx((90e9, 90e9))
    assert y1 == pytest.approx(4e12)
    labels = legend(ax)
    assert "vector fp32: 1 TFLOP/s × 0.8" in labels
    assert "matrix tf32: 8 TFLOP/s × 0.5\n(used by no operator here)" in labels
    assert "memory: 100 GB/s × 0.9" in labels


def test_no_dot_is_above_the_roof() -> None:
    problem = kernels()
    for op in dots_of(problem, 0).ops:
        cost = problem.cost(op)
        assert cost.flops * 1e9 / cost.duration <= min(0.8e12, 90e9 * cost.intensity) * (1 + 1e-9)


def test_hardware_without_peaks_says_so() -> None:
    ax = plot_roofline(problem_of(diamond(), lanes(2)))
    assert words(ax, "empty") == ["d0 has no peaks or no bandwidth in its profile: there is no roof to draw"]
