"""The walk: node by node through a graph, giving every value its type and shape.

Shapes are inferred one node at a time (onnx's own inference, with the values of the few small constants that
decide shapes), so that weights are never needed, no model is too large, and an unknown shape is reported at the
node where it begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx

from simsched.errors import ConfigError, Fault, suggest
from simsched.graph.onnx_import.constants import STANDARD, Calculator, folds
from simsched.graph.onnx_import.control import CONTROL, control
from simsched.graph.onnx_import.dimensions import Dimensions
from simsched.graph.onnx_import.inference import Inferrer
from simsched.graph.onnx_import.order import needs, node_names, reading_order
from simsched.graph.onnx_import.reading import free_inputs
from simsched.graph.onnx_import.steps import Step, Walk
from simsched.graph.onnx_import.unknowns import why_unknown
from simsched.graph.onnx_import.values import Value, make_type, merged, small, tensor_type

DEEPEST = 16
"""Levels of control flow inside control flow."""


class Walker:
    """Walks through the graphs of one model.

    Parameters
    ----------
    model : ModelProto
    source : str
        Its path.
    dimensions : Dimensions
    """

    def __init__(self, model: onnx.ModelProto, source: str, dimensions: Dimensions) -> None:
        self.source = source
        self.dimensions = dimensions
        self.calculator = Calculator(model.opset_import, str(Path(source).parent))
        self.inferrer = Inferrer(model, self.calculator)
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.folded = 0
        self.after_unknown: list[str] = []
        self._depth = 0

    def fault(self, message: str) -> None:
        """Record one thing that is wrong with the model."""
        self.faults.append(Fault(message))

    def finish(self) -> None:
        """Raise everything that was recorded.

        Raises
        ------
        ConfigError
        """
        count = len(self.after_unknown)
        if count:
            more, plural = "more " if self.faults else "", "s" if count > 1 else ""
            self.fault(
                f"the shapes of {count} {more}tensor{plural} depend on unknown ones, {self.after_unknown[0]!r} first"
            )
        if self.faults:
            raise ConfigError(self.source, self.faults)

    def walk(
        self, graph: onnx.GraphProto, outer: Mapping[str, Value], inputs: Sequence[Value], prefix: str = ""
    ) -> Walk:
        """Walk through a graph.

        Parameters
        ----------
        graph : GraphProto
        outer : mapping of str to Value
            What the graph may read from outside.
        inputs : sequence of Value
            One for each input of the graph that is not an initializer.
        prefix : str
            Goes before the names of nodes and values.
        """
        if self._depth >= DEEPEST:
            self.fault(f"control flow is nested more than {DEEPEST} deep at {prefix!r}")
            return Walk([], list(inputs), [])
        self._depth += 1
        scope = dict(outer)
        scope.update(self._initializers(graph, prefix))
        scope.update(zip((info.name for info in free_inputs(graph)), inputs, strict=True))
        steps = self._steps(graph, scope, prefix)
        outputs = [scope.get(info.name) for info in graph.output]
        self._depth -= 1
        return Walk(steps, list(inputs), outputs)

    def _initializers(self, graph: onnx.GraphProto, prefix: str) -> dict[str, Value]:
        found = {tensor.name: self.constant(tensor, prefix + tensor.name) for tensor in graph.initializer}
        for sparse in graph.sparse_initializer:
            value = Value(prefix + sparse.values.name, make_type(sparse.values.data_type, tuple(sparse.dims)), True)
            parts = [self.constant(part, "") for part in (sparse.values, sparse.indices)]
            value.size = sum(part.bytes for part in parts) if all(part.complete for part in parts) else None
            found[sparse.values.name] = value
        return found

    def constant(self, tensor: onnx.TensorProto, name: str) -> Value:
        """Turn a stored tensor into a value; its data is kept where it is small and at hand."""
        dims = tuple(tensor.dims)
        if any(size < 0 for size in dims):
            self.fault(f"constant {name!r} has a negative dimension: {list(dims)}")
            return Value(name, make_type(tensor.data_type, None), constant=True)
        value = Value(name, make_type(tensor.data_type, dims), constant=True)
        if small(dims):
            inside = tensor.data_location != onnx.TensorProto.EXTERNAL
            value.data, value.stored = (tensor, None) if inside else (None, tensor)
        return value

    def _steps(self, graph: onnx.GraphProto, scope: dict[str, Value], prefix: str) -> list[Step]:
        declared = {info.name: info.type for info in (*graph.value_info, *graph.output)}
        used = {name for node in graph.node for name in needs(node)} | {info.name for info in graph.output}
        names = node_names(graph.node, prefix)
        self._check_structure(graph, names, scope)
        steps = []
        for number in reading_order(graph.node, names, self.source):
            step = self._step(graph.node[number], names[number], scope, prefix)
            self._give_types(step, scope, declared, used)
            if folds(step.node, step.inputs):
                self.folded += 1
            else:
                steps.append(step)
        return steps

    def _check_structure(self, graph: onnx.GraphProto, names: Sequence[str], scope: Mapping[str, Value]) -> None:
        """Refuse a graph in which a name has two makers or none."""
        before = len(self.faults)
        maker = {item.name: "an initializer" for item in graph.initializer}
        maker = {info.name: "a graph input" for info in graph.input} | maker
        for node, name in zip(graph.node, names, strict=True):
            for item in node.output:
                if item in maker:
                    self.fault(f"tensor {item!r} is made twice: by operator {name!r} and by {maker[item]}")
                elif item:
                    maker[item] = f"operator {name!r}"
        known = {**scope, **maker}
        readers = [(f"operator {name!r} reads", node.input) for node, name in zip(graph.node, names, strict=True)]
        for who, items in [*readers, ("the graph returns", [info.name for info in graph.output])]:
            for item in items:
                if item and item not in known:
                    self.fault(f"{who} {item!r}, which nothing makes; {suggest(item, known)}")
        if len(self.faults) > before:
            raise ConfigError(self.source, self.faults)

    def _step(self, node: onnx.NodeProto, name: str, scope: Mapping[str, Value], prefix: str) -> Step:
        inputs = [scope[item] if item else None for item in node.input]
        constant = folds(node, inputs)
        if constant and node.op_type == "Identity" and len(node.input) == len(node.output) == 1:
            return Step(name, node, inputs, list(inputs))  # another name of the same constant, not a second one
        outputs: list[Value | None] = []
        for position, item in enumerate(node.output):
            value = Value(prefix + item, constant=constant) if item else None
            if value is not None and constant:
                value.maker = (node, inputs, position)
            outputs.append(value)
        return Step(name, node, inputs, outputs)

    def _give_types(
        self, step: Step, scope: dict[str, Value], declared: Mapping[str, onnx.TypeProto], used: set[str]
    ) -> None:
        before = len(self.faults)
        if step.node.op_type in CONTROL and step.node.domain in STANDARD:
            types, problem = control(self, step, scope), ""
        else:
            types, problem = self.inferrer.outputs(step.node, step.inputs)
        broken = len(self.faults) > before
        for name, value in zip(step.node.output, step.outputs, strict=True):
            if value is None:
                continue
            known = merged(types.get(name), self.dimensions.resolved(name, declared.get(name, onnx.TypeProto())))
            value.set_type(self._typed(step, name, known))
            scope[name] = value
            if not value.complete and name in used:
                self._unknown(step, value, problem, consequence=broken)

    def _typed(self, step: Step, name: str, proto: onnx.TypeProto | None) -> onnx.TypeProto | None:
        """Put stated axes into a type, and an element type where only the shape is known."""
        if proto is None or not proto.WhichOneof("value"):
            proto = make_type(0, None)
        proto = self.dimensions.resolved(name, proto)
        tensor = tensor_type(proto)
        if tensor is not None and not tensor.elem_type:
            code = next((value.code for value in step.inputs if value is not None and value.code), 0)
            if code:
                tensor.elem_type = code
                self.notes.append(f"element type of {name!r} taken from the inputs of operator {step.name!r}")
        return proto

    def _unknown(self, step: Step, value: Value, problem: str, *, consequence: bool) -> None:
        if consequence or any(one is not None and not one.complete for one in step.inputs):
            self.after_unknown.append(value.name)
        else:
            self.fault(why_unknown(step, value, problem))
