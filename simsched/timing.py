"""The proxy around a scheduler in a run: it adds up the scheduler's own time, and names it when it crashes.

Time is by the wall clock, and is kept apart from everything that is compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TypeVar

from simsched.errors import SchedulerError, SimschedError
from simsched.problem import Problem
from simsched.schedulers.base import Policy, Scheduler, View
from simsched.schedulers.proof import Proof, proof_of

Row = tuple[int, int, str]
Answer = TypeVar("Answer")


class Timed:
    """A scheduler that behaves like another one and adds up the seconds spent in it.

    Parameters
    ----------
    scheduler : Scheduler
    name : str
        What errors call it.

    Attributes
    ----------
    seconds : float
        Wall time in ``start`` and in the policy so far.
    """

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self.scheduler = scheduler
        self.name = name
        self.seconds = 0.0
        self._policy: object = None

    @property
    def proved(self) -> Proof | None:
        """What the scheduler has proved in this run."""
        return proof_of(self._policy)

    def start(self, problem: Problem) -> Policy:
        """Start the other scheduler, and time its policy too."""
        policy: object = self._timed(lambda: self.scheduler.start(problem), "start(problem)")
        if not callable(policy):
            kind = type(policy).__name__
            raise SchedulerError(f"scheduler {self.name!r}: start(problem) returned {kind}; expected a policy to call")

        self._policy = policy

        def decide(view: View) -> Iterable[Row]:
            begin = perf_counter()
            try:
                answer = policy(view)
            except SimschedError:
                raise
            except Exception as error:
                raise self._crash(f"its policy at {view.now} ns", error) from error
            self.seconds += perf_counter() - begin
            # A policy may be a generator: it works while the engine takes its dispatches one by one.
            return answer if isinstance(answer, (list, tuple)) else self._one_by_one(answer, view.now)

        return decide

    def _one_by_one(self, answer: Iterable[Row], now: int) -> Iterator[Row]:
        place = f"its policy at {now} ns"
        rows = self._timed(lambda: iter(answer), place)
        while True:
            row = self._timed(lambda: next(rows, None), place)
            if row is None:
                return
            yield row

    def _timed(self, action: Callable[[], Answer], place: str) -> Answer:
        begin = perf_counter()
        try:
            return action()
        except SimschedError:
            raise
        except Exception as error:
            raise self._crash(place, error) from error
        finally:
            self.seconds += perf_counter() - begin

    def _crash(self, place: str, error: Exception) -> SchedulerError:
        return SchedulerError(f"scheduler {self.name!r} crashed in {place}: {type(error).__name__}: {error}")
