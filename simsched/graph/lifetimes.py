"""Live bytes of operators run one at a time: what an order needs, and orders that need little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from simsched.graph.model import Graph, OpId, TensorId, TensorKind


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

    __slots__ = ("_inputs", "_kept", "_sizes", "_uses", "_workspace", "live", "outputs")

    def __init__(self, graph: Graph, workspace: Sequence[int]) -> None:
        kinds = graph.tensor_kinds
        self._sizes = graph.tensor_bytes
        self._inputs = [
            tuple(tensor for tensor in dict.fromkeys(inputs) if not kinds[tensor].persistent) for inputs in graph.inputs
        ]
        self._uses = [
            len(consumers) + (kind is TensorKind.OUTPUT)
            for consumers, kind in zip(graph.tensor_consumers, kinds, strict=True)
        ]
        self._workspace = workspace
        self.outputs = [sum(self._sizes[tensor] for tensor in outputs) for outputs in graph.outputs]
        self._kept = [sum(self._sizes[t] for t in outputs if self._uses[t]) for outputs in graph.outputs]
        self.live = sum(size for size, kind in zip(self._sizes, kinds, strict=True) if kind.persistent)

    def delta(self, op: OpId) -> int:
        """Change of live bytes by running ``op`` next."""
        uses, sizes = self._uses, self._sizes
        return self._kept[op] - sum(sizes[tensor] for tensor in self._inputs[op] if uses[tensor] == 1)

    def run(self, op: OpId) -> list[TensorId]:
        """Execute ``op``; returns the inputs that now have one use left."""
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

    def peak_of(self, ops: Iterable[OpId]) -> int:
        """Peak of executing ``ops`` next, in that order, without changing this object."""
        uses, sizes = self._uses, self._sizes
        overlay: dict[TensorId, int] = {}
        live = peak = self.live
        for op in ops:
            peak = max(peak, live + self.outputs[op] + self._workspace[op])
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
    heap = [(delta, op) for op, delta in latest.items()]
    heapify(heap)
    order: list[OpId] = []
    while heap:
        delta, op = heappop(heap)
        if latest.get(op) != delta:
            continue
        del latest[op]
        order.append(op)
        changed = [reader for tensor in state.run(op) for reader in graph.tensor_consumers[tensor] if reader in latest]
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
