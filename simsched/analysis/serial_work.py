"""The part of a graph that nothing can run beside: operators ordered with every other one.

The transitive closure would answer this in quadratic space; two passes over the edges do.
"""

from __future__ import annotations

from collections.abc import Sequence

from simsched.graph.model import Graph, OpId


def serial_operators(graph: Graph, durations: Sequence[int]) -> list[OpId]:
    """Operators that are comparable with every other one, ascending; see :func:`serial_work`."""
    # Ids are topological, so an operator v is comparable with all others iff every u < v is its ancestor and every
    # w > v its descendant.
    #
    # Every u < v is an ancestor of v iff v is the only sink of the subgraph induced by {0..v}. If v is the only
    # sink, follow edges inside {0..v} from any u: the walk climbs in id and can only stop at a sink, so it reaches
    # v. Conversely a second sink s < v has no successor in {0..v}; a path from s to v would climb in id, hence stay
    # in {0..v}, and start with such a successor: s is not an ancestor of v.
    # Now u < v is no sink of {0..v} iff its smallest successor is at most v. So v passes iff the maximum over u < v
    # of the smallest successor is at most v. By symmetry v is the only source of {v..n-1} iff the minimum over
    # w > v of the largest predecessor is at least v.
    #
    # Operators of duration 0 that no positive one precedes, or that no positive one follows, are left out first:
    # such an operator takes no time and may always run at the very start (end), so that being unordered with it
    # costs nothing. No path between two operators that stay runs through one that is left out: what precedes the
    # first kind, or follows the second, is left out too. So the order among those that stay is unchanged.
    count = len(graph)
    kept = _kept(graph, durations)
    reach = [count] * count
    for op, targets in enumerate(graph.succ):
        reach[op] = next((other for other in targets if kept[other]), count)
    passes = bytearray(count)
    furthest = -1
    for op in range(count):
        if kept[op]:
            passes[op] = furthest <= op
            if reach[op] > furthest:
                furthest = reach[op]
    nearest = count
    found = []
    for op in range(count - 1, -1, -1):
        if kept[op]:
            if passes[op] and nearest >= op:
                found.append(op)
            back = next((other for other in reversed(graph.pred[op]) if kept[other]), -1)
            if back < nearest:
                nearest = back
    return found[::-1]


def serial_work(graph: Graph, durations: Sequence[int]) -> int:
    """Work of the operators that are ordered with every other one: the rigorous serial part of Amdahl's law, in ns.

    While one of them runs, nothing else can run. Operators of duration 0 at either end of the graph do not count as
    "other": a constant or an output that takes no time does not make the rest parallel.

    Examples
    --------
    >>> from simsched.graph.builder import GraphBuilder
    >>> builder = GraphBuilder("diamond", time_unit="tick")
    >>> names = [builder.add_op(name, duration=duration) for name, duration in zip("abcd", (2, 3, 5, 7))]
    >>> for pair in ("ab", "ac", "bd", "cd"):
    ...     builder.add_edge(*pair)
    >>> serial_work(builder.build(), (2, 3, 5, 7))
    9
    """
    return sum(durations[op] for op in serial_operators(graph, durations))


def _kept(graph: Graph, durations: Sequence[int]) -> bytearray:
    """Mark operators with a duration, and those between two that have one."""
    count = len(graph)
    late, early = bytearray(count), bytearray(count)
    for op, preds in enumerate(graph.pred):
        late[op] = any(durations[other] or late[other] for other in preds)
    for op in range(count - 1, -1, -1):
        early[op] = any(durations[other] or early[other] for other in graph.succ[op])
    return bytearray(bool(durations[op]) or (late[op] and early[op]) for op in range(count))
