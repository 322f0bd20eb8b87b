"""Small random changes of an instance, each of one kind; and random instances to begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import TypeVar

from simsched.study.instance import Instance, Space, Vary

DENSITY = 0.3
"""Share of all pairs that a random instance orders."""
Item = TypeVar("Item")
Move = Callable[[Space, Instance, Random], Instance]


def below(rng: Random, count: int) -> int:
    """Draw a whole number below ``count``; only ``random()`` is promised to repeat across versions of Python."""
    return min(int(rng.random() * count), count - 1)


def random_instance(space: Space, rng: Random) -> Instance:
    """Draw an instance: any hardware, at least two operators, any duration, three pairs of ten ordered."""
    hardware = below(rng, len(space.hardware))
    count = max(2, space.most - below(rng, max(1, space.most // 2)))
    durations = tuple(_drawn_row(space, rng) for _ in range(count))
    edges = tuple(
        (source, target, _drawn_delay(space, rng))
        for source in range(count)
        for target in range(source + 1, count)
        if rng.random() < DENSITY
    )
    demands = tuple(_drawn_demands(space, hardware, rng) for _ in range(count))
    return Instance(hardware, tuple(f"v{number}" for number in range(count)), durations, edges, demands)


def _drawn_row(space: Space, rng: Random) -> tuple[int, ...]:
    if "unlike" in space.vary:
        return tuple(1 + below(rng, space.longest) for _ in range(space.places))
    return (1 + below(rng, space.longest),) * space.places


def _drawn_delay(space: Space, rng: Random) -> int:
    return below(rng, space.longest + 1) if "delays" in space.vary and space.places > 1 else 0


def _drawn_demands(space: Space, hardware: int, rng: Random) -> tuple[tuple[str, int], ...]:
    if "demands" not in space.vary:
        return ()
    return tuple((name, 1 + below(rng, most)) for name, most in space.resources(hardware))


def moved(space: Space, instance: Instance, rng: Random) -> Instance:
    """Change one thing at random, of a kind that the space allows; the same instance where nothing can be done."""
    return MOVES[space.vary[below(rng, len(space.vary))]](space, instance, rng)


def _number(rng: Random, old: int, lowest: int, highest: int) -> int:
    """Draw anew, or a tenth of the range up or down."""
    if rng.random() < 0.5:
        return lowest + below(rng, highest - lowest + 1)
    reach = max(1, (highest - lowest) // 10)
    return min(highest, max(lowest, old + below(rng, 2 * reach + 1) - reach))


def _durations(space: Space, instance: Instance, rng: Random) -> Instance:
    op = below(rng, len(instance))
    row = instance.durations[op]
    old, new = row[0], _number(rng, row[0], 1, space.longest)
    scaled = tuple(min(space.longest, max(1, round(value * new / old))) for value in row)
    return replace(instance, durations=_put(instance.durations, op, scaled))


def _unlike(space: Space, instance: Instance, rng: Random) -> Instance:
    op, place = below(rng, len(instance)), below(rng, space.places)
    row = instance.durations[op]
    new = _put(row, place, _number(rng, row[place], 1, space.longest))
    return replace(instance, durations=_put(instance.durations, op, new))


def _edges(space: Space, instance: Instance, rng: Random) -> Instance:
    """Add an edge where there is none, take it away where there is one."""
    if len(instance) < 2:
        return instance
    target = 1 + below(rng, len(instance) - 1)
    source = below(rng, target)
    kept = tuple(edge for edge in instance.edges if edge[:2] != (source, target))
    if len(kept) < len(instance.edges):
        return replace(instance, edges=kept)
    return replace(instance, edges=tuple(sorted([*kept, (source, target, _drawn_delay(space, rng))])))


def _delays(space: Space, instance: Instance, rng: Random) -> Instance:
    if not instance.edges:
        return instance
    number = below(rng, len(instance.edges))
    source, target, old = instance.edges[number]
    edge = (source, target, _number(rng, old, 0, space.longest))
    return replace(instance, edges=_put(instance.edges, number, edge))


def _demands(space: Space, instance: Instance, rng: Random) -> Instance:
    resources = space.resources(instance.hardware)
    if not resources:
        return instance
    op, (name, most) = below(rng, len(instance)), resources[below(rng, len(resources))]
    held = dict(instance.demands[op])
    held[name] = _number(rng, held.get(name, 1), 1, most)
    return replace(instance, demands=_put(instance.demands, op, tuple(sorted(held.items()))))


def _operators(space: Space, instance: Instance, rng: Random) -> Instance:
    """Swap two neighbours in the graph's order, add an operator somewhere, or take one away."""
    choice, op = below(rng, 3), below(rng, len(instance))
    if choice == 0:
        return swapped(instance, op)
    if choice == 1 and len(instance) < space.most:
        return _with_one_more(space, instance, op, rng)
    return without(instance, op) if len(instance) > 2 else instance


