"""The clock: SimPy's environment, and the events of a run, which are scheduled again and again instead of made anew."""

from __future__ import annotations

from heapq import heappush
from typing import cast

import simpy
from simpy.events import NORMAL

__all__ = ["NORMAL", "Arrival", "Body", "Clock", "End", "Event", "Launched", "Tick"]

Event = simpy.Event


class Clock(simpy.Environment):
    """SimPy's environment, with its agenda in reach of the engine's own loop."""

    def __init__(self) -> None:
        super().__init__()
        # Times are whole ns here, though SimPy's own type allows floats.
        self.agenda = cast("list[tuple[int, int, int, Event]]", self._queue)
        self.numbers = self._eid

    def at(self, time: int, event: Event) -> None:
        """Put an event on the agenda; one may be there several times."""
        heappush(self.agenda, (time, NORMAL, next(self.numbers), event))

    def process(self, event: Event, now: int) -> None:  # type: ignore[override]
        """Do what ``step()`` does for an event that is not the engine's."""
        self._now = now
        callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
        for callback in callbacks or ():
            callback(event)


class _Numbered(Event):
    """An event that has happened whenever it is met, and says to what."""

    __slots__ = ("number",)

    def __init__(self, clock: Clock, number: int) -> None:
        super().__init__(clock)
        self.number = number
        self._ok = True
        self._value = None


class End(_Numbered):
    """The running operator of stream ``number`` ends."""

    __slots__ = ()


class Arrival(_Numbered):
    """The inputs of the head of stream ``number`` are there."""

    __slots__ = ()


class Launched(_Numbered):
    """The launch of operator ``number`` has come through the host."""

    __slots__ = ()


class Body(_Numbered):
    """The launch gap of the operator that runs in stream ``number`` is over."""

    __slots__ = ()


class Tick(_Numbered):
    """Something that is shared has its next completion: device ``number``, or the links where it is -1.

    Attributes
    ----------
    due : int
        When; a tick that is met at another time has been overtaken.
    """

    __slots__ = ("due",)

    def __init__(self, clock: Clock, number: int) -> None:
        super().__init__(clock, number)
        self.due = -1
