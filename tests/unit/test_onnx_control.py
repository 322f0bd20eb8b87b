"""If, Loop and Scan: one operator each, costed by the stated rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from simsched.cost.registry import work_of
from simsched.cost.totals import parameter_count
from simsched.errors import ConfigError
from simsched.graph.io import load_graph, save_graph
from simsched.graph.model import Graph
from simsched.graph.onnx_import import load_onnx
from tests.onnx_models import BOOL, INT64, graph, info, ints, model, node, weight, write

PRODUCT = 2 * 3 * 5 * 5


def scalar(name: str, value: int) -> onnx.TensorProto:
    return onnx.helper.make_tensor(name, INT64, [], [value])


def branch(op_type: str, inputs: str, *more: onnx.NodeProto) -> onnx.GraphProto:
    return graph([node(op_type, inputs, "made" if more else "out"), *more], [], [info("out", None)])


def if_model(**constant: bool) -> onnx.GraphProto:
    stored = [weight("w", 5, 5)]
    inputs = [info("x", [3, 5])]
    if constant:
        stored.append(onnx.helper.make_tensor("c", BOOL, [], [constant["value"]]))
    else:
        inputs.append(info("c", [], BOOL))
    then, other = branch("MatMul", "x w"), branch("Relu", "x")
    return graph(
        [node("If", "c", "y", name="choice", then_branch=then, else_branch=other)], inputs, [info("y", None)], stored
    )


def test_an_if_costs_its_dearer_branch(tmp_path: Path) -> None:
    found = load_onnx(write(tmp_path, if_model()))
    assert list(found.op_types) == ["If"]
    assert work_of(found, 0).flops == PRODUCT
    assert found.operator(0).outputs[0].shape == (3, 5)
    assert [(tensor.name, str(tensor.kind)) for tensor in found.operator(0).inputs] == [
        ("c", "input"), ("x", "input"), ("w", "parameter"),
    ]  # fmt: skip
    bodies = found.operator(0).attributes["bodies"]
    assert [(body["name"], body["trips"]) for body in bodies] == [("then_branch", 1), ("else_branch", 1)]


@pytest.mark.parametrize(("value", "flops", "name"), [(True, PRODUCT, "then_branch"), (False, 15, "else_branch")])
def test_a_constant_condition_chooses(tmp_path: Path, value: bool, flops: int, name: str) -> None:
    found = load_onnx(write(tmp_path, if_model(value=value)))
    assert work_of(found, 0).flops == flops
    assert f"condition of 'choice' is constant: only its {name} counts" in found.notes


def test_branches_of_different_shapes_give_room_for_both(tmp_path: Path) -> None:
    then, other = branch("Identity", "a"), branch("Identity", "b")
    inputs = [info("c", [], BOOL), info("a", [2, 7]), info("b", [3, 5])]
    made = graph([node("If", "c", "y", then_branch=then, else_branch=other)], inputs, [info("y", None)])
    assert load_onnx(write(tmp_path, made)).operator(0).outputs[0].shape == (3, 7)


def loop_model(trips: int | None, *, grows: bool = False, condition: str = "-") -> onnx.GraphProto:
    """``h = h w + b`` some times over, all ``h`` stacked; ``b`` is stored inside the body."""
    nodes = [
        node("MatMul", "h w", "p", name="step"),
        node("Add", "p b", "next"),
        node("Identity", "go", "still"),
        node("Relu", "next", "seen"),
    ]
    if grows:
        nodes = [node("Concat", "h h", "next", axis=0), node("Identity", "go", "still"), node("Relu", "next", "seen")]
    body = graph(
        nodes,
        [info("i", [], INT64), info("go", [], BOOL), info("h", None)],
        [info("still", [], BOOL), info("next", None), info("seen", None)],
        [weight("b", 5)],
    )
    count = "n" if trips is not None else "-"
    stored = [weight("w", 5, 5)] + ([scalar("n", trips)] if trips is not None else [])
    inputs = [info("x", [3, 5])] + ([info("cond", [], BOOL)] if condition == "cond" else [])
    loop = node("Loop", f"{count} {condition} x", "last all", name="rnn", body=body)
    return graph([loop], inputs, [info("last", None), info("all", None)], stored)


def test_a_loop_costs_its_trips(tmp_path: Path) -> None:
    found = load_onnx(write(tmp_path, loop_model(7)))
    assert list(found.op_types) == ["Loop"]
    per_trip = PRODUCT + 15 + 15
    assert work_of(found, 0).flops == 7 * per_trip
    assert [tensor.shape for tensor in found.operator(0).outputs] == [(3, 5), (7, 3, 5)]
    assert [tensor.name for tensor in found.operator(0).inputs] == ["x", "w", "rnn/b"]
    assert parameter_count(found) == 25 + 5, "what the body stores is resident too"
    assert found.operator(0).attributes["M"] == 7


def test_what_lives_inside_a_body_is_workspace(tmp_path: Path) -> None:
    # p [3, 5] lives until next is made; next and seen are results, which the outputs of the loop hold; still is 1 byte.
    assert load_onnx(write(tmp_path, loop_model(7))).workspace == {0: 60}


def test_a_loop_without_a_constant_count_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, loop_model(None, condition="cond"))
    with pytest.raises(ConfigError) as caught:
        load_onnx(path)
    assert str(caught.value) == f"{path}: loop 'rnn' runs as often as its data says; write for example --dim rnn=10"
    found = load_onnx(path, {"rnn": 11})
    assert found.operator(0).outputs[1].shape == (11, 3, 5)
    assert work_of(found, 0).flops == 11 * (PRODUCT + 30)


def test_endless_loops_are_asked_for_and_stated_trips_win(tmp_path: Path) -> None:
    path = write(tmp_path, loop_model(2**63 - 1))
    with pytest.raises(ConfigError, match="loop 'rnn' runs as often as its data says"):
        load_onnx(path)
    assert work_of(load_onnx(path, {"rnn": 3}), 0).flops == 3 * (PRODUCT + 30)
    assert work_of(load_onnx(write(tmp_path, loop_model(7)), {"rnn": 2}), 0).flops == 2 * (PRODUCT + 30)


def test_a_carried_value_that_grows(tmp_path: Path) -> None:
    path = write(tmp_path, loop_model(4, grows=True))
    with pytest.raises(ConfigError) as caught:
        load_onnx(path)
    expected = (
        "tensor 'last' of operator 'rnn' (Loop) has unknown shape; write for example --dim 'last[0]'=8 (each dimension)"
    )
    assert str(caught.value) == f"{path}: {expected}"
    found = load_onnx(path, {"last[0]": 48, "last[1]": 5})
    assert found.operator(0).outputs[0].shape == (48, 5)
    assert "'rnn' changes the shape of 'x' from trip to trip; costed as in the first" in found.notes


def scan_model(opset: int, **attributes: Any) -> onnx.ModelProto:
    body = graph(
        [node("MatMul", "s e", "p"), node("Identity", "p", "t"), node("Relu", "p", "o")],
        [info("s", None), info("e", None)],
        [info("t", None), info("o", None)],
    )
    shape = [7, 5, 5] if opset > 8 else [2, 7, 5, 5]
    state = [3, 5] if opset > 8 else [2, 3, 5]
    words = "h xs" if opset > 8 else "- h xs"
    scan = node("Scan", words, "last all", name="scan", body=body, num_scan_inputs=1, **attributes)
    return model(graph([scan], [info("h", state), info("xs", shape)], [info("last", None), info("all", None)]), opset)


def test_a_scan_costs_the_length_of_what_it_scans(tmp_path: Path) -> None:
    found = load_onnx(write(tmp_path, scan_model(21)))
    assert work_of(found, 0).flops == 7 * (PRODUCT + 15)
    assert [tensor.shape for tensor in found.operator(0).outputs] == [(3, 5), (7, 3, 5)]


def test_a_scan_along_another_axis_stacks_along_another_axis(tmp_path: Path) -> None:
    made = scan_model(21, scan_input_axes=[1], scan_output_axes=[-1])
    made.graph.input[1].CopyFrom(info("xs", [5, 7, 5]))
    found = load_onnx(write(tmp_path, made))
    assert work_of(found, 0).flops == 7 * (PRODUCT + 15)
    assert found.operator(0).outputs[1].shape == (3, 5, 7)


def test_the_scan_of_opset_8_has_a_batch(tmp_path: Path) -> None:
    found = load_onnx(write(tmp_path, scan_model(8)))
    assert work_of(found, 0).flops == 2 * 7 * (PRODUCT + 15)
    assert [tensor.shape for tensor in found.operator(0).outputs] == [(2, 3, 5), (2, 7, 3, 5)]


def nested(depth: int) -> onnx.GraphProto:
    inner = branch("Relu", "x")
    for _ in range(depth):
        inner = graph(
            [node("If", "c", "out", then_branch=inner, else_branch=branch("Tanh", "x"))], [], [info("out", None)]
        )
    made = graph([node("If", "c", "y", then_branch=inner, else_branch=branch("Tanh", "x"))], [], [info("y", None)])
    made.input.extend([info("x", [3]), info("c", [], BOOL)])
    return made


def test_control_flow_inside_control_flow(tmp_path: Path) -> None:
    found = load_onnx(write(tmp_path, nested(5)))
    assert (len(found), work_of(found, 0).flops) == (1, 3)
    assert [tensor.name for tensor in found.operator(0).inputs] == ["c", "x"]


def test_control_flow_that_is_nested_too_deep(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="control flow is nested more than 16 deep"):
        load_onnx(write(tmp_path, nested(16)))


def test_loops_inside_loops_are_named_by_their_path(tmp_path: Path) -> None:
    def body(nodes: list[onnx.NodeProto]) -> onnx.GraphProto:
        ports = [info("i", [], INT64), info("go", [], BOOL), info("h", None)]
        return graph([*nodes, node("Identity", "go", "still")], ports, [info("still", [], BOOL), info("k", None)])

    inner = body([node("Relu", "h", "k")])
    outer = body([node("Loop", "- go h", "k", name="inner", body=inner)])
    made = graph([node("Loop", "n - x", "y", name="outer", body=outer)], [info("x", [13])], [info("y", None)])
    made.initializer.append(scalar("n", 3))
    path = write(tmp_path, made)
    with pytest.raises(ConfigError, match=r"loop 'outer/inner' runs .* write for example --dim outer/inner=10"):
        load_onnx(path)
    assert work_of(load_onnx(path, {"outer/inner": 5}), 0).flops == 3 * 5 * 13


def test_an_unknown_operator_in_a_body_is_refused_when_strict(tmp_path: Path) -> None:
    fancy = graph([node("Fancy", "x", "out", domain="my.ops")], [], [info("out", [3])])
    made = graph([node("If", "c", "y", name="choice", then_branch=fancy, else_branch=fancy)], [], [info("y", None)])
    made.input.extend([info("x", [3]), info("c", [], BOOL)])
    path = write(tmp_path, model(made, my_ops=1))
    assert not work_of(load_onnx(path), 0).known
    with pytest.raises(
        ConfigError, match=r"the cost of 'choice' is unknown \(no rule for 'my.ops.Fancy' in its body\)"
    ):
        load_onnx(path, strict=True)


def test_bodies_survive_a_file(tmp_path: Path) -> None:
    found = load_onnx(write(tmp_path, loop_model(7)))
    save_graph(found, tmp_path / "loop.json.gz")
    again: Graph = load_graph(tmp_path / "loop.json.gz")
    assert again.content_hash == found.content_hash
    assert work_of(again, 0) == work_of(found, 0)


def test_constants_in_a_body_fold(tmp_path: Path) -> None:
    then = graph(
        [node("Neg", "shape", "a"), node("Neg", "a", "b"), node("Reshape", "x b", "out")],
        [], [info("out", None)], [ints("shape", 5, 3)],
    )  # fmt: skip
    made = graph([node("If", "c", "y", then_branch=then, else_branch=then)], [], [info("y", None)])
    made.input.extend([info("x", [15]), info("c", [], BOOL)])
    found = load_onnx(write(tmp_path, made))
    assert found.operator(0).outputs[0].shape == (5, 3)
    assert work_of(found, 0).bytes == 0, "only a view is left"
