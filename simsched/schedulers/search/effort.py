"""Effort: how much a search may still do, and the best that it has found."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

from simsched.schedulers.proof import Searched, listener


class SpentError(Exception):
    """The search ends: its budget is spent, or nothing better is possible. Never leaves the package."""


class Member(NamedTuple):
    """One generated schedule, in units of time.

    Attributes
    ----------
    makespan : int
    order : list of int
        Operators in time, as the next pass takes them: by start where that goes forward, by end where backward.
    start, end : list of int
        By operator.
    where : list of int
        Device of each operator; empty where there is one device.
    forward : bool
        Whether it was made by a forward pass; a backward one may leave idle time that could be saved.
    """

    makespan: int
    order: list[int]
    start: list[int]
    end: list[int]
    where: list[int]
    forward: bool


class Effort:
    """Counts generated schedules and remembers the best.

    Parameters
    ----------
    schedules : int
        Passes that may be made, forward and backward ones alike.
    seconds : float or None
        Wall time after which no more passes begin.
    bound : int
        ns; nothing shorter exists, so the search ends where it is reached.
    scale : int
        Units of time in a ns.

    Attributes
    ----------
    used : int
        Passes made.
    best : Member or None
    history : list of (int, int)
        Passes made and makespan in ns, at each improvement.
    """

    def __init__(self, schedules: int, seconds: float | None, bound: int, scale: int) -> None:
        self._limit = schedules
        self._deadline = None if seconds is None else monotonic() + seconds
        self._bound = bound
        self._scale = scale
        self._heard = listener()
        self.used = 0
        self.best: Member | None = None
        self.history: list[tuple[int, int]] = []

    def allow_one_more(self) -> None:
        """Let one more pass be made, whatever has been spent and reached."""
        self._limit, self._deadline, self._bound = self.used + 1, None, -1

    def end(self) -> None:
        """Tell whoever listens that the search is over."""
        if self._heard is not None:
            self._heard(None)

    def spend(self) -> None:
        """Pay for one pass; raises :class:`SpentError` where the budget does not allow it."""
        if self.used >= self._limit:
            raise SpentError
        if self._deadline is not None and self.used and monotonic() >= self._deadline:
            raise SpentError
        self.used += 1

    def note(self, member: Member) -> Member:
        """Remember a schedule if it is the best so far; raises :class:`SpentError` where none can be better."""
        if self.best is None or member.makespan < self.best.makespan:
            self.best = member
            # Operators of no duration take units too, all of them together less than a ns.
            makespan = member.makespan // self._scale
            self.history.append((self.used, makespan))
            if self._heard is not None and self._bound >= 0:
                self._heard(Searched(makespan, self._bound))
            if makespan <= self._bound:
                raise SpentError
        return member
