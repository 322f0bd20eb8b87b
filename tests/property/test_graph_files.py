"""Graph files of any content: what is written reads back equal, and no text whatever causes another error."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched import data
from simsched.config import Document, read_json, read_yaml
from simsched.errors import InputError
from simsched.graph.builder import GraphBuilder
from simsched.graph.dump import dump_graph, save_graph
from simsched.graph.flow import flow_text
from simsched.graph.io import graph_from_document, load_graph
from simsched.graph.model import Graph
from tests.golden import malformed_documents, malformed_graphs

NAMES = [
    "a",
    "b",
    "a->b",
    "a->b#2",
    "b->c",
    "c",
    "no",
    "5319E7",
    "010",
    "true",
    "null",
    "x: y",
    "- z",
    "#",
    "é",
    "\u2028",
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SOME_NAMES = st.one_of(st.sampled_from(NAMES), TEXT.filter(bool))
AMOUNTS = st.sampled_from((0, 1, 2, 3, 5, 7, 11, 2**40))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def anything(draw: st.DrawFn) -> Graph:
    """Any graph that a builder can make, in any order of insertion, with all that a file can say."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    names = draw(st.lists(SOME_NAMES, unique=True, max_size=7))
    rank = {name: number for number, name in enumerate(names)}
    builder = GraphBuilder(draw(SOME_NAMES), time_unit=draw(st.sampled_from(("ns", "tick"))))
    builder.description, builder.origin = draw(TEXT), draw(TEXT)
    builder.notes += draw(st.lists(TEXT, max_size=2))
    builder.native = draw(st.none() | st.dictionaries(SOME_NAMES, AMOUNTS, max_size=2))
    made = _declare(draw, builder, names)
    for name in rng.sample(names, len(names)):
        builder.add_op(name, **_fields(draw, name, names, made))
    if names:
        for source, target in draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=8)):
            if rank[source] < rank[target]:
                sizes = st.none() | AMOUNTS
                builder.add_edge(source, target, bytes=draw(sizes), delay=draw(sizes))
    return builder.build()


def _declare(draw: st.DrawFn, builder: GraphBuilder, names: list[str]) -> dict[str, str]:
    """Declare some tensors; returns the tensors and which operator makes each, "" for none."""
    made: dict[str, str] = {}
    for tensor in draw(st.lists(SOME_NAMES, unique=True, max_size=5)):
        maker = draw(st.sampled_from(["", *names]))
        form = draw(st.integers(0, 3 if maker else 2))
        if form < 3:
            kinds = ["activation", "output"] if maker else ["activation", "input", "parameter"]
            shape = draw(st.none() | st.lists(st.integers(0, 5), max_size=3))
            dtype = draw(st.sampled_from(("fp16", "int4"))) if form else None
            size = None if form == 2 and shape is not None else draw(AMOUNTS)
            builder.add_tensor(tensor, bytes=size, shape=shape, dtype=dtype, kind=draw(st.sampled_from(kinds)))
        made[tensor] = maker
    return made


def _fields(draw: st.DrawFn, name: str, names: list[str], made: dict[str, str]) -> dict[str, Any]:
    earlier = names[: names.index(name)]
    readable = [tensor for tensor, maker in made.items() if maker in earlier or not maker]
    optional = st.none() | AMOUNTS
    fields: dict[str, Any] = {
        "op_type": draw(st.sampled_from(["op", "Conv"]) | SOME_NAMES),
        "duration": draw(optional | st.dictionaries(SOME_NAMES, AMOUNTS, min_size=1, max_size=2)),
        "inputs": draw(st.lists(st.sampled_from(readable), max_size=4)) if readable else [],
        "outputs": [tensor for tensor, maker in made.items() if maker == name],
        "attributes": draw(st.none() | st.dictionaries(TEXT, JSON, max_size=2)),
        "demands": draw(st.none() | st.dictionaries(SOME_NAMES, AMOUNTS, max_size=2)),
        "after": draw(st.lists(st.sampled_from(earlier), max_size=2)) if earlier else [],
        "device": draw(st.none() | SOME_NAMES),
    }
    # A buffer is touched in the order of the names, which every dependency here respects.
    if name == names[0] or draw(st.booleans()):
        fields["reads"] = draw(st.lists(SOME_NAMES.filter(lambda buffer: buffer not in ("w", "v")), max_size=2))
    return fields | {key: draw(optional) for key in ("flops", "traffic", "workspace")}


