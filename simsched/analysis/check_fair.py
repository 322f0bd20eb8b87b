"""Fair shares as the referee works them out: plain functions of what flows at one moment, apart from the engine's.

Each looks at all flows anew; the referee calls them only for stretches in which something is oversubscribed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

CLOSE = 1e-9
"""Relative difference within which two shares count as equal."""
ROUNDS = 200
"""Steps in which the levels of two resources have to settle; a handful is usual."""


def level(ascending: Iterable[float], count: int) -> float:
    """Return the level at which a resource of capacity 1 is full, when nobody gets more than it draws.

    Parameters
    ----------
    ascending : iterable of float
        What each flow draws at full speed, in ascending order; together more than 1.
    count : int
        How many they are.
    """
    left = 1.0
    for draw in ascending:
        share = left / count
        if draw > share:
            return share
        left -= draw
        count -= 1
    return float("inf")


def link_rates(
    bounds: Sequence[float], crossed: Sequence[Sequence[int]], bandwidth: Mapping[int, float]
) -> list[float]:
    """Return max-min fair rates of copies: all rise together until they meet their bound or a full link.

    Parameters
    ----------
    bounds : sequence of float
        Largest rate of each copy; infinite where there is none.
    crossed : sequence of sequence of int
        Shared links of each copy.
    bandwidth : mapping of int to float
        Of each shared link.
    """
    rates = [0.0] * len(bounds)
    rising = dict.fromkeys(range(len(bounds)))
    free = {link: bandwidth[link] for links in crossed for link in links}
    while rising:
        users: dict[int, int] = {}
        for copy in rising:
            for link in crossed[copy]:
                users[link] = users.get(link, 0) + 1
        reached = min([free[link] / count for link, count in users.items()], default=float("inf"))
        reached = min(reached, *(bounds[copy] for copy in rising))
        full = {link for link, count in users.items() if free[link] / count <= reached * (1 + CLOSE)}
        stopped = [copy for copy in rising if bounds[copy] <= reached or not full.isdisjoint(crossed[copy])]
        for copy in stopped:
            rates[copy] = reached
            del rising[copy]
            for link in crossed[copy]:
                free[link] -= reached
    return rates


Pair = tuple[float, float]


def bottleneck_speeds(draws: Sequence[Pair]) -> list[float]:
    """Return bottleneck-fair speeds of flows that draw two resources of capacity 1 in fixed proportion.

    A flow runs at full speed, or draws as much of a full resource as anybody else that is limited by it. Levels of
    the two resources are worked out in turn; whoever they limit then gives two linear equations for the exact levels.

    Parameters
    ----------
    draws : sequence of (float, float)
        What each flow draws at full speed, at most 1 of either.
    """
    if all(sum(column) <= 1 + 1e-12 for column in zip(*draws, strict=True)):
        return [1.0] * len(draws)
    levels = (float("inf"), float("inf"))
    for _ in range(ROUNDS):
        levels = _filled(draws, 0, levels[1]), levels[1]
        levels = levels[0], _filled(draws, 1, levels[0])
        speeds = _speeds(draws, _solved(draws, levels))
        if speeds and _fair(draws, speeds):
            return speeds
    return _speeds(draws, levels)


def _speed(draw: Pair, levels: Pair) -> float:
    return min(1.0, *(most / part for part, most in zip(draw, levels, strict=True) if part))


def _speeds(draws: Sequence[Pair], levels: Pair | None) -> list[float]:
    return [_speed(draw, levels) if any(draw) else 1.0 for draw in draws] if levels else []


def _filled(draws: Sequence[Pair], resource: int, other: float) -> float:
    """Level of one resource where the other limits flows to a level of its own."""
    asked = []
    for draw in draws:
        bound = draw[1 - resource]
        asked.append(draw[resource] * (min(1.0, other / bound) if bound else 1.0))
    return level(sorted(asked), len(asked)) if sum(asked) > 1 else float("inf")


def _solved(draws: Sequence[Pair], levels: Pair) -> Pair | None:
    """Levels at which both resources are exactly full, when each flow is limited by what limits it now."""
    taken = [0.0, 0.0]
    matrix = [[0.0, 0.0], [0.0, 0.0]]
    for draw in draws:
        reach = [levels[r] / draw[r] if draw[r] else float("inf") for r in (0, 1)]
        limit = -1 if min(reach) >= 1 else 0 if reach[0] <= reach[1] else 1
        for resource in (0, 1):
            if limit < 0:
                taken[resource] += draw[resource]
            else:
                matrix[resource][limit] += draw[resource] / draw[limit]
    (a, b), (c, d) = matrix
    first, second = 1 - taken[0], 1 - taken[1]
    if not a or not d:
        return (first / a if a else float("inf"), second / d if d else float("inf"))
    determinant = a * d - b * c
    if abs(determinant) <= 1e-12 * a * d:
        return None
    return ((first * d - b * second) / determinant, (a * second - c * first) / determinant)


def _fair(draws: Sequence[Pair], speeds: Sequence[float]) -> bool:
    if min(speeds) <= 0:
        return False
    used = [[draw[resource] * speed for draw, speed in zip(draws, speeds, strict=True)] for resource in (0, 1)]
    sums = [sum(column) for column in used]
    if max(sums) > 1 + CLOSE:
        return False
    most = [max(column) if total >= 1 - CLOSE else float("inf") for column, total in zip(used, sums, strict=True)]
    return all(
        speed >= 1 - CLOSE or any(used[r][flow] >= most[r] * (1 - CLOSE) for r in (0, 1))
        for flow, speed in enumerate(speeds)
    )
