"""What a kernel occupies of a device and how long its arithmetic takes there: SMs, grid, block, waves.

Every cost model asks here, so that operators whose durations were measured occupy what computed ones do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from simsched.cost.base import Block
from simsched.cost.grid import VECTOR_BLOCK, blocks, is_guessed, sm_demand
from simsched.cost.occupancy import occupancy
from simsched.cost.peaks import Peak
from simsched.cost.speedup import peak_share
from simsched.cost.stated import Launch, sms_of, stated_launch
from simsched.cost.tiles import fastest
from simsched.cost.work import Work
from simsched.errors import CostError
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device


class Footprint(NamedTuple):
    """What one kernel occupies, and how long its arithmetic takes there.

    Attributes
    ----------
    compute : float
        Its arithmetic alone, in ns, while memory is not the limit.
    peak_ns : float
        The same at the achievable peak of the whole device; 0 where no peak is known.
    sms : int
        SMs on which its blocks find place, packed; 0 where SMs are not shared.
    grid : int
        Thread blocks; 0 where no grid is known.
    block : Block or None
    tail : float
        Part of ``compute`` that is the last of several waves, in ns, where it is known; else 0.
    """

    compute: float
    peak_ns: float
    sms: int
    grid: int = 0
    block: Block | None = None
    tail: float = 0.0


def footprint(graph: Graph, op: OpId, work: Work, device: Device, peak: Peak | None) -> Footprint:
    """Return what a kernel occupies of a device.

    Parameters
    ----------
    graph : Graph
    op : int
    work : Work
    device : Device
    peak : Peak or None
        At which it computes; None for a kernel that is costed by its bytes alone.

    Raises
    ------
    CostError
        If the graph states a grid or a block that cannot be.
    """
    peak_ns = work.flops * 1e9 / (peak.rate * peak.efficiency) if peak is not None else 0.0
    sms = sm_demand(graph, op, work, device)
    if not sms or device.sm_limits is None:
        return Footprint(peak_ns / peak_share(device, sms), peak_ns, sms)
    allowed = sms if "sms" in graph.demands.get(op, {}) else device.sms
    try:
        launch = stated_launch(graph, op)
    except ValueError as error:
        raise CostError(f"operator {graph.names[op]!r} {error}") from None
    if launch is not None:
        return _stated(launch, device, peak_ns, allowed)
    if peak is not None and work.tiles is not None and work.flops and all(work.tiles):
        way = fastest(work, device, peak, allowed)
        if way is not None:
            packed = -(-way.grid // occupancy(way.block, device.sm_limits).blocks)
            return Footprint(way.compute, peak_ns, min(allowed, packed), way.grid, way.block, way.tail)
    fits = occupancy(VECTOR_BLOCK, device.sm_limits).blocks and is_guessed(graph, op, work)
    grid, block = (blocks(work), VECTOR_BLOCK) if fits else (0, None)
    return Footprint(peak_ns / peak_share(device, sms), peak_ns, sms, grid, block)


def _stated(launch: Launch, device: Device, peak_ns: float, allowed: int) -> Footprint:
    """Equal blocks, wave by wave: each computes at an SM's share of the peak, and those on one SM take turns."""
    together = 1 if launch.block is None else max(1, occupancy(launch.block, device.sm_limits).blocks)
    full = together * allowed
    waves = -(-launch.grid // full)
    one = peak_ns * device.sms / launch.grid
    last = -(-(launch.grid - (waves - 1) * full) // allowed) * one
    compute = (waves - 1) * together * one + last
    sms = min(allowed, sms_of(launch, device))
    return Footprint(compute, peak_ns, sms, launch.grid, launch.block, last if waves > 1 else 0.0)


def sms_held(graph: Graph, op: OpId, device: Device, occupied: Footprint, body: float) -> int:
    """Return the SMs that a kernel holds while it runs where SMs are held whole.

    Those on which its blocks find place, and no fewer than the share of the device's arithmetic that it uses: else
    several such kernels would together compute faster than the device can. What the graph states wins.

    Parameters
    ----------
    graph : Graph
    op : int
    device : Device
    occupied : Footprint
    body : float
        What the kernel takes, in ns, without its launch.
    """
    if not occupied.grid or "sms" in graph.demands.get(op, {}):
        return occupied.sms
    share = min(1.0, occupied.peak_ns / body) if body > 0 else 0.0
    return max(occupied.sms, math.ceil(round(device.sms * share, 9)))
