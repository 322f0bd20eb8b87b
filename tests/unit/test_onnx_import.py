"""ONNX models as graphs: tensors, constants, names, types."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from simsched.cost.registry import work_of
from simsched.cost.totals import parameter_count, totals
from simsched.errors import ConfigError, MissingExtraError
from simsched.graph.model import Graph, TensorKind
from simsched.graph.onnx_import import load_onnx
from tests.onnx_models import BFLOAT16, BOOL, FLOAT, INT64, external, graph, info, ints, model, node, weight, write

TYPES = onnx.TensorProto


def kinds(found: Graph) -> dict[str, str]:
    return {name: str(kind) for name, kind in zip(found.tensor_names, found.tensor_kinds, strict=True)}


def shapes(found: Graph) -> dict[str, tuple[int, ...] | None]:
    return dict(zip(found.tensor_names, found.tensor_shapes, strict=True))


@pytest.fixture
def conv(tmp_path: Path) -> Graph:
    nodes = [
        node("Conv", "x w b", "c", name="first", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("GlobalAveragePool", "r", "y", name="pool"),
    ]
    return load_onnx(
        write(
            tmp_path,
            graph(nodes, [info("x", [2, 3, 7, 11])], [info("y", None)], [weight("w", 5, 3, 3, 3), weight("b", 5)]),
            "net.onnx",
        )
    )


def test_a_small_network(conv: Graph) -> None:
    assert conv.name == "net"
    assert list(conv.names) == ["first", "Relu_1", "pool"]
    assert list(conv.op_types) == ["Conv", "Relu", "GlobalAveragePool"]
    assert kinds(conv) == {
        "x": "input", "w": "parameter", "b": "parameter", "c": "activation", "r": "activation", "y": "output",
    }  # fmt: skip
    assert shapes(conv)["c"] == (2, 5, 7, 11)
    assert shapes(conv)["y"] == (2, 5, 1, 1)
    assert conv.operator("first").attributes == {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    assert [conv.names[op] for op in conv.succ[0]] == ["Relu_1"]
    assert work_of(conv, 0).flops == 2 * 2 * 5 * 77 * 27
    assert conv.notes == ("ONNX, operator sets ai.onnx 21, made by test",)


def test_initializers_that_are_inputs_too_are_parameters(tmp_path: Path) -> None:
    made = graph(
        [node("MatMul", "x w", "y")], [info("x", [2, 3]), info("w", [3, 5])], [info("y", [2, 5])], [weight("w", 3, 5)]
    )
    assert kinds(load_onnx(write(tmp_path, made))) == {"x": "input", "w": "parameter", "y": "output"}


def test_inputs_and_weights_that_nothing_reads_are_left_out(tmp_path: Path) -> None:
    inputs = [info("x", [2, 3]), info("idle", ["N", None]), info("words", [3], TYPES.STRING)]
    made = graph([node("Relu", "x", "y")], inputs, [info("y", [2, 3])], [weight("unused", 1000)])
    found = load_onnx(write(tmp_path, made))
    assert kinds(found) == {"x": "input", "y": "output"}
    assert found.notes[-1] == "inputs that nothing reads are left out: 'idle', 'words'"


# --- constants --------------------------------------------------------------------------------------------------


def test_nodes_that_depend_on_constants_alone_become_parameters(tmp_path: Path) -> None:
    nodes = [
        node("ConstantOfShape", "shape", "made"),
        node("Constant", "", "stored", value=weight("", 7)),
        node("Unsqueeze", "stored axes", "column"),
        node("Add", "made column", "folded"),
        node("Mul", "x folded", "y", name="mul"),
    ]
    made = graph(nodes, [info("x", [5, 7, 11])], [info("y", None)], [ints("shape", 1, 7, 11), ints("axes", 0, 2)])
    found = load_onnx(write(tmp_path, made))
    assert list(found.names) == ["mul"]
    assert kinds(found) == {"x": "input", "folded": "parameter", "y": "output"}
    assert shapes(found)["folded"] == (1, 7, 11)
    assert parameter_count(found) == 77
    assert found.notes[-1] == "4 nodes that depend on constants alone are folded into parameters"


def test_a_second_name_of_a_weight_is_not_a_second_weight(tmp_path: Path) -> None:
    nodes = [node("Identity", "w", "v"), node("MatMul", "x w", "a"), node("MatMul", "a v", "y")]
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", [2, 3])], [info("y", None)], [weight("w", 3, 3)])))
    assert parameter_count(found) == 9
    assert [[tensor.name for tensor in op.inputs] for op in found.operators()] == [["x", "w"], ["a", "w"]]


def test_quantised_weights_stay_small(tmp_path: Path) -> None:
    nodes = [node("DequantizeLinear", "q s", "w"), node("MatMul", "x w", "y")]
    stored = [weight("q", 3, 5, dtype=TYPES.INT8), weight("s")]
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", [2, 3])], [info("y", None)], stored)))
    assert list(found.op_types) == ["DequantizeLinear", "MatMul"]
    assert (kinds(found)["q"], kinds(found)["w"]) == ("parameter", "activation")
    assert totals(found).parameter_bytes == 15


def test_random_numbers_are_not_constants(tmp_path: Path) -> None:
    nodes = [node("RandomNormal", "", "n", shape=[2, 3]), node("Add", "x n", "y")]
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", [2, 3])], [info("y", None)])))
    assert list(found.op_types) == ["RandomNormal", "Add"]


def test_operators_of_other_domains_are_not_folded(tmp_path: Path) -> None:
    nodes = [node("Unpack", "w", "v", domain="my.ops"), node("Add", "x v", "y")]
    made = graph(nodes, [info("x", [3])], [info("y", [3])], [weight("w", 3)], [info("v", [3])])
    found = load_onnx(write(tmp_path, model(made, my_ops=1)))
    assert list(found.op_types) == ["my.ops.Unpack", "Add"]
    assert work_of(found, 0).reason == "no rule for operator type 'my.ops.Unpack'"


def test_constants_that_say_how_to_compute_become_attributes(tmp_path: Path) -> None:
    nodes = [
        node("Reshape", "x shape", "a"),
        node("ReduceSum", "a axes", "b", keepdims=0),
        node("Clip", "b - high", "c"),
        node("Slice", "c starts ends", "y"),
    ]
    stored = [ints("shape", 2, -1), ints("axes", 0), weight("high"), ints("starts", 1), ints("ends", 4)]
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", [4, 5])], [info("y", None)], stored)))
    assert [dict(op.attributes) for op in found.operators()] == [
        {"shape": [2, -1]},
        {"keepdims": 0, "axes": [0]},
        {"max": 0.0},
        {"starts": [1], "ends": [4]},
    ]
    assert kinds(found) == {"x": "input", "a": "activation", "b": "activation", "c": "activation", "y": "output"}
    assert shapes(found)["y"] == (3,)


def test_the_slots_of_left_out_inputs_are_kept(tmp_path: Path) -> None:
    nodes = [node("LSTM", "x w r - - h", "y", hidden_size=5)]
    inputs = [info("x", [7, 2, 3]), info("h", [1, 2, 5])]
    found = load_onnx(
        write(tmp_path, graph(nodes, inputs, [info("y", None)], [weight("w", 1, 20, 3), weight("r", 1, 20, 5)]))
    )
    assert found.operator(0).attributes["input_slots"] == [0, 1, 2, 5]
    assert work_of(found, 0).flops == 2 * 7 * 2 * 20 * 8


def test_shape_arithmetic_is_followed(tmp_path: Path) -> None:
    # As exporters write x.view(x.size(0), x.size(1) * x.size(2) // 6, -1).
    nodes = [
        node("Shape", "x", "all"),
        node("Gather", "all zero", "batch", axis=0),
        node("Shape", "x", "inner", start=1),
        node("ReduceProd", "inner", "area", keepdims=0),
        node("Div", "area six", "part"),
        node("Unsqueeze", "batch first", "b1"),
        node("Unsqueeze", "part first", "p1"),
        node("Concat", "b1 p1 rest", "target", axis=0),
        node("Reshape", "x target", "y", name="view"),
    ]
    stored = [
        onnx.helper.make_tensor("zero", INT64, [], [0]), onnx.helper.make_tensor("six", INT64, [], [6]),
        ints("first", 0), ints("rest", -1),
    ]  # fmt: skip
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", ["N", 4, 9])], [info("y", None)], stored)), {"N": 5})
    assert list(found.names) == ["view"]
    assert shapes(found)["y"] == (5, 6, 6)
    assert found.operator(0).attributes["shape"] == [5, 6, -1]
    assert "dimensions: N = 5" in found.notes


def test_outputs_that_are_constants_or_inputs_are_told(tmp_path: Path) -> None:
    outputs = [info("y", [2]), info("x", [2]), info("w", [3])]
    made = graph([node("Relu", "x", "y")], [info("x", [2])], outputs, [weight("w", 3)])
    found = load_onnx(write(tmp_path, made))
    assert found.notes[-1] == "outputs that no operator makes are left out: 'x', 'w'"


# --- weights that are elsewhere ----------------------------------------------------------------------------------


def test_weights_in_files_that_are_missing_are_not_needed(tmp_path: Path) -> None:
    stored = [external("w", 512, 512), external("b", 512)]
    made = graph([node("Gemm", "x w b", "y")], [info("x", [2, 512])], [info("y", None)], stored)
    found = load_onnx(write(tmp_path, made))
    assert parameter_count(found) == 512 * 513
    assert work_of(found, 0).flops == 2 * 2 * 512 * 512


def test_a_shape_in_a_file_that_is_there_is_read(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(bytes([3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]))
    made = graph([node("Reshape", "x s", "y")], [info("x", [6])], [info("y", None)], [external("s", 2, dtype=INT64)])
    assert shapes(load_onnx(write(tmp_path, made)))["y"] == (3, 2)


def test_a_shape_in_a_file_that_is_missing_is_asked_for(tmp_path: Path) -> None:
    made = graph([node("Reshape", "x s", "y")], [info("x", [6])], [info("y", None)], [external("s", 2, dtype=INT64)])
    path = write(tmp_path, made)
    with pytest.raises(ConfigError) as caught:
        load_onnx(path)
    expected = "takes its shape from 's', whose value is in weights.bin; put that file beside the model"
    assert str(caught.value) == f"{path}: tensor 'y' of operator 'Reshape_1' (Reshape) {expected}"
    assert shapes(load_onnx(path, {"y[0]": 2, "y[1]": 3}))["y"] == (2, 3)


def test_a_sparse_weight_takes_what_it_stores(tmp_path: Path) -> None:
    made = graph([node("MatMul", "x w", "y")], [info("x", [2, 100])], [info("y", None)])
    values, indices = weight("w", 7), weight("w_indices", 7, dtype=INT64)
    made.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, indices, [100, 50]))
    found = load_onnx(write(tmp_path, made))
    assert found.operator(0).inputs[1].bytes == 7 * 4 + 7 * 8
    assert work_of(found, 0).flops == 2 * 2 * 100 * 50


# --- names ------------------------------------------------------------------------------------------------------


def test_names_are_unique_and_never_merged(tmp_path: Path) -> None:
    nodes = [
        node("Relu", "x", "a", name="act"),
        node("Relu", "a", "b", name="act"),
        node("Relu", "b", "c"),
        node("Relu", "c", "d", name="Relu_1"),
        node("Relu", "d", "e", name="act#2"),
        node("Tanh", "e", "f"),
        node("Relu", "f", "y"),
    ]
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", [3])], [info("y", None)])))
    assert list(found.names) == ["act", "act#2", "Relu_2", "Relu_1", "act#2#2", "Tanh_1", "Relu_3"]


def test_names_in_any_script(tmp_path: Path) -> None:
    nodes = [node("Relu", "x", "中間", name="活性化 层\n1"), node("Relu", "中間", "y", name="слой")]
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", [3])], [info("y", None)]), "网络.onnx"))
    assert (found.name, list(found.names)) == ("网络", ["活性化 层\n1", "слой"])
    assert "中間" in found.tensor_names


def test_nodes_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    nodes = [node("Tanh", "a", "y"), node("Relu", "x", "a")]
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", [3])], [info("y", None)])))
    assert list(found.op_types) == ["Relu", "Tanh"]


# --- types ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "dtype", "size"),
    [
        (BFLOAT16, "bf16", 2 * 21), (TYPES.FLOAT16, "fp16", 2 * 21), (TYPES.DOUBLE, "fp64", 8 * 21),
        (TYPES.FLOAT8E4M3FN, "fp8", 21), (TYPES.FLOAT8E5M2, "fp8", 21), (TYPES.INT4, "int4", 11),
        (TYPES.UINT4, "uint4", 11), (TYPES.INT8, "int8", 21), (BOOL, "bool", 21),
        (TYPES.COMPLEX64, "complex64", 8 * 21),
    ],
)  # fmt: skip
def test_element_types(tmp_path: Path, code: int, dtype: str, size: int) -> None:
    made = graph([node("Identity", "x", "y")], [info("x", [3, 7], code)], [info("y", None, code)])
    tensor = load_onnx(write(tmp_path, made)).operator(0).outputs[0]
    assert (tensor.dtype, tensor.bytes) == (dtype, size)


def test_every_element_type_of_onnx_but_strings_has_a_size() -> None:
    from simsched.graph.builder import DTYPE_BITS
    from simsched.graph.onnx_import.values import DTYPES

    known = {name for name, _ in TYPES.DataType.items()}
    assert known - {"UNDEFINED", "STRING"} <= set(DTYPES)
    assert set(DTYPES.values()) <= set(DTYPE_BITS)


def test_attributes_are_plain_values(tmp_path: Path) -> None:
    big = weight("", 100)
    nodes = [
        node(
            "Custom", "x", "y", domain="my.ops",
            f=0.1, many=[0.5, float("inf")], s="text", words=["a", "b"], small=ints("", 3, 5), big=big, raw=b"\xff\x00",
        )
    ]  # fmt: skip
    found = load_onnx(write(tmp_path, model(graph(nodes, [info("x", [3])], [info("y", [3])]), my_ops=1)))
    assert found.operator(0).attributes == {
        "f": 0.1, "many": [0.5, "inf"], "s": "text", "words": ["a", "b"], "small": [3, 5], "raw": "\ufffd\x00",
    }  # fmt: skip


# --- operators of all kinds -----------------------------------------------------------------------------------------


def test_functions_of_the_model_are_expanded(tmp_path: Path) -> None:
    inner = onnx.helper.make_function(
        "my.ops", "Twice", ["a"], ["c"], [node("Relu", "a", "b"), node("Tanh", "b", "c")],
        [onnx.helper.make_opsetid("", 21)],
    )  # fmt: skip
    made = model(
        graph([node("Twice", "x", "y", name="f", domain="my.ops")], [info("x", [3])], [info("y", None)]), my_ops=1
    )
    made.functions.append(inner)
    assert list(load_onnx(write(tmp_path, made)).op_types) == ["Relu", "Tanh"]


@pytest.mark.skipif(onnx.defs.onnx_opset_version() < 23, reason="this onnx is older than operator set 23")
def test_attention_of_opset_23(tmp_path: Path) -> None:
    inputs = [info("q", [2, 8, 16, 32]), info("k", [2, 8, 24, 32]), info("v", [2, 8, 24, 32])]
    made = model(graph([node("Attention", "q k v", "y")], inputs, [info("y", None)]), opset=23)
    found = load_onnx(write(tmp_path, made))
    assert shapes(found)["y"] == (2, 8, 16, 32)
    assert work_of(found, 0).flops == 2 * 16 * 16 * 24 * 64


def test_a_mask_of_dropout_that_nothing_reads(tmp_path: Path) -> None:
    made = graph([node("Dropout", "x", "y mask"), node("Relu", "y", "z")], [info("x", [3])], [info("z", None)])
    found = load_onnx(write(tmp_path, made))
    assert (work_of(found, 0).unit, kinds(found)["mask"]) == ("none", "activation")


def test_optional_tensors_are_tensors(tmp_path: Path) -> None:
    made = graph([node("OptionalGetElement", "x", "y")], [], [info("y", [3])])
    tensor = onnx.helper.make_tensor_type_proto(FLOAT, [3])
    made.input.append(onnx.helper.make_value_info("x", onnx.helper.make_optional_type_proto(tensor)))
    found = load_onnx(write(tmp_path, made))
    assert (shapes(found)["x"], found.operator(0).op_type) == ((3,), "OptionalGetElement")


def test_a_name_can_be_given(tmp_path: Path) -> None:
    path = write(tmp_path, graph([node("Relu", "x", "y")], [info("x", [3])], [info("y", None)]))
    assert load_onnx(path, name="mine").name == "mine"
    assert load_onnx(str(path)).content_hash == load_onnx(path, name="mine").content_hash


def test_strict_refuses_what_the_registry_does_not_know(tmp_path: Path) -> None:
    nodes = [node("Fancy", "x", "y", name="f", domain="my.ops")]
    path = write(tmp_path, model(graph(nodes, [info("x", [3])], [info("y", [3])]), my_ops=1))
    assert load_onnx(path).op_types[0] == "my.ops.Fancy"
    with pytest.raises(ConfigError) as caught:
        load_onnx(path, strict=True)
    assert str(caught.value) == (
        f"{path}: the cost of 'f' is unknown (no rule for operator type 'my.ops.Fancy'); "
        "state 'flops' or 'duration', add a rule, or drop strict"
    )


def test_without_onnx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"needs the package 'onnx': pip install 'simsched\[onnx\]'"):
        load_onnx(tmp_path / "any.onnx")


def test_load_graph_reads_models(tmp_path: Path) -> None:
    from simsched.graph.io import load_graph

    path = write(tmp_path, graph([node("Relu", "x", "y")], [info("x", ["N"])], [info("y", None)]))
    assert load_graph(path, dims={"N": 7}).operator(0).outputs[0].kind is TensorKind.OUTPUT


def test_constants_are_computed_under_their_own_names_and_as_their_own_outputs(tmp_path: Path) -> None:
    nodes = [
        node("Identity", "parts", "alias"),
        node("Split", "alias", "head tail", num_outputs=2),
        node("Concat", "tail head", "target", axis=0),
        node("Reshape", "x target", "y"),
    ]
    found = load_onnx(write(tmp_path, graph(nodes, [info("x", [6])], [info("y", None)], [ints("parts", 3, 2)])))
    assert shapes(found)["y"] == (2, 3)


def test_a_chain_of_constants_needs_no_recursion(tmp_path: Path) -> None:
    nodes = [node("Identity" if number % 2 else "Neg", f"s{number}", f"s{number + 1}") for number in range(4000)]
    made = graph([*nodes, node("Reshape", "x s4000", "y")], [info("x", [6])], [info("y", None)], [ints("s0", 3, 2)])
    assert shapes(load_onnx(write(tmp_path, made)))["y"] == (3, 2)
