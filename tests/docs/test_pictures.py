"""The pictures of the pages are those that today's code draws, and each of them is shown somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

from scripts import make_screenshots
from scripts.make_docs_pictures import FOLDER, PICTURES
from simsched.plot import save
from tests.docs.pages import ROOT, links_of, pages

PINNED = re.findall(r"^matplotlib==(\S+)$", (ROOT / "requirements" / "run.txt").read_text("utf-8"), re.MULTILINE)


@pytest.mark.skipif([mpl.__version__] != PINNED, reason=f"another matplotlib than {PINNED} draws other pixels")
@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_up_to_date(name: str, tmp_path: Path) -> None:
    import numpy as np
    from matplotlib.image import imread

    drawn = imread(save(PICTURES[name], tmp_path / f"{name}.png", dpi=80))
    kept = imread(FOLDER / f"{name}.png")
    assert drawn.shape == kept.shape, "draw it again: make pictures"
    assert np.abs(drawn - kept).mean() < 1e-4, "draw it again: make pictures"


def test_every_picture_is_drawn_by_the_script_and_shown_on_a_page() -> None:
    kept = {path.name for path in FOLDER.iterdir()}
    shown = {Path(target).name for page in pages() for _, target in links_of(page.read_text("utf-8"))}
    assert kept == {f"{name}.png" for name in PICTURES}
    assert kept <= shown


def test_every_screenshot_is_taken_by_the_script_and_shown_on_a_page() -> None:
    kept = {path.name for path in make_screenshots.FOLDER.iterdir()}
    shown = {Path(target).name for page in pages() for _, target in links_of(page.read_text("utf-8"))}
    assert kept == {f"{name}.png" for name in make_screenshots.SHOTS}
    assert kept <= shown
