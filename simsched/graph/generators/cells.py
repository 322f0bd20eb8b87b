"""Convolutional cells with many branches: Inception-like, and drawn at random as architecture search does."""

from __future__ import annotations

import random

from simsched.graph.generators.assembly import at_least, below, draws, limit
from simsched.graph.generators.network import Network
from simsched.graph.model import Graph

# Filters of module 3a of the paper: 1x1; 1x1 before 3x3, and it; 1x1 before 5x5, and it; 1x1 after the pool.
ONE, BEFORE_THREE, THREE, BEFORE_FIVE, FIVE, AFTER_POOL = 64, 96, 128, 16, 32, 32

INCEPTION_OPERATORS = 14
"""Operators of one cell: six convolutions with their activations, a pool, a concatenation."""


def inception_like(
    cells: int = 3, *, batch: int = 1, channels: int = 192, size: int = 28, dtype: str = "fp32"
) -> Graph:
    """Make Inception modules in a row, each with four parallel branches of very different work.

    Parameters
    ----------
    cells : int
        Modules; all have the filters of module 3a, so that each makes 256 channels.
    batch, channels, size : int
        Shape of the input, ``[batch, channels, size, size]``.
    dtype : str

    Returns
    -------
    Graph
        14 operators a module; durations are left to the cost model.

    Raises
    ------
    ConfigError
        If a parameter is out of range.

    References
    ----------
    C. Szegedy et al., "Going deeper with convolutions", CVPR 2015, arXiv:1409.4842, table 1.

    Examples
    --------
    >>> inception_like(2)
    Graph('inception_like_2': 28 operators, 30 edges, 41 tensors)
    """
    at_least("inception_like", 1, cells=cells, batch=batch, channels=channels, size=size)
    limit("inception_like", cells * INCEPTION_OPERATORS)
    net = _Convolutions("inception_like", f"inception_like_{cells}", dtype)
    value = net.input("x", (batch, channels, size, size))
    for number in range(cells):
        cell = f"c{number}."
        one = net.conv_relu(f"{cell}1x1", value, ONE, 1)
        three = net.conv_relu(f"{cell}3x3", net.conv_relu(f"{cell}3x3.reduce", value, BEFORE_THREE, 1), THREE, 3)
        five = net.conv_relu(f"{cell}5x5", net.conv_relu(f"{cell}5x5.reduce", value, BEFORE_FIVE, 1), FIVE, 5)
        pooled = net.pool("MaxPool", f"{cell}pool", value)
        projected = net.conv_relu(f"{cell}pool.project", pooled, AFTER_POOL, 1)
        value = net.concat(f"{cell}concat", [one, three, five, projected], output=number == cells - 1)
    return net.build()


def nas_like(
    cells: int = 3,
    seed: int = 0,
    *,
    nodes: int = 4,
    batch: int = 1,
    channels: int = 32,
    size: int = 32,
    dtype: str = "fp32",
) -> Graph:
    """Draw cells from the search space of DARTS: irregular graphs of small operators.

    A cell reads the outputs of the two cells before it. Each of its nodes adds two earlier values of the cell, each
    through a separable convolution, a pool, or unchanged; the cell's output joins all its nodes.

    Parameters
    ----------
    cells, seed : int
    nodes : int
        Nodes of a cell.
    batch, channels, size : int
        The stem makes ``[batch, channels, size, size]`` from an image of three channels.
    dtype : str

    Returns
    -------
    Graph
        Durations are left to the cost model.

    Raises
    ------
    ConfigError
        If a parameter is out of range.

    References
    ----------
    H. Liu, K. Simonyan, Y. Yang, "DARTS: differentiable architecture search", ICLR 2019, arXiv:1806.09055.
    B. Zoph et al., "Learning transferable architectures for scalable image recognition", CVPR 2018,
    arXiv:1707.07012.

    Examples
    --------
    >>> nas_like(2, seed=1).op_types.count("Add")
    8
    """
    at_least("nas_like", 1, cells=cells, nodes=nodes, batch=batch, channels=channels, size=size)
    limit("nas_like", cells * (nodes * 7 + 5) + 2)
    rng = draws("nas_like", seed)
    net = _Convolutions("nas_like", f"nas_like_{cells}_seed{seed}", dtype)
    stem = net.conv_relu("stem", net.input("x", (batch, 3, size, size)), channels, 3)
    before, last = stem, stem
    for number in range(cells):
        made = _cell(net, rng, f"c{number}.", (before, last), channels, nodes, output=number == cells - 1)
        before, last = last, made
    return net.build()


def _cell(
    net: _Convolutions,
    rng: random.Random,
    prefix: str,
    entries: tuple[str, str],
    channels: int,
    nodes: int,
    *,
    output: bool,
) -> str:
    values = [net.conv_relu(f"{prefix}in{side}", entry, channels, 1) for side, entry in enumerate(entries)]
    for node in range(nodes):
        first = below(rng, len(values))
        second = (first + 1 + below(rng, len(values) - 1)) % len(values)
        name = f"{prefix}n{node}"
        sides = [
            _choice(net, rng, f"{name}.{side}", values[source])
            for side, source in zip("ab", (first, second), strict=True)
        ]
        values.append(net.op("Add", name, sides, net.shapes[sides[0]]))
    return net.concat(f"{prefix}concat", values[2:], output=output)


def _choice(net: _Convolutions, rng: random.Random, name: str, x: str) -> str:
    """Draw what stands on an edge of a cell."""
    drawn = below(rng, 5)
    if drawn == 0:
        return x
    if drawn == 1:
        return net.pool("MaxPool", f"{name}.max_pool", x)
    if drawn == 2:
        return net.pool("AveragePool", f"{name}.average_pool", x)
    return net.separable(f"{name}.separable", x, 3 if drawn == 3 else 5)


class _Convolutions(Network):
    """A network of images; all convolutions and pools keep height and width."""

    def conv(self, name: str, x: str, filters: int, kernel: int, group: int = 1) -> str:
        batch, channels, height, width = self.shapes[x]
        weight = self.parameter(f"{name}.weight", (filters, channels // group, kernel, kernel))
        shape = (batch, filters, height, width)
        pads = [kernel // 2] * 4
        return self.op("Conv", name, [x, weight], shape, kernel_shape=[kernel, kernel], pads=pads, group=group)

    def conv_relu(self, name: str, x: str, filters: int, kernel: int) -> str:
        made = self.conv(name, x, filters, kernel)
        return self.op("Relu", f"{name}.relu", [made], self.shapes[made])

    def separable(self, name: str, x: str, kernel: int) -> str:
        channels = self.shapes[x][1]
        active = self.op("Relu", f"{name}.relu", [x], self.shapes[x])
        depthwise = self.conv(f"{name}.depthwise", active, channels, kernel, group=channels)
        return self.conv(f"{name}.pointwise", depthwise, channels, 1)

    def pool(self, op_type: str, name: str, x: str) -> str:
        return self.op(op_type, name, [x], self.shapes[x], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1])

    def concat(self, name: str, parts: list[str], *, output: bool) -> str:
        batch, _, height, width = self.shapes[parts[0]]
        channels = sum(self.shapes[part][1] for part in parts)
        return self.op("Concat", name, parts, (batch, channels, height, width), output=output, axis=1)
