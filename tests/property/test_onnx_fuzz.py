"""Damaged models: whatever the bytes, a graph or one of our own errors, never a library's."""

from __future__ import annotations

import random
from pathlib import Path

import onnx
import onnx.backend.test
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.errors import InputError
from simsched.graph.model import Graph
from simsched.graph.onnx_import import load_onnx
from tests.onnx_models import BOOL, INT64, graph, info, ints, model, node, weight

DATA = Path(onnx.backend.test.__file__).parent / "data"


def loop() -> onnx.GraphProto:
    body = graph(
        [node("MatMul", "h w", "k"), node("Identity", "go", "still")],
        [info("i", [], INT64), info("go", [], BOOL), info("h", None)],
        [info("still", [], BOOL), info("k", None)],
    )
    nodes = [node("Reshape", "x s", "y"), node("Loop", "n - y", "z", name="loop", body=body)]
    stored = [weight("w", 5, 5), ints("s", 3, 5), onnx.helper.make_tensor("n", INT64, [], [7])]
    return graph(nodes, [info("x", [15])], [info("z", None)], stored)


def models() -> list[bytes]:
    """A few models of different make."""
    files = ["light/light_squeezenet.onnx", "simple/test_expand_shape_model1/model.onnx"]
    files += ["pytorch-converted/test_Conv2d_groups/model.onnx", "pytorch-operator/test_operator_lstm/model.onnx"]
    stored = [path.read_bytes() for path in (DATA / file for file in files) if path.exists()]
    return [*stored, model(loop()).SerializeToString()]


MODELS = models()


def read(folder: Path, data: bytes) -> Graph | InputError:
    path = folder / "m.onnx"
    path.write_bytes(data)
    try:
        return load_onnx(path)
    except InputError as error:
        refusal = error
    assert refusal.faults
    assert all(fault.message for fault in refusal.faults)
    return refusal


def test_the_models_themselves_are_read(tmp_path: Path) -> None:
    assert len(MODELS) >= 4
    assert all(isinstance(read(tmp_path, data), Graph) for data in MODELS)


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_models_that_are_cut_off(number: int, tmp_path: Path) -> None:
    data = MODELS[number]
    for size in range(0, len(data), max(1, len(data) // 60)):
        assert not isinstance(read(tmp_path, data[:size]), Graph) or size > 0


@given(number=st.integers(0, len(MODELS) - 1), seed=st.integers(0, 2**32), flips=st.sampled_from([1, 1, 2, 7, 40]))
def test_models_with_flipped_bits(tmp_path_factory: pytest.TempPathFactory, number: int, seed: int, flips: int) -> None:
    rng, data = random.Random(seed), bytearray(MODELS[number])
    for _ in range(flips):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    read(tmp_path_factory.mktemp("flipped"), bytes(data))


@given(st.binary(max_size=200))
def test_bytes_of_any_kind(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    assert isinstance(read(tmp_path_factory.mktemp("any"), data), InputError)
