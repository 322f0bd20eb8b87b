"""The garbage collector, held off while many long-lived values are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep the cyclic collector from running; its former state comes back afterwards, whatever happens.

    A collector that runs while a hundred thousand values are made scans all of them again and again, in vain.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            _to_the_oldest()
            gc.enable()


def collect_young() -> None:
    """Collect what was made since the last time, while the collector is off: in time that grows with that alone."""
    if not gc.isenabled():
        gc.collect(0)


def _to_the_oldest() -> None:
    """Count what was made as long-lived at once; else the next collection of young values would scan all of it."""
    if not gc.get_freeze_count():  # otherwise somebody keeps values frozen on purpose
        gc.freeze()
        gc.unfreeze()
