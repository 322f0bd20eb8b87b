"""Live bytes from their definition: one look at every tensor, whenever somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simsched.graph.model import OpId, TensorId, TensorKind

if TYPE_CHECKING:
    from tests.reference.engine import Reference


class Memory:
    """What is where, of one run, at this moment."""

    def __init__(self, run: Reference) -> None:
        self.run = run
        self.graph = run.graph
        self.devices = range(len(run.problem.devices))

    def present(self, tensor: TensorId, device: int) -> bool:
        """Whether a tensor has bytes on a device."""
        run, kind, producer = self.run, self.graph.tensor_kinds[tensor], self.graph.tensor_producer[tensor]
        readers = self.graph.tensor_consumers[tensor]
        if kind.persistent:
            if len(self.devices) == 1:
                return True
            return any(run.begun(op) and run.device_of(op) == device for op in readers)
        if not run.begun(producer):
            return False
        unread = any(op not in run.finished for op in readers)
        if run.device_of(producer) == device:
            return kind is TensorKind.OUTPUT or producer in run.running or unread
        if run.copies.linked(tensor, device):
            copy = run.copies.all.get((tensor, device))
            return unread and copy is not None and copy.start >= 0
        return unread and any(run.begun(op) and run.device_of(op) == device for op in readers)

    def owner(self, tensor: TensorId, device: int, started: OpId = -1) -> TensorId:
        """Whose bytes a tensor has on a device: its own or, where its producer ran there, maybe those of an input.

        ``started`` is an operator that is taken to run on the device.
        """
        producer = self.graph.tensor_producer[tensor]
        for shared in (self.graph.aliases, self.graph.inplace):
            if tensor in shared and (producer == started or self.run.device_of(producer) == device):
                return self.owner(shared[tensor], device, started)
        return tensor

    def live(self, device: int) -> int:
        sizes = self.graph.tensor_bytes
        owners = {self.owner(tensor, device) for tensor in range(len(sizes)) if self.present(tensor, device)}
        here = [op for op in self.run.running if self.run.device_of(op) == device]
        total = sum(sizes[tensor] for tensor in owners)
        return total + sum(self.run.problem.workspace(op, device) for op in here)

    def need(self, op: OpId, device: int) -> int:
        """Bytes that an operator would add: outputs, workspace, and inputs that are not there, copied or not."""
        sizes = self.graph.tensor_bytes
        missing = {tensor for tensor in self.graph.inputs[op] if not self.present(tensor, device)}
        made = sum(sizes[tensor] for tensor in self.graph.outputs[op] if self.owner(tensor, device, op) == tensor)
        return made + self.run.problem.workspace(op, device) + sum(sizes[tensor] for tensor in missing)

    def delta(self, op: OpId, device: int) -> int:
        """Change of live bytes when an operator would run alone now, from before its start to after its end."""
        sizes = self.graph.tensor_bytes
        before, after = set(), set()
        for tensor in range(len(sizes)):
            present = self.present(tensor, device)
            if present:
                before.add(self.owner(tensor, device))
            if self.stays(tensor, op, device) if self.touches(op, tensor) else present:
                after.add(self.owner(tensor, device, op))
        return sum(sizes[tensor] for tensor in after) - sum(sizes[tensor] for tensor in before)

    def touches(self, op: OpId, tensor: TensorId) -> bool:
        return tensor in self.graph.inputs[op] or tensor in self.graph.outputs[op]

    def stays(self, tensor: TensorId, op: OpId, device: int) -> bool:
        """Whether a tensor that an operator reads or makes would be on the device when that has run there."""
        kind, producer = self.graph.tensor_kinds[tensor], self.graph.tensor_producer[tensor]
        last = all(reader == op or reader in self.run.finished for reader in self.graph.tensor_consumers[tensor])
        if kind.persistent:
            return True
        at_home = producer == op or self.run.device_of(producer) == device
        return (at_home and kind is TensorKind.OUTPUT) or not last

    def fits_alone(self, op: OpId, device: int) -> bool:
        capacity = self.run.problem.devices[device].capacity
        sizes, kinds = self.graph.tensor_bytes, self.graph.tensor_kinds
        held = set(self.graph.inputs[op]) | set(self.graph.outputs[op])
        if len(self.devices) == 1:
            held |= {tensor for tensor in range(len(sizes)) if kinds[tensor].persistent}
        # Of tensors in one buffer the largest counts; on a single device, that for which the buffer was made.
        largest: dict[TensorId, int] = {}
        for tensor in held:
            first = self.first(tensor)
            size = sizes[first] if len(self.devices) == 1 else sizes[tensor]
            largest[first] = max(size, largest.get(first, 0))
        return capacity is None or sum(largest.values()) + self.run.problem.workspace(op, device) <= capacity

    def first(self, tensor: TensorId) -> TensorId:
        """The tensor for which a buffer was made."""
        for shared in (self.graph.aliases, self.graph.inplace):
            if tensor in shared:
                return self.first(shared[tensor])
        return tensor
