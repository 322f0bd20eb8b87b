"""The editor of the live page: it keeps the reader's place, asks before it runs code of a link, and says what fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simsched.page.document import page_document
from simsched.page.html import page_data, page_html
from simsched.page.server import SiteServer
from simsched.page.site import LIVE_FILES, site
from simsched.run import compare
from tests.page.browser import Account, Opener, Shown
from tests.page.test_live import LOADING_MS, LONGEST, makespans, wait_for_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STATUS = "document.querySelector('[data-testid=live-status]')"
ACTIVE = "document.activeElement.dataset.testid"


def data() -> dict[str, object]:
    scene = page_document(compare("residual", "serial,critical_path", "lanes:2", explain=True).results, live=True)
    return page_data(scene, live=LIVE_FILES)


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer(site(data()), port=0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def open_live(page: Page, address: str) -> Shown:
    page.goto(address)
    shown = Shown(page)
    shown.click("tab-live")
    return shown


@pytest.fixture(scope="module")
def editor(browser: Browser, server: SiteServer) -> Iterator[Shown]:
    """One page for the tests that only edit: loading Python takes seconds."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    context.set_default_timeout(LOADING_MS)
    account, page = Account(), context.new_page()
    account.watch(page)
    shown = open_live(page, server.url)
    shown.wait_until(f"{STATUS}.textContent === 'Ready.'", LOADING_MS)
    yield shown
    context.close()
    account.check()


