"""Dependencies of a graph as edges for other formats: which carry what, and where a delay belongs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simsched.graph.model import Dependency, DependencyKind, Graph, OpId, TensorKind

# Which dependency states a delay: precedence first, then data, never what is derived from buffers if there is another.
_ORDER = dict.fromkeys(DependencyKind, 3) | {DependencyKind.CONTROL: 0, DependencyKind.DATA: 1}


@dataclass(frozen=True, slots=True)
class ExportedEdge:
    """One dependency.

    Attributes
    ----------
    row : Dependency
    named : bool
        Whether its tensor has a name of its own; otherwise it is one that an edge with bytes makes.
    delay : int or None
        Of the two operators' delay, if this dependency is the one that states it.
    """

    row: Dependency
    named: bool
    delay: int | None


def exported_edges(graph: Graph) -> Iterator[ExportedEdge]:
    """Yield every dependency of a graph in its order.

    A delay is stated by an edge: by the precedence between its operators or, where there is none, by the edge with
    bytes. So it is not stated twice, and reading it back adds no dependency.
    """
    rows = list(graph.dependencies())
    named = [row.tensor is not None and not _made_by_edge(graph, row) for row in rows]
    stating: dict[tuple[int, int], tuple[int, int]] = {}
    for number, row in enumerate(rows):
        pair = (row.source, row.target)
        if pair in graph.delays:
            order = _ORDER[row.kind] + named[number]
            stating[pair] = min(stating.get(pair, (order, number)), (order, number))
    for number, row in enumerate(rows):
        pair = (row.source, row.target)
        states = pair in stating and stating[pair][1] == number
        yield ExportedEdge(row, named[number], graph.delays[pair] if states else None)


def _made_by_edge(graph: Graph, row: Dependency) -> bool:
    """Whether the tensor is one that an edge with bytes makes: named after it, with nothing but a size."""
    tensor = row.tensor
    if tensor is None or not row.via.startswith(f"{graph.names[row.source]}->{graph.names[row.target]}"):
        return False
    rest = row.via[len(graph.names[row.source]) + 2 + len(graph.names[row.target]) :]
    return (
        (not rest or (rest[0] == "#" and rest[1:].isdecimal()))
        and len(graph.tensor_consumers[tensor]) == 1
        and graph.tensor_shapes[tensor] is None
        and graph.tensor_dtypes[tensor] is None
        and graph.tensor_kinds[tensor] is TensorKind.ACTIVATION
        and tensor not in graph.sharing
    )


def shared_names(graph: Graph, op: OpId) -> dict[str, dict[str, str]]:
    """Outputs of an operator that share the buffer of an input, to that input, under ``alias`` and ``inplace``."""
    names, found = graph.tensor_names, {}
    for key, column in (("alias", graph.aliases), ("inplace", graph.inplace)):
        pairs = {names[tensor]: names[column[tensor]] for tensor in graph.outputs[op] if tensor in column}
        if pairs:
            found[key] = pairs
    return found
