"""``simsched check`` on schedulers: those that come with simsched, one's own, and one that keeps operators back."""

from __future__ import annotations

from collections.abc import Sequence

from simsched.problem import Problem
from simsched.schedulers.base import Policy, View
from tests.cli import invoke, objects


class Lazy:
    """Dispatches nothing."""

    def start(self, problem: Problem) -> Policy:
        del problem

        def policy(view: View) -> Sequence[tuple[int, int, str]]:
            del view
            return ()

        return policy


def test_a_scheduler_by_name_is_run_on_the_zoo() -> None:
    scheduler, graph = objects("check", "heft(insertion=false)", "residual")
    assert (scheduler["kind"], scheduler["valid"], graph["kind"]) == ("scheduler", True, "graph")
    assert scheduler["cases"] > 20


def test_one_that_breaks_the_contract_is_named_with_the_case() -> None:
    done = invoke("check", "tests.unit.test_cli_check_scheduler:Lazy")
    assert done.exit_code == 2
    assert "tests.unit.test_cli_check_scheduler:Lazy on one operator on one lane: SchedulerStalledError" in " ".join(
        done.stderr.split()
    )
    assert " at 0x" not in done.output


def test_what_is_no_scheduler_is_said_to_be_unknown() -> None:
    assert invoke("check", "nowhere_at_all:Mine").exit_code == 2
    assert invoke("check", "lanes:4").exit_code == 0
