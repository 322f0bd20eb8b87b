"""Admission: from the head of a stream, over its launch and its inputs, into the queue of a device, to the start.

Used where anything but a stream can make an operator wait, or operators can slow each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simsched.engine.devices import MODELS
from simsched.engine.devices.base import Gate, Site
from simsched.engine.state import State
from simsched.graph.model import OpId
from simsched.trace import Transfer

Start = Callable[[OpId, int, int, int, int | None], None]
"""``start(op, stream, device, now, end)``; ``end`` is None where only the device will know."""
Wake = Callable[[int, int], None]
"""``wake(stream, time)``: let the engine know when a head's inputs are there."""
Later = Callable[[OpId, int], None]
"""``later(op, time)``: let the engine know when the launch gap of an operator is over."""


class Admission:
    """The queues of all devices of one run.

    Attributes
    ----------
    devices : list of DeviceModel
    """

    def __init__(
        self,
        state: State,
        gates: Sequence[Gate],
        durations: Sequence[Sequence[int]],
        hooks: tuple[Start, Wake, Later],
    ) -> None:
        problem = state.problem
        self._state = state
        self._gates = gates
        self._start, self._wake, later = hooks
        urgency = [_urgencies(device.stream_priorities, device.streams) for device in problem.devices]
        by_stream = [level for levels in urgency for level in levels]
        stream_of = state.stream_of
        self.devices = [
            MODELS[device.model](
                Site(
                    problem, number, durations[number], gates[number], state.waits, later,
                    lambda op: by_stream[stream_of[op]], state.cohorts,
                )
            )
            for number, device in enumerate(problem.devices)
        ]  # fmt: skip
        self._queued = bytearray(len(problem.stream_device))
        self._arriving = bytearray(len(problem.stream_device))
        self._launch_number: list[int] = [0] * len(problem.graph)
        self._numbered = 0
        self._remote = len(problem.devices) > 1 or bool(problem.event_ns)
        self._advances = [(device.advance, self._starter(number)) for number, device in enumerate(self.devices)]
        self._now = 0

    def arrived(self, stream: int) -> None:
        """The inputs of a stream's head are there."""
        self._arriving[stream] = 0

    def advance(self, heads: Sequence[int], now: int) -> None:
        """Let heads of streams enter their devices' queues, and let every device admit."""
        if heads:
            stream_of, stream_device = self._state.stream_of, self._state.problem.stream_device
            for number, op in self._entering(heads, now):
                stream = stream_of[op]
                self._queued[stream] = 1
                self.devices[stream_device[stream]].push(op, number)
        self.admit(now)

    def admit(self, now: int) -> None:
        """Let every device admit, where no head has come to its stream."""
        self._now = now
        for advance, start in self._advances:
            advance(now, start)

    def enterer(self) -> Callable[[OpId, int], None]:
        """Return what lets an operator that has everything enter the queue of the only device at once."""
        queued, order, push = self._queued, self._state.launch_order, self.devices[0].push

        def enter(op: OpId, stream: int) -> None:
            queued[stream] = 1
            push(op, len(order) - 1)

        return enter

    def number(self, op: OpId) -> int:
        """Number of an operator's launch, which breaks ties within an instant."""
        order, numbers = self._state.launch_order, self._launch_number
        for position in range(self._numbered, len(order)):
            numbers[order[position]] = position
        self._numbered = len(order)
        return numbers[op]

    def _entering(self, heads: Sequence[int], now: int) -> list[tuple[int, OpId]]:
        """Heads that have their stream, their launch and their inputs and are not in a queue yet, in launch order."""
        state = self._state
        running, queues, remaining, through = state.running, state.queues, state.remaining, state.launches.through
        queued, arriving = self._queued, self._arriving
        found: list[tuple[int, OpId]] = []
        for stream in heads:
            if running[stream] >= 0 or queued[stream] or arriving[stream]:
                continue
            queue = queues[stream]
            if not queue:
                continue
            op = queue[0]
            if remaining[op] or (through and through[op] > now):
                continue
            if self._remote and not self._present(op, stream, now):
                continue
            found.append((self.number(op), op))
        return sorted(dict.fromkeys(found)) if len(found) > 1 else found

    def _present(self, op: OpId, stream: int, now: int) -> bool:
        """Whether the inputs of a head are on its device; if not, have its stream woken when they are."""
        arrival = self._state.inputs_at(op, stream)
        if arrival is None:
            return False  # the end of a copy will come back to it
        if arrival <= now:
            return True
        self._arriving[stream] = 1
        self._wake(stream, arrival)
        return False

    def _starter(self, device: int) -> Callable[[OpId], None]:
        """Return what starts an operator on a device."""
        state, take, queued, start_now = self._state, self._gates[device].take, self._queued, self._start
        stream_of, queues, end_wait, waiting = state.stream_of, state.queues, state.waits.end, state.waits.open
        several, run = len(state.problem.devices) > 1, self.devices[device].run

        def start(op: OpId) -> None:
            now = self._now
            stream = stream_of[op]
            queues[stream].popleft()
            queued[stream] = 0
            take(op)
            if op in waiting:
                end_wait(op, now)
            if several:
                self._note_delays(op, device)
            start_now(op, stream, device, now, run(op, now))

        return start

    def _note_delays(self, op: OpId, device: int) -> None:
        """Note the pure delays of edges over which nothing is copied."""
        state, problem = self._state, self._state.problem
        for source in problem.graph.pred[op]:
            origin = problem.stream_device[state.stream_of[source]]
            delay = problem.graph.delays.get((source, op), 0)
            if origin != device and delay and not state.copied(source, op, device):
                begin, size = state.end_at[source], problem.edge_bytes(source, op)
                state.transfers.append(Transfer(source, op, origin, device, begin, begin + delay, size))


def _urgencies(priorities: Sequence[int], streams: int) -> Sequence[int]:
    """Priority of each stream of a device."""
    return priorities or (0,) * streams
