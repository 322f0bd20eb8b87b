"""From a draft to the columns of a graph: names become ids, orders are derived, cycles are refused."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from simsched.errors import GraphError
from simsched.graph.cycles import shortest_cycle
from simsched.graph.draft import SPARSE, Draft
from simsched.graph.links import cycle_fault
from simsched.graph.model import DependencyKind, Edges, OpId
from simsched.graph.order import NONE, distinct, is_topological, predecessors, successor_rows, topological_order
from simsched.graph.storage import Shared, collect_shared, overwrites
from simsched.graph.tensors import TensorTable, collect_tensors

LARGEST_TOTAL = 2**62


class Rows:
    """Dependency rows in columns, by insertion number of the operators."""

    def __init__(self, sources: list[int], targets: list[int]) -> None:
        self.source = sources
        self.target = targets
        self.kind = array("b", [DependencyKind.CONTROL]) * len(sources)
        self.tensor = array("i", [-1]) * len(sources)

    def add(self, source: OpId, target: OpId, kind: DependencyKind, tensor: int) -> None:
        """Add one row."""
        self.source.append(source)
        self.target.append(target)
        self.kind.append(kind)
        self.tensor.append(tensor)


def assemble(draft: Draft, source: str) -> dict[str, Any]:
    """Return the columns of the graph, as arguments of :class:`~simsched.graph.model.Graph`.

    Parameters
    ----------
    draft : Draft
    source : str
        What error messages call the input.

    Raises
    ------
    GraphError
        With all faults of the draft, or a cycle.
    """
    _check_names(draft)
    table = collect_tensors(draft)
    sources, targets, delays = _edges(draft, table)
    _after(draft, sources, targets)
    shared = collect_shared(draft, table)
    _check_totals(draft, table)
    if draft.faults:
        raise GraphError(source, draft.faults)
    controls = len(sources)
    rows = Rows(sources, targets)
    buffers = add_buffer_rows(draft.sparse["reads"], draft.sparse["writes"], rows)
    _add_overwrite_rows(shared, table.names, table.producer, table.consumers, buffers, rows)
    _add_data_rows(table.producer, table.consumers, rows)
    succ: list[list[int]] = successor_rows(len(draft.names), rows.source, rows.target)
    columns = _tensor_columns(draft, table)
    if not is_topological(rows.source, rows.target):
        order, left = topological_order(succ)
        if left:
            raise GraphError(source, [cycle_fault(draft, shortest_cycle(succ, left))])
        rank = [0] * len(order)
        for number, old in enumerate(order):
            rank[old] = number
        new = rank.__getitem__
        _reorder(columns, order, rank)
        succ = [list(map(new, succ[old])) for old in order]
        delays = {(rank[u], rank[v]): delay for (u, v), delay in delays.items()}
        # Derived rows are derived again, so that their order does not depend on the order of insertion.
        rows = Rows(list(map(new, rows.source[:controls])), list(map(new, rows.target[:controls])))
        buffers = add_buffer_rows(columns["reads"], columns["writes"], rows)
        made, read = columns["tensor_producer"], columns["tensor_consumers"]
        _add_overwrite_rows(shared, table.names, made, read, buffers, rows)
        _add_data_rows(columns["tensor_producer"], columns["tensor_consumers"], rows)
    edges = Edges(array("i", rows.source), array("i", rows.target), rows.kind, rows.tensor)
    successors = distinct(succ)
    adjacency = {"succ": successors, "pred": predecessors(successors)}
    return {**columns, **adjacency, **shared._asdict(), "edges": edges, "buffers": buffers, "delays": delays}


def _check_names(draft: Draft) -> None:
    if "" not in draft.index and set(map(type, draft.names)) <= {str}:
        return
    for number, name in enumerate(draft.names):
        if not isinstance(name, str) or not name:
            draft.fault(
                f"the name of an operator is text that is not empty, got {name!r}", ("operators", number, "name")
            )


def _check_totals(draft: Draft, table: TensorTable) -> None:
    """Refuse sums that the columns of a trace cannot hold."""
    longest = sum(filter(None, draft.durations)) + sum(draft.edge_delays.values())
    longest += sum(max(times.values(), default=0) for times in draft.sparse["device_durations"].values())
    if longest > LARGEST_TOTAL:
        draft.fault("the durations sum to more than 2**62 ns (146 years), which cannot be simulated")
    largest = sum(table.bytes) + sum(draft.sparse["workspace"].values())
    if largest > LARGEST_TOTAL:
        draft.fault("the tensors sum to more than 2**62 bytes, which cannot be simulated")


# --- dependencies ---------------------------------------------------------------------------------------------


def _edges(draft: Draft, table: TensorTable) -> tuple[list[int], list[int], dict[tuple[OpId, OpId], int]]:
    """Resolve the edges: control rows, tensors for those with bytes, and the largest delay of each pair."""
    index, carried = draft.index, draft.edge_bytes
    try:
        sources = list(map(index.__getitem__, draft.sources))
        targets = list(map(index.__getitem__, draft.targets))
    except KeyError:
        _complain_ends(draft)
        return [], [], {}
    if carried:
        names = (f"{draft.sources[number]}->{draft.targets[number]}" for number in carried)
        producers = [sources[number] for number in carried]
        consumers = [targets[number] for number in carried]
        table.add_on_edges(names, producers, consumers, list(carried.values()))
    delays: dict[tuple[OpId, OpId], int] = {}
    for number, delay in draft.edge_delays.items():
        pair = sources[number], targets[number]
        delays[pair] = max(delay, delays.get(pair, 0))
    if carried:
        sources = [u for number, u in enumerate(sources) if number not in carried]
        targets = [v for number, v in enumerate(targets) if number not in carried]
    return sources, targets, delays


def _complain_ends(draft: Draft) -> None:
    for number, (source, target) in enumerate(zip(draft.sources, draft.targets, strict=True)):
        for end, name in (("from", source), ("to", target)):
            if name not in draft.index:
                message = f"edge {source!r} -> {target!r}: no operator {name!r}; {draft.hint(name, draft.index)}"
                draft.fault(message, ("edges", number, end))


def _after(draft: Draft, sources: list[int], targets: list[int]) -> None:
    for number, other, position in draft.after:
        if other not in draft.index:
            hint = draft.hint(other, draft.index)
            message = f"operator {draft.names[number]!r} comes after unknown operator {other!r}; {hint}"
            draft.fault(message, ("operators", number, "after", position))
            continue
        sources.append(draft.index[other])
        targets.append(number)


def add_buffer_rows(reads: Mapping[OpId, Sequence[str]], writes: Mapping[OpId, Sequence[str]], rows: Rows) -> list[str]:
    """Derive RAW, WAR and WAW orders from reads and writes, in the order of the operators; returns the buffers."""
    last_write: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    buffers: dict[str, int] = {}
    for number in sorted(reads.keys() | writes.keys()):
        for name in reads.get(number, ()):
            code = buffers.setdefault(name, len(buffers))
            if name in last_write:
                rows.add(last_write[name], number, DependencyKind.RAW, code)
            readers.setdefault(name, []).append(number)
        for name in writes.get(number, ()):
            code = buffers.setdefault(name, len(buffers))
            for reader in readers.pop(name, ()):
                if reader != number:
                    rows.add(reader, number, DependencyKind.WAR, code)
            if name in last_write:
                rows.add(last_write[name], number, DependencyKind.WAW, code)
            last_write[name] = number
    return list(buffers)


def _add_overwrite_rows(
    shared: Shared,
    names: Sequence[str],
    producers: Sequence[int],
    consumers: Sequence[Sequence[OpId]],
    buffers: list[str],
    rows: Rows,
) -> None:
    """Add one WAR row per operator that reads what another overwrites in place; the tensors become named buffers."""
    codes: dict[int, int] = {}
    for reader, writer, tensor in overwrites(shared, names, producers, consumers):
        if tensor not in codes:
            codes[tensor] = len(buffers)
            buffers.append(names[tensor])
        rows.add(reader, writer, DependencyKind.WAR, codes[tensor])


def _add_data_rows(producers: Sequence[int], consumers: Sequence[Sequence[OpId]], rows: Rows) -> None:
    """Add one row per (producer, tensor, consumer)."""
    first = len(rows.source)
    for producer, row in zip(producers, consumers, strict=True):
        if producer >= 0 and row:
            rows.source += [producer] * len(row)
            rows.target += row
    made = (tensor for tensor, row in enumerate(consumers) if producers[tensor] >= 0 for _ in row)
    rows.tensor.extend(made)
    rows.kind.extend([DependencyKind.DATA] * (len(rows.source) - first))


# --- columns --------------------------------------------------------------------------------------------------


def _tensor_columns(draft: Draft, table: TensorTable) -> dict[str, Any]:
    """Columns of the graph by insertion number."""
    count = len(draft.names)
    sides: list[list[tuple[int, ...]]] = []
    for given in (draft.inputs, draft.outputs):
        side = [NONE] * count
        for number, names in given.items():
            side[number] = tuple([table.index[name] for name in names])
        sides.append(side)
    inputs, outputs = sides
    for tensor in range(len(table.names) - table.on_edges, len(table.names)):
        u, v = table.producer[tensor], table.consumers[tensor][0]
        outputs[u] += (tensor,)
        inputs[v] += (tensor,)
    return {
        "names": draft.names.copy(),
        "op_types": draft.op_types.copy(),
        "durations": draft.durations.copy(),
        "inputs": inputs,
        "outputs": outputs,
        "tensor_names": table.names,
        "tensor_bytes": table.bytes,
        "tensor_shapes": table.shapes,
        "tensor_dtypes": table.dtypes,
        "tensor_kinds": table.kinds,
        "tensor_producer": table.producer,
        "tensor_consumers": [tuple(row) for row in table.consumers],
        **{key: values.copy() for key, values in draft.sparse.items()},
    }


def _reorder(columns: dict[str, Any], order: Sequence[int], rank: Sequence[int]) -> None:
    """Renumber the operators in all columns."""
    for key in ("names", "op_types", "durations", "inputs", "outputs"):
        values = columns[key]
        columns[key] = [values[old] for old in order]
    columns["tensor_producer"] = [rank[op] if op >= 0 else -1 for op in columns["tensor_producer"]]
    columns["tensor_consumers"] = [tuple(sorted([rank[op] for op in row])) for row in columns["tensor_consumers"]]
    for key in SPARSE:
        values = columns[key]
        columns[key] = {rank[old]: values[old] for old in sorted(values, key=rank.__getitem__)}
