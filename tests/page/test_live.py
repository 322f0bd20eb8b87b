"""The live page, served as ``simsched serve`` serves it: what it runs is what the command line runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from simsched.page.document import page_document
from simsched.page.html import page_data
from simsched.page.server import SiteServer
from simsched.page.site import LIVE_FILES, site
from simsched.run import compare
from tests.cli import objects
from tests.page.browser import Account, Shown
from tests.page.cases import FIVE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TEN = (
    ("residual", "lanes:2"),
    ("diamond", "lanes:4"),
    ("fork_join", "lanes:2"),
    ("graham", "lanes:4"),
    ("graham_other_list", "procs:3"),
    ("heft_topcuoglu", "procs:3"),
    ("conv_bn_relu", "toy_4sm"),
    ("squeezenet", "toy_box"),
    ("inception_v1", "a100_sxm_80gb"),
    ("bert_base", "l4"),
)
LOADING_MS = 60_000
LONGEST = '''
class Longest:
    """The longest first."""

    def start(self, problem):
        times = problem.durations()

        def policy(view):
            order = sorted(view.ready, key=lambda op: -times[op])
            for op, stream in zip(order, view.idle_streams):
                yield op, stream, "the longest"

        return policy
'''


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    scene = page_document(compare("residual", FIVE, "lanes:2", explain=True).results, live=True)
    with SiteServer(site(page_data(scene, live=LIVE_FILES)), port=0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def loaded(browser: Browser, server: SiteServer) -> Iterator[Shown]:
    """One page for all tests of this file: loading Python takes seconds."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    context.set_default_timeout(LOADING_MS)
    account, page = Account(), context.new_page()
    account.watch(page)
    page.goto(server.url)
    shown = Shown(page)
    shown.click("tab-live")
    wait_for_run(shown)
    yield shown
    context.close()
    account.check()
    assert all(url.startswith((server.url, "blob:", "data:")) for url in account.requests), account.requests
    assert any("pyodide" in url for url in account.requests)


def wait_for_run(shown: Shown) -> None:
    """Wait until nothing is being loaded or run."""
    shown.wait_until("document.querySelector('[data-testid=live-status]').dataset.kind !== undefined", LOADING_MS)
    shown.wait_until("document.querySelector('[data-testid=live-status]').dataset.kind !== 'busy'", LOADING_MS)


def makespans(shown: Shown) -> dict[str, int]:
    """What the page shows."""
    rows: list[list[Any]] = shown.page.evaluate("simsched.app.document.runs.map(run => [run.label, run.makespan])")
    return {str(label): int(makespan) for label, makespan in rows}


def of_command_line(graph: str, hardware: str, *more: str) -> dict[str, int]:
    """What ``simsched compare`` says."""
    (found,) = objects("compare", graph, "--hardware", hardware, "--schedulers", ",".join(FIVE), *more)
    return {run["scheduler"]: run["makespan_ns"] for run in found["runs"]}


def choose(shown: Shown, graph: str, hardware: str) -> None:
    """Choose from the catalogue, and wait for the run of both."""
    shown.page.get_by_test_id("live-graph").select_option(graph)
    wait_for_run(shown)
    shown.page.get_by_test_id("live-hardware-name").select_option(hardware)
    wait_for_run(shown)
    shown.wait_until(f"simsched.app.graph.name === {graph!r}")
    shown.wait_until(f"simsched.app.document.machines[0].name === {hardware!r}")


def type_into(shown: Shown, test_id: str, text: str) -> None:
    box = shown.page.get_by_test_id(test_id)
    box.fill(text)
    box.press("Enter")
    wait_for_run(shown)


@pytest.mark.parametrize(("graph", "hardware"), TEN, ids=[graph for graph, _ in TEN])
def test_a_rerun_takes_as_long_as_on_the_command_line(graph: str, hardware: str, loaded: Shown) -> None:
    choose(loaded, graph, hardware)
    assert makespans(loaded) == of_command_line(graph, hardware)


def test_a_changed_duration_is_that_of_whatif(loaded: Shown) -> None:
    choose(loaded, "fork_join", "lanes:2")
    before = makespans(loaded)
    a4 = loaded.page.evaluate("simsched.app.graph.names.indexOf('a4')")
    type_into(loaded, f"live-duration-{a4}", "20")
    after = makespans(loaded)
    # By hand: a1, a2 and a3 run beside a4, which now takes 20 instead of 7; the second round is as it was.
    assert before["critical_path"] == 1 + 10 + 1 + 14 + 1
    assert after["critical_path"] == 1 + 20 + 1 + 14 + 1
    loaded.click("live-undo")
    wait_for_run(loaded)
    assert makespans(loaded) == before


def test_changed_hardware_is_that_of_the_command_line(loaded: Shown) -> None:
    choose(loaded, "graham", "lanes:2")
    loaded.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    streams = loaded.page.locator("[data-testid^=live-][data-testid$=streams]").first
    streams.fill("3")
    streams.press("Enter")
    wait_for_run(loaded)
    assert makespans(loaded) == of_command_line("graham", "lanes:3")


def test_a_scheduler_is_written_and_run(loaded: Shown) -> None:
    choose(loaded, "fork_join", "lanes:2")
    loaded.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    loaded.page.locator("textarea").fill(LONGEST)
    loaded.click("live-use-code")
    wait_for_run(loaded)
    assert makespans(loaded)["Longest"] == 27
    loaded.page.locator("textarea").fill("class Wrong:\n    def start(self, problem)\n        pass\n")
    loaded.click("live-use-code")
    wait_for_run(loaded)
    assert "2" in loaded.text("live-code-fault"), "the line is named"
    loaded.click("live-reset")
    wait_for_run(loaded)


def test_a_link_brings_the_state_back(loaded: Shown, browser: Browser) -> None:
    choose(loaded, "diamond", "lanes:2")
    a = loaded.page.evaluate("simsched.app.graph.names.indexOf('C')")
    type_into(loaded, f"live-duration-{a}", "50")
    expected = makespans(loaded)
    loaded.click("live-share")
    link = loaded.page.get_by_test_id("live-link").input_value()
    context = browser.new_context()
    page = context.new_page()
    account = Account()
    account.watch(page)
    page.goto(link)
    other = Shown(page)
    other.wait_until("simsched.app.graph.name === 'diamond'", LOADING_MS)
    wait_for_run(other)
    assert makespans(other) == expected
    assert expected["critical_path"] == 2 + 50 + 7
    context.close()
    account.check()
