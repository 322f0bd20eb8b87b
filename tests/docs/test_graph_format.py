"""The page on the graph file names every key there is, and its two examples are one graph."""

from __future__ import annotations

import re
from typing import Any

import pytest

from simsched.config import read_json, read_yaml
from simsched.graph.dump import dump_graph, json_text
from simsched.graph.io import graph_from_document, json_schema
from tests.docs.pages import ROOT, blocks_of

PAGE = (ROOT / "docs" / "reference" / "graph-format.md").read_text("utf-8")
FILES = {block.file: block.text for block in blocks_of(PAGE) if block.file}
SECTIONS = {
    "Of the file": None,
    "Of an operator": "OperatorSpec",
    "Of a tensor": "TensorSpec",
    "Of an edge": "EdgeSpec",
}


def documented(title: str) -> set[str]:
    section = PAGE.split(f"### {title}\n")[1].split("\n##")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize(("title", "definition"), SECTIONS.items())
def test_every_key_is_documented(title: str, definition: str | None) -> None:
    schema = json_schema()
    properties: dict[str, Any] = (
        schema["properties"] if definition is None else schema["$defs"][definition]["properties"]
    )
    assert documented(title) == set(properties)


def test_the_yaml_example_uses_every_key() -> None:
    data = read_yaml(FILES["net.yaml"]).data
    assert set(data) == documented("Of the file")
    assert {key for row in data["operators"] for key in row} == documented("Of an operator") - {"flops"}
    assert {key for row in data["tensors"] for key in row} == documented("Of a tensor")
    assert {key for row in data["edges"] if isinstance(row, dict) for key in row} == documented("Of an edge")


def test_the_json_example_is_what_the_yaml_example_is_saved_as() -> None:
    graph = graph_from_document(read_yaml(FILES["net.yaml"], "net.yaml"))
    assert json_text(dump_graph(graph)) == FILES["net.json"].rstrip("\n") + "\n"
    assert graph_from_document(read_json(FILES["net.json"])).content_hash == graph.content_hash
