"""Rules of operators that move or rename data without arithmetic.

Three kinds: views, which are only another way to look at a tensor (no kernel, no bytes); copies, which read
their inputs and write their outputs; and selections, which touch only what they select: a lookup in an embedding
table moves the rows looked up, not the table.
"""

from __future__ import annotations

from simsched.cost.work import Counter, Rule, Work, bytes_of, elements_of, nothing, operand, result, vector
from simsched.graph.model import Operator

VIEWS = (
    "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "View", "Shape", "Size", "BitCast",
    "Optional", "OptionalGetElement", "OptionalHasElement", "Constant", "Input", "Output", "NoOp",
)  # fmt: skip
COPIES = (
    "Transpose", "Concat", "Split", "Pad", "Tile", "Expand", "DepthToSpace", "SpaceToDepth", "ReverseSequence",
    "Trilu", "Cast", "CastLike", "Copy", "Scatter", "ScatterElements", "ScatterND", "TensorScatter",
    "ConstantOfShape", "EyeLike", "Range", "OneHot", "MaxUnpool", "Permute", "com.microsoft.QLinearConcat",
)  # fmt: skip
INDEXED = ("Gather", "GatherElements", "GatherND", "Compress", "ArrayFeatureExtractor")


def copy(op: Operator) -> Work:
    """Count no arithmetic; every input is read, every output written."""
    return vector(op, 0, elements_of(result(op)))


def selection(first: int) -> Counter:
    """Count no arithmetic; the data in slot 0 is read where it is selected, inputs from slot ``first`` on in full."""

    def count(op: Operator) -> Work:
        data = operand(op, 0)
        others = bytes_of(tensor for tensor in op.inputs[first:] if tensor.name != data.name)
        selected = min(bytes_of(op.outputs), data.bytes)
        return vector(op, 0, elements_of(result(op)), read=selected + others)

    return count


def embedding(op: Operator) -> Work:
    """Count a lookup: indices in full, of the tables only the rows that come out, each table once."""
    written = bytes_of(op.outputs)
    tables = [tensor for tensor in op.inputs if tensor.dtype not in ("int64", "int32")]
    indices = bytes_of(tensor for tensor in op.inputs if tensor.dtype in ("int64", "int32"))
    read = indices + sum(min(tensor.bytes, written) for tensor in tables)
    return vector(op, 0, elements_of(result(op)), read=read)


_SELECTED = "selected elements + indices + outputs"

RULES: dict[str, Rule] = {
    **{name: Rule(nothing, "none", "0: a view", "none: a view") for name in VIEWS},
    **{name: Rule(copy, "vector", "0") for name in COPIES},
    **{name: Rule(selection(1), "vector", "0", _SELECTED) for name in INDEXED},
    "Slice": Rule(selection(1), "vector", "0", _SELECTED),
    "CenterCropPad": Rule(selection(1), "vector", "0", _SELECTED),
    "Embedding": Rule(embedding, "vector", "0", _SELECTED),
}

ALIASES: dict[str, str] = {
    "Clone": "Copy",
    "Contiguous": "Copy",
    "Cat": "Concat",
    "Chunk": "Split",
}
