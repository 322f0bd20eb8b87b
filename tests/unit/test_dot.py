"""Graphviz digraphs: the language, what attributes mean, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from simsched.errors import ConfigError, GraphError
from simsched.graph.builder import GraphBuilder
from simsched.graph.dot import DotKeys, dump_dot, load_dot, parse_dot, save_dot
from simsched.graph.dot_syntax import parse
from simsched.graph.model import Graph
from simsched.graph.ranks import b_level
from tests.strategies import zoo_graphs


def edges(graph: Graph) -> list[tuple[str, str]]:
    """Pairs of names, in the order of the file."""
    return [(graph.names[row.source], graph.names[row.target]) for row in graph.dependencies()]


def named(text: str) -> list[str]:
    return list(parse(f"digraph {{ {text} }}", "x.dot").nodes)


# --- the language -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a b c", ["a", "b", "c"]),
        ("a; b; c;", ["a", "b", "c"]),
        ("_x1 größe 数 -3 4.5 -.5 7.", ["_x1", "größe", "数", "-3", "4.5", "-.5", "7."]),
        ('"a b" "a->b" "" "say \\"hi\\""', ["a b", "a->b", "", 'say "hi"']),
        ('"one " + "name" x', ["one name", "x"]),
        ('"broken \\\nline"', ["broken line"]),
        ('"two\\\\" "\\n"', ["two\\\\", "\\n"]),
        ("a:port b:port:ne c:n -> d:w", ["a", "b", "c", "d"]),
        ("a // comment\n b /* another\n one */ c\n# and a third\n d", ["a", "b", "c", "d"]),
        ('"node" "Graph" subgraphs', ["node", "Graph", "subgraphs"]),
        ("<<b>bold</b>> x", ["<<b>bold</b>>", "x"]),
    ],
)
def test_names(text: str, names: list[str]):
    assert named(text) == names


def test_chains_subgraphs_and_their_products():
    graph = parse_dot("digraph { a -> b -> c; {d e} -> subgraph s { f; g } -> h }", "x.dot")
    assert edges(graph) == [
        ("a", "b"), ("b", "c"), ("d", "f"), ("d", "g"), ("e", "f"), ("e", "g"), ("f", "h"), ("g", "h"),
    ]  # fmt: skip


def test_a_subgraph_that_is_opened_again_goes_on():
    graph = parse_dot("digraph { subgraph s { a } subgraph s { b } x -> subgraph s { c } }", "x.dot")
    assert edges(graph) == [("x", "a"), ("x", "b"), ("x", "c")]


def test_keywords_in_any_case():
    assert parse_dot("STRICT DiGraph G { NODE [duration=3] SubGraph c { a } }", "x.dot").durations == [3]


def test_defaults_hold_for_what_is_first_mentioned_after_them_and_inside_subgraphs():
    text = """digraph {
        early;
        node [duration=2];
        a;
        subgraph cluster_one {
            b;
            node [duration=3];
            edge [delay=11];
            c -> d;
            a -> c;
        }
        e -> early;
        early [duration=5];
        b [duration=7];
    }"""
    graph = parse_dot(text, "x.dot")
    assert dict(zip(graph.names, graph.durations, strict=True)) == {"early": 5, "a": 2, "b": 7, "c": 3, "d": 3, "e": 2}
    ids = graph.index
    assert graph.delays == {(ids["c"], ids["d"]): 11, (ids["a"], ids["c"]): 11}


def test_a_strict_graph_has_one_edge_where_others_have_two():
    text = "digraph { node [duration=1]; a -> b [bytes=3]; a -> b [bytes=5, delay=2] }"
    graph = parse_dot(text, "x.dot")
    assert list(graph.tensor_bytes) == [3, 5]
    strict = parse_dot(f"strict {text}", "x.dot")
    assert list(strict.tensor_bytes) == [5]
    assert strict.delays == {(0, 1): 2}


def test_deep_nesting_is_refused_and_wide_texts_are_not():
    nested = "digraph {" + "{" * 101 + "a" + "}" * 102
    with pytest.raises(ConfigError, match="nested deeper than 100"):
        parse_dot(nested, "x.dot")
    chain = " -> ".join(f"n{number}" for number in range(20_000))
    graph = parse_dot(f"digraph {{ {chain} }}", "x.dot")
    assert max(b_level(graph, graph.durations)) == 20_000  # type: ignore[arg-type]


# --- what attributes mean ---------------------------------------------------------------------------------------


def test_all_attributes_of_nodes():
    text = """digraph net {
        a [duration="2.6 us", op_type=Conv, device=gpu0, demands="sms=2, tensor_units=1", flops="3 GFLOP",
           traffic="4 MiB", workspace=17, color=red, label="first"];
        b [duration="gpu0=2 us, gpu1=3 us", label=b];
    }"""
    graph = parse_dot(text, "x.dot")
    assert (graph.name, graph.time_unit) == ("net", "ns")
    a, b = graph.operators()
    assert (a.duration, a.op_type, a.device) == (2600, "Conv", "gpu0")
    assert a.demands == {"sms": 2, "tensor_units": 1}
    assert (graph.flops[0], graph.traffic[0], graph.workspace[0]) == (3 * 10**9, 4 * 2**20, 17)
    assert a.attributes == {"label": "first"}
    assert b.duration == {"gpu0": 2000, "gpu1": 3000}
    assert b.attributes == {}


def test_edges_with_bytes_carry_tensors_and_those_with_one_name_share_it():
    text = """digraph { node [duration=1];
        a -> b [bytes="1 KiB"];
        a -> c [tensor=t, bytes=7];
        a -> d [tensor=t, bytes=7, delay=3];
        b -> d;
    }"""
    graph = parse_dot(text, "x.dot")
    assert dict(zip(graph.tensor_names, graph.tensor_bytes, strict=True)) == {
        "t": 7,
        "a->b": 1024,
    }
    t = graph.tensor(list(graph.tensor_names).index("t"))
    assert (t.producer, t.consumers) == (0, (2, 3))
    assert graph.delays == {(0, 3): 3}


@pytest.mark.parametrize(
    ("about", "duration", "unit", "expected"),
    [
        ("", "5", "tick", 5),
        ("", "5 us", "ns", 5000),
        ("time_unit=us", "5", "ns", 5000),
        ("graph [time_unit=ms]", "0.5", "ns", 500_000),
        ("time_unit=s", "2 ns", "ns", 2),
        ("time_unit=tick", "5.0", "tick", 5),
    ],
)
def test_units_of_time(about: str, duration: str, unit: str, expected: int):
    statements = [about] * bool(about) + [f'a [duration="{duration}"]']
    graph = parse_dot(f"digraph {{ {'; '.join(statements)} }}", "x.dot")
    assert (graph.time_unit, graph.durations[0]) == (unit, expected)


def test_a_plain_drawing_takes_one_tick_a_node_and_says_so():
    graph = parse_dot("digraph { rankdir=LR; a -> b [color=blue]; b [shape=box] }", "plain.dot")
    assert list(graph.durations) == [1, 1]
    assert graph.notes == ("no node has a duration or op_type: each takes one tick",)
    assert graph.name == "plain"


def test_operator_types_without_durations_are_left_to_the_cost_model():
    graph = parse_dot("digraph { node [op_type=Relu]; a -> b [bytes=4] }", "x.dot")
    assert (list(graph.durations), graph.notes) == ([None, None], ())


def test_other_words_for_durations_and_delays():
    text = "digraph { 0 [Weight=2]; 1 [Weight=3]; 0 -> 1 [Weight=7] }"
    graph = parse_dot(text, "x.dot", DotKeys(duration="Weight", delay="Weight"))
    assert (list(graph.durations), graph.delays) == ([2, 3], {(0, 1): 7})


def test_labels_may_name_operators_when_they_are_unique():
    text = "digraph { n1 [label=conv]; n2; n1 -> n2 }"
    assert list(parse_dot(text, "x.dot", DotKeys(names="label")).names) == ["conv", "n2"]
    twice = "digraph { n1 [label=conv]; n2 [label=conv] }"
    with pytest.raises(ConfigError) as caught:
        parse_dot(twice, "x.dot", DotKeys(names="label"))
    assert str(caught.value) == "x.dot:1:28: two nodes have the label 'conv' (first at 1:11); read ids instead"


def test_no_attribute_of_graphviz_is_taken_for_a_slip_of_the_pen():
    words = (
        "distortion orientation rotation ratio layer model area style labeldistance sides weight size dir id group pos"
    )
    found = ", ".join(f"{word}=1" for word in words.split())
    graph = parse_dot(f"digraph {{ a -> b [{found}]; a [{found}] }}", "x.dot")
    assert edges(graph) == [("a", "b")]


# --- the way back -------------------------------------------------------------------------------------------------


def test_what_is_written_reads_back_equal(tmp_path: Path):
    builder = GraphBuilder('the "net"', time_unit="ns")
    builder.add_tensor("shared", bytes=23)
    builder.add_op('a "quoted" name', "Conv", duration=2, outputs=["shared"], demands={"sms": 3}, flops=29)
    builder.add_op("b\\\\", "Relu", inputs=["shared"], device="gpu0", workspace=31, traffic=37)
    builder.add_op("-> c\n", "Add", duration={"p0": 5, "p1": 7}, inputs=["shared"], attributes={"label": "sum"})
    builder.add_op("d", duration=11)
    builder.add_edge("b\\\\", "d", bytes=13, delay=17)
    builder.add_edge("b\\\\", "d", bytes=19)
    builder.add_edge("-> c\n", "d", delay=41)
    graph = builder.build()
    save_dot(graph, tmp_path / "net.dot")
    again = load_dot(tmp_path / "net.dot")
    assert again.content_hash == graph.content_hash
    assert again.name == graph.name


@pytest.mark.parametrize("name", sorted(zoo_graphs()))
def test_the_zoo_keeps_its_orders_durations_and_bytes_on_edges(name: str):
    graph = zoo_graphs()[name]
    again = parse_dot(dump_dot(graph), "x.dot")
    assert list(again.names) == list(graph.names)
    assert list(map(list, again.succ)) == list(map(list, graph.succ))
    assert again.delays == graph.delays
    assert list(again.durations) == list(graph.durations)
    assert again.device_durations == graph.device_durations
    for u, after in enumerate(graph.succ):
        for v in after:
            assert carried(again, u, v) == carried(graph, u, v)
    assert parse_dot(dump_dot(again), "x.dot").content_hash == again.content_hash


def carried(graph: Graph, source: int, target: int) -> list[int]:
    return sorted(
        graph.tensor_bytes[tensor] for tensor in graph.outputs[source] if target in graph.tensor_consumers[tensor]
    )


@pytest.mark.parametrize("name", ["ends in \\", 'a\\"b', "a\\\nb"])
def test_names_that_the_language_cannot_write_are_refused(name: str):
    builder = GraphBuilder("net", time_unit="tick")
    builder.add_op(name, duration=1)
    with pytest.raises(GraphError, match="cannot be written in DOT"):
        dump_dot(builder.build())
