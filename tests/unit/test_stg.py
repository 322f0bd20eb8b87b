"""Standard Task Graph files, against a reader that shares nothing with ours and against published bounds."""

from __future__ import annotations

import csv
from pathlib import Path

import networkx as nx
import pytest

from simsched.errors import ConfigError, GraphError
from simsched.graph.ranks import b_level
from simsched.graph.stg import load_stg, parse_stg
from tests.known_answers import folder

SMALL = """\
      2
      0      0      0
      1      5      1      0
      2      7      2      0      1
      3      0      1      2
# Standard Task Graph Set Project
# CP Length           : 12
"""


def read_independently(path: Path) -> nx.DiGraph[int]:
    """Read a file with three lines of splitting and networkx; an edge weighs what its source takes."""
    rows = [
        list(map(int, line.split())) for line in path.read_text().splitlines() if line.split()[:1] and line[0] != "#"
    ]
    times = {row[0]: row[1] for row in rows[1:]}
    g: nx.DiGraph[int] = nx.DiGraph()
    for task, _, count, *others in rows[1:]:
        g.add_node(task)
        assert count == len(others)
        g.add_weighted_edges_from((other, task, times[other]) for other in others)
    nx.set_node_attributes(g, times, "time")
    return g


def critical_path_by_networkx(g: nx.DiGraph[int]) -> int:
    """Weights lie on edges in networkx: the last task's own time comes through an edge to a new sink."""
    h = g.copy()
    h.add_weighted_edges_from((task, -1, time) for task, time in g.nodes(data="time"))
    return int(nx.dag_longest_path_length(h))


def stated(path: Path, what: str) -> float:
    line = next(line for line in path.read_text().splitlines() if line.startswith(f"# {what}"))
    return float(line.split(":")[1])


def test_a_hand_written_file():
    graph = parse_stg(SMALL, "small.stg")
    assert (graph.name, graph.time_unit) == ("small", "tick")
    assert list(graph.names) == ["0", "1", "2", "3"]
    assert list(graph.durations) == [0, 5, 7, 0]
    assert list(graph.op_types) == ["dummy", "task", "task", "dummy"]
    assert list(map(list, graph.succ)) == [[1, 2], [2], [3], []]


def test_a_header_may_count_the_dummies():
    assert len(parse_stg(SMALL.replace("2", "4", 1), "small.stg")) == 4


def test_a_first_or_last_task_with_a_time_is_no_dummy_and_neither_is_one_without_time_inside():
    graph = parse_stg("3\n0 4 0\n1 0 1 0\n2 6 1 1\n", "x.stg")
    assert list(graph.op_types) == ["task", "task", "task"]


def test_tasks_may_stand_in_any_order():
    graph = parse_stg("3\n2 7 1 1\n1 5 1 0\n0 3 0\n", "x.stg")
    assert list(graph.names) == ["0", "1", "2"]
    assert list(graph.durations) == [3, 5, 7]


def test_no_tasks_are_an_empty_graph():
    assert len(parse_stg("0\n", "x.stg")) == 0


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path):
    path = tmp_path / "small.stg"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert load_stg(path).content_hash == parse_stg(SMALL, "small.stg").content_hash


def test_a_cycle_shows_each_of_its_lines():
    with pytest.raises(GraphError) as caught:
        parse_stg("3\n0 1 1 2\n1 2 1 0\n2 3 1 1\n", "loop.stg")
    assert str(caught.value).splitlines() == [
        "loop.stg:3:7: the graph has a cycle: 0 -> 1 -> 2 -> 0",
        "  3:7: 0 -> 1",
        "  4:7: 1 -> 2",
        "  2:7: 2 -> 0",
    ]


def test_a_long_chain_needs_no_recursion():
    count = 100_000
    rows = [f"{task} 1 {int(task > 0)} {task - 1 if task else ''}" for task in range(count)]
    graph = parse_stg("\n".join([str(count), *rows]), "chain.stg")
    assert max(b_level(graph, graph.durations)) == count  # type: ignore[arg-type]


def test_faults_are_listed_together_in_the_order_of_the_file():
    with pytest.raises(ConfigError) as caught:
        parse_stg("2\n0 x 0\n1 5 2 0\n", "x.stg")
    assert [(fault.line, fault.column) for fault in caught.value.faults] == [(2, 3), (3, 5)]


def test_a_file_of_another_kind_gives_a_page_of_faults_not_a_book():
    with pytest.raises(ConfigError) as caught:
        parse_stg("a b c d\n" * 10_000, "x.stg")
    assert len(caught.value.faults) == 51


def test_all_random_graphs_of_fifty_tasks_agree_with_an_independent_reader():
    paths = sorted((folder("stg") / "50").glob("*.stg"))
    assert len(paths) == 180
    for path in paths:
        graph, expected = load_stg(path), read_independently(path)
        durations = list(graph.durations)
        assert dict(zip(map(int, graph.names), durations, strict=True)) == dict(expected.nodes(data="time")), path.name
        edges = {(int(graph.names[u]), int(graph.names[v])) for u, row in enumerate(graph.succ) for v in row}
        assert edges == set(expected.edges), path.name
        longest = max(b_level(graph, durations))  # type: ignore[arg-type]
        assert longest == critical_path_by_networkx(expected) == stated(path, "CP Length"), path.name
        assert graph.op_types.count("dummy") == 2


def test_critical_path_and_work_stay_below_the_published_lower_bounds():
    graphs = {path.name: load_stg(path) for path in (folder("stg") / "50").glob("*.stg")}
    rows = list(csv.DictReader((folder("stg") / "stg_v2_optima_50.csv").read_text().splitlines()))
    assert len(rows) == 720
    for row in rows:
        graph = graphs[row["file"].split("/")[1]]
        durations: list[int] = list(graph.durations)  # type: ignore[arg-type]
        bound = max(*b_level(graph, durations), -(-sum(durations) // int(row["processors"])))
        assert bound <= int(row["lower_bound"]), row


@pytest.mark.parametrize(
    ("name", "operators", "critical_path", "dummies"),
    [("robot", 90, 569, 2), ("fpppp", 336, 1062, 2), ("sparse", 98, 122, 2)],
)
def test_application_graphs(name: str, operators: int, critical_path: int, dummies: int):
    path = folder("stg") / "app" / f"{name}.stg"
    graph = load_stg(path)
    assert len(graph) == operators
    assert graph.op_types.count("dummy") == dummies
    assert max(b_level(graph, graph.durations)) == critical_path  # type: ignore[arg-type]
    assert critical_path_by_networkx(read_independently(path)) == critical_path
