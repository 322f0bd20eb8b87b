"""networkx graphs, both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from simsched.collector import collector_off
from simsched.errors import Fault, GraphError, suggest
from simsched.graph import attributes as values
from simsched.graph.attributes import NamedTensors, TimeScale
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.graph.nx_edges import NxEdges, value_or_fault
from simsched.graph.nx_writer import to_networkx
from simsched.graph.textfile import LARGEST

if TYPE_CHECKING:
    import networkx

__all__ = ["from_networkx", "to_networkx"]

Value = TypeVar("Value")

NODE_KEYS = frozenset(
    {"device", "demands", "flops", "traffic", "workspace", "attributes", "reads", "writes", "inputs", "outputs"}
    | {"alias", "inplace"}
)
"""Attributes of nodes besides duration and operator type."""


def from_networkx(
    g: networkx.DiGraph[Any],
    *,
    name: str | None = None,
    time_unit: str | None = None,
    duration: str = "duration",
    op_type: str = "op_type",
    bytes: str = "bytes",
    delay: str = "delay",
) -> Graph:
    """Make a graph from a networkx ``DiGraph`` or ``MultiDiGraph``.

    Parameters
    ----------
    g : networkx.DiGraph or networkx.MultiDiGraph
        Nodes become operators, named by their text, in the order of the graph. Besides ``duration`` and
        ``op_type`` they may have ``device``, ``demands``, ``flops``, ``traffic``, ``workspace``, ``attributes``,
        ``reads``, ``writes``, ``inputs``, ``outputs``, ``alias`` and ``inplace`` (as :func:`to_networkx` writes
        them); other attributes are left alone. An edge with ``bytes`` carries a tensor of its own, or shares one
        with the edges of its source that have the same ``tensor``; parallel edges of a ``MultiDiGraph`` each keep
        theirs. Other edges are precedence.
    name : str, optional
        By default the graph's own.
    time_unit : {"tick", "ns", "us", "ms", "s"}, optional
        What a plain number of ``duration`` and ``delay`` counts; ``"tick"`` by default, or what
        ``g.graph["time_unit"]`` says. Text such as ``"2.6 us"`` says it itself.
    duration, op_type, bytes, delay : str
        Names of the attributes, for graphs that use other words.

    Returns
    -------
    Graph
        Where no node has a duration or an operator type, each takes one tick, and the graph's notes say so.

    Raises
    ------
    GraphError
        If the graph is undirected or has a cycle, two nodes have the same text, or a value cannot be used; all
        faults, each with its node or edge.

    Examples
    --------
    >>> import networkx
    >>> g = networkx.DiGraph([("a", "b")])
    >>> networkx.set_node_attributes(g, {"a": 2, "b": 3}, "duration")
    >>> from_networkx(g, name="pair").durations
    [2, 3]
    """
    stated = name or str(getattr(g, "name", "") or "")
    source = f"networkx graph {stated!r}" if stated else "networkx graph"
    if not hasattr(g, "is_directed") or not hasattr(g, "adjacency"):
        raise GraphError(source, [Fault(f"expected a networkx.DiGraph, got {type(g).__name__}")])
    if not g.is_directed():
        rule = "an undirected graph does not say which operator waits; make it a networkx.DiGraph"
        raise GraphError(source, [Fault(rule)])
    keys = {"duration": duration, "op_type": op_type, "bytes": bytes, "delay": delay}
    with collector_off():
        return _Importer(g, stated or "graph", source, time_unit, keys).graph()


class _Importer:
    """Turns a networkx graph into ours, collecting faults.

    What a value is can be told from its type alone in nearly every graph, so columns are checked at once, and
    looked at one by one only where something else than a plain number is among them.
    """

    def __init__(
        self, g: networkx.DiGraph[Any], name: str, source: str, time_unit: str | None, keys: Mapping[str, str]
    ) -> None:
        self.g = g
        self.keys = keys
        self.source = source
        self.faults: list[Fault] = []
        self.scale = self._scale(time_unit)
        self.found: list[Mapping[str, Any]] = [found for _, found in g.nodes(data=True)]
        self.nodes = list(g)
        self.names = self._names()
        self.builder = GraphBuilder(name, self.scale.unit, source)

    def graph(self) -> Graph:
        self._describe()
        edges = NxEdges(self.g, self.names, self.found, self.scale, self.keys, self.faults)
        self._add_operators(edges.tensors)
        edges.add_to(self.builder)
        if self.faults:
            raise GraphError(self.source, self.faults)
        try:
            return self.builder.build()
        except GraphError as error:
            faults = [_without_path(fault) for fault in error.faults]
        raise GraphError(self.source, faults)

    # --- the graph's own attributes -------------------------------------------------------------------------

    def _scale(self, time_unit: str | None) -> TimeScale:
        stated = self.g.graph.get("time_unit", "tick") if time_unit is None else time_unit
        try:
            return TimeScale.named(str(stated))
        except ValueError as error:
            raise GraphError(self.source, [Fault(f"time_unit: {error}")]) from None

    def _describe(self) -> None:
        about, builder = self.g.graph, self.builder
        builder.description = str(about.get("description", ""))
        builder.origin = str(about.get("origin", ""))
        builder.notes += map(str, _sequence(about.get("notes")))
        if about.get("native") is not None:
            builder.native = self._value("graph", "native", about["native"], values.demands)
        tensors = about.get("tensors", {})
        if not isinstance(tensors, Mapping):
            self.faults.append(Fault(f"graph: tensors: expected a mapping of names to sizes, got {tensors!r}"))
            return
        if not tensors:
            return
        listed = {
            str(tensor) for found in self.found for key in ("inputs", "outputs") for tensor in _sequence(found.get(key))
        }
        for tensor, parts in tensors.items():
            try:
                if str(tensor) in listed or parts.get("kind") in ("parameter", "input"):
                    builder.add_tensor(str(tensor), **parts)  # others went with the operators that were taken out
            except (TypeError, AttributeError):
                rule = "expected bytes, or shape and dtype, and kind"
                self.faults.append(Fault(f"graph: tensors: {tensor!r}: {rule}; got {parts!r}"))

    def _names(self) -> list[str]:
        """Return the text of each node; two nodes with the same text are a fault."""
        if set(map(type, self.nodes)) <= {str}:
            return self.nodes
        names = list(map(str, self.nodes))
        if len(set(names)) < len(names):
            first: dict[str, Any] = {}
            for node, text in zip(self.nodes, names, strict=True):
                if text in first:
                    message = f"nodes {first[text]!r} and {node!r} would both be named {text!r}; rename one"
                    self.faults.append(Fault(message))
                first.setdefault(text, node)
            raise GraphError(self.source, self.faults)
        return names

    # --- operators ------------------------------------------------------------------------------------------

    def _add_operators(self, tensors: NamedTensors) -> None:
        durations, types = self._durations(), self._types()
        if not tensors.producer and all(map(NODE_KEYS.isdisjoint, self.found)):
            self.builder.add_ops(self.names, durations, types)
            return
        for number, name in enumerate(self.names):
            self._add_operator(name, types[number], durations[number], self.found[number], tensors)

    def _durations(self) -> list[Any]:
        key = self.keys["duration"]
        given: list[Any] = [found.get(key) for found in self.found]
        kinds = set(map(type, given))
        bare = self.scale.bare or 1
        if kinds == {int} and min(given) >= 0 and max(given) * bare <= LARGEST:
            return given if bare == 1 else [time * bare for time in given]
        if kinds == {type(None)} and not any(self.keys["op_type"] in found for found in self.found):
            return self._unit_durations()
        durations: list[Any] = []
        for name, time, found in zip(self.names, given, self.found, strict=True):
            if time is None:
                if self.keys["op_type"] not in found:
                    message = f"node {name!r} has neither {key!r} nor {self.keys['op_type']!r}; one is needed"
                    self.faults.append(Fault(message))
                durations.append(None)
            else:
                durations.append(self._value(f"node {name!r}", key, time, self.scale.duration))
        return durations

    def _unit_durations(self) -> list[int]:
        key = self.keys["duration"]
        if key != "duration":
            known = list(dict.fromkeys(str(other) for found in self.found for other in found))
            self.faults.append(Fault(f"no node has the attribute {key!r}; {suggest(key, known)}"))
        else:
            self.builder.notes.append("no node has a duration or op_type: each takes one tick")
        return [1] * len(self.names)

    def _types(self) -> list[str]:
        key = self.keys["op_type"]
        given = [found.get(key, "op") for found in self.found]
        return given if set(map(type, given)) <= {str} else list(map(str, given))

    def _add_operator(
        self, name: str, op_type: str, duration: Any, found: Mapping[str, Any], tensors: NamedTensors
    ) -> None:
        what = f"node {name!r}"

        def value(key: str, parse_one: Callable[[Any], Value]) -> Value | None:
            return None if found.get(key) is None else self._value(what, key, found[key], parse_one)

        device = found.get("device")
        self.builder.add_op(
            name,
            op_type,
            duration=duration,
            inputs=[*(value("inputs", _texts) or ()), *tensors.inputs.get(name, ())],
            outputs=[*(value("outputs", _texts) or ()), *tensors.outputs.get(name, ())],
            attributes=value("attributes", _mapping),
            demands=value("demands", values.demands),
            reads=value("reads", _texts) or (),
            writes=value("writes", _texts) or (),
            device=None if device is None else str(device),
            flops=value("flops", values.operations),
            traffic=value("traffic", values.size),
            workspace=value("workspace", values.size),
            alias=value("alias", _names),
            inplace=value("inplace", _names),
        )

    # --- values ---------------------------------------------------------------------------------------------

    def _value(self, what: str, key: str, value: Any, parse_one: Callable[[Any], Value]) -> Value | None:
        return value_or_fault(self.faults, what, key, value, parse_one)


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"expected a list of names, got {value!r}")
    return tuple(map(str, value))


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"expected a mapping, got {value!r}")
    return {str(key): one for key, one in value.items()}


def _names(value: Any) -> dict[str, str]:
    return {key: str(one) for key, one in _mapping(value).items()}


def _without_path(fault: Fault) -> Fault:
    """Return a fault of the builder that says nothing of its columns: the message has the names."""
    return Fault(fault.message, related=tuple(Fault(other.message) for other in fault.related))
