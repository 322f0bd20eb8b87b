"""Types of one node's outputs from those of its inputs."""

from __future__ import annotations

import re
from collections.abc import Sequence

import onnx
import onnx.checker
import onnx.defs
import onnx.shape_inference

from simsched.graph.onnx_import.constants import Calculator, host_slots
from simsched.graph.onnx_import.reading import first_line
from simsched.graph.onnx_import.values import Value, partial_shape

Types = dict[str, onnx.TypeProto]

# What onnx's inference raises on a node that makes no sense.
TROUBLES = (
    onnx.shape_inference.InferenceError,
    onnx.checker.ValidationError,
    RuntimeError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
)


class Inferrer:
    """Infers the outputs of single nodes.

    Parameters
    ----------
    model : ModelProto
        Gives the operator sets.
    calculator : Calculator
    """

    def __init__(self, model: onnx.ModelProto, calculator: Calculator) -> None:
        self._opsets = list(model.opset_import)
        self._versions = {entry.domain: entry.version for entry in self._opsets}
        self._ir_version = model.ir_version or onnx.IR_VERSION
        self._calculator = calculator

    def outputs(self, node: onnx.NodeProto, inputs: Sequence[Value | None]) -> tuple[Types, str]:
        """Return the types of a node's outputs, as far as they can be known, and what stood in the way."""
        schema = self.schema(node)
        if schema is None:
            return {}, self._why_no_schema(node)
        given = {name: value for name, value in zip(node.input, inputs, strict=False) if name and value is not None}
        types = {name: value.type for name, value in given.items() if value.type is not None}
        if len(types) < len(given):
            return {}, ""
        data = self._data(node, inputs)
        try:
            found: Types = onnx.shape_inference.infer_node_outputs(
                schema, node, types, data, None, self._opsets, self._ir_version
            )
        except TROUBLES as error:
            # Before onnx 1.17 an input that is left out is a trouble here, and none there.
            return self._by_model(node, types, data), _plain(error)
        if any(name and partial_shape(found.get(name)) is None for name in node.output):
            ranked = {name: one for name, one in found.items() if partial_shape(one) is not None}
            found = {**found, **self._by_model(node, types, data), **ranked}
        return found, ""

    def _why_no_schema(self, node: onnx.NodeProto) -> str:
        text = f"onnx has no operator type {qualified(node)!r}"
        newest, used = onnx.defs.onnx_opset_version(), self.version(node)
        if node.domain in ("", "ai.onnx") and used > newest:
            known = f"onnx {onnx.__version__} knows up to {newest}: install a newer one"
            text += f"; the model uses operator set {used}, {known}"
        return text

    def version(self, node: onnx.NodeProto) -> int:
        """Return the version of the operator set that a node belongs to; the newest where the model does not say."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        stated = self._versions.get(domain) or (0 if domain else self._versions.get("ai.onnx"))
        return stated or onnx.defs.onnx_opset_version()

    def schema(self, node: onnx.NodeProto) -> onnx.defs.OpSchema | None:
        """Return onnx's description of an operator type in the model's operator set, or None."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        try:
            return onnx.defs.get_schema(node.op_type, self.version(node), domain)
        except (onnx.defs.SchemaError, ValueError, TypeError, RuntimeError):
            return None

    def _data(self, node: onnx.NodeProto, inputs: Sequence[Value | None]) -> dict[str, onnx.TensorProto]:
        found = {}
        for slot in host_slots(node):
            if slot < len(inputs):
                data = self._calculator.data(inputs[slot])
                if data is not None:
                    found[node.input[slot]] = data
        return found

    def _by_model(self, node: onnx.NodeProto, types: Types, data: dict[str, onnx.TensorProto]) -> Types:
        """Infer through a model of this one node: operator types that are functions are expanded there."""
        inputs = [onnx.helper.make_value_info(name, proto) for name, proto in types.items()]
        outputs = [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name]
        stored = []
        for name, tensor in data.items():
            stored.append(onnx.TensorProto())
            stored[-1].CopyFrom(tensor)
            stored[-1].name = name
        graph = onnx.helper.make_graph([node], "node", inputs, outputs, stored)
        model = onnx.helper.make_model(graph, opset_imports=self._opsets, ir_version=self._ir_version)
        try:
            inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        except TROUBLES:
            return {}
        return {info.name: info.type for info in inferred.graph.output if info.type.WhichOneof("value")}


def qualified(node: onnx.NodeProto) -> str:
    """``Conv``, or ``domain.Type`` for types of other domains than ONNX's own."""
    return node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"


def _plain(error: BaseException) -> str:
    """Return the library's message without its tags."""
    return re.sub(r"\[\w*Error\] |^\(op_type:.*?\): ", "", first_line(error))
