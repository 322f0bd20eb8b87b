"""Graphs written to files: canonical, equal when read again, the same in both spellings; the JSON Schema."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from simsched.config import read_document, read_json, read_yaml
from simsched.errors import ConfigError, GraphError
from simsched.graph.builder import GraphBuilder
from simsched.graph.dump import dump_graph, save_graph
from simsched.graph.io import graph_from_document, json_schema, load_graph
from simsched.graph.model import Graph, TensorKind

FULL = """\
name: full
description: Every key once.
source: "hand-written, with: a colon"
time_unit: tick
native: {cores: 3}
notes: [a note]
operators:
  - name: 5319E7
    op_type: Conv
    duration: 2
    inputs: [image, w, image]
    outputs: [hidden]
    attributes: {kernel_shape: [3, 3], group: 1, mode: "no", deep: {list: [1.5, null, true]}}
    demands: {cores: 2}
    writes: [buffer]
  - {name: relu, op_type: Relu, duration: {d0: 3, d1: 5}, inputs: [hidden], outputs: [y], reads: [buffer], device: d0,
     alias: {y: hidden}}
  - {name: free, op_type: MatMul, flops: 70, bytes: 110, workspace: 13}
  - {name: "say \\"hi\\"\\n", duration: 0, after: [relu], writes: [buffer], inputs: [hidden], outputs: [again],
     inplace: {again: hidden}}
tensors:
  - {name: image, shape: [1, 3], dtype: fp16, kind: input}
  - {name: w, bytes: 17, kind: parameter}
  - {name: hidden, shape: [19], dtype: int4}
  - {name: y, bytes: 0, shape: [2, 2]}
  - {name: again, bytes: 7, kind: output}
edges:
  - [relu, free]
  - {from: 5319E7, to: free, bytes: 23}
  - {from: 5319E7, to: free, bytes: 29, delay: 31}
  - {from: relu, to: free, delay: 37}
"""


def graph_of(text: str) -> Graph:
    return graph_from_document(read_yaml(text, "f.yaml"))


# --- both spellings ---------------------------------------------------------------------------------------------


def test_a_graph_survives_every_suffix(tmp_path: Path) -> None:
    graph = graph_of(FULL)
    for suffix in (".yaml", ".yml", ".json", ".json.gz"):
        path = tmp_path / f"copy{suffix}"
        save_graph(graph, path)
        again = load_graph(path)
        assert dump_graph(again) == dump_graph(graph)
        assert again.content_hash == graph.content_hash
        assert (again.notes, again.description, again.origin) == (graph.notes, graph.description, graph.origin)
        assert (again.succ, again.pred) == (graph.succ, graph.pred)


def test_a_dump_is_canonical() -> None:
    assert dump_graph(graph_of(FULL)) == {
        "simsched": 1,
        "name": "full",
        "description": "Every key once.",
        "source": "hand-written, with: a colon",
        "time_unit": "tick",
        "native": {"cores": 3},
        "notes": ["a note"],
        "operators": [
            {
                "name": "5319E7",
                "op_type": "Conv",
                "duration": 2,
                "inputs": ["image", "w", "image"],
                "outputs": ["hidden"],
                "attributes": {"kernel_shape": [3, 3], "group": 1, "mode": "no", "deep": {"list": [1.5, None, True]}},
                "demands": {"cores": 2},
                "writes": ["buffer"],
            },
            {
                "name": "relu",
                "op_type": "Relu",
                "duration": {"d0": 3, "d1": 5},
                "inputs": ["hidden"],
                "outputs": ["y"],
                "reads": ["buffer"],
                "device": "d0",
                "alias": {"y": "hidden"},
            },
            {"name": "free", "op_type": "MatMul", "flops": 70, "bytes": 110, "workspace": 13},
            {
                "name": 'say "hi"\n',
                "duration": 0,
                "inputs": ["hidden"],
                "outputs": ["again"],
                "writes": ["buffer"],
                "inplace": {"again": "hidden"},
            },
        ],
        "tensors": [
            {"name": "image", "shape": [1, 3], "dtype": "fp16", "kind": "input"},
            {"name": "w", "bytes": 17, "kind": "parameter"},
            {"name": "hidden", "shape": [19], "dtype": "int4"},
            {"name": "y", "shape": [2, 2], "bytes": 0},
            {"name": "again", "bytes": 7, "kind": "output"},
        ],
        "edges": [
            {"from": "relu", "to": "free", "delay": 37},
            ["relu", "free"],
            ["relu", 'say "hi"\n'],
            {"from": "5319E7", "to": "free", "bytes": 23, "delay": 31},
            {"from": "5319E7", "to": "free", "bytes": 29},
        ],
    }


def test_written_files_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    graph = graph_of(FULL)
    for suffix in (".yaml", ".json", ".json.gz"):
        save_graph(graph, tmp_path / f"a{suffix}")
        save_graph(load_graph(tmp_path / f"a{suffix}"), tmp_path / f"b{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()


def test_the_two_texts(tmp_path: Path) -> None:
    graph = graph_of(
        "time_unit: tick\nname: no\noperators: [{name: a, duration: 2}, {name: 7, duration: 3}]\nedges: [[a, 7]]"
    )
    save_graph(graph, tmp_path / "x.yaml")
    assert (
        (tmp_path / "x.yaml").read_text()
        == """\
