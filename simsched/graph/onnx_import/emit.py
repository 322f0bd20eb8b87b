"""From a walk to a graph: operators, tensors and attributes as the rest of simsched knows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import TensorKind
from simsched.graph.onnx_import.attributes import plain_attributes, tensor_values
from simsched.graph.onnx_import.constants import host_slots
from simsched.graph.onnx_import.inference import qualified
from simsched.graph.onnx_import.steps import Body, Step, Walk
from simsched.graph.onnx_import.unknowns import no_size
from simsched.graph.onnx_import.values import Value
from simsched.graph.onnx_import.walk import Walker

VIEWS = frozenset(("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"))
"""Operators whose output shares the buffer of their first input; a dense tensor stays as it is under another shape."""


@dataclass(frozen=True, slots=True)
class Row:
    """One operator, ready to be added."""

    name: str
    op_type: str
    inputs: list[Value]
    outputs: list[Value]
    attributes: dict[str, Any]


def row_of(walker: Walker, step: Step) -> Row:
    """Describe a step: constants that only say how to compute become attributes, the rest stays input."""
    attributes = plain_attributes(step.node)
    schema = walker.inferrer.schema(step.node)
    hosts = host_slots(step.node)
    slots, inputs = [], []
    for slot, value in enumerate(step.inputs):
        if value is None:
            continue
        data = walker.calculator.data(value) if slot in hosts and value.constant else None
        stated = None if data is None else tensor_values(data)
        if stated is not None and schema is not None:
            attributes[schema.inputs[min(slot, len(schema.inputs) - 1)].name] = stated
            continue
        slots.append(slot)
        inputs.append(value)
    if slots != list(range(len(slots))):
        attributes["input_slots"] = slots
    if step.bodies:
        attributes["bodies"] = [_body_row(walker, body) for body in step.bodies]
    outputs = [value for value in step.outputs if value is not None and value.complete]
    return Row(step.name, qualified(step.node), [*inputs, *step.extra], outputs, attributes)


def _body_row(walker: Walker, body: Body) -> dict[str, Any]:
    rows = [row_of(walker, step) for step in body.walk.steps]
    return {"name": body.name, "trips": body.trips, "operators": [_plain_row(row) for row in rows]}


def _plain_row(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": row.name,
        "op_type": row.op_type,
        "inputs": [_plain_tensor(value) for value in row.inputs],
        "outputs": [_plain_tensor(value) for value in row.outputs],
    }
    return {**found, "attributes": row.attributes} if row.attributes else found


def _plain_tensor(value: Value) -> list[Any]:
    shape = None if value.shape is None else list(value.shape)
    return [value.name, value.bytes if value.complete else 0, shape, value.dtype]


def emit(walker: Walker, walk: Walk, builder: GraphBuilder) -> None:
    """Add all operators of a walk, and the tensors that they touch."""
    rows = [row_of(walker, step) for step in walk.steps]
    _refuse_sizeless(walker, rows)
    used = {id(value) for row in rows for value in row.inputs}
    results = {id(value) for value in walk.outputs if value is not None}
    given = {id(value) for value in walk.inputs}
    for value in walk.inputs:
        if id(value) in used:
            _add(builder, value, TensorKind.INPUT)
    unused = [value.name for value in walk.inputs if id(value) not in used and id(value) not in results]
    if unused:
        builder.notes.append(f"inputs that nothing reads are left out: {_listed(unused)}")
    added = set(given)
    for step, row in zip(walk.steps, rows, strict=True):
        for value in row.inputs:
            if value.constant and id(value) not in added:
                added.add(id(value))
                _add(builder, value, TensorKind.PARAMETER)
        for value in row.outputs:
            _add(builder, value, TensorKind.OUTPUT if id(value) in results else TensorKind.ACTIVATION)
        builder.add_op(
            row.name,
            row.op_type,
            inputs=[value.name for value in row.inputs],
            outputs=[value.name for value in row.outputs],
            attributes=row.attributes,
            workspace=max((_peak(body.walk) for body in step.bodies), default=0) or None,
            alias=_views(row),
        )
    made = {id(value) for row in rows for value in row.outputs}
    fixed = [value.name for value in walk.outputs if value is not None and id(value) not in made]
    if fixed:
        builder.notes.append(f"outputs that no operator makes are left out: {_listed(fixed)}")


def _views(row: Row) -> dict[str, str] | None:
    """The output of an operator that only looks at its input in another way, to that input."""
    if row.op_type not in VIEWS or len(row.outputs) != 1 or not row.inputs:
        return None
    (output,), source = row.outputs, row.inputs[0]
    same = output.bytes == source.bytes and output.dtype == source.dtype
    return {output.name: source.name} if same else None


def _refuse_sizeless(walker: Walker, rows: Iterable[Row]) -> None:
    """Refuse constants of types without a size; every other value was complained about where it was made."""
    sizeless = {id(value): value for row in rows for value in row.inputs if not value.complete}
    for value in sizeless.values():
        walker.fault(f"tensor {value.name!r} {no_size(value) or 'has unknown shape'}")
    walker.finish()


def _add(builder: GraphBuilder, value: Value, kind: TensorKind) -> None:
    builder.add_tensor(value.name, bytes=value.bytes, shape=value.shape, dtype=value.dtype, kind=kind)


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return ", ".join(map(repr, listed[:5])) + more


def _peak(walk: Walk) -> int:
    """Return the most bytes alive at a time inside a body, run in its order, its results left out."""
    keep = {id(value) for value in walk.outputs if value is not None}
    last: dict[int, int] = {}
    for number, step in enumerate(walk.steps):
        for value in (*step.inputs, *step.extra):
            if value is not None:
                last[id(value)] = number
    live: dict[int, int] = {}
    peak = 0
    for number, step in enumerate(walk.steps):
        made = [one for one in step.outputs if one is not None and one.complete and id(one) not in keep]
        live.update((id(value), value.bytes) for value in made)
        inner = max((_peak(body.walk) for body in step.bodies), default=0)
        peak = max(peak, sum(live.values()) + inner)
        live = {key: size for key, size in live.items() if last.get(key, number) > number}
    return peak
