"""Totals of a graph."""

from __future__ import annotations

from simsched.cost.totals import Totals, parameter_count, totals
from simsched.graph.builder import GraphBuilder


def test_totals_by_hand() -> None:
    builder = GraphBuilder("small")
    builder.add_tensor("x", shape=(3, 5), dtype="fp32", kind="input")
    builder.add_tensor("w", shape=(5, 7), dtype="fp32", kind="parameter")
    builder.add_tensor("scale", shape=(), dtype="fp32", kind="parameter")
    builder.add_tensor("steps", shape=(11,), dtype="int64", kind="parameter")
    builder.add_tensor("packed", shape=(13,), dtype="int4", kind="parameter")
    for name in "abc":
        builder.add_tensor(name, shape=(3, 7), dtype="fp32")
    builder.add_op("product", "MatMul", inputs=["x", "w"], outputs=["a"])
    builder.add_op("scaled", "Mul", inputs=["a", "scale"], outputs=["b"])
    builder.add_op("fancy", "Fancy", inputs=["b", "steps", "packed"], outputs=["c"])
    product, scaled, fancy = 210, 21, 0
    moved = (60 + 140 + 84) + (84 + 4 + 84) + (84 + 88 + 7 + 84)
    graph = builder.build()
    # Scalars are constants of formulas, whole numbers of 64 bits are indices: neither is a weight.
    assert totals(graph) == Totals(3, 35 + 13, 140 + 7, product + scaled + fancy, product, moved, {"Fancy": 1})
    assert parameter_count(graph) == 48


def test_a_parameter_that_two_operators_read_is_counted_once() -> None:
    builder = GraphBuilder("shared")
    builder.add_tensor("x", shape=(5,), dtype="fp32", kind="input")
    builder.add_tensor("w", shape=(5,), dtype="fp32", kind="parameter")
    for name in ("a", "b"):
        builder.add_tensor(name, shape=(5,), dtype="fp32")
        builder.add_op(f"add_{name}", "Add", inputs=["x", "w"], outputs=[name])
    assert parameter_count(builder.build()) == 5
