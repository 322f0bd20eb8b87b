"""The mutable state of one run, and the read-only view of it that policies get."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from simsched.engine.devices.base import Gate
from simsched.engine.host import Launches
from simsched.engine.memory import Memory
from simsched.engine.waits import Waits
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Cohort, MemorySteps, Trace, Transfer

if TYPE_CHECKING:
    from simsched.engine.copies import Copies


class State:
    """Columns by operator, stream and device; everything that changes while a run goes on."""

    __slots__ = (
        "calls",
        "cohorts",
        "copies",
        "dispatch_at",
        "end_at",
        "gates",
        "idle",
        "launch_order",
        "launches",
        "memory",
        "problem",
        "queues",
        "ready_at",
        "reasons",
        "remaining",
        "rounds",
        "running",
        "start_at",
        "stream_of",
        "transfers",
        "waits",
    )

    def __init__(self, problem: Problem, memory: Memory | None, gates: Sequence[Gate]) -> None:
        count, streams = len(problem.graph), len(problem.stream_device)
        self.problem = problem
        self.memory = memory
        self.gates = gates
        self.remaining = list(map(len, problem.graph.pred))
        self.running = [-1] * streams
        self.queues: list[deque[OpId]] = [deque() for _ in range(streams)]
        self.idle = list(range(streams))
        self.stream_of = [-1] * count
        self.dispatch_at = [-1] * count
        self.ready_at = [-1] * count
        self.start_at = [-1] * count
        self.end_at = [-1] * count
        self.launch_order: list[OpId] = []
        self.reasons: dict[OpId, str] = {}
        self.calls = 0
        self.rounds: dict[OpId, int] = {}
        self.waits = Waits()
        self.transfers: list[Transfer] = []
        self.launches = Launches(problem.hardware.host, count)
        self.copies: Copies | None = None
        self.cohorts: list[Cohort] = []

    def inputs_at(self, op: OpId, stream: int) -> int | None:
        """When all inputs of a dispatched operator, whose predecessors have ended, are there; None if not known yet."""
        problem, stream_of, stream_device = self.problem, self.stream_of, self.problem.stream_device
        device, delays, end_at = stream_device[stream], problem.graph.delays, self.end_at
        latest = 0
        for source in problem.graph.pred[op]:
            there = end_at[source]
            if stream_device[stream_of[source]] == device:
                if stream_of[source] != stream:
                    there += problem.event_ns
            else:
                copied = self._copies_end(source, op, device)
                if copied is None:
                    return None
                there = max(there, copied) + delays.get((source, op), 0)
            if there > latest:
                latest = there
        return latest

    def _copies_end(self, source: OpId, target: OpId, device: int) -> int | None:
        """When the last copy of what ``target`` reads of ``source`` had come to a device; None until then."""
        assert self.copies is not None
        latest = 0
        for tensor in self.copies.crossing(source, target, device):
            end = self.copies.end(tensor, device)
            if end is None:
                return None
            latest = max(latest, end)
        return latest

    def copied(self, source: OpId, target: OpId, device: int) -> bool:
        """Whether anything has to be copied for an edge into a device."""
        return self.copies is not None and bool(self.copies.crossing(source, target, device))

    def arrival(self, op: OpId, device: int, now: int) -> int:
        """Earliest instant at which all inputs of an operator can be on a device, if links and engines were free."""
        problem, stream_of, stream_device = self.problem, self.stream_of, self.problem.stream_device
        latest = 0
        for source in problem.graph.pred[op]:
            there, origin = self.end_at[source], stream_device[stream_of[source]]
            if origin != device:
                there = self._expected(source, op, device, now)
            latest = max(latest, there)
        return latest

    def _expected(self, source: OpId, target: OpId, device: int, now: int) -> int:
        delay = self.problem.graph.delays.get((source, target), 0)
        if not self.copied(source, target, device):
            return self.end_at[source] + delay
        known = self._copies_end(source, target, device)
        if known is not None:
            return known + delay
        origin = self.problem.stream_device[self.stream_of[source]]
        return now + self.problem.transfer_ns(source, target, origin, device)

    @property
    def started(self) -> int:
        """Number of operators that have started."""
        return len(self.start_at) - self.start_at.count(-1)

    def trace(self) -> Trace:
        """Freeze what happened."""
        copies = [] if self.copies is None else self.copies.done
        transfers = sorted([*self.transfers, *copies], key=lambda move: (move.end, move.start))
        return Trace(
            self.stream_of,
            self.dispatch_at,
            self.ready_at,
            self.start_at,
            self.end_at,
            self.launch_order,
            MappingProxyType(self.reasons),
            tuple(self.waits.over),
            tuple(transfers),
            MemorySteps() if self.memory is None else self.memory.steps(),
            self.calls,
            MappingProxyType(self.rounds),
            self.launches.through,
            tuple(self.cohorts),
        )


class EngineView:
    """What a policy sees; implements :class:`simsched.schedulers.base.View`. The engine sets the attributes."""

    __slots__ = (
        "_free", "_state", "became_ready", "explaining", "idle_streams", "newly_finished", "newly_ready", "now",
    )  # fmt: skip

    def __init__(self, state: State, explaining: bool) -> None:
        self._state = state
        self._free = [MappingProxyType(gate.free) for gate in state.gates]
        self.became_ready = array("i")
        self.explaining = explaining
        self.now = 0
        self.newly_ready: Sequence[OpId] = ()
        self.newly_finished: Sequence[OpId] = ()
        self.idle_streams: Sequence[int] = ()
        """Streams that run nothing and have nothing queued, ascending."""

    @property
    def problem(self) -> Problem:
        """The problem, with its estimated durations."""
        return self._state.problem

    @property
    def ready(self) -> Sequence[OpId]:
        """Operators whose predecessors have all finished and that are not dispatched yet, ascending."""
        stream_of = self._state.stream_of
        self.became_ready[:] = array("i", sorted(op for op in self.became_ready if stream_of[op] < 0))
        return tuple(self.became_ready)

    @property
    def running(self) -> Sequence[OpId]:
        """Operators that are running now, ascending."""
        return tuple(sorted(op for op in self._state.running if op >= 0))

    def queue(self, stream: int) -> Sequence[OpId]:
        """Operators waiting in a stream, head first."""
        return tuple(self._state.queues[stream])

    def free(self, device: int) -> Mapping[str, int]:
        """Free units of each renewable resource of a device."""
        return self._free[device]

    def live_bytes(self, device: int) -> int:
        """Bytes allocated on a device now."""
        memory = self._state.memory
        return 0 if memory is None else memory.live[device]

    def free_bytes(self, device: int) -> int | None:
        """Bytes still free on a device; None when memory is unbounded in this run."""
        capacity = self._state.gates[device].capacity
        return None if capacity is None else capacity - self.live_bytes(device)

    def memory_need(self, op: OpId, device: int) -> int:
        """Bytes that starting the operator on the device would allocate at once."""
        memory = self._state.memory
        return 0 if memory is None else memory.need(op, device)

    def memory_delta(self, op: OpId, device: int) -> int:
        """Change of live bytes from before its start to after its end, as things stand."""
        memory = self._state.memory
        return 0 if memory is None else memory.delta(op, device)

    def arrival(self, op: OpId, device: int) -> int:
        """Earliest instant at which all inputs of a ready operator can be on the device, with links to itself."""
        return self._state.arrival(op, device, self.now)
