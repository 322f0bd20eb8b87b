"""Waves of a kernel alone: how many blocks run at once, how long each wave takes, and what its blocks draw.

A kernel of N equal blocks, of which R fit on the device at a time, runs alone in W = ceil(N / R) waves; block k belongs
to wave k // R. The last wave may leave SMs idle (wave quantisation: NVIDIA, *Matrix Multiplication Background User's
Guide*, section *Wave quantization*). All times are whole ns and add up to what the kernel takes alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from simsched.cost.base import KernelCost


@dataclass(frozen=True, slots=True)
class Waves:
    """The waves of one kernel alone.

    Attributes
    ----------
    blocks : int
        N; 0 for a kernel that needs no SM, which has one wave without blocks.
    full : int
        R, the blocks of a full wave; at least 1.
    body : int
        What all waves take, in ns.
    tail : int
        Part of ``body`` that is the last wave, in ns, where its time is known and it is not the only one; else 0.
    compute, memory : float
        What the arithmetic, and the bytes, of the whole kernel would take on the whole device, in ns; 0 for unknown.
    """

    blocks: int
    full: int
    body: int
    tail: int = 0
    compute: float = 0.0
    memory: float = 0.0

    @property
    def count(self) -> int:
        """W, at least 1."""
        return -(-self.blocks // self.full) or 1

    def length(self, wave: int) -> int:
        """Return what a wave takes alone, in ns: equal parts, split by cumulative floor.

        Examples
        --------
        >>> [Waves(blocks=7, full=2, body=10).length(wave) for wave in range(4)]
        [2, 3, 2, 3]
        >>> [Waves(blocks=7, full=2, body=10, tail=1).length(wave) for wave in range(4)]
        [3, 3, 3, 1]
        """
        total, parts = self.body, self.count
        if self.tail:
            total, parts = total - self.tail, parts - 1
            if wave == parts:
                return self.tail
        return (wave + 1) * total // parts - wave * total // parts

    def size(self, wave: int) -> int:
        """Return how many blocks a wave has."""
        return min(self.full, self.blocks - wave * self.full)

    def draw(self, wave: int, blocks: int) -> tuple[float, float]:
        """Return which parts of the device's arithmetic and bandwidth some blocks of a wave draw at full speed.

        All blocks of a wave together never draw more than there is: the wave takes its time alone too. A kernel
        without blocks draws what one block would.
        """
        length = self.length(wave)
        if not length:
            return 0.0, 0.0
        all_blocks = self.blocks or 1
        most = 1 / (self.size(wave) or 1)
        shown = blocks or 1
        return (
            shown * min(self.compute / all_blocks / length, most),
            shown * min(self.memory / all_blocks / length, most),
        )


def waves_of(cost: KernelCost, blocks: int, full: int, took: int, launch: int, memory: float) -> Waves:
    """Return the waves of a kernel in a run.

    Parameters
    ----------
    cost : KernelCost
    blocks, full : int
        N and R.
    took : int
        What it takes alone in this run, in ns. Where that is not its estimated duration, its last wave is shorter or
        longer in proportion, as its launch is.
    launch : int
        Part of ``took`` that is the launch, in ns.
    memory : float
        What its bytes take at the achievable bandwidth, in ns.
    """
    body = took - launch
    tail = 0
    if cost.tail_ns and blocks > full:
        tail = cost.tail_ns if took == cost.duration or not cost.duration else cost.tail_ns * took // cost.duration
    return Waves(blocks, full, body, min(tail, body), cost.peak_ns, memory)
