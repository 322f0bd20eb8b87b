"""How many SMs a kernel fills: thread blocks from its output, and how many of them fit on an SM.

``sms = min(SMs of the device, ceil(blocks / blocks per SM))``

The real grid is the choice of a library that this project does not run, so the constants below are assumptions. They
were not fitted; they are the plain choices that reproduce published counts of SMs (80 of them on a V100, ResNet-50 at
batch 4): 98 for its first convolution, 25 and 98 for 1 x 1 convolutions to 64 and 256 channels at 56 x 56, 392 for an
element-wise kernel over 112 x 112 x 64. A demand that the graph states (``demands: {sms: 12}``) wins over all of this.
"""

from __future__ import annotations

from simsched.cost.work import Work
from simsched.hardware import Device

TILE = (128, 64)
"""Rows and columns of the output that one block of a matrix kernel computes. A middle size of those that libraries
have (256 x 128 to 64 x 64): large enough for the efficiency that is measured on large products, and small enough
that products of a few hundred rows still fill several SMs."""

TILE_THREADS = 128
"""Threads of such a block: each keeps 64 sums."""

TILE_REGISTERS = 128
"""Registers of each of these threads: its 64 sums, operands and addresses."""

ELEMENTS = 1024
"""Elements that one block of any other kernel computes: 4 by each of 256 threads."""

ELEMENT_THREADS = 256

ELEMENT_REGISTERS = 32

WITHOUT_LIMITS = 1
"""Blocks on an SM where a profile gives no limits: a core of a CPU does one thing at a time."""

# What limits an SM where a profile gives some limits, but not this one.
_THREADS, _BLOCKS, _REGISTERS = 2048, 32, 65536


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
    """Return how many blocks of a kernel are resident on one SM, from threads, registers and blocks.

    Parameters
    ----------
    work : Work
    device : Device
    """
    limits = device.sm_limits
    if limits is None:
        return WITHOUT_LIMITS
    threads, registers = (ELEMENT_THREADS, ELEMENT_REGISTERS) if work.tiles is None else (TILE_THREADS, TILE_REGISTERS)
    by_threads = (limits.threads or _THREADS) // threads
    by_registers = (limits.registers or _REGISTERS) // (threads * registers)
    return max(1, min(by_threads, by_registers, limits.blocks or _BLOCKS))


def sm_demand(work: Work, device: Device, stated: int | None = None) -> int:
    """Return the SMs that a kernel holds while it runs.

    Parameters
    ----------
    work : Work
    device : Device
    stated : int, optional
        What the graph demands; wins over the estimate.

    Returns
    -------
    int
        From 1 to the SMs of the device; 0 for a view, which runs no kernel, and on ``lanes`` devices, where SMs
        are not shared.
    """
    if device.model == "lanes" or work.unit == "none":
        return 0
    wanted = stated if stated is not None else -(-blocks(work) // blocks_per_sm(work, device))
    return max(1, min(device.sms, wanted))
