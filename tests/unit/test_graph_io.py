"""Graph files: what each key means, names and suffixes, places in large files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from simsched import data
from simsched.config import Document, read_yaml
from simsched.errors import ConfigError, GraphError, UnknownNameError
from simsched.graph.dump import save_graph
from simsched.graph.io import graph_from_document, load_graph
from simsched.graph.model import DependencyKind, Graph, TensorKind


def graph_of(text: str) -> Graph:
    return graph_from_document(read_yaml(text, "f.yaml"))


def one(fields: str, head: str = "") -> Graph:
    """A graph with the one operator ``a``."""
    return graph_of(f"{head}\noperators:\n  - {{name: a, {fields}}}\n")


# --- keys -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "duration", "expected"),
    [
        ("", "2 us", 2_000),
        ("", "1.5 ms", 1_500_000),
        ("", "7 ns", 7),
        ("time_unit: ns", "7", 7),
        ("time_unit: us", "7", 7_000),
        ("time_unit: us", "2.5", 2_500),
        ("time_unit: us", "1e3", 1_000_000),
        ("time_unit: us", "3 ms", 3_000_000),
        ("time_unit: ms", "7", 7_000_000),
        ("time_unit: s", "0.25", 250_000_000),
        ("time_unit: tick", "7", 7),
        ("time_unit: tick", "7.0", 7),
        ("time_unit: us", "0", 0),
    ],
)
def test_durations_have_a_unit_or_the_files(head: str, duration: str, expected: int) -> None:
    graph = one(f"duration: {duration}", head)
    assert graph.durations == [expected]
    assert graph.time_unit == ("tick" if "tick" in head else "ns")


def test_a_duration_may_differ_by_device() -> None:
    graph = one("duration: {gpu: 3, cpu: 11 ms}", "time_unit: us")
    assert graph.durations == [None]
    assert graph.device_durations == {0: {"gpu": 3_000, "cpu": 11_000_000}}


def test_an_operator_without_duration_is_left_to_the_cost_model() -> None:
    assert one("op_type: Conv").durations == [None]


def test_sizes_and_work() -> None:
    graph = one("flops: 3.6 GFLOP, bytes: 4 MiB, workspace: 5 KB, demands: {sms: 7, tensor_units: 0}")
    assert (graph.flops[0], graph.traffic[0], graph.workspace[0]) == (3_600_000_000, 4 * 2**20, 5_000)
    assert graph.demands == {0: {"sms": 7, "tensor_units": 0}}
    assert one("macs: 1.8 GMAC").flops == one("flops: 3600000000").flops == {0: 3_600_000_000}
    assert one("macs: 7, bytes: 11").flops == {0: 14}


def test_everything_else_of_an_operator() -> None:
    graph = one(
        "op_type: Conv, device: gpu0, attributes: {kernel_shape: [3, 3], auto_pad: no}, reads: [x], writes: [y, z]"
    )
    operator = graph.operator("a")
    assert (operator.op_type, operator.device) == ("Conv", "gpu0")
    assert operator.attributes == {"kernel_shape": [3, 3], "auto_pad": "no"}
    assert (operator.reads, operator.writes) == (("x",), ("y", "z"))
    assert one("duration: 1 us").operator("a").op_type == "op"


def test_tensors_by_bytes_or_by_shape_and_dtype() -> None:
    graph = graph_of("""\
tensors:
  - {name: image, shape: [1, 3, 5, 7], dtype: fp16, kind: input}
  - {name: w, bytes: 11 KiB, kind: parameter}
  - {name: y, shape: [13], dtype: fp32, bytes: 64, kind: output}
operators:
  - {name: a, duration: 2 us, inputs: [image, w], outputs: [hidden]}
  - {name: b, duration: 3 us, inputs: [hidden], outputs: [y]}
""")
    found = [
        (tensor.name, tensor.bytes, tensor.shape, tensor.dtype, tensor.kind) for tensor in map(graph.tensor, range(4))
    ]
    assert found == [
        ("image", 210, (1, 3, 5, 7), "fp16", TensorKind.INPUT),
        ("w", 11 * 1024, None, None, TensorKind.PARAMETER),
        ("y", 64, (13,), "fp32", TensorKind.OUTPUT),
        ("hidden", 0, None, None, TensorKind.ACTIVATION),
    ]
    assert [(row.source, row.target, row.kind) for row in graph.dependencies()] == [(0, 1, DependencyKind.DATA)]


def test_the_three_forms_of_an_edge_and_after() -> None:
    graph = graph_of("""\
time_unit: us
operators:
  - {name: a, duration: 2}
  - {name: b, duration: 3, after: [a]}
  - {name: c, duration: 5}
edges:
  - [a, c]
  - {from: a, to: b, bytes: 4 MiB}
  - {from: b, to: c, delay: 7}
  - {from: a, to: c, bytes: 11, delay: 13 ms}
""")
    rows = [(row.source, row.target, row.kind.name, row.via) for row in graph.dependencies()]
    assert rows == [
        (0, 2, "CONTROL", ""),
        (1, 2, "CONTROL", ""),
        (0, 1, "CONTROL", ""),
        (0, 1, "DATA", "a->b"),
        (0, 2, "DATA", "a->c"),
    ]
    assert graph.tensor_bytes == [4 * 2**20, 11]
    assert graph.delays == {(1, 2): 7_000, (0, 2): 13_000_000}


def test_the_head_of_a_file() -> None:
    graph = graph_of("""\
