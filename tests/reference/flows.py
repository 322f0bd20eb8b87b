"""What flows at a shared rate, worked out with exact fractions from the definitions of fairness.

A flow has something left (ns of work at full speed, or bytes) and a rate. It is over at the first whole instant at
which nothing is left; an end within a millionth of a nanosecond of an instant counts as that instant.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

SLACK = Fraction(1, 10**6)
ONE = Fraction(1)


@dataclass
class Flow:
    """Something that flows from ``begin`` on: ``left`` units, at ``rate`` units a nanosecond."""

    begin: int
    left: Fraction
    rate: Fraction = Fraction(0)

    def on_its_way(self, now: int) -> bool:
        return self.begin <= now and not self.over(now)

    def over(self, now: int) -> bool:
        return self.begin <= now and self.left <= self.rate * SLACK

    def advance(self, now: int, later: int) -> None:
        if self.begin <= now:
            self.left = max(Fraction(0), self.left - self.rate * (later - now))

    def next_time(self, now: int) -> int:
        """When it begins, or else when it will be over if nothing changes."""
        if self.begin > now:
            return self.begin
        return max(now + 1, now + math.ceil(self.left / self.rate - SLACK))


def max_min(
    bounds: Sequence[Fraction | None],
    crossed: Sequence[Sequence[Hashable]],
    capacity: Mapping[Hashable, Fraction],
) -> list[Fraction]:
    """Raise all rates together; whoever meets a bound or a full resource stays there.

    Parameters
    ----------
    bounds : sequence of Fraction or None
        Largest rate of each flow.
    crossed : sequence of sequence of hashable
        Resources that each flow uses, a unit a unit of rate; every flow has a bound or a resource.
    capacity : mapping
    """
    rates: dict[int, Fraction] = {}
    free = dict(capacity)
    while len(rates) < len(bounds):
        rising = [flow for flow in range(len(bounds)) if flow not in rates]
        offers: list[tuple[Fraction, list[int]]] = []
        for flow in rising:
            bound = bounds[flow]
            if bound is not None:
                offers.append((bound, [flow]))
        for resource, amount in free.items():
            users = [flow for flow in rising if resource in crossed[flow]]
            if users:
                offers.append((amount / len(users), users))
        lowest, stopped = min(offers, key=lambda offer: offer[0])
        for flow in stopped:
            rates[flow] = lowest
            for resource in crossed[flow]:
                free[resource] -= lowest
    return [rates[flow] for flow in range(len(bounds))]


def one_resource(draws: Sequence[Fraction]) -> list[Fraction]:
    """Speeds of kernels that draw ``draws`` of one resource at full speed."""
    users = [flow for flow, draw in enumerate(draws) if draw]
    rates = max_min([draws[flow] for flow in users], [["shared"]] * len(users), {"shared": ONE})
    speeds = [ONE] * len(draws)
    for flow, rate in zip(users, rates, strict=True):
        speeds[flow] = rate / draws[flow]
    return speeds


Pair = tuple[Fraction, Fraction]


def two_resources(draws: Sequence[Pair]) -> list[Fraction]:
    """Speeds of flows that draw two resources in fixed proportion, bottleneck-fair: found by trying all shapes.

    A shape says for each flow whether it runs at full speed or is limited by the first or the second resource. Of the
    flows that one resource limits, all draw the same level of it; the levels follow from the resources being full.
    """
    for limits in product((-1, 0, 1), repeat=len(draws)):
        speeds = _solved(draws, limits)
        if speeds is not None and _bottleneck_fair(draws, speeds):
            return speeds
    raise AssertionError(f"no fair speeds for {draws}")


def _solved(draws: Sequence[Pair], limits: Sequence[int]) -> list[Fraction] | None:
    """Solve for the levels of the limiting resources: two linear equations."""
    if any(limit >= 0 and not draw[limit] for draw, limit in zip(draws, limits, strict=True)):
        return None
    matrix = [[Fraction(0), Fraction(0)], [Fraction(0), Fraction(0)]]
    right = [ONE, ONE]
    for draw, limit in zip(draws, limits, strict=True):
        for resource in (0, 1):
            if limit < 0:
                right[resource] -= draw[resource]
            else:
                matrix[resource][limit] += draw[resource] / draw[limit]
    levels = [Fraction(0), Fraction(0)]
    limiting = [resource for resource in (0, 1) if resource in limits]
    if len(limiting) == 1:
        levels[limiting[0]] = right[limiting[0]] / matrix[limiting[0]][limiting[0]]
    elif limiting:
        (a, b), (c, d) = matrix
        determinant = a * d - b * c
        if not determinant:
            return None
        levels = [(right[0] * d - b * right[1]) / determinant, (a * right[1] - c * right[0]) / determinant]
    return [ONE if limit < 0 else levels[limit] / draw[limit] for draw, limit in zip(draws, limits, strict=True)]


def _bottleneck_fair(draws: Sequence[Pair], speeds: Sequence[Fraction]) -> bool:
    """Whether each flow runs at full speed or draws most of a resource that is full, and nothing is overdrawn."""
    if any(not 0 < speed <= 1 for speed in speeds):
        return False
    used = [[draw[resource] * speed for draw, speed in zip(draws, speeds, strict=True)] for resource in (0, 1)]
    if any(sum(column) > 1 for column in used):
        return False
    full = [resource for resource in (0, 1) if sum(used[resource]) == 1]
    return all(
        speed == 1 or any(used[resource][flow] == max(used[resource]) for resource in full)
        for flow, speed in enumerate(speeds)
    )
