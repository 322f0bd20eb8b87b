"""Ctrl-C while the solver works: the search ends, and what it has found so far is kept.

The solver works in a thread of its own, for Python hears of signals between two of its own steps only. OR-tools 9.15
dies when it is stopped while it still simplifies the model, so a stop waits for its first solution, which the starting
plan gives it right away.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver, CpSolverStatus

TICK = 0.05
"""Seconds between two looks whether the solver has ended."""


def solve_interruptibly(solver: CpSolver, model: CpModel, told: Callable[[float], None]) -> CpSolverStatus:
    """Solve a model; the first interruption ends the search, a second one everything.

    Parameters
    ----------
    solver : CpSolver
    model : CpModel
    told : callable
        Called with the objective of each better solution, from another thread.
    """
    from ortools.sat.python import cp_model

    asked, begun, over = threading.Event(), threading.Event(), threading.Event()
    found: list[CpSolverStatus | BaseException] = []

    class Telling(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            begun.set()
            told(self.objective_value)
            if asked.is_set():
                self.stop_search()

    def work() -> None:
        try:
            found.append(solver.solve(model, Telling()))
        except BaseException as error:  # raised again where the caller waits
            found.append(error)
        finally:
            over.set()

    solver.parameters.catch_sigint_signal = False
    threading.Thread(target=work, daemon=True).start()
    while not over.is_set():
        try:
            over.wait(TICK)  # not join(): after an interruption it takes a thread that runs for one that has ended
        except KeyboardInterrupt:
            if asked.is_set():
                raise
            asked.set()
            if begun.is_set():
                solver.stop_search()
    outcome = found[0]
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
