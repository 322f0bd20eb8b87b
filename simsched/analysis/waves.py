"""Cohorts of blocks as a trace records them, with what each takes alone and draws at full speed.

A kernel of N blocks, of which R fit on the empty device, runs alone in W = ceil(N / R) waves; block k belongs to wave
k // R. See :mod:`simsched.hardware` and the documents on device models.
"""

from __future__ import annotations

from dataclasses import dataclass

from simsched.cost.occupancy import occupancy
from simsched.graph.model import OpId
from simsched.problem import Problem


@dataclass(frozen=True, slots=True)
class Grid:
    """The blocks of one kernel on one device.

    Attributes
    ----------
    blocks : int
        N; 0 for a kernel that needs no SM.
    full : int
        R, at least 1.
    body, tail : int
        ns alone without the launch; and of that the last wave, where that is known.
    compute, memory : float
        ns that the arithmetic and the bytes of the whole kernel take on the whole device.
    """

    blocks: int
    full: int
    body: int
    tail: int
    compute: float
    memory: float

    @property
    def waves(self) -> int:
        """W, at least 1."""
        return max(-(-self.blocks // self.full), 1)

    def size(self, wave: int) -> int:
        """Blocks of a wave."""
        return min(self.full, self.blocks - wave * self.full)

    def length(self, wave: int) -> int:
        """What a wave takes alone, in ns."""
        if self.tail and wave == self.waves - 1:
            return self.tail
        others = self.waves - 1 if self.tail else self.waves
        total = self.body - self.tail
        return (wave + 1) * total // others - wave * total // others

    def partial(self, wave: int) -> bool:
        """Whether a wave is the last of several, and leaves places free."""
        return wave == self.waves - 1 > 0 and self.size(wave) < self.full

    def draws(self, wave: int, blocks: int) -> tuple[float, float]:
        """Parts of the device's arithmetic and bandwidth that some blocks of a wave draw at full speed."""
        length = self.length(wave)
        if not length:
            return 0.0, 0.0
        count, most = max(blocks, 1), 1 / max(self.size(wave), 1)
        each = max(self.blocks, 1) * length
        return count * min(self.compute / each, most), count * min(self.memory / each, most)


def grid_of(problem: Problem, op: OpId, device: int, took: int) -> Grid:
    """Describe the blocks of a kernel.

    Parameters
    ----------
    problem : Problem
    op, device : int
    took : int
        What it takes alone in this run, in ns.
    """
    cost, described = problem.cost(op, device), problem.devices[device]
    per_sm = occupancy(cost.block, described.sm_limits).blocks if cost.block is not None and cost.grid else 1
    blocks, full = cost.grid or cost.sms, max(per_sm * described.sms, 1)
    body = took - problem.launch_part(op, device, took)
    tail = cost.tail_ns if blocks > full else 0
    if tail and took != cost.duration and cost.duration:
        tail = tail * took // cost.duration
    rate = (described.memory_bandwidth or 0.0) * described.efficiency.bandwidth
    return Grid(blocks, full, body, min(tail, body), cost.peak_ns, cost.bytes * 1e9 / rate if rate else 0.0)
