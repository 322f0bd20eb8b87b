"""Choice of a device for one operator: the second part of a list scheduler.

A selection looks at the costs and at the plan in the making, and returns a score; the device of the lowest score is
taken, of equal ones the first of the profile. Placing operators never lowers a score, which the orders in
:mod:`simsched.schedulers.planning.orders` rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simsched.graph.model import OpId
from simsched.schedulers.planning.costs import Costs, DeviceId
from simsched.schedulers.planning.partial import PartialPlan, Score, ends_first, starts_first
from simsched.schedulers.planning.priorities import optimistic_costs, through


def finish(costs: Costs, plan: PartialPlan) -> Score:
    """Where it ends first."""
    del costs, plan
    return ends_first


def start(costs: Costs, plan: PartialPlan) -> Score:
    """Where it starts first."""
    del costs, plan
    return starts_first


def quickest(costs: Costs, plan: PartialPlan) -> Score:
    """Where it takes least, however long it has to wait there."""
    del costs, plan
    return lambda op, device, start, end: end - start


def available(costs: Costs, plan: PartialPlan) -> Score:
    """Where there is first nothing more to do, whatever it takes there and whenever its inputs arrive."""
    del costs
    machines = plan.machines
    return lambda op, device, start, end: machines[device].free_at


def look_ahead(costs: Costs, plan: PartialPlan) -> Score:
    """Where its end plus the optimistic rest of the way is least: PEFT's optimistic EFT."""
    del plan
    table, scale = optimistic_costs(costs), costs.scale
    return lambda op, device, start, end: end * scale + table[device][op]


def critical(costs: Costs, plan: PartialPlan) -> Score:
    """All of the critical path on the device that runs it in the least time, the rest where it ends first: CPOP."""
    del plan
    on_path, home = critical_path_on_one(costs)

    def score(op: OpId, device: DeviceId, start: int, end: int) -> int:
        del start
        return -1 if device == home and on_path[op] else end

    return score


SELECTIONS: Mapping[str, Callable[[Costs, PartialPlan], Score]] = {
    "finish": finish,
    "start": start,
    "quickest": quickest,
    "available": available,
    "look_ahead": look_ahead,
    "critical": critical,
}
"""Every selection by its name."""


def critical_path_on_one(costs: Costs) -> tuple[bytearray, DeviceId]:
    """Mark CPOP's critical path, and find the device that runs it in the least time; ties go to the first.

    Returns
    -------
    bytearray
        1 for operators of the path, by id.
    int
        Of devices that may run all of it; -1 where there is none: then the path is scheduled like the rest.
    """
    values = through(costs).values
    on_path = bytearray(costs.count)
    entries = [op for op, pred in enumerate(costs.graph.pred) if not pred]
    if not entries:
        return on_path, -1
    op = max(entries, key=lambda entry: (values[entry], -entry))
    length = values[op]
    path = [op]
    while costs.graph.succ[op]:
        op = next(other for other in costs.graph.succ[op] if values[other] == length)
        path.append(op)
    for op in path:
        on_path[op] = 1
    able = [device for device in costs.devices if all(device in costs.allowed[op] for op in path)]
    if not able:
        return on_path, -1
    return on_path, min(able, key=lambda device: sum(costs.durations[device][op] for op in path))
