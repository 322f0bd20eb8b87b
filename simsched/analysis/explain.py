"""Why an operator ran when it did: every nanosecond from time 0 to its end, with a reason and who was behind it.

The parts of an operator follow each other without gap or overlap. Up to its start each is a wait, for what it could
not do without, in this order: its predecessors, data on its way, the policy, its stream, the consent of its device.
Everything is read from the problem and the trace; nothing asks the engine or the policy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from simsched.analysis.timelines import MEMORY, Shortage, Timelines
from simsched.analysis.usage import Run, live_tensors
from simsched.graph.model import OpId
from simsched.trace import Wait

Reason = Literal[
    "dependency", "transfer", "no_stream", "passed_over", "held", "stream", "resource", "queue", "memory", "unknown",
    "launch", "compute", "explicit", "measured", "none",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of an operator's time.

    Attributes
    ----------
    kind : {"wait", "run"}
    reason : str
        Of a wait: ``dependency`` (a predecessor had not ended), ``transfer`` (its inputs were on their way),
        ``no_stream`` (not dispatched; every stream that may run it was taken), ``passed_over`` (not dispatched; where
        a stream was free, it was short of something), ``held`` (not dispatched, though a stream and all that it needs
        were free), ``stream`` (behind others in its stream), ``resource`` (units short), ``queue`` (behind the head of
        its device's queue), ``memory`` (bytes short), ``unknown`` (the trace gives none: the run breaks the rules).
        Of a run: ``launch``, then what bounds the kernel, as :class:`simsched.cost.base.KernelCost` says it:
        ``compute``, ``memory``, ``explicit``, ``measured`` or ``none``.
    start, end : int
        ns; ``end > start``.
    culprit : int or None
        ``dependency``: the predecessor that ended last. ``transfer``: the one whose data came last. ``stream``: the
        operator just before it. ``queue``: the head of the queue. ``resource``, ``memory``: the operator that ended
        this wait, by giving back most of what was short; None where none did.
    device : int or None
        The device that was short of something, or whose streams were taken; None where that is not the reason.
    shortages : tuple of Shortage
        What was short when the part began.
    ahead : int
        ``stream``: how many operators of the stream had to end first.
    """

    kind: Literal["wait", "run"]
    reason: Reason
    start: int
    end: int
    culprit: OpId | None = None
    device: int | None = None
    shortages: tuple[Shortage, ...] = ()
    ahead: int = 0

    @property
    def length(self) -> int:
        """Duration in ns."""
        return self.end - self.start


