"""Work stealing: every stream has a deque of its own, works from one end, and others steal from the other."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simsched.errors import SchedulerError, UnknownNameError
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, StreamId, View
from simsched.schedulers.budget import Budget, prepare_demands

VICTIMS = ("random", "round_robin", "near")


@dataclass(frozen=True, slots=True)
class WorkStealing:
    """Each stream works on what its own operators made ready, newest first; an idle one steals the oldest of others.

    R. D. Blumofe, C. E. Leiserson, "Scheduling multithreaded computations by work stealing", Journal of the ACM 46(5),
    1999, doi:10.1145/324133.324234: with equal streams and a fully strict computation, T1/P + O(T_inf) expected. No
    estimate is looked at. The operators that are ready at time 0 belong to the first stream, as if one of its own had
    made them ready. What does not fit or may not run on a device is passed over. A theft takes no time, but data that
    are elsewhere have to come.

    Parameters
    ----------
    victim : {"random", "round_robin", "near"}
        From whom to steal: anyone; one after the other, going on after the last; or the streams of one's own device
        first, where the data are (the aim of U. A. Acar, G. E. Blelloch, R. D. Blumofe, "The data locality of work
        stealing", SPAA 2000, doi:10.1145/341800.341801), at random within both groups.
    seed : int, optional
        For the choice at random; without one, the problem's own.

    Raises
    ------
    SchedulerError, UnknownNameError
        If a parameter is out of range.
    """

    victim: str = "random"
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.victim not in VICTIMS:
            raise UnknownNameError("victim of work_stealing", self.victim, VICTIMS)
        if self.seed is not None and self.seed < 0:
            raise SchedulerError(f"work_stealing: seed must be at least 0, got {self.seed}")

    def start(self, problem: Problem) -> Policy:
        """Return a policy with empty deques."""
        return _Stealing(problem, self.victim, random.Random(problem.seed if self.seed is None else self.seed))


class _Stealing:
    """The deques of one run: the newest operator of each is last."""

    def __init__(self, problem: Problem, victim: str, rng: random.Random) -> None:
        self._problem = problem
        self._victim = victim
        self._rng = rng
        self._demands = prepare_demands(problem)
        self._deques: list[deque[OpId]] = [deque() for _ in problem.stream_device]
        self._stream = [0] * len(problem.graph)
        self._waiting = 0
        self._last = list(range(len(self._deques)))

    def __call__(self, view: View) -> Iterable[Dispatch]:
        """Take in what became ready, let idle streams work on what is theirs, and then steal."""
        self._take_in(view)
        if not self._waiting or not view.idle_streams:
            return []
        budget = Budget(view, self._demands)
        chosen: list[Dispatch] = []
        thieves = []
        for stream in view.idle_streams:
            op = self._take(budget, stream, stream)
            if op < 0:
                thieves.append(stream)
            else:
                chosen.append(Dispatch(op, stream, "the newest of its stream" if view.explaining else ""))
        chosen += self._thefts(view, budget, thieves)
        for op, stream, _ in chosen:
            self._stream[op] = stream
        return chosen

    def _thefts(self, view: View, budget: Budget, thieves: Sequence[StreamId]) -> Iterable[Dispatch]:
        """Let streams that have nothing of their own steal, one after the other."""
        in_vain: list[int] = []
        for stream in thieves:
            device = self._problem.stream_device[stream]
            # Where one stream of a device finds nothing that it could run, the others find nothing either.
            if not self._waiting or device in in_vain:
                continue
            for victim in self._victims(stream):
                op = self._take(budget, stream, victim)
                if op >= 0:
                    self._last[stream] = victim
                    name = self._problem.stream_names[victim]
                    yield Dispatch(op, stream, f"stolen from {name}, its oldest" if view.explaining else "")
                    break
            else:
                in_vain.append(device)

    def _take_in(self, view: View) -> None:
        """Give what became ready to the stream of its predecessor that ended now; of several, the first."""
        owner: dict[OpId, StreamId] = {}
        for source in view.newly_finished:
            for op in self._problem.graph.succ[source]:
                owner.setdefault(op, self._stream[source])
        # The first in the graph's order is the newest, so that a stream goes on in that order.
        for op in reversed(view.newly_ready):
            self._deques[owner.get(op, 0)].append(op)
            self._waiting += 1

    def _take(self, budget: Budget, stream: StreamId, victim: StreamId) -> OpId:
        """Take the newest of one's own, or the oldest of a victim's, of those that could start now; -1 for none."""
        device, there = self._problem.stream_device[stream], self._deques[victim]
        order = range(len(there) - 1, -1, -1) if stream == victim else range(len(there))
        for number in order:
            op = there[number]
            if device in self._problem.allowed_devices(op) and budget.fits(op, device):
                del there[number]
                self._waiting -= 1
                # The budget counts streams by device; which of them it gives does not matter.
                budget.take(op, device)
                return op
        return -1

    def _victims(self, stream: StreamId) -> Sequence[StreamId]:
        """All other streams, in the order in which the thief asks them; those that have nothing are left out."""
        others = [other for other, there in enumerate(self._deques) if there and other != stream]
        if self._victim == "round_robin":
            last = self._last[stream]
            return sorted(others, key=lambda other: (other <= last, other))
        # Only ``random()`` is promised to repeat across versions of Python.
        drawn = {other: self._rng.random() for other in others}
        device, own = self._problem.stream_device, self._problem.stream_device[stream]
        near = self._victim == "near"
        return sorted(others, key=lambda other: (near and device[other] != own, drawn[other]))
