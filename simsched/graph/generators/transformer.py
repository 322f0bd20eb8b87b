"""Transformer blocks with true shapes: forward, and forward + backward as training runs them."""

from __future__ import annotations

from simsched.graph.generators.assembly import at_least, limit, refuse
from simsched.graph.generators.network import Network, Shape
from simsched.graph.model import Graph, TensorKind

FORWARD_OPERATORS = 29
"""Operators of one block."""

BACKWARD_OPERATORS = 38
"""Operators of one block's backward pass."""


def transformer_block(
    layers: int = 1,
    *,
    batch: int = 1,
    sequence: int = 128,
    hidden: int = 768,
    heads: int = 12,
    feed_forward: int | None = None,
    dtype: str = "fp16",
    backward: bool = False,
) -> Graph:
    """Make transformer blocks that normalise before attention and before the feed-forward part.

    Operator types and attributes are ONNX's; ``MatMul`` also has ``transA`` and ``transB`` as ONNX Runtime's fused
    product has, so that the backward pass needs no copies. Durations are left to the cost model.

    Parameters
    ----------
    layers : int
        Blocks, one after the other.
    batch, sequence, hidden, heads : int
        ``heads`` divides ``hidden``.
    feed_forward : int, optional
        Width of the feed-forward part, ``4 * hidden`` by default.
    dtype : str
    backward : bool
        Add the gradients of all weights and of the input. What the forward pass made stays in memory until its
        gradient has read it: that is what makes training memory large.

    Returns
    -------
    Graph
        29 operators a block; with ``backward`` another 38 a block, and one for the gradient of the loss. The
        products of the forward pass cost ``2 * tokens * hidden * (4 * hidden + 2 * feed_forward)
        + 4 * batch * sequence**2 * hidden`` flops a block, those of the backward pass twice that.

    Raises
    ------
    ConfigError
        If a parameter is out of range.

    References
    ----------
    A. Vaswani et al., "Attention is all you need", NeurIPS 2017, arXiv:1706.03762. R. Xiong et al., "On layer
    normalization in the transformer architecture", ICML 2020, arXiv:2002.04745 (the order of normalisation).
    V. Korthikanti et al., "Reducing activation recomputation in large transformer models", MLSys 2023,
    arXiv:2205.05198 (what is kept for the backward pass, and the count of flops).

    Examples
    --------
    >>> transformer_block(2)
    Graph('transformer_block_2': 58 operators, 64 edges, 93 tensors)
    """
    width = 4 * hidden if feed_forward is None else feed_forward
    at_least("transformer_block", 1, layers=layers, batch=batch, sequence=sequence, hidden=hidden, heads=heads)
    at_least("transformer_block", 1, feed_forward=width)
    limit("transformer_block", layers * (FORWARD_OPERATORS + BACKWARD_OPERATORS))
    if hidden % heads:
        raise refuse("transformer_block", "heads", f"expected a divisor of hidden = {hidden}, got {heads}")
    name = f"transformer_block_{layers}" + ("_training" if backward else "")
    net = Network("transformer_block", name, dtype)
    blocks = [_Block(net, f"l{number}.", batch, sequence, hidden, heads, width) for number in range(layers)]
    value = net.input("x", (batch * sequence, hidden))
    for block in blocks:
        value = block.forward(value, last=block is blocks[-1] and not backward)
    if backward:
        target = net.input("target", (batch * sequence, hidden))
        gradient = net.op("Sub", "loss.grad", [value, target], (batch * sequence, hidden))
        for block in reversed(blocks):
            gradient = block.backward(gradient, last=block is blocks[0])
    return net.build()


