"""Fair rates of flows that share several resources, at one instant.

Both rules are pure functions, and work in floats and in ``fractions.Fraction`` alike. ``rows[c][f]`` is what flow
``f`` consumes of resource ``c`` per unit of its own rate; 0 where it does not use it.

On one resource that all flows use alike, both rules agree. Otherwise they differ: max-min fairness equalises the
*rates*, so a flow that needs ten times as much of a full resource gets ten times as much of it; bottleneck fairness
equalises *what the flows get of the full resource*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from simsched.sharing.bottleneck import Number, rates_along_path

__all__ = ["bottleneck_fair_rates", "max_min_rates"]


def max_min_rates(
    capacities: Sequence[Number | Callable[[int], Number]],
    rows: Sequence[Sequence[Number]],
    penalties: Sequence[Number] | None = None,
    bounds: Sequence[Number | None] | None = None,
) -> list[Number]:
    """Rates that are max-min fair: none could be higher without lowering one that is no higher.

    Found by progressive filling (Bertsekas and Gallager, *Data Networks*, 1992, section 6.5.2): all rates rise
    together; where a resource is full, its flows stop, and the others go on.

    Parameters
    ----------
    capacities : sequence of number or callable
        Capacity of each resource; a callable is asked once, with the number of flows that use the resource.
    rows : sequence of sequence of number
        Consumption per unit of rate, at least 0: ``rows[resource][flow]``.
    penalties : sequence of number, optional
        Rate times penalty is what is equalised: penalty 2 is half the rate. All 1 unless given.
    bounds : sequence of number or None, optional
        The most that each flow's rate may be; None for no bound.

    Returns
    -------
    list of number
        The rate of each flow. A flow that its bound stops has exactly this number.

    Raises
    ------
    ValueError
        A flow uses no resource and has no bound.

    Examples
    --------
    >>> max_min_rates([20, 60], [[1, 2, 0], [2, 0, 1]], penalties=[1, 2, 1])
    [10.0, 5.0, 40.0]
    """
    limits, users = _checked(rows, bounds)
    factors = penalties if penalties is not None else cast("Sequence[Number]", [1] * len(limits))
    totals = [entry(len(users[c])) if callable(entry) else entry for c, entry in enumerate(capacities)]
    rates: list[Number | None] = [None] * len(limits)
    lowest: Number | None = None
    while None in rates:
        full = {c: _level(totals[c], rows[c], users[c], factors, rates, lowest) for c in range(len(totals))}
        lowest = min((level for level in full.values() if level is not None), default=None)
        stopped = [
            (flow, bound)
            for flow, bound in enumerate(limits)
            if rates[flow] is None and bound is not None and (lowest is None or bound * factors[flow] <= lowest)
        ]
        if not stopped and lowest is not None:
            on_full = sorted({flow for c, level in full.items() if level == lowest for flow in users[c]})
            stopped = [(flow, lowest / factors[flow]) for flow in on_full if rates[flow] is None]
        for flow, rate in stopped:
            rates[flow] = rate
    return cast("list[Number]", rates)


def bottleneck_fair_rates(
    capacities: Sequence[Number],
    rows: Sequence[Sequence[Number]],
    bounds: Sequence[Number | None] | None = None,
) -> list[Number]:
    """Rates that are bottleneck fair: each flow is at its bound, or has the largest share of some full resource.

    The rule is that of Bonald and Roberts, *Multi-resource fairness: objectives, algorithms and performance* (2015,
    arXiv:1410.0782). On one or two resources there is one such allocation; on more there may be several, of which one
    is found, always the same.

    Parameters
    ----------
    capacities : sequence of number
        Capacity of each resource, above 0.
    rows : sequence of sequence of number
        Consumption per unit of rate, at least 0: ``rows[resource][flow]``.
    bounds : sequence of number or None, optional
        The most that each flow's rate may be, above 0; None for no bound.

    Returns
    -------
    list of number
        The rate of each flow. A flow that its bound stops has exactly this number.

    Raises
    ------
    ValueError
        A flow uses no resource and has no bound.

    Examples
    --------
    >>> bottleneck_fair_rates([3], [[1, 10]])
    [1.5, 0.15]
    """
    limits, _ = _checked(rows, bounds)
    return rates_along_path(capacities, rows, limits)


def _checked(
    rows: Sequence[Sequence[Number]], bounds: Sequence[Number | None] | None
) -> tuple[Sequence[Number | None], list[list[int]]]:
    """Bounds of all flows, and the flows that use each resource."""
    users = [[flow for flow, weight in enumerate(row) if weight > 0] for row in rows]
    size = len(rows[0]) if rows else len(bounds or ())
    limits: Sequence[Number | None] = bounds if bounds is not None else [None] * size
    limited = {flow for flows in users for flow in flows}
    for flow, bound in enumerate(limits):
        if bound is None and flow not in limited:
            raise ValueError(f"flow {flow} uses no resource and has no bound, so no rate is its largest")
    return limits, users


def _level(
    total: Number,
    row: Sequence[Number],
    users: list[int],
    factors: Sequence[Number],
    rates: list[Number | None],
    reached: Number | None,
) -> Number | None:
    """How high the rates times penalties can rise until one resource is full; None where no rate on it rises."""
    rising: Number | None = None
    left = total
    for flow in users:
        rate = rates[flow]
        if rate is None:
            demand = row[flow] / factors[flow]
            rising = demand if rising is None else rising + demand
        else:
            left = left - row[flow] * rate
    if rising is None:
        return None
    level = left / rising
    # Below what has been reached by rounding alone.
    return level if reached is None or level > reached else reached
