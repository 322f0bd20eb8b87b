"""What operators share and wait for beside streams: the host, devices, links; and the events of all that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simsched.engine.admission import Admission, Start
from simsched.engine.clock import Arrival, Body, Clock, Event, Launched, Tick
from simsched.engine.devices.base import Gate
from simsched.engine.obstacles import over_capacity
from simsched.engine.residency import Residency
from simsched.engine.state import State
from simsched.graph.model import OpId

LINKS = -1
"""Number of the tick of the links."""


class Shared:
    """The shared parts of one run.

    Parameters
    ----------
    state : State
    gates : sequence of Gate
        By device.
    durations : sequence of sequence of int
        What each operator takes alone on each device, in ns.
    clock : Clock
    hooks : (Start, callable)
        What starts an operator; and what notes a stream whose head may be able to go on.

    Attributes
    ----------
    devices : list of DeviceModel
    several : bool
        Whether there are several devices.
    immediate : bool
        Whether an operator that is dispatched to a free stream after its predecessors has all that it needs but its
        device's consent.
    """

    def __init__(
        self,
        state: State,
        gates: Sequence[Gate],
        durations: Sequence[Sequence[int]],
        clock: Clock,
        hooks: tuple[Start, Callable[[int], None]],
    ) -> None:
        problem = state.problem
        start, self._note_head = hooks
        self._state, self._clock, self._gates = state, clock, gates
        self._stream_device = problem.stream_device
        streams = range(len(problem.stream_device))
        self._arrivals = [Arrival(clock, stream) for stream in streams]
        self._bodies = [Body(clock, stream) for stream in streams]
        self._admission = Admission(state, gates, durations, (start, self._await_inputs, self._await_body))
        devices = self._admission.devices
        sharing = [number for number, device in enumerate(problem.devices) if device.model != "lanes"]
        self._ticks = [(Tick(clock, number), devices[number].next_time) for number in sharing]
        self.devices = devices
        self.several = len(problem.devices) > 1
        self.immediate = not self.several and problem.hardware.host.mode == "free"
        self.enter = self._admission.enterer()
        self.admit = self._admission.admit
        self.waiting = self._anything_waits if self.several else devices[0].waiting
        if self.several:
            from simsched.engine.copies import Copies  # what a single device has no use for

            residency = state.memory if isinstance(state.memory, Residency) else None
            state.copies = Copies(problem, self._device_of, residency, lambda to, size: gates[to].room_for(size))
            self._ticks.append((Tick(clock, LINKS), state.copies.next_time))

    def pending(self) -> list[list[OpId]]:
        """Per device, the operators that have everything but its consent."""
        return [list(device.pending()) for device in self.devices]

    def _anything_waits(self) -> bool:
        """Whether anything may go on because something else has ended."""
        copies = self._state.copies
        return any(device.waiting() for device in self.devices) or (copies is not None and copies.waiting)

    def launch(self, op: OpId, stream: int, now: int) -> None:
        """Let the host launch an operator that was dispatched."""
        through = self._state.launches.launch(op, stream, now)
        if through > now:
            self._clock.at(through, Launched(self._clock, op))
        elif self.several:
            self._launched(op, now)

    def advance(self, heads: Sequence[int], now: int) -> None:
        """Start the copies and the operators that can start."""
        copies, state = self._state.copies, self._state
        if copies is not None:
            for target, device in copies.advance(now):
                if state.memory is not None:
                    over_capacity(state, target, device, now)
        self._admission.advance(heads, now)

    def made(self, op: OpId, now: int) -> None:
        """Ask for the copies of what an operator has made, where its readers are launched."""
        state = self._state
        through = state.launches.through
        readers = [
            other
            for other in state.problem.graph.succ[op]
            if state.stream_of[other] >= 0 and (not through or 0 <= through[other] <= now)
        ]
        if len(readers) > 1:  # a copy is made for whoever was launched first
            number = self._admission.number
            readers.sort(key=lambda other: (through[other] if through else 0, number(other)))
        for other in readers:
            self._ask(op, other, now)

    def wake(self, event: Event, now: int) -> bool:
        """Do what an event that ends no operator says; returns whether it is one at which the policy is asked."""
        if isinstance(event, Arrival):
            self._admission.arrived(event.number)
            self._note_head(event.number)
            return True
        if isinstance(event, Launched):
            self._launched(event.number, now)
            return False
        if isinstance(event, Body):
            op = self._state.running[event.number]
            self.devices[self._stream_device[event.number]].body(op, now)
            return False
        if isinstance(event, Tick):
            return event.due == now and self._copies_end(event, now)
        self._clock.process(event, now)
        return True

    def armer(self) -> Callable[[int], None]:
        """Return what puts the next completion of everything that is shared on the agenda, where it has changed."""
        ticks, at = self._ticks, self._clock.at

        def arm(now: int) -> None:
            for tick, next_time in ticks:
                due = next_time(now)
                if due is None:
                    tick.due = -1
                elif due != tick.due:
                    tick.due = due
                    at(due, tick)

        return arm

    def _copies_end(self, tick: Tick, now: int) -> bool:
        """End copies; the heads that read them are looked at again. Returns whether any has ended."""
        tick.due = -1
        assert self._state.copies is not None
        readers = self._state.copies.due(now)
        for op in readers:
            self._note_head(self._state.stream_of[op])
        return bool(readers)

    def _launched(self, op: OpId, now: int) -> None:
        """The launch of an operator has come through: what it reads may be copied, and it may enter its queue."""
        state = self._state
        self._note_head(state.stream_of[op])
        if self.several:
            for source in state.problem.graph.pred[op]:
                # The end of what runs on lanes is known when it starts.
                if 0 <= state.end_at[source] <= now and state.running[state.stream_of[source]] != source:
                    self._ask(source, op, now)

    def _ask(self, source: OpId, target: OpId, now: int) -> None:
        """Ask for copies, where an edge crosses to another device and its source has ended."""
        state = self._state
        if state.copies is not None and self._device_of(source) != self._device_of(target):
            state.copies.ask(source, target, now)

    def _device_of(self, op: OpId) -> int:
        return self._stream_device[self._state.stream_of[op]]

    def _await_inputs(self, stream: int, arrival: int) -> None:
        """Let the clock say when the inputs of a stream's head arrive."""
        self._clock.at(arrival, self._arrivals[stream])

    def _await_body(self, op: OpId, time: int) -> None:
        """Let the clock say when the launch gap of an operator is over."""
        self._clock.at(time, self._bodies[self._state.stream_of[op]])
