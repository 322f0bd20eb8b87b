"""Search for small instances on which one scheduler loses most to another, by simulated annealing.

The idea, to compare schedulers by the worst instance of each pair and to look for it by annealing, is that of PISA
(J. Coleman, B. Krishnamachari, "Comparing Task Graph Scheduling Algorithms: An Adversarial Approach", 2024,
arXiv:2403.07120). Annealing itself: S. Kirkpatrick, C. Gelatt, M. Vecchi, Science 220 (1983), doi:10.1126/science.220.4598.671.
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.schedulers.base import Scheduler
from simsched.study.instance import Instance, Space
from simsched.study.moves import moved, random_instance
from simsched.study.shrink import Step, simplifications

HOT, COLD = 0.3, 0.005
"""First and last temperature; what is cooled is the logarithm of the ratio."""
RESTARTS = 5
SHAKEN = 10
"""Changes made to a given instance before a restart, of which the first has none."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An instance with the makespans of both schedulers, in ns (ticks)."""

    instance: Instance
    loser: int
    winner: int

    @property
    def ratio(self) -> float:
        """How many times as long the loser takes."""
        return self.loser / self.winner

    def beats(self, other: Scored | None) -> bool:
        """Whether its ratio is larger, to the last digit."""
        return other is None or self.loser * other.winner > other.loser * self.winner

    def matches(self, other: Scored) -> bool:
        """Whether its ratio is at least as large."""
        return not other.beats(self)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found.

    Attributes
    ----------
    best : Scored or None
        None where not a single instance could be run under both.
    first : float
        Ratio on the first instance, 0 where it could not be run.
    tried, failed : int
        Instances that were simulated, and those of them that one of the schedulers could not carry out.
    history : tuple of (int, float)
        Number of the instance and its ratio, whenever a larger one was found.
    interrupted : bool
    """

    best: Scored | None
    first: float
    tried: int
    failed: int
    history: tuple[tuple[int, float], ...]
    interrupted: bool = False


Listener = Callable[[int, float], None]
"""Called before each instance, with the number of those tried and the largest ratio so far, 0 while there is none."""


def duel(
    loser: Scheduler,
    winner: Scheduler,
    space: Space,
    *,
    seed: int = 0,
    steps: int = 1000,
    heard: Listener | None = None,
) -> Found:
    """Search for an instance on which ``loser`` takes as many times as long as ``winner`` as possible.

    Parameters
    ----------
    loser, winner : Scheduler
    space : Space
    seed : int
    steps : int
        Instances to try, in :data:`RESTARTS` annealings one after the other. Leaving out what does not matter tries as
        many again, at most.
    heard : callable, optional

    Returns
    -------
    Found
        The same for the same seed, where the schedulers are deterministic. A KeyboardInterrupt ends the search and
        keeps what it has found.
    """
    search = _Search(loser, winner, space, Random(seed), heard)
    interrupted = False
    try:
        search.anneal(steps)
        search.tidy(steps)
    except KeyboardInterrupt:
        interrupted = True
    best = search.best
    if best is not None and space.start is None:
        names = tuple(f"v{number}" for number in range(len(best.instance)))
        best = replace(best, instance=replace(best.instance, names=names))
    return Found(best, search.first, search.tried, search.failed, tuple(search.history), interrupted)


class _Search:
    """The state of a search, which outlives an interruption."""

    def __init__(self, loser: Scheduler, winner: Scheduler, space: Space, rng: Random, heard: Listener | None) -> None:
        self.schedulers = loser, winner
        self.space, self.rng, self.heard = space, rng, heard
        self.best: Scored | None = None
        self.first = 0.0
        self.tried = self.failed = 0
        self.history: list[tuple[int, float]] = []

    def score(self, instance: Instance) -> Scored | None:
        """Simulate both schedulers; None where one of them cannot carry out its run."""
        if self.heard is not None:
            self.heard(self.tried, 0.0 if self.best is None else self.best.ratio)
        self.tried += 1
        problem = self.space.problem(instance)
        try:
            loser, winner = (simulate(problem, scheduler).makespan for scheduler in self.schedulers)
        except SchedulerError:
            self.failed += 1
            return None
        found = Scored(instance, loser, winner)
        if self.tried == 1:
            self.first = found.ratio
        if found.beats(self.best):
            self.best = found
            self.history.append((self.tried, found.ratio))
        return found

    def anneal(self, steps: int) -> None:
        """Cool several times, each time from another instance."""
        done = 0
        for restart in range(min(RESTARTS, steps)):
            until = steps * (restart + 1) // min(RESTARTS, steps)
            self._cool(self._begin(restart), until - done)
            done = until

    def _begin(self, restart: int) -> Instance:
        if self.space.start is None:
            return random_instance(self.space, self.rng)
        instance = self.space.start
        for _ in range(SHAKEN if restart else 0):
            instance = moved(self.space, instance, self.rng)
        return instance

    def _cool(self, instance: Instance, steps: int) -> None:
        current = self.score(instance)
        for step in range(1, steps):
            temperature = HOT * (COLD / HOT) ** (step / steps)
            # Before anything could be run, the walk goes on from wherever it is.
            there = moved(self.space, instance, self.rng)
            found = self.score(there) if there != instance else None
            chance = self.rng.random()
            if current is None or (found is not None and self._takes(current, found, temperature, chance)):
                instance, current = there, found

    @staticmethod
    def _takes(current: Scored, found: Scored, temperature: float, chance: float) -> bool:
        return found.matches(current) or chance < math.exp(math.log(found.ratio / current.ratio) / temperature)

    def tidy(self, most: int) -> None:
        """Leave out of the best instance what its ratio does not need, where anything is lost on it."""
        if self.best is None or self.best.loser <= self.best.winner:
            return
        limit, before = self.tried + most, None
        while self.best is not before:
            before = self.best
            for step in simplifications(self.space):
                while self._simpler(step, limit):
                    pass

    def _simpler(self, step: Step, limit: int) -> bool:
        """Take the first instance that is simpler and no worse; return whether there is any."""
        if self.best is None:
            return False
        for instance in step(self.best.instance):
            if self.tried >= limit:
                return False
            found = self.score(instance)
            if found is not None and (found is self.best or found.matches(self.best)):
                self.best = found
                return True
        return False
