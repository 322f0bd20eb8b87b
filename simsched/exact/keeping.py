"""Follow a plan so that nobody overtakes where operators compete for more than streams."""

from __future__ import annotations

from collections.abc import Iterable

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.planning.plan import Plan

REASON = "as planned"


def keeping_policy(problem: Problem, plan: Plan) -> Policy:
    """Return a policy that dispatches in the plan's order, each operator once those before it have ended.

    Before it are the operators of its device whose planned end is no later than its planned start. On one device
    without sharing, no operator starts later than planned then: what runs beside it in the run runs beside it in the
    plan, and was found to fit. Had everything been dispatched at once, an operator could start early and take the
    units or bytes of one that matters more.
    """
    device = [problem.stream_device[stream] for stream in plan.stream]
    waiting = plan.order
    position = {op: number for number, op in enumerate(waiting)}
    ends = [
        [op for op in sorted(waiting, key=lambda op: (plan.end[op], position[op])) if device[op] == number]
        for number in range(len(problem.devices))
    ]
    done = bytearray(len(waiting))
    passed = [0] * len(ends)
    launched = 0

    def is_due(op: OpId) -> bool:
        here = ends[device[op]]
        while passed[device[op]] < len(here):
            first = here[passed[device[op]]]
            if plan.end[first] > plan.start[op] or position[first] >= position[op]:
                return True
            if not done[first]:
                return False
            passed[device[op]] += 1
        return True

    def policy(view: View) -> Iterable[Dispatch]:
        nonlocal launched
        for op in view.newly_finished:
            done[op] = 1
        chosen = []
        while launched < len(waiting) and is_due(waiting[launched]):
            op = waiting[launched]
            chosen.append(Dispatch(op, plan.stream[op], REASON))
            launched += 1
        return chosen

    return policy
