"""Graphs to networkx. Kept apart from the reader; networkx is imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simsched.graph.export import exported_edges, shared_names
from simsched.graph.model import Graph, OpId

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: Graph) -> networkx.MultiDiGraph[str]:
    """Return the graph as a networkx ``MultiDiGraph`` with everything it holds.

    Nodes are the operators' names in id order, so that ``list(g)`` is a topological order. Their attributes are
    ``op_type``, ``duration`` (ns or ticks; a mapping where it depends on the device) and, where there are any,
    ``device``, ``demands``, ``flops``, ``traffic``, ``workspace``, ``attributes``, ``reads``, ``writes``,
    ``inputs``, ``outputs``, ``alias`` and ``inplace``. There is one edge per dependency, with its ``kind`` (``data``,
    ``control``, ``raw``, ``war``, ``waw``), ``bytes`` and ``tensor`` of data, ``via`` of buffers, and ``delay``.
    ``g.graph`` has the name, ``time_unit``, ``tensors``, ``native``, ``description``, ``origin`` and ``notes``.

    :func:`~simsched.graph.nx.from_networkx` makes the same graph of it again.

    Examples
    --------
    >>> from simsched.graph.generators import diamond
    >>> import networkx
    >>> networkx.dag_longest_path_length(to_networkx(diamond(3)))
    4
    """
    import networkx

    edges = list(exported_edges(graph))
    own = _tensors_with_names(graph, {edge.row.tensor for edge in edges if not edge.named})
    about: dict[str, Any] = {"name": graph.name, "time_unit": graph.time_unit}
    if own:
        about["tensors"] = {graph.tensor_names[tensor]: _tensor(graph, tensor) for tensor in own}
    optional = {"native": graph.native, "description": graph.description, "origin": graph.origin, "notes": graph.notes}
    about |= {key: value for key, value in optional.items() if value}
    g: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(**about)
    for op, name in enumerate(graph.names):
        g.add_node(name, **_node(graph, op, own))
    for edge in edges:
        row = edge.row
        found: dict[str, Any] = {"kind": row.kind.name.lower()}
        if row.tensor is not None:
            found["bytes"] = graph.tensor_bytes[row.tensor]
        if edge.named:
            found["tensor"] = row.via
        elif row.tensor is None and row.via:
            found["via"] = row.via
        if edge.delay is not None:
            found["delay"] = edge.delay
        g.add_edge(graph.names[row.source], graph.names[row.target], **found)
    return g


def _tensors_with_names(graph: Graph, made_by_edges: set[int | None]) -> dict[int, None]:
    """Tensors that edges with bytes do not make, in order."""
    return {tensor: None for tensor in range(len(graph.tensor_names)) if tensor not in made_by_edges}


def _tensor(graph: Graph, tensor: int) -> dict[str, Any]:
    found: dict[str, Any] = {"bytes": graph.tensor_bytes[tensor], "kind": graph.tensor_kinds[tensor].value}
    if graph.tensor_shapes[tensor] is not None:
        found["shape"] = graph.tensor_shapes[tensor]
    if graph.tensor_dtypes[tensor] is not None:
        found["dtype"] = graph.tensor_dtypes[tensor]
    return found


def _node(graph: Graph, op: OpId, own: dict[int, None]) -> dict[str, Any]:
    found: dict[str, Any] = {"op_type": graph.op_types[op]}
    duration = graph.device_durations.get(op, graph.durations[op])
    if duration is not None:
        found["duration"] = duration if isinstance(duration, int) else dict(duration)
    if op in graph.placement:
        found["device"] = graph.placement[op]
    for key, mapping in (("demands", graph.demands), ("attributes", graph.attributes)):
        if mapping.get(op):
            found[key] = dict(mapping[op])
    columns = {
        "flops": graph.flops, "traffic": graph.traffic, "workspace": graph.workspace,
        "reads": graph.reads, "writes": graph.writes,
    }  # fmt: skip
    found |= {key: column[op] for key, column in columns.items() if op in column}
    found |= shared_names(graph, op)
    for key, tensors in (("inputs", graph.inputs[op]), ("outputs", graph.outputs[op])):
        names = tuple(graph.tensor_names[tensor] for tensor in tensors if tensor in own)
        if names:
            found[key] = names
    return found
