"""The computation graph: operators, tensors and dependencies, frozen and in columns.

Operators have dense ids in topological order: ``u -> v`` implies ``u < v``. Hot loops run over the
plain-list columns; ``operator()``, ``tensor()`` and ``dependencies()`` give readable views of one row.
Build graphs with :class:`simsched.graph.builder.GraphBuilder`; it is the only place that validates.
"""

from __future__ import annotations

import enum
import hashlib
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from simsched.display import notebook_html
from simsched.errors import UnknownNameError

OpId = int
TensorId = int
TimeUnit = Literal["ns", "tick"]


class TensorKind(enum.StrEnum):
    """What a tensor is to the graph, which decides how long it lives."""

    ACTIVATION = "activation"
    """Made by an operator; lives from its producer's start to its last consumer's end."""
    INPUT = "input"
    """A graph input; resident from time 0 to the end."""
    PARAMETER = "parameter"
    """A weight; resident from time 0 to the end."""
    OUTPUT = "output"
    """A graph output made by an operator; lives to the end."""

    @property
    def persistent(self) -> bool:
        """Whether it is resident from time 0."""
        return self in (TensorKind.INPUT, TensorKind.PARAMETER)


class DependencyKind(enum.IntEnum):
    """Why one operator waits for another."""

    DATA = 0
    """Reads a tensor that the other produces (read after write)."""
    CONTROL = 1
    """A plain precedence, from ``edges`` or ``after``."""
    RAW = 2
    """Reads a named buffer that the other wrote."""
    WAR = 3
    """Overwrites a named buffer, or in place a tensor, that the other read."""
    WAW = 4
    """Overwrites a named buffer that the other wrote."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor: a value on one or several edges.

    Attributes
    ----------
    name : str
    bytes : int
        Size; 0 is allowed and still orders operators.
    shape : tuple of int or None
    dtype : str or None
        ``"fp32"``, ``"fp16"``, ``"bf16"``, ``"int8"``, ``"int64"``, ``"bool"``, ...
    kind : TensorKind
    producer : int or None
        Operator that makes it; None for inputs and parameters.
    consumers : tuple of int
        Distinct operators that read it, ascending.
    """

    name: str
    bytes: int
    shape: tuple[int, ...] | None
    dtype: str | None
    kind: TensorKind
    producer: OpId | None
    consumers: tuple[OpId, ...]


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator, as a readable view of a row of the graph's columns."""

    id: OpId
    name: str
    op_type: str
    duration: int | Mapping[str, int] | None
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attributes: Mapping[str, Any]
    demands: Mapping[str, int]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    device: str | None


@dataclass(frozen=True, slots=True)
class Dependency:
    """One reason why ``target`` waits for ``source``.

    Attributes
    ----------
    source, target : int
    kind : DependencyKind
    tensor : int or None
        The tensor that carries the data, for ``DATA``.
    via : str
        Name of the tensor or buffer; empty for control.
    """

    source: OpId
    target: OpId
    kind: DependencyKind
    tensor: TensorId | None
    via: str


