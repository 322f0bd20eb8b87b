"""The scheduling loop told step by step, for learners: what finished, what is ready, what was free, what was chosen.

The story is read from the trace, like every other result; run with ``explain=True`` so that schedulers word the
reason of each choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simsched.graph.model import OpId
from simsched.result import Result
from simsched.trace import Wait
from simsched.units import format_duration, format_size, plural

SHOWN = 12
"""Names listed before the rest is only counted."""


def tell(result: Result) -> Iterator[str]:
    """Tell a run instant by instant.

    Parameters
    ----------
    result : Result

    Yields
    ------
    str
        Lines. An instant is one at which something finished, became ready, was dispatched or started.
    """
    story = _Story(result)
    for now in story.instants():
        yield from story.step(now)
        yield ""
    unit = result.problem.graph.time_unit
    yield f"the end: {plural(len(result.trace), 'operator')}, makespan {format_duration(result.makespan, unit)}"


class _Story:
    """The state of the machine and of the operators, rebuilt from the trace while the story goes on."""

    def __init__(self, result: Result) -> None:
        trace, problem = result.trace, result.problem
        self.problem, self.trace = problem, trace
        self.unit = problem.graph.time_unit
        self.finished = _by_time(trace.end, range(len(trace)))
        self.became_ready = _by_time(trace.ready, range(len(trace)))
        self.dispatched = _by_time(trace.dispatch, trace.launch_order)
        self.started = _by_time(trace.start, trace.launch_order)
        self.ready: dict[OpId, None] = {}
        self.running: dict[int, OpId] = {}
        self.queued: dict[int, list[OpId]] = {}
        self.memory = [dict(trace.memory.curve(device)) for device in range(len(problem.devices))]
        self.live = [0] * len(problem.devices)
        self.waits: dict[OpId, list[Wait]] = {}
        for wait in trace.waits:
            self.waits.setdefault(wait.op, []).append(wait)
        # Launches are worth a line where they take time.
        late = [op for op in trace.launch_order if trace.launched and trace.launched[op] > trace.dispatch[op]]
        self.launched = _by_time(trace.launched, late)
        copies = [number for number, move in enumerate(trace.transfers) if move.tensor >= 0]
        self.copies_begun = _by_time([move.start for move in trace.transfers], copies)
        self.copies_ended = _by_time([move.end for move in trace.transfers], copies)

    def instants(self) -> list[int]:
        """Every time at which something happened."""
        what = (self.finished, self.became_ready, self.dispatched, self.started)
        return sorted(
            {time for times in (*what, self.launched, self.copies_begun, self.copies_ended) for time in times}
        )

    def step(self, now: int) -> Iterator[str]:
        """Tell one instant and bring the state to its end."""
        yield f"time {self._time(now)}"
        ended = [op for op in self.finished.get(now, ()) if self.trace.start[op] < now]
        for op in ended:
            del self.running[self.trace.stream[op]]
        ready_now = self.became_ready.get(now, [])
        self.ready.update(dict.fromkeys(ready_now))
        yield from self._line("finished", self._names(ended))
        yield from self._line("copied", self._copies(self.copies_ended.get(now, ())))
        yield from self._line("launched", self._names(self.launched.get(now, ())))
        yield from self._line("became ready", self._names(ready_now))
        yield from self._line("ready set", self._names(sorted(self.ready)) or "(empty)")
        yield from self._line("free", self._free())
        for op in self.dispatched.get(now, ()):
            self.queued.setdefault(self.trace.stream[op], []).append(op)
            yield from self._line("dispatched", self._dispatch(op))
        yield from self._line("copying", self._copies(self.copies_begun.get(now, ())))
        for op in self.started.get(now, ()):
            yield from self._line("started", self._start(op, now))
        for op in sorted(self.ready):
            yield from self._line("waits", f"{self._name(op)}: {self._why(op, now)}")
        yield from self._line("memory", self._memory(now))

    def _start(self, op: OpId, now: int) -> str:
        stream, end = self.trace.stream[op], self.trace.end[op]
        self.ready.pop(op)
        self.queued[stream].remove(op)
        if end > now:
            self.running[stream] = op
        until = f"until {self._time(end)}" if end > now else "and ended at once"
        return f"{self._name(op)} on {self.problem.stream_names[stream]}, {until}"

    def _dispatch(self, op: OpId) -> str:
        reason = self.trace.reasons.get(op, "")
        place = f"{self._name(op)} to {self.problem.stream_names[self.trace.stream[op]]}"
        return f"{place}: {reason}" if reason else place

    def _free(self) -> str:
        """Streams, resources and memory that were free before anything was dispatched."""
        names = self.problem.stream_names
        idle = [names[stream] for stream in range(len(names)) if stream not in self.running and not self._queue(stream)]
        parts = [_listed(idle) or "no stream"]
        for number, device in enumerate(self.problem.devices):
            held = dict.fromkeys(device.resources, 0)
            for stream, op in self.running.items():
                if self.problem.stream_device[stream] == number:
                    for resource, units in self.problem.demand(op, number).items():
                        held[resource] = held.get(resource, 0) + units
            for resource, total in device.resources.items():
                parts.append(f"{total - held[resource]} of {total} {device.name}/{resource}")
        return "; ".join(parts)

    def _memory(self, now: int) -> str:
        """Live bytes of each device at the end of the instant."""
        parts = []
        for number, device in enumerate(self.problem.devices):
            self.live[number] = self.memory[number].get(now, self.live[number])
            of = f" of {format_size(device.capacity)}" if device.capacity is not None else ""
            if self.memory[number]:
                parts.append(f"{device.name} {format_size(self.live[number])}{of}")
        return "; ".join(parts)

    def _why(self, op: OpId, now: int) -> str:
        for wait in self.waits.get(op, ()):
            if wait.start <= now < wait.end:
                return _wait_words(wait)
        if self.trace.dispatch[op] <= now:
            return self._behind(op, now)
        idle = [s for s in range(len(self.problem.stream_names)) if s not in self.running and not self._queue(s)]
        return "not chosen although a stream is free" if idle else "no stream is free"

    def _behind(self, op: OpId, now: int) -> str:
        if self.trace.launched and self.trace.launched[op] > now:
            return f"its launch by the host takes until {self._time(self.trace.launched[op])}"
        stream = self.trace.stream[op]
        queue = self._queue(stream)
        ahead = queue[queue.index(op) - 1] if queue[0] != op else self.running.get(stream)
        if ahead is None:
            here = self.problem.stream_device[stream]
            others = [before for before in self.problem.graph.pred[op] if self._device(before) != here]
            seen = "the end of a predecessor in another stream is not seen yet"
            return "its inputs are on their way to the device" if others else seen
        return f"behind {self._name(ahead)} on {self.problem.stream_names[stream]}"

    def _device(self, op: OpId) -> int:
        return self.problem.stream_device[self.trace.stream[op]]

    def _copies(self, numbers: Sequence[int]) -> str:
        names, devices, moves = self.problem.graph.tensor_names, self.problem.devices, self.trace.transfers
        return _listed([f"{names[moves[each].tensor]} to {devices[moves[each].to_device].name}" for each in numbers])

    def _queue(self, stream: int) -> list[OpId]:
        return self.queued.get(stream, [])

    def _name(self, op: OpId) -> str:
        return self.problem.graph.names[op]

    def _names(self, ops: Sequence[OpId]) -> str:
        return _listed([self._name(op) for op in ops])

    def _time(self, now: int) -> str:
        return format_duration(now, self.unit)

    @staticmethod
    def _line(label: str, text: str) -> Iterator[str]:
        if text:
            yield f"  {label:<13}{text}"


def _by_time(column: Sequence[int], order: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[OpId]] = {}
    for op in order:
        found.setdefault(column[op], []).append(op)
    return found


def _listed(names: Sequence[str]) -> str:
    rest = f" (+{len(names) - SHOWN} more)" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest


def _wait_words(wait: Wait) -> str:
    if wait.reason == "queue":
        return wait.detail or "an earlier launch waits at the head of the device's queue"
    return f"{wait.reason}: {wait.detail}" if wait.detail else wait.reason
