"""The registry: names, own rules, stated figures, and what it does not know."""

from __future__ import annotations

import pytest

from simsched.cost.registry import DEFAULT, require_known, unknown_types, work_of
from simsched.cost.work import CannotCount, Rule, Work, elements_of, operand, shape_of, vector
from simsched.errors import ConfigError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, Operator
from tests.one_op import one_op, work


def twice(op: Operator) -> Work:
    size = elements_of(operand(op, 0))
    return vector(op, 2 * size, size)


@pytest.mark.parametrize(
    ("name", "same_as"),
    [
        ("conv", "Conv"), ("CONV", "Conv"), ("conv2d", "Conv"), ("batch_norm", "BatchNormalization"),
        ("BN", "BatchNormalization"), ("relu", "Relu"), ("mm", "MatMul"), ("sdpa", "Attention"), ("cat", "Concat"),
        ("layer-norm", "LayerNormalization"), ("silu", "Swish"), ("dense", "Linear"), ("Conv_2d", "Conv"),
    ],
)  # fmt: skip
def test_names_are_matched_without_case_and_under_their_other_names(name: str, same_as: str) -> None:
    assert DEFAULT.find(name) is DEFAULT.rules[same_as]


@pytest.mark.parametrize("name", ["op", "Con", "mydomain.Conv", "com.microsoft.Conv", ""])
def test_other_names_have_no_rule(name: str) -> None:
    assert not DEFAULT.knows(name)


def test_every_alias_leads_to_a_rule() -> None:
    assert {target for target in DEFAULT.aliases.values() if target not in DEFAULT.rules} == set()
    assert {alias for alias in DEFAULT.aliases if alias in DEFAULT.rules} == set()


def test_an_unknown_type_is_never_free() -> None:
    found = work("Fancy", [(3, 5)], (7,))
    assert found == Work(0, 60, 28, "vector", False, "fp32", None, 7, "no rule for operator type 'Fancy'")


def test_a_known_type_without_shapes_is_costed_by_its_bytes() -> None:
    builder = GraphBuilder("blind")
    builder.add_tensor("x", bytes=30)
    builder.add_tensor("y", bytes=12)
    builder.add_op("relu", "Relu", inputs=["x"], outputs=["y"])
    found = work_of(builder.build(), 0)
    assert (found.bytes, found.known, found.reason) == (42, False, "Relu: the shape of 'y' is unknown")


def test_own_rules_leave_the_default_as_it_is() -> None:
    mine = DEFAULT.with_rule("Fancy", twice, "Posh")
    assert work("Fancy", [(3, 5)], (7,), registry=mine).flops == 30
    assert work("posh", [(3, 5)], (7,), registry=mine).flops == 30
    assert not DEFAULT.knows("Fancy")
    with pytest.raises(TypeError):
        DEFAULT.rules["Fancy"] = DEFAULT.rules["Relu"]  # type: ignore[index]


def test_an_own_rule_replaces_one_of_the_same_name_and_its_aliases_follow() -> None:
    mine = DEFAULT.with_rule("conv", twice)
    for name in ("Conv", "conv2d", "CONV"):
        assert work(name, [(3, 5)], (7,), registry=mine).flops == 30
    assert not work("Conv", [(3, 5)], (7,)).known


def test_an_own_rule_may_take_the_name_of_an_alias() -> None:
    mine = DEFAULT.with_rule("mm", twice)
    assert work("mm", [(3, 5), (5, 2)], (3, 2), registry=mine).flops == 30
    assert work("bmm", [(3, 5), (5, 2)], (3, 2), registry=mine).flops == 60


def test_an_own_rule_as_decorator_and_as_rule() -> None:
    @DEFAULT.rule("Fancy")
    def mine(op: Operator) -> Work:
        return twice(op)

    assert work("Fancy", [(3, 5)], (7,), registry=mine).flops == 30
    described = DEFAULT.with_rule("Fancy", Rule(twice, "vector", "2 x input elements"))
    assert described.rules["Fancy"].flops == "2 x input elements"


