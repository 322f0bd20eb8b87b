"""Memory by tensor lifetime: what is live on each device, and what a start would add.

An output is allocated when its operator starts and freed when its last consumer ends; an activation that nobody
reads is freed when its producer ends; graph outputs stay. Parameters and graph inputs are resident from time 0 on
a single device; with several devices one becomes resident on a device when its first consumer there starts, and
stays. A tensor read on another device than its producer's has one copy there while any such consumer runs.
Workspace lives while its operator runs. Frees of an instant come before its allocations.
"""

from __future__ import annotations

from collections.abc import Sequence

from simsched.graph.model import Graph, OpId, TensorId, TensorKind
from simsched.problem import Problem
from simsched.trace import MemorySteps


class Memory:
    """Live bytes of one run on all devices."""

    __slots__ = (
        "_copies",
        "_graph",
        "_home",
        "_need",
        "_needs_by_device",
        "_persistent",
        "_problem",
        "_reads",
        "_resident",
        "_uses",
        "live",
        "steps",
    )

    def __init__(self, problem: Problem) -> None:
        graph = problem.graph
        devices = len(problem.devices)
        self._problem = problem
        self._graph = graph
        self.live = [0] * devices
        self.steps = MemorySteps()
        self._persistent = [kind.persistent for kind in graph.tensor_kinds]
        self._uses = [
            len(consumers) + (kind is TensorKind.OUTPUT)
            for consumers, kind in zip(graph.tensor_consumers, graph.tensor_kinds, strict=True)
        ]
        self._need = fixed_needs(problem, 0)
        self._needs_by_device = [self._need, *(fixed_needs(problem, device) for device in range(1, devices))]
        self._home: list[int] | None = None
        self._resident: set[tuple[TensorId, int]] = set()
        self._copies: dict[tuple[TensorId, int], int] = {}
        if devices > 1:
            self._home = [-1] * len(graph.tensor_names)
        else:
            self.live[0] = persistent_bytes(graph)
            self._record(0, 0)

    def need(self, op: OpId, device: int) -> int:
        """Bytes that starting ``op`` on ``device`` would allocate now."""
        need = self._needs_by_device[device][op]
        if self._home is None:
            return need
        return need + sum(self._graph.tensor_bytes[tensor] for tensor in self._missing(op, device))

    def delta(self, op: OpId, device: int) -> int:
        """Change of live bytes from before the start to after the end of ``op``, as things stand now."""
        graph = self._graph
        kept = sum(
            graph.tensor_bytes[tensor] for tensor in graph.outputs[op] if self._uses[tensor] and graph.tensor_producer[tensor] == op
        )
        freed = sum(
            graph.tensor_bytes[tensor]
            for tensor in dict.fromkeys(graph.inputs[op])
            if self._uses[tensor] == 1 and not self._persistent[tensor] and (self._home is None or self._home[tensor] == device)
        )
        arriving = 0
        if self._home is not None:
            arriving = sum(graph.tensor_bytes[tensor] for tensor in self._missing(op, device) if self._persistent[tensor])
        return kept + arriving - freed

    def start(self, op: OpId, device: int, now: int) -> None:
        """Allocate what ``op`` needs to start."""
        need = self._needs_by_device[device][op]
        if self._home is not None:
            need += self._bring(op, device)
        if need:
            self.live[device] += need
            self._record(now, device)

    def finish(self, op: OpId, device: int, now: int) -> None:
        """Free what ``op`` was the last to need."""
        graph, uses, sizes = self._graph, self._uses, self._graph.tensor_bytes
        freed = 0
        inputs = graph.inputs[op]
        if len(inputs) > 1:
            inputs = tuple(dict.fromkeys(inputs))
        for tensor in inputs:
            if self._persistent[tensor]:
                continue
            uses[tensor] -= 1
            if self._home is not None and self._home[tensor] != device:
                self._drop_copy(tensor, device, now)
                if not uses[tensor]:
                    self._free(self._home[tensor], sizes[tensor], now)
            elif not uses[tensor]:
                freed += sizes[tensor]
        for tensor in graph.outputs[op]:
            if not uses[tensor]:
                freed += sizes[tensor]
        if op in graph.workspace or self._problem.costs[device]:
            freed += self._problem.workspace(op, device)
        if freed:
            self._free(device, freed, now)

    def largest_live(self, device: int, started: Sequence[int], limit: int = 5) -> list[tuple[str, int]]:
        """Names and sizes of the largest tensors live on a device; ``started[op] >= 0`` where ``op`` has started."""
        graph = self._graph
        alive = []
        for tensor, size in enumerate(graph.tensor_bytes):
            producer = graph.tensor_producer[tensor]
            if self._home is None:
                here = producer < 0 or (started[producer] >= 0 and self._uses[tensor] > 0)
            elif producer < 0:
                here = (tensor, device) in self._resident
            else:
                here = self._home[tensor] == device and self._uses[tensor] > 0
            if here:
                alive.append((-size, tensor))
        return [(graph.tensor_names[tensor], -size) for size, tensor in sorted(alive)[:limit]]

    # --- several devices ---------------------------------------------------------------------------------------

    def _missing(self, op: OpId, device: int) -> list[TensorId]:
        """Inputs that are not on the device yet."""
        assert self._home is not None
        missing = []
        for tensor in dict.fromkeys(self._graph.inputs[op]):
            if self._persistent[tensor]:
                if (tensor, device) not in self._resident:
                    missing.append(tensor)
            elif self._home[tensor] != device and not self._copies.get((tensor, device)):
                missing.append(tensor)
        return missing

    def _bring(self, op: OpId, device: int) -> int:
        """Note the tensors that come to the device with this start; returns their bytes."""
        assert self._home is not None
        missing = self._missing(op, device)
        for tensor in dict.fromkeys(self._graph.inputs[op]):
            if self._persistent[tensor]:
                self._resident.add((tensor, device))
            elif self._home[tensor] != device:
                self._copies[tensor, device] = self._copies.get((tensor, device), 0) + 1
        for tensor in self._graph.outputs[op]:
            self._home[tensor] = device
        return sum(self._graph.tensor_bytes[tensor] for tensor in missing)

    def _drop_copy(self, tensor: TensorId, device: int, now: int) -> None:
        self._copies[tensor, device] -= 1
        if not self._copies[tensor, device]:
            self._free(device, self._graph.tensor_bytes[tensor], now)

    def _free(self, device: int, size: int, now: int) -> None:
        self.live[device] -= size
        self._record(now, device)

    def _record(self, now: int, device: int) -> None:
        steps = self.steps
        steps.time.append(now)
        steps.device.append(device)
        steps.live.append(self.live[device])


