"""Fused attention and recurrent layers, against the products that they are made of."""

from __future__ import annotations

import pytest

from tests.one_op import work

B, H, Q, K, D, V = 2, 3, 5, 7, 11, 13


def products(batch: int, heads: int, q: int, k: int, depth: int, value: int) -> int:
    """FLOPs of Q K^T and of P V as two MatMul operators."""
    scores = work("MatMul", [(batch, heads, q, depth), (batch, heads, depth, k)], (batch, heads, q, k))
    context = work("MatMul", [(batch, heads, q, k), (batch, heads, k, value)], (batch, heads, q, value))
    return scores.flops + context.flops


def test_attention_of_four_dimensions() -> None:
    found = work("Attention", [(B, H, Q, D), (B, H, K, D), (B, H, K, V)], (B, H, Q, V))
    assert found.flops == products(B, H, Q, K, D, V) == 2 * 6 * 5 * 7 * 24
    assert found.tiles == (6, 5, 7, 11)
    assert found.bytes == 4 * 6 * (5 * 11 + 7 * 11 + 7 * 13 + 5 * 13), "the scores never reach memory"


def test_attention_of_three_dimensions_with_grouped_heads_and_past() -> None:
    # Six query heads share two key heads of depth 11; 17 keys were there before.
    inputs = [(B, Q, 6 * D), (B, K, 2 * D), (B, K, 2 * D), (Q, 17 + K), (B, 2, 17, D), (B, 2, 17, D)]
    found = work("Attention", inputs, (B, Q, 6 * D), q_num_heads=6, kv_num_heads=2)
    assert found.flops == products(B, 6, Q, 17 + K, D, D)


def test_attention_without_a_mask_finds_its_past_by_slot() -> None:
    inputs = [(B, H, Q, D), (B, H, K, D), (B, H, K, D), (B, H, 17, D), (B, H, 17, D)]
    found = work("Attention", inputs, (B, H, Q, D), input_slots=[0, 1, 2, 4, 5])
    assert found.flops == products(B, H, Q, 24, D, D)


def test_packed_attention_counts_its_projections() -> None:
    found = work("com.microsoft.Attention", [(2, 5, 7), (7, 3 * 33), (99,)], (2, 5, 33), num_heads=3)
    projection = work("MatMul", [(2, 5, 7), (7, 99)], (2, 5, 99)).flops
    assert found.flops == projection + products(2, 3, 5, 5, 11, 11)


def test_multi_head_and_grouped_query_attention() -> None:
    sides = [(B, Q, 33), (B, K, 33), (B, K, 33)]
    assert work("com.microsoft.MultiHeadAttention", sides, (B, Q, 33), num_heads=3).flops == products(B, 3, Q, K, D, D)
    grouped = [(B, Q, 66), (B, Q, 22), (B, Q, 22), (B, 2, 17, D), (B, 2, 17, D)]
    found = work("com.microsoft.GroupQueryAttention", grouped, (B, Q, 66), num_heads=6, kv_num_heads=2)
    assert found.flops == products(B, 6, Q, 17 + Q, D, D)


@pytest.mark.parametrize(("op_type", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
@pytest.mark.parametrize("directions", [1, 2])
def test_recurrent_layers_are_their_steps(op_type: str, gates: int, directions: int) -> None:
    steps, batch, inside, hidden = 5, 3, 7, 11
    weights = [(directions, gates * hidden, inside), (directions, gates * hidden, hidden)]
    found = work(op_type, [(steps, batch, inside), *weights], (steps, directions, batch, hidden))
    step = work("MatMul", [(batch, inside + hidden), (inside + hidden, gates * hidden)], (batch, gates * hidden))
    assert found.flops == steps * directions * step.flops
    assert found.tiles == (directions, batch, gates * hidden, inside + hidden)
    batch_first = work(op_type, [(batch, steps, inside), *weights], (batch, steps, directions, hidden), layout=1)
    assert (batch_first.flops, batch_first.tiles) == (found.flops, found.tiles)


@pytest.mark.parametrize(
    ("op_type", "inputs", "out", "attributes", "reason"),
    [
        (
            "Attention",
            [(2, 5, 33)] * 3,
            (2, 5, 33),
            {},
            "attribute 'q_num_heads' is 0, which does not divide the width 33",
        ),
        ("Attention", [(2, 5, 3, 3, 3)] * 3, (2,), {}, "'in0' has shape [2, 5, 3, 3, 3], expected 3 or 4 dimensions"),
        (
            "com.microsoft.Attention",
            [(2, 5, 7), (8, 99)],
            (2, 5, 33),
            {"num_heads": 3},
            "num_heads = 3 and weights of shape [8, 99] do not fit an input of [2, 5, 7]",
        ),
        (
            "LSTM",
            [(5, 3, 7), (1, 44, 6), (1, 44, 11)],
            (5, 1, 3, 11),
            {},
            "weights of shapes [1, 44, 6] and [1, 44, 11] do not fit an input of shape [5, 3, 7]",
        ),
    ],
)
def test_faults(
    op_type: str, inputs: list[tuple[int, ...]], out: tuple[int, ...], attributes: dict[str, int], reason: str
) -> None:
    found = work(op_type, inputs, out, **attributes)
    assert (found.known, found.reason) == (False, f"{op_type}: {reason}")
