"""Schedules to begin a search with: those of priority rules, then of the same rules blurred at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from random import Random

from simsched.schedulers.planning.compose import Recipe
from simsched.schedulers.search.effort import Member
from simsched.schedulers.search.one_device import OneDevice
from simsched.schedulers.search.several import FREE, Several
from simsched.schedulers.search.world import World

PUBLISHED = (
    Recipe("upward", "list", "finish", insertion=True),
    Recipe("optimistic", "list", "look_ahead", insertion=True),
    Recipe("through", "list", "critical", insertion=True),
)
"""HEFT, PEFT and CPOP."""


def on_one(world: World, decoder: OneDevice, rng: Random) -> Iterator[Member]:
    """Parallel and serial schedules by latest start and latest finish, without end."""
    latest_start = [-length for length in world.tail]
    latest_finish = [time - length for time, length in zip(world.least, world.tail, strict=True)]
    yield decoder.parallel(latest_start)
    yield decoder.forward(sorted(range(world.count), key=latest_start.__getitem__), ())
    yield decoder.parallel(latest_finish)
    longest = max(world.tail)
    while True:
        order = biased(world, [longest + value for value in latest_finish], rng)
        if rng.random() < 0.5:
            yield decoder.forward(order, ())
        else:
            yield decoder.parallel(_positions(order))


def on_several(world: World, decoder: Several, rng: Random) -> Iterator[Member]:
    """Plans of published list schedulers, then by longest path with more or less of the transfers, without end."""
    free = [FREE] * world.count
    for recipe in PUBLISHED:
        plan = recipe.plan(world.problem)
        yield decoder.forward(plan.order, [world.problem.stream_device[stream] for stream in plan.stream])
    for tenths in (0, 5, 20):
        yield decoder.forward(_by_length(world, tenths), free)
    alone = _together(world)
    if alone is not None:
        yield decoder.forward(range(world.count), alone)
    for _ in range(3):
        yield decoder.forward(_by_length(world, 0), clustered(world, rng))
    while True:
        length = _lengths(world, int(rng.random() * 20))
        order = topological(world, [-value * (0.7 + 0.6 * rng.random()) for value in length])
        drawn = rng.random()
        places = free
        if drawn < 0.2:
            fewer = 1 + int(rng.random() * world.devices)
            places = [_some_place(world.allowed[op][:fewer], rng) for op in range(world.count)]
        elif drawn < 0.6:
            places = clustered(world, rng)
        yield decoder.forward(order, places)


def clustered(world: World, rng: Random) -> list[int]:
    """Keep together what exchanges most, as long as that takes no longer than a device may; spread the clusters.

    Transfers are set to zero one by one, the longest first as a rule (V. Sarkar, "Partitioning and scheduling parallel
    programs for execution on multiprocessors", MIT Press, 1989); clusters go to the device that is through first, those
    with most work first.
    """
    work, cluster = list(world.least), list(range(world.count))

    def root(op: int) -> int:
        while cluster[op] != op:
            cluster[op] = op = cluster[cluster[op]]
        return op

    drawn, longest = rng.random(), max(world.tail)
    room = max(longest, sum(work) // world.devices) * (0.5 + 3.5 * drawn * drawn)
    edges = [
        (-time * (0.7 + 0.6 * rng.random()), other, op)
        for op in range(world.count)
        for other, time in zip(world.pred[op], world.transfers[op], strict=True)
    ]
    for _, other, op in sorted(edges):
        one, two = root(other), root(op)
        if one != two and work[one] + work[two] <= room:
            cluster[two] = one
            work[one] += work[two]
    load = [0] * world.devices
    home: dict[int, int] = {}
    for op in sorted((op for op in range(world.count) if cluster[op] == op), key=lambda op: -work[op]):
        home[op] = min(range(world.devices), key=load.__getitem__)
        load[home[op]] += work[op]
    places = [home[root(op)] for op in range(world.count)]
    return [place if place in choices else FREE for place, choices in zip(places, world.allowed, strict=True)]


def _some_place(choices: Sequence[int], rng: Random) -> int:
    """One of the devices, or none as often."""
    drawn = rng.random() * 2 * len(choices)
    return choices[int(drawn)] if drawn < len(choices) else FREE


def _by_length(world: World, tenths: int) -> list[int]:
    length = _lengths(world, tenths)
    return sorted(range(world.count), key=lambda op: (-length[op], op))


def _lengths(world: World, tenths: int) -> list[int]:
    """Longest path from each operator on, with so many tenths of the mean transfers."""
    length = list(world.least)
    for op in range(world.count - 1, -1, -1):
        for other, time in zip(world.pred[op], world.transfers[op], strict=True):
            total = world.least[other] + length[op] + time * tenths // 10
            if total > length[other]:
                length[other] = total
    return length


def _together(world: World) -> list[int] | None:
    """All operators on the one device that takes least for all of them; None where no device may run all."""
    able = [device for device in range(world.devices) if all(device in choices for choices in world.allowed)]
    if not able:
        return None
    best = min(able, key=lambda device: (sum(world.durations[device]), device))
    return [best] * world.count


def topological(world: World, key: Sequence[float]) -> list[int]:
    """Operators in a topological order, of those that may come next the one with the smallest key."""
    left = list(map(len, world.pred))
    heap = [(key[op], op) for op in range(world.count) if not left[op]]
    heapify(heap)
    order = []
    while heap:
        _, op = heappop(heap)
        order.append(op)
        for other in world.succ[op]:
            left[other] -= 1
            if not left[other]:
                heappush(heap, (key[other], other))
    return order


def biased(world: World, key: Sequence[int], rng: Random) -> list[int]:
    """Draw a topological order in which small keys tend to come first: see the notes.

    Each operator of those that may come next is drawn with a weight that grows with its regret, how much smaller its
    key is than the largest among them (A. Drexl, "Scheduling of project networks by job assignment", Management
    Science 37(12), 1991, doi:10.1287/mnsc.37.12.1590). Where very many may come next, keys are blurred instead, which
    is as good and costs less.
    """
    if world.count > 200:
        longest = max(key)
        return topological(world, [value + longest * 0.3 * rng.random() for value in key])
    left = list(map(len, world.pred))
    able = [op for op in range(world.count) if not left[op]]
    order = []
    while able:
        worst = max(map(key.__getitem__, able)) + world.scale
        drawn = rng.random() * (worst * len(able) - sum(map(key.__getitem__, able)))
        number = 0
        while number < len(able) - 1:
            drawn -= worst - key[able[number]]
            if drawn < 0:
                break
            number += 1
        op = able.pop(number)
        order.append(op)
        for other in world.succ[op]:
            left[other] -= 1
            if not left[other]:
                able.append(other)
    return order


def _positions(order: Sequence[int]) -> list[int]:
    position = [0] * len(order)
    for number, op in enumerate(order):
        position[op] = number
    return position
