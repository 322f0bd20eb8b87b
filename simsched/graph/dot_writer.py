"""Graphs to Graphviz text. Kept apart from the reader, which it never needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from simsched.errors import Fault, GraphError
from simsched.graph.export import exported_edges
from simsched.graph.model import DependencyKind, Graph, OpId

# A run of backslashes before a quote or a line's end: the language keeps pairs, and gives odd ones a meaning.
_BACKSLASHES = re.compile(r'\\+(?=["\n]|\Z)')


def save_dot(graph: Graph, path: str | Path) -> None:
    """Write a graph as a Graphviz file; see :func:`dump_dot`."""
    Path(path).write_text(dump_dot(graph), encoding="utf-8", newline="\n")


def dump_dot(graph: Graph) -> str:
    """Write a graph as Graphviz text, with the attributes that :func:`simsched.graph.dot.load_dot` reads.

    Durations, operator types, places, demands, stated work, edges with their bytes and delays, and who shares a
    tensor come back as they were. Graph inputs, parameters, shapes and attributes of operators are left out, and
    orders by buffers, named or overwritten in place, become plain precedence, and tensors that share a buffer have one
    each: a graph whose times come from the cost model is kept whole only by :func:`simsched.graph.io.save_graph`.

    Raises
    ------
    GraphError
        If a name cannot be written in DOT (it ends in a single backslash, for instance).

    Examples
    --------
    >>> from simsched.graph.dot import parse_dot
    >>> print(dump_dot(parse_dot("digraph g { a [duration=2]; b [duration=3]; a -> b [bytes=7] }", "g.dot")))
    digraph "g" {
      time_unit="tick";
      "a" [op_type="op", duration="2"];
      "b" [op_type="op", duration="3"];
      "a" -> "b" [bytes="7"];
    }
    <BLANKLINE>
    """
    lines = [f"digraph {_quoted(graph.name, graph)} {{", f'  time_unit="{graph.time_unit}";']
    for op, name in enumerate(graph.names):
        lines.append(f"  {_quoted(name, graph)}{_list(_node(graph, op), graph)};")
    for source, target, found in _edges(graph):
        ends = f"{_quoted(graph.names[source], graph)} -> {_quoted(graph.names[target], graph)}"
        lines.append(f"  {ends}{_list(found, graph)};")
    return "\n".join([*lines, "}\n"])


def _node(graph: Graph, op: OpId) -> dict[str, str]:
    found = {"op_type": graph.op_types[op]}
    durations = graph.device_durations.get(op)
    if durations is not None:
        found["duration"] = _pairs(durations)
    elif graph.durations[op] is not None:
        found["duration"] = str(graph.durations[op])
    if op in graph.placement:
        found["device"] = graph.placement[op]
    if op in graph.demands:
        found["demands"] = _pairs(graph.demands[op])
    for key, column in (("flops", graph.flops), ("traffic", graph.traffic), ("workspace", graph.workspace)):
        if op in column:
            found[key] = str(column[op])
    label = graph.attributes.get(op, {}).get("label")
    if isinstance(label, str):
        found["label"] = label
    return found


def _edges(graph: Graph) -> Iterator[tuple[OpId, OpId, dict[str, str]]]:
    for edge in exported_edges(graph):
        row = edge.row
        found: dict[str, str] = {}
        if row.tensor is not None:
            found["bytes"] = str(graph.tensor_bytes[row.tensor])
            if edge.named:
                found["tensor"] = row.via
        elif row.kind is not DependencyKind.CONTROL:
            found |= {"kind": row.kind.name, "via": row.via}
        if edge.delay is not None:
            found["delay"] = str(edge.delay)
        yield row.source, row.target, found


def _pairs(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _list(found: Mapping[str, str], graph: Graph) -> str:
    text = ", ".join(f"{key}={_quoted(value, graph)}" for key, value in found.items())
    return f" [{text}]" if text else ""


def _quoted(text: str, graph: Graph) -> str:
    if any(len(match[0]) % 2 for match in _BACKSLASHES.finditer(text)):
        rule = "a single backslash before a quote or an end cannot be written in DOT"
        raise GraphError(graph.name, [Fault(f"{text!r}: {rule}; rename it, or save as JSON")])
    return '"' + text.replace('"', '\\"') + '"'
