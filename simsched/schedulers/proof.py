"""What a scheduler may say beside its dispatches: what it has proved, and how far a long search is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Proof:
    """What was proved of a problem, for a run in one memory mode with the estimated durations.

    A policy that has a proof shows it as its attribute ``proved``.

    Attributes
    ----------
    bound : int
        ns; no run of the problem is shorter, whatever its scheduler.
    status : {"optimal", "feasible"}
        Whether the plan that was found takes no longer than the bound.
    planned : int
        What the plan is expected to take, in ns. A run may take longer where it meets what the plan leaves out.
    """

    bound: int
    status: Literal["optimal", "feasible"]
    planned: int


@dataclass(frozen=True, slots=True)
class Searched:
    """How far a search is.

    Attributes
    ----------
    best : int or None
        Makespan of the best plan so far, in ns; None where there is none yet.
    bound : int
        What has been proved so far, in ns.
    """

    best: int | None
    bound: int


Listener = Callable[[Searched | None], None]
"""Called with how far a search is, and with None when it has ended."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Have searches in the block tell a listener whenever they find a better plan or prove more; None: tell nobody.

    It may be called from another thread, and is no part of a scheduler: what it does changes no result.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener() -> Listener | None:
    """Whoever listens now."""
    return _listener.get()


def proof_of(policy: object) -> Proof | None:
    """Return what a policy has proved so far, or None."""
    proved = getattr(policy, "proved", None)
    return proved if isinstance(proved, Proof) else None
