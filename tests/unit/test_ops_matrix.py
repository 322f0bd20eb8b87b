"""Convolutions and products: hand-worked numbers over distinct primes, and loops that count multiply-adds."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.one_op import work


def test_conv_2d_with_stride_and_padding() -> None:
    # 3 images, 5 -> 7 channels, 11 x 13 pixels, kernel 2 x 3, output 6 x 17: 2 * 3*7*6*17 * 5*2*3 = 128,520.
    found = work("Conv", [(3, 5, 11, 13), (7, 5, 2, 3)], (3, 7, 6, 17), strides=[2, 1])
    assert found.flops == 128_520
    assert found.tiles == (1, 3 * 6 * 17, 7, 5 * 2 * 3)
    assert found.bytes_read == 4 * (3 * 5 * 11 * 13 + 7 * 5 * 2 * 3)
    assert found.bytes_written == 4 * 3 * 7 * 6 * 17
    assert (found.unit, found.known, found.dtype) == ("matrix", True, "fp32")


def test_a_bias_is_read_but_adds_no_flops() -> None:
    without = work("Conv", [(1, 3, 5, 5), (7, 3, 1, 1)], (1, 7, 5, 5))
    biased = work("Conv", [(1, 3, 5, 5), (7, 3, 1, 1), (7,)], (1, 7, 5, 5))
    assert biased.flops == without.flops == 2 * 7 * 25 * 3
    assert biased.bytes_read - without.bytes_read == 4 * 7


@pytest.mark.parametrize(("group", "channels"), [(1, 6), (2, 3), (3, 2), (6, 1)])
def test_grouped_conv(group: int, channels: int) -> None:
    found = work("Conv", [(1, 6, 7, 7), (12, channels, 3, 3)], (1, 12, 5, 5), group=group)
    assert found.flops == 2 * 12 * 25 * channels * 9
    assert found.tiles == (group, 25, 12 // group, channels * 9)


def test_conv_1d_and_3d() -> None:
    assert work("Conv", [(2, 3, 11), (5, 3, 7)], (2, 5, 5)).flops == 2 * (2 * 5 * 5) * (3 * 7)
    assert work("Conv", [(1, 2, 5, 7, 11), (3, 2, 2, 3, 5)], (1, 3, 4, 5, 7)).flops == 2 * (3 * 4 * 5 * 7) * (2 * 30)


def test_dilation_changes_nothing_beside_the_output() -> None:
    plain = work("Conv", [(1, 3, 17), (5, 3, 2)], (1, 5, 13))
    dilated = work("Conv", [(1, 3, 17), (5, 3, 2)], (1, 5, 13), dilations=[4])
    assert dilated.convolution is not None
    assert dilated.convolution.dilations == (4,)
    assert replace(dilated, convolution=plain.convolution) == plain


def test_conv_without_weights_needs_its_kernel_shape() -> None:
    assert work("Conv", [(1, 3, 8, 8)], (1, 5, 8, 8), kernel_shape=[3, 3]).flops == 2 * 5 * 64 * 3 * 9
    lacking = work("Conv", [(1, 3, 8, 8)], (1, 5, 8, 8))
    assert not lacking.known
    assert lacking.reason == "Conv: it has neither weights nor an attribute 'kernel_shape'"


def counted_conv(n: int, groups: int, cin: int, cout: int, out: tuple[int, ...], kernel: tuple[int, ...]) -> int:
    """Multiply-adds of a convolution, counted one by one in its definition's loops."""
    return sum(
        1
        for _ in itertools.product(
            range(n), range(groups), range(cout), *map(range, out), range(cin), *map(range, kernel)
        )
    )


