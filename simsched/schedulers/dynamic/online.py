"""Online: plan, follow the plan, and plan the rest again when the run departs from it."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.errors import SchedulerError
from simsched.problem import Problem
from simsched.schedulers.base import Policy, Scheduler
from simsched.schedulers.dynamic.following import Following
from simsched.schedulers.dynamic.replan import Planner
from simsched.schedulers.registry import make_scheduler, scheduler_spec


@dataclass(frozen=True, slots=True)
class Online:
    """A planner that plans the rest again when operators end, or are still running, at other times than it expected.

    The idea of planning again only where it seems worth it is that of R. Sakellariou, H. Zhao, "A low-cost rescheduling
    policy for efficient mapping of workflows on grid systems", Scientific Programming 12(4), 2004,
    doi:10.1155/2004/930130, who look at spare time instead. Operators are dispatched as late as possible, since what
    has been dispatched stays where it is. What runs is expected to take its estimate, and if it is overdue to end at
    any moment. Of the old order and the new plan the one that is expected to end first is followed, of equal ones the
    old. Lateness is noticed when something ends: there is no clock that wakes a policy.

    Parameters
    ----------
    scheduler : str or Scheduler
        A planner, which has ``plan(problem)``: ``heft`` and all others of its kind, ``anytime``, ``optimal``.
    threshold : float
        How much earlier or later than planned an operator may end, as a fraction of its expected duration. 0: the rest
        is planned again whenever anything departs from the plan; ``inf``: never.
    pause : float
        Fraction of what has not been dispatched that has to end between two plans. So all plans of a run together cost
        about ``1 / pause`` times the first one at most; with 0 they may cost as many times the first as there are
        operators.
    ahead : int, optional
        How many operators may wait in a stream behind the one that runs, so that copies and launches come beforehand;
        by default 1 where there are links or launches take time, else 0.

    Raises
    ------
    SchedulerError, UnknownNameError
        If the scheduler cannot be made or does not plan, or a parameter is out of range.
    """

    scheduler: str | Scheduler = "heft"
    threshold: float = 0.1
    pause: float = 0.01
    ahead: int | None = None

    def __post_init__(self) -> None:
        if not self.threshold >= 0:
            raise SchedulerError(f"online: threshold must be a number of at least 0, got {self.threshold}")
        if not 0 <= self.pause <= 1:
            raise SchedulerError(f"online: pause must be a number from 0 to 1, got {self.pause}")
        if self.ahead is not None and self.ahead < 0:
            raise SchedulerError(f"online: ahead must be at least 0, got {self.ahead}")
        self._planner()

    def _planner(self) -> Planner:
        made = make_scheduler(self.scheduler) if isinstance(self.scheduler, str) else self.scheduler
        if not isinstance(made, Planner):
            raise SchedulerError(
                f"online: {scheduler_spec(made)} makes no plans; write a scheduler that has plan(problem), such as heft"
            )
        return made

    def start(self, problem: Problem) -> Policy:
        """Plan from the beginning, and return the policy that follows."""
        ahead = self.ahead
        if ahead is None:
            ahead = 1 if problem.hardware.links or problem.hardware.host.mode != "free" else 0
        return Following(problem, self._planner(), self.threshold, self.pause, ahead)
