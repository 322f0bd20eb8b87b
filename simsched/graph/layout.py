"""Layered drawing of a DAG as pure functions: where each operator goes, and how its edges run.

Sugiyama, Tagawa and Toda's method (doi:10.1109/TSMC.1981.4308636) in three steps: the level of an operator is the
longest path to it, counted in operators; barycentre sweeps order each level so that few edges cross; positions then
follow from a least-squares fit that keeps edges straight and neighbours apart. Nothing is random, and nothing is
recursive. Plots and pages share it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol

from simsched.graph.model import OpId

Point = tuple[float, int]

_WAYPOINT_WIDTH = 0.4
_STRAIGHTNESS = (1.0, 2.0, 8.0)
_CHAIN = 24.0


class Dag(Protocol):
    """What is drawn: a graph of operators, or of groups of them."""

    @property
    def succ(self) -> Sequence[Sequence[int]]:
        """Successors of each node, all of them with a higher number."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Places of operators. One unit of ``x`` is the room that one operator takes; levels grow downwards.

    Attributes
    ----------
    level : tuple of int
        By operator id; each edge goes from a lower to a higher level.
    x : tuple of float
        Centres by operator id, at least 0.5. Operators of one level are at least 1 apart.
    routes : mapping
        ``(source, target)`` to the points ``(x, level)`` between them, for edges that pass other levels. Edges of one
        source share their way as long as they can.
    levels : int
        Number of levels.
    width : float
        Room from the leftmost to the rightmost operator, both included.
    """

    level: tuple[int, ...]
    x: tuple[float, ...]
    routes: Mapping[tuple[OpId, OpId], tuple[Point, ...]]
    levels: int
    width: float


def layers(graph: Dag) -> list[int]:
    """Level of each operator: the number of operators on the longest path that leads to it."""
    level = [0] * len(graph)
    for op, targets in enumerate(graph.succ):
        below = level[op] + 1
        for other in targets:
            if below > level[other]:
                level[other] = below
    return level


def layered_layout(graph: Dag, *, sweeps: int = 12, max_waypoints: int = 20_000) -> Layout:
    """Place the operators of a graph in levels.

    Parameters
    ----------
    graph : Graph
        Or anything else with ``succ``, from lower numbers to higher ones.
    sweeps : int
        Passes over the levels, both for the order and for the positions.
    max_waypoints : int
        Edges that pass other levels are led around their operators through waypoints; when a graph would need more
        than this, the longest edges get none and run straight.

    Returns
    -------
    Layout
    """
    level = layers(graph)
    net = _route(graph, level, max_waypoints)
    x = [0.0] * len(net.level)
    levels = max(level, default=-1) + 1
    taken = [0.0] * levels
    for rows in _parts(net):
        ordered = _order(net, rows, sweeps)
        _fit(net, ordered, x, sweeps)
        _push(net, ordered, x, taken)
    count = len(graph)
    left = min(x[:count], default=0.5) - 0.5
    x = [value - left for value in x]
    routes = {edge: tuple((x[node], net.level[node]) for node in nodes) for edge, nodes in net.routes.items()}
    width = max(x[:count], default=-0.5) + 0.5
    return Layout(tuple(level), tuple(x[:count]), routes, levels, width)


@dataclass(frozen=True, slots=True)
class _Net:
    """Operators and waypoints as one graph in which every edge joins neighbouring levels."""

    operators: int
    level: list[int]
    down: list[list[int]]
    up: list[list[int]]
    routes: dict[tuple[OpId, OpId], list[int]]

    def room(self, node: int) -> float:
        return 1.0 if node < self.operators else _WAYPOINT_WIDTH

    def weight(self, upper: int, lower: int) -> float:
        """How much an edge wants to be straight: most where it passes by, and in a chain."""
        if len(self.down[upper]) == 1 == len(self.up[lower]):
            return _CHAIN
        return _STRAIGHTNESS[(upper >= self.operators) + (lower >= self.operators)]


def _route(graph: Dag, level: Sequence[int], most: int) -> _Net:
    """Give each operator one trunk of waypoints, a level each, as deep as its farthest target needs."""
    trunk = [
        max((level[other] for other in targets), default=0) - level[op] - 1 for op, targets in enumerate(graph.succ)
    ]
    shortest_first = sorted((length, op) for op, length in enumerate(trunk) if length > 0)
    totals = list(accumulate(length for length, _ in shortest_first))
    led = {op for _, op in shortest_first[: bisect_right(totals, most)]}
    net = _Net(len(graph), list(level), [[] for _ in level], [[] for _ in level], {})
    for op, targets in enumerate(graph.succ):
        way = [op]
        for other in sorted(targets, key=lambda target: (level[target], target)):
            span = level[other] - level[op]
            if span > 1 and op not in led:
                continue
            while len(way) < span:
                way.append(len(net.level))
                net.level.append(level[op] + len(way) - 1)
                net.up.append([])
                net.down.append([])
                _join(net, way[-2], way[-1])
            _join(net, way[span - 1], other)
            if span > 1:
                net.routes[op, other] = way[1:span]
    return net


def _join(net: _Net, upper: int, lower: int) -> None:
    net.down[upper].append(lower)
    net.up[lower].append(upper)


def _parts(net: _Net) -> list[list[list[int]]]:
    """Return the connected parts of the graph, each as its rows from the top, by their smallest operator."""
    seen = [False] * len(net.level)
    parts = []
    for first in range(len(net.level)):
        if not seen[first]:
            seen[first] = True
            reached = [first]
            for node in reached:
                for other in (*net.down[node], *net.up[node]):
                    if not seen[other]:
                        seen[other] = True
                        reached.append(other)
            rows: dict[int, list[int]] = {}
            for node in sorted(reached):
                rows.setdefault(net.level[node], []).append(node)
            parts.append([rows[at] for at in sorted(rows)])
    return parts


def _order(net: _Net, rows: list[list[int]], sweeps: int) -> list[list[int]]:
    """Order each level by the mean place of its neighbours, down and up; keep the order with the fewest crossings."""
    place: dict[int, int] = {}
    _number(rows, place)
    best, fewest = [list(row) for row in rows], _crossings(net, rows, place)
    for sweep in range(sweeps):
        if not fewest:
            break
        downward = sweep % 2 == 0
        for row in rows[1:] if downward else rows[-2::-1]:
            neighbours = net.up if downward else net.down
            # A node without neighbours keeps its place, and equal means keep their order.
            mean = {node: _mean([place[other] for other in neighbours[node]], place[node]) for node in row}
            row.sort(key=lambda node: (mean[node], place[node]))
            _number([row], place)
        crossings = _crossings(net, rows, place)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _number(rows: Sequence[Sequence[int]], place: dict[int, int]) -> None:
    for row in rows:
        place.update((node, number) for number, node in enumerate(row))


def _mean(values: Sequence[int], default: float) -> float:
    return sum(values) / len(values) if values else default


def _crossings(net: _Net, rows: Sequence[Sequence[int]], place: Mapping[int, int]) -> int:
    """Count the pairs of edges that cross, as inversions with a Fenwick tree."""
    total = 0
    for row, following in pairwise(rows):
        tree = [0] * (len(following) + 1)
        seen = 0
        for node in row:
            ends = sorted(place[other] for other in net.down[node])
            for end in ends:
                total += seen - _prefix(tree, end + 1)
            for end in ends:
                _add(tree, end + 1)
            seen += len(ends)
    return total


def _prefix(tree: Sequence[int], index: int) -> int:
    total = 0
    while index:
        total += tree[index]
        index &= index - 1
    return total


def _add(tree: list[int], index: int) -> None:
    while index < len(tree):
        tree[index] += 1
        index += index & -index


def _fit(net: _Net, rows: Sequence[Sequence[int]], x: list[float], sweeps: int) -> None:
    """Fit each level to its neighbours: first level by level down and up, then to both sides at once."""
    for row in rows:
        offset = 0.0
        for node in row:
            offset += net.room(node) / 2
            x[node] = offset
            offset += net.room(node) / 2
        for node in row:  # levels start centred above each other
            x[node] -= offset / 2
    # Small graphs are looked at closely, and their fit costs nothing: go on until nothing moves that one could see.
    enough = max(2 * sweeps, min(240, 24_000 // sum(map(len, rows))))
    for sweep in range(enough if len(rows) > 1 else 0):
        settle = sweep >= sweeps
        downward = sweep % 2 == 0
        for row in rows if downward else rows[::-1]:
            wishes, weights = [], []
            for node in row:
                near = net.up[node] + net.down[node] if settle else net.up[node] if downward else net.down[node]
                wish, weight = _wish(net, node, near, x)
                wishes.append(wish)
                weights.append(weight)
            for node, value in zip(row, _apart(net, row, wishes, weights), strict=True):
                x[node] = value


def _wish(net: _Net, node: int, near: Sequence[int], x: Sequence[float]) -> tuple[float, float]:
    if not near:
        return x[node], 0.1
    at = net.level[node]
    weights = [net.weight(other, node) if net.level[other] < at else net.weight(node, other) for other in near]
    total = sum(weights)
    return sum(weight * x[other] for weight, other in zip(weights, near, strict=True)) / total, total


def _apart(net: _Net, row: Sequence[int], wishes: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Positions nearest to the wishes that keep the order and the room: isotonic regression, pooling violators."""
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (net.room(left) + net.room(right)) / 2)
    pools: list[tuple[float, float, int]] = []
    for wish, weight, offset in zip(wishes, weights, offsets, strict=False):
        mean, total, count = wish - offset, weight, 1
        while pools and pools[-1][0] >= mean:
            other, others, more = pools.pop()
            mean = (mean * total + other * others) / (total + others)
            total, count = total + others, count + more
        pools.append((mean, total, count))
    fitted = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(fitted, offsets, strict=False)]


def _push(net: _Net, rows: Sequence[Sequence[int]], x: list[float], taken: list[float]) -> None:
    """Move a part as far to the left as what is already ``taken`` of each level allows, and take its room."""
    ends = [(net.level[row[0]], row[0], row[-1]) for row in rows]
    shift = max(taken[at] - x[first] + net.room(first) / 2 for at, first, _ in ends)
    for row in rows:
        for node in row:
            x[node] += shift
    for at, _, last in ends:
        taken[at] = x[last] + net.room(last) / 2
