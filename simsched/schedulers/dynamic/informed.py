"""Informed: any scheduler, with better or worse estimates than the problem has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from simsched.errors import SchedulerError
from simsched.problem import Problem
from simsched.schedulers.base import Policy, Scheduler, View
from simsched.schedulers.dynamic.estimates import Columns, exact, parse_info, with_durations
from simsched.schedulers.registry import make_scheduler


@dataclass(frozen=True, slots=True)
class Informed:
    """Another scheduler that sees other estimates: means, nothing, noisy ones, or a table; the run takes the truth.

    J. Beránek, S. Böhm, V. Cima, "Analysis of workflow schedulers in simulated distributed environments", Journal of
    Supercomputing 78, 2022, doi:10.1007/s11227-022-04438-y. Only estimated durations are changed, before time 0 and in
    all that the scheduler sees at run time. Sizes of tensors, demands, and what has ended are as they are.

    Parameters
    ----------
    scheduler : str or Scheduler
        A spec, such as ``critical_path`` or ``heft(insertion=false)``.
    info : str or callable
        ``exact``; ``mean``: every operator takes the mean of its type; ``blind``: all take equally long; ``noisy`` or
        ``noisy(0.3)``: lognormal factors; or the path of a table of durations. In Python also a function
        ``info(problem, seed)`` that returns ns by device and operator.
    seed : int, optional
        For ``noisy``; without one, the problem's own.

    Raises
    ------
    SchedulerError, UnknownNameError
        If the scheduler cannot be made, or there is no such mode.
    """

    scheduler: str | Scheduler = "heft"
    info: str | Callable[[Problem, int], Columns] = "mean"
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None and self.seed < 0:
            raise SchedulerError(f"informed: seed must be at least 0, got {self.seed}")
        if isinstance(self.info, str):
            parse_info(self.info)
        self._made()

    def _made(self) -> Scheduler:
        return make_scheduler(self.scheduler) if isinstance(self.scheduler, str) else self.scheduler

    def sees(self, problem: Problem) -> Problem:
        """Return the problem that the scheduler is given.

        Raises
        ------
        ConfigError, SchedulerError
            If a table cannot be read, or a function returns what are no durations.
        """
        info = parse_info(self.info) if isinstance(self.info, str) else self.info
        if info is exact:
            return problem
        return with_durations(problem, info(problem, problem.seed if self.seed is None else self.seed))

    def start(self, problem: Problem) -> Policy:
        """Start the scheduler on what it sees."""
        seen = self.sees(problem)
        policy = self._made().start(seen)
        if seen is problem:
            return policy

        def blinkered(view: View) -> Iterable[tuple[int, int, str]]:
            return policy(cast("View", _Seen(view, seen)))

        return blinkered


class _Seen:
    """A view whose problem is the one with the other estimates."""

    __slots__ = ("_view", "problem")

    def __init__(self, view: View, problem: Problem) -> None:
        self._view = view
        self.problem = problem

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)
