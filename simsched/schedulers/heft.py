"""HEFT: upward ranks, and for each operator the device on which it ends first."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.compose import Recipe, carry_out
from simsched.schedulers.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Heft:
    """Heterogeneous earliest finish time: longest path with transfers first, each where it ends first.

    H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-effective and low-complexity task scheduling for heterogeneous
    computing", IEEE TPDS 13(3), 2002, doi:10.1109/71.993206. Ranks take means over devices and pairs of devices; ties
    go to the lower id, those of devices to the first. O(e p).

    Parameters
    ----------
    insertion : bool
        Whether an operator may go into an idle gap between others, as published.
    """

    insertion: bool = True

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("upward", "list", "finish", self.insertion).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))
