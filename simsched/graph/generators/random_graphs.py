"""Seeded random graphs: layered, and series-parallel. The same arguments give the same graph on every machine."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from simsched.graph.generators.assembly import Edge, assemble, at_least, below, between, draws, limit, refuse, within
from simsched.graph.model import Graph

MOST_DEGREE = 1000

HEAVIEST = 99
"""Relative delays of edges are drawn from 1 to this."""


def layered_random(
    n: int = 100,
    seed: int = 0,
    *,
    width: int | None = None,
    degree: float = 2.0,
    density: float | None = None,
    reach: int = 1,
    shortest: int = 1,
    longest: int = 99,
    ccr: float = 0.0,
) -> Graph:
    """Draw layers of random width; each operator waits for some of those in the layers before.

    Parameters
    ----------
    n : int
        Operators.
    seed : int
    width : int, optional
        Mean width of a layer; widths are drawn from half of it to one and a half times. By default the square
        root of ``n``, so that the graph is as deep as it is wide.
    degree : float
        Mean number of predecessors of an operator outside the first layer (at least one; at most what the layers
        before it hold).
    density : float, optional
        Mean share of the layer before that an operator waits for, from 0 to 1; instead of ``degree``.
    reach : int
        How many layers back predecessors may lie. One is always in the layer before, so that layers are levels.
    shortest, longest : int
        Durations are drawn from this range, both included.
    ccr : float
        Mean delay of an edge over mean duration; delays are random.

    Returns
    -------
    Graph
        In ticks; operators ``n0``, ``n1``, ... layer by layer.

    Raises
    ------
    ConfigError
        If a parameter is out of range.

    References
    ----------
    H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-effective and low-complexity task scheduling for heterogeneous
    computing", IEEE TPDS 13(3), 2002, section 5.2 (their shape parameter 1 is the default width),
    doi:10.1109/71.993206. T. Tobita, H. Kasahara, "A standard task graph set for fair evaluation of multiprocessor
    scheduling algorithms", Journal of Scheduling 5(5), 2002, doi:10.1002/jos.116 (its "layrprob" method).

    Examples
    --------
    >>> layered_random(100, seed=3)
    Graph('layered_random_100_seed3': 100 operators, 186 edges, 0 tensors)
    """
    at_least("layered_random", 0, n=n, shortest=shortest)
    at_least("layered_random", 1, reach=reach)
    _check_range(shortest, longest, "layered_random")
    limit("layered_random", n)
    wide = max(1, math.isqrt(n)) if width is None else width
    at_least("layered_random", 1, width=wide)
    within("layered_random", 0, 1, density=density)
    within("layered_random", 0, MOST_DEGREE, degree=degree)
    rng = draws("layered_random", seed)
    starts = _layers(rng, n, wide)
    edges = _Predecessors(rng, starts, degree, density, reach).edges()
    durations = [between(rng, shortest, longest) for _ in range(n)]
    weights = [between(rng, 1, HEAVIEST) for _ in edges] if ccr else None
    name = f"layered_random_{n}_seed{seed}"
    return assemble("layered_random", name, durations, edges, ccr=ccr, weights=weights)


def _check_range(shortest: int, longest: int, generator: str) -> None:
    at_least(generator, 0, longest=longest)
    if longest < shortest:
        raise refuse(generator, "longest", f"expected at least shortest = {shortest}, got {longest}")


def _layers(rng: random.Random, n: int, width: int) -> list[int]:
    """First operator of each layer, and ``n`` at the end."""
    starts = [0]
    while starts[-1] < n:
        starts.append(min(n, starts[-1] + between(rng, (width + 1) // 2, width + width // 2)))
    return starts


@dataclass
class _Predecessors:
    """Draws the predecessors of each operator; the rest of a fractional degree is carried to the next operator."""

    rng: random.Random
    starts: list[int]
    degree: float
    density: float | None
    reach: int
    carried: float = field(default=0.0)

    def edges(self) -> list[Edge]:
        edges: list[Edge] = []
        for layer in range(1, len(self.starts) - 1):
            before = self.starts[layer - 1]
            here, after = self.starts[layer], self.starts[layer + 1]
            pool = self.starts[max(0, layer - self.reach)]
            mean = self.degree if self.density is None else self.density * (here - before)
            for op in range(here, after):
                count = self._count(mean, here - pool)
                edges += [(source, op) for source in self._draw(count, before, here, pool)]
        return edges

    def _count(self, mean: float, most: int) -> int:
        self.carried += mean
        count = int(self.carried)
        self.carried -= count
        return min(most, max(1, count))

    def _draw(self, count: int, before: int, here: int, pool: int) -> list[int]:
        """Distinct operators from ``pool`` to ``here``, the first of them from the layer before; ascending."""
        first = before + below(self.rng, here - before)
        if 2 * count > here - pool:
            # Nearly all are wanted: shuffle as far as needed instead of drawing until something new comes.
            others = [op for op in range(pool, here) if op != first]
            for position in range(count - 1):
                other = position + below(self.rng, len(others) - position)
                others[position], others[other] = others[other], others[position]
            return sorted([first, *others[: count - 1]])
        chosen = {first}
        while len(chosen) < count:
            chosen.add(pool + below(self.rng, here - pool))
        return sorted(chosen)


def series_parallel(
    n: int = 50,
    seed: int = 0,
    *,
    parallel: float = 0.5,
    shortest: int = 1,
    longest: int = 99,
    ccr: float = 0.0,
) -> Graph:
    """Draw a two-terminal series-parallel graph: blocks follow each other, or lie side by side.

    It has no edge that other edges imply. Memory-optimal orders and some schedules are easy to find for this class
    (J. Valdes, R. E. Tarjan, E. L. Lawler, "The recognition of series parallel digraphs", SIAM Journal on Computing
    11(2), 1982, doi:10.1137/0211023).

    Parameters
    ----------
    n : int
        Operators, source and sink included; at least 2.
    seed : int
    parallel : float
        Probability that a block of two or more operators is split into parallel ones, not into successive ones.
    shortest, longest, ccr
        As for :func:`layered_random`.

    Returns
    -------
    Graph
        In ticks; the source is ``n0``, the sink the last operator.

    Examples
    --------
    >>> series_parallel(50, seed=1)
    Graph('series_parallel_50_seed1': 50 operators, 68 edges, 0 tensors)
    """
    at_least("series_parallel", 2, n=n)
    at_least("series_parallel", 0, shortest=shortest)
    _check_range(shortest, longest, "series_parallel")
    limit("series_parallel", n)
    within("series_parallel", 0, 1, parallel=parallel)
    rng = draws("series_parallel", seed)
    edges = _numbered(n, _blocks(rng, n, parallel))
    durations = [between(rng, shortest, longest) for _ in range(n)]
    weights = [between(rng, 1, HEAVIEST) for _ in edges] if ccr else None
    name = f"series_parallel_{n}_seed{seed}"
    return assemble("series_parallel", name, durations, edges, ccr=ccr, weights=weights)


def _blocks(rng: random.Random, n: int, parallel: float) -> list[Edge]:
    """Split the block between source 0 and sink 1 until nothing but edges is left. With a stack, not recursion."""
    edges: list[Edge] = []
    fresh = 2
    stack = [(0, 1, n - 2)]
    while stack:
        source, sink, inner = stack.pop()
        if not inner:
            edges.append((source, sink))
        elif inner > 1 and rng.random() < parallel:
            left = between(rng, 1, inner - 1)
            stack += [(source, sink, left), (source, sink, inner - left)]
        else:
            left = below(rng, inner)
            middle, fresh = fresh, fresh + 1
            stack += [(middle, sink, inner - 1 - left), (source, middle, left)]
    return edges


def _numbered(n: int, edges: list[Edge]) -> list[Edge]:
    """Renumber so that edges lead upwards, in the order in which operators become ready."""
    succ: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for source, sink in edges:
        succ[source].append(sink)
        waiting[sink] += 1
    number = [0] * n
    ready = [0]
    for position, op in enumerate(ready):
        number[op] = position
        for other in succ[op]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return sorted((number[source], number[sink]) for source, sink in edges)
