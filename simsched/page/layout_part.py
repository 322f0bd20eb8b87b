"""Places of a layered drawing, of operators or of groups of them."""

from __future__ import annotations

from typing import Any

from simsched.graph.layout import Layout
from simsched.page.rounding import tidy

DIGITS = 3
"""Of a place: a thousandth of the room of an operator."""


def layout_part(layout: Layout) -> dict[str, Any]:
    """Return ``Layout`` of ``web/types.d.ts``."""
    return {
        "x": [tidy(x, DIGITS) for x in layout.x],
        "level": list(layout.level),
        "levels": layout.levels,
        "routes": [
            [source, target, *(value for x, level in way for value in (tidy(x, DIGITS), level))]
            for (source, target), way in sorted(layout.routes.items())
        ],
    }
