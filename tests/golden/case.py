"""One malformed file and the exact message that it must cause."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    what: str
    text: str
    message: str
    error: str = "ConfigError"
    file: str = "graph.yaml"