class _Block:
    """One block; activations are rows of tokens, except inside attention."""

    def __init__(
        self, net: Network, prefix: str, batch: int, sequence: int, hidden: int, heads: int, feed_forward: int
    ) -> None:
        self.net = net
        self.prefix = prefix
        self.hidden = hidden
        self.feed_forward = feed_forward
        self.rows: Shape = (batch * sequence, hidden)
        self.wide: Shape = (batch * sequence, feed_forward)
        self.split: Shape = (batch, sequence, heads, hidden // heads)
        self.by_head: Shape = (batch, heads, sequence, hidden // heads)
        self.by_head_transposed: Shape = (batch, heads, hidden // heads, sequence)
        self.square: Shape = (batch, heads, sequence, sequence)
        self.entry = ""

    def _op(self, op_type: str, name: str, inputs: list[str], shape: Shape, **attributes: object) -> str:
        return self.net.op(op_type, self.prefix + name, inputs, shape, **attributes)  # type: ignore[arg-type]

    def _at(self, name: str) -> str:
        return self.prefix + name

    def _weight(self, name: str, *shape: int) -> str:
        return self.net.parameter(self.prefix + name, shape)

    # --- forward --------------------------------------------------------------------------------------------

    def forward(self, x: str, *, last: bool) -> str:
        """Write the block; returns its output."""
        self.entry = x
        attended = self._attention(self._normalised("ln1", x))
        kept = self._op("Add", "residual1", [x, attended], self.rows)
        fed = self._linear("fc1", self._normalised("ln2", kept), self.hidden, self.feed_forward)
        active = self._op("Gelu", "gelu", [fed], self.wide)
        back = self._linear("fc2", active, self.feed_forward, self.hidden)
        return self._op("Add", "residual2", [kept, back], self.rows, output=last)

    def _normalised(self, name: str, x: str) -> str:
        scale, bias = self._weight(f"{name}.scale", self.hidden), self._weight(f"{name}.bias", self.hidden)
        return self._op("LayerNormalization", name, [x, scale, bias], self.rows, axis=-1)

    def _linear(self, name: str, x: str, inside: int, outside: int) -> str:
        shape = (self.rows[0], outside)
        product = self._op("MatMul", name, [x, self._weight(f"{name}.weight", inside, outside)], shape)
        return self._op("Add", f"{name}.add", [product, self._weight(f"{name}.bias", outside)], shape)

    def _attention(self, x: str) -> str:
        q, k, v = (self._heads(name, x) for name in ("query", "key", "value"))
        scores = self._op("MatMul", "scores", [q, k], self.square)
        scale = self._weight("scale")
        scaled = self._op("Mul", "scaled", [scores, scale], self.square)
        shares = self._op("Softmax", "softmax", [scaled], self.square, axis=-1)
        context = self._op("MatMul", "context", [shares, v], self.by_head)
        turned = self._op("Transpose", "context.turned", [context], self.split, perm=[0, 2, 1, 3])
        flat = self._op("Reshape", "context.rows", [turned], self.rows)
        return self._linear("project", flat, self.hidden, self.hidden)

    def _heads(self, name: str, x: str) -> str:
        """Project, and turn so that each head is a matrix; keys are turned once more, as the product needs them."""
        rows = self._linear(name, x, self.hidden, self.hidden)
        split = self._op("Reshape", f"{name}.split", [rows], self.split)
        keys = name == "key"
        shape, order = (self.by_head_transposed, [0, 2, 3, 1]) if keys else (self.by_head, [0, 2, 1, 3])
        return self._op("Transpose", f"{name}.heads", [split], shape, perm=order)

    # --- backward -------------------------------------------------------------------------------------------

    def backward(self, upstream: str, *, last: bool) -> str:
        """Write the gradients; ``upstream`` is that of the block's output, what is returned that of its input."""
        active = self._linear_gradient("fc2", self._at("gelu"), upstream, self.feed_forward, self.hidden)
        fed = self._op("GeluGrad", "gelu.grad", [active, self._at("fc1.add")], self.wide)
        normal = self._linear_gradient("fc1", self._at("ln2"), fed, self.hidden, self.feed_forward)
        inner = self._normalised_gradient("ln2", normal, self._at("residual1"))
        kept = self._op("Add", "residual1.grad", [upstream, inner], self.rows)
        outer = self._attention_gradient(kept)
        first = self._normalised_gradient("ln1", outer, self.entry)
        return self._op("Add", "x.grad", [kept, first], self.rows, output=last)

    def _linear_gradient(self, name: str, x: str, upstream: str, inside: int, outside: int) -> str:
        """Gradients of bias and weight, which leave the graph, and of ``x``, which goes on."""
        self._op("ReduceSum", f"{name}.bias.grad", [upstream], (outside,), output=True, axes=[0])
        self._op("MatMul", f"{name}.weight.grad", [x, upstream], (inside, outside), output=True, transA=1)
        weight = self._at(f"{name}.weight")
        return self._op("MatMul", f"{name}.grad", [upstream, weight], (self.rows[0], inside), transB=1)

    def _normalised_gradient(self, name: str, upstream: str, x: str) -> str:
        made = [self._at(f"{name}.{part}.grad") for part in ("scale", "bias")]
        for tensor in made:
            self.net.tensor(tensor, (self.hidden,), TensorKind.OUTPUT)
        inputs = [upstream, x, self._at(f"{name}.scale")]
        return self._op("LayerNormalizationGrad", f"{name}.grad", inputs, self.rows, more_outputs=made, axis=-1)

    def _attention_gradient(self, upstream: str) -> str:
        at = self._at
        flat = self._linear_gradient("project", at("context.rows"), upstream, self.hidden, self.hidden)
        split = self._op("Reshape", "context.split.grad", [flat], self.split)
        context = self._op("Transpose", "context.grad", [split], self.by_head, perm=[0, 2, 1, 3])
        shares = self._op("MatMul", "softmax.in.grad", [context, at("value.heads")], self.square, transB=1)
        value = self._op("MatMul", "value.heads.grad", [at("softmax"), context], self.by_head, transA=1)
        scaled = self._op("SoftmaxGrad", "softmax.grad", [shares, at("softmax")], self.square, axis=-1)
        scores = self._op("Mul", "scores.grad", [scaled, at("scale")], self.square)
        query = self._op("MatMul", "query.heads.grad", [scores, at("key.heads")], self.by_head, transB=1)
        key = self._op("MatMul", "key.heads.grad", [at("query.heads"), scores], self.by_head_transposed, transA=1)
        parts = [
            self._heads_gradient(name, heads) for name, heads in (("query", query), ("key", key), ("value", value))
        ]
        return self._op("Sum", "ln1.in.grad", parts, self.rows)

    def _heads_gradient(self, name: str, upstream: str) -> str:
        order = [0, 3, 1, 2] if name == "key" else [0, 2, 1, 3]
        split = self._op("Transpose", f"{name}.split.grad", [upstream], self.split, perm=order)
        rows = self._op("Reshape", f"{name}.rows.grad", [split], self.rows)
        return self._linear_gradient(name, self._at("ln1"), rows, self.hidden, self.hidden)
