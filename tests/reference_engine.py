"""A second simulator, plain and slow: time goes tick by tick, and everything is worked out anew from sets.

It was written from the documents (what is simulated, the device models, memory, the protocol of policies) and shares
no code with the engine. Memory is computed from its definition, one look at every tensor, whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simsched.errors import (
    DeadlockError,
    InvalidDispatchError,
    OutOfMemoryError,
    SchedulerError,
    SchedulerStalledError,
)
from simsched.graph.model import OpId, TensorKind
from simsched.problem import Problem
from simsched.schedulers.base import Policy, Scheduler
from tests.reference_view import ReferenceView

Interval = tuple[OpId, str, int, int]
Move = tuple[OpId, OpId, int, int, int, int, int]


@dataclass
class Told:
    """What the reference says about one run; ``memory`` lists every change of live bytes: time, device, bytes."""

    stream: list[int]
    dispatch: list[int]
    ready: list[int]
    start: list[int]
    end: list[int]
    launch_order: list[OpId] = field(default_factory=list)
    waits: list[Interval] = field(default_factory=list)
    transfers: list[Move] = field(default_factory=list)
    curves: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    peaks: dict[int, int] = field(default_factory=dict)
    calls: int = 0


def changes(curve: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """A curve of live bytes that begins at 0, without the steps that change nothing."""
    before = [0, *(live for _, live in curve)]
    return [step for step, last in zip(curve, before, strict=False) if step[1] != last]


def refer(
    problem: Problem,
    scheduler: Scheduler,
    *,
    memory: str = "unbounded",
    actual: Sequence[Sequence[int]] | None = None,
) -> Told:
    """Run a problem; raises the error of ``simsched.errors`` that the documents call for."""
    return _Reference(problem, scheduler.start(problem), memory, actual).run()


class _Reference:
    def __init__(self, problem: Problem, policy: Policy, memory: str, actual: Sequence[Sequence[int]] | None) -> None:
        count = len(problem.graph)
        self.problem, self.graph, self.policy, self.mode = problem, problem.graph, policy, memory
        self.devices = range(len(problem.devices))
        self.length = actual or [problem.durations(device) for device in self.devices]
        self.ops = range(count)
        self.now = 0
        self.told = Told(*([-1] * count for _ in range(5)))
        self.waiting: dict[int, list[OpId]] = {stream: [] for stream in range(len(problem.stream_device))}
        self.running: set[OpId] = set()
        self.finished: set[OpId] = set()
        self.rounds = 0
        self.came: dict[OpId, int] = {}
        self.blocked: dict[OpId, str] = {}
        self.open: dict[OpId, tuple[str, int]] = {}
        self.seen_ready: set[OpId] = set()
        self.seen_finished: set[OpId] = set()
        self.steps: list[tuple[int, int, int]] = []
        self.note()

    # --- facts -----------------------------------------------------------------------------------------------

    def device_of(self, op: OpId) -> int:
        return self.problem.stream_device[self.told.stream[op]]

    def launched(self, op: OpId) -> bool:
        return self.told.dispatch[op] >= 0

    def begun(self, op: OpId) -> bool:
        return op in self.running or op in self.finished

    def is_ready(self, op: OpId) -> bool:
        return all(before in self.finished for before in self.graph.pred[op])

    def arrival(self, op: OpId, device: int) -> int:
        """When the last input of a ready operator comes to a device."""
        moves = [
            self.told.end[before] + self.problem.transfer_ns(before, op, self.device_of(before), device)
            for before in self.graph.pred[op]
        ]
        return max(moves, default=0)

    def free_units(self, device: int) -> dict[str, int]:
        free = dict(self.problem.devices[device].resources)
        for op in self.running:
            if self.device_of(op) == device:
                for name, units in self.problem.demand(op, device).items():
                    if units > 0:
                        free[name] -= units
        return free

    # --- memory, from its definition ---------------------------------------------------------------------------

    def present(self, tensor: int, device: int) -> bool:
        """Whether a tensor has bytes on a device at this moment."""
        kind, producer = self.graph.tensor_kinds[tensor], self.graph.tensor_producer[tensor]
        readers = self.graph.tensor_consumers[tensor]
        if kind.persistent:
            if len(self.devices) == 1:
                return True
            return any(self.begun(op) and self.device_of(op) == device for op in readers)
        if not self.begun(producer):
            return False
        unread = any(op not in self.finished for op in readers)
        if self.device_of(producer) == device:
            return kind is TensorKind.OUTPUT or producer in self.running or unread
        return unread and any(self.begun(op) and self.device_of(op) == device for op in readers)

    def live(self, device: int) -> int:
        sizes = self.graph.tensor_bytes
        total = sum(sizes[tensor] for tensor in range(len(sizes)) if self.present(tensor, device))
        return total + sum(self.problem.workspace(op, device) for op in self.running if self.device_of(op) == device)

    def need(self, op: OpId, device: int) -> int:
        """Bytes that starting an operator would add."""
        sizes = self.graph.tensor_bytes
        missing = {tensor for tensor in self.graph.inputs[op] if not self.present(tensor, device)}
        made = sum(sizes[tensor] for tensor in self.graph.outputs[op])
        return made + self.problem.workspace(op, device) + sum(sizes[tensor] for tensor in missing)

    def delta(self, op: OpId, device: int) -> int:
        """Change of live bytes when an operator would run alone now, from before its start to after its end."""
        sizes, kinds = self.graph.tensor_bytes, self.graph.tensor_kinds
        change = 0
        for tensor in self.graph.outputs[op]:
            if kinds[tensor] is TensorKind.OUTPUT or self.graph.tensor_consumers[tensor]:
                change += sizes[tensor]
        for tensor in set(self.graph.inputs[op]):
            if kinds[tensor].persistent:
                change += 0 if self.present(tensor, device) else sizes[tensor]
                continue
            others = [reader for reader in self.graph.tensor_consumers[tensor] if reader not in self.finished]
            at_home = self.device_of(self.graph.tensor_producer[tensor]) == device
            stays = others != [op] or (at_home and kinds[tensor] is TensorKind.OUTPUT)
            change += (stays - self.present(tensor, device)) * sizes[tensor]
        return change

    def note(self) -> None:
        self.steps += [(self.now, device, self.live(device)) for device in self.devices]

    # --- one instant -------------------------------------------------------------------------------------------

    def finish(self) -> bool:
        over = sorted(op for op in self.running if self.told.end[op] == self.now)
        for op in over:
            self.running.remove(op)
            self.finished.add(op)
            self.note()
        for op in self.ops:
            if self.told.ready[op] < 0 and self.is_ready(op):
                self.told.ready[op] = self.now
        return bool(over)

    def arrived(self) -> bool:
        """Whether the last input of a stream's head comes to its device at this instant."""
        for stream, queue in self.waiting.items():
            device, busy = (
                self.problem.stream_device[stream],
                any(self.told.stream[op] == stream for op in self.running),
            )
            if queue and not busy and self.is_ready(queue[0]) and self.arrival(queue[0], device) == self.now > 0:
                return True
        return False

    def idle(self) -> list[int]:
        """Streams that run nothing and have nothing queued."""
        busy = {self.told.stream[op] for op in self.running}
        return [stream for stream, queue in self.waiting.items() if not queue and stream not in busy]

    def heads(self, device: int) -> list[OpId]:
        """Operators at the heads of free streams with their inputs there."""
        found = []
        for stream in self.problem.device_streams[device]:
            busy = any(self.told.stream[op] == stream for op in self.running)
            if self.waiting[stream] and not busy:
                op = self.waiting[stream][0]
                if self.is_ready(op) and self.arrival(op, device) <= self.now:
                    self.came.setdefault(op, self.rounds)
                    found.append(op)
        return found

    def short(self, op: OpId, device: int) -> str:
        """What an operator lacks to start: ``resource``, ``memory`` or nothing."""
        described = self.problem.devices[device]
        resident = sum(self.device_of(other) == device for other in self.running)
        if described.max_resident_kernels is not None and resident >= described.max_resident_kernels:
            return "resource"
        free = self.free_units(device)
        if any(units > free[name] for name, units in self.problem.demand(op, device).items() if units > 0):
            return "resource"
        capacity = described.capacity
        if self.mode == "block" and capacity is not None and self.live(device) + self.need(op, device) > capacity:
            return "memory"
        return ""

    def start_heads(self) -> None:
        self.rounds += 1
        number = {op: position for position, op in enumerate(self.told.launch_order)}
        for device in self.devices:
            heads = self.heads(device)
            for op in heads:
                self.blocked.pop(op, None)
            if self.problem.devices[device].model == "sm_share":
                self.from_queue(device, sorted(heads, key=lambda op: (self.came[op], number[op])))
            else:
                for op in sorted(heads, key=number.__getitem__):
                    reason = self.short(op, device)
                    if reason:
                        self.blocked[op] = reason
                    else:
                        self.begin(op, device)

    def from_queue(self, device: int, queue: list[OpId]) -> None:
        while queue:
            reason = self.short(queue[0], device)
            if reason:
                self.blocked[queue[0]] = reason
                self.blocked.update(dict.fromkeys(queue[1:], "queue"))
                return
            self.begin(queue.pop(0), device)

    def begin(self, op: OpId, device: int) -> None:
        capacity = self.problem.devices[device].capacity
        self.waiting[self.told.stream[op]].pop(0)
        self.running.add(op)
        self.told.start[op] = self.now
        self.told.end[op] = self.now + self.length[device][op]
        self.note()
        if self.mode == "strict" and capacity is not None and self.live(device) > capacity:
            raise OutOfMemoryError("strict", self.live(device))

    def note_transfers(self) -> None:
        """Data leaves when its producer ends, or is on its way since then when its reader is dispatched later."""
        known = {move[:2] for move in self.told.transfers}
        for op in self.told.launch_order:
            for before in self.graph.pred[op]:
                if before in self.finished and (before, op) not in known:
                    here, there = self.device_of(before), self.device_of(op)
                    took, left = self.problem.transfer_ns(before, op, here, there), self.told.end[before]
                    if took:
                        size = self.problem.edge_bytes(before, op)
                        self.told.transfers.append((before, op, here, there, left, left + took, size))

    def ask(self) -> None:
        self.told.calls += 1
        chosen = list(self.policy(ReferenceView(self)))
        for op, stream, *_ in chosen:
            known = op in self.ops and 0 <= stream < len(self.problem.stream_device)
            if not known or self.launched(op):
                raise InvalidDispatchError(f"{op} on {stream}")
            if self.problem.stream_device[stream] not in self.problem.allowed_devices(op):
                raise InvalidDispatchError(f"{op} may not run on {stream}")
            self.told.dispatch[op], self.told.stream[op] = self.now, stream
            self.told.launch_order.append(op)
            self.waiting[stream].append(op)
        self.seen_ready = {op for op in self.ops if self.is_ready(op)}
        self.seen_finished = set(self.finished)

    def instant(self) -> None:
        """Finish, start what waits, ask, start what was dispatched; once more while something ends at once."""
        arrived = self.arrived()
        if not self.finish() and not arrived and self.now:
            return
        while True:
            self.note_transfers()
            self.start_heads()
            free = self.idle()
            before = len(self.told.launch_order)
            self.ask()
            self.note_transfers()
            # Heads are looked at again, and their reasons noted, only where a dispatch brought a new one.
            if any(self.told.stream[op] in free for op in self.told.launch_order[before:]):
                self.start_heads()
            if not self.finish():
                return

    def record_waits(self) -> None:
        for op in self.ops:
            reason = self.blocked.get(op, "") if not self.begun(op) else ""
            before = self.open.get(op)
            if before and before[0] != reason:
                if before[1] < self.now:
                    self.told.waits.append((op, before[0], before[1], self.now))
                del self.open[op]
            if reason and op not in self.open:
                self.open[op] = (reason, self.now)

    def run(self) -> Told:
        self.refuse_hopeless()
        while self.ops:
            self.instant()
            self.record_waits()
            if len(self.finished) == len(self.ops):
                break
            moving = any(move[5] > self.now for move in self.told.transfers)
            if not self.running and not moving:
                raise self.stuck()
            self.now += 1
        self.told.waits.sort()
        self.told.transfers.sort()
        for device in self.devices:
            mine = [(time, live) for time, owner, live in self.steps if owner == device]
            self.told.curves[device] = changes(sorted(dict(mine).items()))
            self.told.peaks[device] = max(live for _, live in mine)
        return self.told

    # --- errors ------------------------------------------------------------------------------------------------

    def refuse_hopeless(self) -> None:
        """An operator that fits on none of its devices, even alone, is refused before the run."""
        if self.mode == "unbounded":
            return
        for op in self.ops:
            if not any(self.fits_alone(op, device) for device in self.problem.allowed_devices(op)):
                raise OutOfMemoryError("hopeless", 0)
        if len(self.devices) == 1:
            capacity = self.problem.devices[0].capacity
            if capacity is not None and self.live(0) > capacity:
                raise OutOfMemoryError("persistent", 0)

    def fits_alone(self, op: OpId, device: int) -> bool:
        capacity = self.problem.devices[device].capacity
        sizes, kinds = self.graph.tensor_bytes, self.graph.tensor_kinds
        held = set(self.graph.inputs[op]) | set(self.graph.outputs[op])
        if len(self.devices) == 1:
            held |= {tensor for tensor in range(len(sizes)) if kinds[tensor].persistent}
        total = sum(sizes[tensor] for tensor in held) + self.problem.workspace(op, device)
        return capacity is None or total <= capacity

    def stuck(self) -> SchedulerError:
        if "memory" in self.blocked.values():
            return OutOfMemoryError("stuck", 0)
        idle = [op for op in self.ops if self.is_ready(op) and not self.launched(op)]
        if idle:
            for op in idle:
                for device in self.problem.allowed_devices(op):
                    capacity = self.problem.devices[device].capacity
                    roomy = capacity is None or self.live(device) + self.need(op, device) <= capacity
                    if self.mode == "unbounded" or roomy:
                        return SchedulerStalledError("stalled")
            return OutOfMemoryError("nothing fits", 0)
        return DeadlockError("deadlock")
