"""Graphs from files: YAML and JSON here, the other formats through their importers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simsched import data
from simsched.collector import collector_off
from simsched.config import Document, read_document, validate
from simsched.config.files import DOCUMENT_SUFFIXES
from simsched.errors import ConfigError, Fault
from simsched.graph.dump import dump_graph, save_graph
from simsched.graph.model import Graph
from simsched.graph.plain import build_graph

__all__ = ["dump_graph", "graph_from_document", "json_schema", "load_graph", "save_graph"]


def load_graph(
    name_or_path: str | os.PathLike[str], *, dims: Mapping[str, int] | None = None, strict: bool = False
) -> Graph:
    """Load a graph by name or from a file.

    Parameters
    ----------
    name_or_path : str or path
        A name such as ``"inception_v1"``, looked up by :func:`simsched.data.find`; a path to a ``.yaml``, ``.yml``,
        ``.json``, ``.json.gz``, ``.stg``, ``.sm``, ``.rcp``, ``.dot``, ``.gv`` or ``.onnx`` file; or a generator
        with parameters, ``"chain:10"`` or ``"layered_random(n=100, seed=3)"``.
    dims : mapping of str to int, optional
        Values of symbolic dimensions of ``.onnx`` files.
    strict : bool
        Refuse operator types whose cost is unknown.

    Raises
    ------
    UnknownNameError
        If there is no graph of this name.
    ConfigError
        If the file is malformed; all faults, located.
    GraphError
        If the file is well-formed, but no DAG of operators and tensors.
    """
    source = os.fspath(name_or_path)
    graph = _generated(source)
    if graph is None:
        path = data.find("graphs", name_or_path)
        source = os.fspath(path)
        graph = _load(path, dims)
    if dims and not source.endswith(".onnx"):
        listed = ", ".join(dims)
        raise ConfigError(source, [Fault(f"has no symbolic dimensions (only .onnx files do), but is given {listed}")])
    if strict:
        # The one place where a graph is held against the rules of cost: to be strict is to ask them.
        from simsched.cost.registry import require_known

        require_known(graph, source)
    return graph


def _generated(text: str) -> Graph | None:
    """Return the graph of a generator with parameters; None for anything else, also for a file of such a name."""
    if not ("(" in text or ":" in text) or os.path.exists(text):
        return None
    from simsched.graph.generators import generate, is_generator

    return generate(text) if is_generator(text) else None


def _load(path: Path, dims: Mapping[str, int] | None) -> Graph:
    if path.name.endswith(DOCUMENT_SUFFIXES):
        with collector_off():
            return graph_from_document(read_document(path), _stem(path))
    if path.suffix == ".onnx":
        from simsched.graph.onnx_import import load_onnx

        return load_onnx(path, dims)
    if path.suffix == ".stg":
        from simsched.graph.stg import load_stg

        return load_stg(path)
    if path.suffix == ".sm":
        from simsched.graph.psplib import load_sm

        return load_sm(path)
    if path.suffix == ".rcp":
        from simsched.graph.psplib import load_rcp

        return load_rcp(path)
    if path.suffix in (".dot", ".gv"):
        from simsched.graph.dot import load_dot

        return load_dot(path)
    expected = ", ".join(data.SUFFIXES["graphs"])
    raise ConfigError(os.fspath(path), [Fault(f"unknown kind of file; expected a name that ends in {expected}")])


def _stem(path: Path) -> str:
    suffix = next(
        (suffix for suffix in sorted(DOCUMENT_SUFFIXES, key=len, reverse=True) if path.name.endswith(suffix)), ""
    )
    return path.name.removesuffix(suffix) or path.name


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of graph files, for editors."""
    from simsched.graph.schema import json_schema as schema

    return schema()


def graph_from_document(document: Document, name: str | None = None) -> Graph:
    """Return the graph that a document describes.

    Parameters
    ----------
    document : Document
        As read from a file, or around plain Python data.
    name : str, optional
        For a document that does not say its name.

    Raises
    ------
    ConfigError
        If the document does not follow the schema; all faults, located.
    GraphError
        If it does, but is no DAG of operators and tensors.

    Examples
    --------
    >>> graph_from_document(Document({"operators": [{"name": "a", "duration": "2 us"}]}, "example"))
    Graph('example': 1 operators, 0 edges, 0 tensors)
    """
    from simsched.graph.schema import ADAPTER, time_scale

    scale = time_scale(document.data)
    spec = validate(document, ADAPTER, scale)
    return build_graph(document, spec, scale.unit, name)
