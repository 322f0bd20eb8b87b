"""What a kernel on a device of model ``blocks`` consists of, as the referee works it out: blocks, waves, draws."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.analysis.findings import Facts
from simsched.cost.base import Block
from simsched.graph.model import OpId
from simsched.hardware import Device

WHOLE = "SMs"
"""What a block takes of an SM when its needs are not known: all of it."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The blocks of one kernel.

    Attributes
    ----------
    blocks : int
        How many there are; 0 for a kernel that needs no SM.
    wave : int
        How many make a full wave.
    need : dict of str to int
        What each takes of the SM that it is on.
    lengths : list of int
        What each wave takes alone, in ns.
    compute, memory : list of float
        What a block of each wave draws at full speed, of the device's arithmetic and of its bandwidth.
    """

    blocks: int
    wave: int
    need: dict[str, int]
    lengths: list[int]
    compute: list[float]
    memory: list[float]


def limits_of(device: Device) -> dict[str, int]:
    """Return what one SM has."""
    known = {WHOLE: 1}
    if device.sm_limits is not None:
        limits = device.sm_limits
        stated = {
            "threads": limits.threads,
            "warps": limits.warps,
            "registers": limits.registers,
            "B of shared memory": limits.shared_memory,
            "blocks": limits.blocks,
        }
        known.update((name, units) for name, units in stated.items() if units is not None)
    return known


def _need(block: Block | None, device: Device) -> dict[str, int]:
    if block is None:
        return {WHOLE: 1}
    warp = 32 if device.sm_limits is None else device.sm_limits.warp_size
    return {
        "threads": block.threads,
        "warps": -(-block.threads // warp),
        "registers": block.registers * block.threads,
        "B of shared memory": block.shared_memory,
        "blocks": 1,
    }


def grid_of(facts: Facts, op: OpId) -> Grid:
    """Work out the blocks and waves of a kernel on the device that ran it."""
    problem, number = facts.problem, facts.device[op]
    device, cost, took = problem.devices[number], problem.cost(op, number), facts.durations[number][op]
    limits = limits_of(device)
    body = took - problem.launch_part(op, number, took)
    blocks = cost.grid or cost.sms
    need = _need(cost.block if cost.grid else None, device)
    # A block that nothing known limits has its SM to itself.
    need = {name: units for name, units in need.items() if units and name in limits} or {WHOLE: 1}
    per_sm = min(limits[name] // units for name, units in need.items())
    wave = max(per_sm * device.sms, 1)
    waves = -(-blocks // wave) or 1
    tail = _tail(cost.tail_ns, cost.duration, took, body) if waves > 1 else 0
    equal = waves - 1 if tail else waves
    lengths = [(j + 1) * (body - tail) // equal - j * (body - tail) // equal for j in range(equal)]
    lengths += [tail] if tail else []
    memory_ns = 0.0
    if device.memory_bandwidth is not None:
        memory_ns = cost.bytes * 1e9 / (device.memory_bandwidth * device.efficiency.bandwidth)
    draws: tuple[list[float], list[float]] = ([], [])
    for j, length in enumerate(lengths):
        size = min(wave, blocks - j * wave) if blocks else 1
        for column, alone in zip(draws, (cost.peak_ns, memory_ns), strict=True):
            column.append(min(alone / max(blocks, 1) / length, 1 / size) if length else 0.0)
    return Grid(blocks, wave, need if blocks else {}, lengths, *draws)


def _tail(stated: int, estimate: int, took: int, body: int) -> int:
    """What the last wave takes; where the kernel takes another time than expected, in proportion."""
    return min(body, stated if took == estimate or not estimate else stated * took // estimate)
