"""The page replays what happened, event by event, as the trace has it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from simsched.result import Result
from tests.page.browser import Account, Opener, Shown
from tests.page.cases import CASES, FIVE, case, events_of, html_of, states_after, whole_page

FOUR_KINDS = {"finish", "ready", "dispatch", "start"}
# Presses the page's own button, and reads after each press what the graph shows and what the page says of itself.
PRESS_ALL = """async ({ button, count }) => {
  const pressed = document.querySelector(`[data-testid=${button}]`);
  const nodes = [...document.querySelectorAll("[data-testid^=node-]")];
  const seen = [];
  for (let press = 0; press <= count; press += 1) {
    if (press) pressed.click();
    simsched.app.flush();
    const report = simsched.state();
    seen.push({
      drawn: nodes.map((node) => node.dataset.state),
      said: report.states[report.run],
      time: report.time,
      words: report.words,
      ready: report.ready,
      running: report.running,
      listed: ["ready-list", "running-list"].map((id) => [...document.querySelectorAll(`[data-testid=${id}] li`)]
        .map((item) => [Number(item.dataset.op), item.textContent])),
    });
  }
  return seen;
}"""


def focus_on(shown: Shown, run: int) -> None:
    """Choose the run that the graph shows, and go to the beginning."""
    shown.page.get_by_test_id("focus-run").select_option(str(run))
    shown.click("to-start")
    shown.settle()


def press_all(shown: Shown, button: str, count: int) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = shown.page.evaluate(PRESS_ALL, {"button": button, "count": count})
    return seen


@pytest.mark.parametrize("name", CASES)
def test_events_are_those_of_the_trace(name: str, open_page: Opener) -> None:
    comparison = case(name)
    shown = open_page(html_of(comparison))
    assert len(comparison.results) == len(FIVE)
    for number, run in enumerate(comparison.results):
        rows = shown.steps(number)
        assert [row for row in rows if row[1] in FOUR_KINDS] == events_of(run), run.label
        assert launches_in(rows) == launches_of(run), run.label
        assert copies_in(rows) == copies_of(run), run.label
        assert [row[0] for row in rows] == sorted(row[0] for row in rows)


def launches_in(rows: list[list[Any]]) -> set[tuple[int, int]]:
    return {(time, op) for time, kind, op, _ in rows if kind == "launch"}


def launches_of(run: Result) -> set[tuple[int, int]]:
    """Launches that took time."""
    return {(time, op) for op, time in enumerate(run.trace.launched) if time > run.trace.dispatch[op]}


def copies_in(rows: list[list[Any]]) -> list[tuple[int, str]]:
    return sorted((time, kind) for time, kind, _, _ in rows if kind.startswith("copy"))


def copies_of(run: Result) -> list[tuple[int, str]]:
    """Beginnings and ends of the copies of tensors; a pure delay moves nothing."""
    moves = [move for move in run.trace.transfers if move.tensor >= 0]
    return sorted([(move.start, "copy_start") for move in moves] + [(move.end, "copy_end") for move in moves])


def test_the_cases_have_launches_copies_and_operators_without_length() -> None:
    assert all(launches_of(run) for run in case("launches").results)
    assert all(copies_of(run) for run in case("inception_like(cells=1) on toy_box").results)
    assert any(0 in run.trace.end for run in case("no_length").results)


@pytest.mark.parametrize("name", ["residual on lanes:2", "fork_join on lanes:2", "no_length", "launches"])
def test_the_step_button_goes_through_every_event_and_back(name: str, open_page: Opener) -> None:
    runs = case(name).results[:2] if name == "launches" else case(name).results
    shown = open_page(html_of(runs))
    for number, run in enumerate(runs):
        focus_on(shown, number)
        rows = shown.steps(number)
        expected = list(states_after(run, rows))
        seen = press_all(shown, "step-forward", len(rows))
        assert [each["drawn"] for each in seen] == expected, run.label
        assert [each["said"] for each in seen] == expected, run.label
        assert [each["time"] for each in seen[1:]] == [row[0] for row in rows], run.label
        back = press_all(shown, "step-back", len(rows))
        assert [each["drawn"] for each in back] == expected[::-1], run.label


def test_every_step_is_told_in_words(open_page: Opener) -> None:
    (run,) = (each for each in case("fork_join on lanes:2").results if each.label == "critical_path")
    shown = open_page(html_of([run]))
    rows = shown.steps(0)
    seen = press_all(shown, "step-forward", len(rows))
    names = run.problem.graph.names
    for row, each in zip(rows, seen[1:], strict=True):
        assert names[row[2]] in each["words"], row
    last_words = [each["words"] for each in seen[1:]]
    assert all(one != other for one, other in pairwise(last_words))


@pytest.mark.parametrize("name", ["fork_join on lanes:2", "launches"])
def test_lists_hold_what_is_ready_and_what_runs(name: str, open_page: Opener) -> None:
    run = case(name).results[1]
    shown = open_page(html_of([run]))
    names = run.problem.graph.names
    rows = shown.steps(0)
    seen = press_all(shown, "step-forward", len(rows))
    for each, states in zip(seen, states_after(run, rows), strict=True):
        for listed, state in zip(each["listed"], ("ready", "running"), strict=True):
            assert [op for op, _ in listed] == [op for op, now in enumerate(states) if now == state], each["words"]
            assert all(names[op] in text for op, text in listed)
        for said, state in ((each["ready"], "ready"), (each["running"], "running")):
            assert said == [name for name, now in zip(names, states, strict=True) if now == state]


def test_keys_step_as_the_buttons_do(open_page: Opener) -> None:
    run = case("residual on lanes:2").results[1]
    shown = open_page(html_of([run]))
    expected = list(states_after(run, shown.steps(0)))
    for states in expected[1:]:
        shown.page.keyboard.press("ArrowRight")
        shown.settle()
        assert list(shown.states().values()) == states
    for states in expected[-2::-1]:
        shown.page.keyboard.press("ArrowLeft")
        shown.settle()
        assert list(shown.states().values()) == states


def test_the_runs_share_one_cursor(open_page: Opener) -> None:
    """At the time of a step of one run, all others have done all that they had done by then."""
    comparison = case("fork_join on lanes:2")
    shown = open_page(html_of(comparison))
    end = max(run.makespan for run in comparison.results)
    for time in range(0, end + 1, 5):
        shown.page.evaluate(f"simsched.app.seek({time})")
        states = shown.report()["states"]
        for run in comparison.results:
            assert states[run.label] == states_at(run, time), (run.label, time)


def states_at(run: Result, time: int) -> list[str]:
    """States after all that happened up to and at a time."""
    trace, found = run.trace, []
    for op in range(len(trace)):
        columns = (trace.end[op], trace.start[op], trace.dispatch[op], trace.ready[op])
        words = ("done", "running", "queued", "ready")
        found.append(next((word for when, word in zip(columns, words, strict=True) if when <= time), "waiting"))
    return found


def test_the_scrubber_goes_to_any_time(open_page: Opener) -> None:
    comparison = case("residual on lanes:2")
    shown = open_page(html_of(comparison))
    scrubber = shown.page.get_by_test_id("scrubber")
    largest = int(scrubber.get_attribute("max") or 0)
    end = max(run.makespan for run in comparison.results)
    for share in (0.0, 0.25, 0.5, 0.9, 1.0, 0.4):
        scrubber.fill(str(round(largest * share)))
        report = shown.report()
        assert report["time"] == pytest.approx(end * share, abs=end / largest)
        for run in comparison.results:
            assert report["states"][run.label] == states_at(run, int(report["time"]))
    scrubber.focus()
    before = shown.report()["time"]
    shown.page.keyboard.press("ArrowRight")
    assert shown.report()["time"] > before


def test_play_runs_to_the_end_and_stops(open_page: Opener) -> None:
    shown = open_page(html_of(case("residual on lanes:2")))
    shown.page.get_by_test_id("speed").select_option("8")
    shown.click("play")
    assert shown.report()["playing"]
    shown.wait_until("!simsched.state().playing")
    report = shown.report()
    assert report["time"] == max(run.makespan for run in case("residual on lanes:2").results)
    assert set(report["states"]["pipeline"]) == {"done"}
    shown.click("play")  # plays again from the beginning
    shown.click("play")
    assert not shown.report()["playing"]
    assert shown.report()["time"] < report["time"]


def test_a_page_is_one_file_and_reads_no_other(open_page: Opener, account: Account) -> None:
    shown = open_page(whole_page())
    for mode in ("loop", "strategies", "critical_path", "replay"):
        shown.click(f"tab-{mode}")
        shown.click("to-end")
        shown.settle()
    assert account.requests == [shown.page.url]
    assert shown.page.url.startswith("file:")


def test_home_end_and_the_buttons_for_instants(open_page: Opener) -> None:
    comparison = case("fork_join on lanes:2")
    shown = open_page(html_of(comparison))
    press = shown.page.keyboard.press
    press("End")
    assert shown.report()["time"] == max(run.makespan for run in comparison.results)
    press("Home")
    assert shown.report()["cursor"] == 0
    run = comparison.results[0]
    instants = sorted({int(str(row[0])) for row in events_of(run)})
    for time in instants:
        press("Shift+ArrowRight")
        assert shown.report()["time"] == time
        assert shown.report()["states"][run.label] == states_at(run, time)
    for time in instants[-2::-1]:
        press("Shift+ArrowLeft")
        assert shown.report()["states"][run.label] == states_at(run, time)
