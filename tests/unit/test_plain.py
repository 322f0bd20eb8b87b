"""Frozen values to plain data and back."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import pytest
from pydantic import TypeAdapter

from simsched.config.plain import from_plain, to_plain
from simsched.cost.base import Block, KernelCost
from simsched.errors import ConfigError
from simsched.hardware import HardwareProfile, lanes, procs
from simsched.profiles import load_hardware, profile_names
from simsched.schedulers.proof import Proof
from tests.reference.cases import drawn_hardware


class Colour(StrEnum):
    RED = "red"


class Pair(NamedTuple):
    left: int
    right: str = "r"


@dataclass(frozen=True)
class Leaf:
    size: int
    share: float = 1.0


@dataclass(frozen=True)
class Tree:
    name: str
    leaves: tuple[Leaf, ...] = ()
    best: Leaf | None = None
    kind: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    pair: Pair | None = None
    fixed: tuple[int, float] = (1, 2.0)
    by_op: Mapping[int, Leaf] = field(default_factory=dict)
    flags: list[bool] = field(default_factory=list)
    either: int | str = 0
    anything: Any = None


FULL = Tree(
    "t", (Leaf(1), Leaf(2, 0.5)), Leaf(3), "b", Colour.RED, Pair(4, "x"), (5, 6.5), {7: Leaf(8), -9: Leaf(0)},
    [True, False], "word", {"free": [1, None]},
)  # fmt: skip
PLAIN = {
    "name": "t",
    "leaves": [{"size": 1}, {"size": 2, "share": 0.5}],
    "best": {"size": 3},
    "kind": "b",
    "pair": [4, "x"],
    "fixed": [5, 6.5],
    "by_op": {"7": {"size": 8}, "-9": {"size": 0}},
    "flags": [True, False],
    "either": "word",
    "anything": {"free": [1, None]},
}


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(to_plain(value), allow_nan=False))


def test_every_kind_of_field_becomes_plain_and_comes_back() -> None:
    assert to_plain(FULL) == PLAIN
    assert json.loads(json.dumps(PLAIN)) == PLAIN
    assert from_plain(Tree, PLAIN) == FULL


def test_what_is_left_out_is_at_its_default() -> None:
    assert from_plain(Tree, {"name": "t"}) == Tree("t")
    assert to_plain(Tree("t")) == {"name": "t", "by_op": {}, "flags": []}


def test_short_named_tuples_and_null_are_allowed() -> None:
    found = from_plain(Tree, {"name": "t", "pair": [4], "best": None})
    assert found == Tree("t", pair=Pair(4))


@pytest.mark.parametrize("name", profile_names())
def test_shipped_hardware_comes_back_as_pydantic_reads_it(name: str) -> None:
    profile = load_hardware(name)
    data = through_json(profile)
    found = from_plain(HardwareProfile, data)
    assert dataclasses.asdict(found) == dataclasses.asdict(profile)
    assert dataclasses.asdict(found) == dataclasses.asdict(TypeAdapter(HardwareProfile).validate_python(data))
    assert found.content_hash == profile.content_hash


def test_drawn_hardware_comes_back() -> None:
    drawn = [drawn_hardware(random.Random(seed)) for seed in range(200)]
    for profile in (*drawn, lanes(3), procs(2)):
        found = from_plain(HardwareProfile, through_json(profile))
        assert dataclasses.asdict(found) == dataclasses.asdict(profile)


def test_numbers_that_a_page_has_shortened_come_back_as_floats() -> None:
    """JavaScript writes 1e9 for 1000000000.0, and 1 for 1.0; the types must not depend on it."""
    profile = load_hardware("a100_sxm_80gb")
    shortened = json.loads(json.dumps(to_plain(profile)), parse_float=lambda text: _shortest(float(text)))
    found = from_plain(HardwareProfile, shortened)
    assert dataclasses.asdict(found) == dataclasses.asdict(profile)
    assert type(found.devices[0].memory_bandwidth) is float
    assert found.content_hash == profile.content_hash


def _shortest(value: float) -> float:
    return int(value) if value.is_integer() else value


def test_costs_come_back_with_their_operators() -> None:
    costs = [{3: KernelCost(5, bound="memory", block=Block(32, 8), grid=4)}, {}]
    assert from_plain(list[dict[int, KernelCost]], through_json(costs)) == costs
    assert from_plain(Proof, {"bound": 1, "status": "optimal", "planned": 2}) == Proof(1, "optimal", 2)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": 3}, "name: expected text, got 3"),
        ({"leaves": [{"size": True}]}, "leaves[0].size: expected a whole number, got True"),
        ({"leaves": [{"size": 2.0}]}, "leaves[0].size: expected a whole number, got 2.0"),
        ({"leaves": [{"size": 2, "share": True}]}, "leaves[0].share: expected a number, got True"),
        ({"leaves": [{"size": 2, "share": float("nan")}]}, "leaves[0].share: expected a number, got nan"),
        ({"leaves": [{}]}, "leaves[0]: 'size' is missing"),
        ({"leaves": {}}, "leaves: expected a list, got {}"),
        ({"leaves": [None]}, "leaves[0]: expected a mapping, got null"),
        ({"best": 3}, "best: expected a mapping, got 3"),
        ({"kind": "c"}, "kind: 'c'; expected one of: a, b"),
        ({"kind": ["a"]}, "kind: ['a']; expected one of: a, b"),
        ({"colour": "rad"}, "colour: 'rad'; did you mean 'red'?"),
        ({"colour": {}}, "colour: {}; expected one of: red"),
        ({"pair": []}, "pair: expected a list of left, right, got []"),
        ({"pair": [1, 2]}, "pair[1]: expected text, got 2"),
        ({"fixed": [1]}, "fixed: expected a list of 2 items, got [1]"),
        ({"by_op": {"x": {"size": 1}}}, "by_op.x: expected a whole number, got 'x'"),
        ({"by_op": []}, "by_op: expected a mapping, got []"),
        ({"either": 1.5}, "either: expected a whole number, got 1.5"),
        ({"nome": "t"}, "unknown field 'nome'; did you mean 'name'?"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_plain(Tree, {"name": "t", **change}, "tree")
    assert str(caught.value) == f"tree: {fault}"


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        from_plain(Tree, {"leaves": [{"size": "x"}, {"size": None}], "flags": [1]})
    assert len(caught.value.faults) == 4


def test_a_value_may_refuse_itself() -> None:
    data = {"name": "h", "devices": [{"name": "d", "streams": 2, "stream_priorities": [0]}]}
    with pytest.raises(ConfigError, match="1 stream priorities for 2 streams"):
        from_plain(HardwareProfile, data)


def test_a_type_without_a_plain_form_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="no plain form"):
        from_plain(complex, 1j)