@given(
    st.integers(1, 2), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3),
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=3),
)  # fmt: skip
def test_conv_equals_the_loops_of_its_definition(
    n: int, g: int, cin: int, cout: int, space: list[tuple[int, int]]
) -> None:
    out, kernel = tuple(o for o, _ in space), tuple(k for _, k in space)
    x = (n, g * cin, *(o + k - 1 for o, k in space))
    found = work("Conv", [x, (g * cout, cin, *kernel)], (n, g * cout, *out), group=g)
    assert found.flops == 2 * counted_conv(n, g, cin, cout, out, kernel)
    assert found.tiles is not None
    assert 2 * prod(found.tiles) == found.flops


def test_conv_transpose_meets_every_tap_once_per_input_element() -> None:
    found = work("ConvTranspose", [(2, 3, 5, 7), (3, 11, 2, 2)], (2, 11, 10, 14), strides=[2, 2])
    assert found.flops == 2 * (2 * 3 * 5 * 7) * (11 * 4)
    grouped = work("ConvTranspose", [(1, 6, 5, 5), (6, 2, 3, 3)], (1, 6, 7, 7), group=3)
    assert grouped.flops == 2 * (6 * 25) * (2 * 9)


def test_gradients_of_a_convolution_cost_what_it_costs() -> None:
    x, w, y = (2, 6, 9, 9), (10, 3, 3, 3), (2, 10, 7, 7)
    forward = work("Conv", [x, w], y, group=2)
    assert work("ConvGradInput", [y, w], x, group=2).flops == forward.flops
    assert work("ConvGradWeight", [x, y], w, group=2).flops == forward.flops


@pytest.mark.parametrize(
    ("a", "b", "out", "flops", "tiles"),
    [
        ((5, 7), (7, 11), (5, 11), 770, (1, 5, 11, 7)),
        ((3, 5, 7), (3, 7, 11), (3, 5, 11), 2310, (3, 5, 11, 7)),
        ((2, 3, 5, 7), (7, 11), (2, 3, 5, 11), 4620, (1, 30, 11, 7)),
        ((2, 1, 5, 7), (1, 3, 7, 11), (2, 3, 5, 11), 4620, (6, 5, 11, 7)),
        ((7,), (7, 11), (11,), 154, (1, 1, 11, 7)),
        ((5, 7), (7,), (5,), 70, (1, 5, 1, 7)),
        ((7,), (7,), (), 14, (1, 1, 1, 7)),
    ],
)
def test_matmul(
    a: tuple[int, ...], b: tuple[int, ...], out: tuple[int, ...], flops: int, tiles: tuple[int, ...]
) -> None:
    found = work("MatMul", [a, b], out)
    assert (found.flops, found.tiles) == (flops, tiles)


@given(st.data())
def test_matmul_broadcasts_as_numpy_does(data: st.DataObject) -> None:
    batch = data.draw(st.lists(st.integers(1, 3), max_size=3))
    hidden = [data.draw(st.lists(st.sampled_from([0, 1]), min_size=len(batch), max_size=len(batch))) for _ in "ab"]
    sides = [[1 if hide else size for hide, size in zip(row, batch, strict=True)] for row in hidden]
    cut = data.draw(st.integers(0, len(batch)))
    m, n, k = (data.draw(st.integers(1, 4)) for _ in "mnk")
    a, b = (*sides[0], m, k), (*sides[1][cut:], k, n)
    result = np.matmul(np.ones(a), np.ones(b)).shape
    assert work("MatMul", [a, b], result).flops == 2 * prod(result) * k


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
def test_gemm_transposes(trans_a: int, trans_b: int) -> None:
    a, b = ((7, 5) if trans_a else (5, 7)), ((11, 7) if trans_b else (7, 11))
    found = work("Gemm", [a, b, (11,)], (5, 11), transA=trans_a, transB=trans_b)
    assert (found.flops, found.tiles) == (770, (1, 5, 11, 7))
    assert found.bytes_read == 4 * (35 + 77 + 11)


