"""Device model ``sm_share``: kernels demand whole SMs, are admitted in launch order, and share DRAM bandwidth.

A kernel enters the device's queue when it is at the head of its stream and its launch and its inputs are there;
kernels that come together enter in launch order. (One that had to wait for an operator of no length comes after one
of the same instant that had not.) Only the first of the queue may start, when its SMs (and other demands, and its
memory) are free: a large kernel at the head holds back a small one behind it. This head-of-line blocking is what was
measured on NVIDIA devices (Amert et al., "GPU scheduling on the NVIDIA TX2", RTSS 2017, rules G2, G3 and X1). There is
a queue for each priority; one is served when all more urgent ones are empty (rules A1 and A2). A kernel holds its SMs
until it ends; it is never preempted.

Kernels that run at the same time share the bandwidth max-min fairly: each gets what it would draw alone, or an equal
share of what is left. A kernel that gets half of what it would draw runs at half its speed
(:mod:`simsched.sharing.pool`).

Not modelled: partial residency and tail waves (see ``blocks``), L2 reuse, contention inside an SM, clock changes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from simsched.engine.devices.base import Site, Start
from simsched.graph.model import OpId
from simsched.sharing.pool import Pool
from simsched.trace import WaitReason

BEHIND = "behind the head of the device's queue"


class SmShare:
    """The queue, and the bodies of kernels that draw bandwidth."""

    def __init__(self, site: Site) -> None:
        self._gate, self._waits, self._durations = site.gate, site.waits, site.durations
        self._priority, self._later = site.priority, site.later
        problem, device = site.problem, site.device
        draws = problem.draws(device, site.durations)
        self._draws = [0.0] * len(site.durations)
        for op, draw in draws.items():
            self._draws[op] = draw
        costed = problem.costs[device].keys() & draws.keys()
        launches = {op: problem.launch_part(op, device, site.durations[op]) for op in costed}
        self._launches = {op: launch for op, launch in launches.items() if launch}
        self._ranked = len(set(problem.devices[device].stream_priorities)) > 1
        self._queue: deque[OpId] = deque()
        self._entered = 0  # kernels that came since the device was last asked
        self._pool = Pool()
        self._add, self._next = self._pool.add, self._pool.next_time
        self.due = self._pool.due

    def push(self, op: OpId, launch: int) -> None:
        """Let a kernel enter the queue, behind those that are as urgent."""
        del launch  # kernels of one instant come in this order already
        self._entered += 1
        queue = self._queue
        place = len(queue)
        if self._ranked:
            while place and self._priority(queue[place - 1]) > self._priority(op):
                place -= 1
        queue.insert(place, op)

    def advance(self, now: int, start: Start) -> None:
        """Start kernels in order until one does not fit; it holds back all behind it."""
        queue, lacks = self._queue, self._gate.lacks
        lacking: WaitReason | None = None
        while queue:
            lacking = lacks(queue[0])
            if lacking is not None:
                break
            start(queue.popleft())
        if lacking is not None:
            head = queue[0]
            known = self._waits.open.get(head)
            if known is None or known[0] != lacking:
                self._waits.begin(head, lacking, now, self._gate.words(head))
            if self._entered:
                self._hold_back(now)
        self._entered = 0

    def _hold_back(self, now: int) -> None:
        """Note that kernels wait behind the head: those that came, and one that was the head and was overtaken."""
        queue, waits = self._queue, self._waits
        behind = len(queue) - 1
        if not self._ranked:
            behind = min(behind, self._entered)
        for place in range(-behind, 0):
            known = waits.open.get(queue[place])
            if known is None or known[0] != "queue":
                waits.begin(queue[place], "queue", now, BEHIND)

    def run(self, op: OpId, now: int) -> int | None:
        """Return the end of a kernel that draws nothing; let the others draw from the end of their launch gap on."""
        took = self._durations[op]
        draw = self._draws[op]
        if not draw:
            return now + took
        if op in self._launches:
            self._later(op, now + self._launches[op])
        else:
            self._add(op, draw, took, now)
        return None

    def body(self, op: OpId, now: int) -> None:
        """Let a kernel draw."""
        self._add(op, self._draws[op], self._durations[op] - self._launches[op], now)

    def next_time(self, now: int) -> int | None:
        """When the next body is done; one that lacks less than a rounding now is done in the next instant."""
        time = self._next()
        return now + 1 if time is not None and time <= now else time

    def waiting(self) -> bool:
        """Whether any kernel is in the queue."""
        return bool(self._queue)

    def pending(self) -> Sequence[OpId]:
        """Kernels in the queue, the most urgent first."""
        return list(self._queue)
