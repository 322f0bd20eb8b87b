"""Follow a plan where operators compete for units: each waits for those whose units it takes over.

Dispatched all at once, an operator that the plan holds back could start early and take the units of one that matters
more. A resource flow says who hands units to whom; waiting for just those keeps what runs together within the
capacities whatever the durations turn out to be (C. Artigues, P. Michelon, S. Reusser, "Insertion techniques for static
and dynamic resource-constrained project scheduling", EJOR 149(2), 2003, doi:10.1016/S0377-2217(02)00758-0).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from simsched.graph.model import OpId
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.planning.plan import Plan

Amount = tuple[int, Mapping[OpId, int]]
"""Capacity of one resource of one device, and what each operator that runs there demands."""


def handed_over(
    order: Sequence[OpId], end: Sequence[int], start: Sequence[int], amount: Amount
) -> list[tuple[int, int]]:
    """Pairs of operators of which the first hands units of one resource to the second.

    Parameters
    ----------
    order : sequence of int
        Operators by start.
    end, start : sequence of int
        By operator id.
    amount : tuple
    """
    units, wanted = amount
    unused = units
    giving: list[list[int]] = []
    pairs = []
    for op in order:
        missing = wanted.get(op, 0)
        if not missing:
            continue
        taken = min(unused, missing)
        unused -= taken
        missing -= taken
        number = 0
        while missing and number < len(giving):
            other, left = giving[number]
            if end[other] > start[op]:
                number += 1
                continue
            taken = min(left, missing)
            missing -= taken
            pairs.append((other, op))
            if taken == left:
                del giving[number]
            else:
                giving[number][1] = left - taken
        giving.append([op, wanted[op]])
    return pairs


def holding_policy(plan: Plan, order: Sequence[OpId], pairs: Iterable[tuple[OpId, OpId]]) -> Policy:
    """Return a policy that dispatches each operator once those have ended that hand units to it.

    Parameters
    ----------
    plan : Plan
    order : sequence of int
        Operators by start.
    pairs : iterable of (int, int)
    """
    left = [0] * len(order)
    takers: list[list[OpId]] = [[] for _ in order]
    for other, op in sorted(set(pairs)):
        left[op] += 1
        takers[other].append(op)
    queues: dict[int, list[OpId]] = {}
    position = [0] * len(order)
    for number, op in enumerate(order):
        position[op] = number
    for op in reversed(order):
        queues.setdefault(plan.stream[op], []).append(op)
    touched = sorted(queues)

    def policy(view: View) -> Iterable[Dispatch]:
        nonlocal touched
        streams = dict.fromkeys(touched)
        touched = []
        for op in view.newly_finished:
            for other in takers[op]:
                left[other] -= 1
                streams[plan.stream[other]] = None
        chosen = []
        for stream in streams:
            queue = queues[stream]
            while queue and not left[queue[-1]]:
                chosen.append(queue.pop())
        chosen.sort(key=position.__getitem__)
        return [Dispatch(op, plan.stream[op], "as planned") for op in chosen]

    return policy
