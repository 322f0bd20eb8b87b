"""GraphBuilder: the one way to make a Graph, and the one place where graphs are validated.

It collects every fault with its place in the input (``("operators", 3, "inputs", 0)``), so that a loader can
turn places into lines and columns, and raises them together.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from simsched.errors import Fault, GraphError, PathKey, suggest
from simsched.graph.model import DependencyKind, Edges, Graph, OpId, TensorId, TensorKind, TimeUnit

DTYPE_BITS = {
    "fp64": 64, "fp32": 32, "tf32": 32, "fp16": 16, "bf16": 16, "fp8": 8,
    "int64": 64, "int32": 32, "int16": 16, "int8": 8, "int4": 4, "int2": 2,
    "uint64": 64, "uint32": 32, "uint16": 16, "uint8": 8, "uint4": 4, "uint2": 2,
    "bool": 8, "complex64": 64, "complex128": 128, "fp4": 4,
}  # fmt: skip

NO_ITEMS: tuple[int, ...] = ()


def tensor_size(shape: Iterable[int], dtype: str) -> int:
    """Bytes of a dense tensor, rounded up to whole bytes for sub-byte types.

    Examples
    --------
    >>> tensor_size((1, 64, 56, 56), "fp32")
    802816
    """
    elements = 1
    for dimension in shape:
        elements *= dimension
    return -(-elements * DTYPE_BITS[dtype] // 8)


class GraphBuilder:
    """Collects operators, tensors and edges in any order; ``build()`` checks and freezes them.

    Parameters
    ----------
    name : str
    time_unit : {"ns", "tick"}
    source : str, optional
        What error messages call the input; the graph's name by default.

    Examples
    --------
    >>> builder = GraphBuilder("pair", time_unit="tick")
    >>> a, b = builder.add_op("a", duration=2), builder.add_op("b", duration=3)
    >>> builder.add_edge("a", "b", bytes=1024)
    >>> builder.build()
    Graph('pair': 2 operators, 1 edges, 1 tensors)
    """

    def __init__(self, name: str, time_unit: TimeUnit = "ns", source: str | None = None) -> None:
        self.name = name
        self.time_unit: TimeUnit = time_unit
        self.source = source or name
        self.notes: list[str] = []
        self.native: Mapping[str, int] | None = None
        self._faults: list[Fault] = []
        self._names: list[str] = []
        self._index: dict[str, int] = {}
        self._op_types: list[str] = []
        self._durations: list[int | None] = []
        self._inputs: list[Sequence[str]] = []
        self._outputs: list[Sequence[str]] = []
        self._sparse: dict[str, dict[int, Any]] = {
            key: {}
            for key in (
                "device_durations", "attributes", "demands", "reads", "writes",
                "placement", "flops", "traffic", "workspace",
            )
        }  # fmt: skip
        self._after: list[tuple[int, str, PathKey]] = []
        self._edges: list[tuple[str, str, int | None, int | None]] = []
        self._tensors: dict[str, tuple[int, tuple[int, ...] | None, str | None, TensorKind]] = {}
        self._last_write: dict[str, int] = {}

    def fault(self, message: str, *path: str | int) -> None:
        """Record a fault of the input; ``build()`` raises all of them together."""
        self._faults.append(Fault(message, path))

    def add_tensor(
        self,
        name: str,
        *,
        bytes: int | None = None,
        shape: Sequence[int] | None = None,
        dtype: str | None = None,
        kind: TensorKind | str = TensorKind.ACTIVATION,
    ) -> str:
        """Declare a tensor by its size, or by shape and dtype; returns its name.

        A tensor of kind ``activation`` that no operator produces becomes an ``input``.
        """
        place = ("tensors", name)
        if name in self._tensors:
            self.fault(f"tensor {name!r} is declared twice", *place)
            return name
        if dtype is not None and dtype not in DTYPE_BITS:
            self.fault(f"unknown dtype {dtype!r}; {suggest(dtype, DTYPE_BITS)}", *place, "dtype")
            dtype = None
        if shape is not None and any(dimension < 0 for dimension in shape):
            self.fault(f"a dimension cannot be negative: {list(shape)}", *place, "shape")
            shape = None
        if bytes is None:
            if shape is None or dtype is None:
                self.fault(f"tensor {name!r} needs 'bytes', or both 'shape' and 'dtype'", *place)
                bytes = 0
            else:
                bytes = tensor_size(shape, dtype)
        elif bytes < 0:
            self.fault(f"a size cannot be negative: {bytes}", *place, "bytes")
        self._tensors[name] = (bytes, None if shape is None else tuple(shape), dtype, TensorKind(kind))
        return name

    def add_op(
        self,
        name: str,
        op_type: str = "op",
        *,
        duration: int | Mapping[str, int] | None = None,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
        demands: Mapping[str, int] | None = None,
        reads: Sequence[str] = (),
        writes: Sequence[str] = (),
        after: Sequence[str] = (),
        device: str | None = None,
        flops: int | None = None,
        traffic: int | None = None,
        workspace: int | None = None,
    ) -> str:
        """Add an operator; returns its name.

        Parameters
        ----------
        duration : int or mapping of device name to int, optional
            Nanoseconds (ticks); None leaves the duration to the cost model.
        inputs, outputs : sequence of str
            Tensor names. An undeclared name is a zero-byte tensor when an operator produces it.
        demands : mapping, optional
            Units of renewable resources held while the operator runs.
        reads, writes : sequence of str
            Named buffers; RAW, WAR and WAW orders follow from the order in which operators are added.
        after : sequence of str
            Control predecessors.
        device : str, optional
            The only device that may run it.
        flops, traffic : int, optional
            Stated work (2 x multiply-adds) and bytes moved, instead of the registry's figures.
        workspace : int, optional
            Bytes needed only while it runs.
        """
        number = len(self._names)
        if name in self._index:
            first = self._index[name]
            self.fault(f"operator {name!r} is declared twice (first as number {first + 1})", "operators", number, "name")
        else:
            self._index[name] = number
        self._names.append(name)
        self._op_types.append(op_type)
        self._inputs.append(inputs)
        self._outputs.append(outputs)
        if duration is None or isinstance(duration, int):
            if duration is not None and duration < 0:
                self.fault(f"a duration cannot be negative: {duration}", "operators", number, "duration")
            self._durations.append(duration)
        else:
            self._durations.append(None)
            self._sparse["device_durations"][number] = dict(duration)
        for position, other in enumerate(after):
            self._after.append((number, other, ("operators", number, "after", position)))
        optional = (
            ("attributes", attributes), ("demands", demands), ("reads", tuple(reads)), ("writes", tuple(writes)),
        )  # fmt: skip
        for key, value in optional:
            if value:
                self._sparse[key][number] = value
        exact = (("placement", device), ("flops", flops), ("traffic", traffic), ("workspace", workspace))
        for label, given in exact:
            if given is not None:
                self._sparse[label][number] = given
        return name

    def add_edge(self, source: str, target: str, *, bytes: int | None = None, delay: int | None = None) -> None:
        """Order two operators; with ``bytes`` the edge carries a tensor, with ``delay`` it costs time between devices."""
        self._edges.append((source, target, bytes, delay))

    def build(self) -> Graph:
        """Check everything and freeze it.

        Raises
        ------
        GraphError
            With all faults: duplicates, unknown names, cycles (a shortest one is shown), negative sizes.
        """
        table = self._dependency_table()
        if self._faults:
            raise GraphError(self.source, self._faults)
        order = self._topological_order(table)
        return self._freeze(order, table)

    # --- dependencies -------------------------------------------------------------------------------------

    def _dependency_table(self) -> _Table:
        table = _Table()
        self._collect_tensors(table)
        self._collect_edges(table)
        self._collect_control(table)
        self._collect_buffers(table)
        return table

    def _collect_tensors(self, table: _Table) -> None:
        for name, (size, shape, dtype, kind) in self._tensors.items():
            table.add_tensor(name, size, shape, dtype, kind)
        for number, outputs in enumerate(self._outputs):
            for position, name in enumerate(outputs):
                tensor = table.tensor_id(name)
                if tensor is None:
                    tensor = table.add_tensor(name, 0, None, None, TensorKind.ACTIVATION)
                elif table.producer[tensor] >= 0:
                    other = self._names[table.producer[tensor]]
                    place = ("operators", number, "outputs", position)
                    self.fault(f"tensor {name!r} is already produced by {other!r}; a tensor has one producer", *place)
                    continue
                elif table.kinds[tensor].persistent:
                    place = ("operators", number, "outputs", position)
                    self.fault(f"tensor {name!r} is declared as {table.kinds[tensor]}; no operator may produce it", *place)
                table.producer[tensor] = number
        for number, inputs in enumerate(self._inputs):
            for position, name in enumerate(inputs):
                tensor = table.tensor_id(name)
                if tensor is None:
                    hint = suggest(name, table.names)
                    place = ("operators", number, "inputs", position)
                    self.fault(f"operator {self._names[number]!r} reads unknown tensor {name!r}; {hint}", *place)
                    continue
                table.consume(tensor, number)
        for tensor, producer in enumerate(table.producer):
            if producer < 0 and table.kinds[tensor] in (TensorKind.ACTIVATION, TensorKind.OUTPUT):
                if table.kinds[tensor] is TensorKind.OUTPUT:
                    self.fault(f"output {table.names[tensor]!r} is not produced by any operator", "tensors", table.names[tensor])
                table.kinds[tensor] = TensorKind.INPUT

    def _collect_edges(self, table: _Table) -> None:
        index = self._index
        add = table.add
        for number, (source, target, size, delay) in enumerate(self._edges):
            u, v = index.get(source, -1), index.get(target, -1)
            if u < 0 or v < 0:
                self._unknown_end(number, source, target)
                continue
            if size is None:
                add(u, v, DependencyKind.CONTROL, -1)
            else:
                if size < 0:
                    self.fault(f"a size cannot be negative: {size}", "edges", number, "bytes")
                name = table.unused_name(f"{source}->{target}")
                tensor = table.add_tensor(name, size, None, None, TensorKind.ACTIVATION)
                table.producer[tensor] = u
                table.consume(tensor, v)
                table.edge_tensors.append((tensor, u))
            if delay is not None:
                if delay < 0:
                    self.fault(f"a delay cannot be negative: {delay}", "edges", number, "delay")
                table.delays[u, v] = max(delay, table.delays.get((u, v), 0))

    def _unknown_end(self, number: int, source: str, target: str) -> None:
        for end, name in (("from", source), ("to", target)):
            if name not in self._index:
                self.fault(f"edge {source!r} -> {target!r}: no operator {name!r}; {suggest(name, self._names)}", "edges", number, end)

    def _collect_control(self, table: _Table) -> None:
        for number, other, place in self._after:
            if other not in self._index:
                hint = suggest(other, self._names)
                self.fault(f"operator {self._names[number]!r} comes after unknown operator {other!r}; {hint}", *place)
                continue
            table.add(self._index[other], number, DependencyKind.CONTROL, -1)

    def _collect_buffers(self, table: _Table) -> None:
        """Derive RAW, WAR and WAW orders from reads and writes, in the order in which operators were added."""
        reads, writes = self._sparse["reads"], self._sparse["writes"]
        last_write: dict[str, int] = {}
        readers: dict[str, list[int]] = {}
        buffers: dict[str, int] = {}
        for number in sorted(reads.keys() | writes.keys()):
            for name in reads.get(number, ()):
                code = buffers.setdefault(name, len(buffers))
                if name in last_write:
                    table.add(last_write[name], number, DependencyKind.RAW, code)
                readers.setdefault(name, []).append(number)
            for name in writes.get(number, ()):
                code = buffers.setdefault(name, len(buffers))
                for reader in readers.pop(name, ()):
                    if reader != number:
                        table.add(reader, number, DependencyKind.WAR, code)
                if name in last_write:
                    table.add(last_write[name], number, DependencyKind.WAW, code)
                last_write[name] = number
        table.buffers = list(buffers)

    # --- order ---------------------------------------------------------------------------------------------

    def _topological_order(self, table: _Table) -> list[int] | None:
        """Kahn's order, ties by insertion; None when the insertion order is already topological."""
        table.finish_data_edges()
        if all(map(int.__lt__, table.source, table.target)):
            return None
        count = len(self._names)
        succ: list[list[int]] = [[] for _ in range(count)]
        waiting = [0] * count
        for u, v in zip(table.source, table.target, strict=True):
            succ[u].append(v)
            waiting[v] += 1
        ready = [op for op in range(count) if not waiting[op]]
        heapify(ready)
        order = []
        while ready:
            op = heappop(ready)
            order.append(op)
            for other in succ[op]:
                waiting[other] -= 1
                if not waiting[other]:
                    heappush(ready, other)
        if len(order) < count:
            raise GraphError(self.source, [self._cycle_fault(succ, waiting, table)])
        return order

    def _cycle_fault(self, succ: list[list[int]], waiting: list[int], table: _Table) -> Fault:
        cycle = shortest_cycle(succ, [op for op, left in enumerate(waiting) if left > 0])
        names = [self._names[op] for op in cycle]
        text = " -> ".join([*names, names[0]])
        pair = (cycle[0], cycle[1 % len(cycle)])
        for number, (source, target, *_) in enumerate(self._edges):
            if (self._index[source], self._index[target]) == pair:
                return Fault(f"the graph has a cycle: {text}", ("edges", number))
        return Fault(f"the graph has a cycle: {text}", ("operators", pair[1]))

    # --- freezing --------------------------------------------------------------------------------------------

    def _freeze(self, order: list[int] | None, table: _Table) -> Graph:
        if order is None:
            rank: Sequence[int] = range(len(self._names))
        else:
            ranks = [0] * len(order)
            for new, old in enumerate(order):
                ranks[old] = new
            rank = ranks
            table.renumber(rank)
        succ, pred = table.adjacency(len(self._names))

        def column(values: list[Any]) -> list[Any]:
            return values if order is None else [values[old] for old in order]

        def sparse(key: str) -> dict[int, Any]:
            values = self._sparse[key]
            return values if order is None else {rank[old]: values[old] for old in sorted(values, key=rank.__getitem__)}

        inputs = [tuple(table.index[name] for name in names) if names else NO_ITEMS for names in self._inputs]
        outputs = [tuple(table.index[name] for name in names) if names else NO_ITEMS for names in self._outputs]
        for tensor, u in table.edge_tensors:
            outputs[u] = (*outputs[u], tensor)
            for v in table.raw_consumers[tensor]:
                inputs[v] = (*inputs[v], tensor)
        return Graph(
            name=self.name,
            time_unit=self.time_unit,
            names=column(self._names),
            op_types=column(self._op_types),
            durations=column(self._durations),
            succ=succ,
            pred=pred,
            inputs=column(inputs),
            outputs=column(outputs),
            edges=Edges(table.source, table.target, table.kind, table.tensor),
            tensor_names=table.names,
            tensor_bytes=table.bytes,
            tensor_shapes=table.shapes,
            tensor_dtypes=table.dtypes,
            tensor_kinds=table.kinds,
            tensor_producer=table.producer,
            tensor_consumers=[tuple(sorted({rank[op] for op in ops})) for ops in table.raw_consumers],
            buffers=table.buffers,
            delays=table.delays,
            native=self.native,
            notes=tuple(self.notes),
            **{key: sparse(key) for key in self._sparse},
        )


