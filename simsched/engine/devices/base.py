"""The interface of a device model.

A model is one function: ``admit(pending, launched, gate, start)``. ``pending`` holds operators at the heads of their
streams that have everything but the device's consent, in the order in which they came to that point (those that came
together in launch order); ``launched(op)`` is the number of an operator's launch. The model calls ``start(op)`` for
each that may start now and returns the others with the reason.

Speed is constant in the models of this package so far: an operator that has started ends after its duration. Models
that share bandwidth will also say, at each change of the resident set, how fast each resident operator runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from simsched.engine.memory import Memory
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.trace import WaitReason

Blocked = tuple[OpId, WaitReason, str]
Shortage = tuple[WaitReason, str]


class Admit(Protocol):
    """Decide which pending operators start now."""

    def __call__(
        self, pending: Sequence[OpId], launched: Callable[[OpId], int], gate: Gate, start: Callable[[OpId], None]
    ) -> list[Blocked]:
        """Call ``start`` for each operator that may start; return the others, in the order of ``pending``."""
        ...


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
    """

    __slots__ = ("_demands", "_device", "_kernel_limit", "_limit", "_memory", "_resident", "capacity", "free")

    def __init__(
        self, problem: Problem, device: int, memory: Memory | None, capacity: int | None, *, blocking: bool
    ) -> None:
        described = problem.devices[device]
        self.free = dict(described.resources)
        self._device = device
        self._memory = memory
        self.capacity = capacity
        self._limit = capacity if blocking else None
        self._demands = problem.demands_on(device)
        limit = described.max_resident_kernels
        self._kernel_limit = limit if limit is not None and limit < described.streams else None
        self._resident = 0

    @property
    def open(self) -> bool:
        """Whether nothing can ever be refused."""
        return not self._demands and self._limit is None and self._kernel_limit is None

    def shortage(self, op: OpId) -> Shortage | None:
        """What the operator is short of, or None when it may start."""
        if self._kernel_limit is not None and self._resident >= self._kernel_limit:
            return "resource", f"resident kernels: {self._resident} of {self._kernel_limit}"
        for resource, units in self._demands.get(op, {}).items():
            if units > self.free[resource]:
                return "resource", f"{resource}: needs {units}, {self.free[resource]} free"
        if self._limit is not None and self._memory is not None:
            free = self._limit - self._memory.live[self._device]
            need = self._memory.need(op, self._device)
            if need > free:
                return "memory", f"memory: needs {need} B, {free} B free"
        return None

    def take(self, op: OpId) -> None:
        """Take the operator's units."""
        self._resident += 1
        for resource, units in self._demands.get(op, {}).items():
            self.free[resource] -= units

    def give(self, op: OpId) -> None:
        """Give the operator's units back."""
        self._resident -= 1
        for resource, units in self._demands.get(op, {}).items():
            self.free[resource] += units
