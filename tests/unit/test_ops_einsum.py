"""Einstein sums against hand-worked numbers, numpy's shapes, and the loops of the definition."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.one_op import work

SIZES = {"a": 2, "b": 3, "c": 5, "d": 7, "e": 11, "f": 13}


def shapes(equation: str) -> list[tuple[int, ...]]:
    return [tuple(SIZES[label] for label in term) for term in equation.partition("->")[0].replace(" ", "").split(",")]


@pytest.mark.parametrize(
    ("equation", "flops", "unit", "tiles"),
    [
        ("ab,bc->ac", 2 * 2 * 3 * 5, "matrix", (1, 2, 5, 3)),
        ("ab, cb -> ca", 2 * 2 * 3 * 5, "matrix", (1, 2, 5, 3)),
        ("abc,acd->abd", 2 * 2 * 3 * 5 * 7, "matrix", (2, 3, 7, 5)),
        ("abcd,aecd->abe", 2 * 2 * 3 * 5 * 7 * 11, "matrix", (2, 3, 11, 35)),
        ("a,a->", 2 * 2, "matrix", (1, 1, 1, 2)),
        ("a,b->ab", 2 * 3, "vector", None),
        ("ab,ab->ab", 2 * 3, "vector", None),
        ("ab->ba", 0, "vector", None),
        ("ab->a", 2 * 3, "vector", None),
        ("aa->a", 0, "vector", None),
        # First ab,bc -> ac (2*3*5 multiply-adds), then ac,cd -> ad (2*5*7).
        ("ab,bc,cd->ad", 2 * (30 + 70), "matrix", (1, 2, 7, 5)),
        ("ab,bc", 2 * 2 * 3 * 5, "matrix", (1, 2, 5, 3)),
    ],
)
def test_by_hand(equation: str, flops: int, unit: str, tiles: tuple[int, ...] | None) -> None:
    inputs = shapes(equation)
    out = np.einsum(equation, *(np.ones(shape) for shape in inputs)).shape
    found = work("Einsum", inputs, out, equation=equation)
    assert (found.flops, found.unit, found.tiles, found.known) == (flops, unit, tiles, True)


@pytest.mark.parametrize(
    ("equation", "inputs", "flops"),
    [
        ("...ij,...jk->...ik", [(3, 5, 2, 7), (5, 7, 11)], 2 * 3 * 5 * 2 * 7 * 11),
        ("...ij,jk", [(3, 2, 7), (7, 11)], 2 * 3 * 2 * 7 * 11),
        ("b...,b...->b...", [(3, 5, 1), (3, 1, 7)], 3 * 5 * 7),
    ],
)
def test_an_ellipsis_broadcasts(equation: str, inputs: list[tuple[int, ...]], flops: int) -> None:
    out = np.einsum(equation, *(np.ones(shape) for shape in inputs)).shape
    assert work("Einsum", inputs, out, equation=equation).flops == flops


@given(st.text("abcde", min_size=1, max_size=4), st.text("abcde", min_size=1, max_size=4), st.data())
def test_two_operands_cost_the_product_of_all_index_sizes(left: str, right: str, data: st.DataObject) -> None:
    labels = sorted(set(left + right))
    kept = data.draw(st.lists(st.sampled_from(labels), unique=True))
    equation = f"{left},{right}->{''.join(kept)}"
    inputs = shapes(equation)
    out = np.einsum(equation, *(np.ones(shape) for shape in inputs)).shape
    loops = prod(SIZES[label] for label in labels)
    assert work("Einsum", inputs, out, equation=equation).flops == loops * (1 if len(kept) == len(labels) else 2)


@pytest.mark.parametrize(
    ("equation", "inputs", "reason"),
    [
        (None, [(2, 3)], "attribute 'equation' is missing"),
        ("abc->a", [(2, 3)], "term 'abc' of the equation does not fit a shape of 2 dimensions"),
        ("a->a", [(2, 3)], "term 'a' of the equation does not fit a shape of 2 dimensions"),
        ("ab,bc->ac", [(2, 3), (5, 7)], "index 'b' of the equation is both 3 and 5"),
        ("ab->z", [(2, 3)], "index 'z' of the result is in no term of the equation"),
        ("ab,bc->ac", [(2, 3)], "input 1 is missing"),
    ],
)
def test_faults(equation: str | None, inputs: list[tuple[int, ...]], reason: str) -> None:
    attributes = {} if equation is None else {"equation": equation}
    found = work("Einsum", inputs, (2,), **attributes)
    assert (found.known, found.reason) == (False, f"Einsum: {reason}")
