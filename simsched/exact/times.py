"""What a model counts time in: the largest unit of which all durations and crossings are multiples.

Every plan whose operators start as early as they can has starts that are multiples of it, so nothing is lost. A coarse
unit makes bounds sharper: forty operators of 3 ns on three lanes take 42 ns, and not 40.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from simsched.graph.model import OpId
from simsched.graph.ranks import b_level, t_level
from simsched.problem import Problem

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Times:
    """Durations and crossings of a problem, in units.

    Attributes
    ----------
    unit : int
        ns.
    durations : sequence of sequence of int
        Per device, by operator id.
    shortest : sequence of int
        On the device where each operator is shortest.
    heads, levels : sequence of int
        Longest paths of shortest durations: before each operator, and from its start to the end.
    crossings : mapping
        Of each edge that takes time between devices: how long, by pair of devices; those where it takes none are left
        out.
    """

    unit: int
    durations: Sequence[Sequence[int]]
    shortest: Sequence[int]
    heads: Sequence[int]
    levels: Sequence[int]
    crossings: Mapping[tuple[OpId, OpId], Mapping[Pair, int]]


def times_of(problem: Problem) -> Times:
    """Find the unit, and count in it."""
    crossings = _crossings(problem)
    columns = [problem.durations(device) for device in range(len(problem.devices))]
    unit = gcd(
        *(took for column in columns for took in column), *(t for row in crossings.values() for t in row.values())
    )
    unit = unit or 1
    shortest = [duration // unit for duration in problem.shortest_durations()]
    return Times(
        unit,
        [[duration // unit for duration in column] for column in columns],
        shortest,
        t_level(problem.graph, shortest),
        b_level(problem.graph, shortest),
        {edge: {pair: takes // unit for pair, takes in row.items()} for edge, row in crossings.items()},
    )


def _crossings(problem: Problem) -> dict[tuple[OpId, OpId], dict[Pair, int]]:
    found: dict[tuple[OpId, OpId], dict[Pair, int]] = {}
    if len(problem.devices) == 1:
        return found
    for op, predecessors in enumerate(problem.graph.pred):
        for before in predecessors:
            pairs = [(a, b) for a in problem.allowed_devices(before) for b in problem.allowed_devices(op)]
            row = {(a, b): problem.transfer_ns(before, op, a, b) for a, b in pairs}
            row = {pair: takes for pair, takes in row.items() if takes}
            if row:
                found[before, op] = row
    return found
