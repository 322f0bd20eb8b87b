"""Waits for the consent of a device, from what the trace records: for units, bytes, room for blocks, in its queue."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Literal

from simsched.analysis.parts import Part, merged
from simsched.analysis.speeds import Speeds
from simsched.analysis.timelines import MEMORY, Timelines
from simsched.analysis.usage import Run
from simsched.graph.model import OpId
from simsched.trace import Wait

Head = tuple[int, int, OpId]
"""Start and end in ns, and the operator that was the head of a queue."""


class Consent:
    """Why devices did not let operators start.

    Parameters
    ----------
    run : Run
    timelines : Timelines
    speeds : Speeds
    """

    def __init__(self, run: Run, timelines: Timelines, speeds: Speeds) -> None:
        self._problem, self._trace = run.problem, run.trace
        self._lines, self._speeds = timelines, speeds
        self._heads = cache(self._heads_of)

    def parts(self, op: OpId, reached: int, start: int) -> Iterator[Part]:
        """Yield the recorded waits of an operator; time without one is of unknown reason."""
        for wait in self._recorded.get(op, ()):
            if wait.start < reached or wait.end > start:
                continue
            if wait.start > reached:
                yield Part("wait", "unknown", reached, wait.start)
            if wait.reason == "queue":
                yield from self._queued(op, wait.start, wait.end)
            else:
                yield from self._short(op, wait.reason, wait.start, wait.end)
            reached = wait.end
        if reached < start:
            yield Part("wait", "unknown", reached, start)

    def places_blocks(self, device: int) -> bool:
        """Whether a device places blocks on SMs."""
        return self._problem.devices[device].model == "blocks"

    def priority(self, op: OpId) -> int:
        """Priority of the stream to which an operator was dispatched."""
        stream, device = self._trace.stream[op], self._lines.device[op]
        levels = self._problem.devices[device].stream_priorities
        return levels[stream - self._problem.device_streams[device].start] if levels else 0

    def _short(self, op: OpId, reason: Literal["resource", "memory"], begin: int, end: int) -> Iterator[Part]:
        """Yield a wait for units, bytes or room, divided where something else becomes short."""
        device = self._lines.device[op]
        found: list[Part] = []
        for time in [begin, *sorted(self._lines.changes(op, device, begin, end))]:
            every = self._lines.shortages(op, device, time)
            short = tuple(item for item in every if (item.resource == MEMORY) == (reason == "memory"))
            if not short and reason == "resource" and self.places_blocks(device):
                found.append(Part("wait", "room", time, time, device=device))
            elif short or not found:
                found.append(Part("wait", reason, time, time, device=device, shortages=short))
        for part in merged(found, end):
            yield replace(part, culprit=self._giver(part))

    def _giver(self, part: Part) -> OpId | None:
        """The operator whose end gave back most of what was short; of equal ones the one with the lowest id."""
        lines, device = self._lines, part.device
        assert device is not None
        given: list[tuple[int, OpId]] = []
        if part.reason == "room":
            ended = self._speeds.blocks(device).ended.get(part.end, ())
            return min(((-row.blocks, row.op) for row in ended), default=(0, None))[1]
        for op in lines.ended.get(part.end, ()):
            units = 0
            for short in part.shortages:
                if short.resource == MEMORY:
                    units += lines.bytes_freed(op, device)
                elif lines.device[op] == device and self._trace.start[op] < part.end:
                    units += min(short.missing, lines.units(op, device, short.resource))
            if units:
                given.append((-units, op))
        return min(given)[1] if given else None

    def _queued(self, op: OpId, begin: int, end: int) -> Iterator[Part]:
        """Yield behind which heads of its device's queue the operator waited."""
        device, mine = self._lines.device[op], self.priority(op)
        heads = self._heads(device)
        reached = begin
        for start, finish, head in heads[bisect_right(heads, begin, key=lambda row: row[1]) :]:
            if start >= end:
                break
            if start > reached:
                yield Part("wait", "unknown", reached, start)
            first, last = max(start, reached), min(finish, end)
            reason: Literal["queue", "priority"] = "priority" if self.priority(head) < mine else "queue"
            begun = self._trace.start[head] <= first
            shortages = () if begun else self._lines.shortages(head, device, first)
            yield Part("wait", reason, first, last, head, device, shortages)
            reached = last
        if reached < end:
            yield Part("wait", "unknown", reached, end)

    def _heads_of(self, device: int) -> list[Head]:
        """Heads of a device's queue over time.

        Those that waited for something else than the queue, and those that had blocks left to place. Where both are
        there, the more urgent one is the head.
        """
        rows = [
            (wait.start, wait.end, wait.op)
            for wait in self._trace.waits
            if wait.reason != "queue" and self._lines.device[wait.op] == device
        ]
        if self.places_blocks(device):
            blocks = self._speeds.blocks(device)
            placed = ((self._trace.start[op], blocks.last_placed(op), op) for op in blocks.grids)
            rows += [row for row in placed if row[1] > row[0]]
        rows.sort()
        if all(first[1] <= second[0] for first, second in pairwise(rows)):
            return rows
        return list(_most_urgent(rows, {op: self.priority(op) for _, _, op in rows}))

    @cached_property
    def _recorded(self) -> dict[OpId, list[Wait]]:
        """Recorded waits of each operator, in order of time."""
        found: dict[OpId, list[Wait]] = {}
        for wait in sorted(self._trace.waits, key=lambda wait: (wait.start, wait.end)):
            found.setdefault(wait.op, []).append(wait)
        return found


def _most_urgent(rows: list[Head], priority: dict[OpId, int]) -> Iterator[Head]:
    """Yield, for intervals that overlap, the most urgent at each time; of equal ones the first to begin."""
    times = sorted({time for start, end, _ in rows for time in (start, end)})
    active: list[Head] = []
    place = 0
    for number, time in enumerate(times[:-1]):
        while place < len(rows) and rows[place][0] <= time:
            active.append(rows[place])
            place += 1
        active = [row for row in active if row[1] > time]
        if active:
            yield time, times[number + 1], min(active, key=lambda row: (priority[row[2]], row))[2]
