"""List schedulers that rank operators once and then place them one by one: CPOP, PEFT, MCP, HLFET."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.compose import Recipe, carry_out
from simsched.schedulers.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Cpop:
    """Critical path on a processor: the critical path all on one device, the rest where it ends first.

    H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-effective and low-complexity task scheduling for heterogeneous
    computing", IEEE TPDS 13(3), 2002, doi:10.1109/71.993206. Of ready operators the one with the longest path through
    it goes first; the device is the one that runs the path in the least time. O(e p).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("through", "list", "critical", insertion=True).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class Peft:
    """Predict earliest finish time: like HEFT, but looks ahead along the cheapest way from each device to an exit.

    H. Arabnejad, J. G. Barbosa, "List scheduling algorithm for heterogeneous systems by an optimistic cost table", IEEE
    TPDS 25(3), 2014, doi:10.1109/TPDS.2013.57. O(e p) here, as transfers in the table are means over pairs of devices.
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("optimistic", "list", "look_ahead", insertion=True).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class Mcp:
    """Modified critical path: earliest latest-start first, each where it starts first.

    M.-Y. Wu, D. D. Gajski, "Hypertool: a programming aid for message-passing systems", IEEE TPDS 1(3), 1990,
    doi:10.1109/71.80160, in the form of Y.-K. Kwok, I. Ahmad, "Static scheduling algorithms for allocating directed
    task graphs to multiprocessors", ACM Computing Surveys 31(4), 1999, doi:10.1145/344588.344618: ties go by the latest
    starts of the successors. For identical devices: it does not ask how long an operator takes where. O(e log v + e p).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("alap", "list", "start", insertion=True).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class Hlfet:
    """Highest level first with estimated times: longest path without transfers first, each where it starts first.

    T. L. Adam, K. M. Chandy, J. R. Dickson, "A comparison of list schedules for parallel processing systems", CACM
    17(12), 1974, doi:10.1145/361604.361619. Nothing goes into gaps. Where there are no delays it decides like
    ``critical_path``, which does so at run time. O(e p).
    """

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        return Recipe("level", "list", "start", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))
