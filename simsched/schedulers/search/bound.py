"""Lower bounds that are quick to find: a search that meets one may stop.

The layer of schedulers does not know :mod:`simsched.analysis.bounds`; these are the ones of those that matter here.
"""

from __future__ import annotations

from collections.abc import Sequence

from simsched.graph.ranks import b_level, t_level
from simsched.schedulers.search.world import Amount, World

PAIRED = 200
"""Up to so many operators, windows that are cut at both ends are looked at."""


def lower_bound(world: World) -> int:
    """Return a makespan in ns that no schedule can be below."""
    problem = world.problem
    durations = problem.shortest_durations()
    tail, head = b_level(problem.graph, durations), t_level(problem.graph, durations)
    bound = max(tail, default=0)
    if world.devices > 1:
        return max(bound, -(-sum(durations) // len(problem.stream_device)))
    after = [length - time for length, time in zip(tail, durations, strict=True)]
    for amount in world.amounts[0]:
        bound = max(bound, _window(amount, durations, head, after), _crowd(amount, durations))
    return bound


def _window(amount: Amount, durations: Sequence[int], head: Sequence[int], after: Sequence[int]) -> int:
    """Work of operators that cannot begin before one instant and have so much after them, at full use in between."""
    units, wanted = amount
    work_of = {op: demand * durations[op] for op, demand in wanted.items()}
    if len(wanted) > PAIRED:
        return max(_cut(units, work_of, head), _cut(units, work_of, after))
    by_after = sorted(wanted, key=lambda op: (-after[op], op))
    best = 0
    for instant in sorted({head[op] for op in wanted}):
        work = 0
        for op in by_after:
            if head[op] >= instant:
                work += work_of[op]
                best = max(best, instant + after[op] - (-work // units))
    return best


def _cut(units: int, work_of: dict[int, int], before: Sequence[int]) -> int:
    """Work that has so much before it (or after it), at full use."""
    best, work = 0, 0
    for op in sorted(work_of, key=lambda op: (-before[op], op)):
        work += work_of[op]
        best = max(best, before[op] - (-work // units))
    return best


def _crowd(amount: Amount, durations: Sequence[int]) -> int:
    """Of ``k m + 1`` operators that each need one of ``m`` units, some ``k + 1`` come one after the other.

    So any so many take at least their ``k + 1`` shortest; the longest ones are looked at.
    """
    units, wanted = amount
    if not wanted or set(wanted.values()) != {1}:
        return 0
    longest = sorted((durations[op] for op in wanted), reverse=True)
    places = range(units, len(longest), units)
    return max((sum(longest[last - last // units : last + 1]) for last in places), default=0)
