"""Fusing operators into one kernel, and leaving out a dependency.

Both edit the plain form of the graph (:func:`simsched.graph.io.dump_graph`) and read it again, so that the result is
validated like a file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from simsched.cost.base import BoundBy, KernelCost
from simsched.cost.roofline import whole_ns
from simsched.errors import ConfigError, Fault
from simsched.graph.model import DependencyKind, Graph, OpId, TensorKind
from simsched.hardware import Device
from simsched.whatif.variant import Variant

FUSE, DROP = "--fuse", "--drop-edge"
ROOFLINE: frozenset[BoundBy] = frozenset(("compute", "memory", "launch", "none"))


def fused(variant: Variant, names: Sequence[str]) -> Variant:
    """Make one kernel of several operators.

    It is called ``a+b``. It reads what they read from outside and makes what others read of them; a tensor that only
    they read is never written to memory. Arithmetic adds up. It holds the most that any of them held (SMs, blocks,
    other resources), the workspace of all, and runs where all of them may. Its cost is that of :func:`fused_cost`.

    Raises
    ------
    UnknownNameError
        If an operator does not exist.
    ConfigError
        If others would have to run in the middle of the kernel, or no device may run all of them.
    """
    problem, graph = variant.problem, variant.problem.graph
    members = tuple(sorted({graph.id_of(name) for name in names}))
    if len(members) < 2:
        raise ConfigError(FUSE, [Fault(f"expected at least two operators, got {', '.join(names) or 'none'}")])
    detour = _detour(graph, members)
    if detour:
        way = " -> ".join(graph.names[op] for op in detour)
        message = (
            f"{graph.names[detour[0]]!r} and {graph.names[detour[-1]]!r} cannot be one kernel: between them runs "
            f"{graph.names[detour[1]]!r} ({way}); fuse it too, or leave one of them out"
        )
        raise ConfigError(FUSE, [Fault(message)])
    together = [
        device for device in problem.allowed_devices(members[0])
        if all(device in problem.allowed_devices(op) for op in members)
    ]  # fmt: skip
    if not together:
        listed = ", ".join(graph.names[op] for op in members)
        raise ConfigError(FUSE, [Fault(f"no device may run all of {listed}, so they cannot be one kernel")])
    name = "+".join(graph.names[op] for op in members)
    if name in graph.index:
        raise ConfigError(FUSE, [Fault(f"there is an operator {name!r} already")])
    inner = _inner_tensors(graph, members)
    changed = _read(_fused_plain(graph, members, name, inner), graph)
    saved = [_inner_bytes(graph, op, members, inner) for op in members]
    costs = {
        device: fused_cost([problem.cost(op, device) for op in members], saved, problem.devices[device])
        for device in together
    }
    return _carried(variant, changed, {name: members}, costs, tuple(together))


def fused_cost(costs: Sequence[KernelCost], saved: Sequence[int], device: Device) -> KernelCost:
    """Return the cost of one kernel that does what several do.

    Where all of them were costed by the roofline model: the slower of the sums of both sides, and one launch. What of a
    kernel's time neither side explains (a last wave that is not full, a shortest time) counts to its arithmetic. Where
    durations were stated or measured nobody knows what they consist of: then the durations are added.

    Parameters
    ----------
    costs : sequence of KernelCost
        Of the parts.
    saved : sequence of int
        Bytes of each that no longer cross to or from memory.
    device : Device

    Examples
    --------
    >>> from simsched.hardware import Device
    >>> device = Device("d0", memory_bandwidth=100e9)
    >>> a = KernelCost(12, flops=9, bytes=1000, sms=3, compute_ns=6.0, memory_ns=10.0, launch_ns=2.0, bound="memory")
    >>> b = KernelCost(9, flops=4, bytes=200, sms=1, compute_ns=7.0, memory_ns=2.0, launch_ns=2.0, bound="compute")
    >>> both = fused_cost([a, b], [100, 100], device)
    >>> both.duration, both.bound, both.flops, both.bytes, both.sms
    (15, 'compute', 13, 1000, 3)
    """
    largest = max(costs, key=lambda cost: cost.grid)
    left = [max(0, cost.bytes - fewer) for cost, fewer in zip(costs, saved, strict=True)]
    whole = KernelCost(
        sum(cost.duration for cost in costs),
        flops=sum(cost.flops for cost in costs),
        bytes=sum(left),
        sms=max(cost.sms for cost in costs),
        workspace=sum(cost.workspace for cost in costs),
        known=all(cost.known for cost in costs),
        grid=largest.grid,
        block=largest.block,
        peak_ns=sum(cost.peak_ns for cost in costs),
    )
    if any(cost.bound not in ROOFLINE for cost in costs):
        stated = next(cost.bound for cost in costs if cost.bound not in ROOFLINE)
        return dataclasses.replace(whole, bound=stated, launch_ns=max(cost.launch_ns for cost in costs))
    compute = sum(_arithmetic(cost) for cost in costs)
    if device.memory_bandwidth is not None:
        memory = sum(left) * 1e9 / (device.memory_bandwidth * device.efficiency.bandwidth)
    else:
        memory = sum(cost.memory_ns * rest / cost.bytes for cost, rest in zip(costs, left, strict=True) if cost.bytes)
    launch, slower = max(cost.launch_ns for cost in costs), max(compute, memory)
    side: BoundBy = "compute" if compute > memory else "memory"
    bound: BoundBy = "none" if all(cost.bound == "none" for cost in costs) else "launch" if launch > slower else side
    return dataclasses.replace(
        whole,
        duration=min(whole.duration, whole_ns(slower) + int(launch)),
        compute_ns=compute,
        memory_ns=memory,
        launch_ns=launch,
        bound=bound,
    )


def _arithmetic(cost: KernelCost) -> float:
    body = cost.duration - cost.launch_ns
    return body if body > max(cost.compute_ns, cost.memory_ns) + 1 else cost.compute_ns


def without_edge(variant: Variant, source: str, target: str) -> Variant:
    """Leave out that one operator waits for another: plain precedences, and the tensors that it reads from the other.

    Costs stay as they are.

    Raises
    ------
    UnknownNameError
        If an operator does not exist.
    ConfigError
        If there is no such dependency, or it comes from a buffer that both use.
    """
    graph = variant.problem.graph
    u, v = graph.id_of(source), graph.id_of(target)
    rows = [row for row in graph.dependencies() if (row.source, row.target) == (u, v)]
    if not rows:
        waits = ", ".join(graph.names[op] for op in graph.pred[v]) or "nothing"
        raise ConfigError(DROP, [Fault(f"{target!r} does not wait for {source!r}; it waits for: {waits}")])
    shared = [row.via for row in rows if row.kind not in (DependencyKind.DATA, DependencyKind.CONTROL)]
    if shared:
        message = (
            f"{source!r} and {target!r} are ordered by the buffer {shared[0]!r} that both use; that cannot be left out"
        )
        raise ConfigError(DROP, [Fault(message)])
    read = {row.via for row in rows if row.kind is DependencyKind.DATA}
    plain = _plain(graph)
    for row in plain["operators"]:
        if row["name"] == target and "inputs" in row:
            row["inputs"] = [tensor for tensor in row["inputs"] if tensor not in read]
    plain["edges"] = [edge for edge in plain.get("edges", []) if _ends(edge) != (source, target)]
    return _carried(variant, _read(plain, graph), {}, {}, ())


# --- what is fused --------------------------------------------------------------------------------------------


def _detour(graph: Graph, members: Sequence[OpId]) -> list[OpId]:
    """Return a shortest way that leaves the members and comes back to one of them, or nothing."""
    inside = frozenset(members)
    last = members[-1]
    before: dict[OpId, OpId] = {}
    frontier = []
    for op in members:
        for other in graph.succ[op]:
            if other not in inside and other not in before and other < last:
                before[other] = op
                frontier.append(other)
    while frontier:
        following = []
        for op in frontier:
            for other in graph.succ[op]:
                if other in inside:
                    way = [other, op]
                    while way[-1] not in inside or len(way) == 1:
                        way.append(before[way[-1]])
                    return way[::-1]
                if other not in before and other < last:
                    before[other] = op
                    following.append(other)
        frontier = following
    return []


def _inner_tensors(graph: Graph, members: Sequence[OpId]) -> frozenset[int]:
    """Tensors that only the members make and read: they need not be written to memory."""
    inside = frozenset(members)
    return frozenset(
        tensor
        for op in members
        for tensor in graph.outputs[op]
        if graph.tensor_kinds[tensor] is TensorKind.ACTIVATION
        and graph.tensor_consumers[tensor]
        and inside.issuperset(graph.tensor_consumers[tensor])
    )


def _inner_bytes(graph: Graph, op: OpId, members: Sequence[OpId], inner: frozenset[int]) -> int:
    """Bytes of an operator that no longer cross: what it reads from the others, and what it makes for them alone."""
    inside = frozenset(members)
    read = sum(graph.tensor_bytes[t] for t in dict.fromkeys(graph.inputs[op]) if graph.tensor_producer[t] in inside)
    return read + sum(graph.tensor_bytes[t] for t in graph.outputs[op] if t in inner)


# --- the plain form -------------------------------------------------------------------------------------------


def _plain(graph: Graph) -> dict[str, Any]:
    from simsched.graph.io import dump_graph

    return dump_graph(graph)


def _read(plain: dict[str, Any], graph: Graph) -> Graph:
    from simsched.config import Document
    from simsched.graph.io import graph_from_document

    return graph_from_document(Document(plain, graph.name))


def _ends(edge: Any) -> tuple[str, str]:
    return (edge[0], edge[1]) if isinstance(edge, list) else (edge["from"], edge["to"])


def _fused_plain(graph: Graph, members: Sequence[OpId], name: str, inner: frozenset[int]) -> dict[str, Any]:
    plain = _plain(graph)
    old = {graph.names[op] for op in members}
    rows = {row["name"]: row for row in plain["operators"]}
    row = _fused_row(graph, members, name, inner, {tensor["name"] for tensor in plain.get("tensors", [])})
    # In a topological order of the new graph, buffers that several operators use keep the order of their uses.
    order = [rows[graph.names[op]] if op >= 0 else row for op in _contracted_order(graph, members)]
    gone = {graph.tensor_names[tensor] for tensor in inner}
    plain["operators"] = order
    plain["tensors"] = [tensor for tensor in plain.get("tensors", []) if tensor["name"] not in gone]
    plain["edges"] = list(_renamed(plain.get("edges", []), old, name))
    return plain


def _fused_row(
    graph: Graph, members: Sequence[OpId], name: str, inner: frozenset[int], declared: set[str]
) -> dict[str, Any]:
    """The operator of the plain form; what an edge carries is not among its inputs and outputs there."""
    inside = frozenset(members)
    row: dict[str, Any] = {"name": name, "op_type": "+".join(graph.op_types[op] for op in members)}
    reads = [t for op in members for t in graph.inputs[op] if graph.tensor_producer[t] not in inside]
    makes = [t for op in members for t in graph.outputs[op] if t not in inner]
    for key, tensors in (("inputs", dict.fromkeys(reads)), ("outputs", dict.fromkeys(makes))):
        row[key] = [graph.tensor_names[t] for t in tensors if graph.tensor_names[t] in declared]
    demands: dict[str, int] = {}
    for op in members:
        for resource, units in graph.demands.get(op, {}).items():
            demands[resource] = max(units, demands.get(resource, 0))
    demands.pop("sms", None)  # they are in the costs, which may differ from device to device
    if demands:
        row["demands"] = demands
    for key, buffers in (("reads", graph.reads), ("writes", graph.writes)):
        used = [buffer for op in members for buffer in buffers.get(op, ())]
        if used:
            row[key] = list(dict.fromkeys(used))
    row |= _shared(graph, members, inner, declared)
    places = list(dict.fromkeys(graph.placement[op] for op in members if op in graph.placement))
    return row | ({"device": places[0]} if places else {})


def _shared(graph: Graph, members: Sequence[OpId], inner: frozenset[int], declared: set[str]) -> dict[str, Any]:
    """Outputs of the kernel that share the buffer of one of its inputs, also by way of a tensor that is gone."""
    found: dict[str, dict[str, str]] = {}
    for key, column in (("alias", graph.aliases), ("inplace", graph.inplace)):
        for output in (tensor for op in members for tensor in graph.outputs[op]):
            if output not in column or output in inner:
                continue
            source = column[output]
            while source in inner and source in graph.shares:
                source = graph.shares[source]
            names = graph.tensor_names[output], graph.tensor_names[source]
            if graph.tensor_producer[source] not in members and declared.issuperset(names):
                found.setdefault(key, {})[names[0]] = names[1]
    return dict(found)


def _contracted_order(graph: Graph, members: Sequence[OpId]) -> list[OpId]:
    """Ids in a topological order of the new graph, -1 for the members: those that need none of them come before."""
    inside = frozenset(members)
    after = bytearray(len(graph))
    for op in range(len(graph)):
        after[op] = any(before in inside or after[before] for before in graph.pred[op])
    outside = [op for op in range(len(graph)) if op not in inside]
    return [*(op for op in outside if not after[op]), -1, *(op for op in outside if after[op])]


def _renamed(edges: Iterable[Any], old: set[str], name: str) -> Iterable[Any]:
    """Edges of the new graph: those between members are gone, of equal plain ones the first is left."""
    seen: set[tuple[str, str]] = set()
    delayed: dict[tuple[str, str], dict[str, Any]] = {}
    for edge in edges:
        ends = tuple(name if end in old else end for end in _ends(edge))
        source, target = ends
        if source == target:
            continue
        if isinstance(edge, list):
            if (source, target) not in seen:
                seen.add((source, target))
                yield [source, target]
            continue
        made = {**edge, "from": source, "to": target}
        first = delayed.get((source, target))
        if "delay" in made and first is not None:  # of several delays of one pair the longest holds
            first["delay"] = max(first["delay"], made.pop("delay"))
        elif "delay" in made:
            delayed[source, target] = made
        yield made


def _carried(
    variant: Variant,
    changed: Graph,
    made: dict[str, tuple[OpId, ...]],
    costs: dict[int, KernelCost],
    allowed: tuple[int, ...],
) -> Variant:
    """Give a changed graph the costs and devices that its operators had; fused ones have theirs from ``costs``."""
    problem, graph = variant.problem, variant.problem.graph
    sources = [made.get(name) or (graph.index[name],) for name in changed.names]
    new_costs: list[dict[OpId, KernelCost]] = [{} for _ in problem.devices]
    new_allowed: dict[OpId, tuple[int, ...]] = {}
    for op, (name, old) in enumerate(zip(changed.names, sources, strict=True)):
        if name in made:
            for device, cost in costs.items():
                new_costs[device][op] = cost
            if len(allowed) < len(problem.devices):
                new_allowed[op] = allowed
            continue
        if old[0] in problem.allowed:
            new_allowed[op] = problem.allowed[old[0]]
        for column, before in zip(new_costs, problem.costs, strict=True):
            if old[0] in before:
                column[op] = before[old[0]]
    origin = [tuple(first for op in old for first in variant.origin[op]) for old in sources]
    made_of = dataclasses.replace(problem, graph=changed, costs=tuple(new_costs), allowed=new_allowed)
    return Variant(made_of, origin)
