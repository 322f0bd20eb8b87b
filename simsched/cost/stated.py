"""Grids and blocks that a graph states itself, as attributes of an operator; they win over what a model guesses.

``attributes: {grid: 109, block: {threads: 256, registers: 64, shared_memory: 49152}}``

``registers`` are per thread and ``shared_memory`` is in bytes. Where ``block`` is left out, each block has an SM to
itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from simsched.cost.base import Block, KernelCost
from simsched.cost.occupancy import occupancy
from simsched.cost.peaks import find_peak
from simsched.errors import suggest
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device

KEYS = ("threads", "registers", "shared_memory")
LARGEST = 10**15
_EXAMPLE = "{threads: 256, registers: 64, shared_memory: 0}"


class Launch(NamedTuple):
    """A grid of identical blocks; ``block`` is None where each has an SM to itself."""

    grid: int
    block: Block | None


def stated_launch(graph: Graph, op: OpId) -> Launch | None:
    """Return the grid and block that a graph states for an operator, or None where it states none.

    Raises
    ------
    ValueError
        If what is stated is not a grid and a block; the text says what to write.
    """
    attributes = graph.attributes.get(op)
    if attributes is None or ("grid" not in attributes and "block" not in attributes):
        return None
    if "grid" not in attributes:
        raise ValueError("states a 'block' without a 'grid': say how many blocks there are, e.g. grid: 109")
    grid = _whole(attributes["grid"], "grid", 1)
    return Launch(grid, _block(attributes["block"]) if "block" in attributes else None)


def _block(value: Any) -> Block:
    if not isinstance(value, Mapping):
        raise ValueError(f"states the block {value!r}; expected a mapping such as {_EXAMPLE}")
    for name in value:
        if name not in KEYS:
            raise ValueError(f"states an unknown {name!r} of its block; {suggest(str(name), KEYS)}")
    if "threads" not in value:
        raise ValueError(f"states a block without 'threads'; expected a mapping such as {_EXAMPLE}")
    return Block(
        _whole(value["threads"], "threads", 1),
        _whole(value.get("registers", 0), "registers", 0),
        _whole(value.get("shared_memory", 0), "shared_memory", 0),
    )


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        raise ValueError(f"states {name!r} as {value!r}; expected a whole number from {least} to 10**15")
    return value


def misfit(launch: Launch, device: Device) -> str:
    """Say why not even one block fits on an SM of a device; empty where one does."""
    if launch.block is None or device.model == "lanes":
        return ""
    fits = occupancy(launch.block, device.sm_limits)
    if fits.blocks:
        return ""
    limiter = fits.limiter.replace("_", " ")
    return f"states a block that needs more {limiter} than an SM of device {device.name!r} has"


def sms_of(launch: Launch, device: Device) -> int:
    """Return the SMs that a grid fills: as many blocks on each as fit, at most all SMs; 0 on ``lanes``."""
    if device.model == "lanes":
        return 0
    together = occupancy(launch.block, device.sm_limits).blocks if launch.block is not None else 1
    return min(device.sms, -(-launch.grid // max(1, together)))


def stated_cost(graph: Graph, op: OpId, device: Device, duration: int, launch: Launch) -> KernelCost:
    """Return the cost of an operator whose duration and grid are both stated.

    Parameters
    ----------
    graph : Graph
    op : int
    device : Device
    duration : int
        Nanoseconds.
    launch : Launch
    """
    from simsched.cost.registry import work_of  # its rules are many, and few graphs state grids

    flops = graph.flops.get(op, 0)
    peak = find_peak(device, work_of(graph, op).unit, None) if flops else None
    return KernelCost(
        duration,
        flops=flops,
        bytes=graph.traffic.get(op, 0),
        sms=graph.demands.get(op, {}).get("sms", sms_of(launch, device)),
        workspace=graph.workspace.get(op, 0),
        grid=launch.grid,
        block=launch.block,
        peak_ns=flops * 1e9 / (peak.rate * peak.efficiency) if peak else 0.0,
    )