def test_an_own_rule_may_find_that_it_cannot_count() -> None:
    def needy(op: Operator) -> Work:
        shape_of(operand(op, 0), 3)
        raise CannotCount("it never can")

    mine = DEFAULT.with_rule("Fancy", needy)
    assert work("Fancy", [(3, 5, 7)], (7,), registry=mine).reason == "Fancy: it never can"
    expected = "Fancy: 'in0' has shape [3, 5], expected at least 3 dimensions"
    assert work("Fancy", [(3, 5)], (7,), registry=mine).reason == expected


def stated(flops: int | None, traffic: int | None, op_type: str = "Relu") -> Work:
    builder = GraphBuilder("stated")
    builder.add_tensor("x", shape=(5,), dtype="fp32")
    builder.add_tensor("y", shape=(5,), dtype="fp32")
    builder.add_op("a", op_type, inputs=["x"], outputs=["y"], flops=flops, traffic=traffic)
    return work_of(builder.build(), 0)


def test_stated_figures_win() -> None:
    assert (stated(1009, None).flops, stated(1009, None).bytes) == (1009, 40)
    assert (stated(None, 503).flops, stated(None, 503).bytes) == (5, 503)
    found = stated(1009, 503)
    assert (found.flops, found.bytes_read, found.bytes_written, found.known) == (1009, 483, 20, True)
    assert stated(None, 13).bytes == 13
    assert stated(0, 0).bytes == 0


def test_stated_flops_make_an_unknown_type_known_but_stated_bytes_do_not() -> None:
    assert (stated(1009, None, "Fancy").known, stated(1009, None, "Fancy").reason) == (True, "")
    assert stated(None, 503, "Fancy").known is False


def test_a_view_with_stated_work_is_a_kernel() -> None:
    assert stated(None, None, "Reshape").unit == "none"
    assert stated(1009, None, "Reshape").unit == "vector"


def mixed() -> Graph:
    builder = GraphBuilder("mixed")
    for name in "abcdef":
        builder.add_tensor(name, shape=(5,), dtype="fp32")
    builder.add_op("known", "Relu", inputs=["a"], outputs=["b"])
    builder.add_op("fancy1", "Fancy", inputs=["a"], outputs=["c"])
    builder.add_op("fancy2", "Fancy", inputs=["a"], outputs=["d"])
    builder.add_op("timed", "Fancy", inputs=["a"], outputs=["e"], duration=7)
    builder.add_op("typo", "Sofmax", inputs=["a"], outputs=["f"])
    return builder.build()


def test_unknown_types_are_listed_unless_their_duration_is_given() -> None:
    assert unknown_types(mixed()) == {"Fancy": ["fancy1", "fancy2"], "Sofmax": ["typo"]}
    assert unknown_types(mixed(), DEFAULT.with_rule("Fancy", twice)) == {"Sofmax": ["typo"]}


def test_strict_refuses_them_with_what_to_do() -> None:
    with pytest.raises(ConfigError) as caught:
        require_known(mixed(), "my.onnx")
    after = "; state 'flops' or 'duration', add a rule, or drop strict"
    assert str(caught.value) == (
        "my.onnx: 2 problems\n"
        f"  the cost of 'fancy1', 'fancy2' is unknown (no rule for operator type 'Fancy'){after}\n"
        f"  the cost of 'typo' is unknown (no rule for operator type 'Sofmax'); did you mean 'Softmax'?{after}"
    )


def test_strict_accepts_what_is_known() -> None:
    require_known(one_op("Relu", [(5,)], (5,)))


def test_the_type_of_computation_is_that_of_the_numbers() -> None:
    assert work("Gather", [("int64", (3,)), ("fp16", (5, 7))], ("fp16", (3, 7))).dtype == "fp16"
    assert work("Where", [("bool", (3,)), ("bf16", (3,)), ("bf16", (3,))], ("bf16", (3,))).dtype == "bf16"
    assert work("Shape", [("int64", (3,))], ("int64", (1,))).dtype == "int64"


def test_intensity() -> None:
    assert work("MatMul", [(5, 7), (7, 11)], (5, 11)).intensity == 770 / (4 * (35 + 77 + 55))
    assert work("Reshape", [(5, 7)], (35,)).intensity == 0.0
