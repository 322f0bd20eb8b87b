"""Take every screenshot of the page in the documentation again: ``python scripts/make_screenshots.py [NAME...]``.

Needs a Chromium, see ``scripts/get_browser.py``. Fonts and browsers differ, and the bytes do too: look at each picture.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.get_browser import find, switches
from simsched import compare
from simsched.graph.generators import layered_random
from simsched.graph.model import Graph
from simsched.page.document import page_document
from simsched.page.html import page_data, page_html
from simsched.page.lessons import lessons
from simsched.page.server import SiteServer
from simsched.page.site import LIVE_FILES, site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "screenshots"
FIVE = ("topological", "critical_path", "greedy_ready", "memory_aware", "pipeline")
SMALL_MS = 60_000


@dataclass(frozen=True)
class Shot:
    """One screenshot: what the page holds, and what is done to it first.

    Attributes
    ----------
    data : callable
        Makes the data of the page.
    before : str
        A script; ``app`` is the page's.
    width, height : int
    dark, live : bool
    """

    data: Callable[[], dict[str, Any]]
    before: str
    width: int = 1440
    height: int = 900
    dark: bool = False
    live: bool = False


def shown(
    graph: str | Graph, hardware: str, *, schedulers: tuple[str, ...] = FIVE, live: bool = False
) -> dict[str, Any]:
    """Return the data of a page of some runs, with the lessons."""
    results = compare(graph, schedulers, hardware, explain=True).results
    scene = page_document(results, live=live)
    return page_data(scene, lessons=lessons(live=live), live=LIVE_FILES if live else None)


def residual() -> dict[str, Any]:
    """The page that the documentation begins with."""
    return shown("residual", "lanes:2")


def inception() -> dict[str, Any]:
    """A real network under five schedulers."""
    return shown("inception_v1", "a100_sxm_80gb")


def many() -> dict[str, Any]:
    """Two thousand operators under two schedulers."""
    return shown(layered_random(2_000, 3), "lanes:8", schedulers=FIVE[1:3])


def served() -> dict[str, Any]:
    """A page that runs simsched itself."""
    return shown("residual", "lanes:2", live=True)


def mode(name: str, *, then: str) -> str:
    """Return a script that opens a mode, and goes on there."""
    return f"app.set({{mode: '{name}'}}); app.flush(); {then}"


def press(*test_ids: str) -> str:
    """Return a script that clicks one thing after the other."""
    return " ".join(f"document.querySelector('[data-testid=\"{each}\"]').click(); app.flush();" for each in test_ids)


SHOTS = {
    "page_replay": Shot(inception, "app.set({focus: 1}); app.seek(app.timeline.end * 0.28)"),
    "page_dark": Shot(residual, "app.set({focus: 4}); app.seek(3)", dark=True),
    "page_story": Shot(residual, "app.seek(2); app.set({selected: 5})", height=1640),
    "page_loop": Shot(residual, mode("loop", then=f"{press('control-streams-2')} app.seek(6)")),
    "page_strategies": Shot(residual, mode("strategies", then=f"{press('control-microbatches-4')} app.seek(30)")),
    "page_critical_path": Shot(residual, mode("critical_path", then="app.seek(20)")),
    "page_2000": Shot(many, "app.seek(app.timeline.end / 2)"),
    "page_phone": Shot(residual, "app.seek(2)", 390, 1100),
    "page_live": Shot(served, mode("live", then="app.seek(3)"), live=True),
}


def take(browser: Browser, name: str, folder: Path) -> None:
    """Take one screenshot."""
    shot = SHOTS[name]
    data = shot.data()
    look = {"width": shot.width, "height": shot.height}
    with browser.new_context(viewport=look, color_scheme="dark" if shot.dark else "light") as context:  # type: ignore[arg-type]
        page = context.new_page()
        if not shot.live:
            path = folder / "page.html"
            path.write_text(page_html(data), encoding="utf-8")
            page.goto(path.as_uri())
            picture(page, shot, name)
            return
        with SiteServer(site(data), 0) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            page.goto(server.url)
            picture(page, shot, name)
            server.shutdown()


def picture(page: Page, shot: Shot, name: str) -> None:
    """Bring an open page to where it is to be seen, and keep the picture."""
    page.wait_for_function("window.simsched !== undefined")
    page.evaluate(f"{{ const app = simsched.app; {shot.before}; app.flush(); }}")
    if shot.live:
        page.wait_for_selector("[data-testid=live-status][data-kind=good]", timeout=SMALL_MS)
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    FOLDER.mkdir(exist_ok=True)
    page.screenshot(path=FOLDER / f"{name}.png")


def main() -> None:
    """Take the screenshots that are named, or all."""
    from playwright.sync_api import sync_playwright

    names = sys.argv[1:] or list(SHOTS)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find(), args=switches())
        for name in names:
            take(browser, name, Path(folder))
            print(f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
