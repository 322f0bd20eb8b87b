"""The three standard streams, whatever state they are handed to us in, and the signal that ends a process."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn, TextIO

from simsched.cli import exits


def open_missing() -> None:
    """Lead streams that the caller has closed to nowhere, so that no file of ours is opened in their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def settle() -> None:
    """Write what is left; where that cannot be done it has been reported, and Python must not complain once more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            silence(stream)


def silence(stream: TextIO) -> None:
    """Lead a stream to nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def end_in_order() -> None:
    """Make a request to end (SIGTERM) unwind like an interruption: workers end too, and no file is left half there."""
    # Elsewhere than in the main thread, and where a caller has his own way to end, nothing is changed.
    with suppress(ValueError):
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise SystemExit(exits.TERMINATED)
