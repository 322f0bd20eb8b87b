"""Rules of elementwise operators, normalisations, reductions and pooling.

Each arithmetic operation, comparison or function evaluation (exp, erf, sqrt, ...) on an element counts one. The
factors follow from the formulas in the comments; they matter little, since these kernels move far more bytes
than they compute.
"""

from __future__ import annotations

from math import prod

from simsched.cost.work import (
    CannotCount,
    Counter,
    Rule,
    Work,
    bytes_of,
    elements_of,
    integer,
    integers,
    nothing,
    operand,
    optional,
    result,
    shape_of,
    vector,
)
from simsched.graph.model import Operator

SIMPLE = (
    "Abs", "Neg", "Ceil", "Floor", "Round", "Sign", "Not", "Exp", "Log", "Sqrt", "Reciprocal", "Erf",
    "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh",
    "IsNaN", "IsInf", "BitwiseNot", "Relu", "CumSum", "CumProd",
    "Add", "Sub", "Mul", "Div", "Pow", "Mod", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
    "BitShift", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Where",
    "com.microsoft.QLinearAdd", "com.microsoft.QLinearMul",
)  # fmt: skip
COMPOSED: dict[str, int] = {
    "Clip": 2,  # max, min
    "ThresholdedRelu": 2,  # compare, select
    "LeakyRelu": 2,  # multiply, select
    "PRelu": 2,
    "Shrink": 3,  # compare, add, select
    "Sigmoid": 4,  # negate, exp, add, divide
    "HardSigmoid": 4,  # multiply, add, max, min
    "HardSwish": 5,  # hard sigmoid, multiply
    "Swish": 5,  # sigmoid, multiply
    "SwiGLU": 6,  # swish, multiply by the other half
    "Softplus": 3,  # exp, add, log
    "Softsign": 3,  # abs, add, divide
    "Mish": 5,  # softplus, tanh, multiply
    "Elu": 4,  # exp, subtract, multiply, select
    "Celu": 5,  # elu with a division
    "Selu": 5,  # elu, multiply
    "RotaryEmbedding": 3,  # two products and a sum
    "Softmax": 5,  # max, subtract, exp, sum, divide
    "LogSoftmax": 5,  # max, subtract, exp, sum, subtract
    "Hardmax": 2,  # max, compare
    "LayerNormalization": 7,  # sum, subtract, square, sum, scale by 1/std, gamma, beta
    "GroupNormalization": 7,
    "InstanceNormalization": 7,
    "MeanVarianceNormalization": 5,  # without gamma and beta
    "RMSNormalization": 4,  # square, sum, scale by 1/rms, gamma
    "SimplifiedLayerNormalization": 4,
    "LpNormalization": 3,  # power, sum, divide
    "QuantizeLinear": 4,  # divide, round, add the zero point, saturate
    "DequantizeLinear": 2,  # subtract the zero point, multiply
    "DynamicQuantizeLinear": 6,  # min, max, and the four of quantising
    "com.microsoft.BiasGelu": 6,
    "com.microsoft.FastGelu": 10,
    "com.microsoft.QuickGelu": 6,  # multiply, sigmoid, multiply
    "com.microsoft.SkipLayerNormalization": 8,
    "com.microsoft.SkipSimplifiedLayerNormalization": 5,
    "ReluGrad": 1,  # select
    "SigmoidGrad": 3,  # 1 - y, times y, times dy
    "TanhGrad": 3,  # y squared, 1 minus it, times dy
    "GeluGrad": 11,  # cdf: multiply, erf, add, multiply; pdf: square, multiply, exp, multiply; x pdf, add, times dy
    "SoftmaxGrad": 4,  # y dy, sum, subtract, times y
    "LayerNormalizationGrad": 14,  # normalise 2, dy gamma, two sums and a product, recombine 4, dgamma 2, dbeta 1, ...
    "BatchNormalizationGrad": 14,
}
REDUCTIONS: dict[str, int] = {
    "ReduceSum": 1,
    "ReduceMean": 1,
    "ReduceMax": 1,
    "ReduceMin": 1,
    "ReduceProd": 1,
    "ReduceL1": 2,  # abs, sum
    "ReduceL2": 2,  # square, sum
    "ReduceSumSquare": 2,
    "ReduceLogSum": 1,
    "ReduceLogSumExp": 4,  # max, subtract, exp, sum
    "ArgMax": 1,
    "ArgMin": 1,
    "GlobalAveragePool": 1,
    "GlobalMaxPool": 1,
    "GlobalLpPool": 2,
    "Col2Im": 1,  # overlaps are added
    "com.microsoft.QLinearGlobalAveragePool": 1,
    "SoftmaxCrossEntropyLoss": 5,  # as Softmax
}
RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
# A counter-based generator (Philox 4x32, ten rounds of eight operations) gives four values.
RANDOM_COST = 20