simsched: 1
name: net
description: two lines
source: a paper
native: {cores: 4}
notes: [one, two]
operators: []
""")
    found = (graph.name, graph.description, graph.origin, graph.native, graph.notes)
    assert found == ("net", "two lines", "a paper", {"cores": 4}, ("one", "two"))
    assert graph_from_document(read_yaml("operators: []", "x.yaml"), "given").name == "given"
    assert graph_from_document(read_yaml("operators: []", "x.yaml")).name == "x.yaml"


def test_names_are_text_whatever_they_look_like() -> None:
    graph = graph_of("""\
operators:
  - {name: 1, duration: 1 us}
  - {name: 010, duration: 1 us, after: [1]}
  - {name: 10, duration: 1 us}
  - {name: 5319E7, duration: 1 us}
  - {name: no, duration: 1 us}
  - {name: on, duration: 1 us}
  - {name: 12:30:45, duration: 1 us}
  - {name: 2026-01-01, duration: 1 us}
  - {name: 1.50, duration: 1 us}
edges: [[1, 5319E7], [010, no], [1.50, on]]
""")
    assert set(graph.names) == {"1", "010", "10", "5319E7", "no", "on", "12:30:45", "2026-01-01", "1.50"}
    assert {(graph.names[row.source], graph.names[row.target]) for row in graph.dependencies()} == {
        ("1", "010"),
        ("1", "5319E7"),
        ("010", "no"),
        ("1.50", "on"),
    }


def test_plain_data_is_a_graph_too_with_faults_without_places() -> None:
    graph = graph_from_document(Document({"operators": [{"name": "a", "duration": "2 us"}]}, "here"))
    assert graph.durations == [2_000]
    with pytest.raises(GraphError) as caught:
        graph_from_document(Document({"operators": [{"name": "a", "after": ["b"]}]}, "here"))
    assert str(caught.value) == (
        "here: operators[0].after[0]: operator 'a' comes after unknown operator 'b'; expected one of: a"
    )


# --- names and suffixes -----------------------------------------------------------------------------------------

STG = "1\n0 0 0\n1 5 1 0\n2 0 1 1\n"
DOT = "digraph d { a [duration=2]; b [duration=3]; a -> b }"


@pytest.mark.parametrize(
    ("file", "text", "operators"),
    [
        ("x.yaml", "operators: [{name: a}]", 1),
        ("x.yml", "operators: [{name: a}]", 1),
        ("x.json", '{"operators": [{"name": "a"}]}', 1),
        ("x.stg", STG, 3),
        ("x.dot", DOT, 2),
        ("x.gv", DOT, 2),
    ],
)
def test_the_suffix_decides_how_a_file_is_read(file: str, text: str, operators: int, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text)
    graph = load_graph(tmp_path / file)
    assert len(graph) == operators
    assert graph.name in {"x", "d"}


def test_a_file_of_another_kind_says_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("operators: []")
    with pytest.raises(
        ConfigError, match=r"x\.txt: unknown kind of file; expected a name that ends in \.yaml, \.yml, "
    ):
        load_graph(tmp_path / "x.txt")


def test_a_graph_is_called_by_its_file_unless_it_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text("operators: []")
    (tmp_path / "net.v2.json.gz").write_bytes(gzip.compress(b'{"operators": []}'))
    (tmp_path / "other.yaml").write_text("{name: mine, operators: []}")
    assert [load_graph(tmp_path / file).name for file in ("net.yaml", "net.v2.json.gz", "other.yaml")] == [
        "net",
        "net.v2",
        "mine",
    ]


def test_an_unknown_name_comes_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        load_graph("incepton_v1")
    assert str(caught.value) == "unknown graph 'incepton_v1'; did you mean 'inception_v1'?"


@pytest.mark.parametrize("name", data.names("graphs", [".yaml", ".json.gz"]))
def test_every_shipped_graph_loads_and_comes_back(name: str, tmp_path: Path) -> None:
    graph = load_graph(name)
    assert graph.name == name
    assert graph.description
    save_graph(graph, tmp_path / "copy.json")
    assert load_graph(tmp_path / "copy.json").content_hash == graph.content_hash


def test_strict_refuses_operators_of_unknown_cost(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("operators: [{name: a, op_type: Frobnicate}]")
    assert len(load_graph(tmp_path / "x.yaml")) == 1
    with pytest.raises(ConfigError, match=r"x\.yaml: the cost of 'a' is unknown"):
        load_graph(tmp_path / "x.yaml", strict=True)


# --- the schema -------------------------------------------------------------------------------------------------


def test_the_large_graph_is_read_as_json_and_located(tmp_path: Path) -> None:
    count = 20_000
    operators = [{"name": f"n{number}", "duration": number} for number in range(count)]
    edges: list[Any] = [[f"n{number}", f"n{number + 1}"] for number in range(count - 1)]
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"time_unit": "ns", "operators": operators, "edges": edges}, indent=0))
    assert load_graph(path).edge_count == count - 1
    edges[15_000] = {"from": "n15000", "too": "n15001"}
    path.write_text(json.dumps({"time_unit": "ns", "operators": operators, "edges": edges}, indent=1))
    lines = path.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if '"too"' in text)
    with pytest.raises(ConfigError) as caught:
        load_graph(path)
    assert [str(fault) for fault in caught.value.faults] == [
        f"{line - 2}:3  edges[15000].to: this key is missing",
        f"{line}:4  edges[15000].too: unknown key; did you mean 'to'?",
    ]
