"""Totals of a graph: parameters, FLOPs, bytes, and what is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from simsched.cost.registry import DEFAULT, Registry, work_of
from simsched.graph.model import Graph, TensorKind

NOT_WEIGHTS = ("int64", "int32", "uint64", "uint32", "bool")
"""Types of shapes, indices and masks."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a graph.

    Attributes
    ----------
    operators : int
    parameters, parameter_bytes : int
        Weights: parameter tensors of at least one dimension whose type is not one of indices or masks.
    flops : int
        Of all operators.
    matrix_flops : int
        Of operators on the matrix unit: 2 x the multiply-adds that papers quote.
    bytes : int
        Traffic of all operators.
    unknown : mapping of str to int
        Operators of unknown cost by operator type.
    """

    operators: int
    parameters: int
    parameter_bytes: int
    flops: int
    matrix_flops: int
    bytes: int
    unknown: Mapping[str, int]


def parameter_count(graph: Graph) -> int:
    """Return the number of weights: elements of parameter tensors.

    Scalars are constants of formulas, and integer and bool tensors are shapes, indices and masks; none of them count.
    """
    return sum(elements for elements, _ in _weights(graph))


def _weights(graph: Graph) -> list[tuple[int, int]]:
    return [
        (prod(shape), size)
        for kind, shape, dtype, size in zip(
            graph.tensor_kinds, graph.tensor_shapes, graph.tensor_dtypes, graph.tensor_bytes, strict=True
        )
        if kind is TensorKind.PARAMETER and shape and dtype not in NOT_WEIGHTS
    ]


def totals(graph: Graph, registry: Registry = DEFAULT) -> Totals:
    """Add up the work of all operators of a graph."""
    works = [work_of(graph, op, registry) for op in range(len(graph))]
    weights = _weights(graph)
    unknown: dict[str, int] = {}
    for op_type, work in zip(graph.op_types, works, strict=True):
        if not work.known:
            unknown[op_type] = unknown.get(op_type, 0) + 1
    return Totals(
        operators=len(graph),
        parameters=sum(elements for elements, _ in weights),
        parameter_bytes=sum(size for _, size in weights),
        flops=sum(work.flops for work in works),
        matrix_flops=sum(work.flops for work in works if work.unit == "matrix"),
        bytes=sum(work.bytes for work in works),
        unknown=unknown,
    )
