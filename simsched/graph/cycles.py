"""Finding a shortest cycle, to show a user why a graph is not a DAG."""

from __future__ import annotations

from collections.abc import Sequence

# Edges looked at before the search for a still shorter cycle is given up; about a second.
PATIENCE = 5_000_000


def shortest_cycle(succ: Sequence[Sequence[int]], members: Sequence[int], patience: int = PATIENCE) -> list[int]:
    """Return a shortest cycle among ``members``, starting at its smallest number.

    Breadth-first from each member, never deeper than the best cycle so far. When ``patience`` edges have been looked
    at, the best cycle so far is returned, which may not be the shortest.

    Parameters
    ----------
    succ : sequence of sequence of int
        Successors.
    members : sequence of int
        Operators among which there is a cycle, e.g. those that a topological sort could not place.

    Examples
    --------
    >>> shortest_cycle([[1], [2], [0, 3], [1]], range(4))
    [0, 1, 2]
    """
    on_cycle = _leavable(succ, members)
    inside = set(on_cycle)
    best: list[int] = []
    for start in on_cycle:
        found, looked = _cycle_through(succ, start, inside, len(best) or len(inside) + 1)
        patience -= looked
        best = found or best
        if best and (len(best) == 1 or patience < 0):
            break
    smallest = best.index(min(best))
    return best[smallest:] + best[:smallest]


def _leavable(succ: Sequence[Sequence[int]], members: Sequence[int]) -> list[int]:
    """Peel off members without successors among the rest, again and again; what is left holds every cycle."""
    inside = set(members)
    left = {op: sum(other in inside for other in succ[op]) for op in members}
    pred: dict[int, list[int]] = {op: [] for op in members}
    for op in members:
        for other in succ[op]:
            if other in inside:
                pred[other].append(op)
    ends = [op for op in members if not left[op]]
    for op in ends:
        for other in pred[op]:
            left[other] -= 1
            if not left[other]:
                ends.append(other)
    return [op for op in members if left[op]]


def _cycle_through(succ: Sequence[Sequence[int]], start: int, inside: set[int], limit: int) -> tuple[list[int], int]:
    """Return a shortest cycle through ``start`` of fewer than ``limit`` operators, or none; and the edges looked at."""
    parent = {start: -1}
    level = [start]
    depth = looked = 0
    while level and depth + 1 < limit:
        following = []
        for op in level:
            looked += len(succ[op])
            for other in succ[op]:
                if other == start:
                    return _way_back(parent, op), looked
                if other in inside and other not in parent:
                    parent[other] = op
                    following.append(other)
        level = following
        depth += 1
    return [], looked


def _way_back(parent: dict[int, int], op: int) -> list[int]:
    path = [op]
    while parent[path[-1]] >= 0:
        path.append(parent[path[-1]])
    return path[::-1]
