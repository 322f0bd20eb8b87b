"""Optimal: the shortest plan, with a proof, by constraint programming."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from simsched.errors import SchedulerError
from simsched.exact.answer import Answer, Limits, need_solver, solve
from simsched.problem import MemoryMode, Problem
from simsched.schedulers.base import Policy, View
from simsched.schedulers.planning.compose import carry_out, paced_policy
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.proof import Proof


@dataclass(frozen=True, slots=True)
class Optimal:
    """The shortest plan that there is, proved by a solver (OR-tools CP-SAT), or the best one within a time limit.

    The plan holds for streams, precedence, renewable resources, delays between devices and, in runs that limit it, the
    memory of a single device. Sharing of bandwidth, the host and queues that hold back are left out of it, and so is
    memory on several devices; see :mod:`simsched.exact.model`. What it proves is a lower bound of every run all the
    same.

    Parameters
    ----------
    time : float
        Seconds that the solver may take.
    workers : int
        Threads of the solver.
    seed : int
        Of the solver.
    work : float
        If positive, a limit of the solver's own count of its work, instead of one of time: the same plan and proof on
        any machine. A unit is about a second on a fast core.

    Raises
    ------
    SchedulerError
        If a parameter is out of range.
    """

    time: float = 10.0
    workers: int = 2
    seed: int = 0
    work: float = 0.0

    def __post_init__(self) -> None:
        for name, wrong, expected in (
            ("time", not 0 < self.time < math.inf, "a positive number of seconds"),
            ("workers", self.workers < 1, "at least 1"),
            ("seed", not 0 <= self.seed < 2**31, "a whole number from 0 to 2147483647"),
            ("work", not 0 <= self.work < math.inf, "0, or a positive amount of work"),
        ):
            if wrong:
                raise SchedulerError(f"optimal: {name} must be {expected}, got {getattr(self, name)}")

    def start(self, problem: Problem) -> Policy:
        """Return a policy that plans when it is first asked: only then is it known whether memory is limited.

        Raises
        ------
        MissingExtraError
            If OR-tools is not installed.
        """
        need_solver()
        return Planning(self, problem)

    def solve(self, problem: Problem, memory: MemoryMode = "unbounded") -> Answer:
        """Return the plan and what was proved; see :func:`simsched.exact.answer.solve`."""
        need_solver()
        time, work = (math.inf, self.work) if self.work else (self.time, math.inf)
        return solve(problem, Limits(time, work, self.workers, self.seed), memory)

    def plan(self, problem: Problem, memory: MemoryMode = "unbounded") -> Plan:
        """Return the plan alone."""
        return self.solve(problem, memory).plan


class Planning:
    """A policy that plans at its first call and follows the plan.

    Parameters
    ----------
    scheduler : Optimal
    problem : Problem

    Attributes
    ----------
    proved : Proof or None
        None before the first call.
    """

    def __init__(self, scheduler: Optimal, problem: Problem) -> None:
        self.proved: Proof | None = None
        self._scheduler = scheduler
        self._problem = problem
        self._policy: Policy | None = None

    def __call__(self, view: View) -> Iterable[tuple[int, int, str]]:
        """Dispatch what is due."""
        if self._policy is None:
            self._policy = self._planned(view)
        return self._policy(view)

    def _planned(self, view: View) -> Policy:
        problem = self._problem
        limited = any(view.free_bytes(device) is not None for device in range(len(problem.devices)))
        answer = self._scheduler.solve(problem, "block" if limited else "unbounded")
        self.proved = answer.proof
        # What would not fit in time has to be held back, or it takes the bytes of one that matters more.
        return paced_policy(answer.plan) if limited else carry_out(problem, answer.plan)
