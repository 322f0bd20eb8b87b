"""Constants: which nodes depend on constants alone, and the values of small ones.

Values are computed only when they may decide a shape (the target of a ``Reshape``, the trips of a ``Loop``), by
onnx's own reference implementation, and only on small tensors.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
import onnx.numpy_helper

from simsched.graph.onnx_import.reading import external_file, subgraphs, with_data
from simsched.graph.onnx_import.values import Value, small

STANDARD = ("", "ai.onnx")

RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")

# Expanding a quantised weight once and for all would make it four times as large: runtimes keep it as it is.
KEPT = ("DequantizeLinear", *RANDOM)

_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

HOST_SLOTS: Mapping[str, tuple[int, ...]] = {
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "CenterCropPad": (1,),
    "Clip": (1, 2),
    "Col2Im": (1, 2),
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "DFT": (1, 2),
    "Dropout": (1, 2),
    "Expand": (1,),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "Loop": (0, 1),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "NonMaxSuppression": (2, 3, 4),
    "OneHot": (1,),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "STFT": (1, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "SplitToSequence": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
    **{f"Reduce{name}": (1,) for name in _REDUCTIONS},
}
"""Inputs that say how to compute rather than what: shapes, axes, repeats. A constant in such a slot becomes an
attribute, as in earlier operator sets, and takes no memory on the device."""


def host_slots(node: onnx.NodeProto) -> tuple[int, ...]:
    """Return the input slots of a node that hold shapes, axes and the like."""
    return HOST_SLOTS.get(node.op_type, ()) if node.domain in STANDARD else ()


def folds(node: onnx.NodeProto, inputs: Sequence[Value | None]) -> bool:
    """Whether a node's results are constants: it is deterministic, and so are all its inputs."""
    if node.domain not in STANDARD or node.op_type in KEPT or subgraphs(node):
        return False
    if node.op_type in ("Shape", "Size"):
        return all(value is not None and value.shape is not None for value in inputs)
    return all(value is None or value.constant for value in inputs)


class Calculator:
    """Computes small constants on demand.

    Parameters
    ----------
    opsets : sequence of OperatorSetIdProto
    folder : str
        Where the model's external data would be.
    """

    def __init__(self, opsets: Sequence[onnx.OperatorSetIdProto], folder: str) -> None:
        self._opsets = opsets
        self._folder = folder

    def data(self, value: Value | None) -> onnx.TensorProto | None:
        """Return the value of a constant, or None where it is unknown, large or not a constant."""
        if value is None:
            return None
        todo = [value]
        while todo:
            current = todo[-1]
            if current.data is not None or current.maker is None:
                self._fetch(todo.pop())
                continue
            node, inputs, position = current.maker
            waiting = [] if _shape_only(node) else [one for one in inputs if one is not None and one.pending]
            if waiting:
                todo.extend(waiting)
                continue
            current.maker = None
            todo.pop()
            if small(current.shape):
                current.data = self._computed(node, inputs, position, current)
        return value.data

    def _fetch(self, value: Value) -> None:
        """Read a small constant from its own file, if that is there."""
        if value.stored is not None:
            value.data = with_data(value.stored, self._folder)
            value.elsewhere = external_file(value.stored) if value.data is None else ""
            value.stored = None

    def integers(self, value: Value | None) -> list[int] | None:
        """Return the elements of a constant of whole numbers, or None where it is unknown."""
        data = self.data(value)
        if data is None:
            return None
        try:
            array = onnx.numpy_helper.to_array(data)
        except (ValueError, TypeError, KeyError, RuntimeError):  # a damaged tensor: its value stays unknown
            return None
        return [int(item) for item in array.reshape(-1).tolist()] if array.dtype.kind in "iub" else None

    def _computed(
        self, node: onnx.NodeProto, inputs: Sequence[Value | None], position: int, result: Value
    ) -> onnx.TensorProto | None:
        if _shape_only(node):
            return _of_shape(node, inputs[0], result)
        pairs = zip(node.input, inputs, strict=True)
        given = {name: value for name, value in pairs if value is not None}
        if any(value.data is None or value.type is None for value in given.values()):
            return None
        return self._evaluated(node, given, position)

    def _evaluated(self, node: onnx.NodeProto, given: Mapping[str, Value], position: int) -> onnx.TensorProto | None:
        from onnx.reference import ReferenceEvaluator

        name = node.output[position]
        infos = [onnx.helper.make_value_info(key, value.type) for key, value in given.items() if value.type is not None]
        graph = onnx.helper.make_graph([node], "constant", infos, [onnx.helper.make_value_info(name, onnx.TypeProto())])
        model = onnx.helper.make_model(graph, opset_imports=self._opsets)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                stored = {key: value.data for key, value in given.items() if value.data is not None}
                feeds = {key: onnx.numpy_helper.to_array(data) for key, data in stored.items()}
                results: Any = ReferenceEvaluator(model).run([name], feeds)
                return onnx.numpy_helper.from_array(results[0], name)
        except Exception:
            return None


def _shape_only(node: onnx.NodeProto) -> bool:
    return node.op_type in ("Shape", "Size") and node.domain in STANDARD


def _of_shape(node: onnx.NodeProto, source: Value | None, result: Value) -> onnx.TensorProto | None:
    """Value of ``Shape`` or ``Size``, which needs no data."""
    if source is None or source.shape is None:
        return None
    shape = list(source.shape)
    if node.op_type == "Size":
        count = 1
        for size in shape:
            count *= size
        return onnx.helper.make_tensor(result.name, onnx.TensorProto.INT64, [], [count])
    bounds = {attribute.name: attribute.i for attribute in node.attribute}
    part = shape[bounds.get("start", 0) : bounds.get("end", len(shape))]
    return onnx.helper.make_tensor(result.name, onnx.TensorProto.INT64, [len(part)], part)
