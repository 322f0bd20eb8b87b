"""The simulator: one clock, in-order streams, and a policy that is asked after each settled instant.

SimPy is the clock. There is no process per operator: each stream owns one event that is scheduled again for every
operator it runs, so that the cost per operator stays close to that of a bare event loop. The events of one instant are
drained before anything is decided; then heads that wait in their streams start, then the policy is asked, then what
it dispatched starts. Hence finish comes before free, and free before start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop

import simpy
from simpy.events import NORMAL

from simsched.engine.admission import Admission
from simsched.engine.devices.base import Gate
from simsched.engine.memory import DeviceMemory, Memory, matters
from simsched.engine.obstacles import check_capacity, diagnose, invalid_dispatch, over_capacity
from simsched.engine.residency import Residency
from simsched.engine.state import EngineView, State
from simsched.graph.model import OpId
from simsched.problem import MemoryMode, Problem
from simsched.schedulers.base import Policy, Scheduler
from simsched.trace import Trace


class _Clock(simpy.Environment):
    """SimPy's environment, with a hook for the end of each instant.

    Deciding inside a cascade of simultaneous events would see half an instant; so the hook is called once no event
    of the instant is left.
    """

    def run_instants(self, settle: Callable[[int], None]) -> None:
        """Process all events; call ``settle(now)`` whenever the events of one instant are used up."""
        queue = self._queue
        while queue:
            now, _, _, event = heappop(queue)
            self._now = now
            callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
            for callback in callbacks:
                callback(event)
            if not queue or queue[0][0] > now:
                settle(now)  # type: ignore[arg-type]


class _StreamEvent(simpy.Event):
    """The one event of a stream: its running operator ends, or its head's inputs arrive."""

    def __init__(self, env: simpy.Environment, stream: int) -> None:
        super().__init__(env)
        self.stream = stream
        self._ok = True
        self._value = None


def simulate(
    problem: Problem,
    scheduler: Scheduler,
    *,
    memory: MemoryMode = "unbounded",
    actual: Sequence[Sequence[int]] | None = None,
    explain: bool = False,
) -> Trace:
    """Run a problem under a scheduler.

    Parameters
    ----------
    problem : Problem
    scheduler : Scheduler
        Anything with ``start(problem)``.
    memory : {"unbounded", "block", "strict"}
        Record the peak only; make heads wait until they fit; or treat exceeding the capacity as an error.
    actual : sequence of sequence of int, optional
        Actual durations in ns per device and operator, where they differ from the problem's estimates.
    explain : bool
        Ask policies to word the reason of each dispatch.

    Returns
    -------
    Trace

    Raises
    ------
    InvalidDispatchError, SchedulerStalledError, DeadlockError, OutOfMemoryError
        If the run cannot go on.
    """
    if memory != "unbounded":
        check_capacity(problem)
    return _Simulation(problem, scheduler.start(problem), memory, actual, explain).run()