@given(anything(), st.sampled_from((".json", ".yaml", ".json.gz")))
def test_what_is_written_reads_back_equal(graph: Graph, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"g{suffix}"
        save_graph(graph, path)
        again = load_graph(path)
        assert again.content_hash == graph.content_hash
        assert (again.name, again.description, again.origin) == (graph.name, graph.description, graph.origin)
        assert (again.notes, again.succ, again.pred) == (graph.notes, graph.succ, graph.pred)
        assert again.tensor_consumers == graph.tensor_consumers
        assert dump_graph(again) == dump_graph(graph)


@given(st.data())
def test_buffers_read_back_equal_whatever_the_order_of_insertion(drawn: st.DataObject) -> None:
    """Operators that read and write buffers, and edges against the order of insertion where buffers allow it."""
    builder = GraphBuilder("g", time_unit="tick")
    count = drawn.draw(st.integers(1, 8))
    for number in range(count):
        touched = {key: drawn.draw(st.lists(st.sampled_from("xyz"), max_size=2)) for key in ("reads", "writes")}
        builder.add_op(f"n{number}", duration=1, **touched)
    for source, target in drawn.draw(st.lists(st.tuples(*[st.integers(0, count - 1)] * 2), max_size=4)):
        builder.add_edge(f"n{source}", f"n{target}")
    try:
        graph = builder.build()
    except InputError:
        return  # the edges contradict the buffers
    again = graph_from_document(Document(dump_graph(graph), "g"))
    assert again.content_hash == graph.content_hash


@given(JSON)
def test_a_line_of_yaml_reads_back_equal(value: Any) -> None:
    assert read_yaml(f"[{flow_text(value)}]").data == [value]


# --- no other error ---------------------------------------------------------------------------------------------

TEXTS = [case.text for case in (*malformed_documents.CASES, *malformed_graphs.CASES) if len(case.text) < 600]
YAML_FILES = data.names("graphs", [".yaml"])
PIECES = [
    "\t", "\n", "  ", " ", "- ", "[", "]", "{", "}", ":", ": ", ",", '"', "'", "#", "&a ", "*a", "<<: *a", "!!str ",
    "| ", "> ", "? ", "---\n", "...\n", "%YAML 1.2\n", "null", "true", "1e999", ".nan", "-1", "0x", "\\u", "\\ud800",
    "\0", "\x85", "\u2028", "\ufeff", "\U0001f600", "name", "edges", "operators", "duration: {", "NaN", "9" * 30,
]  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A good or bad file, cut, doubled, and with pieces put in."""
    good = [data.find("graphs", name).read_text("utf-8") for name in YAML_FILES[:4]]
    dumped = [json.dumps(read_yaml(text).data) for text in good]
    text = draw(st.sampled_from([*TEXTS, *good, *dumped]))
    for _ in range(draw(st.integers(1, 4))):
        at, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        change = draw(st.integers(0, 3))
        if change == 0:
            text = text[:at]
        elif change == 1:
            text = text[:at] + draw(st.sampled_from(PIECES) | TEXT) + text[at:]
        elif change == 2:
            text = text[:at] + text[end:]
        else:
            text = text[:at] + text[at:end] * 2 + text[end:]
    return text


def _try(read: Any, text: str) -> None:
    found = _graph_or_error(read, text)
    if isinstance(found, InputError):
        assert str(found).startswith("fuzz:")
        assert all(fault.message for fault in found.faults)
    else:
        assert graph_from_document(Document(dump_graph(found), "again")).content_hash == found.content_hash


def _graph_or_error(read: Any, text: str) -> Graph | InputError:
    try:
        return graph_from_document(read(text, "fuzz"))
    except InputError as error:
        return error


@given(damaged())
def test_damaged_yaml_is_an_input_error_or_a_graph(text: str) -> None:
    _try(read_yaml, text)


@given(damaged())
def test_damaged_json_is_an_input_error_or_a_graph(text: str) -> None:
    _try(read_json, text)


@given(st.recursive(JSON, lambda inner: st.fixed_dictionaries({"operators": st.lists(inner)}), max_leaves=20))
def test_any_data_is_an_input_error_or_a_graph(value: Any) -> None:
    _try(lambda text, source: Document(value, source), "")


def _replaced(value: Any, by: Any) -> Iterator[Any]:
    """Every copy of ``value`` in which one part is another."""
    yield by
    if isinstance(value, dict):
        for key, part in value.items():
            yield {other: part for other, part in value.items() if other != key}
            for inner in _replaced(part, by):
                yield value | {key: inner}
    elif isinstance(value, list):
        for number, part in enumerate(value):
            for inner in _replaced(part, by):
                yield [*value[:number], inner, *value[number + 1 :]]


@pytest.mark.parametrize(
    "by", [None, True, -1, 0.5, 10**400, "", "x", "1 us", [], {}, {"x": 1}, [["a", "b"]]], ids=lambda by: repr(by)[:20]
)
def test_each_part_replaced_by_something_else_is_an_input_error_or_a_graph(by: Any) -> None:
    text = """\
{simsched: 1, name: g, time_unit: us, native: {cores: 2}, notes: [n], description: d, source: s,
 operators: [{name: a, op_type: Conv, duration: {p0: 2}, outputs: [t], attributes: {k: [3]}, demands: {cores: 1}},
             {name: b, duration: 3, inputs: [t], reads: [x], writes: [x], after: [a], device: p0},
             {name: c, flops: 3, bytes: 5, workspace: 7}, {name: d, macs: 11}],
 tensors: [{name: t, shape: [2], dtype: fp32, kind: output}, {name: u, bytes: 3}],
 edges: [[a, b], {from: a, to: c, bytes: 5, delay: 7}]}"""
    for other in _replaced(read_yaml(text).data, by):
        _try(lambda text, source, other=other: Document(other, source), "")
