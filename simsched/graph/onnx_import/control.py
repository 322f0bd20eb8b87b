"""Control flow: ``If``, ``Loop`` and ``Scan`` as one operator each.

The rule: an ``If`` costs its dearest branch (the only one, where the condition is a constant); a ``Loop`` costs
its body times its trips, which are its constant trip count or ``--dim NAME=TRIPS``, as if it never ended early;
a ``Scan`` costs its body times the length of what it scans. Bodies are costed at the shapes of the first trip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import onnx

from simsched.graph.onnx_import.dimensions import quoted
from simsched.graph.onnx_import.reading import free_inputs
from simsched.graph.onnx_import.steps import Body, Step, Walk
from simsched.graph.onnx_import.values import Value, make_type, partial_shape, tensor_type

if TYPE_CHECKING:
    from simsched.graph.onnx_import.walk import Walker

CONTROL = ("If", "Loop", "Scan")
ENDLESS = 2**31
"""Trip counts from here on mean "until the condition fails"."""

Types = dict[str, onnx.TypeProto]
Scope = Mapping[str, Value]
MaybeType = onnx.TypeProto | None
Graphs = Mapping[str, onnx.GraphProto]


def control(walker: Walker, step: Step, scope: Scope) -> Types:
    """Walk through the bodies of a control-flow node; returns the types of its outputs."""
    graphs = {item.name: item.g for item in step.node.attribute if item.type == onnx.AttributeProto.GRAPH}
    wanted = ("then_branch", "else_branch") if step.node.op_type == "If" else ("body",)
    lacking = [name for name in wanted if name not in graphs]
    if lacking:
        walker.fault(f"operator {step.name!r} ({step.node.op_type}) lacks its graph {lacking[0]!r}")
        return {}
    kinds = {"If": _if, "Loop": _loop, "Scan": _scan}
    types = kinds[step.node.op_type](walker, step, graphs, scope)
    step.extra = _from_outside(step)
    return {name: one for name, one in zip(step.node.output, types, strict=False) if name and one is not None}


def _from_outside(step: Step) -> list[Value]:
    """Return what the bodies read from outside beside the operator's own inputs, their constants included."""
    own = {id(value) for value in step.inputs if value is not None}
    found: dict[int, Value] = {}
    for body in step.bodies:
        walk = body.walk
        inside = {id(value) for value in walk.inputs}
        inside |= {id(value) for inner in walk.steps for value in inner.outputs if value is not None}
        used = [value for inner in walk.steps for value in (*inner.inputs, *inner.extra)] + list(walk.outputs)
        found |= {id(one): one for one in used if one is not None and id(one) not in inside and id(one) not in own}
    return list(found.values())


def _if(walker: Walker, step: Step, graphs: Graphs, scope: Scope) -> list[MaybeType]:
    condition = walker.calculator.integers(step.inputs[0] if step.inputs else None)
    chosen = ["then_branch", "else_branch"]
    if condition is not None and len(condition) == 1:
        chosen = [chosen[0] if condition[0] else chosen[1]]
        walker.notes.append(f"condition of {step.name!r} is constant: only its {chosen[0]} counts")
    for name in chosen:
        walk = _walked(walker, step, graphs[name], scope, [], f"{name}/")
        step.bodies.append(Body(name, 1, walk))
    results = [body.walk.outputs for body in step.bodies]
    return [_either([value.type for value in values if value is not None]) for values in zip(*results, strict=False)]


def _either(types: Sequence[MaybeType]) -> MaybeType:
    """Return the type that holds the result of either branch: the larger size in each dimension."""
    shapes = [shape for shape in map(partial_shape, types) if shape is not None]
    codes = {tensor.elem_type for tensor in map(tensor_type, types) if tensor is not None}
    if len(shapes) < len(types) or len(set(map(len, shapes))) != 1 or len(codes) != 1:
        return types[0] if len(types) == 1 else None
    return make_type(codes.pop(), tuple(map(_largest, zip(*shapes, strict=True))))


def _largest(sizes: tuple[int | None, ...]) -> int | None:
    """Return the largest of some sizes, None where one of them is unknown."""
    known = [size for size in sizes if size is not None]
    return max(known) if len(known) == len(sizes) else None


def _loop(walker: Walker, step: Step, graphs: Graphs, scope: Scope) -> list[MaybeType]:
    body, trips = graphs["body"], _trips(walker, step)
    carried = step.inputs[2:]
    names = _input_names(body)
    given = [
        Value(f"{step.name}/{names[0]}" if names else "", make_type(onnx.TensorProto.INT64, ())),
        Value(f"{step.name}/{names[1]}" if len(names) > 1 else "", make_type(onnx.TensorProto.BOOL, ())),
        *_handed_over(step, names[2:], carried),
    ]
    walk = _walked(walker, step, body, scope, given)
    step.bodies.append(Body("body", trips, walk))
    states = [_kept(walker, step, before, after) for before, after in zip(carried, walk.outputs[1:], strict=False)]
    return states + [_stacked(value, trips, 0) for value in walk.outputs[1 + len(carried) :]]


