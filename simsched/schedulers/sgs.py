"""Schedule generation schemes of project scheduling, with its priority rules."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.errors import UnknownNameError
from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.compose import Recipe, carry_out
from simsched.schedulers.planning.plan import Plan

RULES = ("lft", "lst", "slack", "mts", "grpw", "spt", "lpt", "list")
SCHEMES = {
    "serial": ("list", "finish", True),
    "parallel": ("lowest", "start", False),
}
"""Order, selection and insertion of each scheme."""


@dataclass(frozen=True, slots=True)
class Sgs:
    """Schedule generation: serial (by priority, each as early as it fits) or parallel (through time, never idle).

    R. Kolisch, "Serial and parallel resource-constrained project scheduling methods revisited: theory and computation",
    EJOR 90, 1996, doi:10.1016/0377-2217(95)00357-6. The serial scheme makes active schedules, of which one is optimal;
    the parallel scheme makes non-delay schedules, which are better on average and of which none may be optimal. O(v w)
    or O(v^2) looks at the units that are free.

    Parameters
    ----------
    rule : {"lft", "lst", "slack", "mts", "grpw", "spt", "lpt", "list"}
        Earliest latest finish or start, least slack, most total successors, greatest rank positional weight, shortest
        or longest processing time, or the graph's order. Ties go to the lower id.
    scheme : {"serial", "parallel"}
    """

    rule: str = "lft"
    scheme: str = "serial"

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UnknownNameError("rule of sgs", self.rule, RULES)
        if self.scheme not in SCHEMES:
            raise UnknownNameError("scheme of sgs", self.scheme, list(SCHEMES))

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        order, selection, insertion = SCHEMES[self.scheme]
        return Recipe(self.rule, order, selection, insertion).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))