def matters(problem: Problem) -> bool:
    """Whether any byte can ever be live."""
    graph = problem.graph
    if any(graph.tensor_bytes) or any(graph.workspace.values()):
        return True
    return any(cost.workspace for costs in problem.costs for cost in costs.values())


def persistent_bytes(graph: Graph) -> int:
    """Bytes of parameters and graph inputs."""
    return sum(size for size, kind in zip(graph.tensor_bytes, graph.tensor_kinds, strict=True) if kind.persistent)


def fixed_needs(problem: Problem, device: int) -> list[int]:
    """Bytes of outputs and workspace that each operator allocates when it starts."""
    graph = problem.graph
    sizes = graph.tensor_bytes
    needs = [sizes[outputs[0]] if len(outputs) == 1 else sum(map(sizes.__getitem__, outputs)) for outputs in graph.outputs]
    for op in graph.workspace.keys() | problem.costs[device].keys():
        needs[op] += problem.workspace(op, device)
    return needs


def smallest_capacity(problem: Problem, device: int) -> tuple[int, OpId]:
    """Bytes without which some operator can never run on the device, and the operator that decides.

    While an operator runs, its inputs, outputs and workspace are live, and with a single device all persistent
    tensors too.
    """
    graph = problem.graph
    single = len(problem.devices) == 1
    always = persistent_bytes(graph) if single else 0
    needs = fixed_needs(problem, device)
    worst, culprit = always, -1
    for op, inputs in enumerate(graph.inputs):
        if op in problem.allowed and device not in problem.allowed[op]:
            continue
        total = always + needs[op]
        for tensor in dict.fromkeys(inputs):
            if not single or not graph.tensor_kinds[tensor].persistent:
                total += graph.tensor_bytes[tensor]
        if total > worst:
            worst, culprit = total, op
    return worst, culprit