def each(factor: int) -> Counter:
    """Count ``factor`` operations for each output element."""

    def count(op: Operator) -> Work:
        size = elements_of(result(op))
        return vector(op, factor * size, size)

    return count


def reduced(factor: int) -> Counter:
    """Count ``factor`` operations for each element of the first input."""

    def count(op: Operator) -> Work:
        size = elements_of(operand(op, 0))
        return vector(op, factor * size, size)

    return count


def variadic(extra: int) -> Counter:
    """Count an operation per further input and output element, plus ``extra`` ones."""

    def count(op: Operator) -> Work:
        size = elements_of(result(op))
        return vector(op, (len(op.inputs) - 1 + extra) * size, size)

    return count


def gelu(op: Operator) -> Work:
    """Count x (1 + erf(x / sqrt 2)) / 2: 5 an element; 9 in its tanh approximation."""
    return each(9 if op.attributes.get("approximate") == "tanh" else 5)(op)


def batch_normalization(op: Operator) -> Work:
    """Count a x + b per channel at inference: 2 an element; 8 in training, with the statistics of the batch."""
    return each(8 if integer(op, "training_mode", 0) else 2)(op)


def local_response(op: Operator) -> Work:
    """Count a square, a window sum of ``size``, scale, bias, power and division."""
    return each(integer(op, "size", 1) + 4)(op)


def window(op: Operator) -> Work:
    """Count an operation per output element and window place."""
    kernel = integers(op, "kernel_shape")
    if kernel is None:
        raise CannotCount("attribute 'kernel_shape' is missing")
    return each(prod(kernel))(op)


def window_gradient(op: Operator) -> Work:
    """Count the gradient of pooling: an operation per element of dy and window place."""
    kernel, size = integers(op, "kernel_shape"), elements_of(operand(op, 0))
    return vector(op, size * (prod(kernel) if kernel else 1), elements_of(result(op)))


def resize(op: Operator) -> Work:
    """Count nothing for nearest, 2 x 2^d an output element for linear, 2 x 4^d for cubic, over d resized dimensions."""
    x, y = shape_of(operand(op, 0)), shape_of(result(op))
    axes = sum(before != after for before, after in zip(x, y, strict=False))
    taps = {"nearest": 0, "linear": 2**axes, "cubic": 4**axes}.get(str(op.attributes.get("mode", "nearest")), 2**axes)
    return each(2 * taps if axes else 0)(op)


def grid_sample(op: Operator) -> Work:
    """Count as ``resize``, over all spatial dimensions."""
    axes = len(shape_of(operand(op, 0), 3)) - 2
    mode = str(op.attributes.get("mode", "linear"))
    return each(2 * {"nearest": 0, "cubic": 4**axes, "bicubic": 4**axes}.get(mode, 2**axes))(op)


def negative_log_likelihood(op: Operator) -> Work:
    """Count a weight and a sum for each target; of the scores only those of the targets are read."""
    scores, targets = operand(op, 0), operand(op, 1)
    size = elements_of(targets)
    chosen = scores.bytes * size // max(elements_of(scores), 1)
    return vector(op, 2 * size, size, read=min(chosen, scores.bytes) + bytes_of(op.inputs[1:]))


