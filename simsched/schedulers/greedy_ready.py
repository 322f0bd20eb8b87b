"""Greedy: whatever is ready goes, by a simple rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simsched.errors import UnknownNameError
from simsched.graph.ranks import b_level
from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.listing import Words, fifo_policy, list_policy, no_words
from simsched.units import format_duration


def _shortest(problem: Problem) -> list[int]:
    return [-duration for duration in problem.shortest_durations()]


def _longest(problem: Problem) -> Sequence[int]:
    return problem.shortest_durations()


def _latest_finish(problem: Problem) -> list[int]:
    """Length of the longest path after an operator: the longer it is, the earlier the latest finish."""
    durations = problem.shortest_durations()
    return [level - duration for level, duration in zip(b_level(problem.graph, durations), durations, strict=True)]


def _file_order(problem: Problem) -> list[int]:
    return [-op for op in range(len(problem.graph))]


PRIORITIES: Mapping[str, Callable[[Problem], Sequence[int]]] = {
    "spt": _shortest,
    "lpt": _longest,
    "lft": _latest_finish,
    "list": _file_order,
}
RULES = ("fifo", *PRIORITIES)


@dataclass(frozen=True, slots=True)
class GreedyReady:
    """Every ready operator that fits is dispatched at once, in the order of a rule.

    Parameters
    ----------
    rule : {"fifo", "spt", "lpt", "lft", "list"}
        First to become ready; shortest or longest processing time; earliest latest-finish time (CPM); or the order
        of the graph's file, which is Graham's list scheduling (R. L. Graham, "Bounds on multiprocessing timing
        anomalies", SIAM J. Appl. Math. 17, 1969, doi:10.1137/0117039). Ties go to the lower id.
    """

    rule: str = "fifo"

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UnknownNameError("rule of greedy_ready", self.rule, RULES)

    def start(self, problem: Problem) -> Policy:
        """Rank all operators by the rule."""
        if self.rule == "fifo":
            return fifo_policy(problem)
        words = _duration_words(problem) if self.rule in ("spt", "lpt") else no_words
        return list_policy(problem, PRIORITIES[self.rule](problem), words)


def _duration_words(problem: Problem) -> Words:
    durations, unit = problem.shortest_durations(), problem.graph.time_unit
    return lambda op: f"duration {format_duration(durations[op], unit)}"
