"""How every plot looks: settings, fonts, colours and the text that goes into it.

Nothing here touches matplotlib's global state: plots are drawn and saved inside :func:`styled`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font

from simsched.units import format_duration

P = ParamSpec("P")
R = TypeVar("R")

SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#444444",
    "axes.grid": False,
    "axes.labelcolor": "#222222",
    "axes.labelsize": 11,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlepad": 10,
    "figure.dpi": 120,
    "figure.facecolor": "white",
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.dpi": 120,
    "svg.fonttype": "path",
    "svg.hashsalt": "simsched",
    "text.hinting": "no_hinting",  # widths scale with the size, so that one layout holds at every resolution
    "text.parse_math": False,
    "xtick.color": "#444444",
    "xtick.labelcolor": "#222222",
    "xtick.labelsize": 10,
    "ytick.color": "#444444",
    "ytick.labelcolor": "#222222",
    "ytick.labelsize": 10,
}

# Paul Tol's "bright" scheme, for lines and markers.
LINES = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#777777")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "#111111"
MUTED = "#666666"
IDLE = "#E4E4E4"
MAKESPAN_LINE = "#222222"
LOWER_BOUND_LINE = "#AA3377"
CAPACITY_LINE = "#CC3311"

_MISSING = "\N{WHITE SQUARE}"


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function that draws with our settings, leaving matplotlib's own untouched."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(SETTINGS)  # type: ignore[arg-type]
            return function(*args, **kwargs)

    return inside


@cache
def _drawable() -> frozenset[int]:
    """Code points that the font of all plots can draw."""
    return frozenset(FT2Font(fontManager.findfont("DejaVu Sans")).get_charmap())


def clean(text: str, limit: int = 60) -> str:
    r"""Make a name fit to be drawn: one line, no longer than ``limit``, nothing that the font lacks.

    Examples
    --------
    >>> clean("two\nlines"), clean("abcdefghij", 6)
    ('two lines', 'abc…ij')
    """
    known = _drawable()
    flat = " ".join(text.split())
    flat = "".join(letter if ord(letter) in known else _MISSING for letter in flat if letter.isprintable())
    if text and not flat:
        return "(blank)"  # matplotlib leaves empty names, and those that start with an underscore, out of legends
    if flat.startswith("_"):
        flat = f" {flat}"
    if len(flat) <= limit:
        return flat
    tail = (limit - 1) // 2
    return f"{flat[: limit - 1 - tail]}…{flat[len(flat) - tail :]}"


def duration_text(nanoseconds: float, unit: str) -> str:
    """Write a duration for a label: plain numbers for ticks, else with its unit.

    Examples
    --------
    >>> duration_text(2600, "ns"), duration_text(12, "tick")
    ('2.6 µs', '12')
    """
    return format_duration(nanoseconds, unit).replace(" us", " µs")


def percent(part: float, whole: float) -> str:
    """``part / whole`` as a percentage: one decimal from 1 to 100, none above, two digits below.

    Examples
    --------
    >>> percent(1, 12), percent(3, 100), percent(5, 2), percent(1, 2_400), percent(1, 10**6), percent(0, 7)
    ('8.3 %', '3.0 %', '250 %', '0.042 %', 'below 0.01 %', '0 %')
    """
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 0.01:
        return "below 0.01 %"
    if share < 0.995:
        return f"{share:.2g} %"
    return f"{share:.1f} %" if share < 99.95 else f"{share:,.0f} %"
