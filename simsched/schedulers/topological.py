"""Strict topological order: no operator starts before an earlier one has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.budget import Budget, prepare_demands


@dataclass(frozen=True, slots=True)
class Topological:
    """The graph's own order, as many at a time as fit, stopping at the first that is not ready or does not fit.

    This is what an executor does that walks its program in order and issues to whatever is free, without looking
    ahead. On several devices an operator goes where it would end first.
    """

    def start(self, problem: Problem) -> Policy:
        """Return a policy that walks the order once."""
        return _InOrder(problem)


class _InOrder:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._done = bytearray(len(problem.graph))
        self._next = 0
        self._on_its_way: OpId | None = None
        self._demands = prepare_demands(problem)

    def __call__(self, view: View) -> Iterable[Dispatch]:
        done, pred = self._done, self._problem.graph.pred
        for op in view.newly_finished:
            done[op] = 1
        if self._waits_for_inputs(view):
            return []
        budget = Budget(view, self._demands)
        chosen: list[Dispatch] = []
        while self._next < len(done) and budget.streams_left and self._on_its_way is None:
            op = self._next
            if not all(done[source] for source in pred[op]):
                break
            device = budget.best_device(op)
            if device is None:
                break
            reason = f"number {op + 1} of {len(done)} in topological order" if view.explaining else ""
            chosen.append(Dispatch(op, budget.take(op, device), reason))
            self._next += 1
            if view.arrival(op, device) > view.now:
                # Its inputs are still on their way; nothing may overtake it meanwhile.
                self._on_its_way = op
        return chosen

    def _waits_for_inputs(self, view: View) -> bool:
        """Whether the last operator dispatched has not started yet."""
        op = self._on_its_way
        if op is not None and (self._done[op] or op in view.running):
            self._on_its_way = None
        return self._on_its_way is not None
