"""Values of an ONNX graph while it is read: type, shape, and whether it is a constant.

The value itself is kept only where it may decide a shape: small tensors, and small results of arithmetic on them,
which are computed when somebody asks (:mod:`simsched.graph.onnx_import.constants`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import onnx

from simsched.graph.builder import tensor_size

SMALL = 4096
"""Elements up to which a constant's value is kept and computed with."""

DTYPES = {
    "FLOAT": "fp32", "DOUBLE": "fp64", "FLOAT16": "fp16", "BFLOAT16": "bf16",
    "FLOAT8E4M3FN": "fp8", "FLOAT8E4M3FNUZ": "fp8", "FLOAT8E5M2": "fp8", "FLOAT8E5M2FNUZ": "fp8", "FLOAT8E8M0": "fp8",
    "FLOAT6E2M3": "fp6", "FLOAT6E3M2": "fp6", "FLOAT4E2M1": "fp4",
    "INT64": "int64", "INT32": "int32", "INT16": "int16", "INT8": "int8", "INT4": "int4",
    "INT2": "int2", "UINT64": "uint64", "UINT32": "uint32", "UINT16": "uint16", "UINT8": "uint8", "UINT4": "uint4",
    "UINT2": "uint2", "BOOL": "bool", "COMPLEX64": "complex64", "COMPLEX128": "complex128",
}  # fmt: skip

Shape = tuple[int | None, ...]


@dataclass(eq=False, slots=True)
class Value:
    """One value.

    Attributes
    ----------
    name : str
    type : TypeProto or None
        None while nothing is known.
    constant : bool
        An initializer, or computed from constants alone.
    data : TensorProto or None
        Its value, where that is known and small.
    stored : TensorProto or None
        Where its data lies, in a file of its own, until somebody asks for it.
    maker : (NodeProto, sequence of Value, int) or None
        How to compute ``data``: as which output of which node.
    size : int or None
        Bytes, where they do not follow from shape and type (sparse tensors).
    elsewhere : str
        The file that holds its data and is missing.
    code : int
        ONNX's number of the element type; 0 where unknown.
    shape : tuple of int or None
        The shape, where every dimension is known.
    """

    name: str
    type: onnx.TypeProto | None = None
    constant: bool = False
    data: onnx.TensorProto | None = None
    stored: onnx.TensorProto | None = field(default=None, repr=False)
    maker: tuple[onnx.NodeProto, Sequence[Value | None], int] | None = field(default=None, repr=False)
    size: int | None = None
    elsewhere: str = ""
    code: int = field(default=0, init=False)
    shape: tuple[int, ...] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.set_type(self.type)

    def set_type(self, proto: onnx.TypeProto | None) -> None:
        """Learn the type."""
        self.type, tensor, shape = proto, tensor_type(proto), partial_shape(proto)
        self.code = 0 if tensor is None else tensor.elem_type
        known = [] if shape is None else [size for size in shape if size is not None]
        self.shape = None if shape is None or len(known) < len(shape) else tuple(known)

    @property
    def pending(self) -> bool:
        """Whether its data has not been asked for yet."""
        return self.data is None and (self.maker is not None or self.stored is not None)

    @property
    def dtype(self) -> str | None:
        """Our name of the element type; None where there is none (strings, sequences, unknown)."""
        return DTYPES.get(code_name(self.code))

    @property
    def complete(self) -> bool:
        """Whether its size is known."""
        return self.size is not None or (self.shape is not None and self.dtype is not None)

    @property
    def bytes(self) -> int:
        """Its size, of a complete value."""
        if self.size is not None:
            return self.size
        assert self.shape is not None
        assert self.dtype is not None
        return tensor_size(self.shape, self.dtype)


CODES: Mapping[int, str] = {number: name for name, number in onnx.TensorProto.DataType.items()}


def code_name(code: int) -> str:
    """``FLOAT`` for 1; the number itself where this version of onnx does not know it."""
    return CODES.get(code, str(code))


def tensor_type(proto: onnx.TypeProto | None) -> onnx.TypeProto.Tensor | None:
    """Return the tensor inside a type, looking into ``optional``; None for sequences and maps."""
    while proto is not None and proto.HasField("optional_type"):
        proto = proto.optional_type.elem_type
    if proto is None or not proto.HasField("tensor_type"):
        return None
    return proto.tensor_type


def partial_shape(proto: onnx.TypeProto | None) -> Shape | None:
    """Return the dimensions of a type, None for those that are not known; None without a rank."""
    tensor = tensor_type(proto)
    if tensor is None or not tensor.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None for dim in tensor.shape.dim
    )


def make_type(code: int, shape: Shape | None) -> onnx.TypeProto:
    """Make a tensor type."""
    proto = onnx.TypeProto()
    proto.tensor_type.elem_type = code
    if shape is not None:
        proto.tensor_type.shape.SetInParent()
        for size in shape:
            dim = proto.tensor_type.shape.dim.add()
            if size is not None:
                dim.dim_value = size
    return proto


def merged(first: onnx.TypeProto | None, second: onnx.TypeProto | None) -> onnx.TypeProto | None:
    """Fill what ``first`` leaves open from ``second``; ``first`` wins where both speak."""
    if first is None or second is None:
        return first or second
    one, two = tensor_type(first), tensor_type(second)
    if one is None or two is None:
        return first
    shape, other = partial_shape(first), partial_shape(second)
    if shape is None:
        shape = other
    elif other is not None and len(other) == len(shape):
        shape = tuple(theirs if ours is None else ours for ours, theirs in zip(shape, other, strict=True))
    return make_type(one.elem_type or two.elem_type, shape)


def small(shape: Sequence[int] | None) -> bool:
    """Whether a tensor has few enough elements to compute with."""
    return shape is not None and prod(shape) <= SMALL
