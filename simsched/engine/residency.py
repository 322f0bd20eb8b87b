"""Memory on several devices: which tensor is where.

A parameter or graph input becomes resident on a device when its first consumer there starts, and stays. An activation
lives on its producer's device until its last consumer, wherever it runs, has ended. A tensor read on another device
has one copy there while any such consumer runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from simsched.engine.memory import needs_at_start
from simsched.graph.lifetimes import use_counts
from simsched.graph.model import OpId, TensorId
from simsched.problem import Problem
from simsched.trace import MemorySteps


class Residency:
    """Live bytes of a run on several devices; implements :class:`simsched.engine.memory.Memory`."""

    __slots__ = ("_copies", "_graph", "_home", "_needs", "_problem", "_resident", "_steps", "_uses", "live")

    def __init__(self, problem: Problem) -> None:
        devices = range(len(problem.devices))
        self._problem = problem
        self._graph = problem.graph
        self._uses = use_counts(problem.graph)
        self._needs = [needs_at_start(problem, device) for device in devices]
        self._home = [-1] * len(problem.graph.tensor_names)
        self._resident: set[tuple[TensorId, int]] = set()
        self._copies: dict[tuple[TensorId, int], int] = {}
        self._steps = MemorySteps()
        self.live = [0 for _ in devices]

    def need(self, op: OpId, device: int) -> int:
        """Bytes that starting ``op`` on ``device`` would allocate now: outputs, workspace, and inputs not there yet."""
        return self._needs[device][op] + sum(self._graph.tensor_bytes[tensor] for tensor in self._missing(op, device))

    def delta(self, op: OpId, device: int) -> int:
        """Change of the device's live bytes from before the start to after the end of ``op``, as things stand now."""
        sizes, kinds = self._graph.tensor_bytes, self._graph.tensor_kinds
        kept = sum(sizes[tensor] for tensor in self._graph.outputs[op] if self._uses[tensor])
        arriving = sum(sizes[tensor] for tensor in self._missing(op, device) if kinds[tensor].persistent)
        freed = sum(
            sizes[tensor]
            for tensor in dict.fromkeys(self._graph.inputs[op])
            if not kinds[tensor].persistent and self._uses[tensor] == 1 and self._home[tensor] == device
        )
        return kept + arriving - freed

    def start(self, op: OpId, device: int, now: int) -> None:
        """Allocate outputs and workspace, and bring the inputs that are not there."""
        need = self.need(op, device)
        for tensor in dict.fromkeys(self._graph.inputs[op]):
            if self._graph.tensor_kinds[tensor].persistent:
                self._resident.add((tensor, device))
            elif self._home[tensor] != device:
                self._copies[tensor, device] = self._copies.get((tensor, device), 0) + 1
        for tensor in self._graph.outputs[op]:
            self._home[tensor] = device
        self._change(device, need, now)

    def finish(self, op: OpId, device: int, now: int) -> None:
        """Free workspace, copies and what ``op`` was the last to read, on whatever device it lives."""
        sizes, uses = self._graph.tensor_bytes, self._uses
        freed = {device: self._problem.workspace(op, device)}
        for tensor in dict.fromkeys(self._graph.inputs[op]):
            if self._graph.tensor_kinds[tensor].persistent:
                continue
            home = self._home[tensor]
            if home != device:
                self._copies[tensor, device] -= 1
                if not self._copies[tensor, device]:
                    freed[device] += sizes[tensor]
            uses[tensor] -= 1
            if not uses[tensor]:
                freed[home] = freed.get(home, 0) + sizes[tensor]
        freed[device] += sum(sizes[tensor] for tensor in self._graph.outputs[op] if not uses[tensor])
        for owner, size in sorted(freed.items()):
            self._change(owner, -size, now)

    def catch_up(self) -> None:
        """Do nothing: starts and ends are accounted for when they happen."""

    def alive(self, device: int, started: Sequence[int]) -> list[TensorId]:
        """Tensors live on a device, copies included."""
        del started
        found = []
        for tensor, home in enumerate(self._home):
            here = home == device and self._uses[tensor] > 0
            if here or (tensor, device) in self._resident or self._copies.get((tensor, device)):
                found.append(tensor)
        return found

    def steps(self) -> MemorySteps:
        """Every change so far."""
        return self._steps

    def _missing(self, op: OpId, device: int) -> list[TensorId]:
        """Inputs that are not on the device yet."""
        missing = []
        for tensor in dict.fromkeys(self._graph.inputs[op]):
            if self._graph.tensor_kinds[tensor].persistent:
                absent = (tensor, device) not in self._resident
            else:
                absent = self._home[tensor] != device and not self._copies.get((tensor, device))
            if absent:
                missing.append(tensor)
        return missing

    def _change(self, device: int, size: int, now: int) -> None:
        if size:
            self.live[device] += size
            self._steps.time.append(now)
            self._steps.device.append(device)
            self._steps.live.append(self.live[device])
