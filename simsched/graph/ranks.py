"""Ranks of operators: b-level, t-level, slack, critical path. Iterative, one pass each over plain lists."""

from __future__ import annotations

from collections.abc import Sequence

from simsched.graph.model import Graph, OpId


def b_level(graph: Graph, durations: Sequence[int]) -> list[int]:
    """Longest path from each operator to an exit, its own duration included (upward rank without communication).

    Parameters
    ----------
    graph : Graph
    durations : sequence of int
        ns by operator id.

    Returns
    -------
    list of int
        ns by operator id.
    """
    level = list(durations)
    succ = graph.succ
    for op in range(len(level) - 1, -1, -1):
        best = 0
        for other in succ[op]:
            if level[other] > best:
                best = level[other]
        level[op] += best
    return level


def t_level(graph: Graph, durations: Sequence[int]) -> list[int]:
    """Longest path from an entry to each operator, its own duration left out: its earliest start."""
    level = [0] * len(durations)
    for op, targets in enumerate(graph.succ):
        end = level[op] + durations[op]
        for other in targets:
            if end > level[other]:
                level[other] = end
    return level


def slack(graph: Graph, durations: Sequence[int]) -> list[int]:
    """How long each operator may be late without lengthening the critical path, in ns."""
    up, down = b_level(graph, durations), t_level(graph, durations)
    length = max(up, default=0)
    return [length - above - below for above, below in zip(down, up, strict=True)]


def critical_path(graph: Graph, durations: Sequence[int]) -> list[OpId]:
    """Operators of one longest path, from entry to exit; ties go to the lowest id."""
    level = b_level(graph, durations)
    if not level:
        return []
    op = max(range(len(level)), key=level.__getitem__)
    path = [op]
    while graph.succ[op]:
        left = level[op] - durations[op]
        op = next(other for other in graph.succ[op] if level[other] == left)
        path.append(op)
    return path
