"""Links of the live page that somebody has cut or changed: nothing of them is taken, and one sentence says so."""

from __future__ import annotations

import base64
import json
import threading
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from simsched.page.document import page_document
from simsched.page.html import page_data
from simsched.page.server import SiteServer
from simsched.page.site import LIVE_FILES, site
from simsched.run import run
from tests.page.browser import Shown

if TYPE_CHECKING:
    from playwright.sync_api import Page

SERIAL = [{"spec": "serial"}]
STATE: dict[str, Any] = {
    "v": 1, "graph": "diamond", "hardware": "lanes:2", "cursor": 3, "focus": "serial", "lang": "en",
    "problem": {"schedulers": SERIAL, "memory": "unbounded", "seed": 0, "scales": {}},
    "edits": {"durations": {}, "schedulers": SERIAL},
}  # fmt: skip
NO_STATE = "not a state of this page"


def packed(data: bytes) -> str:
    """As the page packs a state: deflated without a header, in base64 for addresses."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.urlsafe_b64encode(packer.compress(data) + packer.flush()).decode().rstrip("=")


def changed(*path: Any) -> str:
    """A link of the state with one part replaced; the last of the path is what stands there."""
    *way, key, value = path
    state = json.loads(json.dumps(STATE))
    part = state
    for step in way:
        part = part[step]
    part[key] = value
    return packed(json.dumps(state).encode())


BROKEN = {
    "nothing": ("", ""),
    "no base64": ("!!!!", ""),
    "no packed data": ("AAAA", ""),
    "cut short": (packed(json.dumps(STATE).encode())[:-20], ""),
    "no JSON": (packed(b"{"), ""),
    "no text": (packed(b"\xff\xfe"), ""),
    "nested deeply": (packed(b"[" * 500_000), ""),
    "null": (packed(b"null"), NO_STATE),
    "another version": (changed("v", 2), NO_STATE),
    "no problem": (changed("problem", [SERIAL]), NO_STATE),
    "no schedulers": (changed("problem", {"memory": "block"}), NO_STATE),
    "edits are text": (changed("edits", "all"), NO_STATE),
    "schedulers are no list": (changed("edits", "schedulers", {"0": SERIAL[0], "length": 1}), NO_STATE),
    "a scheduler without a name": (changed("edits", "schedulers", [{"code": "x"}]), NO_STATE),
    "code that is no text": (changed("edits", "schedulers", [{"spec": "", "code": ["x"]}]), NO_STATE),
    "a graph from elsewhere": (changed("graph", "//evil.example/x"), "is not in the catalogue"),
    "hardware from a path": (changed("hardware", "../../x"), "is not in the catalogue"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    scene = page_document([run("residual", "critical_path", "lanes:2")], live=True)
    with SiteServer(site(page_data(scene, live=LIVE_FILES)), port=0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def open_mark(shown: Shown, mark: str) -> str:
    """Follow a link while the page is open; returns what the page says."""
    status = "document.querySelector('[data-testid=live-status]')"
    shown.page.evaluate(f"mark => {{ {status}.textContent = ''; location.hash = mark; }}", f"#live={mark}")
    shown.wait_until(f"{status}.textContent.startsWith('The link is damaged')")
    return shown.text("live-status")


def test_links_that_hold_no_state_are_said_and_change_nothing(page: Page, server: SiteServer) -> None:
    page.goto(server.url)
    shown = Shown(page)
    for name, (mark, why) in BROKEN.items():
        said = open_mark(shown, mark)
        assert said.startswith("The link is damaged or was cut short, so nothing is restored"), name
        assert why in said, (name, said)
        assert not any(word in said for word in ("undefined", "function", "null")), (name, said)
        assert page.evaluate("simsched.app.graph.name") == "residual"


def test_a_small_link_that_unpacks_to_very_much_is_refused(page: Page, server: SiteServer) -> None:
    mark = packed(b" " * 50_000_000)
    assert len(mark) < 100_000
    page.goto(server.url)
    assert open_mark(Shown(page), mark).endswith("too large")