def _with_one_more(space: Space, instance: Instance, op: int, rng: Random) -> Instance:
    taken = frozenset(instance.names)
    name = next(name for number in range(len(taken) + 1) if (name := f"v{number}") not in taken)
    moved_on = [op_or_next(number, op) for number in range(len(instance))]
    edges = [(moved_on[source], moved_on[target], delay) for source, target, delay in instance.edges]
    edges += [
        (min(other, op), max(other, op), _drawn_delay(space, rng))
        for other in range(len(instance) + 1)
        if other != op and rng.random() < DENSITY
    ]
    return Instance(
        instance.hardware,
        (*instance.names[:op], name, *instance.names[op:]),
        (*instance.durations[:op], _drawn_row(space, rng), *instance.durations[op:]),
        tuple(sorted(edges)),
        (*instance.demands[:op], _drawn_demands(space, instance.hardware, rng), *instance.demands[op:]),
    )


def op_or_next(number: int, added: int) -> int:
    """Return the number of an operator after another one has been put in before it."""
    return number if number < added else number + 1


def without(instance: Instance, op: int, *, bridged: bool = False) -> Instance:
    """Leave an operator out; ``bridged``: what came before it still comes before what came after it."""
    edges: dict[tuple[int, int], int] = {}
    for source, target, delay in instance.edges:
        if op not in (source, target):
            edges[source, target] = delay
    if bridged:
        for source, _, first in [edge for edge in instance.edges if edge[1] == op]:
            for _, target, second in [edge for edge in instance.edges if edge[0] == op]:
                edges.setdefault((source, target), max(first, second))
    kept = tuple(
        sorted((source - (source > op), target - (target > op), delay) for (source, target), delay in edges.items())
    )
    return Instance(
        instance.hardware, _cut(instance.names, op), _cut(instance.durations, op), kept, _cut(instance.demands, op)
    )


def swapped(instance: Instance, op: int) -> Instance:
    """Change places of an operator and the next in the graph's order, where nothing orders them."""
    other = op + 1
    if other >= len(instance) or any(edge[:2] == (op, other) for edge in instance.edges):
        return instance
    place = {op: other, other: op}
    edges = [(place.get(source, source), place.get(target, target), delay) for source, target, delay in instance.edges]
    return replace(
        instance,
        names=_swap(instance.names, op),
        durations=_swap(instance.durations, op),
        edges=tuple(sorted(edges)),
        demands=_swap(instance.demands, op),
    )


def _hardware(space: Space, instance: Instance, rng: Random) -> Instance:
    """Take other hardware; demands that it does not know are dropped, and those too large for it cut."""
    number = below(rng, len(space.hardware))
    most = dict(space.resources(number))
    demands = tuple(
        tuple((name, min(units, most[name])) for name, units in held if name in most) for held in instance.demands
    )
    return replace(instance, hardware=number, demands=demands)


def _put(items: tuple[Item, ...], place: int, new: Item) -> tuple[Item, ...]:
    return (*items[:place], new, *items[place + 1 :])


def _cut(items: tuple[Item, ...], place: int) -> tuple[Item, ...]:
    return (*items[:place], *items[place + 1 :])


def _swap(items: tuple[Item, ...], place: int) -> tuple[Item, ...]:
    return (*items[:place], items[place + 1], items[place], *items[place + 2 :])


MOVES: Mapping[Vary, Move] = {
    "durations": _durations,
    "unlike": _unlike,
    "edges": _edges,
    "delays": _delays,
    "demands": _demands,
    "operators": _operators,
    "hardware": _hardware,
}
