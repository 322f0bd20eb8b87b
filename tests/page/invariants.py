"""What holds of a page whatever has been done with it; the script says what that is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.page.browser import Shown


@cache
def _script() -> str:
    return Path(__file__).with_name("invariants.js").read_text("utf-8").partition("\n")[2]


def faults_of(shown: Shown) -> list[str]:
    """Everything that does not hold; empty where all does."""
    found: list[str] = shown.page.evaluate(_script())
    return found
