"""Begun: a run in its middle, from which the rest can be planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simsched.graph.model import OpId


@dataclass(frozen=True, slots=True)
class Begun:
    """What has been dispatched by an instant. A plan leaves it as it is, and starts all else at that instant or later.

    Attributes
    ----------
    now : int
        The instant, in ns.
    stream : mapping of int to int
        Stream of every operator that has been dispatched; with an operator, all its predecessors are in it.
    start : mapping of int to int
        When each of them started, or is expected to.
    end : mapping of int to int
        When each of them ended, or is expected to: after ``now`` where it runs.
    """

    now: int = 0
    stream: Mapping[OpId, int] = field(default_factory=dict)
    start: Mapping[OpId, int] = field(default_factory=dict)
    end: Mapping[OpId, int] = field(default_factory=dict)


NOTHING = Begun()
"""The beginning of a run."""
