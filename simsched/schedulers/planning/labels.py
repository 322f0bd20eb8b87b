"""The labels of Coffman and Graham, and the arcs that they must not see."""

from __future__ import annotations

from heapq import heappop, heappush

from simsched.graph.model import Graph, OpId


def without_redundant_arcs(graph: Graph) -> list[list[OpId]]:
    """Successors of each operator, without those that another successor leads to anyway (the transitive reduction)."""
    kept: list[list[OpId]] = [[] for _ in range(len(graph))]
    after: dict[OpId, int] = {}
    waiting = [len(pred) for pred in graph.pred]
    for op in range(len(graph) - 1, -1, -1):
        found = 0
        # Ascending ids are in topological order: what makes a successor redundant comes before it.
        for other in graph.succ[op]:
            if not found >> other & 1:
                kept[op].append(other)
                found |= after[other] | 1 << other
            waiting[other] -= 1
            if not waiting[other]:
                del after[other]
        after[op] = found
    return kept


def coffman_graham_labels(graph: Graph) -> list[int]:
    """Label operators 1, 2, ... from the exits up.

    Next comes, of all whose successors are labelled, the one whose successors' labels, in descending order, are first
    in the order of a dictionary; of equal ones the highest id, so that the lowest gets the highest label (E. G.
    Coffman, R. L. Graham, "Optimal scheduling for two-processor systems", Acta Informatica 1, 1972,
    doi:10.1007/BF00288685).
    """
    succ = without_redundant_arcs(graph)
    pred: list[list[OpId]] = [[] for _ in succ]
    for op, targets in enumerate(succ):
        for other in targets:
            pred[other].append(op)
    label = [0] * len(succ)
    waiting = [len(targets) for targets in succ]
    heap: list[tuple[list[int], int]] = []
    for op in range(len(succ)):
        if not waiting[op]:
            heappush(heap, ([], -op))
    for number in range(1, len(succ) + 1):
        op = -heappop(heap)[1]
        label[op] = number
        for other in pred[op]:
            waiting[other] -= 1
            if not waiting[other]:
                heappush(heap, (sorted((label[target] for target in succ[other]), reverse=True), -other))
    return label
