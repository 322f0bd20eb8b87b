"""Device model ``blocks``: thread blocks take places on SMs, and give them back when they end.

A kernel enters the device's queue when it is at the head of its stream and its inputs are there. Urgent kernels come
first, equally urgent ones in the order in which they came. Only the first of the queue may place blocks. It starts with
its first block and leaves the queue with its last one, so that kernels behind it fill what it leaves free (the
*leftover* policy); resident blocks are never preempted, not even by a more urgent kernel (T. Amert et al., "GPU
scheduling on the NVIDIA TX2", RTSS 2017, DOI 10.1109/RTSS.2017.00017, rules G2-G4, X1, R1-R3, A1-A2).

Blocks of one kernel that are placed at one instant, and are of one wave, run in step: they are a *cohort*, and the
device works with cohorts, so that a full wave costs no more than a block. Cohorts share the arithmetic and the
bandwidth of the device: what a cohort draws at full speed follows from what its kernel takes alone, and each is slowed
only where something that it draws is used up.

Not modelled: what blocks on one SM take from each other there (L1 cache, issue slots), reuse in the L2 cache, clocks,
blocks of one kernel that differ, clusters, several contexts. How long a block takes does not depend on how many others
are on its SM; only the whole device's arithmetic and bandwidth are shared.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from heapq import heappop, heappush

from simsched.cost.base import Block, KernelCost
from simsched.engine.devices.base import Site, Start
from simsched.engine.devices.sm_state import Need, Places, SmState
from simsched.engine.devices.waves import Waves, waves_of
from simsched.errors import CostError
from simsched.graph.model import OpId
from simsched.sharing.fair import bottleneck_fair_rates
from simsched.sharing.flows import Flows
from simsched.trace import Cohort, WaitReason

NO_ROOM = "sms: no room for its blocks"
BEHIND = "behind the head of the device's queue"
COMPUTE, MEMORY = 0, 1


class _Kernel:
    """A kernel from the time at which it enters the queue until it ends."""

    __slots__ = ("begin", "left", "need", "op", "resident", "started", "waves")

    def __init__(self, op: OpId, waves: Waves, need: Need) -> None:
        self.op = op
        self.waves = waves
        self.need = need
        self.left = waves.blocks  # not placed yet
        self.resident = 0  # cohorts on the device
        self.started = False
        self.begin = 0  # when its launch is over, once it has started


class _Running:
    """A cohort on the device."""

    __slots__ = ("kernel", "places", "start", "wave")

    def __init__(self, kernel: _Kernel, wave: int, start: int, places: Places) -> None:
        self.kernel = kernel
        self.wave = wave
        self.start = start
        self.places = places


class Blocks:
    """The queue, the places on the SMs, and the cohorts that run there.

    Raises
    ------
    CostError
        If a block of some kernel is too large for an SM of the device.
    """

    def __init__(self, site: Site) -> None:
        described = site.problem.devices[site.device]
        self._site = site
        self._sms = SmState(described.sms, described.sm_limits)
        self._fitting: dict[Block | None, tuple[Need, int]] = {None: (None, 1)}
        self._queue: list[tuple[int, int, _Kernel]] = []  # by urgency, then by order of entry
        self._entered = 0
        self._looked_at: _Kernel | None = None  # the head when waits were last noted; None when somebody has come since
        self._refused = False  # whether the head found no room, and nothing has been given back since
        self._flows = Flows([1.0, 1.0], bottleneck_fair_rates)  # all arithmetic, all bandwidth
        self._cohorts: dict[int, _Running] = {}
        self._placed = 0
        self._later: list[tuple[int, int]] = []  # when cohorts will run that do not yet, or that take no time
        bandwidth = described.memory_bandwidth
        self._bytes_per_ns = 0.0 if bandwidth is None else bandwidth * described.efficiency.bandwidth / 1e9
        for op, cost in site.problem.costs[site.device].items():
            self._fit(op, cost)

    def push(self, op: OpId, launch: int) -> None:
        """Let a kernel enter the queue."""
        del launch  # kernels of one instant come in this order already
        problem, device = self._site.problem, self._site.device
        cost = problem.cost(op, device)
        need, per_sm = self._fit(op, cost)
        took = self._site.durations[op]
        gap = problem.launch_part(op, device, took)
        memory = cost.bytes / self._bytes_per_ns if self._bytes_per_ns else 0.0
        waves = waves_of(cost, cost.grid or cost.sms, per_sm * self._sms.sms, took, gap, memory)
        insort(self._queue, (self._site.priority(op), self._entered, _Kernel(op, waves, need)))
        self._entered += 1
        self._refused = False
        self._looked_at = None

    def _fit(self, op: OpId, cost: KernelCost) -> tuple[Need, int]:
        """What a block of a kernel needs, and how many fit on an empty SM."""
        block = cost.block if cost.grid else None
        known = self._fitting.get(block)
        if known is None:
            known = self._fitting[block] = self._sms.need(block), self._sms.per_sm(block)
            if not known[1] and block is not None:
                problem = self._site.problem
                raise CostError(
                    f"operator {problem.graph.names[op]!r} on {problem.devices[self._site.device].name!r}: a block of "
                    f"{block.threads} threads, {block.registers} registers a thread and {block.shared_memory} B of "
                    "shared memory does not fit on an empty SM; expected one within the profile's limits per SM"
                )
        return known

    def advance(self, now: int, start: Start) -> None:
        """Place blocks, of the most urgent kernel first, until the first of the queue has no room or may not start."""
        queue, gate = self._queue, self._site.gate
        while queue:
            kernel = queue[0][2]
            lacking = None if kernel.started else gate.lacks(kernel.op)
            if lacking == "memory" and not self._has_room(kernel):
                lacking = None  # SMs come before memory, as other resources do
            if lacking is None:
                if not self._refused and self._assign(kernel, now, start):
                    del queue[0]
                    continue
                self._refused = True
            if not kernel.started:
                detail = NO_ROOM if lacking is None else gate.words(kernel.op)
                self._let_wait(kernel.op, lacking or "resource", now, detail)
            if self._looked_at is not kernel:
                self._looked_at = kernel
                for _, _, other in queue[1:]:
                    if not other.started:
                        self._let_wait(other.op, "queue", now, BEHIND)
            return

    def _let_wait(self, op: OpId, reason: WaitReason, now: int, detail: str) -> None:
        if self._site.waits.reason(op) != reason:
            self._site.waits.begin(op, reason, now, detail)

    def _has_room(self, kernel: _Kernel) -> bool:
        """Whether the head of the queue could place a block, if it has any."""
        return not kernel.left or (not self._refused and self._sms.fits(kernel.need))

    def _assign(self, kernel: _Kernel, now: int, start: Start) -> bool:
        """Place blocks of a kernel while there is room; return whether all are placed."""
        waves = kernel.waves
        while True:
            wave, begun = divmod(waves.blocks - kernel.left, waves.full)
            places = self._sms.place(kernel.need, waves.size(wave) - begun) if kernel.left else ()
            if kernel.left and not places:
                return False
            if not kernel.started:
                kernel.started = True
                kernel.begin = now + self._site.durations[kernel.op] - waves.body
                start(kernel.op)
            kernel.left -= sum([count for _, count in places])
            self._let_run(_Running(kernel, wave, now, places), now)
            if not kernel.left:
                return True

    def _let_run(self, cohort: _Running, now: int) -> None:
        """Let a cohort run from now on, or from the end of its kernel's launch."""
        key = self._placed
        self._placed += 1
        self._cohorts[key] = cohort
        kernel = cohort.kernel
        kernel.resident += 1
        if kernel.begin > now or not kernel.waves.length(cohort.wave):
            heappush(self._later, (max(kernel.begin, now), key))
        else:
            self._let_flow(key, cohort, now)

    def _let_flow(self, key: int, cohort: _Running, now: int) -> None:
        waves = cohort.kernel.waves
        compute, memory = waves.draw(cohort.wave, sum([count for _, count in cohort.places]))
        self._flows.add(key, {COMPUTE: compute, MEMORY: memory}, waves.length(cohort.wave), bound=1.0, now=now)

    def run(self, op: OpId, now: int) -> int | None:
        """Return None: when a kernel ends depends on when its blocks find room."""
        del op, now
        return None

    def body(self, op: OpId, now: int) -> None:
        """Do nothing: the device knows itself when launches are over."""

    def next_time(self, now: int) -> int | None:
        """Next instant at which a cohort ends or begins to run."""
        ending = self._flows.next_time()
        if ending is not None and ending <= now:
            ending = now + 1  # it lacks less than a rounding
        if self._later and (ending is None or self._later[0][0] < ending):
            return self._later[0][0]
        return ending

    def due(self, now: int) -> Sequence[OpId]:
        """Give back the places of blocks that end now; return the kernels that end with them."""
        done = self._flows.due(now)
        later = self._later
        while later and later[0][0] <= now:
            _, key = heappop(later)
            cohort = self._cohorts[key]
            if cohort.kernel.waves.length(cohort.wave):
                self._let_flow(key, cohort, now)
            else:
                done.append(key)
        ended = []
        for key in sorted(done):
            cohort = self._cohorts.pop(key)
            kernel = cohort.kernel
            if cohort.places:
                self._sms.give_back(kernel.need, cohort.places)
                self._refused = False
            self._site.cohorts.append(Cohort(kernel.op, cohort.wave, cohort.start, now, cohort.places))
            kernel.resident -= 1
            if not kernel.resident and not kernel.left:
                ended.append(kernel.op)
        return sorted(ended)

    def waiting(self) -> bool:
        """Whether a kernel is in the queue, be it with its last blocks only."""
        return bool(self._queue)

    def pending(self) -> Sequence[OpId]:
        """Kernels in the queue of which no block is placed yet, the most urgent first."""
        return [kernel.op for _, _, kernel in self._queue if not kernel.started]
