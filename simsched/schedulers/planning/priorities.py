"""Priorities of operators, worked out before anything is placed: the first part of a list scheduler.

Each function returns a :class:`Ranking`; a higher value goes first. Ranks that look at durations on several devices
take their mean over the devices that may run an operator, and of transfers the mean over pairs of different devices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from simsched.graph.model import OpId
from simsched.schedulers.planning.costs import Costs
from simsched.schedulers.planning.labels import coffman_graham_labels


class Ranking(NamedTuple):
    """Values by operator id, in units of ``1 / scale`` ns where they are times."""

    values: Sequence[int]
    scale: int = 1


def upward(costs: Costs) -> Ranking:
    """Longest path to an exit with transfers, its own duration included: HEFT's upward rank."""
    durations = costs.mean_durations
    after = costs.longest_after(durations, costs.mean_transfers)
    return Ranking(_sums(durations, after), costs.scale)


def through(costs: Costs) -> Ranking:
    """Longest path from an entry to an exit through the operator, with transfers: CPOP's priority."""
    before = costs.longest_before(costs.mean_durations, costs.mean_transfers)
    return Ranking(_sums(before, upward(costs).values), costs.scale)


def level(costs: Costs) -> Ranking:
    """Longest path to an exit without transfers, its own duration included: the static level of HLFET and ETF."""
    durations = costs.mean_durations
    return Ranking(_sums(durations, costs.longest_after(durations)), costs.scale)


def median_level(costs: Costs) -> Ranking:
    """Static level with median durations, and one median more: the part of DLS's dynamic level that is fixed."""
    medians = costs.median_durations()
    after = costs.longest_after(medians)
    return Ranking([2 * median + rest for median, rest in zip(medians, after, strict=True)], 2)


def alap(costs: Costs) -> Ranking:
    """Latest start with transfers, earliest first; ties by the latest starts of its successors, sorted: MCP's order."""
    ranks = upward(costs).values
    length = max(ranks, default=0)
    starts = [length - rank for rank in ranks]
    keys = [
        (start, sorted(starts[other] for other in succ)) for start, succ in zip(starts, costs.graph.succ, strict=True)
    ]
    order = sorted(range(costs.count), key=keys.__getitem__)
    values = [0] * costs.count
    place, previous = 0, None
    for op in order:
        if keys[op] != previous:
            place, previous = place - 1, keys[op]
        values[op] = place
    return Ranking(values)


def optimistic(costs: Costs) -> Ranking:
    """Mean over the devices of PEFT's optimistic cost table."""
    table = optimistic_costs(costs)
    unit = math.lcm(*{len(devices) for devices in costs.allowed})
    values = [
        sum(table[device][op] for device in devices) * (unit // len(devices))
        for op, devices in enumerate(costs.allowed)
    ]
    return Ranking(values, costs.scale * unit)


def latest_finish(costs: Costs) -> Ranking:
    """Earliest latest finish time first (LFT): the longest path after an operator, without transfers."""
    return Ranking(costs.longest_after(costs.mean_durations), costs.scale)


def least_slack(costs: Costs) -> Ranking:
    """Least slack on the critical path first, without transfers (MSLK)."""
    return Ranking(_sums(costs.longest_before(costs.mean_durations), level(costs).values), costs.scale)


def most_successors(costs: Costs) -> Ranking:
    """Most total successors first (MTS): how many operators come after, directly or not."""
    counts = [0] * costs.count
    reached: dict[OpId, int] = {}
    waiting = [len(pred) for pred in costs.graph.pred]
    for op in range(costs.count - 1, -1, -1):
        found = 0
        for other in costs.graph.succ[op]:
            found |= reached[other] | 1 << other
            waiting[other] -= 1
            if not waiting[other]:
                del reached[other]
        counts[op] = found.bit_count()
        reached[op] = found
    return Ranking(counts)


def positional_weight(costs: Costs) -> Ranking:
    """Greatest rank positional weight first (GRPW): its own duration and those of its direct successors."""
    durations = costs.mean_durations
    weights = [
        duration + sum(durations[other] for other in succ)
        for duration, succ in zip(durations, costs.graph.succ, strict=True)
    ]
    return Ranking(weights, costs.scale)


def shortest(costs: Costs) -> Ranking:
    """Shortest processing time first (SPT)."""
    return Ranking([-duration for duration in costs.mean_durations], costs.scale)


def longest(costs: Costs) -> Ranking:
    """Longest processing time first (LPT)."""
    return Ranking(costs.mean_durations, costs.scale)


def file_order(costs: Costs) -> Ranking:
    """The graph's own order."""
    return Ranking([0] * costs.count)


def labels(costs: Costs) -> Ranking:
    """Labels of Coffman and Graham, the highest first."""
    return Ranking(coffman_graham_labels(costs.graph))


PRIORITIES: Mapping[str, Callable[[Costs], Ranking]] = {
    "upward": upward,
    "through": through,
    "level": level,
    "median_level": median_level,
    "alap": alap,
    "optimistic": optimistic,
    "lst": level,
    "lft": latest_finish,
    "slack": least_slack,
    "mts": most_successors,
    "grpw": positional_weight,
    "spt": shortest,
    "lpt": longest,
    "label": labels,
    "list": file_order,
}
"""Every priority by its name."""


def optimistic_costs(costs: Costs) -> list[list[int]]:
    """PEFT's optimistic cost table: the shortest way from each operator's end to an exit, were no device ever busy.

    Returns
    -------
    list of list of int
        By device and operator, in ``1 / costs.scale`` ns; on each path the longest successor counts, and each successor
        goes where it ends the path soonest.
    """
    scale, devices = costs.scale, costs.devices
    table = [[0] * costs.count for _ in devices]
    pred = costs.graph.pred
    for op in range(costs.count - 1, -1, -1):
        if not pred[op]:
            continue
        here = [table[device][op] + costs.durations[device][op] * scale for device in costs.allowed[op]]
        least = min(here)
        stay = dict(zip(costs.allowed[op], here, strict=True))
        for device in devices:
            own = stay.get(device)
            column = table[device]
            for other, time in zip(pred[op], costs.mean_transfers[op], strict=True):
                length = least + time
                if own is not None and own < length:
                    length = own
                if length > column[other]:
                    column[other] = length
    return table


def _sums(left: Sequence[int], right: Sequence[int]) -> list[int]:
    return [one + other for one, other in zip(left, right, strict=True)]
