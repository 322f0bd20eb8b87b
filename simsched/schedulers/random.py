"""Random priorities: the yardstick that any idea must beat."""

from __future__ import annotations

import random
from dataclasses import dataclass

from simsched.errors import SchedulerError
from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.listing import list_policy


@dataclass(frozen=True, slots=True)
class Random:
    """List scheduling with priorities drawn from a seed.

    Parameters
    ----------
    seed : int, optional
        Without one, the problem's own seed.
    """

    seed: int | None = None

    def __post_init__(self) -> None:
        # Python's generator takes -1 for 1: two seeds that look different would draw the same.
        if self.seed is not None and self.seed < 0:
            raise SchedulerError(f"random: seed must be at least 0, got {self.seed}")

    def start(self, problem: Problem) -> Policy:
        """Draw a priority for each operator."""
        source = random.Random(problem.seed if self.seed is None else self.seed)
        return list_policy(problem, [source.random() for _ in range(len(problem.graph))])
