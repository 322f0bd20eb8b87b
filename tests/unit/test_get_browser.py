"""The script that finds a browser for the tests, or installs one, or says that there is none."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from scripts import get_browser


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing is found but what lies in one empty folder."""
    monkeypatch.delenv(get_browser.VARIABLE, raising=False)
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(get_browser, "FOLDER", tmp_path / ".browser")
    monkeypatch.setattr(get_browser, "PLACES", ())
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_machine_without_one_has_none(bare: Path) -> None:
    del bare
    assert get_browser.find() is None


@pytest.mark.parametrize(
    "place",
    ["chromium", "google-chrome", ".browser/chromium", ".cache/ms-playwright/chromium-1200/chrome-linux/chrome"],
)
def test_it_is_found_where_it_lies(place: str, bare: Path) -> None:
    path = program(bare / place)
    assert get_browser.find() == path


def test_what_cannot_be_executed_is_no_browser(bare: Path) -> None:
    (bare / ".browser").mkdir()
    (bare / ".browser" / "chromium").write_text("text")
    assert get_browser.find() is None


def test_the_user_chooses_one_or_none(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare / "chromium")
    mine = program(bare / "mine")
    monkeypatch.setenv(get_browser.VARIABLE, str(mine))
    assert get_browser.find() == mine
    assert get_browser.get() == f"SIMSCHED_BROWSER says {mine}."
    monkeypatch.setenv(get_browser.VARIABLE, "none")
    assert get_browser.find() is None
    assert "will be skipped" in get_browser.get()


def test_ways_are_tried_until_one_works(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def fails() -> None:
        tried.append("fails")

    def installs_what_does_not_start() -> None:
        tried.append("broken")
        program(bare / "google-chrome")

    def installs() -> None:
        tried.append("installs")
        program(bare / "chromium")

    ways = (("one", fails), ("two", installs_what_does_not_start), ("three", installs), ("four", fails))
    monkeypatch.setattr(get_browser, "WAYS", ways)
    monkeypatch.setattr(get_browser, "works", lambda browser: browser.name == "chromium")
    said = get_browser.get()
    assert tried == ["fails", "broken", "installs"]
    assert said.startswith(f"Tests of the page use {bare / 'chromium'}, installed by three in ")


def test_where_nothing_works_it_says_so_and_does_not_fail(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del bare
    monkeypatch.setattr(get_browser, "WAYS", (("nothing", lambda: None),))
    assert get_browser.get() == ("No Chromium is here and none could be installed: tests of the page will be skipped.")


def test_the_tests_use_what_was_found_to_work(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that is here and does not start is none."""
    program(bare / "chromium")
    monkeypatch.setattr(get_browser, "WAYS", ())
    assert "will be skipped" in get_browser.get()
    assert get_browser.find() is None
    monkeypatch.setattr(get_browser, "works", lambda browser: True)
    assert get_browser.get() == f"Tests of the page use {bare / 'chromium'}."
    assert get_browser.find() == bare / "chromium"
    (bare / "chromium").unlink()
    assert get_browser.find() is None


def test_a_program_that_is_no_browser_does_not_work(bare: Path) -> None:
    assert not get_browser.works(program(bare / "chromium"))
    assert get_browser.output_of([str(bare / "nothing")], 5) == ""
