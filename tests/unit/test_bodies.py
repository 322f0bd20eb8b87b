"""Control flow: bodies as rows of data, costed by the rules of their operators."""

from __future__ import annotations

from typing import Any

import pytest

from simsched.cost.registry import DEFAULT, unknown_types
from simsched.cost.work import elements_of, vector
from tests.one_op import one_op, work


def row(op_type: str, inputs: list[list[int]], output: list[int], **attributes: Any) -> dict[str, Any]:
    def tensor(name: str, shape: list[int]) -> list[Any]:
        size = 4
        for length in shape:
            size *= length
        return [name, size, shape, "fp32"]

    named = [tensor(f"x{number}", shape) for number, shape in enumerate(inputs)]
    return {"op_type": op_type, "inputs": named, "outputs": [tensor("y", output)], "attributes": attributes}


PRODUCT = row("MatMul", [[5, 7], [7, 11]], [5, 11])  # 770 flops, 668 bytes
BIASED = row("Add", [[5, 11], [11]], [5, 11])  # 55 flops, 484 bytes
TURNED = row("Transpose", [[5, 11]], [11, 5])  # 0 flops, 440 bytes
FANCY = row("Fancy", [[3]], [3])  # unknown, 24 bytes


def body(*rows: dict[str, Any], trips: int = 1, name: str = "body") -> dict[str, Any]:
    return {"name": name, "trips": trips, "operators": list(rows)}


def test_a_loop_costs_its_body_times_its_trips() -> None:
    found = work("Loop", [(5, 7)], (5, 11), bodies=[body(PRODUCT, BIASED, trips=13)])
    assert (found.flops, found.bytes, found.known) == (13 * 825, 13 * (668 + 484), True)
    assert (found.unit, found.tiles) == ("matrix", (1, 5, 11, 7))


def test_an_if_costs_its_dearest_branch() -> None:
    branches = [body(TURNED, name="then_branch"), body(PRODUCT, name="else_branch")]
    assert work("If", [()], (5, 11), bodies=branches).flops == 770
    movers = [body(BIASED), body(TURNED, BIASED)]
    assert work("If", [()], (5, 11), bodies=movers).bytes == 924, "equal flops: the one that moves more"


def test_bodies_nest() -> None:
    inner = row("Loop", [[5, 7]], [5, 11])
    inner["attributes"] = {"bodies": [body(PRODUCT, trips=3)]}
    assert work("Scan", [(5, 7)], (5, 11), bodies=[body(inner, BIASED, trips=2)]).flops == 2 * (3 * 770 + 55)


def test_an_unknown_type_inside_makes_the_whole_unknown() -> None:
    graph = one_op("Loop", [(5, 7)], (5, 11), bodies=[body(PRODUCT, FANCY, trips=2)])
    assert unknown_types(graph) == {"Loop": ["op"]}
    found = work("Loop", [(5, 7)], (5, 11), bodies=[body(PRODUCT, FANCY, trips=2)])
    assert (found.flops, found.bytes, found.reason) == (1540, 2 * 692, "no rule for 'Fancy' in its body")


def test_own_rules_reach_into_bodies() -> None:
    mine = DEFAULT.with_rule("Fancy", lambda op: vector(op, 17 * elements_of(op.inputs[0]), 3))
    assert work("Loop", [(3,)], (3,), registry=mine, bodies=[body(FANCY, trips=2)]).flops == 102


def test_an_empty_body_costs_nothing() -> None:
    assert work("If", [()], (5,), bodies=[body(), body()]).flops == 0


@pytest.mark.parametrize("bodies", [17, [17], [{"trips": 2}], [{"trips": 1, "operators": [{"op_type": "Relu"}]}]])
def test_a_body_that_cannot_be_read_is_unknown(bodies: Any) -> None:
    found = work("Loop", [(5, 7)], (5, 11), bodies=bodies)
    assert found.known is False
    assert found.reason.startswith("attribute 'bodies' cannot be read: ")
    assert found.bytes == 4 * (35 + 55)


def test_no_body_is_unknown() -> None:
    assert work("If", [()], (5,), bodies=[]).reason == "it has no body"
