"""The simulator: one clock, in-order streams, and a policy that is asked after each settled instant.

SimPy is the clock. There is no process per operator: each stream owns one event that is scheduled again for every
operator it runs, so that the cost per operator stays close to that of a bare event loop. Events of one instant are
drained before anything is decided; then heads that wait in their streams start, then the policy is asked, then what
it dispatched starts. Hence finish comes before free, and free before start.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

import simpy
from simpy.events import NORMAL

from simsched.engine.devices import MODELS
from simsched.engine.devices.base import Gate
from simsched.engine.memory import Memory, matters
from simsched.engine.obstacles import check_capacity, diagnose, invalid_dispatch, over_capacity
from simsched.engine.state import EngineView, State
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.result import MemoryMode
from simsched.schedulers.base import Policy, Scheduler
from simsched.trace import Trace, Transfer, Wait, WaitReason


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
        durations = actual if actual is not None else [problem.durations(device) for device in devices]
        accounts = Memory(problem) if matters(problem) else None
        capacities = [None if memory == "unbounded" else device.capacity for device in problem.devices]
        gates = [Gate(problem, device, accounts, capacities[device], blocking=memory == "block") for device in devices]
        self._problem = problem
        self._policy = policy
        self._strict = memory == "strict"
        self._state = State(problem, durations, accounts, gates)
        self._view = EngineView(self._state, explain)
        self._env = simpy.Environment()
        self._events = [_StreamEvent(self._env, stream) for stream in range(len(problem.stream_device))]
        self._on_finish = [self._finish]
        self._on_arrival = [self._arrive]
        # A start needs no one's consent, and no arrival can be later than the last predecessor's end.
        self._immediate = [gate.open and len(devices) == 1 for gate in gates]
        self._admit = [MODELS[device.model] for device in problem.devices]
        self._pending: list[list[OpId]] = [[] for _ in devices]
        self._waiting: dict[OpId, tuple[WaitReason, int, str]] = {}
        self._arriving = [False] * len(problem.stream_device)
        self._launch_number: dict[OpId, int] = {}
        self._heads: list[int] = []
        self._newly_ready: list[OpId] = [op for op, left in enumerate(self._state.remaining) if not left]
        self._newly_finished: list[OpId] = []

    def run(self) -> Trace:
        """Run to the end, or raise what stands in the way."""
        if len(self._problem.graph):
            self._settle()
            self._env.run()
        state = self._state
        if len(state.start_order) < len(self._problem.graph):
            raise diagnose(state, self._pending)
        return state.trace()

    # --- events ------------------------------------------------------------------------------------------------

    def _finish(self, event: simpy.Event) -> None:
        """The running operator of a stream ended."""
        state = self._state
        stream: int = event.stream  # type: ignore[attr-defined]
        op = state.running[stream]
        state.running[stream] = -1
        self._newly_finished.append(op)
        remaining = state.remaining
        newly_ready = self._newly_ready
        for other in self._problem.graph.succ[op]:
            left = remaining[other] - 1
            remaining[other] = left
            if not left:
                newly_ready.append(other)
        device = self._problem.stream_device[stream]
        if state.memory is not None:
            state.memory.finish(op, device, self._env.now)  # type: ignore[arg-type]
        if not self._immediate[device]:
            state.gates[device].give(op)
        if state.queues[stream]:
            self._heads.append(stream)
        else:
            insort(state.idle, stream)
        if self._env.peek() > self._env.now:
            self._settle()

    def _arrive(self, event: simpy.Event) -> None:
        """The inputs of a stream's head have arrived on its device."""
        stream: int = event.stream  # type: ignore[attr-defined]
        self._arriving[stream] = False
        self._heads.append(stream)
        if self._env.peek() > self._env.now:
            self._settle()

    # --- one instant -------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """All events of the instant are in: start waiting heads, ask the policy, start what it dispatched."""
        now: int = self._env.now  # type: ignore[assignment]
        state, view = self._state, self._view
        newly_ready, finished = self._newly_ready, self._newly_finished
        if len(newly_ready) > 1:
            newly_ready.sort()
        if len(finished) > 1:
            finished.sort()
        self._newly_ready = []
        self._newly_finished = []
        ready_at, stream_of = state.ready_at, state.stream_of
        queued = False
        for op in newly_ready:
            ready_at[op] = now
            if stream_of[op] >= 0:
                queued = True
                self._heads.append(stream_of[op])
        if queued:
            newly_ready = [op for op in newly_ready if stream_of[op] < 0]
        self._advance(now)
        view.advance(now, newly_ready, finished)
        state.calls += 1
        for op, stream, reason in self._policy(view):
            self._dispatch(op, stream, reason, now)
        if self._heads:
            self._advance(now)

    def _dispatch(self, op: OpId, stream: int, reason: str, now: int) -> None:
        """Append an operator to a stream; start it at once where nothing can object."""
        state = self._state
        stream_of = state.stream_of
        if not (0 <= op < len(stream_of) and 0 <= stream < len(state.running)) or stream_of[op] >= 0:
            raise invalid_dispatch(state, op, stream, now)
        device = self._problem.stream_device[stream]
        allowed = self._problem.allowed
        if allowed and device not in allowed.get(op, (device,)):
            raise invalid_dispatch(state, op, stream, now)
        stream_of[op] = stream
        state.dispatch_at[op] = now
        state.launch_order.append(op)
        if reason:
            state.reasons[op] = reason
        idle = state.idle
        position = bisect_left(idle, stream)
        if position < len(idle) and idle[position] == stream:
            del idle[position]
            if self._immediate[device] and not state.remaining[op]:
                self._start(op, stream, device, now)
                return
            self._heads.append(stream)
        state.queues[stream].append(op)
        if not self._immediate[device]:
            self._launch_number[op] = len(state.launch_order)

    def _advance(self, now: int) -> None:
        """Let heads that have their inputs come to their devices' queues, and let the devices admit."""
        state = self._state
        heads, self._heads = self._heads, []
        entering: list[list[OpId]] = [[] for _ in self._pending]
        for stream in heads:
            queue = state.queues[stream]
            if state.running[stream] >= 0 or not queue or self._arriving[stream]:
                continue
            op = queue[0]
            if state.remaining[op]:
                continue
            device = self._problem.stream_device[stream]
            if self._immediate[device]:
                queue.popleft()
                self._start(op, stream, device, now)
            elif op not in self._waiting and self._present(op, stream, device, now):
                entering[device].append(op)
        for device, ops in enumerate(entering):
            if ops:
                ops.sort(key=self._launch_number.__getitem__)
                self._pending[device] += dict.fromkeys(ops)
            if self._pending[device]:
                self._admit_pending(device, now)

    def _present(self, op: OpId, stream: int, device: int, now: int) -> bool:
        """Whether the inputs of a head are on its device; if not, wake its stream when they are."""
        if len(self._pending) == 1:
            return True
        arrival = self._state.arrival(op, device)
        if arrival <= now:
            return True
        self._arriving[stream] = True
        event = self._events[stream]
        event.callbacks = self._on_arrival  # type: ignore[assignment]
        self._env.schedule(event, NORMAL, arrival - now)
        return False

    def _admit_pending(self, device: int, now: int) -> None:
        """Ask the device model, and keep the reason of those that must wait."""

        def start(op: OpId) -> None:
            stream = self._state.stream_of[op]
            self._state.queues[stream].popleft()
            self._state.gates[device].take(op)
            self._end_wait(op, now)
            self._start(op, stream, device, now)

        blocked = self._admit[device](self._pending[device], self._state.gates[device], start)
        for op, reason, detail in blocked:
            known = self._waiting.get(op)
            if known is None or known[0] != reason:
                self._end_wait(op, now)
                self._waiting[op] = (reason, now, detail)
        self._pending[device] = [op for op, _, _ in blocked]

    def _end_wait(self, op: OpId, now: int) -> None:
        reason, since, detail = self._waiting.pop(op, ("queue", now, ""))
        if since < now:
            self._state.waits.append(Wait(op, reason, since, now, detail))

    def _start(self, op: OpId, stream: int, device: int, now: int) -> None:
        """Run an operator until its duration is over."""
        state = self._state
        state.running[stream] = op
        duration = state.durations[device][op]
        state.start_at[op] = now
        state.end_at[op] = now + duration
        state.start_order.append(op)
        if state.memory is not None:
            state.memory.start(op, device, now)
            if self._strict:
                over_capacity(state, op, device, now)
        if len(self._pending) > 1:
            self._record_transfers(op, device)
        event = self._events[stream]
        event.callbacks = self._on_finish  # type: ignore[assignment]
        self._env.schedule(event, NORMAL, duration)

    def _record_transfers(self, op: OpId, device: int) -> None:
        state, problem = self._state, self._problem
        for source in problem.graph.pred[op]:
            origin = problem.stream_device[state.stream_of[source]]
            moving = problem.transfer_ns(source, op, origin, device)
            if moving:
                begin = state.end_at[source]
                size = problem.edge_bytes(source, op)
                state.transfers.append(Transfer(source, op, origin, device, begin, begin + moving, size))
