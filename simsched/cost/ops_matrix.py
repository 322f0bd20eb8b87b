"""Rules of convolutions and matrix products. ``flops`` is 2 x multiply-adds; bias and fused activation are free.

A convolution counts the taps that fall on padding, as the implicit matrix product computes them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from simsched.cost.work import (
    CannotCount,
    Convolution,
    Counter,
    Rule,
    Work,
    integer,
    integers,
    matrix,
    operand,
    optional,
    result,
    shape_of,
)
from simsched.graph.model import Operator


def convolution(data: int = 0, weight: int = 1) -> Counter:
    """Count a convolution whose data and weights are in the given input slots."""

    def count(op: Operator) -> Work:
        x, y = shape_of(operand(op, data), 3), shape_of(result(op), 3)
        group = _group(op, x[1], y[1])
        taps = _taps(op, weight, x[1] // group, y[1])
        work = matrix(op, group, y[0] * prod(y[2:]), y[1] // group, taps)
        return replace(work, convolution=_space(op, weight, y))

    return count


def _group(op: Operator, *channels: int) -> int:
    group = integer(op, "group", integer(op, "groups", 1))
    if group < 1 or any(count % group for count in channels):
        raise CannotCount(f"attribute 'group' is {group}, which does not divide the channels {list(channels)}")
    return group


def _taps(op: Operator, weight: int, channels: int, filters: int) -> int:
    """Multiply-adds per output element: input channels of a group x kernel size."""
    tensor = optional(op, weight)
    if tensor is None:
        kernel = integers(op, "kernel_shape")
        if kernel is None:
            raise CannotCount("it has neither weights nor an attribute 'kernel_shape'")
        return channels * prod(kernel)
    shape = shape_of(tensor, 3)
    if shape[:2] != (filters, channels):
        raise CannotCount(f"weights {tensor.name!r} of shape {list(shape)} fit neither input nor output")
    return prod(shape[1:])


def _space(op: Operator, weight: int, y: tuple[int, ...]) -> Convolution:
    tensor = optional(op, weight)
    kernel = shape_of(tensor)[2:] if tensor is not None else tuple(integers(op, "kernel_shape") or ())
    ones = [1] * (len(y) - 2)
    steps = [tuple(integers(op, name) or ones) for name in ("strides", "dilations")]
    return Convolution(y[0], y[2:], kernel, *steps)


def transposed_convolution(op: Operator) -> Work:
    """Count x [N, Cin, ...] with weights [Cin, Cout/g, kernel]: each input element meets every tap once."""
    x, w = shape_of(operand(op, 0), 3), shape_of(operand(op, 1), 3)
    group = _group(op, x[1])
    if x[1] != w[0]:
        raise CannotCount(f"weights of shape {list(w)} do not fit an input of shape {list(x)}")
    # As a product it is (spatial x Cin/g) by (Cin/g x Cout/g taps), followed by adding overlaps.
    return matrix(op, group, x[0] * prod(x[2:]), prod(w[1:]), x[1] // group)


def convolution_weight_gradient(op: Operator) -> Work:
    """Count x [N, Cin, ...] and dy [N, Cout, ...] to dw [Cout, Cin/g, kernel]: N x spatial products per weight."""
    dy, dw = shape_of(operand(op, 1), 3), shape_of(result(op), 3)
    group = _group(op, dy[1])
    if dw[0] != dy[1]:
        raise CannotCount(f"a gradient of shape {list(dw)} does not fit outputs of shape {list(dy)}")
    return matrix(op, group, dw[0] // group, prod(dw[1:]), dy[0] * prod(dy[2:]))


def matmul(left: int = 0, right: int = 1) -> Counter:
    """Count a (batched, broadcast) product of the operands in the given input slots."""

    def count(op: Operator) -> Work:
        a, b = shape_of(operand(op, left), 1), shape_of(operand(op, right), 1)
        return _product(op, _swapped(a, integer(op, "transA", 0)), _swapped(b, integer(op, "transB", 0)))

    return count


def _swapped(shape: tuple[int, ...], transposed: int) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2]) if transposed and len(shape) > 1 else shape


def _product(op: Operator, a: tuple[int, ...], b: tuple[int, ...]) -> Work:
    a, b = a if len(a) > 1 else (1, *a), b if len(b) > 1 else (*b, 1)
    if a[-1] != b[-2]:
        raise CannotCount(f"shapes {list(a)} and {list(b)} cannot be multiplied")
    if prod(b[:-2]) == 1:  # one right-hand side: the batch only lengthens m
        return matrix(op, 1, prod(a[:-1]), b[-1], a[-1])
    return matrix(op, prod(broadcast(a[:-2], b[:-2])), a[-2], b[-1], a[-1])


def broadcast(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """Return the shape that two shapes broadcast to."""
    width = max(len(a), len(b))
    long_a, long_b = [1] * (width - len(a)) + list(a), [1] * (width - len(b)) + list(b)
    for left, right in zip(long_a, long_b, strict=True):
        if left != right and 1 not in (left, right):
            raise CannotCount(f"shapes {list(a)} and {list(b)} cannot be broadcast")
    return [right if left == 1 else left for left, right in zip(long_a, long_b, strict=True)]


def linear(op: Operator) -> Work:
    """Count x [..., in] by weights [out, in]."""
    x, w = shape_of(operand(op, 0), 1), shape_of(operand(op, 1), 2)
    if x[-1] != w[-1]:
        raise CannotCount(f"shapes {list(x)} and {list(w)} cannot be multiplied")
    return matrix(op, 1, prod(x[:-1]), w[0], x[-1])


def blockwise_quantised_matmul(op: Operator) -> Work:
    """Count a product with packed weights, whose sizes are in attributes K and N."""
    a = shape_of(operand(op, 0), 1)
    n, k = integer(op, "N", 0), integer(op, "K", 0)
    if k != a[-1] or n < 1:
        raise CannotCount(f"attributes K = {k} and N = {n} do not fit an input of shape {list(a)}")
    return matrix(op, 1, prod(a[:-1]), n, k)


_MATMUL = "2 x batch x m x n x k"


def _conv_rule(data: int = 0, weight: int = 1) -> Rule:
    return Rule(convolution(data, weight), "matrix", "2 x output elements x C_in/group x kernel size")


def _matmul_rule(left: int = 0, right: int = 1) -> Rule:
    return Rule(matmul(left, right), "matrix", _MATMUL)


RULES: dict[str, Rule] = {
    "Conv": _conv_rule(),
    "ConvInteger": _conv_rule(),
    "QLinearConv": _conv_rule(0, 3),
    "DeformConv": _conv_rule(),
    "com.microsoft.FusedConv": _conv_rule(),
    "com.microsoft.NhwcFusedConv": _conv_rule(),
    "ConvTranspose": Rule(transposed_convolution, "matrix", "2 x input elements x C_out/group x kernel size"),
    "ConvGradInput": Rule(transposed_convolution, "matrix", "2 x elements of dy x C_in/group x kernel size"),
    "ConvGradWeight": Rule(convolution_weight_gradient, "matrix", "2 x elements of dw x N x spatial size of dy"),
    "Gemm": _matmul_rule(),
    "MatMul": _matmul_rule(),
    "MatMulInteger": _matmul_rule(),
    "QLinearMatMul": _matmul_rule(0, 3),
    "addmm": _matmul_rule(1, 2),
    "Linear": Rule(linear, "matrix", "2 x elements of x x outputs"),
    "com.microsoft.FusedMatMul": _matmul_rule(),
    "com.microsoft.FusedGemm": _matmul_rule(),
    "com.microsoft.DynamicQuantizeMatMul": _matmul_rule(),
    "com.microsoft.MatMulIntegerToFloat": _matmul_rule(),
    "com.microsoft.MatMulNBits": Rule(blockwise_quantised_matmul, "matrix", "2 x elements of A x N"),
}

ALIASES: dict[str, str] = {
    "Conv1d": "Conv",
    "Conv2d": "Conv",
    "Conv3d": "Conv",
    "Convolution": "Conv",
    "ConvTranspose1d": "ConvTranspose",
    "ConvTranspose2d": "ConvTranspose",
    "ConvTranspose3d": "ConvTranspose",
    "mm": "MatMul",
    "bmm": "MatMul",
    "baddbmm": "addmm",
    "Dense": "Linear",
    "FullyConnected": "Linear",
}
