"""Find a Chromium for the tests of the page, or install one: ``python scripts/get_browser.py``.

Says in one line what it has done and never fails: without a browser those tests are skipped, and say so. Set
``SIMSCHED_BROWSER`` to the path of a Chromium to choose one, or to ``none`` to do without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".browser"
"""What is installed without root lies here; git ignores it."""
VARIABLE = "SIMSCHED_BROWSER"
NOTE = "path"
"""File of that folder in which the script leaves what it has found: a path, or nothing where no browser works."""
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge")
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
CACHES = (".cache/ms-playwright", "Library/Caches/ms-playwright", "AppData/Local/ms-playwright")
PROGRAMS = ("chrome", "chrome.exe", "Chromium", "headless_shell", "chrome-headless-shell", "chrome-headless-shell.exe")
NPM_PACKAGE = "@sparticuz/chromium@147.0.0"
UNPACK = "import('@sparticuz/chromium').then(async found => console.log(await found.default.executablePath()))"
PROBE = """
import sys
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=sys.argv[1], args=sys.argv[2:], timeout=30_000)
    page = browser.new_page()
    page.set_content("<p>it works")
    print(page.locator("p").text_content())
    browser.close()
"""
QUIET = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-domain-reliability",
    "--disable-dev-shm-usage",
    "--no-pings",
)
"""Switches that keep a Chromium from talking to anybody of its own accord."""


def switches() -> list[str]:
    """Command-line switches for every start of a browser by the tests."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return ["--headless", *QUIET, *(["--no-sandbox"] if as_root else [])]


def wanted() -> str:
    """What the user has said in ``SIMSCHED_BROWSER``."""
    return os.environ.get(VARIABLE, "").strip()


def candidates() -> Iterator[Path]:
    """Every Chromium that seems to be here, those of the system first."""
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            yield Path(found)
    yield from (Path(place) for place in PLACES)
    yield FOLDER / "chromium"
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    for cache in [Path(named)] if named else [Path.home() / cache for cache in CACHES]:
        for folder in sorted(cache.glob("chromium*"), reverse=True):
            yield from (path for path in sorted(folder.rglob("*")) if path.name in PROGRAMS)


def present() -> Path | None:
    """The first Chromium that seems to be here."""
    return next((path for path in candidates() if path.is_file() and os.access(path, os.X_OK)), None)


def find() -> Path | None:
    """Find the Chromium that the tests shall use; None where there is none that works, or the user wants none."""
    if wanted():
        return Path(wanted()) if Path(wanted()).is_file() else None
    if not (FOLDER / NOTE).is_file():
        return present()
    noted = (FOLDER / NOTE).read_text("utf-8").strip()
    return Path(noted) if Path(noted).is_file() else None


def works(browser: Path) -> bool:
    """Whether Playwright can start a browser and read a page in it."""
    command = [sys.executable, "-c", PROBE, str(browser), *switches()]
    return output_of(command, 60).strip() == "it works"


def output_of(command: Sequence[str], seconds: int, folder: Path = ROOT) -> str:
    """Standard output of a command; empty where it fails, is not there, or takes too long."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL, cwd=folder
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def by_apt() -> None:
    """Install Debian's package, as root."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
        output_of([*environment, "apt-get", "update", "-qq"], 300)
        output_of([*environment, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], 900)


def by_playwright() -> None:
    """Let Playwright fetch its own build."""
    output_of([sys.executable, "-m", "playwright", "install", "chromium-headless-shell"], 600)


def by_npm() -> None:
    """Unpack the Chromium that an npm package carries; it is for Linux on x86-64."""
    if not (sys.platform == "linux" and shutil.which("npm") and shutil.which("node")):
        return
    FOLDER.mkdir(exist_ok=True)
    quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    output_of(["npm", "install", *quiet, "--prefix", str(FOLDER), NPM_PACKAGE], 600)
    loose = output_of(["env", f"TMPDIR={FOLDER}", "node", "-e", UNPACK], 120, FOLDER)
    if loose.strip() and Path(loose.strip()).is_file():
        shutil.move(loose.strip(), FOLDER / "chromium")
    shutil.rmtree(FOLDER / "node_modules", ignore_errors=True)


WAYS: tuple[tuple[str, Callable[[], None]], ...] = (
    ("apt-get", by_apt),
    ("playwright install", by_playwright),
    ("npm", by_npm),
)


def note(browser: Path | None) -> None:
    """Leave word for the tests which browser works."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / NOTE).write_text("" if browser is None else f"{browser}\n", encoding="utf-8")


def get() -> str:
    """Find or install a browser, leave word of it, and say in a sentence what was done."""
    if wanted():
        found = find()
        return f"{VARIABLE} says {wanted()}" + ("." if found else ": no browser, tests of the page will be skipped.")
    here = present()
    if here is not None and works(here):
        note(here)
        return f"Tests of the page use {here}."
    begin = time.monotonic()
    for name, install in WAYS:
        install()
        fresh = present()
        if fresh is not None and works(fresh):
            note(fresh)
            return f"Tests of the page use {fresh}, installed by {name} in {time.monotonic() - begin:.0f} s."
    note(None)
    return "No Chromium is here and none could be installed: tests of the page will be skipped."


if __name__ == "__main__":
    print(get())
