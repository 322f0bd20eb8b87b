"""Work: what one operator computes and moves, whatever device runs it; and the pieces that rules are made of.

A rule reads one :class:`~simsched.graph.model.Operator` and returns its :class:`Work`. What a rule needs and does
not find (a shape, an operand) it reports by raising :class:`CannotCount`; the registry then falls back to the
bytes of the operands and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, NamedTuple

from simsched.graph.model import Operator, Tensor

Unit = Literal["matrix", "vector", "none"]

SLOTS = "input_slots"
"""Attribute that says which input slots of the operator type are filled, where some are left out."""


class Convolution(NamedTuple):
    """The shapes of a convolution, beside those of the product that it is.

    Attributes
    ----------
    images : int
    output, kernel, strides, dilations : tuple of int
        Sizes and steps in space.
    """

    images: int
    output: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """What one operator computes and moves.

    Attributes
    ----------
    flops : int
        2 x multiply-adds on the matrix unit; on the vector unit each arithmetic operation, comparison or
        function evaluation on an element counts one.
    bytes_read, bytes_written : int
        Compulsory traffic: each distinct input once, each output once, except where the rule says otherwise.
    unit : {"matrix", "vector", "none"}
        The unit that computes. ``none`` is a view: no kernel runs and nothing moves.
    known : bool
        False when nothing is known about the arithmetic, so that only the bytes count.
    dtype : str or None
        The type in which it computes.
    tiles : (int, int, int, int) or None
        ``(batch, m, n, k)`` of the matrix product that it is, for operators of the matrix unit.
    elements : int
        Independent elements of a vector kernel: outputs, or inputs where it reduces.
    convolution : Convolution or None
        For convolutions.
    reason : str
        Why it is not known.
    """

    flops: int
    bytes_read: int
    bytes_written: int
    unit: Unit
    known: bool = True
    dtype: str | None = None
    tiles: tuple[int, int, int, int] | None = None
    elements: int = 0
    convolution: Convolution | None = None
    reason: str = ""

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    @property
    def intensity(self) -> float:
        """Arithmetic intensity in FLOP per byte; 0 when nothing moves."""
        return self.flops / self.bytes if self.bytes else 0.0


Counter = Callable[[Operator], Work]


@dataclass(frozen=True, slots=True)
class Rule:
    """How one operator type is counted, and the same in words.

    Attributes
    ----------
    count : callable
        ``(Operator) -> Work``; raises :class:`CannotCount`.
    unit : {"matrix", "vector", "none"}
    flops, traffic : str
        The formulas, for the reference page.
    """

    count: Counter
    unit: Unit
    flops: str
    traffic: str = "inputs + outputs"


class CannotCount(Exception):  # noqa: N818 - it is a message between a rule and the registry, not an error of a run
    """A rule lacks something; the text says what."""


# --- operands -------------------------------------------------------------------------------------------------


def optional(op: Operator, slot: int) -> Tensor | None:
    """Return the tensor in an input slot of the operator type, or None where it is left out."""
    slots: Sequence[int] | None = op.attributes.get(SLOTS)
    if slots is None:
        return op.inputs[slot] if slot < len(op.inputs) else None
    return op.inputs[slots.index(slot)] if slot in slots else None


def operand(op: Operator, slot: int) -> Tensor:
    """Return the tensor in an input slot, which the rule needs."""
    tensor = optional(op, slot)
    if tensor is None:
        raise CannotCount(f"input {slot} is missing")
    return tensor


def result(op: Operator) -> Tensor:
    """Return the first output."""
    if not op.outputs:
        raise CannotCount("it has no output")
    return op.outputs[0]


def shape_of(tensor: Tensor, rank: int = 0) -> tuple[int, ...]:
    """Return a tensor's shape, of at least ``rank`` dimensions."""
    if tensor.shape is None:
        raise CannotCount(f"the shape of {tensor.name!r} is unknown")
    if len(tensor.shape) < rank:
        raise CannotCount(f"{tensor.name!r} has shape {list(tensor.shape)}, expected at least {rank} dimensions")
    return tensor.shape


def elements_of(tensor: Tensor) -> int:
    """Return the number of elements of a tensor."""
    return prod(shape_of(tensor))


def integer(op: Operator, name: str, default: int) -> int:
    """Return a whole-number attribute."""
    value = op.attributes.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise CannotCount(f"attribute {name!r} is {value!r}, expected a whole number")
    return value


def integers(op: Operator, name: str) -> list[int] | None:
    """Return an attribute that is a list of whole numbers, or None where it is absent."""
    value: Any = op.attributes.get(name)
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or not all(type(item) is int for item in value):
        raise CannotCount(f"attribute {name!r} is {value!r}, expected a list of whole numbers")
    return list(value)


# --- bytes and results -------------------------------------------------------------------------------------------


def bytes_of(tensors: Iterable[Tensor]) -> int:
    """Bytes of the distinct tensors among ``tensors``."""
    return sum({tensor.name: tensor.bytes for tensor in tensors}.values())


def dtype_of(op: Operator) -> str | None:
    """Return the type in which an operator computes: that of its first operand of a number type, else its output's."""
    types = [tensor.dtype for tensor in (*op.inputs, *op.outputs) if tensor.dtype is not None]
    return next((name for name in types if name not in ("bool", "int64")), types[0] if types else None)


def matrix(
    op: Operator, batch: int, m: int, n: int, k: int, *, flops: int | None = None, read: int | None = None
) -> Work:
    """Work of ``batch`` products of m x k by k x n; ``flops`` where it is more than one product."""
    return Work(
        flops=2 * batch * m * n * k if flops is None else flops,
        bytes_read=bytes_of(op.inputs) if read is None else read,
        bytes_written=bytes_of(op.outputs),
        unit="matrix",
        dtype=dtype_of(op),
        tiles=(batch, m, n, k),
        elements=batch * m * n,
    )


def vector(op: Operator, flops: int, elements: int, *, read: int | None = None) -> Work:
    """Work of the vector unit on so many independent elements."""
    return Work(
        flops=flops,
        bytes_read=bytes_of(op.inputs) if read is None else read,
        bytes_written=bytes_of(op.outputs),
        unit="vector",
        dtype=dtype_of(op),
        elements=elements,
    )


def nothing(op: Operator) -> Work:
    """Work of a view: no kernel, no bytes."""
    return Work(0, 0, 0, "none", dtype=dtype_of(op))


def unknown(op: Operator, reason: str) -> Work:
    """Work of an operator of which only the operands are known: their bytes."""
    sizes = [prod(tensor.shape) for tensor in op.outputs if tensor.shape is not None]
    return Work(
        flops=0,
        bytes_read=bytes_of(op.inputs),
        bytes_written=bytes_of(op.outputs),
        unit="vector",
        known=False,
        dtype=dtype_of(op),
        elements=max(sizes, default=0),
        reason=reason,
    )
