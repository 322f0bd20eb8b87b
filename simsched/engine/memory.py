"""Memory by tensor lifetime on one device: what is live, and what a start would add.

An output is allocated when its operator starts and freed when its last consumer ends; an activation that nobody
reads is freed when its producer ends; graph outputs stay. Parameters and graph inputs are resident from time 0.
Workspace lives while its operator runs. Frees of an instant come before its allocations.

Several devices need to know where each tensor is: :mod:`simsched.engine.residency`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Protocol

from simsched.graph.lifetimes import persistent_bytes, use_counts, volatile_inputs
from simsched.graph.model import OpId, TensorId
from simsched.problem import Problem
from simsched.trace import MemorySteps


class Memory(Protocol):
    """Live bytes of one run."""

    live: list[int]
    """By device."""

    def need(self, op: OpId, device: int) -> int:
        """Bytes that starting ``op`` on ``device`` would allocate now."""
        ...

    def delta(self, op: OpId, device: int) -> int:
        """Change of live bytes from before the start to after the end of ``op``, as things stand now."""
        ...

    def start(self, op: OpId, device: int, now: int) -> None:
        """Allocate what ``op`` needs to start."""
        ...

    def finish(self, op: OpId, device: int, now: int) -> None:
        """Free what ``op`` was the last to need."""
        ...

    def alive(self, device: int, started: Sequence[int]) -> list[TensorId]:
        """Tensors live on a device; ``started[op] >= 0`` where an operator has started."""
        ...

    def steps(self) -> MemorySteps:
        """Every change so far."""
        ...


class DeviceMemory:
    """Live bytes of a run on a single device."""

    __slots__ = (
        "_end", "_graph", "_inputs", "_note_live", "_note_time", "_sizes",
        "_start", "_step_live", "_step_time", "_uses", "live",
    )  # fmt: skip

    def __init__(self, problem: Problem) -> None:
        graph = problem.graph
        self._graph = graph
        self._sizes = graph.tensor_bytes
        self._uses = use_counts(graph)
        self._inputs = volatile_inputs(graph)
        self._start = needs_at_start(problem, 0)
        self._end = freed_at_end(problem, self._uses)
        self.live = [persistent_bytes(graph)]
        self._step_time = array("q", [0])
        self._step_live = array("q", self.live)
        self._note_time = self._step_time.append
        self._note_live = self._step_live.append

    def need(self, op: OpId, device: int) -> int:
        """Bytes that starting ``op`` would allocate."""
        del device
        return self._start[op]

    def delta(self, op: OpId, device: int) -> int:
        """Change of live bytes from before the start to after the end of ``op``, as things stand now."""
        del device
        freed = sum(self._sizes[tensor] for tensor in self._inputs[op] if self._uses[tensor] == 1)
        return self._start[op] - self._end.get(op, 0) - freed

    def start(self, op: OpId, device: int, now: int) -> None:
        """Allocate outputs and workspace."""
        need = self._start[op]
        if need:
            self.live[0] = live = self.live[0] + need
            self._note_time(now)
            self._note_live(live)

    def finish(self, op: OpId, device: int, now: int) -> None:
        """Free workspace, outputs that nobody reads, and inputs that ``op`` was the last to read."""
        freed = self._end.get(op, 0) if self._end else 0
        inputs = self._inputs[op]
        if inputs:
            uses = self._uses
            for tensor in inputs:
                uses[tensor] = left = uses[tensor] - 1
                if not left:
                    freed += self._sizes[tensor]
        if freed:
            self.live[0] = live = self.live[0] - freed
            self._note_time(now)
            self._note_live(live)

    def alive(self, device: int, started: Sequence[int]) -> list[TensorId]:
        """Tensors live now."""
        del device
        producers = self._graph.tensor_producer
        kinds = self._graph.tensor_kinds
        return [
            tensor
            for tensor, producer in enumerate(producers)
            if kinds[tensor].persistent or (producer >= 0 and started[producer] >= 0 and self._uses[tensor] > 0)
        ]

    def steps(self) -> MemorySteps:
        """Every change so far."""
        return MemorySteps(self._step_time, array("h", [0]) * len(self._step_time), self._step_live)


def freed_at_end(problem: Problem, uses: Sequence[int]) -> dict[OpId, int]:
    """Workspace and outputs that nobody reads, in bytes, of the operators that have any, on the first device."""
    graph = problem.graph
    freed = {op: problem.workspace(op, 0) for op in ops_with_workspace(problem, 0)}
    if 0 in uses:
        for tensor, producer in enumerate(graph.tensor_producer):
            if not uses[tensor] and producer >= 0:
                freed[producer] = freed.get(producer, 0) + graph.tensor_bytes[tensor]
    return {op: size for op, size in freed.items() if size}


def ops_with_workspace(problem: Problem, device: int) -> list[OpId]:
    """Operators that may have workspace on a device."""
    return sorted(problem.graph.workspace.keys() | problem.costs[device].keys())


def needs_at_start(problem: Problem, device: int) -> list[int]:
    """Bytes of outputs and workspace that each operator allocates when it starts."""
    sizes = problem.graph.tensor_bytes
    needs = [
        sizes[outputs[0]] if len(outputs) == 1 else sum(map(sizes.__getitem__, outputs))
        for outputs in problem.graph.outputs
    ]
    for op in ops_with_workspace(problem, device):
        needs[op] += problem.workspace(op, device)
    return needs


def bytes_alone(problem: Problem, device: int) -> list[int]:
    """Bytes live on a device while each operator runs there and nothing else is in the way.

    These are its inputs, outputs and workspace, and on a single device all persistent tensors.
    """
    graph = problem.graph
    sizes, needs = graph.tensor_bytes, needs_at_start(problem, device)
    if len(problem.devices) == 1:
        always = persistent_bytes(graph)
        held: Sequence[tuple[TensorId, ...]] = volatile_inputs(graph)
    else:
        always, held = 0, [tuple(dict.fromkeys(inputs)) for inputs in graph.inputs]
    return [always + need + sum(map(sizes.__getitem__, inputs)) for need, inputs in zip(needs, held, strict=True)]