@pytest.fixture(autouse=True)
def unedited(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "editor" in request.fixturenames:
        shown: Shown = request.getfixturevalue("editor")
        shown.page.wait_for_timeout(100)  # until the editor has been drawn after its last run
        if shown.page.get_by_test_id("live-reset").is_enabled():
            shown.click("live-reset")
        shown.wait_until("document.querySelector('[data-testid=live-reset]').disabled")
        wait_for_run(shown)


def durations(shown: Shown) -> list[int]:
    found: list[int] = shown.page.evaluate("simsched.app.document.machines[0].duration")
    return found


def test_tab_goes_on_from_a_field_that_has_been_changed(editor: Shown) -> None:
    editor.page.get_by_test_id("live-duration-1").fill("4")
    editor.page.keyboard.press("Tab")
    editor.wait_until("simsched.app.document.machines[0].duration[1] === 4")
    editor.settle()
    assert editor.page.evaluate(ACTIVE) == "live-remove-1"


def test_a_click_counts_though_it_ends_the_editing_of_a_field(editor: Shown) -> None:
    editor.page.get_by_test_id("live-duration-2").fill("8")
    editor.click("live-remove-4")
    editor.wait_until("simsched.app.document.graph.names.length === 6")
    assert durations(editor) == [1, 1, 8, 1, 1, 1]
    assert editor.page.evaluate("simsched.app.document.graph.names.includes('ReLU')") is False


def test_what_is_being_typed_stays_while_a_run_comes_back(editor: Shown) -> None:
    editor.page.get_by_test_id("live-duration-0").fill("6")
    editor.page.keyboard.press("Enter")
    editor.page.get_by_test_id("live-duration-3").fill("12")
    editor.wait_until("simsched.app.document.machines[0].duration[0] === 6")
    editor.page.wait_for_timeout(100)  # until the editor has been drawn anew
    assert editor.page.evaluate(ACTIVE) == "live-duration-3"
    editor.page.keyboard.type("3")
    editor.page.keyboard.press("Enter")
    editor.wait_until("simsched.app.document.machines[0].duration[3] === 123")


def test_a_new_operator_and_a_new_edge(editor: Shown) -> None:
    page = editor.page
    for test_id, text in (("live-new-name", "<b>new</b>"), ("live-new-duration", "9"), ("live-new-after", "Conv1")):
        page.get_by_test_id(test_id).fill(text)
    editor.click("live-add-operator")
    editor.wait_until("simsched.app.document.graph.names.includes('<b>new</b>')")
    # Input 1, Conv1 1, then 9 beside the rest.
    assert makespans(editor)["critical_path"] == 11
    page.locator("[data-testid=live-edges] > summary").click()
    page.get_by_test_id("live-edge-from").fill("<b>new</b>")
    page.get_by_test_id("live-edge-to").fill("Add")
    page.keyboard.press("Enter")
    editor.wait_until("simsched.app.document.runs.some(run => run.makespan === 13)")
    assert page.locator("#live b").count() == 0


def test_what_is_wrong_is_said_and_can_be_taken_back(editor: Shown) -> None:
    before = makespans(editor)
    editor.page.get_by_test_id("live-duration-1").fill("soon")
    editor.page.keyboard.press("Enter")
    editor.wait_until(f"{STATUS}.dataset.kind === 'bad'")
    assert "duration of 'Conv1': 'soon' is not a number" in editor.text("live-status")
    assert makespans(editor) == before, "the views keep the last run"
    editor.click("live-undo")
    editor.wait_until(f"{STATUS}.dataset.kind === 'good'")


def test_a_small_graph_runs_again_within_a_fifth_of_a_second(editor: Shown) -> None:
    took = []
    for _ in range(5):
        editor.page.evaluate(f"{STATUS}.dataset.took = ''")
        editor.click("live-run")
        editor.wait_until(f"{STATUS}.dataset.took !== ''")
        took.append(float(editor.page.evaluate(f"{STATUS}.dataset.took")))
    assert min(took) < 200, took


def test_the_replay_is_still_there(editor: Shown) -> None:
    editor.click("live-scheduler-serial")
    editor.wait_until("simsched.app.document.runs.length === 1")
    editor.click("tab-replay")
    editor.wait_until("simsched.app.document.runs.length === 2")
    editor.click("tab-live")
    editor.wait_until("simsched.app.document.runs.length === 1")


def test_code_of_a_link_runs_only_when_the_reader_asks(editor: Shown, browser: Browser) -> None:
    editor.page.evaluate("document.querySelectorAll('#live details').forEach(each => { each.open = true; })")
    editor.page.locator("textarea").fill(LONGEST)
    editor.click("live-use-code")
    editor.wait_until("simsched.app.document.runs.length === 3")
    editor.click("live-share")
    link = editor.page.get_by_test_id("live-link").input_value()
    context = browser.new_context(locale="en-GB")
    other = Shown(context.new_page())
    other.page.goto(link)
    other.wait_until(f"{STATUS}.textContent.includes('somebody has written')", LOADING_MS)
    assert list(makespans(other)) == ["serial", "critical_path"]
    assert other.page.locator("textarea").is_visible()
    other.click("live-run")
    other.wait_until("simsched.app.document.runs.length === 3")
    assert makespans(other) == makespans(editor)
    context.close()


@pytest.mark.parametrize("mark", ["#live=abcd", "#live=", "#live=%00", "#live=q1bKKknMTMlXsjLUUSpILErMVbKqVgIA"])
def test_a_damaged_link_is_said(mark: str, page: Page, server: SiteServer) -> None:
    page.goto(f"{server.url}{mark}")
    shown = Shown(page)
    shown.wait_until(f"{STATUS}.textContent.startsWith('The link is damaged')")
    page.wait_for_timeout(200)
    assert shown.text("live-status").startswith("The link is damaged"), "loading does not talk over it"


def test_a_page_from_a_file_says_what_it_needs(open_page: Opener, tmp_path: Path) -> None:
    shown = open_page(page_html(data()))
    shown.click("tab-live")
    shown.wait_until(f"{STATUS}.textContent.includes('simsched serve')")
    # It is a full replay all the same.
    shown.click("to-end")
    shown.settle()
    assert set(shown.states().values()) == {"done"}


def test_without_pyodide_the_page_says_so_and_replays(browser: Browser) -> None:
    files = {"index.html": page_html(data()).encode(), "worker.js": site(data())["worker.js"]}
    with SiteServer(files, port=0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        context = browser.new_context(locale="en-GB")
        shown = open_live(context.new_page(), server.url)
        shown.wait_until(f"{STATUS}.textContent.includes('cannot be loaded here')")
        shown.click("to-end")
        shown.settle()
        assert set(shown.states().values()) == {"done"}
        context.close()
        server.shutdown()
        thread.join()
