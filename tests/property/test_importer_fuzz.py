"""Whatever a file or a networkx graph holds: a graph comes back, or an error of ours that says where."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simsched.errors import InputError, UnknownNameError
from simsched.graph.dot import dump_dot, parse_dot
from simsched.graph.generators import generate, generator_names
from simsched.graph.model import Graph
from simsched.graph.nx import from_networkx, to_networkx
from simsched.graph.psplib import parse_rcp, parse_sm
from simsched.graph.stg import parse_stg
from tests.unit import test_psplib, test_stg

DOT = """strict digraph "net one" {
  // a comment
  time_unit=us; node [op_type="Conv", duration="2.6 us"];
  a:n [label=<<b>x</b>>, demands="sms=2"]; "b c" [flops="3 GFLOP", duration=5];
  subgraph cluster_0 { edge [delay=3]; d -> {e f} [bytes="4 KiB", tensor=t]; {e f} -> g }
  a -> "b c" -> d; // the end
# this too
}
"""

TEXTS: dict[str, tuple[Callable[[str, str], Graph], str]] = {
    "stg": (parse_stg, test_stg.SMALL),
    "sm": (parse_sm, test_psplib.SMALL),
    "rcp": (parse_rcp, test_psplib.PATTERSON),
    "dot": (parse_dot, DOT),
}

PIECES = st.one_of(
    st.sampled_from(
        [
            " ",
            "\n",
            "-",
            "->",
            "--",
            '"',
            "\\",
            "{",
            "}",
            "[",
            "]",
            "=",
            ";",
            "<",
            ">",
            "/*",
            "#",
            ":",
            "+",
            "\ufeff",
            "\0",
        ]
    ),
    st.integers(-3, 10**22).map(str),
    st.floats().map(str),
    st.text(max_size=4),
)


@st.composite
def mutations(draw: st.DrawFn, text: str) -> str:
    """Cut, double, swap and insert pieces of a text that is right."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        how = draw(st.integers(0, 3))
        if how == 0:
            text = text[:start] + text[end:]
        elif how == 1:
            text = text[:end] + text[start:end] + text[end:]
        elif how == 2:
            text = text[:start] + draw(PIECES) + text[start:]
        else:
            text = text[:start] + draw(PIECES) + text[end:]
    return text


def complaint(call: Callable[[], Graph]) -> tuple[Graph | None, InputError | None]:
    try:
        return call(), None
    except InputError as error:
        return None, error


def read_or_complain(parse: Callable[[str, str], Graph], text: str) -> Graph | None:
    graph, error = complaint(lambda: parse(text, "fuzzed"))
    if error is not None:
        assert error.faults
        assert str(error).startswith("fuzzed:")
        for fault in error.faults:
            assert fault.message
            assert 1 <= (fault.line or 0) <= text.count("\n") + 1
            assert (fault.column or 0) >= 1
    return graph


@pytest.mark.parametrize("kind", TEXTS)
def test_the_texts_that_are_mutated_are_right(kind: str):
    parse, text = TEXTS[kind]
    assert len(parse(text, "right")) > 0


@pytest.mark.parametrize("kind", TEXTS)
@settings(max_examples=400)
@given(data=st.data())
def test_a_mutated_file_is_read_or_refused_with_its_place(kind: str, data: st.DataObject):
    parse, text = TEXTS[kind]
    graph = read_or_complain(parse, data.draw(mutations(text)))
    if graph is not None:
        assert all(u < v for u, row in enumerate(graph.succ) for v in row)


@pytest.mark.parametrize("kind", TEXTS)
@settings(max_examples=100)
@given(text=st.text(max_size=200))
@example(text="digraph {" + "{" * 5000)
@example(text="digraph { a " + "-> {a" * 5000)
@example(text="9" * 5000)
@example(text="1 999999999999999 ")
def test_any_text_at_all(kind: str, text: str):
    read_or_complain(TEXTS[kind][0], text)


@settings(max_examples=100)
@given(name=st.text(min_size=1, max_size=8), label=st.text(max_size=8))
def test_any_name_is_written_in_dot_and_read_back_or_refused(name: str, label: str):
    g: nx.DiGraph[str] = nx.DiGraph()
    g.add_node(name, duration=1, attributes={"label": label})
    graph = from_networkx(g, name="net")
    try:
        text = dump_dot(graph)
    except InputError:
        assert "\\" in name + label
        return
    assert list(parse_dot(text, "again").names) == [name]


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**17),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["2 us", "p0=2, p1=3", "4 MiB", "3 GFLOP", "a", "t", "tick"]),
    st.lists(st.sampled_from(["t", "s", 3]), max_size=2),
    st.dictionaries(st.sampled_from(["p0", "sms", "bytes", "shape", "kind"]), st.integers(-1, 5) | st.text(max_size=3)),
)
OF_NODES = "duration op_type device demands flops traffic workspace attributes reads writes inputs outputs"
OF_EDGES_AND_GRAPHS = "bytes delay tensor kind time_unit tensors native notes description name"
KEYS = st.sampled_from(f"{OF_NODES} {OF_EDGES_AND_GRAPHS}".split())
FOUND = st.dictionaries(KEYS, VALUES, max_size=4)


@settings(max_examples=400)
@given(
    about=FOUND,
    nodes=st.lists(FOUND, max_size=4),
    edges=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), FOUND), max_size=5),
)
def test_any_attributes_of_a_networkx_graph(about: dict[str, Any], nodes: list[dict[str, Any]], edges: list[Any]):
    g: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    g.graph.update(about)
    for number, found in enumerate(nodes):
        g.add_node(number)
        g.nodes[number].update(found)
    for u, v, found in edges:
        g.add_edges_from([(u, v, found)])
    graph, error = complaint(lambda: from_networkx(g))
    if graph is None:
        assert str(error).startswith("networkx graph")
        return
    assert list(from_networkx(to_networkx(graph)).names) == list(graph.names)


@settings(max_examples=300)
@given(
    name=st.sampled_from([*generator_names(), "chian", ""]),
    rest=st.one_of(
        st.text(max_size=10),
        st.lists(
            st.tuples(st.sampled_from(["n", "seed", "width", "ccr", "dtype", "depth", ""]), VALUES), max_size=3
        ).map(lambda pairs: "(" + ",".join(f"{key}={value}" for key, value in pairs) + ")"),
    ),
)
def test_any_text_for_a_generator(name: str, rest: str):
    with contextlib.suppress(InputError, UnknownNameError):
        assert len(generate(f"{name}{rest}" if len(rest) < 40 else name)) >= 0