@pytest.mark.parametrize(
    ("op_type", "inputs", "out", "flops"),
    [
        ("Linear", [(2, 5, 7), (11, 7), (11,)], (2, 5, 11), 1540),
        ("addmm", [(5, 11), (5, 7), (7, 11)], (5, 11), 770),
        ("baddbmm", [(3, 5, 11), (3, 5, 7), (3, 7, 11)], (3, 5, 11), 2310),
        ("com.microsoft.FusedGemm", [(5, 7), (7, 11)], (5, 11), 770),
        ("com.microsoft.FusedConv", [(1, 3, 5), (7, 3, 2)], (1, 7, 4), 336),
        ("QLinearMatMul", [(5, 7), (), (), (7, 11), (), (), (), ()], (5, 11), 770),
        ("QLinearConv", [(1, 3, 5), (), (), (7, 3, 2), (), (), (), ()], (1, 7, 4), 336),
        ("MatMulInteger", [(5, 7), (7, 11)], (5, 11), 770),
        ("ConvInteger", [(1, 3, 5), (7, 3, 2)], (1, 7, 4), 336),
    ],
)
def test_relatives(op_type: str, inputs: list[tuple[int, ...]], out: tuple[int, ...], flops: int) -> None:
    assert work(op_type, inputs, out).flops == flops


def test_packed_weights_take_their_sizes_from_attributes() -> None:
    packed = ("uint8", (11, 1, 4))
    found = work("com.microsoft.MatMulNBits", [("fp16", (3, 5, 7)), packed], ("fp16", (3, 5, 11)), K=7, N=11)
    assert (found.flops, found.tiles, found.dtype) == (2310, (1, 15, 11, 7), "fp16")
    assert found.bytes_read == 2 * 105 + 44


@pytest.mark.parametrize(
    ("op_type", "inputs", "out", "attributes", "reason"),
    [
        ("MatMul", [(5, 7), (6, 11)], (5, 11), {}, "shapes [5, 7] and [6, 11] cannot be multiplied"),
        ("MatMul", [(2, 5, 7), (3, 7, 2)], (5, 2), {}, "shapes [2] and [3] cannot be broadcast"),
        ("MatMul", [(5, 7)], (5, 11), {}, "input 1 is missing"),
        ("Gemm", [(5, 7), (7, 11)], (5, 11), {"transA": "yes"}, "attribute 'transA' is 'yes', expected a whole number"),
        ("Conv", [(5, 7), (7, 11)], (5, 11), {}, "'in0' has shape [5, 7], expected at least 3 dimensions"),
        (
            "Conv",
            [(1, 4, 9), (6, 2, 2)],
            (1, 6, 8),
            {"group": 3},
            "attribute 'group' is 3, which does not divide the channels [4, 6]",
        ),
        (
            "Conv",
            [(1, 4, 9), (6, 3, 2)],
            (1, 6, 8),
            {},
            "weights 'in1' of shape [6, 3, 2] fit neither input nor output",
        ),
        (
            "ConvTranspose",
            [(1, 4, 9), (6, 3, 2)],
            (1, 6, 8),
            {},
            "weights of shape [6, 3, 2] do not fit an input of shape [1, 4, 9]",
        ),
        (
            "ConvGradWeight",
            [(1, 4, 9), (1, 6, 8)],
            (5, 4, 2),
            {},
            "a gradient of shape [5, 4, 2] does not fit outputs of shape [1, 6, 8]",
        ),
        ("Linear", [(5, 7), (11, 6)], (5, 11), {}, "shapes [5, 7] and [11, 6] cannot be multiplied"),
        (
            "com.microsoft.MatMulNBits",
            [(5, 7)],
            (5, 11),
            {"N": 11},
            "attributes K = 0 and N = 11 do not fit an input of shape [5, 7]",
        ),
    ],
)
def test_what_does_not_fit_is_costed_by_its_bytes_and_says_why(
    op_type: str, inputs: list[tuple[int, ...]], out: tuple[int, ...], attributes: dict[str, object], reason: str
) -> None:
    found = work(op_type, inputs, out, **attributes)
    assert (found.known, found.flops, found.reason) == (False, 0, f"{op_type}: {reason}")
    assert found.bytes == 4 * (sum(map(prod, inputs)) + prod(out))
