"""BERT-base and GPT-2 (small) as graphs with true shapes, written down from their published architectures.

BERT-base, uncased: J. Devlin et al., "BERT: Pre-training of deep bidirectional transformers for language
understanding", NAACL 2019, arXiv:1810.04805. GPT-2, 124M: A. Radford et al., "Language models are unsupervised
multitask learners", 2019. Operators are those of a plain ONNX export at opset 20: one operator for a layer
normalisation and for a GELU, everything else spelt out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, TensorKind

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Size:
    """Sizes of a transformer. ``positions`` and ``vocabulary`` are rows of the embedding tables."""

    vocabulary: int
    positions: int
    layers: int = 12
    hidden: int = 768
    heads: int = 12
    feed_forward: int = 3072
    batch: int = 1
    sequence: int = 128


BERT_BASE = Size(vocabulary=30522, positions=512)
GPT2_SMALL = Size(vocabulary=50257, positions=1024)


class Pen:
    """Writes operators down; each makes one tensor, which is named like its operator."""

    def __init__(self, name: str, size: Size) -> None:
        self.builder = GraphBuilder(name)
        self.size = size
        self.rows: Shape = (size.batch, size.sequence, size.hidden)
        self.wide: Shape = (size.batch, size.sequence, size.feed_forward)
        self.by_head: Shape = (size.batch, size.heads, size.sequence, size.hidden // size.heads)
        self.square: Shape = (size.batch, size.heads, size.sequence, size.sequence)

    def input(self, name: str, shape: Shape) -> str:
        """Declare an input of whole numbers."""
        return self.builder.add_tensor(name, shape=shape, dtype="int64", kind=TensorKind.INPUT)

    def weight(self, name: str, *shape: int, dtype: str = "fp32") -> str:
        """Declare a parameter."""
        return self.builder.add_tensor(name, shape=shape, dtype=dtype, kind=TensorKind.PARAMETER)

    def op(
        self, op_type: str, name: str, inputs: Sequence[str], shape: Shape, *, output: bool = False, **given: Any
    ) -> str:
        """Add an operator; returns its tensor."""
        kind = TensorKind.OUTPUT if output else TensorKind.ACTIVATION
        self.builder.add_tensor(name, shape=shape, dtype="fp32", kind=kind)
        return self.builder.add_op(name, op_type, inputs=inputs, outputs=[name], attributes=given)

    def linear(self, name: str, x: str, inside: int, outside: int, shape: Shape) -> str:
        """Multiply and add."""
        product = self.op("MatMul", f"{name}/MatMul", [x, self.weight(f"{name}.weight", inside, outside)], shape)
        return self.op("Add", f"{name}/Add", [product, self.weight(f"{name}.bias", outside)], shape)

    def normalised(self, name: str, x: str, epsilon: float, *, output: bool = False) -> str:
        """Layer normalisation."""
        hidden = self.size.hidden
        inputs = [x, self.weight(f"{name}.weight", hidden), self.weight(f"{name}.bias", hidden)]
        return self.op("LayerNormalization", name, inputs, self.rows, output=output, axis=-1, epsilon=epsilon)

    def heads(self, name: str, x: str, *, keys: bool = False) -> str:
        """Split rows into heads; keys are turned as the product needs them."""
        batch, heads, sequence, depth = self.by_head
        split = self.op("Reshape", f"{name}/Reshape", [x], (batch, sequence, heads, depth))
        shape, order = ((batch, heads, depth, sequence), [0, 2, 3, 1]) if keys else (self.by_head, [0, 2, 1, 3])
        return self.op("Transpose", f"{name}/Transpose", [split], shape, perm=order)

    def attended(self, name: str, weights: str, values: str) -> str:
        """Apply attention weights and put the heads together again."""
        batch, heads, sequence, depth = self.by_head
        context = self.op("MatMul", f"{name}/context/MatMul", [weights, values], self.by_head)
        turned = self.op(
            "Transpose", f"{name}/context/Transpose", [context], (batch, sequence, heads, depth), perm=[0, 2, 1, 3]
        )
        return self.op("Reshape", f"{name}/context/Reshape", [turned], self.rows)


def _running(size: Size) -> str:
    return f"inference, batch {size.batch}, {size.sequence} tokens, fp32"


def bert_base(size: Size = BERT_BASE) -> Graph:
    """Write BERT down: embeddings, encoder, pooler."""
    pen = Pen("bert_base", size)
    mask = _bert_mask(pen)
    hidden = _bert_embeddings(pen)
    for layer in range(size.layers):
        hidden = _bert_layer(pen, f"encoder.layer.{layer}", hidden, mask, last=layer == size.layers - 1)
    first = pen.op(
        "Gather",
        "pooler/Gather",
        [hidden, pen.weight("pooler.index", dtype="int64")],
        (size.batch, size.hidden),
        axis=1,
    )
    dense = pen.op(
        "Gemm",
        "pooler/Gemm",
        [
            first,
            pen.weight("pooler.dense.weight", size.hidden, size.hidden),
            pen.weight("pooler.dense.bias", size.hidden),
        ],
        (size.batch, size.hidden),
        transB=1,
    )
    pen.op("Tanh", "pooler/Tanh", [dense], (size.batch, size.hidden), output=True)
    pen.builder.description = f"BERT-base uncased with its pooler, {_running(size)}"
    pen.builder.origin = "arXiv:1810.04805, written down in scripts/language_models.py"
    return pen.builder.build()


def _bert_mask(pen: Pen) -> str:
    """Turn the mask of real tokens into what is added to attention scores."""
    shape = (pen.size.batch, 1, 1, pen.size.sequence)
    mask = pen.input("attention_mask", (pen.size.batch, pen.size.sequence))
    wide = pen.op("Unsqueeze", "mask/Unsqueeze", [mask], shape, axes=[1, 2])
    real = pen.op("Cast", "mask/Cast", [wide], shape, to=1)
    padding = pen.op("Sub", "mask/Sub", [pen.weight("mask.one"), real], shape)
    return pen.op("Mul", "mask/Mul", [padding, pen.weight("mask.lowest")], shape)


def _bert_embeddings(pen: Pen) -> str:
    size, name = pen.size, "embeddings"
    tokens = (size.batch, size.sequence)
    tables = (
        ("word", "input_ids", size.vocabulary),
        ("position", "position_ids", size.positions),
        ("token_type", "token_type_ids", 2),
    )
    found = []
    for table, indices, rows in tables:
        weight = pen.weight(f"{name}.{table}_embeddings.weight", rows, size.hidden)
        found.append(pen.op("Gather", f"{name}/{table}/Gather", [weight, pen.input(indices, tokens)], pen.rows, axis=0))
    both = pen.op("Add", f"{name}/Add", [found[0], found[2]], pen.rows)
    summed = pen.op("Add", f"{name}/Add_1", [both, found[1]], pen.rows)
    return pen.normalised(f"{name}.LayerNorm", summed, 1e-12)


def _bert_layer(pen: Pen, name: str, x: str, mask: str, *, last: bool) -> str:
    hidden, wide = pen.size.hidden, pen.size.feed_forward
    rows = [
        pen.linear(f"{name}.attention.self.{part}", x, hidden, hidden, pen.rows) for part in ("query", "key", "value")
    ]
    q, v = pen.heads(f"{name}.attention.query", rows[0]), pen.heads(f"{name}.attention.value", rows[2])
    k = pen.heads(f"{name}.attention.key", rows[1], keys=True)
    scores = pen.op("MatMul", f"{name}.attention/scores/MatMul", [q, k], pen.square)
    scale = pen.weight(f"{name}.attention.scale")
    scaled = pen.op("Div", f"{name}.attention/scores/Div", [scores, scale], pen.square)
    masked = pen.op("Add", f"{name}.attention/scores/Add", [scaled, mask], pen.square)
    weights = pen.op("Softmax", f"{name}.attention/Softmax", [masked], pen.square, axis=-1)
    context = pen.attended(f"{name}.attention", weights, v)
    attended = pen.linear(f"{name}.attention.output.dense", context, hidden, hidden, pen.rows)
    summed = pen.op("Add", f"{name}.attention.output/Add", [attended, x], pen.rows)
    middle = pen.normalised(f"{name}.attention.output.LayerNorm", summed, 1e-12)
    up = pen.linear(f"{name}.intermediate.dense", middle, hidden, wide, pen.wide)
    active = pen.op("Gelu", f"{name}.intermediate/Gelu", [up], pen.wide, approximate="none")
    down = pen.linear(f"{name}.output.dense", active, wide, hidden, pen.rows)
    total = pen.op("Add", f"{name}.output/Add", [down, middle], pen.rows)
    return pen.normalised(f"{name}.output.LayerNorm", total, 1e-12, output=last)


def gpt2(size: Size = GPT2_SMALL) -> Graph:
    """Write GPT-2 down: embeddings, decoder, and the language-model head that shares the token embeddings."""
    pen = Pen("gpt2", size)
    tokens = (size.batch, size.sequence)
    table = pen.weight("wte.weight", size.vocabulary, size.hidden)
    words = pen.op("Gather", "wte/Gather", [table, pen.input("input_ids", tokens)], pen.rows, axis=0)
    places = [pen.weight("wpe.weight", size.positions, size.hidden), pen.input("position_ids", tokens)]
    x = pen.op("Add", "Add", [words, pen.op("Gather", "wpe/Gather", places, pen.rows, axis=0)], pen.rows)
    causal = pen.weight("causal_mask", 1, 1, size.sequence, size.sequence, dtype="bool")
    for layer in range(size.layers):
        x = _gpt2_block(pen, f"h.{layer}", x, causal)
    flat = (size.batch * size.sequence, size.hidden)
    rows = pen.op("Reshape", "lm_head/Reshape", [pen.normalised("ln_f", x, 1e-5)], flat)
    logits = pen.op("Gemm", "lm_head/Gemm", [rows, table], (flat[0], size.vocabulary), transB=1)
    pen.op("Reshape", "lm_head/Reshape_1", [logits], (*tokens, size.vocabulary), output=True)
    pen.builder.description = f"GPT-2 small (124M) without a cache, {_running(size)}"
    pen.builder.origin = "Radford et al. 2019, written down in scripts/language_models.py"
    return pen.builder.build()


def _gpt2_block(pen: Pen, name: str, x: str, causal: str) -> str:
    hidden, wide = pen.size.hidden, pen.size.feed_forward
    normal = pen.normalised(f"{name}.ln_1", x, 1e-5)
    packed = pen.linear(f"{name}.attn.c_attn", normal, hidden, 3 * hidden, (*pen.rows[:2], 3 * hidden))
    parts = [f"{name}.attn/{part}" for part in ("query", "key", "value")]
    for part in parts:
        pen.builder.add_tensor(part, shape=pen.rows, dtype="fp32")
    pen.builder.add_op(f"{name}.attn/Split", "Split", inputs=[packed], outputs=parts, attributes={"axis": 2})
    q, v = pen.heads(f"{name}.attn.query", parts[0]), pen.heads(f"{name}.attn.value", parts[2])
    k = pen.heads(f"{name}.attn.key", parts[1], keys=True)
    scores = pen.op("MatMul", f"{name}.attn/scores/MatMul", [q, k], pen.square)
    scaled = pen.op("Div", f"{name}.attn/scores/Div", [scores, pen.weight(f"{name}.attn.scale")], pen.square)
    masked = pen.op("Where", f"{name}.attn/Where", [causal, scaled, pen.weight(f"{name}.attn.lowest")], pen.square)
    weights = pen.op("Softmax", f"{name}.attn/Softmax", [masked], pen.square, axis=-1)
    context = pen.attended(f"{name}.attn", weights, v)
    attended = pen.linear(f"{name}.attn.c_proj", context, hidden, hidden, pen.rows)
    middle = pen.op("Add", f"{name}/Add", [attended, x], pen.rows)
    up = pen.linear(f"{name}.mlp.c_fc", pen.normalised(f"{name}.ln_2", middle, 1e-5), hidden, wide, pen.wide)
    active = pen.op("Gelu", f"{name}.mlp/Gelu", [up], pen.wide, approximate="tanh")
    down = pen.linear(f"{name}.mlp.c_proj", active, wide, hidden, pen.rows)
    return pen.op("Add", f"{name}/Add_1", [middle, down], pen.rows)
