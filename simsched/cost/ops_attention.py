"""Rules of fused attention and of recurrent layers.

Fused attention counts its two products, Q K^T and P V, in full: a causal mask halves nothing here, as in the
usual counters. The softmax between them is left out, and the scores never reach memory. Recurrent layers count
the products of all steps; gates are left out, and weights are read once.
"""

from __future__ import annotations

from math import prod

from simsched.cost.work import CannotCount, Counter, Rule, Work, integer, matrix, operand, optional, result, shape_of
from simsched.graph.model import Operator, Tensor


def _attention(op: Operator, batch: int, q: int, total: int, depth: int, value_depth: int, extra: int = 0) -> Work:
    """``batch`` counts heads too; ``extra`` is the work of projections inside the operator."""
    flops = 2 * batch * q * total * (depth + value_depth) + extra
    return matrix(op, batch, q, total, depth, flops=flops)


def _heads(op: Operator, tensor: Tensor, attribute: str) -> tuple[int, int, int, int]:
    """Batch, heads, length and depth of [B, H, S, D], or of [B, S, H x D] with the number of heads in an attribute."""
    shape = shape_of(tensor, 3)
    if len(shape) == 4:
        return shape
    if len(shape) != 3:
        raise CannotCount(f"{tensor.name!r} has shape {list(shape)}, expected 3 or 4 dimensions")
    heads = integer(op, attribute, 0)
    if heads < 1 or shape[2] % heads:
        raise CannotCount(f"attribute {attribute!r} is {heads}, which does not divide the width {shape[2]}")
    return shape[0], heads, shape[1], shape[2] // heads


def attention(op: Operator) -> Work:
    """Count Q, K, V, mask, past key, past value, as in opset 23."""
    batch, heads, length, depth = _heads(op, operand(op, 0), "q_num_heads")
    _, _, keys, _ = _heads(op, operand(op, 1), "kv_num_heads")
    _, _, _, value_depth = _heads(op, operand(op, 2), "kv_num_heads")
    past = optional(op, 4)
    total = keys + (shape_of(past, 4)[2] if past is not None else 0)
    return _attention(op, batch * heads, length, total, depth, value_depth)


def packed_attention(op: Operator) -> Work:
    """Count input [B, S, W], weights [W, 3H], bias, mask, past [2, B, heads, S, D] of com.microsoft."""
    x, w = shape_of(operand(op, 0), 3), shape_of(operand(op, 1), 2)
    heads, hidden = integer(op, "num_heads", 0), shape_of(result(op), 3)[2]
    if heads < 1 or hidden % heads or w[0] != x[2]:
        raise CannotCount(f"num_heads = {heads} and weights of shape {list(w)} do not fit an input of {list(x)}")
    past = optional(op, 4)
    total = x[1] + (shape_of(past, 5)[3] if past is not None else 0)
    depth = hidden // heads
    return _attention(op, x[0] * heads, x[1], total, depth, depth, extra=2 * x[0] * x[1] * w[0] * w[1])


def multi_head_attention(past: int, heads_attribute: str = "num_heads") -> Counter:
    """Count query, key and value [B, S, H] of com.microsoft, with the past key in an input slot."""

    def count(op: Operator) -> Work:
        batch, heads, length, depth = _heads(op, operand(op, 0), heads_attribute)
        key = shape_of(operand(op, 1), 3)
        before = optional(op, past)
        total = (key[1] if len(key) == 3 else key[2]) + (shape_of(before, 4)[2] if before is not None else 0)
        return _attention(op, batch * heads, length, total, depth, depth)

    return count


def recurrent(gates: int) -> Counter:
    """Count X [S, B, I], W [directions, gates x H, I], R [directions, gates x H, H]."""

    def count(op: Operator) -> Work:
        x, w, r = (shape_of(operand(op, slot), 3) for slot in range(3))
        width = r[-1]
        if w[1] != gates * width or w[2] != x[2] or r[:2] != w[:2]:
            raise CannotCount(f"weights of shapes {list(w)} and {list(r)} do not fit an input of shape {list(x)}")
        steps = prod(x[:2]) * w[0]
        batch = x[0] if integer(op, "layout", 0) else x[1]
        flops = 2 * steps * gates * width * (x[2] + width)
        # Steps follow one another, so that one step is all that runs at a time.
        return matrix(op, w[0], batch, gates * width, x[2] + width, flops=flops)

    return count


_SDPA = "2 x batch x heads x Q x K x (depth of K + depth of V)"

RULES: dict[str, Rule] = {
    "Attention": Rule(attention, "matrix", _SDPA),
    "com.microsoft.Attention": Rule(packed_attention, "matrix", f"2 x B x S x W x 3H + {_SDPA}"),
    "com.microsoft.MultiHeadAttention": Rule(multi_head_attention(6), "matrix", _SDPA),
    "com.microsoft.GroupQueryAttention": Rule(multi_head_attention(3), "matrix", _SDPA),
    "LSTM": Rule(recurrent(4), "matrix", "2 x steps x B x directions x 4H x (I + H)"),
    "GRU": Rule(recurrent(3), "matrix", "2 x steps x B x directions x 3H x (I + H)"),
    "RNN": Rule(recurrent(1), "matrix", "2 x steps x B x directions x H x (I + H)"),
}

ALIASES: dict[str, str] = {
    "ScaledDotProductAttention": "Attention",
    "SDPA": "Attention",
}
