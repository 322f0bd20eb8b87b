"""What the browser tests share: a Chromium that talks to nobody, and an account of what a page did."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scripts.get_browser import find, switches

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request

LOCAL_SCHEMES = frozenset({"file", "data", "blob", "about"})
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
# Names of other machines are not even looked up.
ONLY_THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
PATIENCE_MS = 15_000


def start(playwright: Playwright) -> Browser:
    """Start the browser that was found."""
    path = find()
    assert path is not None
    return playwright.chromium.launch(executable_path=path, args=[*switches(), ONLY_THIS_MACHINE], timeout=60_000)


def is_local(url: str) -> bool:
    """Whether a request stays on this machine."""
    parts = urlsplit(url)
    by_network = parts.scheme in {"http", "https", "ws", "wss"}
    return parts.scheme in LOCAL_SCHEMES or (by_network and parts.hostname in LOCAL_HOSTS)


@dataclass
class Account:
    """What a page did while a test looked at it."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def strangers(self) -> list[str]:
        """Requests that left this machine."""
        return [url for url in self.requests if not is_local(url)]

    def watch(self, page: Page) -> None:
        """Note what the console says, what is thrown, and every request."""

        def on_console(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:
                self.complaints.append(f"{message.type}: {message.text}")

        def on_request(request: Request) -> None:
            self.requests.append(request.url)

        page.on("console", on_console)
        page.on("pageerror", lambda error: self.complaints.append(f"thrown: {error}"))
        page.on("request", on_request)

    def check(self) -> None:
        """Refuse complaints and strangers."""
        assert not self.complaints, "\n".join(self.complaints)
        assert not self.strangers, "\n".join(self.strangers)


@dataclass(frozen=True)
class Shown:
    """A page of the project in the browser, with short words for what tests ask of it."""

    page: Page

    def report(self) -> dict[str, Any]:
        """What the page says of itself."""
        answer: dict[str, Any] = self.page.evaluate("simsched.state()")
        return answer

    def steps(self, run: int) -> list[list[Any]]:
        """The events of a run as the page has them."""
        rows: list[list[Any]] = self.page.evaluate(f"simsched.steps({run})")
        return rows

    def states(self) -> dict[str, str]:
        """States of the operators as the graph shows them, by test id."""
        found: dict[str, str] = self.page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('[data-testid^=node-]')]"
            ".map(node => [node.dataset.testid, node.dataset.state]))"
        )
        return found

    def text(self, test_id: str) -> str:
        """Text of an element."""
        return self.page.get_by_test_id(test_id).inner_text()

    def click(self, test_id: str) -> None:
        """Press something."""
        self.page.get_by_test_id(test_id).click()

    def wait_until(self, condition: str, patience_ms: int = PATIENCE_MS) -> None:
        """Wait until an expression is true; Playwright's own way needs eval, which the page's policy forbids."""
        end = time.monotonic() + patience_ms / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"never came true: {condition}"
            self.page.wait_for_timeout(20)

    def settle(self) -> None:
        """Wait until the page has drawn what it was told."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


Opener = Callable[..., Shown]
