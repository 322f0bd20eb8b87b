"""From a file to a ModelProto that can be trusted to be one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from pathlib import Path

import onnx
import onnx.external_data_helper

from simsched.config.files import read_bytes
from simsched.data import not_a_file
from simsched.errors import ConfigError, Fault
from simsched.graph.onnx_import.values import SMALL

_LFS = b"version https://git-lfs"
_PAYLOADS = ("raw_data", "float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")


def read_model(path: str | os.PathLike[str]) -> onnx.ModelProto:
    """Read a model without its weights.

    External data is never opened, and the contents of large tensors are dropped at once, so that what follows
    never handles more than the structure.

    Raises
    ------
    ConfigError
        If the file cannot be read, is no ONNX model, or is damaged.
    """
    source = os.fspath(path)
    model = parse_model(_bytes_of(source), source)
    if model.functions:
        model = _inlined(model, source)
    return model


def parse_model(data: bytes, source: str) -> onnx.ModelProto:
    """Parse bytes into a model, as :func:`read_model` does, without inlining its functions."""
    if not data:
        raise fault(source, "the file is empty; expected an ONNX model")
    if data.startswith(_LFS):
        raise fault(source, "this is a Git LFS pointer, not the model; run 'git lfs pull' and try again")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:
        # The decoder's own exception lives in protobuf, which only onnx should know.
        if type(error).__name__ != "DecodeError":
            raise
        message = "not an ONNX model: the bytes are not a protobuf message, or the file is cut off"
        raise fault(source, message) from None
    _check(model, source)
    for tensor in _tensors(model):
        if prod(tensor.dims) > SMALL:
            for name in _PAYLOADS:
                tensor.ClearField(name)
    return model


def fault(source: str, message: str) -> ConfigError:
    """One fault of the whole file."""
    return ConfigError(source, [Fault(message)])


def _bytes_of(source: str) -> bytes:
    if not Path(source).is_file():
        raise fault(source, not_a_file(Path(source)))
    return read_bytes(source)


def _check(model: onnx.ModelProto, source: str) -> None:
    if not model.HasField("graph") or not (model.graph.node or model.graph.output):
        raise fault(source, "the file holds no graph; expected an ONNX model")
    if not _all_text(model):
        raise fault(source, "a name in the model is not UTF-8 text; the file is damaged")
    if not model.opset_import:
        raise fault(
            source, "the model imports no operator set ('opset_import' is empty), so its operators have no meaning"
        )


def _all_text(model: onnx.ModelProto) -> bool:
    """Whether every name is text: protobuf decodes names when they are read, and hands out bytes where it cannot."""
    try:
        return all(isinstance(name, str) for name in _names(model))
    except UnicodeDecodeError:
        return False


def _names(model: onnx.ModelProto) -> Iterator[str]:
    """Yield every text that is used later."""
    yield from (model.producer_name, model.producer_version)
    yield from (entry.domain for entry in model.opset_import)
    for function in model.functions:
        yield from (function.name, function.domain, *function.input, *function.output, *function.attribute)
    for node in _nodes(model):
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    for graph in _graphs(model):
        for info in (*graph.input, *graph.output, *graph.value_info):
            yield from (info.name, *(dim.dim_param for dim in _dimensions(info.type)))
    for tensor in _tensors(model):
        yield from (tensor.name, *(text for item in tensor.external_data for text in (item.key, item.value)))


def _dimensions(proto: onnx.TypeProto) -> Iterator[onnx.TensorShapeProto.Dimension]:
    for kind in (proto, proto.optional_type.elem_type, proto.sequence_type.elem_type):
        yield from kind.tensor_type.shape.dim


def _graphs(model: onnx.ModelProto) -> Iterator[onnx.GraphProto]:
    """Yield the main graph and every graph inside it, outer before inner."""
    todo = [model.graph]
    bodies = [node for function in model.functions for node in function.node]
    todo += [graph for node in bodies for graph in subgraphs(node)]
    while todo:
        graph = todo.pop()
        yield graph
        todo += [inner for node in graph.node for inner in subgraphs(node)]


def subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs in a node's attributes."""
    found = []
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            found.append(attribute.g)
        found.extend(attribute.graphs)
    return found


def free_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Return the inputs of a graph that are not stored in it."""
    own = {item.name for item in graph.initializer} | {item.values.name for item in graph.sparse_initializer}
    return [info for info in graph.input if info.name not in own]


def _nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    for function in model.functions:
        yield from function.node
    for graph in _graphs(model):
        yield from graph.node


def _tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    for graph in _graphs(model):
        yield from graph.initializer
        for sparse in graph.sparse_initializer:
            yield sparse.values
            yield sparse.indices
    for node in _nodes(model):
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t
            yield from attribute.tensors


def _inlined(model: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """Replace calls of the model's own functions by their nodes."""
    import onnx.inliner

    _refuse_recursion(model, source)

    count = len(model.graph.node)
    try:
        inlined = onnx.inliner.inline_local_functions(model)
    except (RuntimeError, ValueError, TypeError) as error:
        raise fault(source, f"its functions cannot be expanded: {first_line(error)}") from None
    if count and not inlined.graph.node:
        raise fault(source, "expanding its functions left no nodes; export the model with its functions expanded")
    return inlined


def _refuse_recursion(model: onnx.ModelProto, source: str) -> None:
    """Refuse functions that call themselves, directly or through others: expanding them would never end."""
    calls: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for function in model.functions:
        inside = [*function.node]
        for node in inside:
            inside.extend(inner for graph in subgraphs(node) for inner in graph.node)
        calls[function.domain, function.name] = {(node.domain, node.op_type) for node in inside}
    left = dict(calls)
    while left:
        leaves = [key for key, called in left.items() if not called & left.keys()]
        if not leaves:
            domain, name = min(left)
            raise fault(source, f"function '{domain}.{name}' calls itself or is part of a circle of calls")
        for key in leaves:
            del left[key]


def first_line(error: BaseException) -> str:
    """Return the first line of a library's message, without its stack and brackets."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def external_file(tensor: onnx.TensorProto) -> str:
    """Return the file that holds a tensor's data, as the model names it."""
    return next((item.value for item in tensor.external_data if item.key == "location"), "")


def with_data(tensor: onnx.TensorProto, folder: str) -> onnx.TensorProto | None:
    """Return a tensor with its data fetched from its own file; None where that is not there."""
    copy = onnx.TensorProto()
    copy.CopyFrom(tensor)
    try:
        onnx.external_data_helper.load_external_data_for_tensor(copy, folder)
    except (OSError, ValueError, RuntimeError, onnx.checker.ValidationError):
        return None
    copy.ClearField("data_location")
    copy.ClearField("external_data")
    return copy
