"""Telling names for operators that their model only numbers (``n57``), from the names of the weights they read."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from simsched.graph.model import Graph, OpId, TensorKind

_WEIGHT = re.compile(r"(?:gpu_0/)?(?P<layer>.+?)_(?:w|b|s|rm|riv|scale|bias|mean|var)_0\Z")


def with_layer_names(graph: Graph) -> Graph:
    """Rename every operator: ``inception_3a/1x1`` reads the weights of that layer, ``inception_3a/1x1/relu`` follows.

    An operator of several inputs is called after what its inputs have in common (``inception_3a/concat``), or else
    after the newest of them; a name that is taken gets a number.
    """
    layers: list[str] = []
    names: dict[str, OpId] = {}
    for op in range(len(graph)):
        own = _own_layer(graph, op)
        layers.append(own or _shared([layers[before] for before in graph.pred[op]]))
        base = own or "/".join(part for part in (layers[op], graph.op_types[op].lower()) if part)
        name, number = base, 1
        while name in names:
            number += 1
            name = f"{base}_{number}"
        names[name] = op
    return dataclasses.replace(graph, names=list(names))


def _own_layer(graph: Graph, op: OpId) -> str:
    if graph.op_types[op] not in ("Conv", "Gemm", "BatchNormalization"):
        return ""
    weights = [graph.tensor_names[one] for one in graph.inputs[op] if graph.tensor_kinds[one] is TensorKind.PARAMETER]
    found = [match["layer"] for match in map(_WEIGHT.match, weights) if match is not None]
    return found[0] if found else ""


def _shared(layers: Sequence[str]) -> str:
    """Return the beginning that all layers share, a whole block's name; else the last layer."""
    if len(layers) < 2:
        return layers[0] if layers else ""
    split = [re.findall(r"[^/_]+[/_]?", layer) for layer in layers]
    common: list[str] = []
    for parts in zip(*split, strict=False):
        if len({part.rstrip("/_") for part in parts}) > 1:
            break
        common.append(parts[0])
    whole = len(common) > 1 or (common and common[0].endswith("/"))
    return "".join(common).rstrip("/_") if whole else layers[-1]
