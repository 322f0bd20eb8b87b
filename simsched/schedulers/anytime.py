"""Anytime: search for a short plan without a solver, as long as one likes."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import NamedTuple

from simsched.errors import SchedulerError
from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.search.bound import lower_bound
from simsched.schedulers.search.effort import Effort, Member, SpentError
from simsched.schedulers.search.genetic import breed
from simsched.schedulers.search.one_device import OneDevice
from simsched.schedulers.search.plans import Followed, follow_member
from simsched.schedulers.search.several import Several
from simsched.schedulers.search.starts import on_one, on_several
from simsched.schedulers.search.world import World


class Found(NamedTuple):
    """What a search has found.

    Attributes
    ----------
    followed : Followed
        The plan and how to follow it.
    bound : int
        ns; no plan is shorter.
    schedules : int
        Schedules that were generated.
    history : list of (int, int)
        Schedules generated and makespan in ns, at each improvement.
    """

    followed: Followed
    bound: int
    schedules: int
    history: list[tuple[int, int]]

    @property
    def plan(self) -> Plan:
        """The shortest plan that was found."""
        return self.followed.plan


@dataclass(frozen=True, slots=True)
class Anytime:
    """The shortest plan that a genetic search with forward-backward improvement finds; no solver is needed.

    Every pass of schedule generation, forward or backward, counts as one schedule. The search ends early where a plan
    meets a lower bound. For a seed it does the same on any machine, unless ``seconds`` end it.

    Streams, precedence, units of resources, delays between devices and the differences between devices are planned
    for. What the plan leaves out: shared bandwidth and links, launches by the host, events between streams, memory.

    Parameters
    ----------
    schedules : int
        How many schedules to generate.
    seed : int
    seconds : float, optional
        Wall time after which the search ends, if it has not ended before. Then runs may differ.

    Raises
    ------
    SchedulerError
        If a parameter is out of range.
    """

    schedules: int = 1000
    seed: int = 0
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.schedules < 1:
            raise SchedulerError(f"anytime: schedules must be at least 1, got {self.schedules}")
        if self.seed < 0:
            raise SchedulerError(f"anytime: seed must be at least 0, got {self.seed}")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise SchedulerError(f"anytime: seconds must be a positive number, got {self.seconds}")

    def start(self, problem: Problem) -> Policy:
        """Search, and return a policy that follows what was found."""
        return self.search(problem).followed.policy()

    def plan(self, problem: Problem) -> Plan:
        """Return the shortest plan that was found."""
        return self.search(problem).plan

    def search(self, problem: Problem) -> Found:
        """Return the shortest plan, how to follow it, and how it was found."""
        world = World(problem)
        bound = lower_bound(world)
        # One schedule is kept for the last pass, which saves the idle time that a backward one may leave.
        effort = Effort(max(1, self.schedules - 1), self.seconds, bound, world.scale)
        decoder = (OneDevice if world.devices == 1 else Several)(world, effort)
        with contextlib.suppress(SpentError):
            _search(decoder, Random(self.seed), population(self.schedules, world.devices))
        best = effort.best
        if best is not None and not best.forward:
            effort.allow_one_more()
            best = decoder.forward(best.order, best.where)
        effort.end()
        followed = follow_member(world, best or Member(0, [], [], [], [], True))
        return Found(followed, bound, effort.used, effort.history)


def population(schedules: int, devices: int) -> int:
    """Members of a population: more where there is more to spend, fewer where places are to be found too."""
    return max(8, int((1.6 if devices == 1 else 0.64) * math.sqrt(schedules)))


def _search(decoder: OneDevice | Several, rng: Random, size: int) -> None:
    """Search until the decoder's budget ends it."""
    world = decoder.world
    if not world.count:
        return
    first = on_one(world, decoder, rng) if isinstance(decoder, OneDevice) else on_several(world, decoder, rng)
    breed(world, decoder, list(islice(first, size + size // 2)), size, rng)