class _Table:
    """Dependency rows and tensor columns while a graph is being built, by insertion number."""

    def __init__(self) -> None:
        self.source = array("i")
        self.target = array("i")
        self.kind = array("b")
        self.tensor = array("i")
        self.names: list[str] = []
        self.index: dict[str, TensorId] = {}
        self.bytes: list[int] = []
        self.shapes: list[tuple[int, ...] | None] = []
        self.dtypes: list[str | None] = []
        self.kinds: list[TensorKind] = []
        self.producer: list[int] = []
        self.raw_consumers: list[list[OpId]] = []
        self.edge_tensors: list[tuple[TensorId, OpId]] = []
        self.delays: dict[tuple[OpId, OpId], int] = {}
        self.buffers: list[str] = []

    def tensor_id(self, name: str) -> TensorId | None:
        return self.index.get(name)

    def add_tensor(
        self, name: str, size: int, shape: tuple[int, ...] | None, dtype: str | None, kind: TensorKind
    ) -> TensorId:
        tensor = len(self.names)
        self.index[name] = tensor
        self.names.append(name)
        self.bytes.append(size)
        self.shapes.append(shape)
        self.dtypes.append(dtype)
        self.kinds.append(kind)
        self.producer.append(-1)
        self.raw_consumers.append([])
        return tensor

    def unused_name(self, name: str) -> str:
        if name not in self.index:
            return name
        number = 2
        while f"{name}#{number}" in self.index:
            number += 1
        return f"{name}#{number}"

    def consume(self, tensor: TensorId, op: OpId) -> None:
        consumers = self.raw_consumers[tensor]
        if not consumers or consumers[-1] != op:
            consumers.append(op)

    def add(self, source: OpId, target: OpId, kind: DependencyKind, tensor: int) -> None:
        self.source.append(source)
        self.target.append(target)
        self.kind.append(kind)
        self.tensor.append(tensor)

    def finish_data_edges(self) -> None:
        """Add one row per (producer, tensor, consumer)."""
        for tensor, producer in enumerate(self.producer):
            if producer >= 0:
                for consumer in dict.fromkeys(self.raw_consumers[tensor]):
                    self.add(producer, consumer, DependencyKind.DATA, tensor)

    def renumber(self, rank: Sequence[int]) -> None:
        self.source = array("i", [rank[op] for op in self.source])
        self.target = array("i", [rank[op] for op in self.target])
        self.producer = [rank[op] if op >= 0 else -1 for op in self.producer]
        self.delays = {(rank[u], rank[v]): delay for (u, v), delay in self.delays.items()}

    def adjacency(self, count: int) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
        """Distinct successors and predecessors per operator, ascending."""
        succ: list[Any] = [NO_ITEMS] * count
        pred: list[Any] = [NO_ITEMS] * count
        for u, v in sorted(set(zip(self.source, self.target, strict=True))):
            if succ[u]:
                succ[u].append(v)
            else:
                succ[u] = [v]
            if pred[v]:
                pred[v].append(u)
            else:
                pred[v] = [u]
        return succ, pred


