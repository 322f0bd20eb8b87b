"""Parts of an operator's time: what it did, or what it waited for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from simsched.analysis.timelines import Shortage
from simsched.graph.model import OpId

WaitReason = Literal[
    "dependency", "event", "transfer", "delay", "copy_engine", "copy_queue", "copy_memory", "copy_latency", "copy",
    "undispatched", "no_stream", "passed_over", "held", "host_sync", "host", "host_launch", "host_graph", "stream",
    "resource", "room", "queue", "priority", "memory", "unknown",
]  # fmt: skip
RunReason = Literal[
    "launch", "compute", "memory", "explicit", "measured", "none", "tail", "bandwidth", "arithmetic", "room"
]
Reason = WaitReason | RunReason

LOSSES: tuple[RunReason, ...] = ("bandwidth", "arithmetic", "room")
"""Reasons for which an operator runs more slowly than alone."""


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of an operator's time.

    Attributes
    ----------
    kind : {"wait", "run"}
    reason : str
        Of a wait, before it could be dispatched: ``dependency`` (a predecessor had not ended), ``event`` (the
        end of one in another stream was not seen yet). While an input was on its way from another device:
        ``copy_engine`` (no copy engine free), ``copy_queue`` (behind a copy that waits), ``copy_memory`` (bytes
        short for the copy), ``copy_latency``, ``copy`` (its bytes flow), ``delay`` (the delay of the edge),
        ``transfer`` (the trace records no copy). ``no_stream`` (not dispatched; every stream that may run it
        was taken), ``passed_over`` (not dispatched; where a stream was free, it was short of something),
        ``held`` (not dispatched, though a stream and all that it needs were free); in outlines ``undispatched``
        for these three. In the host: ``host_sync`` (it had to learn of the completion), ``host`` (behind other
        launches of its thread), ``host_launch`` (its own launch), ``host_graph`` (the launch of the graph).
        Then ``stream`` (behind others in its stream), ``resource`` (units short), ``room`` (no SM had room for
        one of its blocks), ``queue`` (behind the head of its device's queue), ``priority`` (behind the head of
        a more urgent one), ``memory`` (bytes short), ``unknown`` (the trace gives none: the run breaks the
        rules).
        Of a run: ``launch``; at full speed what bounds the kernel, as :class:`simsched.cost.base.KernelCost` says it:
        ``compute``, ``memory``, ``explicit``, ``measured`` or ``none``, or ``tail`` (only its last, partial wave of
        blocks is left); slower than alone: ``bandwidth`` and ``arithmetic`` (it shared them), ``room`` (others had
        places of blocks that still waited).
    start, end : int
        ns; ``end > start``.
    culprit : int or None
        ``dependency``: the predecessor that ended last. ``event``, ``transfer``, ``delay`` and those of copies: the
        predecessor whose data came last. ``host``: the operator launched just before. ``stream``: the one just before
        it. ``queue``, ``priority``: the head of the queue. ``resource``, ``room``, ``memory``: the operator that ended
        this wait, by giving back most of what was short; None where none did.
    device : int or None
        The device that was short of something, whose streams were taken, or that was shared; None where that is not
        the reason. For copies the device that was short.
    shortages : tuple of Shortage
        What was short when the part began.
    ahead : int
        ``stream``: how many operators of the stream had to end first. ``host``: how many launches of the thread had to
        come through first. ``room``: how many blocks had no place.
    speed : float
        Of a run, and of ``copy``: progress per ns against that alone.
    copy : int
        The copy that was waited for, as its index in the trace's transfers; -1 where there is none.
    """

    kind: Literal["wait", "run"]
    reason: Reason
    start: int
    end: int
    culprit: OpId | None = None
    device: int | None = None
    shortages: tuple[Shortage, ...] = ()
    ahead: int = 0
    speed: float = 1.0
    copy: int = -1

    @property
    def length(self) -> int:
        """Duration in ns."""
        return self.end - self.start


def clipped(parts: Iterable[Part], begin: int, end: int) -> Iterator[Part]:
    """Yield what of parts lies within an interval."""
    for part in parts:
        first, last = max(part.start, begin), min(part.end, end)
        if last > first:
            yield part if (first, last) == (part.start, part.end) else replace(part, start=first, end=last)


def merged(parts: Iterable[Part], end: int) -> Iterator[Part]:
    """Let each part last to the next of another reason, device, or shortage; the figures are those of its beginning."""
    open_part: Part | None = None
    for part in parts:
        if open_part is None:
            open_part = part
        elif _subject(part) != _subject(open_part):
            yield replace(open_part, end=part.start)
            open_part = part
    if open_part is not None:
        yield replace(open_part, end=end)


def _subject(part: Part) -> tuple[object, ...]:
    return part.reason, part.device, part.copy, part.speed, tuple(short.resource for short in part.shortages)
