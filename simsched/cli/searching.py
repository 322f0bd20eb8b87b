"""How far a long search is: lines on stderr, from its first second on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from simsched.cli import console
from simsched.schedulers.proof import listening
from simsched.units import format_duration

if TYPE_CHECKING:
    from simsched.problem import Problem
    from simsched.schedulers.proof import Searched

PERIOD = 1.0
"""Seconds between two looks at a search."""


@contextmanager
def search_shown(problem: Problem) -> Iterator[None]:
    """Show how far searches in the block are: at every second in which they got further, else ever more rarely."""
    teller = _Teller(problem)
    try:
        with listening(teller.hear):
            yield
    finally:
        teller.hear(None)


class _Teller:
    """Hears of a search and tells of it from a thread of its own: a solver may say nothing for a long time."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._latest: Searched | None = None
        self._over: threading.Event | None = None

    def hear(self, searched: Searched | None) -> None:
        """Take note; the thread begins with the first word of a search and ends with its last, which is None."""
        self._latest = searched
        if searched is None:
            if self._over is not None:
                self._over.set()
            self._over = None
        elif self._over is None:
            self._over = threading.Event()
            threading.Thread(target=self._tell, args=(self._over,), daemon=True).start()

    def _tell(self, over: threading.Event) -> None:
        began, told, last = monotonic(), None, 0.0
        while not over.wait(PERIOD):
            latest, seconds = self._latest, monotonic() - began
            if latest is not None and (latest != told or seconds >= 2 * last):
                told, last = latest, seconds
                console.warn(self._words(latest, seconds))

    def _words(self, searched: Searched, seconds: float) -> str:
        graph = self._problem.graph
        bound = format_duration(searched.bound, graph.time_unit)
        found = "nothing found yet"
        if searched.best is not None:
            found = f"{format_duration(searched.best, graph.time_unit)} found"
        return f"{graph.name}: {found}, at least {bound}, after {seconds:.0f} s (Ctrl-C takes the best so far)"