class _Simulation:
    """One run."""

    def __init__(
        self,
        problem: Problem,
        policy: Policy,
        memory: MemoryMode,
        actual: Sequence[Sequence[int]] | None,
        explain: bool,
    ) -> None:
        devices = range(len(problem.devices))
        accounts: Memory | None = None
        if matters(problem):
            accounts = DeviceMemory(problem) if len(devices) == 1 else Residency(problem)
        capacities = [None if memory == "unbounded" else device.capacity for device in problem.devices]
        gates = [Gate(problem, device, accounts, capacities[device], blocking=memory == "block") for device in devices]
        durations = actual if actual is not None else [problem.durations(device) for device in devices]
        self._policy = policy
        self._strict = memory == "strict"
        self._memory = accounts
        self._state = state = State(problem, durations, accounts, gates)
        self._view = EngineView(state, explain)
        self._clock = _Clock()
        self._events = [_StreamEvent(self._clock, stream) for stream in range(len(problem.stream_device))]
        self._on_finish: list[Callable[[_StreamEvent], None]] = [self._finish]
        self._on_arrival: list[Callable[[_StreamEvent], None]] = [self._arrive]
        # One device that can refuse nothing: heads with their inputs start at once, without admission.
        self._open = len(devices) == 1 and gates[0].open
        self._admission = Admission(state, self._start, self._wake)
        self._succ = problem.graph.succ
        self._stream_device = problem.stream_device
        self._heads: list[int] = []
        self._newly_ready: list[OpId] = [op for op, left in enumerate(state.remaining) if not left]
        self._newly_finished: list[OpId] = []

    def run(self) -> Trace:
        """Run to the end, or raise what stands in the way."""
        state = self._state
        count = len(state.problem.graph)
        if count:
            self._settle(0)
            self._clock.run_instants(self._settle)
        if len(state.start_order) < count:
            raise diagnose(state, self._admission.pending)
        return state.trace()

    # --- events ------------------------------------------------------------------------------------------------

    def _finish(self, event: _StreamEvent) -> None:
        """The running operator of a stream ended."""
        state = self._state
        stream = event.stream
        op = state.running[stream]
        state.running[stream] = -1
        self._newly_finished.append(op)
        remaining = state.remaining
        for other in self._succ[op]:
            left = remaining[other] - 1
            remaining[other] = left
            if not left:
                self._newly_ready.append(other)
        if self._memory is not None:
            self._memory.finish(op, self._stream_device[stream], state.end_at[op])
        if not self._open:
            state.gates[self._stream_device[stream]].give(op)
        if state.queues[stream]:
            self._heads.append(stream)
        else:
            state.idle.append(stream)

    def _arrive(self, event: _StreamEvent) -> None:
        """The inputs of a stream's head have arrived on its device."""
        self._admission.arrived(event.stream)
        self._heads.append(event.stream)

    # --- one instant -------------------------------------------------------------------------------------------

    def _settle(self, now: int) -> None:
        """All events of the instant are in: start waiting heads, ask the policy, start what it dispatched."""
        state, view = self._state, self._view
        newly_ready, finished = self._newly_ready, self._newly_finished
        self._newly_ready, self._newly_finished = [], []
        if len(newly_ready) > 1:
            newly_ready.sort()
        if len(finished) > 1:
            finished.sort()
        if len(state.idle) > 1:
            state.idle.sort()
        ready_at, stream_of = state.ready_at, state.stream_of
        queued = False
        for op in newly_ready:
            ready_at[op] = now
            if stream_of[op] >= 0:
                queued = True
                self._heads.append(stream_of[op])
        if queued:
            newly_ready = [op for op in newly_ready if stream_of[op] < 0]
        if self._heads or not self._open:
            self._advance(now)
        view.advance(now, newly_ready, finished)
        state.calls += 1
        chosen = self._policy(view)
        # The policy may be a generator that still reads the view: let it end before anything changes.
        self._dispatch(chosen if type(chosen) is list else list(chosen), now)
        if self._heads:
            self._advance(now)

    def _dispatch(self, chosen: Sequence[tuple[OpId, int, str]], now: int) -> None:
        """Append operators to streams; start those at once that nothing can object to."""
        state, is_open = self._state, self._open
        stream_of, remaining, running, queues = state.stream_of, state.remaining, state.running, state.queues
        count, streams = len(stream_of), len(running)
        allowed = state.problem.allowed
        for op, stream, reason in chosen:
            if not (0 <= op < count and 0 <= stream < streams) or stream_of[op] >= 0:
                raise invalid_dispatch(state, op, stream, now)
            if allowed and op in allowed and self._stream_device[stream] not in allowed[op]:
                raise invalid_dispatch(state, op, stream, now)
            stream_of[op] = stream
            state.dispatch_at[op] = now
            state.launch_order.append(op)
            if reason:
                state.reasons[op] = reason
            if running[stream] < 0 and not queues[stream]:
                state.idle.remove(stream)
                if is_open and not remaining[op]:
                    self._start(op, stream, 0, now)
                    continue
                self._heads.append(stream)
            queues[stream].append(op)
            if not is_open:
                self._admission.launched(op)

    def _advance(self, now: int) -> None:
        """Start the heads that can start."""
        state = self._state
        heads, self._heads = self._heads, []
        if not self._open:
            self._admission.advance(heads, now)
            return
        for stream in heads:
            queue = state.queues[stream]
            if queue and state.running[stream] < 0 and not state.remaining[queue[0]]:
                self._start(queue.popleft(), stream, 0, now)

    def _start(self, op: OpId, stream: int, device: int, now: int) -> None:
        """Run an operator until its duration is over."""
        state = self._state
        state.running[stream] = op
        duration = state.durations[device][op]
        state.start_at[op] = now
        state.end_at[op] = now + duration
        state.start_order.append(op)
        if self._memory is not None:
            self._memory.start(op, device, now)
            if self._strict:
                over_capacity(state, op, device, now)
        self._wake(stream, duration, self._on_finish)

    def _wake(self, stream: int, delay: int, callbacks: list[Callable[[_StreamEvent], None]] | None = None) -> None:
        """Schedule the event of a stream, by default as an arrival of inputs."""
        event = self._events[stream]
        event.callbacks = callbacks or self._on_arrival  # type: ignore[assignment]
        self._clock.schedule(event, NORMAL, delay)
