"""Graphs to files. What is written is canonical, and reads back as an equal graph (the same ``content_hash``)."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simsched.errors import ConfigError, Fault, GraphError
from simsched.graph.export import shared_names
from simsched.graph.flow import flow_text
from simsched.graph.model import DependencyKind, Graph, OpId, TensorId, TensorKind
from simsched.graph.tensors import tensor_size

FORMAT = 1
LISTS = ("operators", "tensors", "edges")


def dump_graph(graph: Graph) -> dict[str, Any]:
    """Return the canonical plain form of a graph: what its JSON file holds.

    Operators stand in topological order. Control dependencies, and tensors that edges brought, are written as
    ``edges``; all other tensors are declared.

    Raises
    ------
    GraphError
        If an attribute is not a finite number.

    Examples
    --------
    >>> from simsched.graph.builder import GraphBuilder
    >>> builder = GraphBuilder("pair", time_unit="tick")
    >>> names = [builder.add_op(name, duration=2) for name in "ab"]
    >>> builder.add_edge("a", "b")
    >>> dump_graph(builder.build())["edges"]
    [['a', 'b']]
    """
    on_edges = _first_on_edge(graph)
    dump: dict[str, Any] = {"simsched": FORMAT, "name": graph.name}
    if graph.description:
        dump["description"] = graph.description
    if graph.origin:
        dump["source"] = graph.origin
    dump["time_unit"] = graph.time_unit
    if graph.native is not None:
        dump["native"] = dict(graph.native)
    if graph.notes:
        dump["notes"] = list(graph.notes)
    dump["operators"] = [_operator(graph, op, on_edges) for op in range(len(graph))]
    tensors = [_tensor(graph, tensor) for tensor in range(on_edges)]
    edges = _edges(graph, on_edges)
    return dump | ({"tensors": tensors} if tensors else {}) | ({"edges": edges} if edges else {})


def save_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph to a ``.json``, ``.json.gz``, ``.yaml`` or ``.yml`` file, one operator a line.

    Raises
    ------
    ConfigError
        If the name ends otherwise, or the file cannot be written.
    GraphError
        If an attribute is not a finite number, or a name is not text that a file can hold.
    """
    target = Path(path)
    text = _text(graph, target)
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        message = f"a name holds {error.object[error.start]!r}, half of a character"
        raise GraphError(graph.name, [Fault(message)]) from None
    if target.suffix == ".gz":
        raw = gzip.compress(raw, mtime=0)
    try:
        target.write_bytes(raw)
    except OSError as error:
        raise ConfigError(os.fspath(path), [Fault(f"cannot be written: {error.strerror}")]) from None


def _text(graph: Graph, target: Path) -> str:
    if target.name.endswith((".json", ".json.gz")):
        return json_text(dump_graph(graph))
    if target.suffix in (".yaml", ".yml"):
        return yaml_text(dump_graph(graph))
    message = "unknown kind of file; expected a name that ends in .json, .json.gz, .yaml or .yml"
    raise ConfigError(os.fspath(target), [Fault(message)])


def json_text(dump: Mapping[str, Any]) -> str:
    """Write the plain form of a graph as JSON, one operator a line."""
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    parts = []
    for key, value in dump.items():
        if key in LISTS:
            rows = ",\n    ".join(map(encode, value))
            parts.append(f"{encode(key)}: [\n    {rows}\n  ]" if value else f"{encode(key)}: []")
        else:
            parts.append(f"{encode(key)}: {encode(value)}")
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def yaml_text(dump: Mapping[str, Any]) -> str:
    """Write the plain form of a graph as YAML, one operator a line."""
    lines = []
    for key, value in dump.items():
        if key in LISTS and value:
            lines.append(f"{key}:")
            lines += [f"  - {flow_text(row)}" for row in value]
        else:
            lines.append(f"{key}: {flow_text(value)}")
    return "\n".join(lines) + "\n"


# --- operators and tensors --------------------------------------------------------------------------------------


def _operator(graph: Graph, op: OpId, on_edges: TensorId) -> dict[str, Any]:
    row: dict[str, Any] = {"name": graph.names[op]}
    if graph.op_types[op] != "op":
        row["op_type"] = graph.op_types[op]
    duration = graph.device_durations.get(op, graph.durations[op])
    if duration is not None:
        row["duration"] = dict(duration) if isinstance(duration, Mapping) else duration
    names = graph.tensor_names
    for key, tensors in (("inputs", graph.inputs[op]), ("outputs", graph.outputs[op])):
        declared = [names[tensor] for tensor in tensors if tensor < on_edges]
        if declared:
            row[key] = declared
    if op in graph.attributes:
        row["attributes"] = _plain(graph.attributes[op], graph, op)
    if op in graph.demands:
        row["demands"] = dict(graph.demands[op])
    for key, buffers in (("reads", graph.reads), ("writes", graph.writes)):
        if op in buffers:
            row[key] = list(buffers[op])
    exact = (
        ("device", graph.placement),
        ("flops", graph.flops),
        ("bytes", graph.traffic),
        ("workspace", graph.workspace),
    )
    row |= {key: column[op] for key, column in exact if op in column}
    return row | shared_names(graph, op)


