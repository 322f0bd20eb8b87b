"""Leaving out what does not matter: every instance that is one step simpler than another one.

Each step takes something away (an operator, an edge, a delay, a demand, a difference between devices) or makes a
number rounder, so that steps come to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from simsched.study.instance import Instance, Space, Vary
from simsched.study.moves import without

Step = Callable[[Instance], Iterator[Instance]]
"""Yields instances that are simpler in one way."""


def simplifications(space: Space) -> list[Step]:
    """Return the ways to make an instance simpler that a space allows, those that leave most out first."""
    return [step for kind, step in STEPS if kind in space.vary]


def _fewer_operators(instance: Instance) -> Iterator[Instance]:
    for op in reversed(range(len(instance) if len(instance) > 1 else 0)):
        yield without(instance, op)
        yield without(instance, op, bridged=True)


def _fewer_edges(instance: Instance) -> Iterator[Instance]:
    for number in range(len(instance.edges)):
        yield replace(instance, edges=(*instance.edges[:number], *instance.edges[number + 1 :]))


def _shorter_delays(instance: Instance) -> Iterator[Instance]:
    for number, (source, target, delay) in enumerate(instance.edges):
        for new in rounder(delay, 0):
            edges = (*instance.edges[:number], (source, target, new), *instance.edges[number + 1 :])
            yield replace(instance, edges=edges)


def _fewer_demands(instance: Instance) -> Iterator[Instance]:
    for op, held in enumerate(instance.demands):
        for name, units in held:
            for new in rounder(units, 1):
                kept = tuple((other, new if other == name else old) for other, old in held)
                yield replace(instance, demands=(*instance.demands[:op], kept, *instance.demands[op + 1 :]))


def _alike(instance: Instance) -> Iterator[Instance]:
    for op, row in enumerate(instance.durations):
        if len(set(row)) > 1:
            for value in sorted(set(row)):
                yield _with_row(instance, op, (value,) * len(row))


def _rounder(instance: Instance) -> Iterator[Instance]:
    for op, row in enumerate(instance.durations):
        if len(set(row)) == 1:
            yield from (_with_row(instance, op, (new,) * len(row)) for new in rounder(row[0], 1))
        else:
            for place, value in enumerate(row):
                for new in rounder(value, 1):
                    yield _with_row(instance, op, (*row[:place], new, *row[place + 1 :]))


def _with_row(instance: Instance, op: int, row: tuple[int, ...]) -> Instance:
    return replace(instance, durations=(*instance.durations[:op], row, *instance.durations[op + 1 :]))


def rounder(value: int, least: int) -> list[int]:
    """Return rounder and smaller numbers, the simplest first.

    Examples
    --------
    >>> rounder(87, 1), rounder(60, 0), rounder(3, 1)
    ([1, 50, 80], [0, 50], [1])
    """
    found = [least, *(value // unit * unit for unit in (100, 50, 10))]
    return sorted({new for new in found if least <= new < value})


STEPS: tuple[tuple[Vary, Step], ...] = (
    ("operators", _fewer_operators),
    ("edges", _fewer_edges),
    ("delays", _shorter_delays),
    ("demands", _fewer_demands),
    ("unlike", _alike),
    ("durations", _rounder),
)