class Explanation:
    """The reasons of one run, worked out for each operator when it is asked for.

    Parameters
    ----------
    run : Result
        Or anything with ``problem``, ``trace``, ``memory`` and ``actual``.

    Examples
    --------
    >>> from simsched import run
    >>> story = Explanation(run("residual", "serial", "lanes:2"))
    >>> [(part.reason, part.start, part.end) for part in story.parts(2)]
    [('dependency', 0, 2), ('explicit', 2, 3)]
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.timelines = Timelines(run)
        self._problem, self._trace = run.problem, run.trace

    def parts(self, op: OpId) -> tuple[Part, ...]:
        """Return the parts of one operator: contiguous, in order of time, from 0 to its end."""
        return (*self.waits(op), *self.runs(op))

    def waited(self, op: OpId) -> int:
        """Time from the end of the operator's last predecessor to its start, in ns."""
        return self._trace.start[op] - self._trace.ready[op]

    def holders(self, part: Part) -> tuple[tuple[OpId, int], ...]:
        """Return who had what was missing when a part began.

        Returns
        -------
        tuple of (int, int)
            Operators that ran then, with the units that they held of what was short first, most units first; for
            ``no_stream`` those on the streams, with 1. Empty where bytes were short: see :meth:`tensors`.
        """
        if part.device is None:
            return ()
        running = self.timelines.running(part.device, part.start)
        if part.reason == "no_stream":
            return tuple((op, 1) for op in running)
        resource = next((short.resource for short in part.shortages if short.resource != MEMORY), None)
        if resource is None:
            return ()
        held = [(op, self.timelines.units(op, part.device, resource)) for op in running]
        return tuple(sorted((pair for pair in held if pair[1]), key=lambda pair: (-pair[1], pair[0])))

    def tensors(self, part: Part, largest: int = 5) -> tuple[tuple[str, int], ...]:
        """Return the largest tensors live when a part began in which memory was short, with their bytes."""
        if part.device is None or all(short.resource != MEMORY for short in part.shortages):
            return ()
        return tuple(live_tensors(self.run, part.device, part.start)[:largest])

    # --- waits ----------------------------------------------------------------------------------------------------

    def waits(self, op: OpId) -> Iterator[Part]:
        """Yield what the operator waited for, from 0 to its start."""
        trace, start = self._trace, self._trace.start[op]
        reached = min(trace.ready[op], start)
        if reached > 0:
            yield Part("wait", "dependency", 0, reached, self._last_predecessor(op))
        source, arrival = self._last_arrival(op)
        if min(arrival, start) > reached:
            yield Part("wait", "transfer", reached, min(arrival, start), source)
            reached = min(arrival, start)
        dispatched = min(trace.dispatch[op], start)
        if dispatched > reached:
            yield from self._undispatched(op, reached, dispatched)
            reached = dispatched
        before = self._before.get(op)
        free = 0 if before is None else min(trace.end[before], start)
        if free > reached:
            ops = self.timelines.by_stream[trace.stream[op]]
            ended = bisect_right(ops, reached, hi=self._position[op], key=trace.end.__getitem__)
            yield Part("wait", "stream", reached, free, before, ahead=self._position[op] - ended)
            reached = free
        yield from self._refused(op, reached, start)

    def _last_predecessor(self, op: OpId) -> OpId | None:
        """The predecessor that ended last; of several the one with the lowest id."""
        return max(self._problem.graph.pred[op], key=lambda before: (self._trace.end[before], -before), default=None)

    def _last_arrival(self, op: OpId) -> tuple[OpId | None, int]:
        """The predecessor on another device whose data arrived last, and when."""
        problem, devices = self._problem, self.timelines.device
        source, latest = None, 0
        if len(problem.devices) > 1:
            for before in problem.graph.pred[op]:
                moving = problem.transfer_ns(before, op, devices[before], devices[op])
                if moving and self._trace.end[before] + moving > latest:
                    source, latest = before, self._trace.end[before] + moving
        return source, latest

    def _undispatched(self, op: OpId, begin: int, end: int) -> Iterator[Part]:
        """Yield why the policy may not have dispatched the operator yet: as far as what was free can tell."""
        devices = self._problem.allowed_devices(op)
        times = {begin}.union(*(self.timelines.changes(op, device, begin, end) for device in devices))
        yield from _merged([self._undispatched_at(op, time) for time in sorted(times)], end)

    def _undispatched_at(self, op: OpId, time: int) -> Part:
        home, lines = self.timelines.device[op], self.timelines
        devices = sorted(self._problem.allowed_devices(op), key=lambda device: (device != home, device))
        idle = [
            device
            for device in devices
            if lines.taken_streams(device).at(time) < len(self._problem.device_streams[device])
        ]
        if not idle:
            return Part("wait", "no_stream", time, time, device=devices[0])
        short = [lines.shortages(op, device, time) for device in idle]
        if all(short):
            return Part("wait", "passed_over", time, time, device=idle[0], shortages=short[0])
        return Part("wait", "held", time, time)

    def _refused(self, op: OpId, reached: int, start: int) -> Iterator[Part]:
        """Yield the recorded waits for the device; time without one is of unknown reason."""
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

    def _short(self, op: OpId, reason: Literal["resource", "memory"], begin: int, end: int) -> Iterator[Part]:
        """Yield a wait for units or bytes, divided where something else becomes short."""
        device = self.timelines.device[op]
        found: list[Part] = []
        for time in [begin, *sorted(self.timelines.changes(op, device, begin, end))]:
            every = self.timelines.shortages(op, device, time)
            short = tuple(item for item in every if (item.resource == MEMORY) == (reason == "memory"))
            if short or not found:
                found.append(Part("wait", reason, time, time, device=device, shortages=short))
        for part in _merged(found, end):
            culprit = self._giver(part)
            yield Part("wait", reason, part.start, part.end, culprit, device, part.shortages)

    def _giver(self, part: Part) -> OpId | None:
        """The operator whose end gave back most of what was short; of equal ones the one with the lowest id."""
        lines, device = self.timelines, part.device
        assert device is not None
        given: list[tuple[int, OpId]] = []
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
        """Yield behind which heads of its device's queue the operator waited: those that were short of something."""
        heads = self._heads.get(self.timelines.device[op], [])
        reached = begin
        for start, finish, head in heads[bisect_right(heads, begin, key=lambda row: row[1]) :]:
            if start >= end:
                break
            if start > reached:
                yield Part("wait", "unknown", reached, start)
            last = min(finish, end)
            device = self.timelines.device[op]
            shortages = self.timelines.shortages(head, device, max(start, reached))
            yield Part("wait", "queue", max(start, reached), last, head, device, shortages)
            reached = last
        if reached < end:
            yield Part("wait", "unknown", reached, end)

    # --- runs -----------------------------------------------------------------------------------------------------

    def runs(self, op: OpId) -> Iterator[Part]:
        """Yield the launch and the rest; where durations differ from the estimates, the launch does in proportion."""
        start, end, device = self._trace.start[op], self._trace.end[op], self.timelines.device[op]
        cost = self._problem.cost(op, device)
        estimate, took, launch = cost.duration, end - start, int(cost.launch_ns)
        if took != estimate and estimate:
            launch = launch * took // estimate
        body = start + min(max(launch, 0), took)
        if body > start:
            yield Part("run", "launch", start, body)
        if end > body:
            bound: Reason = "compute" if cost.compute_ns > cost.memory_ns else "memory"
            yield Part("run", bound if cost.bound == "launch" else cost.bound, body, end)

    # --- of the whole trace ---------------------------------------------------------------------------------------

    @cached_property
    def _position(self) -> dict[OpId, int]:
        """Place of each operator in its stream."""
        return {op: place for ops in self.timelines.by_stream for place, op in enumerate(ops)}

    @cached_property
    def _before(self) -> dict[OpId, OpId]:
        """The operator before each in its stream."""
        return {op: ops[place] for ops in self.timelines.by_stream for place, op in enumerate(ops[1:])}

    @cached_property
    def _recorded(self) -> dict[OpId, list[Wait]]:
        """Recorded waits of each operator, in order of time."""
        found: dict[OpId, list[Wait]] = {}
        for wait in sorted(self._trace.waits, key=lambda wait: (wait.start, wait.end)):
            found.setdefault(wait.op, []).append(wait)
        return found

    @cached_property
    def _heads(self) -> dict[int, list[tuple[int, int, OpId]]]:
        """Waits of those that were short of something, by device: of a queue only the head can be."""
        found: dict[int, list[tuple[int, int, OpId]]] = {}
        for wait in self._trace.waits:
            if wait.reason != "queue":
                found.setdefault(self.timelines.device[wait.op], []).append((wait.start, wait.end, wait.op))
        return {device: sorted(rows) for device, rows in found.items()}


def explain(run: Run, op: OpId | str) -> tuple[Part, ...]:
    """Return why one operator, by id or name, ran when it did; see :class:`Explanation` for many of one run.

    Raises
    ------
    UnknownNameError
        If no operator has that name.
    """
    return Explanation(run).parts(run.problem.graph.id_of(op) if isinstance(op, str) else op)


def _merged(parts: Iterable[Part], end: int) -> Iterator[Part]:
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
    return part.reason, part.device, tuple(short.resource for short in part.shortages)
