"""Occupancy: how many blocks of a kernel are resident on one SM at a time, and what limits them.

``blocks = min over (threads, warps, registers, shared memory, blocks) of limit // need``

as in NVIDIA's occupancy calculator (CUDA C++ Best Practices Guide, chapter *Execution Configuration Optimizations*;
limits per SM: CUDA Programming Guide, appendix *Compute Capabilities*). Threads come in whole warps. Left out is the
rounding inside the hardware: CUDA gives out registers to a warp in steps of 256, warps in steps of four, and shared
memory in steps of 256 B (128 B from compute capability 8.0 on, plus 1 KiB per block for the driver). A block for
which that matters can be stated with rounded figures.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from simsched.cost.base import Block
from simsched.hardware import SmLimits

Limiter = Literal["threads", "warps", "registers", "shared_memory", "blocks", "none"]


class Need(NamedTuple):
    """What one block takes of one limit of an SM."""

    limit: Limiter
    need: int
    there: int


class Occupancy(NamedTuple):
    """How many blocks fit on an empty SM.

    Attributes
    ----------
    blocks : int
        0 where not even one fits.
    limiter : str
        The limit that is reached first; of equal ones the first of threads, warps, registers, shared memory, blocks.
        ``none`` where the profile states no limit that a block touches: then one block has the SM to itself.
    """

    blocks: int
    limiter: Limiter


def needs(block: Block, limits: SmLimits) -> tuple[Need, ...]:
    """Return what a block takes of each limit that a profile states, in a fixed order.

    Examples
    --------
    >>> [tuple(need) for need in needs(Block(threads=100, registers=24), SmLimits(warps=64, registers=65536))]
    [('warps', 4, 64), ('registers', 2400, 65536)]
    """
    rows: tuple[tuple[Limiter, int, int | None], ...] = (
        ("threads", block.threads, limits.threads),
        ("warps", -(-block.threads // limits.warp_size), limits.warps),
        ("registers", block.threads * block.registers, limits.registers),
        ("shared_memory", block.shared_memory, limits.shared_memory),
        ("blocks", 1, limits.blocks),
    )
    return tuple(Need(name, need, there) for name, need, there in rows if need and there is not None)


@lru_cache(maxsize=1024)
def occupancy(block: Block, limits: SmLimits | None) -> Occupancy:
    """Return how many blocks fit on an empty SM, and what limits them.

    Parameters
    ----------
    block : Block
    limits : SmLimits or None
        Of the device. Where nothing limits a block, one runs on an SM at a time, as on a core of a CPU.

    Examples
    --------
    >>> v100 = SmLimits(warps=64, threads=2048, blocks=32, registers=65536, shared_memory=98304)
    >>> occupancy(Block(threads=256, registers=32), v100), occupancy(Block(threads=128, registers=128), v100)
    (Occupancy(blocks=8, limiter='threads'), Occupancy(blocks=4, limiter='registers'))
    """
    if limits is None:
        return Occupancy(1, "none")
    if limits.shared_memory_block is not None and block.shared_memory > limits.shared_memory_block:
        return Occupancy(0, "shared_memory")
    rows = needs(block, limits)
    if not rows:
        return Occupancy(1, "none")
    tightest = min(rows, key=lambda row: row.there // row.need)
    return Occupancy(tightest.there // tightest.need, tightest.limit)
