"""List schedulers that choose operator and device together: ETF and DLS."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.compose import Recipe, carry_out
from simsched.schedulers.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Etf:
    """Earliest task first: of all ready operators and devices the pair that can start first; ties by static level.

    J.-J. Hwang, Y.-C. Chow, F. D. Anger, C.-Y. Lee, "Scheduling precedence graphs in systems with interprocessor
    communication times", SIAM J. Comput. 18(2), 1989, doi:10.1137/0218016. For identical devices: it does not ask how
    long an operator takes where. Then, with delays, the result is at most ``(2 - 1/p)`` times the optimum without
    delays, plus the delays along some chain. O(v p log v).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("level", "lowest", "start", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class Dls:
    """Dynamic level scheduling: the pair of operator and device of the greatest dynamic level.

    That is the static level, less the earliest start there, plus what the operator takes in the median less what it
    takes there. G. C. Sih, E. A. Lee, "A compile-time scheduling heuristic for interconnection-constrained
    heterogeneous processor architectures", IEEE TPDS 4(2), 1993, doi:10.1109/71.207593; without its routing of messages
    and its terms for descendants and for scarce devices. O(v p log v).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        # start - (median - duration) is the end less the median, which is a part of the priority.
        return Recipe("median_level", "level", "finish", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))
