"""Graphviz files (``.dot``): digraphs in, digraphs out.

Names of nodes are names of operators. Nodes may have ``duration``, ``op_type``, ``device``, ``demands``, ``flops``,
``traffic`` and ``workspace``; edges ``bytes``, ``delay`` and ``tensor``; the graph ``time_unit``. Everything else
(colours, labels, clusters) is drawing and is left alone.

The parser is ours: the usual library (pydot) takes 4 ms a node, prints its complaints, and leaves default
attributes and subgraphs, which is most of the work, to its caller.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from simsched.config.files import read_text
from simsched.graph import attributes as values
from simsched.graph.attributes import NODE_KEYS, NamedTensors, TimeScale
from simsched.graph.builder import GraphBuilder
from simsched.graph.dot_syntax import DotEdge, DotGraph, DotNode, parse
from simsched.graph.dot_writer import dump_dot, save_dot
from simsched.graph.model import Graph
from simsched.graph.textfile import Reading, Word, build_located

__all__ = ["DotKeys", "dump_dot", "load_dot", "parse_dot", "save_dot"]

Value = TypeVar("Value")

NEARLY = 0.8
"""How alike a misspelt attribute is to ours; no attribute of Graphviz is as like to any of them."""

_UNIT = re.compile(r"[0-9.]\s*(?:[numµμ]?s)(?![A-Za-z])")


@dataclass(frozen=True, slots=True)
class DotKeys:
    """Which attributes hold what, for files that use other words than ours.

    Attributes
    ----------
    names : {"id", "label"}
        Whether operators are named by their node's id or by its label, which must then be unique.
    duration, op_type, bytes, delay : str
        Names of attributes; e.g. ``DotKeys(duration="Weight", delay="Weight")``.
    """

    names: Literal["id", "label"] = "id"
    duration: str = "duration"
    op_type: str = "op_type"
    bytes: str = "bytes"
    delay: str = "delay"

    @property
    def of_nodes(self) -> tuple[str, ...]:
        """All attributes of nodes that mean something."""
        return (self.duration, self.op_type, *NODE_KEYS[2:])

    @property
    def of_edges(self) -> tuple[str, ...]:
        """All attributes of edges that mean something."""
        return (self.bytes, self.delay, "tensor")


OUR_KEYS = DotKeys()


def load_dot(path: str | Path, keys: DotKeys = OUR_KEYS) -> Graph:
    """Read a Graphviz digraph.

    Parameters
    ----------
    path : str or Path
    keys : DotKeys, optional
        Which attributes hold durations, sizes and delays.

    Returns
    -------
    Graph
        Operators in the order in which nodes are first mentioned. An edge with ``bytes`` carries a tensor; edges
        of one source with the same ``tensor`` carry the same one; other edges are precedence. Times are plain
        ticks, unless the graph has a ``time_unit`` or a time is written with a unit. Where no node has a duration
        or an operator type, each takes one tick, and the graph's notes say so.

    Raises
    ------
    ConfigError
        If the text is not a digraph, or a value is malformed; with line and column.
    GraphError
        If the operators wait for each other in a cycle.
    """
    return parse_dot(read_text(path), str(path), keys)


def parse_dot(text: str, source: str, keys: DotKeys = OUR_KEYS) -> Graph:
    """Read the text of a digraph; ``source`` is what messages call it. See :func:`load_dot`.

    Examples
    --------
    >>> graph = parse_dot("digraph { node [duration=2]; a -> {b c} -> d }", "diamond.dot")
    >>> graph, graph.durations
    (Graph('diamond': 4 operators, 4 edges, 0 tensors), [2, 2, 2, 2])
    """
    return _Importer(parse(text, source), source, keys).graph()


class _Importer:
    """Turns a parsed digraph into a Graph, collecting faults."""

    def __init__(self, parsed: DotGraph, source: str, keys: DotKeys) -> None:
        self.parsed = parsed
        self.keys = keys
        self.reading = Reading(source)
        self.scale = self._time_scale()
        self.names = self._names()
        self.tensors = NamedTensors()
        self._near: dict[tuple[str, tuple[str, ...]], list[str]] = {}

    def graph(self) -> Graph:
        parsed, keys = self.parsed, self.keys
        builder = GraphBuilder(parsed.name or Path(self.reading.source).stem, self.scale.unit, self.reading.source)
        plain = [edge for edge in parsed.edges if not self._carries_named_tensor(edge)]
        bare = not any({keys.duration, keys.op_type} & node.attributes.keys() for node in parsed.nodes.values())
        if bare and parsed.nodes:
            builder.notes.append(f"no node has a {keys.duration} or {keys.op_type}: each takes one tick")
        for name, node in parsed.nodes.items():
            self._add_operator(builder, name, node, bare)
        for edge in plain:
            self._add_edge(builder, edge)
        for tensor, size in self.tensors.sizes.items():
            builder.add_tensor(tensor, bytes=size)
        self.reading.finish()
        places = [edge.word.place for edge in plain]
        return build_located(builder, [node.word.place for node in parsed.nodes.values()], places)

    # --- values ---------------------------------------------------------------------------------------------

    def _value(self, found: Mapping[str, Word], key: str, parse_one: Callable[[str], Value], what: str) -> Value | None:
        word = found.get(key)
        if word is None:
            return None
        try:
            return parse_one(word.text)
        except ValueError as error:
            self.reading.fault(f"{what}: {key}: {error}", word)
            return None

    def _time_scale(self) -> TimeScale:
        stated = self._value(self.parsed.attributes, "time_unit", TimeScale.named, "graph")
        if stated is not None or "time_unit" in self.parsed.attributes:
            return stated or TimeScale("tick", 1)
        with_unit = any(_UNIT.search(word.text) for word in self._times() if word is not None)
        return TimeScale("ns", None) if with_unit else TimeScale("tick", 1)

    def _times(self) -> Iterable[Word | None]:
        for node in self.parsed.nodes.values():
            yield node.attributes.get(self.keys.duration)
        for edge in self.parsed.edges:
            yield edge.attributes.get(self.keys.delay)

    def _names(self) -> dict[str, str]:
        """Operator name by node id."""
        nodes = self.parsed.nodes
        if self.keys.names == "id":
            return {name: name for name in nodes}
        labels = {name: node.attributes.get("label") for name, node in nodes.items()}
        names = {name: name if label is None else label.text for name, label in labels.items()}
        first: dict[str, Word] = {}
        for name, node in nodes.items():
            label = names[name]
            if label in first:
                place = f"{first[label].line}:{first[label].column}"
                self.reading.fault(
                    f"two nodes have the label {label!r} (first at {place}); read ids instead", node.word
                )
            first.setdefault(label, node.word)
        return names

    # --- operators and edges ----------------------------------------------------------------------------------

    def _add_operator(self, builder: GraphBuilder, node_id: str, node: DotNode, bare: bool) -> None:
        found, keys, name = node.attributes, self.keys, self.names[node_id]
        what = f"node {node_id!r}"
        self._check_spelling(found, keys.of_nodes, what)
        duration = 1 if bare else self._value(found, keys.duration, self.scale.duration, what)
        if not bare and not {keys.duration, keys.op_type} & found.keys():
            hint = f"write one, or a default for all nodes: node [{keys.duration}=1]"
            self.reading.fault(f"{what} has neither {keys.duration} nor {keys.op_type}; {hint}", node.word)
        label = found.get("label")
        extra = label is not None and label.text not in (node_id, name, "\\N") and not label.text.startswith("<")
        builder.add_op(
            name,
            found[keys.op_type].text if keys.op_type in found else "op",
            duration=duration,
            inputs=self.tensors.inputs.get(name, ()),
            outputs=self.tensors.outputs.get(name, ()),
            attributes={"label": label.text} if label is not None and extra else None,
            demands=self._value(found, "demands", values.demands, what),
            device=found["device"].text if "device" in found else None,
            flops=self._value(found, "flops", values.operations, what),
            traffic=self._value(found, "traffic", values.size, what),
            workspace=self._value(found, "workspace", values.size, what),
        )

    def _carries_named_tensor(self, edge: DotEdge) -> bool:
        """Note an edge that names its tensor; whether nothing is left of it to add (a delay needs an edge)."""
        keys = self.keys
        if "tensor" not in edge.attributes:
            return False
        size = self._value(edge.attributes, keys.bytes, values.size, _arrow(edge)) or 0
        source, target = self.names[edge.source], self.names[edge.target]
        try:
            self.tensors.add(edge.attributes["tensor"].text, source, target, size)
        except ValueError as error:
            self.reading.fault(f"{_arrow(edge)}: {error}", edge.attributes["tensor"])
        return keys.delay not in edge.attributes

    def _add_edge(self, builder: GraphBuilder, edge: DotEdge) -> None:
        found, keys, what = edge.attributes, self.keys, _arrow(edge)
        self._check_spelling(found, keys.of_edges, what)
        named = "tensor" in found
        size = None if named else self._value(found, keys.bytes, values.size, what)
        delay = self._value(found, keys.delay, self.scale.time, what)
        builder.add_edge(self.names[edge.source], self.names[edge.target], bytes=size, delay=delay)

    def _check_spelling(self, found: Mapping[str, Word], known: tuple[str, ...], what: str) -> None:
        """Refuse an attribute that is nearly one of ours: a cost must not get lost by a slip of the pen."""
        for key, word in found.items():
            if key in known:
                continue
            if (key, known) not in self._near:
                self._near[key, known] = difflib.get_close_matches(key, known, n=1, cutoff=NEARLY)
            near = self._near[key, known]
            if near and near[0] not in found:
                self.reading.fault(f"{what}: unknown attribute {key!r}; did you mean {near[0]!r}?", word)


def _arrow(edge: DotEdge) -> str:
    return f"edge {edge.source!r} -> {edge.target!r}"