simsched: 1
name: "no"
time_unit: tick
operators:
  - {name: a, duration: 2}
  - {name: "7", duration: 3}
edges:
  - [a, "7"]
"""
    )
    save_graph(graph, tmp_path / "x.json")
    assert (
        (tmp_path / "x.json").read_text()
        == """\
{
  "simsched": 1,
  "name": "no",
  "time_unit": "tick",
  "operators": [
    {"name": "a", "duration": 2},
    {"name": "7", "duration": 3}
  ],
  "edges": [
    ["a", "7"]
  ]
}
"""
    )


def test_tensors_that_only_look_like_those_of_edges_come_back(tmp_path: Path) -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_tensor("b->c", bytes=3)  # declared, but just like what an edge would bring
    builder.add_tensor("a->c", bytes=5, kind="output")
    builder.add_tensor("a->b#3", bytes=7)  # a number that no edge would have got
    builder.add_op("a", outputs=["a->c", "a->b#3"])
    builder.add_op("b", inputs=["a->b#3"], outputs=["b->c"])
    builder.add_op("c", inputs=["b->c", "a->c"])
    builder.add_edge("a", "b", bytes=11)
    builder.add_edge("a", "b", bytes=13)
    builder.add_edge("a", "c", bytes=17)
    graph = builder.build()
    assert graph.tensor_names == ["b->c", "a->c", "a->b#3", "a->b", "a->b#2", "a->c#2"]
    save_graph(graph, tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json").content_hash == graph.content_hash
    dump = dump_graph(graph)
    assert [tensor["name"] for tensor in dump["tensors"]] == ["b->c", "a->c", "a->b#3"]


def test_attributes_of_any_kind_are_written_as_json_has_them(tmp_path: Path) -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("a", attributes={"axes": (1, 2), "kind": TensorKind.INPUT, "path": Path("x"), "scale": 0.5})
    graph = builder.build()
    assert dump_graph(graph)["operators"][0]["attributes"] == {
        "axes": [1, 2],
        "kind": "input",
        "path": "x",
        "scale": 0.5,
    }
    save_graph(graph, tmp_path / "g.yaml")
    assert load_graph(tmp_path / "g.yaml").content_hash == graph.content_hash


def test_what_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("a", attributes={"scale": [float("nan")]})
    with pytest.raises(GraphError, match=r"g: operator 'a': the attribute nan is not a finite number"):
        save_graph(builder.build(), tmp_path / "g.json")
    builder = GraphBuilder("g", time_unit="tick")
    builder.add_op("a\ud800")
    with pytest.raises(GraphError, match=r"half of a character"):
        save_graph(builder.build(), tmp_path / "g.json")
    with pytest.raises(ConfigError, match=r"g\.txt: unknown kind of file; expected a name that ends in \.json, "):
        save_graph(graph_of("operators: []"), tmp_path / "g.txt")
    with pytest.raises(ConfigError, match=r"none/g\.json: cannot be written: No such file or directory"):
        save_graph(graph_of("operators: []"), tmp_path / "none" / "g.json")
    assert list(tmp_path.iterdir()) == []


def test_the_json_schema_names_every_key() -> None:
    schema = json_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert schema["required"] == ["operators"]
    assert schema["additionalProperties"] is False
    definitions: dict[str, Any] = schema["$defs"]
    dump = dump_graph(graph_of(FULL))
    assert set(dump) == set(schema["properties"])
    operator = definitions["OperatorSpec"]["properties"]
    assert {key for row in dump["operators"] for key in row} | {"macs", "after"} == set(operator)
    tensor = definitions["TensorSpec"]["properties"]
    assert {key for row in dump["tensors"] for key in row} == set(tensor)
    assert set(definitions["EdgeSpec"]["properties"]) == {"from", "to", "bytes", "delay"}


def test_json_and_yaml_of_one_graph_are_equal(tmp_path: Path) -> None:
    save_graph(graph_of(FULL), tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text()
    assert read_yaml(text).data == read_json(text).data == read_document(tmp_path / "x.json").data
