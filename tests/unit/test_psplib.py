"""PSPLIB and Patterson files: hand-written ones, and all 480 of j30 against published bounds."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import networkx as nx
import pytest

from simsched.errors import ConfigError, GraphError
from simsched.graph.psplib import load_rcp, load_sm, parse_rcp, parse_sm
from simsched.graph.ranks import b_level
from tests.known_answers import folder

SMALL = """\
************************************************************************
file with basedata            : small.bas
initial value random generator: 1
************************************************************************
projects                      :  1
jobs (incl. supersource/sink ):  4
horizon                       :  12
RESOURCES
  - renewable                 :  2   R
  - nonrenewable              :  0   N
  - doubly constrained        :  0   D
************************************************************************
PROJECT INFORMATION:
pronr.  #jobs rel.date duedate tardcost  MPM-Time
    1      2      0        9        2        9
************************************************************************
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          2           2   3
   2        1          1           4
   3        1          1           4
   4        1          0
************************************************************************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  R 2
------------------------------------------------------------------------
  1      1     0       0    0
  2      1     5       3    0
  3      1     7       2    1
  4      1     0       0    0
************************************************************************
RESOURCEAVAILABILITIES:
  R 1  R 2
    4    1
************************************************************************
"""

PATTERSON = """\
4 2
4 1
0   0 0   2   2 3
5   3 0   1   4
7   2 1   1   4
0   0 0   0
"""


@pytest.mark.parametrize("graph", [parse_sm(SMALL, "small.sm"), parse_rcp(PATTERSON, "small.rcp")], ids=["sm", "rcp"])
def test_a_hand_written_file_in_both_formats(graph):
    assert (graph.name, graph.time_unit) == ("small", "tick")
    assert list(graph.names) == ["1", "2", "3", "4"]
    assert list(graph.durations) == [0, 5, 7, 0]
    assert list(graph.op_types) == ["dummy", "job", "job", "dummy"]
    assert [dict(graph.demands.get(op, {})) for op in range(4)] == [{}, {"R1": 3}, {"R1": 2, "R2": 1}, {}]
    assert graph.native == {"R1": 4, "R2": 1}
    assert list(map(list, graph.succ)) == [[1, 2], [3], [3], []]


def test_both_formats_of_one_project_are_the_same_graph():
    assert parse_sm(SMALL, "a.sm").content_hash == parse_rcp(PATTERSON, "b.rcp").content_hash


def test_line_breaks_mean_nothing_in_a_patterson_file():
    words = " ".join(PATTERSON.split())
    assert parse_rcp(words, "small.rcp").content_hash == parse_rcp(PATTERSON, "small.rcp").content_hash
    assert parse_rcp(words.replace(" ", "\n"), "x.rcp").content_hash == parse_rcp(PATTERSON, "x.rcp").content_hash


def test_files_are_read_from_disk(tmp_path: Path):
    (tmp_path / "p.sm").write_text(SMALL)
    (tmp_path / "p.rcp").write_text(PATTERSON)
    assert load_sm(tmp_path / "p.sm").content_hash == load_rcp(tmp_path / "p.rcp").content_hash


def test_projects_without_resources_or_jobs():
    assert parse_rcp("2 0\n3 1 2\n5 0\n", "x.rcp").native == {}
    assert len(parse_rcp("0 1\n9\n", "x.rcp")) == 0


def test_a_first_job_that_takes_time_or_a_resource_is_no_dummy():
    assert parse_rcp("2 1 4  0 1 1 2  0 0 0", "x.rcp").op_types == ["job", "dummy"]
    assert parse_rcp("2 1 4  2 0 1 2  0 0 0", "x.rcp").op_types == ["job", "dummy"]


def test_a_cycle_shows_each_of_its_lines():
    with pytest.raises(GraphError) as caught:
        parse_rcp("2 0\n3 1 2\n5 1 1\n", "loop.rcp")
    assert str(caught.value).splitlines() == [
        "loop.rcp:2:5: the graph has a cycle: 1 -> 2 -> 1",
        "  2:5: 1 -> 2",
        "  3:5: 2 -> 1",
    ]


def test_other_kinds_of_projects_are_refused_by_what_they_have():
    several = SMALL.replace("   2        1          1", "   2        3          1")
    with pytest.raises(ConfigError, match="job 2 has 3 modes; multi-mode projects are not read"):
        parse_sm(several, "x.sm")
    nonrenewable = SMALL.replace("nonrenewable              :  0", "nonrenewable              :  2")
    with pytest.raises(ConfigError, match=r"x.sm:10:34: 2 nonrenewable resources; only renewable resources are"):
        parse_sm(nonrenewable, "x.sm")
    late = SMALL.replace("    1      2      0 ", "    1      2      3 ")
    with pytest.raises(ConfigError, match=r"x.sm:15:19: release date 3; projects are started at 0 only"):
        parse_sm(late, "x.sm")


def read_independently(path: Path) -> tuple[nx.DiGraph[int], dict[int, list[int]], list[int]]:
    """Cut the three tables out of a file by their titles."""
    text = path.read_text()
    numbers = [
        [list(map(int, line.split())) for line in part.splitlines() if re.fullmatch(r"[\d\s]*\d[\d\s]*", line)]
        for part in re.split(r"PRECEDENCE RELATIONS:|REQUESTS/DURATIONS:|RESOURCEAVAILABILITIES:", text)[1:]
    ]
    precedence, requests, (capacities,) = numbers
    g: nx.DiGraph[int] = nx.DiGraph()
    for job, _, duration, *_ in requests:
        g.add_node(job, time=duration)
    for job, _, _, *others in precedence:
        g.add_weighted_edges_from((job, other, g.nodes[job]["time"]) for other in others)
    return g, {row[0]: row[3:] for row in requests}, capacities


def test_all_projects_of_thirty_jobs_agree_with_an_independent_reader_and_the_published_bounds():
    root = folder("psplib")
    rows = list(csv.DictReader((root / "reference_j30.csv").read_text().splitlines()))
    assert len(rows) == 480
    for row in rows:
        path = root / "j30" / f"{row['instance']}.sm"
        graph = load_sm(path)
        expected, demands, capacities = read_independently(path)
        assert dict(zip(map(int, graph.names), graph.durations, strict=True)) == dict(expected.nodes(data="time"))
        edges = {(int(graph.names[u]), int(graph.names[v])) for u, after in enumerate(graph.succ) for v in after}
        assert edges == set(expected.edges)
        names = [f"R{number + 1}" for number in range(len(capacities))]
        assert graph.native == dict(zip(names, capacities, strict=True))
        for op, name in enumerate(graph.names):
            given = graph.demands.get(op, {})
            assert [given.get(resource, 0) for resource in names] == demands[int(name)]
        durations: list[int] = list(graph.durations)  # type: ignore[arg-type]
        # The sink takes no time, so that weights on edges make the whole length.
        assert max(b_level(graph, durations)) == nx.dag_longest_path_length(expected) == int(row["cpm_length"])
        work = [sum(graph.demands.get(op, {}).get(name, 0) * durations[op] for op in range(32)) for name in names]
        bound = max(-(-total // capacity) for total, capacity in zip(work, capacities, strict=True))
        assert bound == int(row["resource_work_bound"]), row
