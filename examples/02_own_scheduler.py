"""A scheduler of one's own, against the built-in ones.

Covers: the scheduler protocol, list_policy, compare, check_scheduler.

Scenario: somebody believes that operators with many successors should go first. The contract test says that the
scheduler keeps the rules; the comparison says what it is worth.
"""

from __future__ import annotations

from dataclasses import dataclass

from simsched import Policy, Problem, compare
from simsched.schedulers.listing import list_policy
from simsched.testing import check_scheduler


@dataclass(frozen=True)
class MostSuccessors:
    """Ready operators with many successors first."""

    def start(self, problem: Problem) -> Policy:
        """Rank all operators by the number of their successors."""
        return list_policy(problem, [len(after) for after in problem.graph.succ])


check_scheduler(MostSuccessors())
print("MostSuccessors keeps the contract")

comparison = compare("graham", ["serial", "critical_path", MostSuccessors()], "lanes:3")
for result in comparison.results:
    print(f"{result.scheduler:20} {result.makespan:3}")
