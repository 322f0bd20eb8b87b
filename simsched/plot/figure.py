"""Figures without pyplot, and files that are the same bytes every time."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from simsched.errors import UnknownNameError
from simsched.plot.scales import fitting
from simsched.plot.style import styled

_OWN = "own"
# Dates and versions would change the bytes; a None leaves the entry out.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def new_figure(width: float, height: float, *, own: bool = False) -> Figure:
    """Return an empty figure, in inches, that belongs to nobody's global state.

    ``own`` marks the figure of a single plot, which :func:`settle` may lay out for good.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    if own:
        figure.set_gid(_OWN)
    FigureCanvasAgg(figure)
    return figure


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return ``ax``, or the axes of a new figure of this size in inches."""
    return ax if ax is not None else new_figure(width, height, own=True).add_subplot()


def settle(ax: Axes) -> None:
    """Lay out the figure of a single plot for good, and cut titles that would leave the page.

    What is drawn later (names in bars) can rely on the places, and a figure that is saved twice is the same twice:
    matplotlib would refine the layout with every drawing. Figures of others keep their layout.
    """
    figure = figure_of(ax)
    figure.draw_without_rendering()
    if figure.get_gid() != _OWN:
        return
    for each in figure.axes:
        room = (figure.bbox.width - each.get_window_extent().x0) * 72 / figure.dpi - 4
        title = each.get_title(loc="left")
        each.set_title(fitting(title, room, float(each.title.get_fontsize()), bold=True))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def figure_of(drawn: Figure | Axes) -> Figure:
    """Return the figure to which a plot belongs."""
    found = drawn if isinstance(drawn, Figure) else drawn.figure
    while not isinstance(found, Figure):  # axes may sit in a subfigure
        found = cast("Axes", found).figure
    return found


Picture = Figure | Axes | Callable[[], Figure | Axes]
"""A figure, axes, or a function without parameters that draws and returns one."""


@styled
def render(picture: Picture, ending: str = ".png", *, dpi: float | None = None) -> bytes:
    """Return a picture as the bytes of a PNG, SVG or PDF, without dates, so that equal pictures are equal bytes.

    Parameters
    ----------
    picture : Figure, Axes, or a function without parameters that draws and returns one
    ending : {".png", ".svg", ".pdf"}
    dpi : float, optional
        Pixels per inch of a PNG; 120 by default.

    Raises
    ------
    UnknownNameError
        If the ending is none of these.
    """
    if ending not in _METADATA:
        raise UnknownNameError("picture format", ending, _METADATA)
    figure = figure_of(picture() if callable(picture) else picture)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending[1:], metadata=_METADATA[ending], dpi=dpi or figure.dpi)
    return buffer.getvalue()


def save(picture: Picture, path: str | Path, *, dpi: float | None = None) -> Path:
    """Write a picture as PNG, SVG or PDF by the ending of ``path``; equal pictures are equal bytes.

    Parameters
    ----------
    picture : Figure, Axes, or a function without parameters that draws and returns one
    path : str or Path
        Missing folders are made. The file is replaced in one step.
    dpi : float, optional
        Pixels per inch of a PNG; 120 by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UnknownNameError
        If the ending is none of ``.png``, ``.svg`` and ``.pdf``.
    """
    target = Path(path)
    data = render(picture, target.suffix.lower() or target.name, dpi=dpi)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    partial.write_bytes(data)
    partial.replace(target)
    return target
