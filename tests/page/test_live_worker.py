"""A worker that does not do what it should: the page says so, starts another one, and goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from simsched.page.document import page_document
from simsched.page.html import page_data
from simsched.page.server import SiteServer
from simsched.page.site import LIVE_FILES, site
from simsched.run import run
from tests.page.browser import Shown

if TYPE_CHECKING:
    from playwright.sync_api import Page

STATUS = "document.querySelector('[data-testid=live-status]')"

# In place of Pyodide: answers with the document that it was made with, and misbehaves as the request says.
WORKER = """
const DOCUMENT = %s;
addEventListener("message", ({ data }) => {
  postMessage(null);
  if (data.files) {
    for (const message of ["noise", 3, { progress: "python" }, { ready: true }]) postMessage(message);
    return;
  }
  const { id, request } = data;
  postMessage({ id: id + 100, response: "of somebody else" });
  if (request.includes("garbage")) postMessage({ id, response: "\\0\\0\\0" });
  else if (request.includes("nothing")) postMessage({ id });
  else if (request.includes("failure")) postMessage({ id, failed: "RangeError: too deep" });
  else postMessage({ id, response: JSON.stringify({ ok: true, document: DOCUMENT, faults: [] }) });
});
"""


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    scene = page_document([run("residual", "serial", "lanes:2")], live=True)
    other = page_document([run("residual", "critical_path", "lanes:2")], live=True)
    files = dict(site(page_data(scene, live=LIVE_FILES)))
    files[LIVE_FILES["worker"]] = (WORKER % json.dumps(other)).encode()
    with SiteServer(files, port=0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("garbage", "its answer cannot be read"),
        ("nothing", "its answer cannot be read"),
        ("failure", "RangeError: too deep"),
    ],
)
def test_a_worker_that_fails_is_told_of_and_replaced(asked: str, why: str, page: Page, server: SiteServer) -> None:
    page.goto(server.url)
    shown = Shown(page)
    shown.click("tab-live")
    shown.wait_until(f"{STATUS}.textContent === 'Ready.'")
    page.evaluate("document.querySelectorAll('#live details').forEach((each) => { each.open = true; })")
    page.get_by_test_id("live-spec").fill(asked)
    page.get_by_test_id("live-spec").press("Enter")
    shown.click("live-run")
    said = f"Python itself failed, so the run was ended, and Python is started anew: {why}"
    shown.wait_until(f"{STATUS}.textContent === {said!r}")
    page.wait_for_timeout(200)
    assert shown.text("live-status") == said, "the start of another one does not talk over it"
    shown.click("live-undo")
    shown.click("live-run")
    shown.wait_until(f"{STATUS}.textContent.startsWith('Done in ')")
    assert page.evaluate("simsched.app.document.runs.map((run) => run.label)") == ["critical_path"]
