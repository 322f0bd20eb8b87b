"""What malformed ONNX files are answered with, to the letter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from simsched.errors import ConfigError, GraphError, InputError
from simsched.graph.onnx_import import load_onnx
from tests.onnx_models import BOOL, FLOAT, INT64, external, graph, info, model, node, weight

X, Y = info("x", [3, 5]), info("y", None)
Made = onnx.ModelProto | onnx.GraphProto | bytes


def relu() -> onnx.ModelProto:
    return model(graph([node("Relu", "x", "y")], [X], [Y]))


def without_opsets() -> onnx.ModelProto:
    made = relu()
    del made.opset_import[:]
    return made


def without_graph() -> onnx.ModelProto:
    made = relu()
    made.ClearField("graph")
    return made


def with_broken_text() -> bytes:
    made = model(graph([node("Relu", "x", "y", name="ZZZZ")], [X], [Y]))
    return made.SerializeToString().replace(b"ZZZZ", b"\xff\xfe\xfd\xfc")


def with_functions(*pairs: tuple[str, str]) -> onnx.ModelProto:
    """Functions that call each other."""
    made = model(graph([node(pairs[0][0], "x", "y", domain="my.ops")], [X], [Y]), my_ops=1)
    opsets = [onnx.helper.make_opsetid("my.ops", 1)]
    for name, called in pairs:
        calls = [node(called, "a", "b", domain="my.ops")]
        made.functions.append(onnx.helper.make_function("my.ops", name, ["a"], ["b"], calls, opsets))
    return made


def with_types() -> onnx.GraphProto:
    made = graph([node("SequenceAt", "s i", "y")], [info("i", [], INT64)], [Y])
    inner = onnx.helper.make_tensor_type_proto(FLOAT, [3])
    made.input.append(onnx.helper.make_value_info("s", onnx.helper.make_sequence_type_proto(inner)))
    return made


def branches(**wanted: onnx.GraphProto) -> onnx.GraphProto:
    return graph([node("If", "c", "y", name="choice", **wanted)], [info("c", [], BOOL)], [Y])


def body_of_three() -> onnx.GraphProto:
    ports = [info("i", [], INT64), info("go", [], BOOL), info("a", None), info("b", None)]
    body = graph([node("Add", "a b", "s")], ports, [info("go", [], BOOL), info("s", None)])
    made = graph([node("Loop", "n - x", "y", name="loop", body=body)], [X], [Y])
    made.initializer.append(onnx.helper.make_tensor("n", INT64, [], [3]))
    return made


CASES: dict[str, tuple[Callable[[], Made], str]] = {
    "empty": (lambda: b"", "m.onnx: the file is empty; expected an ONNX model"),
    "text": (
        lambda: b"ir_version: 10\n",
        "m.onnx: not an ONNX model: the bytes are not a protobuf message, or the file is cut off",
    ),
    "cut off": (
        lambda: relu().SerializeToString()[:-9],
        "m.onnx: not an ONNX model: the bytes are not a protobuf message, or the file is cut off",
    ),
    "git lfs": (
        lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 17\n",
        "m.onnx: this is a Git LFS pointer, not the model; run 'git lfs pull' and try again",
    ),
    "no graph": (without_graph, "m.onnx: the file holds no graph; expected an ONNX model"),
    "no operator set": (
        without_opsets,
        "m.onnx: the model imports no operator set ('opset_import' is empty), so its operators have no meaning",
    ),
    "broken text": (with_broken_text, "m.onnx: a name in the model is not UTF-8 text; the file is damaged"),
    "dangling input": (
        lambda: graph([node("Add", "x hiden", "y", name="sum"), node("Relu", "x", "hidden")], [X], [Y]),
        "m.onnx: operator 'sum' reads 'hiden', which nothing makes; did you mean 'hidden'?",
    ),
    "dangling output": (
        lambda: graph([node("Relu", "x", "a")], [X], [info("ya", None)]),
        "m.onnx: the graph returns 'ya', which nothing makes; did you mean 'a'?",
    ),
    "two makers": (
        lambda: graph([node("Relu", "x", "y", name="p"), node("Tanh", "x", "y", name="q")], [X], [Y]),
        "m.onnx: tensor 'y' is made twice: by operator 'q' and by operator 'p'",
    ),
    "an operator makes an input": (
        lambda: graph([node("Relu", "x", "x", name="p")], [X], [X]),
        "m.onnx: tensor 'x' is made twice: by operator 'p' and by a graph input",
    ),
    "an operator makes a weight": (
        lambda: graph([node("Relu", "x", "w", name="p")], [X], [info("w", None)], [weight("w", 3)]),
        "m.onnx: tensor 'w' is made twice: by operator 'p' and by an initializer",
    ),
    "cycle": (
        lambda: graph(
            [node("Add", "x c", "a", name="p"), node("Relu", "a", "b", name="q"), node("Tanh", "b", "c", name="r")],
            [X],
            [info("b", None)],
        ),
        "m.onnx: the graph has a cycle: p -> q -> r -> p",
    ),
    "shapes that do not fit": (
        lambda: graph([node("MatMul", "x w", "y", name="p")], [X], [Y], [weight("w", 4, 7)]),
        "m.onnx: tensor 'y' of operator 'p' (MatMul) has unknown shape (Incompatible dimensions for matrix "
        "multiplication); write for example --dim 'y[0]'=8 (each dimension)",
    ),
    "an unknown operator type": (
        lambda: graph([node("Convolve", "x", "y", name="p")], [X], [Y]),
        "m.onnx: tensor 'y' of operator 'p' (Convolve) has unknown shape (onnx has no operator type 'Convolve'); "
        "write for example --dim 'y[0]'=8 (each dimension)",
    ),
    "a shape that depends on data": (
        lambda: graph([node("Reshape", "x s", "y", name="p")], [X, info("s", [2], INT64)], [Y]),
        "m.onnx: tensor 'y' of operator 'p' (Reshape) has unknown shape [?, ?] (it depends on the value of 's', which "
        "is not known); write for example --dim 'y[0]'=8 --dim 'y[1]'=8",
    ),
    "a shape in a missing file": (
        lambda: graph([node("Reshape", "x s", "y", name="p")], [X], [Y], [external("s", 2, dtype=INT64)]),
        "m.onnx: tensor 'y' of operator 'p' (Reshape) takes its shape from 's', whose value is in weights.bin; "
        "put that file beside the model",
    ),
    "strings": (
        lambda: graph([node("StringNormalizer", "s", "y")], [info("s", [3], onnx.TensorProto.STRING)], [Y]),
        "m.onnx: input 's' holds strings, whose size is unknown; take text processing out of the model",
    ),
    "a sequence": (
        with_types,
        "m.onnx: input 's' is a sequence, so its size is unknown; take it out of the model",
    ),
    "an element type of the future": (
        lambda: graph([node("Relu", "x", "y")], [info("x", [3], 99)], [Y]),
        "m.onnx: input 'x' has element type 99, whose size is unknown",
    ),
    "a function that calls itself": (
        lambda: with_functions(("F", "F")),
        "m.onnx: function 'my.ops.F' calls itself or is part of a circle of calls",
    ),
    "functions that call each other": (
        lambda: with_functions(("F", "G"), ("G", "H"), ("H", "F")),
        "m.onnx: function 'my.ops.F' calls itself or is part of a circle of calls",
    ),
    "a branch that is missing": (
        lambda: branches(then_branch=graph([], [], [])),
        "m.onnx: operator 'choice' (If) lacks its graph 'else_branch'\n"
        "the shapes of 1 more tensor depend on unknown ones, 'y' first",
    ),
    "a body with other inputs": (
        body_of_three,
        "m.onnx: the body of operator 'loop' has 4 inputs, and 3 are handed to it\n"
        "the shapes of 1 more tensor depend on unknown ones, 'y' first",
    ),
    "a negative dimension": (
        lambda: graph(
            [node("Add", "x w", "y")], [X], [Y], [onnx.TensorProto(name="w", data_type=FLOAT, dims=[-3, 5])]
        ),
        "m.onnx: constant 'w' has a negative dimension: [-3, 5]\n"
        "the shapes of 1 more tensor depend on unknown ones, 'y' first",
    ),
}  # fmt: skip


def answer(folder: Path, made: Made, monkeypatch: pytest.MonkeyPatch) -> InputError:
    """Import a model as ``m.onnx`` of the working directory; returns the error."""
    made = model(made) if isinstance(made, onnx.GraphProto) else made
    (folder / "m.onnx").write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    monkeypatch.chdir(folder)
    with pytest.raises(InputError) as caught:
        load_onnx("m.onnx")
    assert caught.value.__cause__ is None, "no library's traceback may show"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, expected = CASES[name]
    error = answer(tmp_path, make(), monkeypatch)
    found = str(error)
    if len(error.faults) > 1:
        found = "m.onnx: " + "\n".join(fault.message for fault in error.faults)
    assert found == expected
    assert isinstance(error, GraphError if name == "cycle" else ConfigError)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_onnx(tmp_path / "none.onnx")
    assert str(caught.value) == f"{tmp_path}/none.onnx: no such file"


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_onnx(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is a folder; name a file"


def test_an_operator_set_of_the_future(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = model(graph([node("Novel", "x", "y", name="p")], [X], [Y]), opset=9999)
    newest = onnx.defs.onnx_opset_version()
    assert str(answer(tmp_path, made, monkeypatch)) == (
        "m.onnx: tensor 'y' of operator 'p' (Novel) has unknown shape (onnx has no operator type 'Novel'; the model "
        f"uses operator set 9999, onnx {onnx.__version__} knows up to {newest}: install a newer one); "
        "write for example --dim 'y[0]'=8 (each dimension)"
    )


def test_all_faults_come_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [
        node("Add", "x p", "a", name="one"),
        node("Add", "x qq", "q", name="two"),
        node("Relu", "x", "a", name="three"),
    ]
    error = answer(tmp_path, graph(nodes, [X], [info("z", None)]), monkeypatch)
    assert str(error) == (
        "m.onnx: 4 problems\n"
        "  tensor 'a' is made twice: by operator 'three' and by operator 'one'\n"
        "  operator 'one' reads 'p', which nothing makes; expected one of: x, a, q\n"
        "  operator 'two' reads 'qq', which nothing makes; did you mean 'q'?\n"
        "  the graph returns 'z', which nothing makes; expected one of: x, a, q"
    )
