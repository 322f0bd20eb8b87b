"""The graph of a document: operators, edges, tensors, and where a drawing puts them."""

from __future__ import annotations

from typing import Any

from simsched.colours import type_fills
from simsched.graph.layout import layered_layout
from simsched.graph.model import DependencyKind, Graph
from simsched.page.groups import groups_part
from simsched.page.layout_part import layout_part

DATA, CONTROL, BUFFER = 1, 2, 4
_KINDS = {DependencyKind.DATA: DATA, DependencyKind.CONTROL: CONTROL}

GROUPED = 3000
"""Above so many operators a graph is drawn as groups of them."""
SWEEPS, SWEEPS_OF_LARGE = 12, 2
"""Passes of the layout. A grouped graph is seen as a whole only through its groups, and 20,000 operators in levels
take 2 s with twelve passes and 0.4 s with two."""


def graph_part(graph: Graph) -> dict[str, Any]:
    """Return ``GraphPart`` of ``web/types.d.ts``."""
    fills = type_fills(graph.op_types)
    types = list(dict.fromkeys(graph.op_types))
    number = {name: place for place, name in enumerate(types)}
    large = len(graph) > GROUPED
    layout = layered_layout(graph, sweeps=SWEEPS_OF_LARGE if large else SWEEPS)
    return {
        "name": graph.name,
        "unit": graph.time_unit,
        "names": list(graph.names),
        "types": types,
        "type": [number[name] for name in graph.op_types],
        "fills": [fills[name] for name in types],
        "edges": edges_part(graph),
        "tensors": tensors_part(graph),
        "layout": layout_part(layout),
        "groups": groups_part(graph, layout) if large else None,
    }


def edges_part(graph: Graph) -> list[list[int]]:
    """Return each distinct pair of operators with the sum of the kinds of its dependencies, in order."""
    kinds: dict[tuple[int, int], int] = {}
    rows = graph.edges
    for source, target, kind in zip(rows.source, rows.target, rows.kind, strict=True):
        kinds[source, target] = kinds.get((source, target), 0) | _KINDS.get(DependencyKind(kind), BUFFER)
    return [[source, target, kind] for (source, target), kind in sorted(kinds.items())]


def tensors_part(graph: Graph) -> dict[str, Any]:
    """Return the tensors in columns."""
    return {
        "names": list(graph.tensor_names),
        "bytes": list(graph.tensor_bytes),
        "producer": list(graph.tensor_producer),
        "consumers": [list(readers) for readers in graph.tensor_consumers],
        "kind": [kind.value for kind in graph.tensor_kinds],
    }
