"""The command line: ``simsched run | compare | experiment | list | check | profile | plot``.

One command a file; each is imported only when it is used, so that ``simsched --help`` stays light.
"""

from __future__ import annotations

from simsched.cli.app import main

__all__ = ["main"]
