"""GraphBuilder: the one way to make a Graph, and the one place where graphs are validated.

It collects every fault with its place in the input (``("operators", 3, "inputs", 0)``), so that a loader can
turn places into lines and columns, and raises them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simsched.collector import collector_off
from simsched.errors import Fault, suggest
from simsched.graph.amounts import MOST_WORK, odd_duration, whole_amounts
from simsched.graph.assemble import assemble
from simsched.graph.draft import Draft, TensorDraft
from simsched.graph.model import Graph, TensorKind, TimeUnit
from simsched.graph.tensors import DTYPE_BITS, tensor_size

__all__ = ["DTYPE_BITS", "GraphBuilder", "tensor_size"]

_KINDS = [kind.value for kind in TensorKind]
_WHOLE = frozenset({int, type(None)})


class GraphBuilder:
    """Collects operators, tensors and edges in any order; ``build()`` checks and freezes them.

    Parameters
    ----------
    name : str
    time_unit : {"ns", "tick"}
    source : str, optional
        What error messages call the input; the graph's name by default.

    Attributes
    ----------
    description, origin : str
        What the graph is, and where it comes from.
    notes : list of str
        Remarks of an importer that a user should see.
    native : mapping of str to int or None
        Resource capacities that the file itself carries.

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
        self.description = ""
        self.origin = ""
        self.notes: list[str] = []
        self.native: Mapping[str, int] | None = None
        self._draft = Draft()

    def fault(self, message: str, *path: str | int, related: tuple[Fault, ...] = ()) -> None:
        """Record a fault of the input; ``build()`` raises all of them together."""
        self._draft.fault(message, path, related)

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
        draft, place = self._draft, ("tensors", name)
        if name in draft.tensors:
            draft.fault(f"tensor {name!r} is declared twice", place)
            return name
        if dtype is not None and dtype not in DTYPE_BITS:
            draft.fault(f"unknown dtype {dtype!r}; {suggest(dtype, DTYPE_BITS)}", (*place, "dtype"))
            shape = dtype = None
            bytes = bytes or 0
        if shape is not None and any(dimension < 0 for dimension in shape):
            draft.fault(f"a dimension cannot be negative: {list(shape)}", (*place, "shape"))
            shape, bytes = None, bytes or 0
        if bytes is None:
            if shape is None or dtype is None:
                draft.fault(f"tensor {name!r} needs 'bytes', or both 'shape' and 'dtype'", place)
                bytes = 0
            else:
                bytes = tensor_size(shape, dtype)
        elif bytes < 0:
            draft.fault(f"a size cannot be negative: {bytes}", (*place, "bytes"))
        if kind not in _KINDS:
            draft.fault(f"unknown kind {kind!r}; {suggest(str(kind), _KINDS)}", (*place, "kind"))
            kind = TensorKind.ACTIVATION
        draft.tensors[name] = TensorDraft(bytes, None if shape is None else tuple(shape), dtype, TensorKind(kind))
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
        alias: Mapping[str, str] | None = None,
        inplace: Mapping[str, str] | None = None,
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
        alias, inplace : mapping of str to str, optional
            Outputs that share the buffer of an input, each to that input: a view of it, or what overwrites it. It then
            waits for all other readers of the input (WAR).
        """
        draft = self._draft
        number = len(draft.names)
        if draft.index.setdefault(name, number) != number:
            draft.complain_twice(number, name)
        draft.names.append(name)
        draft.op_types.append(op_type)
        if type(duration) is int and duration >= 0:
            draft.durations.append(duration)
        else:
            draft.durations.append(odd_duration(draft, number, duration))
        if inputs:
            draft.inputs[number] = inputs
        if outputs:
            draft.outputs[number] = outputs
        if alias or inplace:
            draft.alias[number], draft.inplace[number] = alias or {}, inplace or {}
        sparse = draft.sparse
        if attributes:
            sparse["attributes"][number] = attributes
        if demands:
            sparse["demands"][number] = whole_amounts(draft, number, "demands", demands)
        if reads:
            sparse["reads"][number] = tuple(reads)
        if writes:
            sparse["writes"][number] = tuple(writes)
        if after:
            draft.after += [(number, other, position) for position, other in enumerate(after)]
        if device is not None:
            sparse["placement"][number] = device
        for key, amount in (("flops", flops), ("traffic", traffic), ("workspace", workspace)):
            if amount is not None:
                if not 0 <= amount <= MOST_WORK:
                    limit = f"at least 0, got {amount}" if amount < 0 else "at most 10**24"
                    draft.fault(f"expected {limit}", ("operators", number, key))
                sparse[key][number] = amount
        return name

    def add_ops(
        self,
        names: Iterable[str],
        durations: Iterable[int | None] | None = None,
        op_type: str | Sequence[str] = "op",
    ) -> None:
        """Add many operators that have only a name, a duration and a type; several times faster than one by one.

        Parameters
        ----------
        names : iterable of str
        durations : iterable of (int or None), optional
            Nanoseconds (ticks), one per name; None leaves all durations to the cost model.
        op_type : str or sequence of str
            Of all, or of each.

        Raises
        ------
        ValueError
            If the columns are not of one length.
        """
        draft = self._draft
        first = len(draft.names)
        draft.names.extend(names)
        added = draft.names[first:]
        times = [None] * len(added) if durations is None else list(durations)
        types = [op_type] * len(added) if isinstance(op_type, str) else op_type
        if not len(times) == len(types) == len(added):
            raise ValueError(f"{len(added)} names, but {len(times)} durations and {len(types)} operator types")
        if not set(map(type, times)) <= _WHOLE or min(filter(None, times), default=0) < 0:
            times = [odd_duration(draft, first + number, time) for number, time in enumerate(times)]
        draft.durations += times
        draft.op_types += types
        draft.index_names(first)

    def add_edge(self, source: str, target: str, *, bytes: int | None = None, delay: int | None = None) -> None:
        """Order two operators; with ``bytes`` the edge carries data, with ``delay`` it costs time between devices."""
        draft = self._draft
        number = len(draft.sources)
        draft.sources.append(source)
        draft.targets.append(target)
        if bytes is not None:
            if bytes < 0:
                draft.fault(f"a size cannot be negative: {bytes}", ("edges", number, "bytes"))
            draft.edge_bytes[number] = bytes
        if delay is not None:
            if delay < 0:
                draft.fault(f"a delay cannot be negative: {delay}", ("edges", number, "delay"))
            draft.edge_delays[number] = delay

    def add_edges(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        bytes: Sequence[int | None] | None = None,
        delays: Sequence[int | None] | None = None,
    ) -> None:
        """Order many pairs of operators; several times faster than one by one.

        Parameters
        ----------
        sources, targets : iterable of str
        bytes, delays : sequence of (int or None), optional
            What each edge carries, and what it costs between devices, as in :meth:`add_edge`.

        Raises
        ------
        ValueError
            If the columns are not of one length.
        """
        draft = self._draft
        first = len(draft.sources)
        draft.sources.extend(sources)
        draft.targets.extend(targets)
        if len(draft.sources) != len(draft.targets):
            raise ValueError(f"{len(draft.sources)} sources of edges, but {len(draft.targets)} targets")
        draft.give_edges("bytes", "size", draft.edge_bytes, first, bytes)
        draft.give_edges("delay", "delay", draft.edge_delays, first, delays)

    def build(self) -> Graph:
        """Check everything and freeze it.

        Raises
        ------
        GraphError
            With all faults: duplicates, unknown names, negative sizes; or a cycle (a shortest one is shown).
        """
        with collector_off():
            columns = assemble(self._draft, self.source)
        return Graph(
            name=self.name,
            time_unit=self.time_unit,
            description=self.description,
            origin=self.origin,
            native=self.native,
            notes=tuple(self.notes),
            **columns,
        )
