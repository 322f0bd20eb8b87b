"""Graphs from plain data that is known to have the right form: checked by the schema, or written by simsched itself.

This is the half of reading a file that needs no pydantic, and so also runs in a browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from simsched.config import Document, located
from simsched.errors import Fault, GraphError, PathKey
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, TimeUnit


def graph_from_plain(data: Mapping[str, Any]) -> Graph:
    """Return the graph that :func:`simsched.graph.dump.dump_graph` has written.

    Parameters
    ----------
    data : mapping
        Trusted in its form: times are whole numbers of ns or ticks, sizes of bytes.

    Raises
    ------
    GraphError
        If it is no DAG of operators and tensors.

    Examples
    --------
    >>> graph_from_plain({"name": "one", "time_unit": "tick", "operators": [{"name": "a", "duration": 2}]})
    Graph('one': 1 operators, 0 edges, 0 tensors)
    """
    unit: TimeUnit = "tick" if data.get("time_unit") == "tick" else "ns"
    return build_graph(Document(data, str(data.get("name", "graph"))), data, unit)


def build_graph(document: Document, spec: Mapping[str, Any], unit: TimeUnit, name: str | None = None) -> Graph:
    """Build the graph of a document.

    Parameters
    ----------
    document : Document
        Knows the lines of faults.
    spec : mapping
        Its data in the form of the schema, with every quantity as a number.
    unit : {"ns", "tick"}
    name : str, optional
        For a document that does not say its name.

    Raises
    ------
    GraphError
        If it is no DAG of operators and tensors; all faults, located.
    """
    builder = GraphBuilder(spec.get("name") or name or document.source, unit, document.source)
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


def _add_tensors(builder: GraphBuilder, spec: Mapping[str, Any]) -> None:
    first: dict[str, int] = {}
    for number, tensor in enumerate(spec.get("tensors", ())):
        name = tensor["name"]
        if name in first:
            other = Fault("first declared here", ("tensors", first[name], "name"))
            builder.fault(f"tensor {name!r} is declared twice", "tensors", number, "name", related=(other,))
            continue
        first[name] = number
        builder.add_tensor(**tensor)


def _add_edges(builder: GraphBuilder, spec: Mapping[str, Any]) -> None:
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


def _arguments(builder: GraphBuilder, number: int, operator: Mapping[str, Any]) -> dict[str, Any]:
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
