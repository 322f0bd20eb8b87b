"""The words, lists, stories, figures and help of a page, in a browser."""

from __future__ import annotations

import re

import pytest

import simsched
from simsched.analysis.explain import Explanation
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import lanes
from simsched.output.story import Story
from simsched.page.document import page_document
from simsched.page.html import page_data, page_html
from simsched.result import Result
from tests.page.browser import Opener, Shown

HOSTILE = "<script>alert(1)</script>"


def graph() -> Graph:
    """a, then b, c and a hostile name side by side, then d."""
    builder = GraphBuilder("words", time_unit="tick")
    builder.add_op("a", duration=2)
    for name, duration in (("b", 3), ("c", 1), (HOSTILE, 4)):
        builder.add_op(name, duration=duration, after=["a"])
    builder.add_op("d", duration=2, after=["b", "c", HOSTILE])
    return builder.build()


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return [simsched.run(graph(), spec, lanes(2), explain=True) for spec in ("critical_path", "serial")]


@pytest.fixture
def shown(open_page: Opener, results: list[Result]) -> Shown:
    return open_page(page_html(page_data(page_document(results))))


def step(shown: Shown, count: int) -> None:
    for _ in range(count):
        shown.click("step-forward")
    shown.settle()


def test_the_lists_and_the_words_say_who_waits_and_why(shown: Shown):
    # At 2, a finishes, three become ready, two are dispatched, two start.
    step(shown, 3 + 1 + 3 + 2 + 2)
    assert shown.report()["time"] == 2
    page = shown.page
    # Beside the words, on wide screens, the lists hold names alone.
    assert page.get_by_test_id("ready-list").locator("li").all_inner_texts() == ["c"]
    page.set_viewport_size({"width": 900, "height": 800})
    assert page.get_by_test_id("ready-list").locator("li").all_inner_texts() == [
        f"c is not dispatched: every stream that may run it is taken, by {HOSTILE}, b"
    ]
    assert page.get_by_test_id("running-list").locator("li").all_inner_texts() == [
        "b on d0/s1 until 5",
        f"{HOSTILE} on d0/s0 until 6",
    ]
    assert page.get_by_test_id("words").locator(".words-more").inner_text() == (
        f"c is not dispatched: every stream that may run it is taken, by {HOSTILE}, b."
    )
    shown.page.get_by_test_id("language").select_option("zh")
    shown.settle()
    assert "没有派发" in shown.text("words")
    assert "没有派发" in shown.text("ready-list")


def test_events_of_an_instant_lead_to_their_points(shown: Shown):
    step(shown, 5)
    events = shown.page.locator(".words-list button")
    texts = [re.sub(r"\s+", " ", text) for text in events.all_inner_texts()]
    ahead = " (still to come)"
    assert texts == [
        "finished a",
        "ready b",
        *(f"ready {name}{ahead}" for name in ("c", HOSTILE)),
        *(f"dispatched {name}{ahead}" for name in ("b", HOSTILE)),
        *(f"starts {name}{ahead}" for name in ("b", HOSTILE)),
    ]
    assert shown.page.locator(".words-list [aria-current=step]").inner_text().split() == ["ready", "b"]
    before = shown.report()["cursor"]
    events.nth(6).click()
    shown.settle()
    assert shown.report()["words"].startswith("At 2, b starts on d0/s1 and runs until 5.")
    events.nth(1).click()
    shown.settle()
    assert shown.report()["cursor"] == before


def test_a_story_tells_every_part_as_the_command_line_does(shown: Shown, results: list[Result]):
    step(shown, 11)
    shown.page.get_by_test_id("ready-list").get_by_role("button", name="c").click()
    shown.settle()
    assert shown.report()["selected"] == 2
    explanation = Explanation(results[0])
    expected = [Story(explanation).words(2, part) for part in explanation.parts(2)]
    assert shown.page.locator(".story-table tbody td:last-child").all_inner_texts() == expected
    assert shown.page.locator(".story-table tr[aria-current]").inner_text().startswith("2")
    shown.page.get_by_test_id("story").get_by_role("button", name="d", exact=True).click()
    shown.settle()
    assert shown.report()["selected"] == 4


def test_a_playing_page_does_not_flood_a_screen_reader(shown: Shown):
    shown.page.evaluate(
        """() => {
          window.spoken = 0;
          new MutationObserver(() => { window.spoken += 1; }).observe(
            document.querySelector("[data-testid=words]"), { childList: true, characterData: true, subtree: true });
          simsched.app.set({ speed: 8 });
        }"""
    )
    shown.click("play")
    shown.wait_until("simsched.state().time >= simsched.state().end")
    shown.settle()
    # The run plays in 2.5 s; it has 40 events.
    assert 1 <= shown.page.evaluate("window.spoken") <= 6
    assert shown.report()["words"].startswith("The end: 5 operators have run.")


def test_help_opens_by_key_and_gives_the_focus_back(shown: Shown):
    page = shown.page
    page.get_by_test_id("play").focus()
    page.keyboard.press("?")
    dialog = page.get_by_test_id("help-dialog")
    assert dialog.evaluate("each => each.open && each.contains(document.activeElement)")
    assert simsched.__version__ in dialog.inner_text()
    page.keyboard.press("ArrowRight")  # not for the player now
    page.keyboard.press("Escape")
    assert not dialog.evaluate("each => each.open")
    assert page.evaluate("document.activeElement.dataset.testid") == "play"
    assert shown.report()["cursor"] == 0


def test_the_figures_name_the_best_and_choose_the_run(shown: Shown):
    table = shown.page.locator(".summary-table")
    rows = [re.sub(r"\s+", " ", text) for text in table.locator("tbody tr").all_inner_texts()]
    # 12 of work on two lanes, a and d alone: 4 + 8 / 2 = 8 at best, and 12 one after the other.
    assert rows[0].startswith("critical_path yes 8best 1.50×best 0.0 %best")
    assert rows[1].startswith("serial yes 12 1.00× 50.0 %")
    table.get_by_role("button", name="serial").click()
    shown.settle()
    assert shown.report()["run"] == "serial"
