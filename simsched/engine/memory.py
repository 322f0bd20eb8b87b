"""Memory by tensor lifetime on one device: what is live, and what a start would add.

An output is allocated when its operator starts and freed when its last consumer ends; an activation that nobody
reads is freed when its producer ends; graph outputs stay. Parameters and graph inputs are resident from time 0.
Workspace lives while its operator runs. Frees of an instant come before its allocations. Tensors that share a buffer
count once, and the buffer lives until the last consumer of any of them ends.

Several devices need to know where each tensor is: :mod:`simsched.engine.residency`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

from simsched.graph.lifetimes import buffers, persistent_bytes, use_counts, volatile_inputs
from simsched.graph.model import OpId, TensorId
from simsched.problem import Problem
from simsched.trace import MemorySteps


class Memory(Protocol):
    """Live bytes of one run."""

    @property
    def live(self) -> list[int]:
        """Live bytes by device."""
        ...

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

    def catch_up(self) -> None:
        """Account for what was only noted, where anything is."""
        ...

    def alive(self, device: int, started: Sequence[int]) -> list[TensorId]:
        """Tensors live on a device; ``started[op] >= 0`` where an operator has started."""
        ...

    def steps(self) -> MemorySteps:
        """Every change so far."""
        ...


class DeviceMemory:
    """Live bytes of a run on a single device.

    Starts and ends are only noted when they happen, and accounted for when somebody asks or many have come together: in
    one tight loop that costs half as much as call by call.

    Attributes
    ----------
    log : list of int
        What is not accounted for yet, in order: ``op`` for a start, ``~op`` for an end.
    """

    __slots__ = (
        "_end", "_end_at", "_graph", "_inputs", "_live", "_sizes", "_start", "_start_at", "_step_live", "_step_time",
        "_uses", "log",
    )  # fmt: skip

    def __init__(self, problem: Problem) -> None:
        graph = problem.graph
        self._graph = graph
        self._sizes = graph.stored_bytes
        self._uses = use_counts(graph)
        self._inputs = volatile_inputs(graph)
        self._start = needs_at_start(problem, 0)
        self._end = freed_at_end(problem, self._uses)
        self._live = [persistent_bytes(graph)]
        self._step_time = array("q", [0])
        self._step_live = array("q", self._live)
        self._start_at: Sequence[int] = ()
        self._end_at: Sequence[int] = ()
        self.log: list[int] = []

    def follow(self, start_at: Sequence[int], end_at: Sequence[int]) -> None:
        """Read the times of starts and ends from these columns of the run."""
        self._start_at, self._end_at = start_at, end_at

    @property
    def live(self) -> list[int]:
        """Live bytes, of the one device."""
        self.catch_up()
        return self._live

    def need(self, op: OpId, device: int) -> int:
        """Bytes that starting ``op`` would allocate."""
        del device
        return self._start[op]

    def delta(self, op: OpId, device: int) -> int:
        """Change of live bytes from before the start to after the end of ``op``, as things stand now."""
        del device
        self.catch_up()
        freed = sum(self._sizes[tensor] for tensor in self._inputs[op] if self._uses[tensor] == 1)
        return self._start[op] - self._end.get(op, 0) - freed

    def start(self, op: OpId, device: int, now: int) -> None:
        """Note that outputs and workspace are allocated."""
        del device, now
        self.log.append(op)

    def finish(self, op: OpId, device: int, now: int) -> None:
        """Note that workspace is freed, and what ``op`` was the last to need."""
        del device, now
        self.log.append(~op)

    def alive(self, device: int, started: Sequence[int]) -> list[TensorId]:
        """Tensors live now."""
        del device
        self.catch_up()
        producers = self._graph.tensor_producer
        kinds = self._graph.tensor_kinds
        return [
            tensor
            for tensor, producer in enumerate(producers)
            if kinds[tensor].persistent or (producer >= 0 and started[producer] >= 0 and self._uses[tensor] > 0)
        ]

    def steps(self) -> MemorySteps:
        """Every change so far."""
        self.catch_up()
        return MemorySteps(self._step_time, array("h", [0]) * len(self._step_time), self._step_live)

    def catch_up(self) -> None:
        """Account for what was only noted."""
        uses, sizes, inputs, needs, dropped = self._uses, self._sizes, self._inputs, self._start, self._end
        note_time, note_live = self._step_time.append, self._step_live.append
        start_at, end_at = self._start_at, self._end_at
        live = self._live[0]
        for code in self.log:
            if code >= 0:
                change, time = needs[code], start_at[code]
            else:
                op = ~code
                change, time = -dropped.get(op, 0), end_at[op]
                for tensor in inputs[op]:
                    uses[tensor] = left = uses[tensor] - 1
                    if not left:
                        change -= sizes[tensor]
            if change:
                live += change
                note_time(time)
                note_live(live)
        self.log.clear()
        self._live[0] = live


def freed_at_end(problem: Problem, uses: Sequence[int]) -> dict[OpId, int]:
    """Workspace and outputs that nobody reads, in bytes, of the operators that have any, on the first device."""
    graph = problem.graph
    freed = {op: problem.workspace(op, 0) for op in ops_with_workspace(problem, 0)}
    if 0 in uses:
        for tensor, producer in enumerate(graph.tensor_producer):
            if not uses[tensor] and producer >= 0:
                freed[producer] = freed.get(producer, 0) + graph.stored_bytes[tensor]
    return {op: size for op, size in freed.items() if size}


def ops_with_workspace(problem: Problem, device: int) -> list[OpId]:
    """Operators that may have workspace on a device."""
    return sorted(problem.graph.workspace.keys() | problem.costs[device].keys())


def needs_at_start(problem: Problem, device: int) -> list[int]:
    """Bytes of outputs and workspace that each operator allocates when it starts."""
    sizes = problem.graph.stored_bytes
    needs = [
        sizes[outputs[0]] if len(outputs) == 1 else sum(map(sizes.__getitem__, outputs))
        for outputs in problem.graph.outputs
    ]
    for op in ops_with_workspace(problem, device):
        needs[op] += problem.workspace(op, device)
    return needs


def bytes_alone(problem: Problem, device: int) -> list[int]:
    """Bytes live on a device while each operator runs there and nothing else is in the way.

    These are its inputs, outputs and workspace, and on a single device all persistent tensors. On several devices a
    view may be copied alone: then it does not need the bytes of the tensor that it was taken from.
    """
    graph = problem.graph
    sizes, needs = graph.tensor_bytes, needs_at_start(problem, device)
    if len(problem.devices) == 1:
        always = persistent_bytes(graph)
        held: Sequence[Iterable[int]] = [map(sizes.__getitem__, inputs) for inputs in volatile_inputs(graph)]
    else:
        always, root = 0, buffers(graph)
        held = [_largest_by_buffer(inputs, root, sizes) for inputs in graph.inputs]
    return [always + need + sum(parts) for need, parts in zip(needs, held, strict=True)]


def _largest_by_buffer(inputs: Sequence[TensorId], root: Sequence[TensorId], sizes: Sequence[int]) -> Iterable[int]:
    found: dict[TensorId, int] = {}
    for tensor in inputs:
        found[root[tensor]] = max(sizes[tensor], found.get(root[tensor], 0))
    return found.values()
