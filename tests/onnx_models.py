"""Small ONNX models, written to files, for tests of the importer."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

Shape = Sequence[int | str | None] | None

FLOAT, INT64, BOOL, BFLOAT16 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.BFLOAT16


def info(name: str, shape: Shape, dtype: int = FLOAT) -> onnx.ValueInfoProto:
    """Declare a tensor."""
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name: str, *shape: int, dtype: int = FLOAT) -> onnx.TensorProto:
    """Make a stored tensor of zeros."""
    return helper.make_tensor(name, dtype, shape, [0] * prod(shape))


def ints(name: str, *values: int) -> onnx.TensorProto:
    """Make a stored list of whole numbers."""
    return helper.make_tensor(name, INT64, [len(values)], values)


def external(name: str, *shape: int, file: str = "weights.bin", dtype: int = FLOAT) -> onnx.TensorProto:
    """Make a tensor whose data is in another file."""
    tensor = TensorProto(name=name, data_type=dtype, dims=shape, data_location=TensorProto.EXTERNAL)
    size = 4 if dtype == FLOAT else 8
    for key, value in (("location", file), ("offset", "0"), ("length", str(size * prod(shape)))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def node(
    op_type: str, inputs: str, outputs: str, name: str = "", domain: str = "", **attributes: Any
) -> onnx.NodeProto:
    """Make a node; inputs and outputs are words, and ``-`` is one that is left out."""
    sides = [["" if word == "-" else word for word in words.split()] for words in (inputs, outputs)]
    return helper.make_node(op_type, *sides, name=name or None, domain=domain or None, **attributes)


def graph(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Sequence[onnx.TensorProto] = (),
    values: Sequence[onnx.ValueInfoProto] = (),
) -> onnx.GraphProto:
    """Make a graph."""
    return helper.make_graph(nodes, "graph", inputs, outputs, weights, value_info=values)


def model(made: onnx.GraphProto, opset: int = 21, **opsets: int) -> onnx.ModelProto:
    """Make a model; further operator sets by domain, with ``_`` for its dots."""
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain.replace("_", "."), version) for domain, version in opsets.items()]
    return helper.make_model(made, opset_imports=imports, producer_name="test", ir_version=10)


def write(folder: Path, made: onnx.ModelProto | onnx.GraphProto, name: str = "m.onnx") -> Path:
    """Write a model to a file; a bare graph in opset 21."""
    path = folder / name
    path.write_bytes((model(made) if isinstance(made, onnx.GraphProto) else made).SerializeToString())
    return path
