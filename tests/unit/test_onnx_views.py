"""Views of ONNX models: what shares a buffer, and what does not."""

from __future__ import annotations

from pathlib import Path

from simsched.graph.onnx_import import load_onnx
from tests.onnx_models import INT64, graph, info, ints, node, write


def test_views_share_the_buffer_of_their_input(tmp_path: Path) -> None:
    nodes = [
        node("Relu", "x", "r"),
        node("Reshape", "r shape", "s"),
        node("Unsqueeze", "s axes", "u"),
        node("Squeeze", "u axes", "v"),
        node("Flatten", "v", "f"),
        node("Identity", "f", "i"),
        node("Transpose", "i", "t"),
        node("Shape", "t", "n"),
        node("Identity", "x", "y"),
    ]
    made = graph(
        nodes,
        [info("x", [2, 3, 5])],
        [info("n", None, INT64), info("y", None)],
        [ints("shape", 5, 6), ints("axes", 0)],
    )
    found = load_onnx(write(tmp_path, made))
    names = found.tensor_names
    shared = {names[tensor]: names[source] for tensor, source in found.aliases.items()}
    assert shared == {"s": "r", "u": "s", "v": "u", "f": "v", "i": "f", "y": "x"}
    assert dict(found.inplace) == {}
    assert found.stored_bytes[found.tensor_names.index("t")] == 2 * 3 * 5 * 4
