"""Why an operator ran when it did: every nanosecond from time 0 to its end, with a reason and who was behind it.

The parts of an operator follow each other without gap or overlap. Up to its start each is a wait, for what it could
not do without, in this order: its predecessors, data on its way, the policy, the host, its stream, the consent of its
device. From then on it is launched, and runs at full speed or, beside others, more slowly. Everything is read from the
problem and the trace; nothing asks the engine or the policy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

from simsched.analysis.consent import Consent
from simsched.analysis.copying import Copies
from simsched.analysis.launches import Host
from simsched.analysis.parts import LOSSES, Part, Reason, RunReason, clipped, merged
from simsched.analysis.shared_bandwidth import Piece
from simsched.analysis.speeds import Speeds
from simsched.analysis.timelines import MEMORY, Timelines
from simsched.analysis.usage import Run, live_tensors
from simsched.graph.model import OpId

__all__ = ["Explanation", "Part", "Reason", "explain"]

Undispatched = Callable[[OpId, int, int], Iterator[Part]]
"""Says why the policy may not have dispatched an operator within an interval."""


class Explanation:
    """The reasons of one run, worked out for each operator when it is asked for.

    Parameters
    ----------
    run : Result
        Or anything with ``problem``, ``trace``, ``memory`` and ``actual``.

    Attributes
    ----------
    timelines : Timelines
        What was taken when.
    speeds : Speeds
        How fast kernels ran.
    copies : Copies
        What copies between devices waited for, and how fast they were.
    host : Host
        Launches.

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
        self.speeds = Speeds(run, self.timelines.device)
        self.copies = Copies(run, self.timelines)
        self.host = Host(run.problem, run.trace)
        self._consent = Consent(run, self.timelines, self.speeds)
        self._problem, self._trace = run.problem, run.trace

    def parts(self, op: OpId) -> tuple[Part, ...]:
        """Return the parts of one operator: contiguous, in order of time, from 0 to its end."""
        return (*self.waits(op), *self.runs(op))

    def waited(self, op: OpId) -> int:
        """Time from the end of the operator's last predecessor to its start, in ns."""
        return self._trace.start[op] - self._trace.ready[op]

    def holders(self, part: Part, *, but: OpId | None = None) -> tuple[tuple[OpId, int], ...]:
        """Return who had what was missing when a part began.

        Parameters
        ----------
        part : Part
        but : int, optional
            An operator to leave out: the one that waits for room for the rest of its blocks.

        Returns
        -------
        tuple of (int, int)
            Operators that ran then, with the units (or, for ``room``, the blocks) that they held of what was short
            first, most units first; for ``no_stream`` those on the streams, with 1. Empty where bytes were short: see
            :meth:`tensors`.
        """
        if part.device is None:
            return ()
        running = self.timelines.running(part.device, part.start)
        if part.reason == "no_stream":
            return tuple((op, 1) for op in running)
        if self.short_of_room(part):
            return tuple(row for row in self.speeds.blocks(part.device).resident(part.start) if row[0] != but)
        resource = next((short.resource for short in part.shortages if short.resource != MEMORY), None)
        if resource is None:
            return ()
        held = [(op, self.timelines.units(op, part.device, resource)) for op in running]
        return tuple(sorted((pair for pair in held if pair[1]), key=lambda pair: (-pair[1], pair[0])))

    def short_of_room(self, part: Part) -> bool:
        """Whether a part lasted until there was room for blocks, its own or those of the head of the queue."""
        if part.device is None or part.shortages or not self._consent.places_blocks(part.device):
            return False
        return part.reason in ("room", "queue", "priority")

    def tensors(self, part: Part, largest: int = 5) -> tuple[tuple[str, int], ...]:
        """Return the largest tensors live when a part began in which memory was short, with their bytes."""
        if part.device is None or all(short.resource != MEMORY for short in part.shortages):
            return ()
        return tuple(live_tensors(self.run, part.device, part.start)[:largest])

    def sharers(self, op: OpId, part: Part) -> tuple[tuple[OpId, float], ...]:
        """Return with whom an operator shared what slowed it when a part began, and which part of it they got.

        The largest share comes first; empty for parts that nothing slowed, and for copies: see
        :meth:`simsched.analysis.copying.Copies.sharers`.
        """
        if part.kind != "run" or part.reason not in ("bandwidth", "arithmetic"):
            return ()
        return tuple(self.speeds.sharers(op, part.start, part.reason))

    # --- waits ----------------------------------------------------------------------------------------------------

    def waits(self, op: OpId) -> Iterator[Part]:
        """Yield what the operator waited for, from 0 to its start."""
        return self._waits(op, self._undispatched)

    def outline(self, op: OpId) -> Iterator[Part]:
        """Yield the same without a look at why the policy did not dispatch it earlier, which takes longest to find."""
        return self._waits(op, lambda _, begin, end: iter((Part("wait", "undispatched", begin, end),)))

    def _waits(self, op: OpId, undispatched: Undispatched) -> Iterator[Part]:
        trace, start = self._trace, self._trace.start[op]
        reached = min(trace.ready[op], start)
        if reached > 0:
            yield Part("wait", "dependency", 0, reached, self._last_predecessor(op))
        for part in clipped(self._arrival(op), reached, start):
            if part.start > reached:
                yield from self._commands(op, reached, part.start, undispatched)
            yield part
            reached = part.end
        commanded = min(max(trace.dispatch[op], self.host.through(op)), start)
        if commanded > reached:
            yield from self._commands(op, reached, commanded, undispatched)
            reached = commanded
        before = self._before.get(op)
        free = 0 if before is None else min(trace.end[before], start)
        if free > reached:
            ops = self.timelines.by_stream[trace.stream[op]]
            ended = bisect_right(ops, reached, hi=self._position[op], key=trace.end.__getitem__)
            yield Part("wait", "stream", reached, free, before, ahead=self._position[op] - ended)
            reached = free
        yield from self._consent.parts(op, reached, start)

    def _last_predecessor(self, op: OpId) -> OpId | None:
        """The predecessor that ended last; of several the one with the lowest id."""
        return max(self._problem.graph.pred[op], key=lambda before: (self._trace.end[before], -before), default=None)

    def _arrival(self, op: OpId) -> Iterator[Part]:
        """Yield what the input that came last did between the end of its maker and its arrival, where that took time.

        What came before a copy was asked for is left out: then the operator's own dispatch or launch was missing.
        """
        problem, trace, devices = self._problem, self._trace, self.timelines.device
        if len(problem.devices) == 1 and not problem.event_ns:
            return
        here, last, latest = devices[op], None, trace.ready[op]
        for before in problem.graph.pred[op]:
            there = self._arrives(before, op)
            if there > latest:
                last, latest = before, there
        if last is None:
            return
        left = trace.end[last]
        if devices[last] == here:
            yield Part("wait", "event", left, latest, last)
            return
        copies = self.copies.inputs(last, op, here)
        if copies:
            number = max(copies, key=lambda each: (trace.transfers[each].end, -each))
            yield from self.copies.parts(number)
            left = trace.transfers[number].end
            if latest > left:
                yield Part("wait", "delay", left, latest, last)
            return
        pure = latest - left == problem.graph.delays.get((last, op), 0)
        yield Part("wait", "delay" if pure else "transfer", left, latest, last)

    def _arrives(self, before: OpId, op: OpId) -> int:
        """When what an operator reads of a predecessor was there, or the predecessor's end was seen."""
        problem, trace, devices = self._problem, self._trace, self.timelines.device
        end, there, here = trace.end[before], devices[before], devices[op]
        if there == here:
            return end + (problem.event_ns if trace.stream[before] != trace.stream[op] else 0)
        copies = self.copies.inputs(before, op, here)
        if not copies:
            return end + problem.transfer_ns(before, op, there, here)
        return max(end, *(trace.transfers[each].end for each in copies)) + problem.graph.delays.get((before, op), 0)

    def _commands(self, op: OpId, begin: int, end: int, undispatched: Undispatched) -> Iterator[Part]:
        """Yield why the operator was not dispatched, and then not launched, within an interval."""
        dispatched = min(max(self._trace.dispatch[op], begin), end)
        if dispatched > begin:
            yield from undispatched(op, begin, dispatched)
        reached = dispatched
        for part in clipped(self.host.parts(op), dispatched, end):
            yield part
            reached = part.end
        if reached < end:
            yield Part("wait", "unknown", reached, end)

    def _undispatched(self, op: OpId, begin: int, end: int) -> Iterator[Part]:
        """Yield why the policy may not have dispatched the operator yet: as far as what was free can tell."""
        devices = self._problem.allowed_devices(op)
        times = {begin}.union(*(self.timelines.changes(op, device, begin, end) for device in devices))
        yield from merged([self._undispatched_at(op, time) for time in sorted(times)], end)

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

    # --- runs -----------------------------------------------------------------------------------------------------

    def runs(self, op: OpId) -> Iterator[Part]:
        """Yield the launch and the rest; where durations differ from the estimates, the launch does in proportion."""
        start, end, device = self._trace.start[op], self._trace.end[op], self.timelines.device[op]
        body = min(self.speeds.body(op), end)
        if body > start:
            yield Part("run", "launch", start, body)
        bound = self.bound(op)
        for piece in self.speeds.pieces(op):
            yield _running(piece, bound, device)

    def bound(self, op: OpId) -> RunReason:
        """What bounds an operator at full speed, after its launch."""
        cost = self._problem.cost(op, self.timelines.device[op])
        if cost.bound != "launch":
            return cost.bound
        return "compute" if cost.compute_ns > cost.memory_ns else "memory"

    def spent(self, op: OpId, until: int | None = None) -> dict[RunReason, int]:
        """Divide an operator's run into what it would have taken alone, and what it lost by sharing.

        Parameters
        ----------
        op : int
        until : int, optional
            Look at its run up to here only, in ns.

        Returns
        -------
        dict of str to int
            ns by reason; the values add up to the length of the run. ``launch``, what bounds it, and ``tail`` are
            what it takes alone; ``bandwidth``, ``arithmetic`` and ``room`` are what it lost: its time less its time
            alone, divided in proportion to how much it was slowed by each and for how long.
        """
        start, end = self._trace.start[op], self._trace.end[op]
        parts = list(self.runs(op))
        lost = end - start - self.speeds.alone(op)
        if until is not None and until < end:
            parts = list(clipped(parts, start, until))
            end = until
            lost = round(sum((1 - part.speed) * part.length for part in parts))
        slowed = [(part.reason, (1 - part.speed) * part.length) for part in parts if part.speed < 1]
        weights = {reason: sum(loss for name, loss in slowed if name == reason) for reason in LOSSES}
        total = sum(weights.values())
        found: dict[RunReason, int] = {"launch": sum(part.length for part in parts if part.reason == "launch")}
        left, lost = end - start - found["launch"], max(lost, 0) if total else 0
        for reason, weight in weights.items():
            # What is left of the loss by what is left of the weights: the last one gets the rest.
            found[reason] = round(lost * weight / total) if weight else 0
            lost, total, left = lost - found[reason], total - weight, left - found[reason]
        found["tail"] = min(round(sum(part.speed * part.length for part in parts if part.reason == "tail")), left)
        found[self.bound(op)] = left - found["tail"]
        return {reason: time for reason, time in found.items() if time}

    # --- of the whole trace ---------------------------------------------------------------------------------------

    @cached_property
    def _position(self) -> dict[OpId, int]:
        """Place of each operator in its stream."""
        return {op: place for ops in self.timelines.by_stream for place, op in enumerate(ops)}

    @cached_property
    def _before(self) -> dict[OpId, OpId]:
        """The operator before each in its stream."""
        return {op: ops[place] for ops in self.timelines.by_stream for place, op in enumerate(ops[1:])}


def explain(run: Run, op: OpId | str) -> tuple[Part, ...]:
    """Return why one operator, by id or name, ran when it did; see :class:`Explanation` for many of one run.

    Raises
    ------
    UnknownNameError
        If no operator has that name.
    """
    return Explanation(run).parts(run.problem.graph.id_of(op) if isinstance(op, str) else op)


def _running(piece: Piece, bound: RunReason, device: int) -> Part:
    """The part of a piece of a run."""
    reasons: dict[str, RunReason] = {"bandwidth": "bandwidth", "arithmetic": "arithmetic", "room": "room"}
    part = Part("run", "tail" if piece.tail else bound, piece.start, piece.end, speed=piece.speed)
    if not piece.limit:
        return part
    return replace(part, reason=reasons[piece.limit], device=device, ahead=piece.waiting)
