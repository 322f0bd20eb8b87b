"""Successors, predecessors and topological order, from plain columns of edges. Iterative; ties by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from operator import lt

NONE: tuple[int, ...] = ()
Adjacency = list[tuple[int, ...]]


def is_topological(sources: Sequence[int], targets: Sequence[int]) -> bool:
    """Whether every edge leads from a smaller number to a larger one."""
    return all(map(lt, sources, targets))


def successor_rows(count: int, sources: Sequence[int], targets: Sequence[int]) -> list[list[int]]:
    """Return the successors of each of ``count`` operators, as given: in any order, repeated where edges repeat."""
    rows: list[list[int]] = [[] for _ in range(count)]
    for u, v in zip(sources, targets, strict=True):
        rows[u].append(v)
    return rows


def distinct(rows: Iterable[list[int]]) -> Adjacency:
    """Return each row ascending and without repetitions.

    Examples
    --------
    >>> distinct([[2, 1, 2], [], [5]])
    [(1, 2), (), (5,)]
    """
    return [_sorted(row) if len(row) > 1 else tuple(row) for row in rows]


def _sorted(row: list[int]) -> tuple[int, ...]:
    if len(row) == 2 and row[0] < row[1]:
        return row[0], row[1]
    row.sort()
    return tuple(row) if len(set(row)) == len(row) else tuple(sorted(set(row)))


def predecessors(succ: Adjacency) -> Adjacency:
    """Return the predecessors of each operator, ascending, given distinct successors.

    Examples
    --------
    >>> predecessors([(1, 2), (2,), ()])
    [(), (0,), (0, 1)]
    """
    rows: list[list[int]] = [[] for _ in succ]
    for u, targets in enumerate(succ):
        for v in targets:
            rows[v].append(u)
    return list(map(tuple, rows))


def topological_order(succ: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Kahn's algorithm, the smallest number first.

    Parameters
    ----------
    succ : sequence of sequence of int
        Successors; repetitions do no harm.

    Returns
    -------
    order : list of int
        Operators in topological order; all of them unless there is a cycle.
    left : list of int
        Operators on a cycle or behind one.
    """
    waiting = [0] * len(succ)
    for row in succ:
        for v in row:
            waiting[v] += 1
    ready = [op for op, count in enumerate(waiting) if not count]
    heapify(ready)
    order = []
    while ready:
        op = heappop(ready)
        order.append(op)
        for v in succ[op]:
            waiting[v] -= 1
            if not waiting[v]:
                heappush(ready, v)
    return order, [op for op, count in enumerate(waiting) if count]