def shortest_cycle(succ: Sequence[Sequence[int]], members: Sequence[int]) -> list[int]:
    """Return a shortest cycle among ``members`` as operator numbers, starting at its smallest number.

    Breadth-first from each member; on large cyclic parts only the first 200 starts are tried, which still
    yields a cycle, not always the shortest.
    """
    inside = set(members)
    best: list[int] = []
    on_cycle = _on_cycle(succ, members, inside)
    for start in on_cycle[:200]:
        found = _cycle_through(succ, start, inside, len(best) or None)
        if found and (not best or len(found) < len(best)):
            best = found
        if len(best) == 1:
            break
    smallest = best.index(min(best))
    return best[smallest:] + best[:smallest]


def _on_cycle(succ: Sequence[Sequence[int]], members: Sequence[int], inside: set[int]) -> list[int]:
    """Members that can be left again: peel off those without successors inside, repeatedly."""
    out = {op: sum(other in inside for other in succ[op]) for op in members}
    pred: dict[int, list[int]] = {op: [] for op in members}
    for op in members:
        for other in succ[op]:
            if other in inside:
                pred[other].append(op)
    leaves = [op for op in members if not out[op]]
    for op in leaves:
        for other in pred[op]:
            out[other] -= 1
            if not out[other]:
                leaves.append(other)
    return [op for op in members if out[op]]


def _cycle_through(succ: Sequence[Sequence[int]], start: int, inside: set[int], limit: int | None) -> list[int]:
    parent = {start: -1}
    level = [start]
    depth = 1
    while level and (limit is None or depth < limit):
        following = []
        for op in level:
            for other in succ[op]:
                if other == start:
                    path = [op]
                    while parent[path[-1]] >= 0:
                        path.append(parent[path[-1]])
                    return path[::-1]
                if other in inside and other not in parent:
                    parent[other] = op
                    following.append(other)
        level = following
        depth += 1
    return []
