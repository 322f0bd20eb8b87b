"""What a notebook shows of a graph, a run or a comparison: found by name, since the page lies layers above them.

Graphs and results must not import the page, which imports them. A text names it, and it is loaded when a notebook asks;
so importing simsched costs nothing more, and whoever never opens a notebook never loads it.
"""

from __future__ import annotations

import importlib
from typing import Any

PAGE = "simsched.page.notebook"


def notebook_html(shown: Any) -> str:
    """Return what ``_repr_html_`` returns, for a Graph, a Result or a Comparison."""
    found: str = importlib.import_module(PAGE).notebook_html(shown)
    return found
