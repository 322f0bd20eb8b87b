"""Graphs of textbook shape: chain, fork-join, diamond, trees."""

from __future__ import annotations

from simsched.graph.generators.assembly import Edge, assemble, at_least, limit
from simsched.graph.model import Graph


def chain(n: int = 10, *, duration: int = 1, ccr: float = 0.0) -> Graph:
    """Make operators that follow one another: nothing can run at the same time.

    Parameters
    ----------
    n : int
        Operators; ``n - 1`` edges.
    duration : int
        Ticks of each.
    ccr : float
        Mean delay of an edge over mean duration; 0 for plain precedence.

    Returns
    -------
    Graph
        In ticks; operators ``n0``, ``n1``, ...

    Raises
    ------
    ConfigError
        If a parameter is out of range.

    Examples
    --------
    >>> chain(5)
    Graph('chain_5': 5 operators, 4 edges, 0 tensors)
    """
    at_least("chain", 0, n=n, duration=duration)
    limit("chain", n)
    return assemble("chain", f"chain_{n}", [duration] * n, [(i - 1, i) for i in range(1, n)], ccr=ccr)


def fork_join(width: int = 4, stages: int = 1, *, duration: int = 1, ccr: float = 0.0) -> Graph:
    """Make stages of parallel operators between forks and joins; the join of a stage is the fork of the next.

    Parameters
    ----------
    width : int
        Parallel operators of a stage.
    stages : int
    duration, ccr
        As for :func:`chain`.

    Returns
    -------
    Graph
        ``stages * (width + 1) + 1`` operators, ``2 * width * stages`` edges: ``join0`` (the first fork), then in
        each stage ``s1.0``, ``s1.1``, ... and ``join1``.

    Examples
    --------
    >>> list(fork_join(2).names)
    ['join0', 's1.0', 's1.1', 'join1']
    """
    at_least("fork_join", 0, duration=duration)
    at_least("fork_join", 1, width=width, stages=stages)
    count = stages * (width + 1) + 1
    limit("fork_join", count)
    names, edges, last = ["join0"], list[Edge](), 0
    for stage in range(1, stages + 1):
        first = len(names)
        names += [f"s{stage}.{number}" for number in range(width)]
        edges += [(last, first + number) for number in range(width)]
        last = len(names)
        names.append(f"join{stage}")
        edges += [(first + number, last) for number in range(width)]
    return assemble("fork_join", f"fork_join_{width}x{stages}", [duration] * count, edges, ccr=ccr, names=names)


def diamond(size: int = 2, *, duration: int = 1, ccr: float = 0.0) -> Graph:
    """Make a square grid in which each operator waits for its upper and its left neighbour.

    This is the wavefront of dynamic programming and of many solvers: parallelism grows to ``size`` and shrinks
    again. With ``size=2`` it is the diamond of four operators.

    Parameters
    ----------
    size : int
        Operators in a row and in a column.
    duration, ccr
        As for :func:`chain`.

    Returns
    -------
    Graph
        ``size**2`` operators ``n0.0``, ``n0.1``, ... and ``2 * size * (size - 1)`` edges; the longest path has
        ``2 * size - 1`` operators.

    Examples
    --------
    >>> diamond(3)
    Graph('diamond_3': 9 operators, 12 edges, 0 tensors)
    """
    at_least("diamond", 0, duration=duration)
    at_least("diamond", 1, size=size)
    limit("diamond", size**2)
    names = [f"n{row}.{column}" for row in range(size) for column in range(size)]
    edges: list[Edge] = []
    for op in range(size**2):
        if op % size < size - 1:
            edges.append((op, op + 1))
        if op + size < size**2:
            edges.append((op, op + size))
    return assemble("diamond", f"diamond_{size}", [duration] * size**2, edges, ccr=ccr, names=names)


def out_tree(depth: int = 4, arity: int = 2, *, duration: int = 1, ccr: float = 0.0) -> Graph:
    """Make a complete tree that spreads from one root: every operator but the root waits for one other.

    Parameters
    ----------
    depth : int
        Levels, the root's included.
    arity : int
        Children of each operator that is not on the last level.
    duration, ccr
        As for :func:`chain`.

    Returns
    -------
    Graph
        ``1 + arity + ... + arity**(depth - 1)`` operators, one edge fewer.

    Examples
    --------
    >>> out_tree(3)
    Graph('out_tree_3x2': 7 operators, 6 edges, 0 tensors)
    """
    count, parents = _tree("out_tree", depth, arity, duration)
    edges = [(parent, child) for child, parent in parents]
    return assemble("out_tree", f"out_tree_{depth}x{arity}", [duration] * count, edges, ccr=ccr)


def in_tree(depth: int = 4, arity: int = 2, *, duration: int = 1, ccr: float = 0.0) -> Graph:
    """Make a complete tree that gathers into one root, as a reduction does.

    Parameters and counts are those of :func:`out_tree`. Hu's level algorithm (b-level list scheduling) is optimal for
    unit durations on these (T. C. Hu, "Parallel sequencing and assembly line problems", Operations Research 9(6),
    1961, doi:10.1287/opre.9.6.841).

    Examples
    --------
    >>> graph = in_tree(3)
    >>> graph.names[-1], len(graph.pred[-1]), graph.succ[-1]
    ('n6', 2, ())
    """
    count, parents = _tree("in_tree", depth, arity, duration)
    edges = [(count - 1 - child, count - 1 - parent) for child, parent in reversed(parents)]
    return assemble("in_tree", f"in_tree_{depth}x{arity}", [duration] * count, edges, ccr=ccr)


def _tree(generator: str, depth: int, arity: int, duration: int) -> tuple[int, list[Edge]]:
    """Return the number of operators, and (child, parent) in breadth-first numbering."""
    at_least(generator, 0, duration=duration)
    at_least(generator, 1, depth=depth, arity=arity)
    count = 0
    for level in range(depth):
        count += arity**level
        limit(generator, count)
    return count, [(child, (child - 1) // arity) for child in range(1, count)]
