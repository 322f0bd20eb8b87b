"""The simulator: one clock, in-order streams, and a policy that is asked after each settled instant.

SimPy is the clock. There is no process per operator: each stream owns one event that is scheduled again for every
operator it runs, so that the cost per operator stays close to that of a bare event loop. The events of one instant are
drained before anything is decided; then heads that wait in their streams start, then the policy is asked, then what
it dispatched starts. Hence finish comes before free, and free before start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from simsched.collector import collect_young, collector_off
from simsched.engine.admission import Start
from simsched.engine.clock import NORMAL, Clock, End, Tick
from simsched.engine.devices.base import Gate
from simsched.engine.memory import DeviceMemory
from simsched.engine.obstacles import check_capacity, diagnose, invalid_dispatch, over_capacity
from simsched.engine.residency import Residency
from simsched.engine.shared import LINKS, Shared
from simsched.engine.state import EngineView, State
from simsched.graph.model import OpId
from simsched.problem import MemoryMode, Problem
from simsched.schedulers.base import Policy, Scheduler
from simsched.trace import Trace

Settle = Callable[[int, list[OpId], list[OpId]], None]
"""``settle(now, newly_ready, finished)``: what is done once all events of an instant are in."""

NOTES = 1 << 14
"""Instants after which notes of memory are accounted for, so that they never take much memory themselves."""


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
        accounts: DeviceMemory | Residency | None = None
        if problem.needs_memory:
            accounts = DeviceMemory(problem) if len(devices) == 1 else Residency(problem)
        capacities = [None if memory == "unbounded" else device.capacity for device in problem.devices]
        gates = [Gate(problem, device, accounts, capacities[device], blocking=memory == "block") for device in devices]
        self._durations = actual if actual is not None else [problem.durations(device) for device in devices]
        self._policy = policy
        self._strict = memory == "strict"
        self._memory = accounts
        self._gates = gates
        self._state = state = State(problem, accounts, gates)
        # What is only noted costs least, and notes are all that a single device needs while nobody asks.
        self._note: Callable[[int], None] | None = None
        if isinstance(accounts, DeviceMemory):
            accounts.follow(state.start_at, state.end_at)
            self._note = accounts.log.append
        self._view = EngineView(state, explain)
        self._clock = clock = Clock()
        streams = range(len(problem.stream_device))
        self._ends = [End(clock, stream) for stream in streams]
        self._stream_device = problem.stream_device
        self._heads: list[int] = []
        # One device that can refuse nothing, and where nothing is shared: heads with their inputs start at once.
        host_is_free = problem.hardware.host.mode == "free"
        self._shared: Shared | None = None
        if len(devices) > 1 or problem.devices[0].model != "lanes" or not gates[0].open or not host_is_free:
            self._shared = Shared(state, gates, self._durations, clock, (self._starter(), self._heads.append))

    def run(self) -> Trace:
        """Run to the end, or raise what stands in the way."""
        state = self._state
        count = len(state.problem.graph)
        if count:
            settle = self._settler()
            settle(0, self._sources(), [])
            if self._shared is None:
                self._loop(settle)
            else:
                with collector_off():  # waits and copies are many and stay
                    self._loop_shared(settle, self._shared)
        if state.started < count:
            raise diagnose(state, [] if self._shared is None else self._shared.pending())
        return state.trace()

    def _loop(self, settle: Settle) -> None:
        """Drain one instant after the other; settle each when none of its events is left.

        Everything is bound to local names, because this runs for every operator.
        """
        state, succ = self._state, self._state.problem.graph.succ
        note, memory = self._note, self._memory
        remaining, running, queues, idle, heads = state.remaining, state.running, state.queues, state.idle, self._heads
        agenda = self._clock.agenda
        stream_of, ready_at, calls = state.stream_of, state.ready_at, 1
        while agenda:
            now, _, _, event = heappop(agenda)
            newly_ready: list[OpId] = []
            finished: list[OpId] = []
            while True:
                if type(event) is End:
                    stream = event.number
                    op = running[stream]
                    running[stream] = -1
                    finished.append(op)
                    if note is not None:
                        note(~op)
                    if queues[stream]:
                        heads.append(stream)
                    else:
                        idle.append(stream)
                    for other in succ[op]:
                        remaining[other] = left = remaining[other] - 1
                        if not left:
                            ready_at[other] = now
                            if stream_of[other] < 0:
                                newly_ready.append(other)
                            else:
                                heads.append(stream_of[other])
                else:
                    self._clock.process(event, now)
                if not agenda or agenda[0][0] != now:
                    break
                now, _, _, event = heappop(agenda)
            settle(now, newly_ready, finished)
            calls += 1
            if memory is not None and not calls % NOTES:
                memory.catch_up()
        state.calls = calls

    def _loop_shared(self, settle: Settle, shared: Shared) -> None:
        """Do the same where ends depend on what else runs, and heads wait for more than their predecessors."""
        agenda, running, memory = self._clock.agenda, self._state.running, self._memory
        finish, heads, calls = self._finisher(shared), self._heads, 1
        devices, arm, advance = shared.devices, shared.armer(), self._advancer()
        arm(0)
        while agenda:
            now, _, _, event = heappop(agenda)
            newly_ready: list[OpId] = []
            finished: list[OpId] = []
            arrived = ticked = False
            while True:
                if type(event) is End:
                    finish(running[event.number], now, newly_ready, finished)
                elif type(event) is Tick and event.number != LINKS:
                    if event.due == now:
                        event.due = -1
                        ticked = True  # blocks may have given back their places though no kernel has ended
                        for op in devices[event.number].due(now):
                            finish(op, now, newly_ready, finished)
                else:
                    arrived |= shared.wake(event, now)
                if not agenda or agenda[0][0] != now:
                    break
                now, _, _, event = heappop(agenda)
            if finished or arrived:
                settle(now, newly_ready, finished)
                calls += 1
                if not calls % NOTES:
                    collect_young()
                    if memory is not None:
                        memory.catch_up()
            elif heads or (ticked and shared.waiting()):
                advance(now)
            arm(now)
        self._state.calls = calls

    def _finisher(self, shared: Shared) -> Callable[[OpId, int, list[OpId], list[OpId]], None]:
        """Return what ends an operator: gives back, frees its stream, and makes its successors ready."""
        state, succ, note, memory = self._state, self._state.problem.graph.succ, self._note, self._memory
        remaining, running, queues, idle, heads = state.remaining, state.running, state.queues, state.idle, self._heads
        stream_of, ready_at, end_at, device_of = state.stream_of, state.ready_at, state.end_at, self._stream_device
        give = [self._gates[device].give for device in device_of]
        follow = shared.made if shared.several else None

        def finish(op: OpId, now: int, newly_ready: list[OpId], finished: list[OpId]) -> None:
            stream = stream_of[op]
            running[stream] = -1
            end_at[op] = now
            finished.append(op)
            if note is not None:
                note(~op)
            elif memory is not None:
                memory.finish(op, device_of[stream], now)
            give[stream](op)
            if queues[stream]:
                heads.append(stream)
            else:
                idle.append(stream)
            for other in succ[op]:
                remaining[other] = left = remaining[other] - 1
                there = stream_of[other]
                if not left:
                    ready_at[other] = now
                    if there < 0:
                        newly_ready.append(other)
                    else:
                        heads.append(there)
            if follow is not None:
                follow(op, now)

        return finish

    def _sources(self) -> list[OpId]:
        """Operators that wait for nothing: ready at time 0."""
        sources = [op for op, left in enumerate(self._state.remaining) if not left]
        for op in sources:
            self._state.ready_at[op] = 0
        return sources

    def _settler(self) -> Settle:
        """Return what is done once all events of an instant are in, with everything bound to local names."""
        state, view, policy, heads = self._state, self._view, self._policy, self._heads
        idle, shared, advance = state.idle, self._shared, self._advancer()
        waiting = shared.waiting if shared is not None else bool  # bool() is False: nothing waits where all is open
        became_ready, dispatch = view.became_ready.extend, self._dispatcher()
        latest, ended_at_once = -1, 0

        def settle(now: int, newly_ready: list[OpId], finished: list[OpId]) -> None:
            """Start waiting heads, ask the policy, append and start what it dispatched."""
            if len(finished) > 1:
                finished.sort()
                newly_ready.sort()
            if len(idle) > 1:
                idle.sort()
            if heads or waiting():
                advance(now)
            nonlocal latest, ended_at_once
            if now == latest:
                # In a further round of the same instant only operators of no length have finished.
                ended_at_once += len(finished)
            else:
                latest, ended_at_once = now, 0
            view.now = now
            view.newly_ready = newly_ready
            view.newly_finished = finished
            view.idle_streams = tuple(idle)
            if newly_ready:
                became_ready(newly_ready)
            chosen = policy(view)
            if chosen:
                # The policy may be a generator that still reads the view: let it end before anything changes.
                chosen = chosen if type(chosen) is list else list(chosen)
                dispatch(now, chosen)
                if ended_at_once:
                    state.rounds.update((op, ended_at_once) for op, _, _ in chosen)
                if heads or shared is not None:
                    advance(now)

        return settle

    def _dispatcher(self) -> Callable[[int, Sequence[tuple[OpId, int, str]]], None]:
        """Return what appends operators to streams, and starts those at once that nothing can object to."""
        state, heads = self._state, self._heads
        stream_of, dispatch_at, launch_order, idle = state.stream_of, state.dispatch_at, state.launch_order, state.idle
        remaining, running, queues = state.remaining, state.running, state.queues
        start_at, end_at, durations = state.start_at, state.end_at, self._durations[0]
        restricted, at_once = bool(state.problem.allowed), self._shared is None and not self._strict
        shared = self._shared
        launch = None if shared is None or shared.immediate else shared.launch
        enter = shared.enter if shared is not None and shared.immediate else None
        agenda, numbers, ends = self._clock.agenda, self._clock.numbers, self._ends
        note_launch, note_start = launch_order.append, self._note

        def dispatch(now: int, chosen: Sequence[tuple[OpId, int, str]]) -> None:
            for op, stream, reason in chosen:
                try:
                    if op < 0 or stream < 0 or stream_of[op] >= 0 or (restricted and not self._may_run(op, stream)):
                        raise invalid_dispatch(state, op, stream, now)
                    free = running[stream] < 0 and not queues[stream]
                except IndexError:
                    raise invalid_dispatch(state, op, stream, now) from None
                stream_of[op] = stream
                dispatch_at[op] = now
                note_launch(op)
                if reason:
                    state.reasons[op] = reason
                if free:
                    idle.remove(stream)
                    if at_once and not remaining[op]:
                        running[stream] = op
                        start_at[op] = now
                        end_at[op] = end = now + durations[op]
                        if note_start is not None:
                            note_start(op)
                        heappush(agenda, (end, NORMAL, next(numbers), ends[stream]))
                        continue
                    if enter is not None and not remaining[op]:
                        queues[stream].append(op)
                        enter(op, stream)
                        continue
                    heads.append(stream)
                queues[stream].append(op)
                if launch is not None:
                    launch(op, stream, now)

        return dispatch

    def _may_run(self, op: OpId, stream: int) -> bool:
        return self._stream_device[stream] in self._state.problem.allowed_devices(op)

    def _advancer(self) -> Callable[[int], None]:
        """Return what starts all that can start."""
        heads, shared = self._heads, self._shared

        def advance(now: int) -> None:
            if shared is not None and shared.immediate and not heads:
                shared.admit(now)
                return
            coming = heads[:]
            heads.clear()
            if shared is not None:
                shared.advance(coming, now)
            else:
                self._start_heads(coming, now)

        return advance

    def _start_heads(self, heads: Sequence[int], now: int) -> None:
        """Start heads of streams that have their inputs, where nothing else can object."""
        state = self._state
        for stream in heads:
            queue = state.queues[stream]
            if queue and state.running[stream] < 0 and not state.remaining[queue[0]]:
                op = queue.popleft()
                state.running[stream] = op
                state.start_at[op] = now
                state.end_at[op] = end = now + self._durations[0][op]
                self._clock.at(end, self._ends[stream])
                self._account(op, 0, now)

    def _starter(self) -> Start:
        """Return what runs an operator until it ends, which the clock or the device will say."""
        state, note, strict = self._state, self._note, self._strict
        running, start_at, end_at, at, ends = state.running, state.start_at, state.end_at, self._clock.at, self._ends
        account = self._account if note is None or strict else None

        def start(op: OpId, stream: int, device: int, now: int, end: int | None) -> None:
            running[stream] = op
            start_at[op] = now
            if account is not None:
                account(op, device, now)
            elif note is not None:
                note(op)
            if end is not None:
                end_at[op] = end
                at(end, ends[stream])

        return start

    def _account(self, op: OpId, device: int, now: int) -> None:
        """Account for the memory of an operator that starts."""
        if self._memory is not None:
            self._memory.start(op, device, now)
            if self._strict:
                over_capacity(self._state, op, device, now)