def _trips(walker: Walker, step: Step) -> int:
    stated = walker.dimensions.trips(step.name)
    if stated is not None:
        return stated
    counts = walker.calculator.integers(step.inputs[0] if step.inputs else None)
    if counts is not None and len(counts) == 1 and counts[0] < ENDLESS:
        return max(counts[0], 0)
    walker.fault(f"loop {step.name!r} runs as often as its data says; write for example --dim {quoted(step.name)}=10")
    return 1


def _scan(walker: Walker, step: Step, graphs: Graphs, scope: Scope) -> list[MaybeType]:
    body, integers = graphs["body"], {item.name: list(item.ints) for item in step.node.attribute}
    count = next((item.i for item in step.node.attribute if item.name == "num_scan_inputs"), 0)
    names = _input_names(body)
    batched = walker.inferrer.version(step.node) < 9  # then: sequence lengths first, and a batch before each axis
    values = step.inputs[1:] if batched else step.inputs
    states, scanned = values[: len(values) - count], values[len(values) - count :]
    axes = integers.get("scan_input_axes") or [0] * count
    lead = 1 if batched else 0
    lengths = [_size(value, axis + lead) for value, axis in zip(scanned, axes, strict=False)]
    trips = next((length for length in lengths if length is not None), 1)
    batch = next((_size(value, 0) or 1 for value in scanned), 1) if batched else 1
    given = _handed_over(step, names, states, drop=[0] if batched else [])
    for name, value, axis in zip(names[len(states) :], scanned, axes, strict=False):
        given.append(_without(f"{step.name}/{name}", value, sorted({0, axis + 1} if batched else {axis})))
    walk = _walked(walker, step, body, scope, given)
    step.bodies.append(Body("body", trips * batch, walk))
    outputs = integers.get("scan_output_axes") or [0] * len(walk.outputs)
    types = [
        _kept(walker, step, before, after, batch if batched else None)
        for before, after in zip(states, walk.outputs, strict=False)
    ]
    stacked = [_stacked(value, trips, axis) for value, axis in zip(walk.outputs[len(states) :], outputs, strict=False)]
    return types + ([_with_batch(one, batch) for one in stacked] if batched else stacked)


def _walked(
    walker: Walker, step: Step, body: onnx.GraphProto, scope: Scope, given: list[Value], branch: str = ""
) -> Walk:
    count = len(free_inputs(body))
    if count == len(given):
        return walker.walk(body, scope, given, f"{step.name}/{branch}")
    walker.fault(f"the body of operator {step.name!r} has {count} inputs, and {len(given)} are handed to it")
    return Walk([], given, [])


def _input_names(body: onnx.GraphProto) -> list[str]:
    return [info.name for info in free_inputs(body)]


def _handed_over(
    step: Step, names: Sequence[str], values: Sequence[Value | None], drop: Sequence[int] = ()
) -> list[Value]:
    """Return the values that a body starts from: the types of those outside, but no constants."""
    return [_without(f"{step.name}/{name}", value, drop) for name, value in zip(names, values, strict=False)]


def _without(name: str, value: Value | None, axes: Sequence[int]) -> Value:
    """Return a value of the same type without some axes."""
    shape = None if value is None else partial_shape(value.type)
    if value is None or not axes or shape is None:
        return Value(name, None if value is None else value.type)
    return Value(name, make_type(value.code, tuple(size for axis, size in enumerate(shape) if axis not in axes)))


def _size(value: Value | None, axis: int) -> int | None:
    shape = None if value is None else partial_shape(value.type)
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def _kept(walker: Walker, step: Step, before: Value | None, after: Value | None, batch: int | None = None) -> MaybeType:
    """Return the type of a carried value after the last trip: known where a trip does not change its shape."""
    if after is None or before is None:
        return None
    result = after.type if batch is None else _with_batch(after.type, batch)
    if partial_shape(before.type) == partial_shape(result):
        return result
    walker.notes.append(f"{step.name!r} changes the shape of {before.name!r} from trip to trip; costed as in the first")
    return make_type(after.code, None)


def _stacked(value: Value | None, trips: int, axis: int) -> MaybeType:
    """Return the type of a result that every trip adds to."""
    shape = None if value is None else partial_shape(value.type)
    if value is None or shape is None:
        return None if value is None else make_type(value.code, None)
    place = axis if axis >= 0 else axis + len(shape) + 1
    return make_type(value.code, (*shape[:place], trips, *shape[place:]))


def _with_batch(proto: MaybeType, batch: int) -> MaybeType:
    shape, tensor = partial_shape(proto), tensor_type(proto)
    return proto if shape is None or tensor is None else make_type(tensor.elem_type, (batch, *shape))
