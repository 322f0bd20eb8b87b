"""Why runs took so long: what the page says along the chain to the last end is what Python's account says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import simsched
from simsched.analysis.account import account
from simsched.analysis.explain import Explanation
from simsched.page.document import page_document
from simsched.page.html import page_data, page_html
from simsched.result import Result
from tests.page.browser import Opener
from tests.page.cases import drawn_run
from tests.page.node import run_node

PROGRAM = """
import { accountOf } from "./js/account.js";
say(input.map(({ graph, runs }) => runs.map((run) => {
  const { times, longest } = accountOf(graph, run);
  return { times: Object.fromEntries([...times].filter(([, time]) => time)), longest };
})));
"""
# The kinds of the page, by the beginnings of the rows that Python has.
KINDS = {
    "work": "run", "launch": "host", "host": "host", "event": "host", "lost_link": "copy", "lost_": "shared",
    "no_stream": "streams", "stream": "streams", "held": "policy", "copy": "copy", "transfer": "copy", "delay": "copy",
    "short_of_": "device", "passed_over": "device", "resource": "device", "room": "device", "memory": "device",
    "queue": "device", "priority": "device", "unknown": "unknown",
}  # fmt: skip


def kind_of(row: str) -> str:
    return next(kind for start, kind in KINDS.items() if row.startswith(start))


def in_kinds(rows: dict[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row, time in rows.items():
        found[kind_of(row)] = found.get(kind_of(row), 0) + time
    return found


def told(runs: list[Result], folder: Path) -> list[dict[str, Any]]:
    return [answer for (answer,) in run_node(folder, PROGRAM, [page_document([run]) for run in runs])]


def test_the_kinds_are_those_of_the_account(tmp_path: Path) -> None:
    runs = [run for run in map(drawn_run, range(100, 160)) if run is not None and len(run.trace)]
    kinds: set[str] = set()
    for run, answer in zip(runs, told(runs, tmp_path), strict=True):
        assert sum(answer["times"].values()) == run.makespan
        expected = in_kinds(account(Explanation(run)))
        # A copy that waits for memory is in the account among what is short of memory, on the page among the copies.
        for each in (expected, answer["times"]):
            each["device"] = each.pop("device", 0) + each.pop("copy", 0)
        assert answer["times"] == {"device": 0, **expected}
        kinds |= expected.keys()
    assert kinds >= {"run", "device", "streams", "host", "shared"}


def test_the_longest_wait_is_found(tmp_path: Path) -> None:
    # One lane: Input, Conv1, BN, Conv2, ReLU, Add, Output, each 1. Conv2 could begin at 2, and BN is in its way.
    (answer,) = told([simsched.run("residual", "topological", "lanes:1", explain=True)], tmp_path)
    assert answer == {"times": {"run": 6, "streams": 1}, "longest": {"op": 3, "start": 2, "length": 1}}


def test_the_page_says_who_is_best_and_why_the_others_are_not(open_page: Opener) -> None:
    runs = [simsched.run("residual", spec, "lanes:2", explain=True) for spec in ("critical_path", "serial")]
    shown = open_page(page_html(page_data(page_document(runs))))
    assert shown.text("gap-0") == "best"
    assert shown.text("gap-1") == "+17 %: held back by the scheduler"
    assert shown.text("account-0").split() == ["critical_path", "running", "100", "%", "(6)."]
    row = shown.page.get_by_test_id("account-1")
    assert row.inner_text().split()[:5] == ["serial", "running", "86", "%", "(6);"]
    row.get_by_role("button").click()
    shown.settle()
    report = shown.report()
    assert (report["run"], report["time"], shown.states()[f"node-{report['selected']}"]) == ("serial", 2, "ready")
