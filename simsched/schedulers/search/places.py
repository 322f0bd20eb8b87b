"""Where operators run: making two members' devices comparable, and moving some operators."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from simsched.schedulers.search.several import FREE
from simsched.schedulers.search.world import World

SET_FREE = 0.8
"""How often operators are set free; else a few are moved."""


def match(world: World, one: Sequence[int], two: Sequence[int]) -> list[int]:
    """Return the places of ``two``, its devices renamed to agree most with ``one`` where devices are all alike."""
    if not world.alike:
        return list(two)
    together: dict[tuple[int, int], int] = {}
    for pair in zip(two, one, strict=True):
        together[pair] = together.get(pair, 0) + 1
    name = [-1] * world.devices
    taken = [False] * world.devices
    for (old, new), _ in sorted(together.items(), key=lambda item: (-item[1], item[0])):
        if name[old] < 0 and not taken[new]:
            name[old], taken[new] = new, True
    rest = [device for device, used in enumerate(taken) if not used]
    for device, new in enumerate(name):
        if new < 0:
            name[device] = rest.pop()
    return [name[device] for device in two]


def scatter(world: World, order: Sequence[int], places: list[int], rng: Random) -> None:
    """Set some operators free, or move one with all that follows it (or leads to it) on its device."""
    if rng.random() < SET_FREE:
        _set_free(order, places, rng)
    else:
        _move(world, places, rng)


def _set_free(order: Sequence[int], places: list[int], rng: Random) -> None:
    """Set a stretch of the order or a sample free."""
    count = len(order)
    size = 1 + int(rng.random() * max(1, count // 2))
    if rng.random() < 0.5:
        left = int(rng.random() * (count - size + 1))
        for op in order[left : left + size]:
            places[op] = FREE
    else:
        for _ in range(size):
            places[int(rng.random() * count)] = FREE


def _move(world: World, places: list[int], rng: Random) -> None:
    """Move an operator to some device; as often as not, with a tree of others that are where it was."""
    op = int(rng.random() * len(places))
    choices = world.allowed[op]
    old, new = places[op], choices[int(rng.random() * len(choices))]
    drawn = rng.random()
    neighbours = world.succ if drawn < 0.5 else world.pred
    pending = [op]
    places[op] = new
    if drawn < 0.25 or drawn >= 0.75 or new == old:
        return
    while pending:
        for other in neighbours[pending.pop()]:
            if places[other] == old and new in world.allowed[other]:
                places[other] = new
                pending.append(other)
