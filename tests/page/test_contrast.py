"""The colours of the page can be told apart: WCAG 2.1, 4.5 to 1 for text (1.4.3) and 3 to 1 for graphics (1.4.11)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import simsched

BASE = Path(simsched.__file__).parent / "page" / "web" / "css" / "base.css"
THEMES = {"light": ":root", "dark": '[data-theme="dark"]'}
STATES = ("waiting", "ready", "queued", "running", "done")
GROUNDS = ("panel", "paper", "idle")
FILLS = tuple(f"fill-{number}" for number in range(9))
RUNS = tuple(f"run-{number}" for number in range(7))

TEXTS = [
    *((ink, ground) for ink in ("ink", "muted", "accent", "good", "bad", "bound", "edge-order") for ground in GROUNDS),
    ("on-accent", "accent"),
    ("panel", "cursor"),
    ("panel", "good"),
    *(("on-state", state) for state in STATES),
    *(("on-fill", fill) for fill in FILLS),
]
LINES = ("edge", "edge-control", "edge-order", "critical", "realised", "cursor", "accent", "focus-ring", "control")
# Fills are pale, so what bounds a shape is its outline; states differ by pattern and sign as well, in ink of theirs.
GRAPHICS = [
    *((line, ground) for line in LINES for ground in GROUNDS),
    *((line, "panel") for line in ("bound", "capacity", "memory", "usage", *RUNS)),
    *((line, state) for line in ("critical", "realised", "on-state") for state in STATES),
    ("accent", "line"),
]


def colours(theme: str) -> dict[str, str]:
    """Read the custom properties of a theme; the dark one has those of the light one where it says nothing."""
    text = BASE.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for name in THEMES if theme == "dark" else ("light",):
        start = text.index(f"{THEMES[name]} {{")
        found |= re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", text[start : text.index("}", start)])
    return found


def luminance(colour: str) -> float:
    """Return the relative luminance of an sRGB colour, as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours."""
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_the_ratio_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#123456", "#123456") == 1
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)  # the palest grey that passes on white


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("pairs", "least"), [(TEXTS, 4.5), (GRAPHICS, 3.0)], ids=["text", "graphics"])
def test_colours_stand_out(theme: str, pairs: list[tuple[str, str]], least: float) -> None:
    of = colours(theme)
    pale = {pair: round(contrast(of[pair[0]], of[pair[1]]), 2) for pair in pairs}
    assert not {pair: ratio for pair, ratio in pale.items() if ratio < least}
