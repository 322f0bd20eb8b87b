"""A list scheduler from its parts, and the policy that carries out what it planned."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simsched.errors import UnknownNameError
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.follow import static_policy
from simsched.schedulers.planning.begun import NOTHING, Begun
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

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator, by the estimates of a problem; in the middle of a run those that have not begun."""
        costs = Costs(problem)
        plan = PartialPlan(costs, insertion=self.insertion, begun=begun)
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
    pace = Pace(plan)
    done = bytearray(len(plan.order))

    def policy(view: View) -> Iterable[Dispatch]:
        for op in view.newly_finished:
            done[op] = 1
        return [Dispatch(op, plan.stream[op], "as planned") for op in pace.due(done)]

    return policy


class Pace:
    """Which operators of a plan are due: those before whose planned start all has ended that should have.

    Parameters
    ----------
    plan : Plan
    begun : Begun, optional
        What had been dispatched when the plan was made.
    """

    def __init__(self, plan: Plan, begun: Begun = NOTHING) -> None:
        order = [op for op in plan.order if op not in begun.stream or plan.end[op] > begun.now]
        place = {op: number for number, op in enumerate(order)}
        keys = [(plan.end[op], plan.start[op] == plan.end[op], place[op]) for op in order]
        keys.sort()
        self._ends = [order[number] for _, _, number in keys]
        self._order = [op for op in order if op not in begun.stream]
        self._needed = [bisect_left(keys, (plan.start[op], True, place[op])) for op in self._order]
        self._finished = self._launched = 0

    def due(self, done: Sequence[int]) -> list[OpId]:
        """Return what may be dispatched now and was not returned before, in the plan's order.

        Parameters
        ----------
        done : sequence of int
            Not 0 for operators that have ended, by id.
        """
        ends, order, first = self._ends, self._order, self._launched
        while self._finished < len(ends) and done[ends[self._finished]]:
            self._finished += 1
        while self._launched < len(order) and self._needed[self._launched] <= self._finished:
            self._launched += 1
        return order[first : self._launched]
