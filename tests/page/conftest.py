"""A browser for each worker, and pages that fail their test if they complain or ask anybody anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from scripts.get_browser import VARIABLE, find
from tests.page.browser import PATIENCE_MS, Account, Opener, Shown, start


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a worker."""
    if find() is None:
        pytest.skip(f"no Chromium is here; run python scripts/get_browser.py, or name one in {VARIABLE}")
    with sync_playwright() as playwright:
        started = start(playwright)
        yield started
        started.close()


@pytest.fixture
def look() -> dict[str, Any]:
    """Settings of the page's context; tests that want a phone, another language or the dark override it."""
    return {"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", "color_scheme": "light"}


@pytest.fixture
def account() -> Account:
    """What the page of a test has asked for and complained of."""
    return Account()


@pytest.fixture
def page(browser: Browser, look: dict[str, Any], account: Account) -> Iterator[Page]:
    """An empty page. At the end of its test nothing may have been complained of, and no request have left."""
    context = browser.new_context(**look)
    context.set_default_timeout(PATIENCE_MS)
    fresh = context.new_page()
    account.watch(fresh)
    yield fresh
    context.close()
    account.check()


@pytest.fixture
def open_page(page: Page, tmp_path: Path) -> Opener:
    """Open the HTML of a page from a file, as a reader would."""

    def open_it(html: str) -> Shown:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        page.goto(path.as_uri())
        return Shown(page)

    return open_it
