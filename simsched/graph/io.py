"""Graphs from files: YAML and JSON here, the other formats through their importers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simsched import data
from simsched.collector import collector_off
from simsched.config import Document, located, read_document, validate
from simsched.config.files import DOCUMENT_SUFFIXES
from simsched.errors import ConfigError, Fault, GraphError, PathKey
from simsched.graph.builder import GraphBuilder
from simsched.graph.dump import dump_graph, save_graph
from simsched.graph.model import Graph

if TYPE_CHECKING:
    from simsched.graph.schema import GraphSpec, OperatorSpec

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
    builder = GraphBuilder(spec.get("name") or name or document.source, scale.unit, document.source)
    builder.description = spec.get("description", "")
    builder.origin = spec.get("source", "")
    builder.notes += spec.get("notes", [])
    builder.native = spec.get("native")
    _add_tensors(builder, spec)
    for number, operator in enumerate(spec["operators"]):
        builder.add_op(**_arguments(builder, number, operator))
    _add_edges(builder, spec)
    try:
        return builder.build()
    except GraphError as error:
        faults = [_in_file(fault, document) for fault in error.faults]
    raise located(document, faults, GraphError)


def _add_tensors(builder: GraphBuilder, spec: GraphSpec) -> None:
    first: dict[str, int] = {}
    for number, tensor in enumerate(spec.get("tensors", ())):
        name = tensor["name"]
        if name in first:
            other = Fault("first declared here", ("tensors", first[name], "name"))
            builder.fault(f"tensor {name!r} is declared twice", "tensors", number, "name", related=(other,))
            continue
        first[name] = number
        builder.add_tensor(**tensor)


def _add_edges(builder: GraphBuilder, spec: GraphSpec) -> None:
    sources: list[str] = []
    targets: list[str] = []
    sizes: list[int | None] = []
    delays: list[int | None] = []
    for edge in spec.get("edges", ()):
        if isinstance(edge, list):
            source, target = edge
            size = delay = None
        else:
            source, target, size, delay = edge["from"], edge["to"], edge.get("bytes"), edge.get("delay")
        sources.append(source)
        targets.append(target)
        sizes.append(size)
        delays.append(delay)
    builder.add_edges(sources, targets, sizes, delays)


def _arguments(builder: GraphBuilder, number: int, operator: OperatorSpec) -> dict[str, Any]:
    """Return an operator's keys as arguments of the builder."""
    arguments: dict[str, Any] = dict(operator)
    if "bytes" in arguments:
        arguments["traffic"] = arguments.pop("bytes")
    if "macs" in arguments:
        if "flops" in arguments:
            builder.fault("give 'flops' or 'macs', not both", "operators", number, "macs")
        arguments["flops"] = arguments.pop("macs")
    return arguments


# --- places ---------------------------------------------------------------------------------------------------


def _in_file(fault: Fault, document: Document) -> Fault:
    """Return a fault of the builder with the path that its place has in the file."""
    related = tuple(_in_file(other, document) for other in fault.related)
    return replace(fault, path=_path_in_file(fault.path, document.data), related=related)


def _path_in_file(path: PathKey, content: Any) -> PathKey:
    if len(path) < 2:
        return path
    kind, key, *rest = path
    if kind == "tensors" and isinstance(key, str):
        names = [str(tensor["name"]) for tensor in content.get("tensors", ())]
        return (kind, names.index(key), *rest) if key in names else ()
    if kind == "edges" and rest and isinstance(content["edges"][key], list):
        return (kind, key, 0 if rest[0] == "from" else 1)
    if kind == "operators" and rest == ["traffic"]:
        return (kind, key, "bytes")
    return path
