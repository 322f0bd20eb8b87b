"""Malformed files of other formats, and networkx graphs that cannot be used, cause exactly these messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from simsched.errors import GraphError
from simsched.graph.nx import from_networkx
from tests.golden import malformed_dot, malformed_tables
from tests.golden.case import Case, check_message

CASES = [*malformed_tables.CASES, *malformed_dot.CASES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_the_message_is_exactly_this(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_message(case)


def test_every_case_is_written_once() -> None:
    assert len({case.what for case in CASES}) == len(CASES)
    assert len({(case.file, case.text) for case in CASES}) == len(CASES)


def _graph(*nodes: tuple[Any, dict[str, Any]], edges: tuple[Any, ...] = (), **about: Any) -> nx.MultiDiGraph[Any]:
    g: nx.MultiDiGraph[Any] = nx.MultiDiGraph(**about)
    g.add_nodes_from(nodes)
    g.add_edges_from(edges)
    return g


def _one(**attributes: Any) -> nx.MultiDiGraph[Any]:
    return _graph(("a", attributes), name="net")


NETWORKX: list[tuple[str, Callable[[], Any], str]] = [
    (
        "undirected",
        lambda: nx.path_graph(3),
        "networkx graph: an undirected graph does not say which operator waits; make it a networkx.DiGraph",
    ),
    ("no graph at all", lambda: [("a", "b")], "networkx graph: expected a networkx.DiGraph, got list"),
    (
        "two nodes of one name",
        lambda: _graph((1, {"duration": 2}), ("1", {"duration": 3}), name="net"),
        "networkx graph 'net': nodes 1 and '1' would both be named '1'; rename one",
    ),
    (
        "not a number",
        lambda: _one(duration=float("nan")),
        "networkx graph 'net': node 'a': duration: nan is not a finite number",
    ),
    (
        "negative",
        lambda: _one(duration=-3),
        "networkx graph 'net': node 'a': duration: a duration cannot be negative: -3",
    ),
    ("boolean", lambda: _one(duration=True), "networkx graph 'net': node 'a': duration: expected a number, got bool"),
    (
        "a part of a tick",
        lambda: _one(duration=2.5),
        "networkx graph 'net': node 'a': duration: 2.5 is not a whole number of ticks",
    ),
    (
        "a unit among ticks",
        lambda: _one(duration="3 us"),
        "networkx graph 'net': node 'a': duration: '3 us' has a unit, but the graph counts in ticks; "
        "write a plain number, or say time_unit=ns, us, ms or s",
    ),
    (
        "a time unit that does not exist",
        lambda: _graph(("a", {"duration": 1}), name="net", time_unit="usec"),
        "networkx graph 'net': time_unit: unknown time unit 'usec'; did you mean 'us'?",
    ),
    (
        "one node without a cost",
        lambda: _graph(("a", {"duration": 1}), ("b", {}), name="net"),
        "networkx graph 'net': node 'b' has neither 'duration' nor 'op_type'; one is needed",
    ),
    (
        "a cycle",
        lambda: _graph(edges=(("a", "b"), ("b", "c"), ("c", "a")), name="net"),
        "networkx graph 'net': the graph has a cycle: a -> b -> c -> a\n  a -> b\n  b -> c\n  c -> a",
    ),
    (
        "a self loop",
        lambda: _graph(edges=(("a", "a"),), name="net"),
        "networkx graph 'net': the graph has a cycle: a -> a\n  a -> a",
    ),
    (
        "edges",
        lambda: _graph(
            edges=(
                ("a", "b", {"bytes": -1}),
                ("a", "c", {"bytes": "4 Mib"}),
                ("b", "c", {"delay": None, "bytes": True}),
            ),
            name="net",
        ),
        "networkx graph 'net': 3 problems\n"
        "  edge 'a' -> 'b': bytes: a size cannot be negative: -1\n"
        "  edge 'a' -> 'c': bytes: unknown unit 'Mib' in '4 Mib'; "
        "expected one of: B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB\n"
        "  edge 'b' -> 'c': bytes: expected a quantity such as '4 MiB', got bool",
    ),
    (
        "a tensor of two sizes and two makers",
        lambda: _graph(
            edges=(
                ("a", "c", {"tensor": "t", "bytes": 3}),
                ("a", "d", {"tensor": "t", "bytes": 5}),
                ("b", "d", {"tensor": "t", "bytes": 3}),
            ),
            name="net",
        ),
        "networkx graph 'net': 2 problems\n"
        "  edge 'a' -> 'd': tensor 't' has 3 bytes on another edge, 5 here\n"
        "  edge 'b' -> 'd': tensor 't' leaves 'a' and 'b'; a tensor has one producer",
    ),
    (
        "demands and work",
        lambda: _one(duration=1, demands="sms: 2", flops="2 GMAC", workspace=-1, inputs="x"),
        "networkx graph 'net': 4 problems\n"
        "  node 'a': inputs: expected a list of names, got 'x'\n"
        "  node 'a': demands: expected 'name=value, name=value', got 'sms: 2'\n"
        "  node 'a': flops: '2 GMAC' counts multiply-adds; write twice the number, in FLOP\n"
        "  node 'a': workspace: a size cannot be negative: -1",
    ),
    (
        "an edge taken away without its tensor",
        lambda: _graph(
            ("a", {"outputs": ["t"], "op_type": "Relu"}), ("b", {"inputs": ["t"], "op_type": "Relu"}), name="net"
        ),
        "networkx graph 'net': node 'b': inputs: tensor 't' is listed, but no edge from 'a' carries it; "
        "add the edge, or take it off the list",
    ),
]


@pytest.mark.parametrize(("make", "message"), [row[1:] for row in NETWORKX], ids=[row[0] for row in NETWORKX])
def test_a_networkx_graph_that_cannot_be_used(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(GraphError) as caught:
        from_networkx(make())
    assert str(caught.value) == message


def test_a_misspelt_attribute_of_networkx_is_not_taken_for_unit_durations() -> None:
    g = nx.DiGraph([("a", "b")])
    nx.set_node_attributes(g, 3, "runtime")
    with pytest.raises(GraphError) as caught:
        from_networkx(g, duration="run_time")
    assert str(caught.value) == "networkx graph: no node has the attribute 'run_time'; did you mean 'runtime'?"
