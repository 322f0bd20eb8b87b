"""Graphs of one operator, for tests of what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simsched.cost.registry import DEFAULT, Registry, work_of
from simsched.cost.work import Work
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph

Shape = Sequence[int]
Typed = Shape | tuple[str, Shape]


def one_op(op_type: str, inputs: Sequence[Typed], *outputs: Typed, **attributes: Any) -> Graph:
    """Build a graph of one operator; a tensor is its shape, or ``(dtype, shape)``, fp32 by default."""
    builder = GraphBuilder("one")
    names: dict[str, list[str]] = {"in": [], "out": []}
    for side, tensors in (("in", inputs), ("out", outputs)):
        for number, typed in enumerate(tensors):
            dtype, shape = (typed[0], typed[1]) if typed and isinstance(typed[0], str) else ("fp32", typed)
            names[side].append(builder.add_tensor(f"{side}{number}", shape=shape, dtype=dtype))  # type: ignore[arg-type]
    builder.add_op("op", op_type, inputs=names["in"], outputs=names["out"], attributes=attributes)
    return builder.build()


def work(
    op_type: str, inputs: Sequence[Typed], *outputs: Typed, registry: Registry = DEFAULT, **attributes: Any
) -> Work:
    """Count one operator."""
    return work_of(one_op(op_type, inputs, *outputs, **attributes), 0, registry)