@dataclass(frozen=True, slots=True)
class Edges:
    """Dependency rows in columns: one row per (source, target, kind, tensor or buffer)."""

    source: array[int]
    target: array[int]
    kind: array[int]
    tensor: array[int]
    """Tensor id for DATA, index into ``Graph.buffers`` for RAW/WAR/WAW, -1 for CONTROL."""

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, eq=False)
class Graph:
    """A validated DAG of operators and tensors. All columns are indexed by operator or tensor id.

    Attributes
    ----------
    name : str
    time_unit : {"ns", "tick"}
        How durations are shown; inside, a tick counts as one nanosecond.
    names, op_types : sequence of str
    durations : sequence of (int or None)
        Explicit durations in ns; None where the cost model decides (or ``device_durations`` does).
    succ, pred : sequence of sequence of int
        Distinct successors and predecessors of all kinds, ascending.
    inputs, outputs : sequence of tuple of int
        Tensor ids per operator, in the operator's own order; an input may repeat.
    edges : Edges
    tensor_names, tensor_bytes, tensor_shapes, tensor_dtypes, tensor_kinds : sequences
    tensor_producer : sequence of int
        -1 for inputs and parameters.
    tensor_consumers : sequence of tuple of int
        Distinct consumers, ascending.
    device_durations, attributes, demands, reads, writes, placement, flops, traffic, workspace : mappings
        Sparse columns by operator id: durations per device name, attributes, renewable demands, named
        buffers read and written, required device, stated FLOPs, stated bytes moved, workspace bytes.
    aliases, inplace : mapping of int to int
        Tensors that share the buffer of an input of their producer, to that input: views, and what overwrites it.
    delays : mapping
        ``(u, v)`` to a fixed communication delay in ns, paid only between different devices.
    description, origin : str
        What the graph is, and where it comes from.
    native : mapping or None
        Resource capacities that the file itself carries (``.sm``, ``.rcp``), for ``--hardware native``.
    notes : tuple of str
        Remarks of the importer that a user should see.
    """

    name: str
    time_unit: TimeUnit
    names: Sequence[str]
    op_types: Sequence[str]
    durations: Sequence[int | None]
    succ: Sequence[Sequence[OpId]]
    pred: Sequence[Sequence[OpId]]
    inputs: Sequence[tuple[TensorId, ...]]
    outputs: Sequence[tuple[TensorId, ...]]
    edges: Edges
    tensor_names: Sequence[str] = ()
    tensor_bytes: Sequence[int] = ()
    tensor_shapes: Sequence[tuple[int, ...] | None] = ()
    tensor_dtypes: Sequence[str | None] = ()
    tensor_kinds: Sequence[TensorKind] = ()
    tensor_producer: Sequence[int] = ()
    tensor_consumers: Sequence[tuple[OpId, ...]] = ()
    buffers: Sequence[str] = ()
    device_durations: Mapping[OpId, Mapping[str, int]] = field(default_factory=dict)
    attributes: Mapping[OpId, Mapping[str, Any]] = field(default_factory=dict)
    demands: Mapping[OpId, Mapping[str, int]] = field(default_factory=dict)
    reads: Mapping[OpId, tuple[str, ...]] = field(default_factory=dict)
    writes: Mapping[OpId, tuple[str, ...]] = field(default_factory=dict)
    placement: Mapping[OpId, str] = field(default_factory=dict)
    flops: Mapping[OpId, int] = field(default_factory=dict)
    traffic: Mapping[OpId, int] = field(default_factory=dict)
    workspace: Mapping[OpId, int] = field(default_factory=dict)
    aliases: Mapping[TensorId, TensorId] = field(default_factory=dict)
    inplace: Mapping[TensorId, TensorId] = field(default_factory=dict)
    delays: Mapping[tuple[OpId, OpId], int] = field(default_factory=dict)
    description: str = ""
    origin: str = ""
    native: Mapping[str, int] | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Graph({self.name!r}: {len(self)} operators, {self.edge_count} edges, {len(self.tensor_names)} tensors)"

    def _repr_html_(self) -> str:
        """Show the graph as a page in notebooks."""
        return notebook_html(self)

    @cached_property
    def edge_count(self) -> int:
        """Number of distinct (source, target) pairs."""
        return sum(map(len, self.succ))

    @cached_property
    def index(self) -> Mapping[str, OpId]:
        """Operator id by name."""
        return {name: op for op, name in enumerate(self.names)}

    @cached_property
    def shares(self) -> Mapping[TensorId, TensorId]:
        """Tensors that share the buffer of an input of their producer, to that input, ascending."""
        return dict(sorted([*self.aliases.items(), *self.inplace.items()])) if self.aliases or self.inplace else {}

    @cached_property
    def sharing(self) -> frozenset[TensorId]:
        """Tensors that share a buffer, those that it belongs to first included."""
        return frozenset([*self.shares, *self.shares.values()])

    @cached_property
    def stored_bytes(self) -> Sequence[int]:
        """Bytes that each tensor adds to memory: its size; 0 where it shares a buffer."""
        if not self.shares:
            return self.tensor_bytes
        return [0 if tensor in self.shares else size for tensor, size in enumerate(self.tensor_bytes)]

    @cached_property
    def without_duration(self) -> Sequence[OpId]:
        """Operators whose duration the cost model decides, ascending."""
        return [
            op for op, duration in enumerate(self.durations) if duration is None and op not in self.device_durations
        ]

    def id_of(self, name: str) -> OpId:
        """Return the id of a named operator, or raise :class:`UnknownNameError` with the nearest name."""
        try:
            return self.index[name]
        except KeyError:
            raise UnknownNameError(f"operator of graph {self.name!r}", name, self.names) from None

    def tensor(self, tensor: TensorId) -> Tensor:
        """Return one tensor as a readable value."""
        producer = self.tensor_producer[tensor]
        return Tensor(
            self.tensor_names[tensor],
            self.tensor_bytes[tensor],
            self.tensor_shapes[tensor],
            self.tensor_dtypes[tensor],
            self.tensor_kinds[tensor],
            None if producer < 0 else producer,
            self.tensor_consumers[tensor],
        )

    def operator(self, op: OpId | str) -> Operator:
        """Return one operator, by id or name, as a readable value."""
        op = self.id_of(op) if isinstance(op, str) else op
        return Operator(
            op,
            self.names[op],
            self.op_types[op],
            self.device_durations.get(op, self.durations[op]),
            tuple(self.tensor(tensor) for tensor in self.inputs[op]),
            tuple(self.tensor(tensor) for tensor in self.outputs[op]),
            self.attributes.get(op, {}),
            self.demands.get(op, {}),
            self.reads.get(op, ()),
            self.writes.get(op, ()),
            self.placement.get(op),
        )

    def operators(self) -> Iterator[Operator]:
        """Iterate over all operators in id order."""
        return (self.operator(op) for op in range(len(self)))

    def dependencies(self) -> Iterator[Dependency]:
        """Iterate over every dependency row, in the order in which they were declared."""
        edges = self.edges
        for source, target, code, tensor in zip(edges.source, edges.target, edges.kind, edges.tensor, strict=True):
            kind = DependencyKind(code)
            if kind is DependencyKind.DATA:
                yield Dependency(source, target, kind, tensor, self.tensor_names[tensor])
            else:
                yield Dependency(source, target, kind, None, self.buffers[tensor] if tensor >= 0 else "")

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over everything that can change a simulated number; the graph's own name is left out."""
        digest = hashlib.sha256()

        def add(value: Any) -> None:
            digest.update(json.dumps(value, sort_keys=True, default=str).encode())
            digest.update(b"\n")

        add([self.time_unit, list(self.names), list(self.op_types), list(self.durations)])
        add([list(column) for column in (self.edges.source, self.edges.target, self.edges.kind, self.edges.tensor)])
        add([list(self.inputs), list(self.outputs)])
        add([list(self.tensor_names), list(self.tensor_bytes), list(self.tensor_shapes)])
        add([list(self.tensor_dtypes), list(self.tensor_kinds), list(self.tensor_producer)])
        for mapping in (self.device_durations, self.attributes, self.demands, self.reads, self.writes):
            add(sorted((op, value if isinstance(value, tuple) else dict(value)) for op, value in mapping.items()))
        for plain in (self.placement, self.flops, self.traffic, self.workspace, self.delays):
            add(sorted(plain.items()))
        if self.shares:
            add([sorted(self.aliases.items()), sorted(self.inplace.items())])
        add([list(self.buffers), None if self.native is None else dict(self.native)])
        return digest.hexdigest()
