"""Memory on several devices: which tensor is where.

A parameter or graph input becomes resident on a device when its first consumer there starts, and stays. An activation
lives on its producer's device until its last consumer, wherever it runs, has ended. On another device it has one copy:
from the start of the copy over links, or where none join the two devices, from the start of its first reader there;
until the tensor's last consumer, wherever it runs, has ended. Copies of graph outputs go then too.

An output that shares the buffer of an input shares what its producer reads: the tensor itself or, on another device,
its copy there. That is given back when nobody is left to read any of the tensors in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simsched.engine.memory import needs_at_start
from simsched.graph.lifetimes import reader_counts
from simsched.graph.model import OpId, TensorId, TensorKind
from simsched.problem import Problem
from simsched.trace import MemorySteps

Place = tuple[TensorId, int]
"""Bytes of a tensor on a device: its own, or those of a copy."""


class Residency:
    """Live bytes of a run on several devices; implements :class:`simsched.engine.memory.Memory`."""

    __slots__ = ("_copies", "_graph", "_holders", "_home", "_needs", "_problem", "_steps", "_uses", "live")

    def __init__(self, problem: Problem) -> None:
        devices = range(len(problem.devices))
        self._problem = problem
        self._graph = problem.graph
        self._uses = reader_counts(problem.graph)
        self._needs = [needs_at_start(problem, device) for device in devices]
        self._home = [-1] * len(problem.graph.tensor_names)
        # How many tensors are to be read in each place; one unless they share it.
        self._holders: dict[Place, int] = {}
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
            self._bring(tensor, device)
            self._change(device, self._graph.tensor_bytes[tensor], now)

    def delta(self, op: OpId, device: int) -> int:
        """Change of the device's live bytes from before the start to after the end of ``op``, as things stand now."""
        graph, missing = self._graph, self._missing(op, device)
        change = self.need(op, device) - self._problem.workspace(op, device)
        holders: dict[Place, int] = dict.fromkeys(((tensor, device) for tensor in missing), 1)
        for place in self._made(op, device):
            holders[place] = holders.get(place, self._holders.get(place, 0)) + 1
        arriving = [tensor for tensor in missing if not graph.tensor_kinds[tensor].persistent]
        for place in self._left(op, device, arriving):
            holders[place] = holders.get(place, self._holders.get(place, 0)) - 1
            if not holders[place] and place[1] == device:
                change -= graph.tensor_bytes[place[0]]
        return change

    def start(self, op: OpId, device: int, now: int) -> None:
        """Allocate outputs and workspace, and the inputs that are not there."""
        need = self.need(op, device)
        for tensor in self._missing(op, device):
            self._bring(tensor, device)
        for place in self._made(op, device):
            self._holders[place] = self._holders.get(place, 0) + 1
        for tensor in self._graph.outputs[op]:
            self._home[tensor] = device
        self._change(device, need, now)

    def finish(self, op: OpId, device: int, now: int) -> None:
        """Free workspace and what ``op`` was the last to read, on every device where it is."""
        freed = {device: self._problem.workspace(op, device)}
        for place in self._left(op, device):
            self._holders[place] -= 1
            if not self._holders[place]:
                del self._holders[place]
                tensor, owner = place
                freed[owner] = freed.get(owner, 0) + self._graph.tensor_bytes[tensor]
        for tensor in dict.fromkeys(self._graph.inputs[op]):
            self._uses[tensor] -= 1
        for owner, size in sorted(freed.items()):
            self._change(owner, -size, now)

    def catch_up(self) -> None:
        """Do nothing: starts and ends are accounted for when they happen."""

    def alive(self, device: int, started: Sequence[int]) -> list[TensorId]:
        """Tensors live on a device, copies included; of those that share their bytes, the one that brought them."""
        del started
        return sorted(tensor for tensor, owner in self._holders if owner == device)

    def steps(self) -> MemorySteps:
        """Every change so far."""
        return self._steps

    def _there(self, tensor: TensorId, device: int) -> bool:
        """Whether a tensor that is still to be read is on a device, or on its way there."""
        return self._home[tensor] == device or (tensor, device) in self._holders

    def _missing(self, op: OpId, device: int) -> list[TensorId]:
        """Inputs that are not on the device yet."""
        return [tensor for tensor in dict.fromkeys(self._graph.inputs[op]) if not self._there(tensor, device)]

    def _bring(self, tensor: TensorId, device: int) -> None:
        self._holders[tensor, device] = 1
        if not self._graph.tensor_kinds[tensor].persistent:
            self._copies.setdefault(tensor, []).append(device)

    def _place(self, tensor: TensorId, device: int) -> Place:
        """Bytes that a tensor has on a device where it is."""
        shares = self._graph.shares
        while tensor in shares and self._home[tensor] == device:
            tensor = shares[tensor]
        return tensor, device

    def _made(self, op: OpId, device: int) -> Iterator[Place]:
        """Where each output of ``op`` is if it runs on ``device``."""
        shares = self._graph.shares
        for tensor in self._graph.outputs[op]:
            yield self._place(shares[tensor], device) if tensor in shares else (tensor, device)

    def _left(self, op: OpId, device: int, arriving: Sequence[TensorId] = ()) -> Iterator[Place]:
        """Places that a tensor leaves when ``op`` ends, as things stand now, with copies of ``arriving`` there too."""
        graph, uses = self._graph, self._uses
        for tensor in dict.fromkeys(graph.inputs[op]):
            if graph.tensor_kinds[tensor].persistent:
                continue
            if uses[tensor] == 1 + (graph.tensor_kinds[tensor] is TensorKind.OUTPUT):
                for owner in self._copies.get(tensor, ()):
                    yield tensor, owner
                if tensor in arriving:
                    yield tensor, device
            if uses[tensor] == 1:
                yield self._place(tensor, self._home[tensor])
        for tensor, place in zip(graph.outputs[op], self._made(op, device), strict=True):
            if not uses[tensor]:
                yield place

    def _change(self, device: int, size: int, now: int) -> None:
        if size:
            self.live[device] += size
            self._steps.time.append(now)
            self._steps.device.append(device)
            self._steps.live.append(self.live[device])
