"""Admission: from the head of a stream, over the arrival of inputs, into the queue of a device, to the start.

Used where a device can refuse an operator (demands, memory, resident kernels) or inputs can be late (several devices).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simsched.engine.devices import MODELS
from simsched.engine.state import State
from simsched.graph.model import OpId
from simsched.trace import Transfer, Wait, WaitReason

Start = Callable[[OpId, int, int, int], None]
"""``start(op, stream, device, now)``"""
Wake = Callable[[int, int], None]
"""``wake(stream, time)``: let the engine know when a head's inputs are there."""


class Admission:
    """The queues of all devices of one run.

    Attributes
    ----------
    pending : list of list of int
        Per device: heads that have everything but the device's consent, in the order in which they came.
    """

    def __init__(self, state: State, start: Start, wake: Wake) -> None:
        problem = state.problem
        self._state = state
        self._start = start
        self._wake = wake
        self._models = [MODELS[device.model] for device in problem.devices]
        self.pending: list[list[OpId]] = [[] for _ in problem.devices]
        self._several = len(problem.devices) > 1
        self._arriving = [False] * len(problem.stream_device)
        self._waiting: dict[OpId, tuple[WaitReason, int, str]] = {}
        self._launch_number: dict[OpId, int] = {}

    def arrived(self, stream: int) -> None:
        """The inputs of a stream's head are there."""
        self._arriving[stream] = False

    def advance(self, heads: Sequence[int], now: int) -> None:
        """Let heads of streams enter their devices' queues, and let every device admit."""
        entering = sorted(self._entering(heads, now), key=self._launched)
        for op in dict.fromkeys(entering):
            self.pending[self._device(op)].append(op)
        for device, ops in enumerate(self.pending):
            if ops:
                self._admit(device, now)

    def _launched(self, op: OpId) -> int:
        """Number of an operator's launch, which breaks ties within an instant."""
        numbers, order = self._launch_number, self._state.launch_order
        for position in range(len(numbers), len(order)):
            numbers[order[position]] = position
        return numbers[op]

    def _entering(self, heads: Sequence[int], now: int) -> list[OpId]:
        """Heads whose stream is free and whose inputs are there, and that are not in a queue yet."""
        state = self._state
        found = []
        for stream in heads:
            queue = state.queues[stream]
            if state.running[stream] >= 0 or not queue or self._arriving[stream]:
                continue
            op = queue[0]
            if not state.remaining[op] and op not in self._waiting and self._present(op, stream, now):
                found.append(op)
        return found

    def _present(self, op: OpId, stream: int, now: int) -> bool:
        """Whether the inputs of a head are on its device; if not, have its stream woken when they are."""
        if not self._several:
            return True
        arrival = self._state.arrival(op, self._state.problem.stream_device[stream])
        if arrival <= now:
            return True
        self._arriving[stream] = True
        self._wake(stream, arrival)
        return False

    def _admit(self, device: int, now: int) -> None:
        """Ask the device model, and keep the reason of those that must wait."""
        state = self._state
        gate = state.gates[device]

        def start(op: OpId) -> None:
            stream = state.stream_of[op]
            state.queues[stream].popleft()
            gate.take(op)
            self._end_wait(op, now)
            if self._several:
                self._note_transfers(op, device)
            self._start(op, stream, device, now)

        blocked = self._models[device](self.pending[device], self._launched, gate, start)
        for op, reason, detail in blocked:
            known = self._waiting.get(op)
            if known is None or known[0] != reason:
                self._end_wait(op, now)
                self._waiting[op] = (reason, now, detail)
        self.pending[device] = [op for op, _, _ in blocked]

    def _end_wait(self, op: OpId, now: int) -> None:
        reason, since, detail = self._waiting.pop(op, ("queue", now, ""))
        if since < now:
            self._state.waits.append(Wait(op, reason, since, now, detail))

    def _note_transfers(self, op: OpId, device: int) -> None:
        state, problem = self._state, self._state.problem
        for source in problem.graph.pred[op]:
            origin = problem.stream_device[state.stream_of[source]]
            moving = problem.transfer_ns(source, op, origin, device)
            if moving:
                begin, size = state.end_at[source], problem.edge_bytes(source, op)
                state.transfers.append(Transfer(source, op, origin, device, begin, begin + moving, size))

    def _device(self, op: OpId) -> int:
        return self._state.problem.stream_device[self._state.stream_of[op]]
