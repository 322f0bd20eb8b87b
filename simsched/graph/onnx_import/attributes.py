"""Attributes of ONNX nodes as plain Python values."""

from __future__ import annotations

import math
import struct
from typing import Any

import onnx
import onnx.numpy_helper

LONGEST = 64
"""Elements up to which a tensor attribute is kept."""

_A = onnx.AttributeProto


def plain_attributes(node: onnx.NodeProto) -> dict[str, Any]:
    """Return the attributes of a node as numbers, strings and lists.

    Graphs, types, sparse tensors and tensors of more than ``LONGEST`` elements are left out.
    """
    found = {attribute.name: plain(attribute) for attribute in node.attribute}
    return {name: value for name, value in found.items() if value is not None}


def plain(attribute: onnx.AttributeProto) -> Any:
    """Return one attribute's value, or None where it is not kept."""
    match attribute.type:
        case _A.INT:
            return attribute.i
        case _A.INTS:
            return list(attribute.ints)
        case _A.FLOAT:
            return number(attribute.f)
        case _A.FLOATS:
            return [number(value) for value in attribute.floats]
        case _A.STRING:
            return text(attribute.s)
        case _A.STRINGS:
            return [text(value) for value in attribute.strings]
        case _A.TENSOR:
            return tensor_values(attribute.t)
    return None


def text(data: bytes) -> str:
    """Decode a string attribute; bytes that are no text show as replacement characters."""
    return data.decode("utf-8", "replace")


def number(value: float) -> float | str:
    """Return the shortest decimal that is the same 32-bit float; infinities and NaN as text, which JSON can hold.

    Examples
    --------
    >>> number(0.10000000149011612), number(float("inf"))
    (0.1, 'inf')
    """
    if not math.isfinite(value):
        return str(value)
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        try:
            if struct.pack("f", short) == struct.pack("f", value):
                return short
        except OverflowError:
            continue
    return value


def tensor_values(tensor: onnx.TensorProto) -> Any:
    """Return the elements of a small tensor as nested lists (a number for a scalar), or None."""
    if math.prod(tensor.dims) > LONGEST or tensor.data_type == onnx.TensorProto.STRING:
        return None
    try:
        values = onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError, RuntimeError):
        return None
    if values.dtype.kind == "c" or values.dtype.kind not in "biuf":
        return None
    return _finite(values.tolist())


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return number(value) if isinstance(value, float) else value
