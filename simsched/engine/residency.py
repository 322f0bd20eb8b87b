"""Memory on several devices: which tensor is where.

A parameter or graph input becomes resident on a device when its first consumer there starts, and stays. An activation
lives on its producer's device until its last consumer, wherever it runs, has ended. On another device it has one copy:
from the start of the copy over links, or where none join the two devices, from the start of its first reader there;
until the tensor's last consumer, wherever it runs, has ended. Copies of graph outputs go then too.
"""

from __future__ import annotations

from collections.abc import Sequence

from simsched.engine.memory import needs_at_start
from simsched.graph.lifetimes import use_counts
from simsched.graph.model import OpId, TensorId, TensorKind
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
        self._copies: dict[TensorId, list[int]] = {}
        self._steps = MemorySteps()
        self.live = [0 for _ in devices]

    def need(self, op: OpId, device: int) -> int:
        """Bytes that starting ``op`` on ``device`` would allocate now: outputs, workspace, and inputs not there yet."""
        return self._needs[device][op] + sum(self._graph.tensor_bytes[tensor] for tensor in self._missing(op, device))

    def copy_need(self, tensor: TensorId, device: int) -> int:
        """Bytes that the start of a copy to ``device`` would allocate now; 0 where the tensor is there already."""
        return 0 if self._there(tensor, device) else self._graph.tensor_bytes[tensor]

    def copy(self, tensor: TensorId, device: int, now: int) -> None:
        """Allocate a copy of an activation on ``device``, which starts to arrive over links."""
        if not self._there(tensor, device):
            self._copies.setdefault(tensor, []).append(device)
            self._change(device, self._graph.tensor_bytes[tensor], now)

    def delta(self, op: OpId, device: int) -> int:
        """Change of the device's live bytes from before the start to after the end of ``op``, as things stand now."""
        sizes, kinds, uses = self._graph.tensor_bytes, self._graph.tensor_kinds, self._uses
        change = sum(sizes[tensor] for tensor in self._graph.outputs[op] if uses[tensor])
        for tensor in dict.fromkeys(self._graph.inputs[op]):
            before = self._there(tensor, device)
            if kinds[tensor].persistent:
                after = True
            elif self._home[tensor] == device:
                after = uses[tensor] > 1
            else:
                after = uses[tensor] > 1 + (kinds[tensor] is TensorKind.OUTPUT)
            change += (after - before) * sizes[tensor]
        return change

    def start(self, op: OpId, device: int, now: int) -> None:
        """Allocate outputs and workspace, and the inputs that are not there."""
        need = self.need(op, device)
        for tensor in self._missing(op, device):
            if self._graph.tensor_kinds[tensor].persistent:
                self._resident.add((tensor, device))
            else:
                self._copies.setdefault(tensor, []).append(device)
        for tensor in self._graph.outputs[op]:
            self._home[tensor] = device
        self._change(device, need, now)

    def finish(self, op: OpId, device: int, now: int) -> None:
        """Free workspace and what ``op`` was the last to read, on every device where it is."""
        sizes, kinds, uses = self._graph.tensor_bytes, self._graph.tensor_kinds, self._uses
        freed = {device: self._problem.workspace(op, device)}
        for tensor in dict.fromkeys(self._graph.inputs[op]):
            if kinds[tensor].persistent:
                continue
            uses[tensor] = left = uses[tensor] - 1
            places = [] if left else [self._home[tensor]]
            if left == (kinds[tensor] is TensorKind.OUTPUT):
                places += self._copies.pop(tensor, ())
            for place in places:
                freed[place] = freed.get(place, 0) + sizes[tensor]
        freed[device] += sum(sizes[tensor] for tensor in self._graph.outputs[op] if not uses[tensor])
        for owner, size in sorted(freed.items()):
            self._change(owner, -size, now)

    def catch_up(self) -> None:
        """Do nothing: starts and ends are accounted for when they happen."""

    def alive(self, device: int, started: Sequence[int]) -> list[TensorId]:
        """Tensors live on a device, copies included."""
        del started
        uses = self._uses
        return [
            tensor
            for tensor, home in enumerate(self._home)
            if (uses[tensor] > 0 or home != device) and self._there(tensor, device)
        ]

    def steps(self) -> MemorySteps:
        """Every change so far."""
        return self._steps

    def _there(self, tensor: TensorId, device: int) -> bool:
        """Whether a tensor that is still to be read is on a device, or on its way there."""
        if self._home[tensor] == device or device in self._copies.get(tensor, ()):
            return True
        return (tensor, device) in self._resident

    def _missing(self, op: OpId, device: int) -> list[TensorId]:
        """Inputs that are not on the device yet."""
        return [tensor for tensor in dict.fromkeys(self._graph.inputs[op]) if not self._there(tensor, device)]

    def _change(self, device: int, size: int, now: int) -> None:
        if size:
            self.live[device] += size
            self._steps.time.append(now)
            self._steps.device.append(device)
            self._steps.live.append(self.live[device])
