"""Start-up: ``import simsched`` and ``simsched --help``, as whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from benchmarks.timing import Row

ROUNDS = 11


def start_up_rows() -> Iterator[Row]:
    """CPU time of the import against that of simpy, and of the help beyond a bare interpreter."""
    bare, simpy, ours, help_text = (
        _process_seconds(*command)
        for command in (
            ("-c", "pass"),
            ("-c", "import simpy"),
            ("-c", "import simsched"),
            ("-m", "simsched", "--help"),
        )
    )
    yield Row("import simsched / import simpy", (ours - bare) / (simpy - bare), "x", 3)
    yield Row("simsched --help beyond a bare interpreter", 1000 * (help_text - bare), "ms", 100)


def _process_seconds(*arguments: str) -> float:
    """Median CPU time of a Python process, children of this one only."""
    times = []
    for _ in range(ROUNDS):
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return median(times)
