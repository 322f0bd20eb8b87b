"""The edges of a networkx graph: which carry tensors, which only order, which follow from what nodes say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from simsched.errors import Fault
from simsched.graph import attributes as values
from simsched.graph.attributes import NamedTensors, TimeScale
from simsched.graph.builder import GraphBuilder
from simsched.graph.textfile import LARGEST

if TYPE_CHECKING:
    import networkx

Value = TypeVar("Value")

_KINDS = frozenset(("tensor", "kind"))
_BUFFERS = frozenset(("reads", "writes", "inplace"))


class NxEdges:
    """Reads the edges of a networkx graph into a builder, collecting faults.

    Parameters
    ----------
    g : networkx.DiGraph
    names : sequence of str
        Operator of each node, in the graph's order.
    found : sequence of mapping
        Attributes of each node.
    scale : TimeScale
    keys : mapping of str to str
        What the graph calls ``bytes`` and ``delay``.
    faults : list of Fault
        Faults are added to it.
    """

    def __init__(
        self,
        g: networkx.DiGraph[Any],
        names: Sequence[str],
        found: Sequence[Mapping[str, Any]],
        scale: TimeScale,
        keys: Mapping[str, str],
        faults: list[Fault],
    ) -> None:
        self.nodes = found
        self.names = names
        self.scale = scale
        self.keys = keys
        self.faults = faults
        self.tensors = NamedTensors()
        self.listed = any("inputs" in one or "outputs" in one for one in found)
        self.buffered = any(not _BUFFERS.isdisjoint(one) for one in found)
        self.drawn: dict[tuple[str, str, str], None] = {}
        self.rows = self._rows(g)
        if self.listed:
            self._check_drawn()

    def _rows(self, g: networkx.DiGraph[Any]) -> tuple[list[str], list[str], list[Mapping[str, Any]]]:
        """Columns of the edges: sources, targets, attributes; those that name a tensor are noted and left out."""
        nodes, rows = list(g), [neighbours for _, neighbours in g.adjacency()]
        targets: list[Any] = list(chain.from_iterable(rows))
        sources: list[Any] = list(chain.from_iterable(map(repeat, nodes, map(len, rows))))
        found: list[Any] = [one for neighbours in rows for one in neighbours.values()]
        if g.is_multigraph():
            counts = list(map(len, found))
            sources = list(chain.from_iterable(map(repeat, sources, counts)))
            targets = list(chain.from_iterable(map(repeat, targets, counts)))
            found = [one for parallel in found for one in parallel.values()]
        if nodes != self.names:
            text = dict(zip(nodes, self.names, strict=True))
            sources, targets = [text[node] for node in sources], [text[node] for node in targets]
        if any(found) and not all(map(_KINDS.isdisjoint, found)):
            kept = [row for row in zip(sources, targets, found, strict=True) if not self._is_derived(*row)]
            return [row[0] for row in kept], [row[1] for row in kept], [row[2] for row in kept]
        return sources, targets, found

    def _is_derived(self, source: str, target: str, found: Mapping[str, Any]) -> bool:
        """Note an edge that names its tensor; whether nothing is left of it to add."""
        tensor, kind = found.get("tensor"), found.get("kind")
        if tensor is None:
            return self.buffered and kind in ("raw", "war", "waw")
        if self.listed:
            self.drawn[source, target, str(tensor)] = None
            return self.keys["delay"] not in found
        key = self.keys["bytes"]
        size = self._edge_value(source, target, key, found.get(key, 0), values.size) or 0
        try:
            self.tensors.add(str(tensor), source, target, size)
        except ValueError as error:
            self.faults.append(Fault(f"edge {source!r} -> {target!r}: {error}"))
        return self.keys["delay"] not in found

    def add_to(self, builder: GraphBuilder) -> None:
        """Add the edges, and the tensors that they name."""
        for tensor, bytes in self.tensors.sizes.items():
            builder.add_tensor(tensor, bytes=bytes)
        sources, targets, found = self.rows
        if not any(found):
            builder.add_edges(sources, targets)
            return
        sizes = self._column(self.keys["bytes"], 1, values.size)
        if sizes is not None and self.tensors.sizes:
            sizes = [None if "tensor" in one else size for one, size in zip(found, sizes, strict=True)]
        delays = self._column(self.keys["delay"], self.scale.bare or 1, self.scale.time)
        builder.add_edges(sources, targets, sizes, delays)

    def _column(self, key: str, factor: int, parse_one: Callable[[Any], int]) -> list[int | None] | None:
        """One attribute of all edges; None where no edge has it."""
        sources, targets, found = self.rows
        given: list[Any] = [one.get(key) for one in found]
        kinds = set(map(type, given))
        if kinds <= {type(None)}:
            return None
        if kinds == {int} and min(given) >= 0 and max(given) * factor <= LARGEST:
            return given if factor == 1 else [number * factor for number in given]
        return [
            None if value is None else self._edge_value(source, target, key, value, parse_one)
            for source, target, value in zip(sources, targets, given, strict=True)
        ]

    def _check_drawn(self) -> None:
        """Edges of named tensors must agree with what the nodes list: one of them was edited alone otherwise."""
        maker = {tensor: name for name, made in self._listed("outputs") for tensor in made}
        wanted = {
            (maker[tensor], name, tensor): None
            for name, read in self._listed("inputs")
            for tensor in read
            if tensor in maker
        }
        for source, target, tensor in wanted:
            if (source, target, tensor) not in self.drawn:
                rule = f"no edge from {source!r} carries it; add the edge, or take it off the list"
                self.faults.append(Fault(f"node {target!r}: inputs: tensor {tensor!r} is listed, but {rule}"))
        for source, target, tensor in self.drawn:
            if (source, target, tensor) not in wanted:
                rule = "its ends do not list it as output and input; list it, or take the edge away"
                self.faults.append(Fault(f"edge {source!r} -> {target!r}: it carries tensor {tensor!r}, but {rule}"))

    def _listed(self, key: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        for name, found in zip(self.names, self.nodes, strict=True):
            if isinstance(found.get(key), (list, tuple)):
                yield name, tuple(map(str, found[key]))

    def _edge_value(
        self, source: str, target: str, key: str, value: Any, parse_one: Callable[[Any], int]
    ) -> int | None:
        return value_or_fault(self.faults, f"edge {source!r} -> {target!r}", key, value, parse_one)


def value_or_fault(
    faults: list[Fault], what: str, key: str, value: Any, parse_one: Callable[[Any], Value]
) -> Value | None:
    """Return a parsed attribute, or None and a fault that names its node or edge."""
    try:
        return parse_one(value)
    except ValueError as error:
        faults.append(Fault(f"{what}: {key}: {error}"))
        return None
