"""The interface of a device model, and the gate that every model asks.

A model owns the queue of its device: operators at the heads of their streams that have their launch, their inputs and
everything but the device's consent. It decides who may start, and how fast each operator runs beside the others. To
add one, write a class like those of this package and name it in ``MODELS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from simsched.engine.memory import Memory
from simsched.engine.waits import Waits
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import Cohort, WaitReason

Start = Callable[[OpId], None]


class DeviceModel(Protocol):
    """The queue of one device, and who runs there how fast."""

    def push(self, op: OpId, launch: int) -> None:
        """Let an operator enter the queue; those of one instant come in launch order, ``launch`` is their number."""
        ...

    def advance(self, now: int, start: Start) -> None:
        """Call ``start`` for each operator that may start, and note for the others what they wait for."""
        ...

    def run(self, op: OpId, now: int) -> int | None:
        """Return when an operator that starts now ends; None where that depends on the others: see ``due``."""
        ...

    def body(self, op: OpId, now: int) -> None:
        """The launch gap of an operator is over."""
        ...

    def next_time(self, now: int) -> int | None:
        """Next instant, ``now`` at the earliest, at which ``due`` has something to say, as things stand."""
        ...

    def due(self, now: int) -> Sequence[OpId]:
        """Return the operators that end now, ascending."""
        ...

    def waiting(self) -> bool:
        """Whether ``advance`` may have something to do once something has ended."""
        ...

    def pending(self) -> Sequence[OpId]:
        """Operators in the queue, the next one first."""
        ...


class Site(NamedTuple):
    """What a device model is made from.

    Attributes
    ----------
    problem : Problem
    device : int
    durations : sequence of int
        What each operator takes alone, in ns.
    gate : Gate
    waits : Waits
    later : callable
        ``later(op, time)``: have ``body(op)`` called then.
    priority : callable
        ``priority(op)``: that of the stream that the operator was dispatched to.
    cohorts : list of Cohort
        Where a model that places blocks notes them.
    """

    problem: Problem
    device: int
    durations: Sequence[int]
    gate: Gate
    waits: Waits
    later: Callable[[OpId, int], None]
    priority: Callable[[OpId], int]
    cohorts: list[Cohort]


class Gate:
    """Free units and bytes of one device: says what an operator is short of, takes and gives back.

    Parameters
    ----------
    problem : Problem
    device : int
    memory : Memory or None
        Where live bytes are kept.
    capacity : int or None
        Bytes of the device; None in runs with unbounded memory.
    blocking : bool
        Whether an operator waits until its memory fits (mode ``block``).

    Attributes
    ----------
    capacity : int or None
    free : dict of str to int
        Free units of each resource of the device.
    lacks, take, give : callable
        ``lacks(op)``: what kind of thing the operator is short of, None when it may start; ``take(op)`` and
        ``give(op)``: take its units, and give them back.
    """

    __slots__ = (
        "_device", "_kernel_limit", "_limit", "_memory", "_needs", "_resident", "capacity", "free", "give", "lacks",
        "take",
    )  # fmt: skip

    def __init__(
        self, problem: Problem, device: int, memory: Memory | None, capacity: int | None, *, blocking: bool
    ) -> None:
        described = problem.devices[device]
        demands = problem.demands_on(device)
        demanded = {name for demand in demands.values() for name in demand}
        # Columns by operator, one for each resource that anybody demands.
        self._needs = [(name, [0] * len(problem.graph)) for name in described.resources if name in demanded]
        for name, column in self._needs:
            for op, demand in demands.items():
                column[op] = demand.get(name, 0)
        self.free = dict(described.resources)
        self._device = device
        self._memory = memory
        self.capacity = capacity
        self._limit = capacity if blocking else None
        limit = described.max_resident_kernels
        self._kernel_limit = limit if limit is not None and limit < described.streams else None
        self._resident = 0
        self.lacks: Callable[[OpId], WaitReason | None] = self._lacks
        self.take: Callable[[OpId], None] = self._take
        self.give: Callable[[OpId], None] = self._give
        if len(self._needs) == 1 and self._limit is None and self._kernel_limit is None:
            self.lacks, self.take, self.give = _one_resource(self.free, *self._needs[0])

    @property
    def open(self) -> bool:
        """Whether nothing can ever be refused."""
        return not self._needs and self._limit is None and self._kernel_limit is None

    def _lacks(self, op: OpId) -> WaitReason | None:
        """What kind of thing the operator is short of, or None when it may start."""
        for name, column in self._needs:
            if column[op] > self.free[name]:
                return "resource"
        if self._kernel_limit is not None and self._resident >= self._kernel_limit:
            return "resource"
        if self._limit is not None and not self._fits(op, self._limit):
            return "memory"
        return None

    def words(self, op: OpId) -> str:
        """Say what the operator is short of; empty when it may start."""
        if self._kernel_limit is not None and self._resident >= self._kernel_limit:
            return f"resident kernels: {self._resident} of {self._kernel_limit}"
        for name, column in self._needs:
            if column[op] > self.free[name]:
                return _shortage(name, column[op], self.free[name])
        if self._limit is not None and self._memory is not None and not self._fits(op, self._limit):
            free = self._limit - self._memory.live[self._device]
            return f"memory: needs {self._memory.need(op, self._device)} B, {free} B free"
        return ""

    def _fits(self, op: OpId, limit: int) -> bool:
        memory = self._memory
        return memory is None or memory.live[self._device] + memory.need(op, self._device) <= limit

    def room_for(self, size: int) -> bool:
        """Whether so many bytes more fit, where memory makes operators wait."""
        return self._limit is None or self._memory is None or self._memory.live[self._device] + size <= self._limit

    def _take(self, op: OpId) -> None:
        """Take the operator's units."""
        self._resident += 1
        for name, column in self._needs:
            self.free[name] -= column[op]

    def _give(self, op: OpId) -> None:
        """Give the operator's units back."""
        self._resident -= 1
        for name, column in self._needs:
            self.free[name] += column[op]


@lru_cache(maxsize=4096)
def _shortage(name: str, needs: int, free: int) -> str:
    """Words that many waits have in common."""
    return f"{name}: needs {needs}, {free} free"


def _one_resource(
    free: dict[str, int], name: str, column: Sequence[int]
) -> tuple[Callable[[OpId], WaitReason | None], Callable[[OpId], None], Callable[[OpId], None]]:
    """What a gate does where one resource is all that can be short: most GPUs, and in a third of the time."""

    def lacks(op: OpId) -> WaitReason | None:
        return "resource" if column[op] > free[name] else None

    def take(op: OpId) -> None:
        free[name] -= column[op]

    def give(op: OpId) -> None:
        free[name] += column[op]

    return lacks, take, give
