"""One picture of each plot is compared with a stored one. ``python -m tests.plots.test_baselines`` makes them anew.

Other versions of matplotlib draw letters a little differently: pictures are averaged over tiles of 4 x 4 pixels, and
pass when the root mean square difference, of 255 levels, is small; with another version than that of the stored
pictures, a larger one is accepted. Positions and texts are tested exactly elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.image import imread

from simsched.plot.figure import figure_of, save
from simsched.plot.style import styled
from tests.plots.gallery import GALLERY

BASELINE = Path(__file__).parent / "baseline"
VERSION = BASELINE / "matplotlib.txt"
SAME = VERSION.exists() and VERSION.read_text("utf-8").strip() == matplotlib.__version__
TOLERANCE = 6.0 if SAME else 16.0
MOST_BYTES = 30_000


def draw(name: str, path: Path) -> Path:
    @styled
    def small() -> None:
        figure = figure_of(GALLERY[name]())
        figure.set_dpi(50)
        path.parent.mkdir(exist_ok=True)
        figure.savefig(path, dpi=50, metadata={"Software": None})

    small()
    return path


def difference(first: Path, second: Path) -> float:
    one, two = (_tiles(np.asarray(imread(path))[..., :3] * 255.0) for path in (first, second))
    assert one.shape == two.shape, f"{first.name}: {one.shape} is not {two.shape}"
    return float(np.sqrt(np.mean((one - two) ** 2)))


def _tiles(picture: np.ndarray, side: int = 4) -> np.ndarray:
    height, width = (length // side * side for length in picture.shape[:2])
    return picture[:height, :width].reshape(height // side, side, width // side, side, 3).mean(axis=(1, 3))


@pytest.mark.parametrize("name", sorted(GALLERY))
def test_the_picture_looks_as_stored(name: str, tmp_path: Path) -> None:
    stored = BASELINE / f"{name}.png"
    assert stored.stat().st_size < MOST_BYTES
    assert difference(stored, draw(name, tmp_path / f"{name}.png")) < TOLERANCE


def test_another_picture_is_told_apart(tmp_path: Path) -> None:
    one = save(GALLERY["gantt"], tmp_path / "one.png")
    figure = figure_of(GALLERY["gantt"]())
    figure.axes[0].collections[0].set_visible(False)
    figure.axes[0].collections[1].set_visible(False)
    two = save(figure, tmp_path / "two.png")
    assert difference(one, one) == 0
    assert difference(one, two) > TOLERANCE


def test_no_baseline_is_left_over() -> None:
    assert sorted(path.stem for path in BASELINE.glob("*.png")) == sorted(GALLERY)


if __name__ == "__main__":
    for each in sorted(GALLERY):
        draw(each, BASELINE / f"{each}.png")
    VERSION.write_text(f"{matplotlib.__version__}\n", "utf-8")
