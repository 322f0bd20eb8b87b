"""What the page costs its reader: ``python -m benchmarks.page``. Needs a Chromium (``python scripts/get_browser.py``).

Each figure is taken in a fresh headless browser on this machine; times are medians.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.timing import Row
from scripts.get_browser import find, switches
from simsched import compare
from simsched.graph.generators import layered_random
from simsched.page.document import page_document
from simsched.page.html import page_data, page_html
from simsched.page.lessons import lessons
from simsched.page.server import SiteServer
from simsched.page.site import LIVE_FILES, site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FIVE = ("topological", "critical_path", "greedy_ready", "memory_aware", "pipeline")
ROUNDS = 5
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
# One step a frame, as a key that is held down makes them: how long from a step to the next frame that shows it.
STEPS = """async count => {
  const app = simsched.app, took = [];
  app.toStart();
  for (let step = 0; step < count; step += 1) {
    const begin = performance.now();
    app.stepForward();
    app.flush();
    document.body.getBoundingClientRect();
    took.push(performance.now() - begin);
    await new Promise(requestAnimationFrame);
  }
  took.sort((a, b) => a - b);
  return [took[Math.floor(count / 2)], took[Math.floor(count * 0.95)]];
}"""

READY = """async () => {
  const begin = performance.now();
  document.querySelector("[data-testid=tab-live]").click();
  while (document.querySelector("[data-testid=live-status]")?.dataset.kind !== "good") {
    await new Promise(done => setTimeout(done, 5));
  }
  return performance.now() - begin;
}"""
AGAIN = """async () => {
  const begin = performance.now(), before = simsched.app.document;
  document.querySelector("[data-testid=live-run]").click();
  while (simsched.app.document === before) await new Promise(done => setTimeout(done, 1));
  simsched.app.flush();
  return performance.now() - begin;
}"""


def page_rows() -> Iterator[Row]:
    """Size, first paint and steps of pages, and how fast a live page runs again."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find(), args=switches())
        inception = _five("inception_v1", "a100_sxm_80gb")
        yield from _replay_rows(browser, Path(folder), "Inception v1 x 5", inception, 1.5)
        large = page_document(compare(layered_random(2_000, 3), FIVE[1:3], "lanes:8", explain=True).results)
        yield from _replay_rows(browser, Path(folder), "2,000 operators x 2", page_data(large, lessons=lessons()), None)
        yield from _live_rows(browser)
        browser.close()


def _five(graph: str, hardware: str, live: dict[str, str] | None = None) -> dict[str, Any]:
    results = compare(graph, FIVE, hardware, explain=True).results
    return page_data(page_document(results, live=live is not None), lessons=lessons(live=live is not None), live=live)


def _replay_rows(browser: Browser, folder: Path, name: str, data: dict[str, Any], most: float | None) -> Iterator[Row]:
    path = folder / "page.html"
    path.write_text(page_html(data), encoding="utf-8")
    yield Row(f"page of {name}", path.stat().st_size / 1e6, "MB", most)
    paints, steps = [], []
    for _ in range(ROUNDS):
        with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
            page = context.new_page()
            page.goto(path.as_uri())
            page.wait_for_function(f"window.simsched && {FIRST_PAINT}")
            paints.append(page.evaluate(FIRST_PAINT))
            steps.append(page.evaluate(STEPS, 300))
    yield Row("  first paint", median(paints), "ms", 1_000)
    yield Row("  a step, script and layout", _median_of(steps, 0), "ms", 1_000 / 60)
    yield Row("  a step, slowest of twenty", _median_of(steps, 1), "ms", 1_000 / 60)


def _median_of(rows: Sequence[Sequence[float]], place: int) -> float:
    return median(row[place] for row in rows)


def _live_rows(browser: Browser) -> Iterator[Row]:
    files = site(_five("residual", "lanes:2", LIVE_FILES))
    with SiteServer(files, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
            page = context.new_page()
            page.goto(server.url)
            page.wait_for_function("window.simsched !== undefined")
            yield Row("live page ready after opening it", _loaded(page), "ms")
            yield Row("  residual x 5 run again", median(_again(page) for _ in range(11)), "ms", 200)
        server.shutdown()


def _loaded(page: Page) -> float:
    """From opening the editor until simsched runs in the browser."""
    took: float = page.evaluate(READY)
    return took


def _again(page: Page) -> float:
    """From pressing the button until the views show the new runs."""
    took: float = page.evaluate(AGAIN)
    return took


def main() -> None:
    """Print one line per figure, with the bar that it is held against."""
    for row in page_rows():
        bar = "" if row.bar is None else f"{row.bar:.3g} {row.unit}"
        print(f"{row.name:<46} {row.value:>8.3g} {row.unit:<3} {bar:>10}", flush=True)


if __name__ == "__main__":
    main()
