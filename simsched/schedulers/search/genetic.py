"""The search itself: two populations in turn, one of forward and one of backward schedules.

A child takes a stretch of one parent and the order of the other on both sides of it, and is generated in the direction
opposite to its parents': crossing and justification are one pass (after D. Debels, M. Vanhoucke, "A
decomposition-based genetic algorithm for the resource-constrained project-scheduling problem", Operations Research
55(3), 2007, doi:10.1287/opre.1060.0358; the stretch is one of high use, as the peaks of V. Valls, F. Ballestin, S.
Quintanilla, "A hybrid genetic algorithm for the resource-constrained project scheduling problem", EJOR 185(2), 2008,
doi:10.1016/j.ejor.2006.12.033). The best of a population go over as they are: that is forward-backward improvement
(V. Valls, F. Ballestin, S. Quintanilla, "Justification and RCPSP: a technique that pays", EJOR 165(2), 2005,
doi:10.1016/j.ejor.2004.04.008), under which a schedule never grows.

On several devices a member also says where each operator runs. The stretch brings its places along; then some
operators are moved, or set free to go where they end first. Half of the children have one parent and such a change:
where there are many operators and devices, two parents have little in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

from simsched.schedulers.search.effort import Member
from simsched.schedulers.search.places import match, scatter
from simsched.schedulers.search.world import World

ELITE = 2
"""Members that go over to the next population as they are."""
SHORTEST, LONGEST = 0.25, 0.75
"""How much of a parent a stretch takes, as a fraction of its operators."""
SWAPS = 0.05
"""How often two neighbours of a child's order change places."""
SHIFTS = 0.3
"""How often an operator goes to any other place that its predecessors and successors allow."""
CLONED = 0.5
"""On several devices: how often a child has one parent, of which it differs in some places."""
SCATTERED = 0.8
"""How often the places of a child of two are changed."""


class Decoder(Protocol):
    """What makes schedules from orders; see :class:`simsched.schedulers.search.one_device.OneDevice`."""

    def forward(self, order: Sequence[int], where: Sequence[int]) -> Member:
        """Start operators as early as possible."""

    def backward(self, order: Sequence[int], where: Sequence[int]) -> Member:
        """End operators as late as possible."""


def breed(world: World, decoder: Decoder, first: Sequence[Member], size: int, rng: Random) -> None:
    """Search until the decoder's budget ends it.

    Parameters
    ----------
    world : World
    decoder : Decoder
        Remembers the best; raises :class:`simsched.schedulers.search.effort.SpentError` at the end.
    first : sequence of Member
        Forward schedules to begin with, at least one.
    size : int
        Members of a population, at least 3.
    rng : Random
    """
    area = _areas(world)
    directions: tuple[Callable[..., Member], ...] = (decoder.backward, decoder.forward)
    parents = sorted(first, key=_makespan)[:size]
    parents = sorted((decoder.backward(member.order, member.where) for member in parents), key=_makespan)
    turn = 1
    while True:
        generate = directions[turn]
        children = [generate(member.order, member.where) for member in parents[:ELITE]]
        seen: set[tuple[int, ...]] = set()
        again = 0
        while len(children) < size:
            child = generate(*_child(world, area, parents, rng))
            key = (*child.order, *child.where)
            # A small problem may not have so many different schedules.
            again += key in seen
            if key not in seen or again > size:
                seen.add(key)
                children.append(child)
        parents = sorted(children, key=_makespan)
        turn = 1 - turn


def _makespan(member: Member) -> int:
    return member.makespan


def _areas(world: World) -> list[int]:
    """Work of each operator over all resources, in shares of what there is, as whole numbers."""
    area = [0] * world.count
    for amounts in world.amounts:
        for units, wanted in amounts:
            for op, demand in wanted.items():
                area[op] += (demand << 20) // units * world.least[op]
    return area


def _child(world: World, area: Sequence[int], parents: Sequence[Member], rng: Random) -> tuple[list[int], list[int]]:
    """Order and places of one child."""
    number = _pick(len(parents), rng)
    one = parents[number]
    if one.where and rng.random() < CLONED:
        order, places = list(one.order), list(one.where)
        scatter(world, order, places, rng)
        _disturb(world, order, rng)
        return order, places
    other = _pick(len(parents), rng)
    if number == other and len(parents) > 1:
        other = (number + 1 + int(rng.random() * (len(parents) - 1))) % len(parents)
    order, places = _crossed(world, area, (one, parents[other]), rng)
    if places and rng.random() < SCATTERED:
        scatter(world, order, places, rng)
    _disturb(world, order, rng)
    return order, places


def _crossed(
    world: World, area: Sequence[int], parents: tuple[Member, Member], rng: Random
) -> tuple[list[int], list[int]]:
    """A stretch of one parent, before and after it what the other one has, each in its order and at its places."""
    one, two = parents
    left, right = _stretch(one, area, rng)
    middle = one.order[left:right]
    side = [0] * world.count
    for op in middle:
        side[op] = 1
    for op in one.order[right:]:
        side[op] = 2
    order = [op for op in two.order if side[op] == 0] + middle + [op for op in two.order if side[op] == 2]
    places = match(world, one.where, two.where) if one.where else []
    if places:
        for op in middle:
            places[op] = one.where[op]
    return order, places


def _pick(count: int, rng: Random) -> int:
    """The best of three at random; members are sorted, the best first."""
    return min(int(rng.random() * count), int(rng.random() * count), int(rng.random() * count))


def _stretch(member: Member, area: Sequence[int], rng: Random) -> tuple[int, int]:
    """The better used of two stretches at random, of one random length."""
    order, start, end = member.order, member.start, member.end
    count = len(order)
    length = min(count - 1, 1 + int(count * (SHORTEST + (LONGEST - SHORTEST) * rng.random())))
    best, best_use = 0, -1.0
    for _ in range(2):
        left = int(rng.random() * (count - length + 1))
        there = order[left : left + length]
        span = max(map(end.__getitem__, there)) - min(map(start.__getitem__, there))
        use = sum(map(area.__getitem__, there)) / span
        if use > best_use:
            best, best_use = left, use
    return best, best + length


def _disturb(world: World, order: list[int], rng: Random) -> None:
    """Let some neighbours that nothing orders change places, and now and then shift an operator as far as it may go."""
    succ = world.succ
    for place in range(len(order) - 1):
        if rng.random() < SWAPS:
            op, following = order[place], order[place + 1]
            if following not in succ[op]:
                order[place], order[place + 1] = following, op
    if rng.random() < SHIFTS:
        op = order.pop(int(rng.random() * len(order)))
        first, last = 0, len(order)
        for place, other in enumerate(order):
            if other in world.pred[op]:
                first = place + 1
            elif other in succ[op]:
                last = place
                break
        order.insert(first + int(rng.random() * (last - first + 1)), op)
