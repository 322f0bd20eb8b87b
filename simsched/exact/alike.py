"""Operators that nothing tells apart: plans that exchange them are the same plan, so one order of them is enough."""

from __future__ import annotations

from collections.abc import Hashable

from simsched.graph.model import OpId
from simsched.problem import Problem


def alike(problem: Problem) -> list[list[OpId]]:
    """Groups of two or more operators with the same neighbours, costs, demands, tensors and devices, ids ascending."""
    groups: dict[Hashable, list[OpId]] = {}
    for op in range(len(problem.graph)):
        groups.setdefault(_marks(problem, op), []).append(op)
    return [group for group in groups.values() if len(group) > 1]


def _marks(problem: Problem, op: OpId) -> Hashable:
    """All that a plan depends on of one operator; its id where it shares a buffer, which has one owner."""
    graph = problem.graph
    if any(tensor in graph.sharing for tensor in (*graph.inputs[op], *graph.outputs[op])):
        return op
    devices = problem.allowed_devices(op)
    return (
        tuple(graph.pred[op]),
        tuple(graph.succ[op]),
        devices,
        tuple(problem.durations(device)[op] for device in devices),
        tuple(tuple(sorted(problem.demands_on(device).get(op, {}).items())) for device in devices),
        tuple(problem.workspace(op, device) for device in devices),
        tuple(sorted(set(graph.inputs[op]))),
        tuple(
            sorted((graph.tensor_bytes[t], graph.tensor_kinds[t], graph.tensor_consumers[t]) for t in graph.outputs[op])
        ),
        tuple(graph.delays.get((before, op), 0) for before in graph.pred[op]),
        tuple(graph.delays.get((op, after), 0) for after in graph.succ[op]),
    )
