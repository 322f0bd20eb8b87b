"""What the generators share: checked parameters, portable draws, and edges with a ratio of communication."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction

from simsched.errors import ConfigError, Fault
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph

MOST_OPERATORS = 10_000_000
"""More than this does not fit the memory of a usual machine."""

BYTES_PER_TICK = 1024
"""Bytes of an edge for each tick of its delay."""

MOST_CCR = 1_000_000

Edge = tuple[int, int]


def at_least(generator: str, lowest: int, **parameters: int) -> None:
    """Refuse whole-number parameters below ``lowest``, or that are not whole numbers.

    Raises
    ------
    ConfigError
    """
    faults = []
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int):
            faults.append(Fault(f"expected a whole number, got {value!r}", (name,)))
        elif value < lowest:
            faults.append(Fault(f"expected at least {lowest}, got {value}", (name,)))
    if faults:
        raise ConfigError(f"generator {generator}", faults)


def within(generator: str, lowest: float, highest: float, **parameters: float | None) -> None:
    """Refuse numbers outside a range; None is a parameter that was left out.

    Raises
    ------
    ConfigError
    """
    for name, value in parameters.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (number and lowest <= value <= highest):
            raise refuse(generator, name, f"expected a number from {lowest} to {highest}, got {value!r}")


def refuse(generator: str, parameter: str, message: str) -> ConfigError:
    """Return the error for a parameter that cannot be used."""
    return ConfigError(f"generator {generator}", [Fault(message, (parameter,))])


def limit(generator: str, operators: int) -> None:
    """Refuse graphs that are too large to be meant, before memory is spent on them."""
    if operators > MOST_OPERATORS:
        message = f"it would make {operators:,} operators; expected at most {MOST_OPERATORS:,}"
        raise ConfigError(f"generator {generator}", [Fault(message)])


def draws(generator: str, seed: int) -> random.Random:
    """Return a source of draws. Only its ``random()`` is used: its sequence is the same in every Python."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise refuse(generator, "seed", f"expected a whole number, got {seed!r}")
    return random.Random(seed)


def below(rng: random.Random, bound: int) -> int:
    """Draw a whole number from 0 to ``bound - 1``."""
    return int(rng.random() * bound)


def between(rng: random.Random, lowest: int, highest: int) -> int:
    """Draw a whole number from ``lowest`` to ``highest``, both included."""
    return lowest + below(rng, highest - lowest + 1)


def assemble(
    generator: str,
    name: str,
    durations: Sequence[int],
    edges: Sequence[Edge],
    *,
    ccr: float,
    names: Iterable[str] | None = None,
    weights: Sequence[int] | None = None,
) -> Graph:
    """Make a graph in ticks of operators and edges.

    Parameters
    ----------
    generator : str
        For messages.
    name : str
    durations : sequence of int
    edges : sequence of (int, int)
        Positions in ``durations``.
    ccr : float
        Ratio of communication to computation: mean delay of an edge over mean duration of an operator. With 0
        edges are plain precedence; otherwise each has a delay and :data:`BYTES_PER_TICK` times as many bytes.
    names : iterable of str, optional
        ``n0``, ``n1``, ... by default.
    weights : sequence of int, optional
        Relative delays of the edges; all alike by default.
    """
    builder = GraphBuilder(name, time_unit="tick")
    labels = [f"n{number}" for number in range(len(durations))] if names is None else list(names)
    builder.add_ops(labels, durations, "task")
    delays = spread(generator, ccr, durations, len(edges), weights)
    sizes = None if delays is None else [delay * BYTES_PER_TICK for delay in delays]
    sources, targets = [labels[source] for source, _ in edges], [labels[target] for _, target in edges]
    builder.add_edges(sources, targets, sizes, delays)
    return builder.build()


def spread(
    generator: str, ccr: float, durations: Sequence[int], edges: int, weights: Sequence[int] | None
) -> list[int] | None:
    """Return a whole delay for each edge, or None where there is no communication.

    The sum is the exact one, rounded once; each delay is its share of the sum, rounded so that no rest is lost.
    """
    within(generator, 0, MOST_CCR, ccr=ccr)
    if not ccr or not edges:
        return None
    total = round(Fraction(str(ccr)) * sum(durations) * edges / len(durations))
    shares = weights if weights is not None else [1] * edges
    whole = sum(shares)
    delays, weight, given = [], 0, 0
    for share in shares:
        weight += share
        upto = total * weight // whole
        delays.append(upto - given)
        given = upto
    return delays
