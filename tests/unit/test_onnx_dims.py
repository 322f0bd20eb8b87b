"""Symbolic dimensions, axes of tensors, and what is asked for."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from simsched.errors import ConfigError
from simsched.graph.onnx_import import load_onnx
from tests.onnx_models import FLOAT, INT64, Shape, graph, info, node, weight, write

WHOLE = "--dim batch: expected a whole number of at least 1"


def language_model(folder: Path, *, tokens: Shape = ("batch", "sequence"), mask: Shape = ("batch", "sequence")) -> Path:
    nodes = [
        node("Gather", "table tokens", "e"),
        node("ReduceSum", "mask", "m", keepdims=0),
        node("Mul", "e m", "y"),
    ]
    inputs = [info("tokens", tokens, INT64), info("mask", mask)]
    return write(folder, graph(nodes, inputs, [info("y", ["batch", "sequence", 11])], [weight("table", 101, 11)]))


def test_symbolic_dimensions_are_put_in_everywhere(tmp_path: Path) -> None:
    found = load_onnx(language_model(tmp_path), {"batch": 3, "sequence": 7})
    assert found.operator("Mul_1").outputs[0].shape == (3, 7, 11)
    assert found.operator("Gather_1").inputs[1].bytes == 3 * 7 * 8
    assert "dimensions: batch = 3, sequence = 7" in found.notes


def test_every_open_dimension_is_listed_at_once(tmp_path: Path) -> None:
    path = language_model(tmp_path, mask=(None, "seq-2"))
    with pytest.raises(ConfigError) as caught:
        load_onnx(path)
    assert str(caught.value) == (
        f"{path}: 4 problems\n"
        "  dimension 'batch' (tokens[0]) has no value; write for example --dim batch=8\n"
        "  dimension 'sequence' (tokens[1]) has no value; write for example --dim sequence=8\n"
        "  dimension 'seq-2' (mask[1]) has no value; write for example --dim seq-2=8\n"
        "  dimension 0 of input 'mask' has neither value nor name; write for example --dim 'mask[0]'=8"
    )


def test_a_dimension_of_several_inputs_is_asked_for_once(tmp_path: Path) -> None:
    path = language_model(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load_onnx(path, {"sequence": 7})
    expected = "dimension 'batch' (tokens[0] and 1 more) has no value; write for example --dim batch=8"
    assert str(caught.value) == f"{path}: {expected}"


def test_dimensions_without_a_name_are_given_by_tensor_and_axis(tmp_path: Path) -> None:
    path = language_model(tmp_path, mask=(None, None), tokens=("unk__123", 7))
    found = load_onnx(path, {"unk__123": 2, "mask[0]": 2, "mask[1]": 7})
    assert found.operator("ReduceSum_1").inputs[0].shape == (2, 7)
    assert found.operator("Mul_1").outputs[0].shape == (2, 7, 11)


def test_an_input_without_a_rank(tmp_path: Path) -> None:
    path = language_model(tmp_path, mask=None, tokens=(1, 1))
    with pytest.raises(ConfigError) as caught:
        load_onnx(path)
    expected = "input 'mask' has no shape; write each dimension, for example --dim 'mask[0]'=1 --dim ..."
    assert str(caught.value) == f"{path}: {expected}"
    assert load_onnx(path, {"mask[0]": 5, "mask[1]": 3}).operator("ReduceSum_1").inputs[0].shape == (5, 3)
    with pytest.raises(ConfigError, match=r"dimension 0 of input 'mask' has neither value nor name"):
        load_onnx(path, {"mask[1]": 3})


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        ({"bach": 8}, "--dim bach: the model has no symbolic dimension or loop 'bach'; did you mean 'batch'?"),
        ({"zzz": 8}, "--dim zzz: the model has no symbolic dimension or loop 'zzz'; expected one of: batch, sequence"),
        ({"toknes[0]": 8}, "--dim toknes[0]: the model has no tensor 'toknes'; did you mean 'tokens'?"),
        ({"tokens[2]": 8}, "--dim tokens[2]: tensor 'tokens' has 2 dimensions, counted from 0"),
        ({"y[2]": 12}, "--dim y[2]=12: the model fixes this dimension at 11"),
        ({"batch": 0}, "--dim batch: expected a whole number of at least 1, got 0; write for example --dim batch=8"),
        (
            {"batch": "8"},
            "--dim batch: expected a whole number of at least 1, got '8'; write for example --dim batch=8",
        ),
        (
            {"batch": True},
            "--dim batch: expected a whole number of at least 1, got True; write for example --dim batch=8",
        ),
    ],
)
def test_dimensions_that_do_not_fit(tmp_path: Path, dims: dict[str, int], expected: str) -> None:
    path = language_model(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load_onnx(path, {"batch": 3, "sequence": 7} | dims)
    assert str(caught.value) == f"{path}: {expected}"


def test_what_depends_on_data_is_asked_for_where_it_begins(tmp_path: Path) -> None:
    nodes = [
        node("NonZero", "x", "where", name="find"),
        node("Transpose", "where", "t"),
        node("Cast", "t", "y", to=FLOAT),
    ]
    path = write(tmp_path, graph(nodes, [info("x", [3, 5])], [info("y", None)]))
    with pytest.raises(ConfigError) as caught:
        load_onnx(path)
    assert str(caught.value) == (
        f"{path}: 2 problems\n"
        "  tensor 'where' of operator 'find' (NonZero) has unknown shape [2, ?]; write for example --dim 'where[1]'=8\n"
        "  the shapes of 2 more tensors depend on unknown ones, 't' first"
    )
    assert load_onnx(path, {"where[1]": 9}).operator("Cast_1").outputs[0].shape == (9, 2)


def test_a_symbol_of_an_inner_tensor_can_be_given(tmp_path: Path) -> None:
    nodes = [node("NonZero", "x", "where"), node("Cast", "where", "y", to=FLOAT)]
    values = [info("where", [2, "found"], INT64)]
    path = write(tmp_path, graph(nodes, [info("x", [3, 5])], [info("y", None)], values=values))
    assert load_onnx(path, {"found": 4}).operator("Cast_1").outputs[0].shape == (2, 4)


def test_stale_shapes_of_inner_tensors_do_not_stand_in_the_way(tmp_path: Path) -> None:
    nodes = [node("Relu", "x", "a"), node("Tanh", "a", "y")]
    values = [info("a", ["floor(batch/2)", 5])]
    path = write(tmp_path, graph(nodes, [info("x", ["batch", 5])], [info("y", ["other", 5])], values=values))
    assert load_onnx(path, {"batch": 6}).operator("Tanh_1").outputs[0].shape == (6, 5)


def test_an_operator_type_that_onnx_does_not_know(tmp_path: Path) -> None:
    nodes = [node("Fancy", "x", "a b", name="f", domain="my.ops"), node("Relu", "a", "y")]
    path = write(tmp_path, graph(nodes, [info("x", [3, 5])], [info("y", None)]))
    with pytest.raises(ConfigError) as caught:
        load_onnx(path)
    unknown = "(onnx has no operator type 'my.ops.Fancy'); write for example --dim 'a[0]'=8 (each dimension)"
    assert str(caught.value) == (
        f"{path}: 2 problems\n"
        f"  tensor 'a' of operator 'f' (my.ops.Fancy) has unknown shape {unknown}\n"
        "  the shapes of 1 more tensor depend on unknown ones, 'y' first"
    )
    found = load_onnx(path, {"a[0]": 2, "a[1]": 7})
    assert [tensor.shape for tensor in found.operator("f").outputs] == [(2, 7)], "what nothing reads may stay unknown"
    assert found.operator("f").outputs[0].dtype == "fp32"
    assert "element type of 'a' taken from the inputs of operator 'f'" in found.notes


def test_a_tensor_of_optional_type_keeps_its_type(tmp_path: Path) -> None:
    made = graph([node("OptionalGetElement", "x", "y")], [], [info("y", None)])
    tensor = onnx.helper.make_tensor_type_proto(FLOAT, ["N"])
    made.input.append(onnx.helper.make_value_info("x", onnx.helper.make_optional_type_proto(tensor)))
    assert load_onnx(write(tmp_path, made), {"N": 7}).operator(0).outputs[0].shape == (7,)
