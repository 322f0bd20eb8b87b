"""Why each operator of a run ran when it did, as compact records: every stretch of its time, with who was behind it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from simsched.analysis.explain import Explanation
from simsched.analysis.parts import Part
from simsched.analysis.timelines import MEMORY
from simsched.graph.model import OpId
from simsched.page.rounding import tidy

MOST_INSTANTS = 300_000
"""Each takes some 12 us to look at, where many resources are short: 4 s for a run."""
MOST_ENTRIES = 150_000
"""Parts and items of their lists: some 8 MB for a run."""

Record = dict[str, Any]
Waits = Callable[[OpId], Iterator[Part]]


def reasons_part(story: Explanation) -> list[list[Record]] | None:
    """Return the parts of all operators; None for runs that are too large for that.

    Why the policy had not dispatched an operator yet is asked at every instant at which something changed. In runs
    where that takes too long, or fills too much room, it is left open: such waits are given as ``undispatched``.
    """
    found = _all_parts(story, story.waits) if instants_asked(story) <= MOST_INSTANTS else None
    return _all_parts(story, story.outline) if found is None else found


def _all_parts(story: Explanation, waits: Waits) -> list[list[Record]] | None:
    """Return the parts of all operators; None as soon as they have too many entries."""
    found: list[list[Record]] = []
    entries = 0
    for op in range(len(story.run.trace)):
        records = [part_record(story, op, part) for part in chain(waits(op), story.runs(op))]
        entries += sum(map(_entries, records))
        if entries > MOST_ENTRIES:
            return None
        found.append(records)
    return found


def instants_asked(story: Explanation) -> int:
    """At how many instants something changed while operators could have been dispatched and were not, added up."""
    problem, trace, lines = story.run.problem, story.run.trace, story.timelines
    times = []
    for device, described in enumerate(problem.devices):
        changes = set(lines.taken_streams(device).times)
        changes.update(*(lines.used(device, resource).times for resource in described.resources))
        changes.update(lines.live(device).times if lines.limit(device) is not None else ())
        times.append(sorted(changes))
    return sum(
        bisect_left(times[device], dispatch) - bisect_right(times[device], ready)
        for op, (ready, dispatch) in enumerate(zip(trace.ready, trace.dispatch, strict=True))
        if dispatch > ready
        for device in problem.allowed_devices(op)
    )


def _entries(record: Record) -> int:
    return 1 + sum(len(value) for value in record.values() if isinstance(value, list))


def part_record(story: Explanation, op: OpId, part: Part) -> Record:
    """Return ``Part`` of ``web/types.d.ts``: what is at its default is left out."""
    record: Record = {"kind": part.kind, "reason": part.reason, "start": part.start, "end": part.end}
    optional: Record = {
        "culprit": part.culprit,
        "device": part.device,
        "short": [[short.resource, short.needs, short.free] for short in part.shortages],
        "holders": [list(row) for row in story.holders(part, but=op)],
        "tensors": [list(row) for row in story.tensors(part)],
        "ahead": part.ahead or None,
        "speed": None if part.speed == 1 else tidy(part.speed),
        "sharers": [[other, tidy(share)] for other, share in story.sharers(op, part)],
        "copy": None if part.copy < 0 else part.copy,
        "copies": _other_copies(story, part),
        "room": story.short_of_room(part) or None,
        "changed": _changed(story, part) or None,
        "thread": _thread(story, op, part),
        **_moving(story, op, part),
    }
    return record | {name: value for name, value in optional.items() if value is not None and value != []}


def _other_copies(story: Explanation, part: Part) -> list[int]:
    """Copies that the one waited for was behind, or beside: on its engines, before it in the queue, on its links."""
    copies = story.copies
    if part.reason == "copy_engine" and part.device is not None:
        return list(copies.running(part.device, part.start))
    if part.reason == "copy_queue":
        return list(copies.ahead(part.copy, part.start))
    if part.reason == "copy" and part.speed < 1:
        return list(copies.sharers(part.copy, part.start))
    return []


def _thread(story: Explanation, op: OpId, part: Part) -> int | None:
    """Thread of the host that launched an operator, where the host has several."""
    several = story.run.problem.hardware.host.threads > 1
    return story.host.thread(op) if several and part.reason in ("host", "host_launch") else None


def _moving(story: Explanation, op: OpId, part: Part) -> Record:
    """Bytes on their way where the trace records no copy, and how long that takes."""
    if part.reason != "transfer" or part.culprit is None:
        return {}
    problem, device = story.run.problem, story.timelines.device
    moving = problem.transfer_ns(part.culprit, op, device[part.culprit], device[op])
    return {"bytes": problem.edge_bytes(part.culprit, op), "moving": moving}


def _changed(story: Explanation, part: Part) -> bool:
    """Whether what was taken of something short changed within a part, so that its figures are those of its start."""
    if part.device is None:
        return False
    lines = story.timelines
    return any(
        lines.live(part.device).inside(part.start, part.end)
        if short.resource == MEMORY
        else lines.used(part.device, short.resource).inside(part.start, part.end)
        for short in part.shortages
    )
