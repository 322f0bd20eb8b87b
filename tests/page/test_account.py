"""The account that every browser test ends with finds what it looks for."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.page.browser import Account, is_local

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("file:///tmp/page.html", True),
        ("http://127.0.0.1:8000/", True),
        ("http://localhost:8000/worker.js", True),
        ("blob:null/1234", True),
        ("data:text/plain,x", True),
        ("http://127.0.0.1.example.org/", False),
        ("https://localhost.example/", False),
        ("wss://example.org/", False),
        ("ftp://127.0.0.1/", False),
    ],
)
def test_what_counts_as_this_machine(url: str, expected: bool) -> None:
    assert is_local(url) is expected


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("console.error('broken')", "error: broken"),
        ("console.warn('odd')", "warning: odd"),
        ("setTimeout(() => { throw new Error('lost') })", "thrown: lost"),
    ],
)
def test_complaints_are_found(browser: Browser, script: str, complaint: str) -> None:
    page = browser.new_page()
    account = Account()
    account.watch(page)
    page.set_content(f"<script>{script}</script>")
    page.wait_for_timeout(50)
    page.close()
    assert account.complaints == [complaint]
    with pytest.raises(AssertionError):
        account.check()


@pytest.mark.parametrize(
    "markup",
    ['<img src="http://example.org/x.png">', '<script src="https://example.org/x.js"></script>'],
)
def test_requests_that_leave_are_found_and_do_not_leave(browser: Browser, markup: str) -> None:
    page = browser.new_page()
    account = Account()
    account.watch(page)
    with page.expect_event("requestfailed") as failed:
        page.set_content(markup, wait_until="commit")
    page.close()
    assert len(account.strangers) == 1
    assert "ERR_NAME_NOT_RESOLVED" in (failed.value.failure or "")


@pytest.fixture
def quiet_server() -> Iterator[str]:
    """A server on this machine that answers everything with a page."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<p>here</p>")

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_this_machine_can_be_reached(browser: Browser, quiet_server: str) -> None:
    page = browser.new_page()
    page.goto(quiet_server)
    assert page.locator("p").inner_text() == "here"
    page.close()
