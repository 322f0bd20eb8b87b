"""Elementwise operators, normalisations, reductions, pooling: hand-worked numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from simsched.cost import ops_vector
from tests.one_op import work

SHAPE = (3, 5, 7, 11)
COUNT = 1155


@pytest.mark.parametrize(
    ("op_type", "factor"),
    [
        ("Relu", 1), ("Tanh", 1), ("Clip", 2), ("Sigmoid", 4), ("HardSwish", 5), ("Softmax", 5), ("Mish", 5),
        ("LayerNormalization", 7), ("RMSNormalization", 4), ("DequantizeLinear", 2), ("QuantizeLinear", 4),
        ("BatchNormalization", 2), ("Gelu", 5), ("RandomNormalLike", 20), ("GeluGrad", 11), ("SoftmaxGrad", 4),
    ],
)  # fmt: skip
def test_operations_per_output_element(op_type: str, factor: int) -> None:
    found = work(op_type, [SHAPE], SHAPE)
    assert (found.flops, found.elements, found.unit, found.tiles) == (factor * COUNT, COUNT, "vector", None)
    assert (found.bytes_read, found.bytes_written) == (4 * COUNT, 4 * COUNT)


def test_broadcasting_counts_the_output_and_moves_what_is_there() -> None:
    found = work("Add", [(3, 5, 1), (7,)], (3, 5, 7))
    assert (found.flops, found.bytes_read, found.bytes_written) == (105, 4 * (15 + 7), 4 * 105)


def test_a_tensor_read_twice_is_moved_once() -> None:
    from simsched.cost.registry import work_of
    from simsched.graph.builder import GraphBuilder

    builder = GraphBuilder("square")
    builder.add_tensor("x", shape=(7,), dtype="fp16")
    builder.add_tensor("y", shape=(7,), dtype="fp16")
    builder.add_op("mul", "Mul", inputs=["x", "x"], outputs=["y"])
    found = work_of(builder.build(), 0)
    assert (found.flops, found.bytes_read, found.bytes_written, found.dtype) == (7, 14, 14, "fp16")


@pytest.mark.parametrize(
    ("op_type", "inputs", "out", "attributes", "flops"),
    [
        ("Gelu", [SHAPE], SHAPE, {"approximate": "tanh"}, 9 * COUNT),
        ("BatchNormalization", [SHAPE, (5,), (5,), (5,), (5,)], SHAPE, {"training_mode": 1}, 8 * COUNT),
        ("LRN", [SHAPE], SHAPE, {"size": 5}, 9 * COUNT),
        ("Sum", [(7,), (7,), (7,)], (7,), {}, 14),
        ("Max", [(7,)], (7,), {}, 0),
        ("Mean", [(7,), (7,), (7,)], (7,), {}, 21),
        ("MaxPool", [(1, 3, 8, 8)], (1, 3, 3, 5), {"kernel_shape": [2, 7]}, 45 * 14),
        ("AveragePool", [(1, 3, 8)], (1, 3, 5), {"kernel_shape": [4]}, 15 * 4),
        ("MaxPoolGrad", [(1, 3, 5), (1, 3, 8)], (1, 3, 8), {"kernel_shape": [4]}, 15 * 4),
        ("GlobalAveragePool", [SHAPE], (3, 5, 1, 1), {}, COUNT),
        ("ReduceSum", [SHAPE], (3, 5), {}, COUNT),
        ("ReduceL2", [SHAPE], (3, 5), {}, 2 * COUNT),
        ("ReduceLogSumExp", [SHAPE], (3, 5), {}, 4 * COUNT),
        ("ArgMax", [SHAPE], ("int64", (3, 5, 7)), {}, COUNT),
        ("Resize", [(1, 3, 5, 7)], (1, 3, 10, 14), {"mode": "nearest"}, 0),
        ("Resize", [(1, 3, 5, 7)], (1, 3, 10, 14), {"mode": "linear"}, 8 * 420),
        ("Resize", [(1, 3, 5, 7)], (1, 3, 10, 7), {"mode": "cubic"}, 8 * 210),
        ("Resize", [(1, 3, 5, 7)], (1, 3, 5, 7), {"mode": "cubic"}, 0),
        ("GridSample", [(1, 3, 5, 7), (1, 2, 11, 2)], (1, 3, 2, 11), {}, 8 * 66),
        ("GridSample", [(1, 3, 5, 7), (1, 2, 11, 2)], (1, 3, 2, 11), {"mode": "cubic"}, 32 * 66),
        ("TopK", [(3, 100)], (3, 8), {}, 300 * (3 + 1)),
        ("TopK", [(3, 100)], (3, 1), {}, 300),
        ("SoftmaxCrossEntropyLoss", [(5, 7), ("int64", (5,))], (), {}, 175),
        ("NegativeLogLikelihoodLoss", [(5, 7), ("int64", (5,))], (), {}, 10),
        ("CumSum", [SHAPE], SHAPE, {}, COUNT),
    ],
)  # fmt: skip
def test_by_hand(op_type: str, inputs: list[Any], out: Any, attributes: dict[str, Any], flops: int) -> None:
    found = work(op_type, inputs, out, **attributes)
    assert (found.flops, found.known, found.unit) == (flops, True, "vector")


def test_reductions_are_spread_over_their_inputs() -> None:
    assert work("ReduceMean", [SHAPE], (3,)).elements == COUNT


def test_a_loss_reads_the_scores_of_the_targets_alone() -> None:
    found = work("NegativeLogLikelihoodLoss", [(5, 7000), ("int64", (5,))], ())
    assert (found.bytes_read, found.bytes_written) == (5 * 4 + 5 * 8, 4)


def test_embeddings_that_are_normalised_read_the_rows_looked_up() -> None:
    indices = [("int64", (2, 5)), ("int64", (2, 5))]
    tables = [(30_000, 8), (500, 8), (2, 8), (8,), (8,)]
    found = work("com.microsoft.EmbedLayerNormalization", [*indices, *tables], (2, 5, 8))
    assert (found.flops, found.bytes_written) == (9 * 80, 320)
    assert found.bytes_read == 2 * 80 + 320 + 320 + 64 + 32 + 32


def test_dropout_is_a_view_until_it_trains() -> None:
    view = work("Dropout", [SHAPE], SHAPE)
    assert (view.flops, view.bytes, view.unit, view.known) == (0, 0, "none", True)
    assert work("Dropout", [SHAPE], SHAPE, training_mode=1).flops == 2 * COUNT
    assert work("Dropout", [SHAPE, (), ("bool", ())], SHAPE).flops == 2 * COUNT, "decided at run time: may train"


@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 1000])
def test_top_k_is_a_heap(k: int) -> None:
    assert work("TopK", [(2000,)], (k,)).flops == 2000 * (math.ceil(math.log2(k)) + 1)


@pytest.mark.parametrize(
    ("op_type", "out", "attributes", "reason"),
    [
        ("MaxPool", (1, 3, 5), {}, "attribute 'kernel_shape' is missing"),
        (
            "MaxPool",
            (1, 3, 5),
            {"kernel_shape": "3x3"},
            "attribute 'kernel_shape' is '3x3', expected a list of whole numbers",
        ),
        ("TopK", (3, 8), {"axis": 2}, "attribute 'axis' is 2, outside the 2 dimensions of its output"),
    ],
)
def test_faults(op_type: str, out: tuple[int, ...], attributes: dict[str, Any], reason: str) -> None:
    found = work(op_type, [(1, 3, 8)], out, **attributes)
    assert (found.known, found.reason) == (False, f"{op_type}: {reason}")


def test_every_table_has_a_rule_each() -> None:
    for table in (ops_vector.SIMPLE, ops_vector.COMPOSED, ops_vector.REDUCTIONS, ops_vector.RANDOM):
        assert set(table) <= set(ops_vector.RULES)