def _plain(value: Any, graph: Graph, op: OpId) -> Any:
    """Return an attribute as JSON has it, in the way in which ``content_hash`` sees it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part, graph, op) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part, graph, op) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        message = f"operator {graph.names[op]!r}: the attribute {value} is not a finite number"
        raise GraphError(graph.name, [Fault(message)])
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _tensor(graph: Graph, tensor: TensorId) -> dict[str, Any]:
    row: dict[str, Any] = {"name": graph.tensor_names[tensor]}
    shape, dtype, size = graph.tensor_shapes[tensor], graph.tensor_dtypes[tensor], graph.tensor_bytes[tensor]
    if shape is not None:
        row["shape"] = list(shape)
    if dtype is not None:
        row["dtype"] = dtype
    if shape is None or dtype is None or size != tensor_size(shape, dtype):
        row["bytes"] = size
    if graph.tensor_kinds[tensor] is not TensorKind.ACTIVATION:
        row["kind"] = graph.tensor_kinds[tensor].value
    return row


# --- edges ------------------------------------------------------------------------------------------------------


def _edges(graph: Graph, on_edges: TensorId) -> list[Any]:
    """Control rows in their order, then tensors on edges in theirs; a delay goes to the first edge of its pair."""
    rows = graph.edges
    pairs: list[tuple[OpId, OpId, int | None]] = [
        (u, v, None)
        for u, v, kind in zip(rows.source, rows.target, rows.kind, strict=True)
        if kind == DependencyKind.CONTROL
    ]
    for tensor in range(on_edges, len(graph.tensor_names)):
        ends = graph.tensor_producer[tensor], graph.tensor_consumers[tensor][0]
        pairs.append((*ends, graph.tensor_bytes[tensor]))
    delays = dict(graph.delays)
    edges: list[Any] = []
    for u, v, size in pairs:
        delay = delays.pop((u, v), None)
        if size is None and delay is None:
            edges.append([graph.names[u], graph.names[v]])
            continue
        edge: dict[str, Any] = {"from": graph.names[u], "to": graph.names[v]}
        if size is not None:
            edge["bytes"] = size
        if delay is not None:
            edge["delay"] = delay
        edges.append(edge)
    return edges


def _first_on_edge(graph: Graph) -> TensorId:
    """Return the first of the last tensors that read back as the same tensors when they are written as edges.

    Such a tensor has the name, place and form that the builder gives to what an edge carries.
    """
    outputs = [len(row) for row in graph.outputs]
    inputs = [len(row) for row in graph.inputs]
    index = {name: number for number, name in enumerate(graph.tensor_names)}
    tensor = len(graph.tensor_names)
    while tensor and tensor - 1 not in graph.sharing and _is_on_edge(graph, tensor - 1, outputs, inputs, index):
        tensor -= 1
        outputs[graph.tensor_producer[tensor]] -= 1
        inputs[graph.tensor_consumers[tensor][0]] -= 1
    return tensor


def _is_on_edge(
    graph: Graph, tensor: TensorId, outputs: list[int], inputs: list[int], index: Mapping[str, TensorId]
) -> bool:
    u, consumers = graph.tensor_producer[tensor], graph.tensor_consumers[tensor]
    if u < 0 or len(consumers) != 1 or graph.tensor_kinds[tensor] is not TensorKind.ACTIVATION:
        return False
    if graph.tensor_shapes[tensor] is not None or graph.tensor_dtypes[tensor] is not None:
        return False
    v = consumers[0]
    last = graph.outputs[u][outputs[u] - 1], graph.inputs[v][inputs[v] - 1]
    if last != (tensor, tensor) or graph.inputs[v].count(tensor) > 1:
        return False
    plain = f"{graph.names[u]}->{graph.names[v]}"
    name = graph.tensor_names[tensor]
    if name == plain:
        return True
    copy = name.removeprefix(f"{plain}#")
    if copy == name or not copy.isascii() or not copy.isdigit() or str(int(copy)) != copy:
        return False
    earlier = [plain, *(f"{plain}#{number}" for number in range(2, int(copy)))]
    return int(copy) > 1 and all(index.get(other, tensor) < tensor for other in earlier)
