"""What one run comes to, in a form that the reference and the engine can both be brought into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simsched.graph.model import OpId
from simsched.trace import Trace

Interval = tuple[OpId, str, int, int]
Move = tuple[int, ...]
"""Source, target, devices, start, end, bytes, tensor, asked."""
Placed = tuple[OpId, int, int, int, tuple[tuple[int, int], ...]]


@dataclass
class Told:
    """What a simulator says about one run; ``curves`` lists every change of live bytes: time, bytes."""

    stream: list[int]
    dispatch: list[int]
    ready: list[int]
    start: list[int]
    end: list[int]
    launch_order: list[OpId] = field(default_factory=list)
    launched: list[int] = field(default_factory=list)
    waits: list[Interval] = field(default_factory=list)
    transfers: list[Move] = field(default_factory=list)
    cohorts: list[Placed] = field(default_factory=list)
    curves: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    peaks: dict[int, int] = field(default_factory=dict)
    calls: int = 0


def changes(curve: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """A curve of live bytes that begins at 0, without the steps that change nothing."""
    before = [0, *(live for _, live in curve)]
    return [step for step, last in zip(curve, before, strict=False) if step[1] != last]


def told_by(trace: Trace, devices: int) -> Told:
    """Bring a trace of the engine into the form of the reference."""
    told = Told(*(list(getattr(trace, name)) for name in ("stream", "dispatch", "ready", "start", "end")))
    told.launch_order = list(trace.launch_order)
    told.launched = list(trace.launched)
    told.waits = sorted((wait.op, wait.reason, wait.start, wait.end) for wait in trace.waits)
    told.transfers = sorted(
        (
            move.source, move.target, move.from_device, move.to_device, move.start, move.end, move.bytes,
            move.tensor, move.asked,
        )
        for move in trace.transfers
    )  # fmt: skip
    told.cohorts = sorted(tuple(cohort) for cohort in trace.cohorts)
    told.curves = {device: changes(trace.memory.curve(device)) for device in range(devices)}
    told.peaks = {device: trace.memory.peak(device) for device in range(devices)}
    told.calls = trace.calls
    return told
