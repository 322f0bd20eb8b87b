"""A large graph as groups of operators that a person can name, few enough to be drawn one by one.

Where the names of operators say which block they belong to (``encoder.layer.3/...``, ``mb2/...``), groups are those
blocks, as fine as they may be. Elsewhere they are neighbours of the layered drawing: the levels are cut into bands,
and each band, piece by connected piece, from left to right into groups of about equal size. Edges between groups
never run in a circle, so that groups can be drawn in levels as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

from simsched.graph.layout import Layout, layered_layout
from simsched.graph.model import Graph, OpId
from simsched.page.layout_part import layout_part
from simsched.page.rounding import tidy

MOST = 1200
FEWEST_NAMED = 12
"""Fewer blocks than this say too little of a graph of thousands of operators."""
LARGEST_SHARE = 0.25
"""Blocks are of no use where one of them holds more than this part of the graph."""

Grouping = list[list[OpId]]

_SEPARATOR = re.compile(r"[/.:]")


@dataclass(frozen=True, slots=True)
class _Quotient:
    """The graph of the groups; ids are topological."""

    succ: Sequence[Sequence[int]]

    def __len__(self) -> int:
        return len(self.succ)


def groups_part(graph: Graph, layout: Layout) -> dict[str, Any]:
    """Return ``Groups`` of ``web/types.d.ts``.

    Parameters
    ----------
    graph : Graph
    layout : Layout
        Of its operators.
    """
    named = named_groups(graph)
    groups = banded_groups(graph, layout) if named is None else [ops for _, ops in named]
    names = [_span(graph, ops) for ops in groups] if named is None else [name for name, _ in named]
    of = _owners(groups, len(graph))
    counts = _crossings(graph, of)
    quotient = _Quotient(_successors(counts, len(groups)))
    return {
        "names": names,
        "of": of,
        "edges": [[source, target, count] for (source, target), count in counts.items()],
        "layout": layout_part(layered_layout(quotient)),
    }


def _owners(groups: Grouping, count: int) -> list[int]:
    of = [0] * count
    for number, ops in enumerate(groups):
        for op in ops:
            of[op] = number
    return of


def _crossings(graph: Graph, of: Sequence[int]) -> dict[tuple[int, int], int]:
    """Number of edges between each two groups, ascending."""
    counts: dict[tuple[int, int], int] = {}
    for op, targets in enumerate(graph.succ):
        for other in targets:
            if of[op] != of[other]:
                counts[of[op], of[other]] = counts.get((of[op], of[other]), 0) + 1
    return dict(sorted(counts.items()))


def _successors(counts: dict[tuple[int, int], int], groups: int) -> list[list[int]]:
    succ: list[list[int]] = [[] for _ in range(groups)]
    for source, target in counts:
        succ[source].append(target)
    return succ


def _span(graph: Graph, ops: Sequence[OpId]) -> str:
    """Name neighbours by the first and the last of them."""
    first, last = graph.names[min(ops)], graph.names[max(ops)]
    return first if len(ops) == 1 else f"{first} … {last}"


# --- by names -------------------------------------------------------------------------------------------------


def named_groups(graph: Graph) -> list[tuple[str, list[OpId]]] | None:
    """Group operators by the beginnings of their names, as finely as that stays drawable and free of circles.

    Returns
    -------
    list of (str, list of int) or None
        In an order in which edges run forward; None where the names do not divide the graph well.
    """
    best = None
    for depth in range(1, 9):
        blocks: dict[str, list[OpId]] = {}
        for op, name in enumerate(graph.names):
            blocks.setdefault(_beginning(name, depth), []).append(op)
        if len(blocks) > MOST:
            break
        if len(blocks) < FEWEST_NAMED or max(map(len, blocks.values())) > LARGEST_SHARE * len(graph):
            continue
        ordered = _in_order(graph, list(blocks.items()))
        best = ordered if ordered is not None else best
    return best


def _beginning(name: str, depth: int) -> str:
    """The first parts of a name, its last part left out; all of it where it has but one."""
    ends = [match.start() for match in _SEPARATOR.finditer(name)]
    return name[: ends[min(depth, len(ends)) - 1]] if ends else name


def _in_order(graph: Graph, blocks: list[tuple[str, list[OpId]]]) -> list[tuple[str, list[OpId]]] | None:
    """Sort blocks so that edges run forward, those with the lowest operators first; None where there is a circle."""
    succ = _successors(_crossings(graph, _owners([ops for _, ops in blocks], len(graph))), len(blocks))
    missing = [0] * len(blocks)
    for targets in succ:
        for other in targets:
            missing[other] += 1
    ready = [(ops[0], number) for number, (_, ops) in enumerate(blocks) if not missing[number]]
    heapify(ready)
    found = []
    while ready:
        _, number = heappop(ready)
        found.append(blocks[number])
        for other in succ[number]:
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, (blocks[other][1][0], other))
    return found if len(found) == len(blocks) else None


# --- by place -------------------------------------------------------------------------------------------------


def banded_groups(graph: Graph, layout: Layout, most: int = MOST) -> Grouping:
    """Group neighbours of the layered drawing: at most ``most`` groups, from the top, in each band from the left.

    A band of one level has no edges inside and is cut anywhere. Deep graphs have bands of several levels, which are
    cut between their connected pieces only.
    """
    height = max(1, -(-2 * layout.levels // most))
    bands: Grouping = [[] for _ in range(-(-layout.levels // height))]
    for op, level in enumerate(layout.level):
        bands[level // height].append(op)
    pieces = [_pieces(graph, layout, band, height) for band in bands]
    # Each band has at most one group that is not full, and what a piece adds over the size ends a group.
    size = -(-len(graph) // max(1, most - len(bands)))
    return [group for band in pieces for group in _filled(band, size)]


def _pieces(graph: Graph, layout: Layout, band: Sequence[OpId], height: int) -> Grouping:
    """Connected pieces of a band, from left to right."""
    if height == 1:
        return [[op] for op in sorted(band, key=lambda op: (layout.x[op], op))]
    inside = set(band)
    pieces = []
    for first in band:
        if first in inside:
            inside.remove(first)
            reached = [first]
            for op in reached:
                near = [other for other in (*graph.pred[op], *graph.succ[op]) if other in inside]
                inside.difference_update(near)
                reached += near
            pieces.append(sorted(reached))
    return sorted(pieces, key=lambda ops: (tidy(sum(layout.x[op] for op in ops) / len(ops)), ops[0]))


def _filled(pieces: Grouping, size: int) -> Iterator[list[OpId]]:
    """Join neighbouring pieces until a group has ``size`` operators."""
    group: list[OpId] = []
    for piece in pieces:
        group += piece
        if len(group) >= size:
            yield sorted(group)
            group = []
    if group:
        yield sorted(group)
