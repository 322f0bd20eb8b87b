"""A list scheduler from its parts, and the policy that carries out what it planned."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from simsched.errors import UnknownNameError
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.follow import static_policy
from simsched.schedulers.planning.costs import Costs
from simsched.schedulers.planning.orders import ORDERS
from simsched.schedulers.planning.partial import PartialPlan, is_pool
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.planning.priorities import PRIORITIES
from simsched.schedulers.planning.selections import SELECTIONS


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of a list scheduler.

    Attributes
    ----------
    priority : str
        One of :data:`simsched.schedulers.planning.priorities.PRIORITIES`.
    order : str
        One of :data:`simsched.schedulers.planning.orders.ORDERS`.
    selection : str
        One of :data:`simsched.schedulers.planning.selections.SELECTIONS`.
    insertion : bool
        Whether operators may go into idle gaps before others, or only after them.

    Raises
    ------
    UnknownNameError
        If there is no part of that name.
    """

    priority: str
    order: str
    selection: str
    insertion: bool

    def __post_init__(self) -> None:
        for kind, name, known in (
            ("priority", self.priority, PRIORITIES),
            ("order", self.order, ORDERS),
            ("selection", self.selection, SELECTIONS),
        ):
            if name not in known:
                raise UnknownNameError(kind, name, list(known))

    def plan(self, problem: Problem) -> Plan:
        """Place every operator, by the estimates of a problem."""
        costs = Costs(problem)
        plan = PartialPlan(costs, insertion=self.insertion)
        ORDERS[self.order](plan, PRIORITIES[self.priority](costs), SELECTIONS[self.selection](costs, plan))
        return plan.finished()


def carry_out(problem: Problem, plan: Plan) -> Policy:
    """Return a policy that does what a plan says.

    Where streams alone are scarce, everything is appended to its stream at time 0: the order on each stream is all that
    there is to a plan. Where operators hold units of a device too, one that could start early might take units that the
    plan has for another; so there an operator is held back until all have ended that the plan has end before it.
    """
    devices = range(len(problem.devices))
    if any(is_pool(problem, device) for device in devices):
        return paced_policy(plan)
    return static_policy(plan.schedule())


def paced_policy(plan: Plan) -> Policy:
    """Return a policy that keeps to a plan: what it has end before an operator starts has ended by then."""
    order = plan.order
    place = [0] * len(order)
    for number, op in enumerate(order):
        place[op] = number
    keys = [(plan.end[op], plan.start[op] == plan.end[op], place[op]) for op in range(len(order))]
    ends = sorted(range(len(order)), key=keys.__getitem__)
    by_end = sorted(keys)
    needed = [bisect_left(by_end, (plan.start[op], True, place[op])) for op in order]
    done = bytearray(len(order))
    finished, launched = 0, 0

    def policy(view: View) -> Iterable[Dispatch]:
        nonlocal finished, launched
        op: OpId
        for op in view.newly_finished:
            done[op] = 1
        while finished < len(ends) and done[ends[finished]]:
            finished += 1
        chosen = []
        while launched < len(order) and needed[launched] <= finished:
            op = order[launched]
            chosen.append(Dispatch(op, plan.stream[op], "as planned"))
            launched += 1
        return chosen

    return policy
