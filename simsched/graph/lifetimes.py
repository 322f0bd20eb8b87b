"""Lifetimes of tensors: who reads them, what stays; live bytes of orders, and orders that need little."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from simsched.graph.model import Graph, OpId, TensorId, TensorKind

PERSISTENT = tuple(kind for kind in TensorKind if kind.persistent)

# A buffer is a tensor with bytes of its own and all that share them, views and what was made in place; it has the id of
# the former. The functions below first look whether there is anything to do, in one pass at the speed of C: a graph of
# a million operators is usually all activations, each in a buffer of its own and read once by an operator.


def buffers(graph: Graph) -> Sequence[TensorId]:
    """Buffer of each tensor."""
    found = list(range(len(graph.tensor_names)))
    sources = graph.shares
    for tensor in sources:
        root = tensor
        while root in sources:
            root = sources[root]
        found[tensor] = root
    return found


def buffer_readers(graph: Graph) -> Sequence[Sequence[OpId]]:
    """Distinct readers of all tensors of each buffer, ascending; none for tensors without a buffer of their own."""
    if not graph.shares:
        return graph.tensor_consumers
    readers: list[Sequence[OpId]] = list(graph.tensor_consumers)
    root = buffers(graph)
    for tensor in graph.shares:
        buffer = root[tensor]
        readers[buffer] = tuple(sorted({*readers[buffer], *graph.tensor_consumers[tensor]}))
        readers[tensor] = ()
    return readers


def reader_counts(graph: Graph) -> list[int]:
    """Number of readers of each tensor, and one more for graph outputs, which nobody frees."""
    counts = list(map(len, graph.tensor_consumers))
    if TensorKind.OUTPUT in graph.tensor_kinds:
        for tensor, kind in enumerate(graph.tensor_kinds):
            if kind is TensorKind.OUTPUT:
                counts[tensor] += 1
    return counts


def use_counts(graph: Graph) -> list[int]:
    """Number of readers of each buffer, and one more where a graph output is in it, which nobody frees."""
    counts = reader_counts(graph)
    if graph.shares:
        root = buffers(graph)
        returned = {root[tensor] for tensor, kind in enumerate(graph.tensor_kinds) if kind is TensorKind.OUTPUT}
        for tensor, readers in enumerate(buffer_readers(graph)):
            counts[tensor] = len(readers) + (tensor in returned)
    return counts


def volatile_inputs(graph: Graph) -> Sequence[tuple[TensorId, ...]]:
    """Distinct buffers that each operator reads and that are not resident from time 0 to the end."""
    distinct: Sequence[tuple[TensorId, ...]] = graph.inputs
    if graph.shares:
        root = buffers(graph)
        distinct = [tuple(dict.fromkeys(root[tensor] for tensor in inputs)) for inputs in distinct]
    # Consumers are distinct, so the sums differ when an operator reads a tensor twice.
    elif sum(map(len, distinct)) != sum(map(len, graph.tensor_consumers)):
        distinct = [tuple(dict.fromkeys(inputs)) for inputs in distinct]
    persistent = persistent_tensors(graph)
    if not persistent:
        return distinct
    return [
        inputs if persistent.isdisjoint(inputs) else tuple(tensor for tensor in inputs if tensor not in persistent)
        for inputs in distinct
    ]


def persistent_tensors(graph: Graph) -> frozenset[TensorId]:
    """Parameters and graph inputs."""
    kinds = graph.tensor_kinds
    if not any(kind in kinds for kind in PERSISTENT):
        return frozenset()
    return frozenset(tensor for tensor, kind in enumerate(kinds) if kind in PERSISTENT)


def persistent_bytes(graph: Graph) -> int:
    """Bytes of parameters and graph inputs."""
    return sum(graph.tensor_bytes[tensor] for tensor in persistent_tensors(graph))


class LiveSet:
    """Live bytes while operators are executed one after the other on one device.

    Parameters
    ----------
    graph : Graph
    workspace : sequence of int
        Bytes per operator that live only while it runs.

    Attributes
    ----------
    live : int
        Bytes live between operators; parameters and graph inputs are always among them.
    """

    __slots__ = ("_graph", "_inputs", "_kept", "_sizes", "_uses", "_workspace", "live", "outputs")

    def __init__(self, graph: Graph, workspace: Sequence[int]) -> None:
        self._graph = graph
        self._sizes = graph.stored_bytes
        self._inputs = volatile_inputs(graph)
        self._uses = use_counts(graph)
        self._workspace = workspace
        self.outputs = [sum(self._sizes[tensor] for tensor in outputs) for outputs in graph.outputs]
        self._kept = [sum(self._sizes[t] for t in outputs if self._uses[t]) for outputs in graph.outputs]
        self.live = persistent_bytes(graph)

    def during(self, op: OpId) -> int:
        """Bytes live while ``op`` would run next."""
        return self.live + self.outputs[op] + self._workspace[op]

    def delta(self, op: OpId) -> int:
        """Change of live bytes by running ``op`` next."""
        return self._kept[op] - sum(self._sizes[tensor] for tensor in self.freed_by(op))

    def freed_by(self, op: OpId) -> list[TensorId]:
        """Buffers that nobody would read any more if ``op`` ran next."""
        uses = self._uses
        return [tensor for tensor in self._inputs[op] if uses[tensor] == 1]

    def alive_outputs(self, op: OpId) -> int:
        """Bytes of the outputs of ``op`` that are still to be read, once it has run."""
        return sum(self._sizes[tensor] for tensor in self._graph.outputs[op] if self._uses[tensor])

    def run(self, op: OpId) -> list[TensorId]:
        """Execute ``op``; returns the buffers that it reads and that now have one use left."""
        uses, sizes = self._uses, self._sizes
        self.live += self._kept[op]
        single = []
        for tensor in self._inputs[op]:
            uses[tensor] -= 1
            if not uses[tensor]:
                self.live -= sizes[tensor]
            elif uses[tensor] == 1:
                single.append(tensor)
        return single

    def peak_of(self, ops: Iterable[OpId], enough: float = math.inf) -> int:
        """Peak of executing ``ops`` next, in that order, without changing this object.

        The walk ends once more than ``enough`` bytes are live: then the result is a part of the peak, above ``enough``.
        """
        uses, sizes = self._uses, self._sizes
        overlay: dict[TensorId, int] = {}
        live = peak = self.live
        for op in ops:
            peak = max(peak, live + self.outputs[op] + self._workspace[op])
            if peak > enough:
                break
            live += self._kept[op]
            for tensor in self._inputs[op]:
                left = overlay.get(tensor, uses[tensor]) - 1
                overlay[tensor] = left
                if not left:
                    live -= sizes[tensor]
        return peak


def sequential_peak(graph: Graph, order: Iterable[OpId], workspace: Sequence[int]) -> int:
    """Peak of live bytes when ``order`` runs one operator at a time."""
    return LiveSet(graph, workspace).peak_of(order)


def greedy_order(graph: Graph, workspace: Sequence[int]) -> list[OpId]:
    """Order that always runs the ready operator that adds least to the live bytes; ties to the lower id.

    A heuristic: it can need more than the graph's own order, so compare the two.
    """
    state = LiveSet(graph, workspace)
    waiting = list(map(len, graph.pred))
    latest = {op: state.delta(op) for op, left in enumerate(waiting) if not left}
    readers = buffer_readers(graph)
    heap = [(delta, op) for op, delta in latest.items()]
    heapify(heap)
    order: list[OpId] = []
    while heap:
        delta, op = heappop(heap)
        if latest.get(op) != delta:
            continue
        del latest[op]
        order.append(op)
        changed = [reader for buffer in state.run(op) for reader in readers[buffer] if reader in latest]
        for other in graph.succ[op]:
            waiting[other] -= 1
            if not waiting[other]:
                changed.append(other)
        for other in dict.fromkeys(changed):
            latest[other] = state.delta(other)
            heappush(heap, (latest[other], other))
    return order


def frugal_order(graph: Graph, workspace: Sequence[int]) -> tuple[list[OpId], int]:
    """The better of the graph's own order and the greedy one, with its peak in bytes."""
    own = list(range(len(graph)))
    greedy = greedy_order(graph, workspace)
    peaks = [(sequential_peak(graph, order, workspace), number) for number, order in enumerate((own, greedy))]
    peak, choice = min(peaks)
    return (own, greedy)[choice], peak
