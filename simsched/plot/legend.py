"""The part of a legend that names operator types."""

from __future__ import annotations

from collections.abc import Mapping, Set

from matplotlib.patches import Patch

from simsched.colours import OTHER_FILL
from simsched.plot.style import clean


def type_patches(colours: Mapping[str, str], shown: Set[str], edge: str = "none") -> list[Patch]:
    """Return a patch per type that is shown; the types that share grey come last, in one.

    Parameters
    ----------
    colours : mapping of str to str
        From :func:`~simsched.colours.type_colours`.
    shown : set of str
        Types that the picture holds.
    edge : str
        Colour of the edges.
    """
    named = [(name, colour) for name, colour in colours.items() if name in shown and colour != OTHER_FILL]
    patches = [Patch(facecolor=colour, edgecolor=edge, label=clean(name, 28)) for name, colour in named]
    others = [name for name, colour in colours.items() if name in shown and colour == OTHER_FILL]
    if others:
        label = clean(", ".join(others), 28) if len(others) <= 3 else f"{len(others)} other types"
        patches.append(Patch(facecolor=OTHER_FILL, edgecolor=edge, label=label))
    return patches
