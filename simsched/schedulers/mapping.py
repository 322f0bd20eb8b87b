"""Mapping heuristics for heterogeneous machines: OLB, MET, MCT, Min-Min, Max-Min, Sufferage.

They are stated for independent tasks: T. D. Braun et al., "A comparison of eleven static heuristics for mapping a class
of independent tasks onto heterogeneous distributed computing systems", JPDC 61(6), 2001, doi:10.1006/jpdc.2000.1714,
and M. Maheswaran et al., "Dynamic mapping of a class of independent tasks onto heterogeneous computing systems", JPDC
59(2), 1999, doi:10.1006/jpdc.1999.1581. On graphs an operator becomes a task once its predecessors are placed: OLB, MET
and MCT take operators in the graph's order, the others by batches, all that are ready at a time, as J. Blythe et al. do
for workflows ("Task scheduling strategies for workflow-based applications in grids", CCGrid 2005,
doi:10.1109/CCGRID.2005.1558639). Nothing goes into gaps. The *machines* are devices.
"""

from __future__ import annotations

from dataclasses import dataclass

from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.compose import Recipe, carry_out
from simsched.schedulers.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Olb:
    """Opportunistic load balancing: in the graph's order, each on the device that is free first.

    It asks neither how long an operator takes there nor when its inputs arrive. T. D. Braun et al., JPDC 61(6), 2001,
    doi:10.1006/jpdc.2000.1714. O(e p).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("list", "list", "available", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class Met:
    """Minimum execution time: each on the device where it takes least, however long it has to wait there.

    T. D. Braun et al., JPDC 61(6), 2001, doi:10.1006/jpdc.2000.1714. On identical devices everything goes to the first.
    O(e p).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("list", "list", "quickest", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class Mct:
    """Minimum completion time: in the graph's order, each on the device where it ends first.

    T. D. Braun et al., JPDC 61(6), 2001, doi:10.1006/jpdc.2000.1714. O(e p).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("list", "list", "finish", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class MinMin:
    """Min-Min: of a batch of ready operators, the one that can end first, where it ends first.

    O. H. Ibarra, C. E. Kim, "Heuristic algorithms for scheduling independent tasks on nonidentical processors", JACM
    24(2), 1977, doi:10.1145/322003.322011; T. D. Braun et al., JPDC 61(6), 2001, doi:10.1006/jpdc.2000.1714.
    O(v p log v).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("list", "lowest_of_batch", "finish", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class MaxMin:
    """Max-Min: of a batch of ready operators, the one whose earliest end is last, where it ends first.

    O. H. Ibarra, C. E. Kim, JACM 24(2), 1977, doi:10.1145/322003.322011; T. D. Braun et al., JPDC 61(6), 2001,
    doi:10.1006/jpdc.2000.1714. O(v w p) with w operators in a batch.
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("list", "highest_of_batch", "finish", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class Sufferage:
    """Sufferage: of a batch of ready operators, the one that would end latest for it if it lost its best device.

    M. Maheswaran et al., JPDC 59(2), 1999, doi:10.1006/jpdc.1999.1581; one operator at a time, as H. Casanova et al.
    have it ("Heuristics for scheduling parameter sweep applications in grid environments", HCW 2000,
    doi:10.1109/HCW.2000.843757). On one device nobody suffers, and the graph's order decides. O(v w p) with w operators
    in a batch.
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("list", "sufferage_of_batch", "finish", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))
