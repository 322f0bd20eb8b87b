"""Pipelines as graphs: stages x microbatches, synthetic or from a real network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simsched.errors import Fault, GraphError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, TensorKind


def pipeline_graph(
    stages: int,
    microbatches: int,
    forward: int,
    backward: int,
    weight: int = 0,
    *,
    split: bool = False,
    activation_bytes: int = 1,
    placed: bool = True,
) -> Graph:
    """Training of equal stages: forward ``F`` and backward ``B``, or with ``split`` backward ``B`` and ``W``.

    The full backward pass takes ``backward + weight``: the gradients for the input, which the stage before waits for,
    and for the weights, which nobody waits for. Unless split, both are one operator, as in GPipe and 1F1B.

    Operators are named ``F<stage>.<microbatch>`` and so on, and carry ``stage``, ``microbatch`` and ``phase`` as
    attributes. An activation of ``activation_bytes`` is made by F and held until the last of B and W of the same stage
    and microbatch has ended; what crosses from stage to stage has no size, so that communication costs nothing.

    Parameters
    ----------
    stages, microbatches : int
        At least 1 each.
    forward, backward, weight : int
        Ticks per stage and microbatch.
    split : bool
        Whether the gradients for the weights are operators ``W`` of their own, after their ``B``.
    activation_bytes : int
        Size of what a stage keeps of one microbatch.
    placed : bool
        Whether stage s may run on device ``p<s>`` only.

    Returns
    -------
    Graph
        In ticks.

    Raises
    ------
    GraphError
        If there are no stages or microbatches.
    """
    name = f"pipeline_{stages}x{microbatches}"
    if stages < 1 or microbatches < 1:
        raise GraphError(
            name, [Fault(f"a pipeline needs at least 1 stage and 1 microbatch, got {stages} and {microbatches}")]
        )
    builder = GraphBuilder(name, time_unit="tick")
    for stage in range(stages):
        for batch in range(microbatches):
            builder.add_tensor(f"A{stage}.{batch}", bytes=activation_bytes)

    def add(
        phase: str, stage: int, batch: int, duration: int, reads: list[str], makes: list[str], after: list[str]
    ) -> None:
        builder.add_op(
            f"{phase}{stage}.{batch}",
            {"F": "Forward", "B": "Backward", "W": "WeightGradient"}[phase],
            duration=duration,
            inputs=reads,
            outputs=makes,
            after=after,
            attributes={"stage": stage, "microbatch": batch, "phase": phase},
            device=f"p{stage}" if placed else None,
        )

    for batch in range(microbatches):
        for stage in range(stages):
            after = [f"F{stage - 1}.{batch}"] if stage else []
            add("F", stage, batch, forward, [], [f"A{stage}.{batch}"], after)
        for stage in reversed(range(stages)):
            after = [f"B{stage + 1}.{batch}"] if stage + 1 < stages else []
            add("B", stage, batch, backward + (0 if split else weight), [f"A{stage}.{batch}"], [], after)
            if split:
                add("W", stage, batch, weight, [f"A{stage}.{batch}"], [], [f"B{stage}.{batch}"])
    return builder.build()


def microbatched(graph: Graph, microbatches: int) -> Graph:
    """Copy a graph once per microbatch; parameters are shared, all else (named buffers too) is separate.

    The copies are named ``mb<k>/<name>`` and carry ``microbatch`` and ``copy_of`` as attributes. Each copy does the
    work of the whole graph: the result is ``microbatches`` times as much work, not the same work cut into pieces.

    Raises
    ------
    GraphError
        If there is no microbatch.
    """
    if microbatches < 1:
        raise GraphError(graph.name, [Fault(f"expected at least 1 microbatch, got {microbatches}")])
    builder = GraphBuilder(f"{graph.name} x {microbatches} microbatches", graph.time_unit)
    builder.native = graph.native
    builder.notes += graph.notes
    parameter = [kind is TensorKind.PARAMETER for kind in graph.tensor_kinds]
    for tensor, name in enumerate(graph.tensor_names):
        if parameter[tensor]:
            _declare(builder, graph, tensor, name)
    for batch in range(microbatches):
        prefix = f"mb{batch}/"
        names = [name if parameter[tensor] else prefix + name for tensor, name in enumerate(graph.tensor_names)]
        for tensor, name in enumerate(names):
            if not parameter[tensor]:
                _declare(builder, graph, tensor, name)
        for op in range(len(graph)):
            builder.add_op(prefix + graph.names[op], graph.op_types[op], **_copied(graph, op, names, prefix, batch))
        for (u, v), delay in graph.delays.items():
            builder.add_edge(prefix + graph.names[u], prefix + graph.names[v], delay=delay)
    return builder.build()


def _declare(builder: GraphBuilder, graph: Graph, tensor: int, name: str) -> None:
    builder.add_tensor(
        name,
        bytes=graph.tensor_bytes[tensor],
        shape=graph.tensor_shapes[tensor],
        dtype=graph.tensor_dtypes[tensor],
        kind=graph.tensor_kinds[tensor],
    )


def _shared(column: Mapping[int, int], graph: Graph, op: int, tensors: list[str]) -> dict[str, str]:
    return {tensors[tensor]: tensors[column[tensor]] for tensor in graph.outputs[op] if tensor in column}


def _copied(graph: Graph, op: int, tensors: list[str], prefix: str, batch: int) -> dict[str, Any]:
    carried = {source for tensor in graph.inputs[op] if (source := graph.tensor_producer[tensor]) >= 0}
    return {
        "duration": graph.device_durations.get(op, graph.durations[op]),
        "inputs": [tensors[tensor] for tensor in graph.inputs[op]],
        "outputs": [tensors[tensor] for tensor in graph.outputs[op]],
        "attributes": {**graph.attributes.get(op, {}), "microbatch": batch, "copy_of": graph.names[op]},
        "demands": graph.demands.get(op),
        "reads": [prefix + name for name in graph.reads.get(op, ())],
        "writes": [prefix + name for name in graph.writes.get(op, ())],
        "after": [prefix + graph.names[source] for source in graph.pred[op] if source not in carried],
        "device": graph.placement.get(op),
        "flops": graph.flops.get(op),
        "traffic": graph.traffic.get(op),
        "workspace": graph.workspace.get(op),
        "alias": _shared(graph.aliases, graph, op, tensors),
        "inplace": _shared(graph.inplace, graph, op, tensors),
    }
