"""How far an experiment is: a bar on a terminal, a line now and then elsewhere; always on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from simsched.cli import console

Advance = Callable[[int, int], None]
LINES = 10


@contextmanager
def progress(name: str) -> Iterator[Advance]:
    """Show progress while the block runs; it gets a function to be called with finished and all runs."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR"):
        yield from _bar(name)
    else:
        yield _lines(name)


def _bar(name: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(name: str) -> Advance:
    """Write a line at the start, at every tenth, and at the end."""
    shown = -1

    def advance(done: int, total: int) -> None:
        nonlocal shown
        step = done * LINES // total if total else LINES
        if step != shown:
            shown = step
            console.warn(f"{name}: {done} of {total} runs")

    return advance
