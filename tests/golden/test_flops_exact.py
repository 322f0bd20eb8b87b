"""FLOPs to the integer, against the values that PyTorch's own flop counter is tested with.

The figures are facts about single operators, and small, so they stand here; where the file of known answers is
present, it must say the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from simsched.cost.registry import work_of
from simsched.cost.totals import totals
from simsched.graph.builder import GraphBuilder
from tests import known_answers
from tests.one_op import work

Shape = tuple[int, ...]


@dataclass
class Products:
    """Writes products and convolutions down, and their gradients, as training would run them."""

    builder: GraphBuilder = field(default_factory=lambda: GraphBuilder("products"))
    count: int = 0

    def tensor(self, shape: Shape) -> str:
        self.count += 1
        return self.builder.add_tensor(f"t{self.count}", shape=shape, dtype="fp32")

    def op(self, op_type: str, inputs: list[Shape], out: Shape, **attributes: object) -> None:
        names = [self.tensor(shape) for shape in inputs]
        made = self.tensor(out)
        self.builder.add_op(f"{op_type}{self.count}", op_type, inputs=names, outputs=[made], attributes=attributes)

    def matmul(self, a: Shape, b: Shape, gradients: str = "") -> None:
        """A product, and the gradients of its sides ``a`` and ``b``, those that are asked for."""
        out = (*a[:-1], b[-1])
        self.op("MatMul", [a, b], out)
        if "a" in gradients:
            self.op("MatMul", [out, (*b[:-2], b[-1], b[-2])], a)
        if "b" in gradients:
            self.op("MatMul", [(*a[:-2], a[-1], a[-2]), out], b)

    def conv(self, x: Shape, w: Shape, y: Shape) -> None:
        self.op("Conv", [x, w], y)
        self.op("ConvGradInput", [y, w], x)
        self.op("ConvGradWeight", [x, y], w)

    def flops(self) -> int:
        return totals(self.builder.build()).matrix_flops


# --- single operators ---------------------------------------------------------------------------------------


def test_products() -> None:
    assert work("mm", [(4, 5), (5, 6)], (4, 6)).flops == 240
    assert work("bmm", [(3, 4, 5), (3, 5, 6)], (3, 4, 6)).flops == 720
    assert work("addmm", [(4, 6), (4, 5), (5, 6)], (4, 6)).flops == 240
    assert work("Gemm", [(4, 5), (5, 6), (4, 6)], (4, 6)).flops == 240
    assert work("baddbmm", [(3, 4, 6), (3, 4, 5), (3, 5, 6)], (3, 4, 6)).flops == 720


def test_convolutions() -> None:
    assert work("conv2d", [(2, 3, 6, 6), (6, 3, 4, 4)], (2, 6, 5, 5), pads=[1, 1, 1, 1]).flops == 28_800
    assert work("conv1d", [(2, 3, 6), (6, 3, 4)], (2, 6, 5), pads=[1, 1]).flops == 1_440


def test_product_expanded_and_multiplied_again_forward_and_backward() -> None:
    net = Products()  # the right-hand sides are constants: only the way back to the input is computed
    net.matmul((4, 5), (5, 6), "a")
    net.matmul((7, 4, 6), (7, 6, 7), "a")
    assert net.flops() == 5_184


def attention(keys: int, *, backward: bool = False, recompute: bool = False) -> int:
    """Attention as its products; flash attention makes Q K^T once more on the way back."""
    net = Products()
    net.matmul((4, 8, 128, 64), (4, 8, 64, keys), "ab" if backward else "")
    net.matmul((4, 8, 128, keys), (4, 8, keys, 64), "ab" if backward else "")
    if recompute:
        net.matmul((4, 8, 128, 64), (4, 8, 64, keys))
    return net.flops()


def test_attention() -> None:
    for keys, forward in ((128, 134_217_728), (256, 268_435_456)):
        fused = work("sdpa", [(4, 8, 128, 64), (4, 8, keys, 64), (4, 8, keys, 64)], (4, 8, 128, 64))
        assert fused.flops == attention(keys) == forward
    assert attention(128, backward=True) == 402_653_184
    assert attention(128, backward=True, recompute=True) == 469_762_048
    assert attention(256, backward=True) == 805_306_368
    assert attention(256, backward=True, recompute=True) == 939_524_096


# --- ResNet-18 ------------------------------------------------------------------------------------------------


def resnet18_convolutions() -> list[tuple[str, Shape, Shape, Shape]]:
    """``(stage, input, weights, output)`` of every convolution, batch 1, 224 x 224."""
    found = [("stem", (1, 3, 224, 224), (64, 3, 7, 7), (1, 64, 112, 112))]
    channels, size = 64, 56
    for stage, width in enumerate((64, 128, 256, 512), 1):
        for block in range(2):
            stride = 2 if stage > 1 and block == 0 else 1
            x, out = (1, channels, size, size), (1, width, size // stride, size // stride)
            found.append((f"layer{stage}", x, (width, channels, 3, 3), out))
            found.append((f"layer{stage}", out, (width, width, 3, 3), out))
            if stride == 2:
                found.append((f"layer{stage}", x, (width, channels, 1, 1), out))
            channels, size = width, size // stride
    return found


def test_resnet18_forward_and_backward() -> None:
    layer1, everything = Products(), Products()
    for stage, x, w, y in resnet18_convolutions():
        everything.conv(x, w, y)
        if stage == "layer1":
            layer1.conv(x, w, y)
    everything.matmul((1, 512), (512, 1000), "ab")
    found = dict.fromkeys(("Conv", "ConvGradInput", "ConvGradWeight"), 0)
    graph = layer1.builder.build()
    for op, op_type in enumerate(graph.op_types):
        found[op_type] += work_of(graph, op).flops
    assert found["Conv"] == 924_844_032
    assert found["ConvGradInput"] + found["ConvGradWeight"] == 1_849_688_064
    assert everything.flops() == 10_884_440_064


def test_the_known_answers_say_the_same() -> None:
    text = (known_answers.folder("flops_exact") / "torch_flop_counter.json").read_text("utf-8")
    cases = {case["op"]: case for case in json.loads(text)["cases"]}
    assert {name: cases[name]["flops"] for name in ("mm", "bmm", "addmm", "baddbmm", "conv2d", "conv1d")} == {
        "mm": 240, "bmm": 720, "addmm": 240, "baddbmm": 720, "conv2d": 28_800, "conv1d": 1_440,
    }  # fmt: skip
    assert cases["mm(4x5,5x6) -> expand 7 -> bmm(7x6x7), forward + backward"]["flops"] == 5_184
    resnet = cases["resnet18 224x224 batch 1 forward+backward incl. input grad"]
    assert (resnet["flops"], resnet["layer1_conv_forward"]) == (10_884_440_064, 924_844_032)
    assert resnet["layer1_conv_backward"] == 1_849_688_064
    for keys in (128, 256):
        case = cases[f"sdpa b4 h8 q128 k{keys} d64"]
        assert case["flops_forward"] == attention(keys)
        assert case["forward_backward_math"] == attention(keys, backward=True)
        assert case["forward_backward_flash"] == attention(keys, backward=True, recompute=True)
