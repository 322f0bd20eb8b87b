"""How many SMs a kernel fills: thread blocks from its output, and how many of them fit on an SM.

``sms = min(SMs of the device, ceil(blocks / blocks per SM))``

This holds for kernels that are not matrix products, and for all kernels of devices whose profile has no limits per SM
(CPUs). Matrix kernels of other devices: :mod:`simsched.cost.tiles`. The real grid is the choice of a library that this
project does not run, so the constants below are assumptions, written down with their reasons in decision note 0008. A
demand that the graph states (``demands: {sms: 12}``) wins over all of this.
"""

from __future__ import annotations

from simsched.cost.base import Block
from simsched.cost.occupancy import occupancy
from simsched.cost.speedup import cores_taken
from simsched.cost.work import Work
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device

TILE = (128, 64)
"""Rows and columns of the output that one block of a matrix kernel computes: a middle size of those that libraries
have (256 x 128 to 64 x 64)."""

TILES_PER_SM = 1
"""Blocks are placed where most room is, so a second tile comes to an SM only when all SMs have one; and one tile of
this size has enough independent multiply-adds to keep an SM busy."""

ELEMENTS = 1024
"""Elements that one block of any other kernel computes: 4 by each of 256 threads."""

VECTOR_BLOCK = Block(threads=256, registers=32)
"""Such a block; with 32 registers a thread it is the threads that fill an SM, not the registers."""


def blocks(work: Work) -> int:
    """Return the number of thread blocks of a kernel, at least 1.

    Parameters
    ----------
    work : Work

    Examples
    --------
    >>> blocks(Work(0, 0, 0, "matrix", tiles=(3, 129, 65, 7))), blocks(Work(0, 0, 0, "vector", elements=1025))
    (12, 2)
    """
    if work.tiles is not None:
        batch, rows, columns, _ = work.tiles
        return max(1, batch * -(-rows // TILE[0]) * -(-columns // TILE[1]))
    return max(1, -(-work.elements // ELEMENTS))


def blocks_per_sm(work: Work, device: Device) -> int:
    """Return how many blocks of a kernel share one SM.

    Parameters
    ----------
    work : Work
    device : Device

    Examples
    --------
    >>> from simsched.hardware import SmLimits
    >>> t4 = Device("gpu", sm_limits=SmLimits(threads=1024, blocks=16))
    >>> blocks_per_sm(Work(0, 0, 0, "vector"), t4), blocks_per_sm(Work(0, 0, 0, "matrix", tiles=(1, 1, 1, 1)), t4)
    (4, 1)
    """
    if work.tiles is not None:
        return TILES_PER_SM
    return max(1, occupancy(VECTOR_BLOCK, device.sm_limits).blocks)


def sm_demand(graph: Graph, op: OpId, work: Work, device: Device) -> int:
    """Return the SMs that a kernel holds while it runs.

    Parameters
    ----------
    graph : Graph
        Its ``demands`` of ``sms`` win over the estimate.
    op : int
    work : Work
    device : Device

    Returns
    -------
    int
        From 1 to the SMs of the device; 0 for a view, which runs no kernel, and on ``lanes`` devices, where SMs
        are not shared, unless operators there have threads. A kernel of which no grid can be guessed (its FLOPs are
        stated, or its size is known in bytes only) fills the device, or takes all the threads that it may have.
    """
    if (device.model == "lanes" and device.threads is None) or work.unit == "none":
        return 0
    wanted = graph.demands.get(op, {}).get("sms")
    if wanted is None:
        filled = -(-blocks(work) // blocks_per_sm(work, device)) if is_guessed(graph, op, work) else device.sms
        wanted = cores_taken(device, filled)
    return max(1, min(device.sms, wanted))


def is_guessed(graph: Graph, op: OpId, work: Work) -> bool:
    """Whether a grid can be guessed: from tiles, from elements, or because there is nothing to do."""
    empty = not work.flops and not work.bytes
    return work.tiles is not None or (work.elements > 0 and op not in graph.flops) or empty