def embedded_normalisation(op: Operator) -> Work:
    """Count the sum of three embeddings and its layer normalisation; of the tables only the rows looked up are read."""
    written, size = bytes_of(op.outputs), elements_of(result(op))
    read = sum({tensor.name: min(tensor.bytes, written) for tensor in op.inputs}.values())
    return vector(op, 9 * size, size, read=read)


def top_k(op: Operator) -> Work:
    """Count a heap of k: ceil(log2 k) + 1 comparisons an input element."""
    size, axis = elements_of(operand(op, 0)), integer(op, "axis", -1)
    shape = shape_of(result(op), 1)
    if not -len(shape) <= axis < len(shape):
        raise CannotCount(f"attribute 'axis' is {axis}, outside the {len(shape)} dimensions of its output")
    return vector(op, size * (max(shape[axis] - 1, 0).bit_length() + 1), size)


def dropout(op: Operator) -> Work:
    """Count a view at inference; compare and multiply in training."""
    if not integer(op, "training_mode", 0) and optional(op, 2) is None:
        return nothing(op)
    return each(2)(op)


RULES: dict[str, Rule] = {
    **{name: Rule(each(1), "vector", "1 x output elements") for name in SIMPLE},
    **{name: Rule(each(factor), "vector", f"{factor} x output elements") for name, factor in COMPOSED.items()},
    **{name: Rule(reduced(factor), "vector", f"{factor} x input elements") for name, factor in REDUCTIONS.items()},
    **{name: Rule(variadic(0), "vector", "(inputs - 1) x output elements") for name in ("Sum", "Max", "Min")},
    "Mean": Rule(variadic(1), "vector", "inputs x output elements"),
    "Gelu": Rule(gelu, "vector", "5 x output elements; 9 x with approximate = tanh"),
    "com.microsoft.Gelu": Rule(each(5), "vector", "5 x output elements"),
    "BatchNormalization": Rule(batch_normalization, "vector", "2 x output elements; 8 x in training"),
    "com.microsoft.EmbedLayerNormalization": Rule(
        embedded_normalisation, "vector", "9 x output elements", "indices + selected elements + outputs"
    ),
    "LRN": Rule(local_response, "vector", "(size + 4) x output elements"),
    **{name: Rule(window, "vector", "output elements x kernel size") for name in ("MaxPool", "AveragePool", "LpPool")},
    **{
        name: Rule(window_gradient, "vector", "elements of dy x kernel size")
        for name in ("MaxPoolGrad", "AveragePoolGrad")
    },
    "Resize": Rule(
        resize, "vector", "0 nearest, 2 x 2^d linear, 2 x 4^d cubic, x output elements; d resized dimensions"
    ),
    "Upsample": Rule(resize, "vector", "as Resize"),
    "GridSample": Rule(grid_sample, "vector", "as Resize, over all spatial dimensions"),
    "NegativeLogLikelihoodLoss": Rule(
        negative_log_likelihood, "vector", "2 x targets", "chosen scores + targets + outputs"
    ),
    **{name: Rule(each(RANDOM_COST), "vector", f"{RANDOM_COST} x output elements") for name in RANDOM},
    "TopK": Rule(top_k, "vector", "(ceil(log2 k) + 1) x input elements"),
    "Dropout": Rule(dropout, "vector", "0 at inference, where it is a view; 2 x output elements in training"),
}

ALIASES: dict[str, str] = {
    "ReLU6": "Clip",
    "SiLU": "Swish",
    "BN": "BatchNormalization",
    "BatchNorm": "BatchNormalization",
    "BatchNorm1d": "BatchNormalization",
    "BatchNorm2d": "BatchNormalization",
    "BatchNorm3d": "BatchNormalization",
    "LayerNorm": "LayerNormalization",
    "GroupNorm": "GroupNormalization",
    "InstanceNorm": "InstanceNormalization",
    "RMSNorm": "RMSNormalization",
    "MaxPool2d": "MaxPool",
    "AvgPool2d": "AveragePool",
    "AvgPool": "AveragePool",
    "GlobalAvgPool": "GlobalAveragePool",
    "CrossEntropy": "SoftmaxCrossEntropyLoss",
}
