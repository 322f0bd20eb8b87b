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

    def live(self, device: int) -> int:
        sizes = self.graph.tensor_bytes
        total = sum(sizes[tensor] for tensor in range(len(sizes)) if self.present(tensor, device))
        here = [op for op in self.run.running if self.run.device_of(op) == device]
        return total + sum(self.run.problem.workspace(op, device) for op in here)

    def need(self, op: OpId, device: int) -> int:
        """Bytes that an operator would add: outputs, workspace, and inputs that are not there, copied or not."""
        sizes = self.graph.tensor_bytes
        missing = {tensor for tensor in self.graph.inputs[op] if not self.present(tensor, device)}
        made = sum(sizes[tensor] for tensor in self.graph.outputs[op])
        return made + self.run.problem.workspace(op, device) + sum(sizes[tensor] for tensor in missing)

    def delta(self, op: OpId, device: int) -> int:
        """Change of live bytes when an operator would run alone now, from before its start to after its end."""
        sizes, kinds = self.graph.tensor_bytes, self.graph.tensor_kinds
        change = 0
        for tensor in self.graph.outputs[op]:
            if kinds[tensor] is TensorKind.OUTPUT or self.graph.tensor_consumers[tensor]:
                change += sizes[tensor]
        for tensor in set(self.graph.inputs[op]):
            before = self.present(tensor, device)
            last = all(reader == op or reader in self.run.finished for reader in self.graph.tensor_consumers[tensor])
            if kinds[tensor].persistent:
                after = True
            elif self.run.device_of(self.graph.tensor_producer[tensor]) == device:
                after = kinds[tensor] is TensorKind.OUTPUT or not last
            else:
                after = not last
            change += sizes[tensor] * (after - before)
        return change

    def fits_alone(self, op: OpId, device: int) -> bool:
        capacity = self.run.problem.devices[device].capacity
        sizes, kinds = self.graph.tensor_bytes, self.graph.tensor_kinds
        held = set(self.graph.inputs[op]) | set(self.graph.outputs[op])
        if len(self.devices) == 1:
            held |= {tensor for tensor in range(len(sizes)) if kinds[tensor].persistent}
        total = sum(sizes[tensor] for tensor in held) + self.run.problem.workspace(op, device)
        return capacity is None or total <= capacity
