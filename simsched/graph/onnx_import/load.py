"""Load an ONNX model as a graph."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx

from simsched.errors import ConfigError, Fault
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.graph.onnx_import.constants import STANDARD
from simsched.graph.onnx_import.dimensions import Dimensions
from simsched.graph.onnx_import.emit import emit
from simsched.graph.onnx_import.order import needs, node_names
from simsched.graph.onnx_import.reading import free_inputs, read_model, subgraphs
from simsched.graph.onnx_import.unknowns import no_size
from simsched.graph.onnx_import.values import Value, tensor_type
from simsched.graph.onnx_import.walk import Walker


def load(path: str | os.PathLike[str], dims: Mapping[str, int] | None, name: str | None) -> Graph:
    """Read, resolve, walk, emit. See :func:`simsched.graph.onnx_import.load_onnx`."""
    source = os.fspath(path)
    model = read_model(path)
    dimensions = Dimensions(source, dims)
    dimensions.check_names(_symbols(model.graph), _tensor_names(model.graph), _loops(model.graph))
    walker = Walker(model, source, dimensions)
    walk = walker.walk(model.graph, {}, _graph_inputs(model.graph, dimensions, source))
    walker.finish()
    builder = GraphBuilder(name or Path(source).stem, source=source)
    builder.notes.extend(_notes(model, walker))
    emit(walker, walk, builder)
    return builder.build()


def _graph_inputs(graph: onnx.GraphProto, dimensions: Dimensions, source: str) -> list[Value]:
    """Return the values of the inputs that are no initializers, every dimension known."""
    infos = free_inputs(graph)
    read = {name for node in graph.node for name in needs(node)} | {info.name for info in graph.output}
    faults = dimensions.open_dimensions(info for info in infos if info.name in read or not _plain(info))
    values = [Value(info.name, dimensions.resolved(info.name, info.type)) for info in infos]
    for value in values:
        problem = no_size(value)
        if problem and value.name in read:
            faults.append(Fault(f"input {value.name!r} {problem}"))
    if faults:
        raise ConfigError(source, faults)
    return values


def _plain(info: onnx.ValueInfoProto) -> bool:
    return tensor_type(info.type) is not None


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    todo = [graph]
    while todo:
        current = todo.pop()
        yield current
        todo.extend(inner for node in current.node for inner in subgraphs(node))


def _symbols(graph: onnx.GraphProto) -> list[str]:
    """Return every symbolic dimension that the model mentions, in order of appearance."""
    found: dict[str, None] = {}
    for one in _graphs(graph):
        for info in (*one.input, *one.output, *one.value_info):
            tensor = tensor_type(info.type)
            if tensor is not None:
                found.update((dim.dim_param, None) for dim in tensor.shape.dim if dim.dim_param)
    return list(found)


def _tensor_names(graph: onnx.GraphProto) -> set[str]:
    names = {info.name for one in _graphs(graph) for info in one.input}
    return names | {name for one in _graphs(graph) for node in one.node for name in node.output if name}


def _loops(graph: onnx.GraphProto) -> list[str]:
    """Return the names of all loops, those inside others with their path, as the walk names them."""
    found: list[str] = []
    todo = [(graph, "")]
    while todo:
        current, prefix = todo.pop()
        for node, name in zip(current.node, node_names(current.node, prefix), strict=True):
            if node.op_type == "Loop" and node.domain in STANDARD:
                found.append(name)
            inner = [item for item in node.attribute if item.type == onnx.AttributeProto.GRAPH]
            branch = node.op_type == "If"
            todo.extend((item.g, f"{name}/{item.name}/" if branch else f"{name}/") for item in inner)
    return found


def _notes(model: onnx.ModelProto, walker: Walker) -> list[str]:
    opsets = ", ".join(f"{entry.domain or 'ai.onnx'} {entry.version}" for entry in model.opset_import)
    producer = " ".join(part for part in (model.producer_name, model.producer_version) if part)
    notes = [f"ONNX, operator sets {opsets}" + (f", made by {producer}" if producer else "")]
    if walker.dimensions.given:
        notes.append("dimensions: " + ", ".join(f"{key} = {value}" for key, value in walker.dimensions.given.items()))
    if walker.folded:
        plural = "s" if walker.folded > 1 else ""
        notes.append(f"{walker.folded} node{plural} that depend on constants alone are folded into parameters")
    return notes + walker.notes
