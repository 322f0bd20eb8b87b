"""Matrix kernels on SMs: tiles, waves, latency that is not hidden, and what libraries do about it.

A product of m x k by k x n is cut into tiles of outputs, one for each thread block. An SM takes turns between the
blocks that are on it, and reaches its full rate where enough outputs are accumulated on it at a time; with fewer, each
step along k waits for the step before (Little's law: work in flight = latency x rate; V. Volkov, *Better performance
at lower occupancy*, GTC 2010). So ``r`` tiles on an SM take

``steps along k x max(r x outputs of a tile, SATURATION) / rate of the SM``

The blocks of a kernel spread over all SMs, so the fullest SM has ``r = ceil(blocks / SMs)`` of a wave, and as many as
are resident together make a full wave (wave quantisation: NVIDIA, *Matrix Multiplication Background User's Guide*).

Of the kernels that it has, the library takes the fastest: among tile sizes, k in one part or in several, and, for
convolutions with windows of 3 x 3 on the vector units, Winograd's minimal filtering (A. Lavin, S. Gray, CVPR 2016,
https://doi.org/10.1109/CVPR.2016.435). Every constant and what it was fitted on: decision note 0011.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from simsched.cost.base import Block
from simsched.cost.occupancy import occupancy
from simsched.cost.peaks import Peak
from simsched.cost.work import Convolution, Work
from simsched.hardware import Device


class Tile(NamedTuple):
    """A tile of outputs, and the thread block that computes it."""

    rows: int
    columns: int
    block: Block


_BLOCK = Block(threads=128, registers=128, shared_memory=16 * 1024)
TILES = (Tile(128, 64, _BLOCK), Tile(64, 64, _BLOCK))
"""Two that V100 libraries run most: ``volta_scudnn_128x64`` has that block (seen in a published profile of PyTorch:
pytorch/kineto, ``tb_plugin/samples``), and the SM counts of Orion's convolutions are those of four such to an SM."""

SATURATION = 6400
"""Outputs accumulated on an SM at a time that let it run at its full rate."""

CONVOLUTION_START_NS = 15_000
"""What a convolution takes beside its steps: kernels that prepare its addresses, filling and draining."""

CONVOLUTION_PARTS = 2
"""Into how many parts along k a convolution is divided, at most."""

PRODUCT_PARTS = 32
"""The same for plain products, whose libraries divide more."""

SHORTEST = 16
"""Steps along k that each part keeps, at least: two rounds of a main loop of eight."""

PARTIAL_BYTES = 4
"""Of one partial sum: fp32."""


class TiledKernel(NamedTuple):
    """One way to run a product on SMs.

    Attributes
    ----------
    compute : float
        What it takes alone, in ns, while memory is not the limit.
    grid : int
    block : Block
    tail : float
        Part of ``compute`` that is the last of several waves, in ns; 0 for a single wave.
    """

    compute: float
    grid: int
    block: Block
    tail: float


class _Product(NamedTuple):
    """``batch`` products of m x k by k x n; ``steps`` is k, or more where the operator repeats the product."""

    batch: int
    m: int
    n: int
    k: int
    steps: float


class _Machine(NamedTuple):
    """SMs, outputs that one of them advances by a step per ns, bytes per ns, and the device."""

    sms: int
    rate: float
    bandwidth: float
    device: Device


def fastest(work: Work, device: Device, peak: Peak, sms: int) -> TiledKernel | None:
    """Return the fastest way to run a matrix kernel on SMs, or None where no tile fits on one.

    Parameters
    ----------
    work : Work
        With ``tiles``, none of them 0.
    device : Device
        With ``sm_limits``.
    peak : Peak
        Of the whole device.
    sms : int
        How many SMs it may use.
    """
    assert work.tiles is not None
    batch, m, n, k = work.tiles
    bandwidth = math.inf
    if device.memory_bandwidth is not None:
        bandwidth = device.memory_bandwidth * device.efficiency.bandwidth / 1e9
    machine = _Machine(sms, peak.rate * peak.efficiency / 2e9 / device.sms, bandwidth, device)
    product = _Product(batch, m, n, k, work.flops / (2 * batch * m * n))
    most = PRODUCT_PARTS if work.convolution is None else CONVOLUTION_PARTS
    start = 0 if work.convolution is None else CONVOLUTION_START_NS
    found = list(_ways(product, machine, most, start))
    if work.convolution is not None and peak.name.startswith("vector") and _is_winograd(work.convolution, batch):
        tiles = work.convolution.images * _halves(work.convolution.output)
        channels = k // 9
        filters = (9 + 2 * 16) * PARTIAL_BYTES * channels * n / bandwidth
        found += _ways(_Product(16, tiles, n, channels, channels), machine, 1, start + filters)
    return min(found, key=lambda way: way.compute, default=None)


def _ways(product: _Product, machine: _Machine, most: int, start: float) -> Iterator[TiledKernel]:
    """All tiles, each with k in one, two, four ... parts."""
    for tile in TILES:
        together = occupancy(tile.block, machine.device.sm_limits).blocks
        parts = 1
        while together and (parts == 1 or (parts <= most and parts * SHORTEST <= product.k)):
            yield _way(product, machine, tile, together, parts, start)
            parts *= 2


def _way(product: _Product, machine: _Machine, tile: Tile, together: int, parts: int, start: float) -> TiledKernel:
    # A narrow product has a narrow tile, and its block the threads to take several parts of k itself.
    rows, columns = min(tile.rows, _power(product.m)), min(tile.columns, _power(product.n))
    slices = min(parts, tile.rows * tile.columns // (rows * columns))
    splits = parts // slices
    grid = product.batch * -(-product.m // rows) * -(-product.n // columns) * splits
    full = together * machine.sms
    waves = -(-grid // full)

    def wave(blocks: int) -> float:
        outputs = max(-(-blocks // machine.sms) * rows * columns * slices, SATURATION)
        return outputs / machine.rate * product.steps / parts

    last = wave(grid - (waves - 1) * full)
    compute = start + (waves - 1) * wave(full) + last
    if splits > 1:  # partial sums are written, and added up by another kernel
        partial = 2 * splits * PARTIAL_BYTES * product.batch * product.m * product.n
        compute += machine.device.launch_ns + partial / machine.bandwidth
    return TiledKernel(compute, grid, tile.block, last if waves > 1 else 0.0)


def _power(size: int) -> int:
    """The least power of two that is not below a size."""
    return 1 << (size - 1).bit_length()


def _is_winograd(shape: Convolution, group: int) -> bool:
    return group == 1 and (shape.kernel, shape.strides, shape.dilations) == ((3, 3), (1, 1), (1, 1))


def _halves(output: tuple[int, ...]) -> int:
    """Tiles of 2 x 2 outputs of an image."""
    height, width = output
    return -(-height // 2) * -(-width // 2)
