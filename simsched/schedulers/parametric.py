"""A list scheduler of one's own, from the parts of the published ones."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.compose import Recipe, carry_out
from simsched.schedulers.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Parametric:
    """List scheduling from parts: priority x order x selection x insertion.

    The published algorithms among these are short names for such compositions. SAGA takes list schedulers apart in a
    similar way: J. Coleman, R. V. Agrawal, E. Hirani, B. Krishnamachari, "Parameterized task graph scheduling algorithm
    for comparing algorithmic components", 2024, arXiv:2403.07112.

    Parameters
    ----------
    priority : str
        ``upward`` (HEFT), ``through`` (CPOP), ``level`` (HLFET, ETF), ``median_level`` (DLS), ``alap`` (MCP),
        ``optimistic`` (PEFT), ``lft``, ``lst``, ``slack``, ``mts``, ``grpw``, ``spt``, ``lpt``, ``label`` (Coffman and
        Graham) or ``list`` (the graph's order).
    order : str
        ``list`` (highest priority first), ``lowest`` (the pair of operator and device of lowest score), ``level``
        (score less priority), ``lowest_of_batch``, ``highest_of_batch``, ``sufferage`` or ``sufferage_of_batch``.
    selection : str
        The score of a device: ``finish``, ``start``, ``quickest``, ``available``, ``look_ahead`` (PEFT) or ``critical``
        (CPOP); the lowest is taken.
    insertion : bool
        Whether operators may go into idle gaps.
    """

    priority: str = "upward"
    order: str = "list"
    selection: str = "finish"
    insertion: bool = True

    def __post_init__(self) -> None:
        self._recipe()

    def _recipe(self) -> Recipe:
        return Recipe(self.priority, self.order, self.selection, self.insertion)

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return self._recipe().plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))
