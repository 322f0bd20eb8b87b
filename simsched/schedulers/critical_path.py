"""Critical path first: list scheduling by b-level."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.graph.ranks import b_level
from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.listing import list_policy
from simsched.units import format_duration


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """Ready operators by b-level, the longest path to an exit first.

    Also known as HLFET (T. L. Adam, K. M. Chandy, J. R. Dickson, "A comparison of list schedules for parallel
    processing systems", CACM 17(12), 1974, doi:10.1145/361604.361619). With several devices an operator's duration
    is taken on the device where it is shortest.
    """

    def start(self, problem: Problem) -> Policy:
        """Rank all operators once."""
        rank = b_level(problem.graph, problem.shortest_durations())
        unit = problem.graph.time_unit
        return list_policy(problem, rank, lambda op: f"b-level {format_duration(rank[op], unit)}")
