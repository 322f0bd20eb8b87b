"""Hu's level algorithm and Coffman and Graham's labels: optimal on some graphs of operators that take equally long.

Both run on any problem. Where their theorem holds, the result is optimal; elsewhere they are heuristics like others.
``doubts(problem)`` says why it does not hold, and ``strict=true`` makes that an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from simsched.errors import SchedulerError
from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.compose import Recipe, carry_out
from simsched.schedulers.planning.partial import is_pool
from simsched.schedulers.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Hu:
    """Hu's level algorithm: highest level first; optimal for equal operators that form an in-tree or an out-tree.

    T. C. Hu, "Parallel sequencing and assembly line problems", Operations Research 9(6), 1961,
    doi:10.1287/opre.9.6.841: optimal on any number of identical lanes where all operators take equally long and each
    has at most one successor (an in-forest); likewise where each has at most one predecessor (an out-forest; E. Davida,
    D. J. Linton, "A new algorithm for the scheduling of tree structured tasks", CISS 1976). Without delays, demands or
    limits of memory. O(v log v).

    Parameters
    ----------
    strict : bool
        Whether it is an error if the result may not be optimal.
    """

    strict: bool = False

    def doubts(self, problem: Problem) -> list[str]:
        """Why the result may not be optimal; empty where it is."""
        graph, found = problem.graph, _doubts_of_equal_tasks(problem)
        if any(len(succ) > 1 for succ in graph.succ) and any(len(pred) > 1 for pred in graph.pred):
            found.append("the graph is neither an in-forest nor an out-forest")
        return found

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        if self.strict:
            _refuse("hu", self.doubts(problem))
        return Recipe("level", "lowest", "start", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


@dataclass(frozen=True, slots=True)
class CoffmanGraham:
    """Coffman and Graham's labels: optimal for equal operators on two lanes, whatever the graph.

    E. G. Coffman, R. L. Graham, "Optimal scheduling for two-processor systems", Acta Informatica 1, 1972,
    doi:10.1007/BF00288685. On m lanes at most ``2 - 2/m`` times the optimum (S. Lam, R. Sethi, "Worst case analysis of
    two scheduling algorithms", SIAM J. Comput. 6, 1977, doi:10.1137/0206037). Without delays, demands or limits of
    memory. O(v e / 64) for the arcs that others make redundant, O(e log v) for the rest.

    Parameters
    ----------
    strict : bool
        Whether it is an error if the result may not be optimal.
    """

    strict: bool = False

    def doubts(self, problem: Problem) -> list[str]:
        """Why the result may not be optimal; empty where it is."""
        found, lanes = _doubts_of_equal_tasks(problem), len(problem.stream_device)
        if lanes > 2:
            found.append(f"there are {lanes} lanes, not two")
        return found

    def plan(self, problem: Problem, begun: Begun = NOTHING) -> Plan:
        """Place every operator that has not begun, by the estimates of a problem."""
        if self.strict:
            _refuse("coffman_graham", self.doubts(problem))
        return Recipe("label", "lowest", "start", insertion=False).plan(problem, begun)

    def start(self, problem: Problem) -> Policy:
        """Plan, and return the policy that does what was planned."""
        return carry_out(problem, self.plan(problem))


def _doubts_of_equal_tasks(problem: Problem) -> list[str]:
    devices = range(len(problem.devices))
    found = []
    if len({duration for device in devices for duration in problem.durations(device)}) > 1:
        found.append("not all operators take equally long")
    if len(problem.devices) > 1:
        # Even without delays: several devices are identical lanes only if anything may run anywhere at no cost.
        if any(len(problem.allowed_devices(op)) < len(devices) for op in problem.allowed):
            found.append("not every operator may run on every device")
        if problem.hardware.links or any(problem.graph.delays.values()):
            found.append("transfers between devices take time")
    if any(is_pool(problem, device) for device in devices):
        found.append("operators hold units of a device")
    if any(problem.draws(device, problem.durations(device)) for device in devices):
        found.append("operators share a device's bandwidth")
    if any(device.max_resident_kernels is not None for device in problem.devices):
        found.append("a device limits how many operators run at a time")
    if problem.hardware.host.mode != "free":
        found.append("launches take time")
    return found


def _refuse(name: str, doubts: list[str]) -> None:
    if doubts:
        raise SchedulerError(f"{name}(strict=true): the result may not be optimal: {'; '.join(doubts)}")
