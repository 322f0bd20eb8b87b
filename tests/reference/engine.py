"""The second simulator: everything is worked out anew from sets at each event, and time jumps to the next one.

It was written from the documents (what is simulated, the device models, host and copies, memory, the protocol of
policies) and shares no code with the engine. Rates and progress are exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from simsched.errors import (
    DeadlockError,
    InvalidDispatchError,
    OutOfMemoryError,
    SchedulerError,
    SchedulerStalledError,
)
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Policy, Scheduler
from tests.reference.blocks import Sms
from tests.reference.copies import Copies
from tests.reference.flows import Flow, one_resource
from tests.reference.memory import Memory
from tests.reference.told import Told, changes
from tests.reference.view import ReferenceView


def refer(
    problem: Problem,
    scheduler: Scheduler,
    *,
    memory: str = "unbounded",
    actual: Sequence[Sequence[int]] | None = None,
) -> Told:
    """Run a problem; raises the error of ``simsched.errors`` that the documents call for."""
    return Reference(problem, scheduler.start(problem), memory, actual).run()


class Reference:
    """One run."""

    def __init__(self, problem: Problem, policy: Policy, memory: str, actual: Sequence[Sequence[int]] | None) -> None:
        count = len(problem.graph)
        self.problem, self.graph, self.policy, self.mode = problem, problem.graph, policy, memory
        self.host = problem.hardware.host
        self.devices = range(len(problem.devices))
        self.length = actual or [problem.durations(device) for device in self.devices]
        self.ops = range(count)
        self.now = 0
        self.told = Told(*([-1] * count for _ in range(5)))
        self.waiting: dict[int, list[OpId]] = {stream: [] for stream in range(len(problem.stream_device))}
        self.running: set[OpId] = set()
        self.finished: set[OpId] = set()
        self.bodies: dict[OpId, Flow] = {}
        self.launched_at: dict[OpId, int] = {}
        self.thread_free: dict[int, int] = {}
        self.rounds = 0
        self.came: dict[OpId, int] = {}
        self.blocked: dict[OpId, str] = {}
        self.open: dict[OpId, tuple[str, int]] = {}
        self.seen_ready: set[OpId] = set()
        self.seen_finished: set[OpId] = set()
        self.steps: list[tuple[int, int, int]] = []
        self.copies, self.memory = Copies(self), Memory(self)
        self.sms = {d: Sms(self, d) for d in self.devices if problem.devices[d].model == "blocks"}
        self.note()

    # --- facts -----------------------------------------------------------------------------------------------

    def device_of(self, op: OpId) -> int:
        return self.problem.stream_device[self.told.stream[op]]

    def dispatched(self, op: OpId) -> bool:
        return self.told.dispatch[op] >= 0

    def begun(self, op: OpId) -> bool:
        return op in self.running or op in self.finished

    def is_ready(self, op: OpId) -> bool:
        return all(before in self.finished for before in self.graph.pred[op])

    def stream_busy(self, stream: int) -> bool:
        return any(self.told.stream[op] == stream for op in self.running)

    def inputs_at(self, op: OpId) -> int | None:
        """When a dispatched operator whose predecessors have ended has its inputs; None where a copy is not through."""
        latest, device = 0, self.device_of(op)
        for before in self.graph.pred[op]:
            there, ended = self.device_of(before), self.told.end[before]
            if there == device:
                apart = self.told.stream[before] != self.told.stream[op]
                came = ended + (self.host.event_ns if apart and self.host.mode != "free" else 0)
            else:
                came = ended
                for tensor in self.copies.carried(before, op, device):
                    copy = self.copies.all.get((tensor, device))
                    if copy is None or copy.end < 0:
                        return None
                    came = max(came, copy.end)
                came += self.graph.delays.get((before, op), 0)
            latest = max(latest, came)
        return latest

    def free_units(self, device: int) -> dict[str, int]:
        free = dict(self.problem.devices[device].resources)
        for op in self.running:
            if self.device_of(op) == device:
                for name, units in self.demand(op, device):
                    free[name] -= units
        return free

    def demand(self, op: OpId, device: int) -> Iterator[tuple[str, int]]:
        """Units that an operator holds from start to end; blocks take their SMs in their own way."""
        for name, units in self.problem.demand(op, device).items():
            if units > 0 and not (device in self.sms and name == "sms"):
                yield name, units

    def fits(self, size: int, device: int) -> bool:
        capacity = self.problem.devices[device].capacity
        return self.mode != "block" or capacity is None or self.memory.live(device) + size <= capacity

    def grew(self, device: int) -> None:
        self.note()
        capacity, live = self.problem.devices[device].capacity, self.memory.live(device)
        if self.mode == "strict" and capacity is not None and live > capacity:
            raise OutOfMemoryError("strict", live)

    def note(self) -> None:
        self.steps += [(self.now, device, self.memory.live(device)) for device in self.devices]

    # --- one instant -------------------------------------------------------------------------------------------

    def is_over(self, op: OpId) -> bool:
        sms = self.sms.get(self.device_of(op))
        return sms.done(op) if sms else self.bodies[op].over(self.now)

    def finish(self) -> bool:
        over = sorted(op for op in self.running if self.is_over(op))
        for op in over:
            self.running.remove(op)
            self.finished.add(op)
            self.told.end[op] = self.now
            self.note()
        for op in self.ops:
            if self.told.ready[op] < 0 and self.is_ready(op):
                self.told.ready[op] = self.now
        return bool(over)

    def arrived(self) -> bool:
        """Whether the last input of a stream's head, which was launched before, comes to its device at this instant."""
        heads = [queue[0] for stream, queue in self.waiting.items() if queue and not self.stream_busy(stream)]
        return any(self.is_ready(op) and self.inputs_at(op) == self.now > self.launched_at[op] for op in heads)

    def idle(self) -> list[int]:
        """Streams that run nothing and have nothing queued."""
        return [stream for stream, queue in self.waiting.items() if not queue and not self.stream_busy(stream)]

    def heads(self, device: int) -> list[OpId]:
        """Operators at the heads of free streams with their inputs there."""
        found = []
        for stream in self.problem.device_streams[device]:
            if self.waiting[stream] and not self.stream_busy(stream):
                op = self.waiting[stream][0]
                inputs = self.inputs_at(op) if self.is_ready(op) else None
                if inputs is not None and max(inputs, self.launched_at[op]) <= self.now:
                    self.came.setdefault(op, self.rounds)
                    found.append(op)
        return found

    def short(self, op: OpId, device: int) -> str:
        """What an operator lacks to start: ``resource``, ``memory`` or nothing."""
        described = self.problem.devices[device]
        resident, limit = sum(self.device_of(other) == device for other in self.running), described.max_resident_kernels
        if limit is not None and resident >= limit:
            return "resource"
        free = self.free_units(device)
        if any(units > free[name] for name, units in self.demand(op, device)):
            return "resource"
        if device in self.sms and not self.sms[device].has_room(op):
            return "resource"
        return "" if self.fits(self.memory.need(op, device), device) else "memory"

    def start_heads(self) -> None:
        self.rounds += 1
        self.copies.start()
        number = {op: position for position, op in enumerate(self.told.launch_order)}
        for device in self.devices:
            heads = self.heads(device)
            for op in heads:
                self.blocked.pop(op, None)
            if self.problem.devices[device].model == "lanes":
                for op in sorted(heads, key=number.__getitem__):
                    reason = self.short(op, device)
                    if reason:
                        self.blocked[op] = reason
                    else:
                        self.begin(op, device)
            else:
                # Kernels that have begun and still have blocks to place are in the queue too.
                heads += [op for op in self.running if self.device_of(op) == device and self.unplaced(op, device)]
                self.from_queue(device, sorted(heads, key=lambda op: (self.urgency(op), self.came[op], number[op])))

    def unplaced(self, op: OpId, device: int) -> bool:
        return device in self.sms and self.sms[device].grid(op).left > 0

    def urgency(self, op: OpId) -> int:
        device = self.device_of(op)
        priorities = self.problem.devices[device].stream_priorities
        return priorities[self.told.stream[op] - self.problem.device_streams[device][0]] if priorities else 0

    def from_queue(self, device: int, queue: list[OpId]) -> None:
        """Start kernels from the head of a device's queue; the first that cannot go holds back the others."""
        for position, op in enumerate(queue):
            reason = "" if op in self.running else self.short(op, device)
            if reason:
                self.blocked[op] = reason
            else:
                if op not in self.running:
                    self.begin(op, device)
                if device not in self.sms or self.sms[device].assign(op):
                    continue
            self.blocked.update({other: "queue" for other in queue[position + 1 :] if other not in self.running})
            return

    def begin(self, op: OpId, device: int) -> None:
        self.waiting[self.told.stream[op]].pop(0)
        self.running.add(op)
        self.told.start[op] = self.now
        if device not in self.sms:
            took = self.length[device][op]
            launch = self.problem.launch_part(op, device, took)
            self.bodies[op] = Flow(self.now + launch, Fraction(took - launch))
        self.grew(device)

    def note_delays(self) -> None:
        """Pure delays of edges along which nothing is copied, from when the producer ends."""
        known = {move[:2] for move in self.told.transfers}
        for op in self.told.launch_order:
            device = self.device_of(op)
            for before in self.graph.pred[op]:
                took = self.graph.delays.get((before, op), 0)
                if not took or before not in self.finished or (before, op) in known:
                    continue
                here, left = self.device_of(before), self.told.end[before]
                if here != device and not self.copies.carried(before, op, device):
                    size = self.problem.edge_bytes(before, op)
                    self.told.transfers.append((before, op, here, device, left, left + took, size, -1, -1))

    def launch(self, op: OpId) -> None:
        """The host launches what has been dispatched."""
        host, asked = self.host, self.now
        if host.mode == "serial":
            thread = self.told.stream[op] % host.threads
            begin = max(self.thread_free.get(thread, 0), asked + (host.sync_ns if asked else 0))
            self.thread_free[thread] = asked = begin + host.launch_ns
        elif host.mode == "graph":
            asked = max(asked, host.graph_ns)
        self.launched_at[op] = asked

    def ask(self) -> None:
        self.told.calls += 1
        chosen = list(self.policy(ReferenceView(self)))
        for op, stream, *_ in chosen:
            known = op in self.ops and 0 <= stream < len(self.problem.stream_device)
            if not known or self.dispatched(op):
                raise InvalidDispatchError(f"{op} on {stream}")
            if self.problem.stream_device[stream] not in self.problem.allowed_devices(op):
                raise InvalidDispatchError(f"{op} may not run on {stream}")
            self.told.dispatch[op], self.told.stream[op] = self.now, stream
            self.told.launch_order.append(op)
            self.waiting[stream].append(op)
            self.launch(op)
        self.seen_ready = {op for op in self.ops if self.is_ready(op)}
        self.seen_finished = set(self.finished)

    def instant(self) -> None:
        """One round after the other, for as long as something ends at once."""
        first = True
        while True:
            news = [self.copies.finish(), first and self.arrived(), first and not self.now]
            left = [device for device, sms in self.sms.items() if sms.finish()]
            news.append(self.finish())
            through = first and self.now in self.launched_at.values()
            if not (any(news) or left or through):
                return
            first = False
            self.note_delays()
            self.start_heads()
            # Where only places came free or launches came through there is nothing to tell a policy.
            if any(news):
                free = self.idle()
                before = len(self.told.launch_order)
                self.ask()
                self.note_delays()
                # Heads are looked at again, and their reasons noted, only where a dispatch brought a new one.
                if any(self.told.stream[op] in free for op in self.told.launch_order[before:]):
                    self.start_heads()
                else:
                    self.copies.start()

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

    # --- time --------------------------------------------------------------------------------------------------

    def flows(self) -> list[Flow]:
        cohorts = [cohort.flow for sms in self.sms.values() for cohort in sms.cohorts if cohort.end < 0]
        return [*(self.bodies[op] for op in sorted(self.running) if op in self.bodies), *cohorts, *self.copies.flows()]

    def share(self) -> None:
        """Set the rates of all that flows, from what flows together now."""
        for device in self.devices:
            here = [op for op in sorted(self.running) if self.device_of(op) == device and op in self.bodies]
            moving = [op for op in here if self.bodies[op].on_its_way(self.now)]
            draws = [Fraction(self.problem.draw(op, device, self.length[device][op])) for op in moving]
            for op, speed in zip(moving, one_resource(draws), strict=True):
                self.bodies[op].rate = speed
        for sms in self.sms.values():
            sms.share()
        self.copies.share()

    def next_time(self) -> int | None:
        """When something happens next by itself."""
        times = [flow.next_time(self.now) for flow in self.flows()]
        times += self.copies.launches_to_come()
        times += [move[5] for move in self.told.transfers if move[5] > self.now]
        for stream, queue in self.waiting.items():
            if queue and not self.stream_busy(stream) and self.is_ready(queue[0]):
                inputs = self.inputs_at(queue[0])
                if inputs is not None and max(inputs, self.launched_at[queue[0]]) > self.now:
                    times.append(max(inputs, self.launched_at[queue[0]]))
        return min(times, default=None)

    def run(self) -> Told:
        self.refuse_hopeless()
        while self.ops:
            self.instant()
            self.record_waits()
            if len(self.finished) == len(self.ops):
                break
            self.share()
            later = self.next_time()
            if later is None:
                raise self.stuck()
            for flow in self.flows():
                flow.advance(self.now, later)
            self.now = later
        return self.tell()

    def tell(self) -> Told:
        told = self.told
        told.launched = [] if self.host.mode == "free" else [self.launched_at[op] for op in self.ops]
        told.waits.sort()
        for copy in self.copies.all.values():
            ends = (copy.source, copy.target, copy.here, copy.there, copy.start, copy.end)
            told.transfers.append((*ends, copy.size, copy.tensor, copy.asked))
        told.transfers.sort()
        cohorts = [cohort for sms in self.sms.values() for cohort in sms.cohorts]
        told.cohorts = sorted((each.op, each.wave, each.start, each.end, each.places) for each in cohorts)
        for device in self.devices:
            mine = [(time, live) for time, owner, live in self.steps if owner == device]
            told.curves[device] = changes(sorted(dict(mine).items()))
            told.peaks[device] = max(live for _, live in mine)
        return told

    # --- errors ------------------------------------------------------------------------------------------------

    def refuse_hopeless(self) -> None:
        """An operator that fits on none of its devices, even alone, is refused before the run."""
        for op in self.ops if self.mode != "unbounded" else ():
            if not any(self.memory.fits_alone(op, device) for device in self.problem.allowed_devices(op)):
                raise OutOfMemoryError("hopeless", 0)
        if len(self.devices) == 1 and self.mode != "unbounded":
            capacity = self.problem.devices[0].capacity
            if capacity is not None and self.memory.live(0) > capacity:
                raise OutOfMemoryError("persistent", 0)

    def stuck(self) -> SchedulerError:
        if "memory" in self.blocked.values() or self.copies.short_of_memory:
            return OutOfMemoryError("stuck", 0)
        idle = [op for op in self.ops if self.is_ready(op) and not self.dispatched(op)]
        if idle and not any(self.waiting.values()):
            for op in idle:
                for device in self.problem.allowed_devices(op):
                    capacity = self.problem.devices[device].capacity
                    need = self.memory.live(device) + self.memory.need(op, device)
                    if self.mode == "unbounded" or capacity is None or need <= capacity:
                        return SchedulerStalledError("stalled")
            return OutOfMemoryError("nothing fits", 0)
        return DeadlockError("deadlock")
