"""Device model ``blocks`` again, block by block, naively and with exact fractions: the oracle of its tests.

Written from the rules of the model alone (docs/explanation/model.md): every block is an object of its own, placed by
looking at all SMs; speeds are found by trying all ways in which resources can limit kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil

TOLERANCE = Fraction(1, 10**6)
Draw = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Kernel:
    """A kernel as the oracle sees it; ``need`` by limit, None for a whole SM; times in ns."""

    arrival: int
    blocks: int
    need: Mapping[str, int] | None
    took: int
    launch: int = 0
    tail: int = 0
    compute: Fraction = Fraction(0)
    memory: Fraction = Fraction(0)
    priority: int = 0


@dataclass
class _Block:
    op: int
    step: int
    wave: int
    sm: int
    placed: int
    begin: int
    left: Fraction


@dataclass(frozen=True, order=True)
class Ran:
    """One block's life."""

    op: int
    wave: int
    sm: int
    start: int
    end: int


@cache
def fair(draws: tuple[tuple[Draw, int], ...]) -> tuple[Fraction, ...]:
    """Bottleneck-fair speeds of kinds of blocks ``((compute, bandwidth), how many)`` on resources of capacity 1.

    Each speed is min(1, level of compute / its draw, level of bandwidth / its draw), where a level limits only if its
    resource is full. All assignments of kinds to what limits them are tried.
    """
    one = Fraction(1)
    for limits in product((-1, 0, 1), repeat=len(draws)):
        if any(limit >= 0 and not draw[limit] for (draw, _), limit in zip(draws, limits, strict=True)):
            continue
        levels = _levels(draws, limits)
        if levels is None:
            continue
        speeds = []
        for (draw, _), limit in zip(draws, limits, strict=True):
            level = levels[limit] if limit >= 0 else one
            assert level is not None
            speeds.append(one if limit < 0 else level / draw[limit])
        used = [
            sum((n * draw[r] * speed for (draw, n), speed in zip(draws, speeds, strict=True)), Fraction(0))
            for r in (0, 1)
        ]
        lowest = [
            min([one, *(level / draw[r] for r, level in enumerate(levels) if level is not None and draw[r])])
            for draw, _ in draws
        ]
        if max(used) <= 1 and speeds == lowest:
            return tuple(speeds)
    raise AssertionError(f"no fair speeds for {draws}")


def _levels(
    draws: tuple[tuple[Draw, int], ...], limits: tuple[int, ...]
) -> tuple[Fraction | None, Fraction | None] | None:
    """Levels at which the resources that limit somebody are full; None where there are none."""
    # Resource r is full: sum over those limited by r of level_r, plus what the others draw, is 1.
    a = [[Fraction(0), Fraction(0)], [Fraction(0), Fraction(0)]]
    b = [Fraction(1), Fraction(1)]
    for (draw, n), limit in zip(draws, limits, strict=True):
        for r in (0, 1):
            if limit < 0:
                b[r] -= n * draw[r]
            else:
                a[r][limit] += n * draw[r] / draw[limit]
    active = [r for r in (0, 1) if r in limits]
    if active == [0, 1]:
        determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0]
        if not determinant:
            return None
        return (b[0] * a[1][1] - a[0][1] * b[1]) / determinant, (a[0][0] * b[1] - b[0] * a[1][0]) / determinant
    levels: list[Fraction | None] = [None, None]
    for r in active:
        levels[r] = b[r] / a[r][r]
    return levels[0], levels[1]


class Oracle:
    """Run kernels on one device of ``sms`` SMs with these limits per SM."""

    def __init__(self, sms: int, limits: Mapping[str, int], kernels: Sequence[Kernel]) -> None:
        self.sms, self.limits, self.kernels = sms, limits, kernels
        self.free: list[dict[str, int] | None] = [dict(limits) for _ in range(sms)]
        self.resident: list[_Block] = []
        self.queue: list[int] = []
        self.next_block = [0] * len(kernels)
        self.start = [-1] * len(kernels)
        self.end = [-1] * len(kernels)
        self.ran: list[Ran] = []
        self.step = 0

    def room(self, op: int, sm: int) -> int:
        """Further blocks of a kernel that an SM can hold."""
        need, free = self.kernels[op].need, self.free[sm]
        if free is None:
            return 0
        if need is None:
            return int(free == self.limits)
        return min(free[name] // units for name, units in need.items() if units)

    def full_wave(self, op: int) -> int:
        """Blocks of one full wave on an empty device."""
        need = self.kernels[op].need
        each = 1 if need is None else min(self.limits[name] // units for name, units in need.items() if units)
        return each * self.sms

    def wave_length(self, op: int, wave: int) -> int:
        """What a wave takes alone."""
        kernel = self.kernels[op]
        body, waves = kernel.took - kernel.launch, ceil(kernel.blocks / self.full_wave(op))
        if kernel.tail and waves > 1:
            if wave == waves - 1:
                return min(kernel.tail, body)
            body, waves = max(0, body - kernel.tail), waves - 1
        return (wave + 1) * body // waves - wave * body // waves

    def draw(self, op: int, wave: int) -> Draw:
        """What a block draws at full speed."""
        kernel, length = self.kernels[op], self.wave_length(op, wave)
        if not length:
            return Fraction(0), Fraction(0)
        mates = min(self.full_wave(op), kernel.blocks - wave * self.full_wave(op))
        each = kernel.blocks * length
        return min(kernel.compute / each, Fraction(1, mates)), min(kernel.memory / each, Fraction(1, mates))

    def place(self, now: int) -> None:
        """Place blocks of the first of the queue, one by one."""
        while self.queue:
            op = min(self.queue, key=lambda op: (self.kernels[op].priority, self.queue.index(op)))
            kernel = self.kernels[op]
            rooms = [self.room(op, sm) for sm in range(self.sms)]
            best = max(range(self.sms), key=lambda sm: (rooms[sm], -sm))
            if not rooms[best]:
                return
            if self.start[op] < 0:
                self.start[op] = now
            if kernel.need is None:
                self.free[best] = None
            else:
                free = self.free[best]
                assert free is not None
                for name, units in kernel.need.items():
                    free[name] -= units
            wave = self.next_block[op] // self.full_wave(op)
            begin = max(now, self.start[op] + kernel.launch)
            left = Fraction(self.wave_length(op, wave))
            self.resident.append(_Block(op, self.step, wave, best, now, begin, left))
            self.next_block[op] += 1
            if self.next_block[op] == kernel.blocks:
                self.queue.remove(op)

    def finish(self, now: int) -> None:
        """Take blocks away that are done."""
        for block in [block for block in self.resident if block.begin <= now and block.left <= 0]:
            self.resident.remove(block)
            self.ran.append(Ran(block.op, block.wave, block.sm, block.placed, now))
            need, free = self.kernels[block.op].need, self.free[block.sm]
            if need is None:
                self.free[block.sm] = dict(self.limits)
            else:
                assert free is not None
                for name, units in need.items():
                    free[name] += units
            if self.next_block[block.op] == self.kernels[block.op].blocks and block.op not in [
                other.op for other in self.resident
            ]:
                self.end[block.op] = now

    def run(self) -> None:
        """Run to the end."""
        now = 0
        arrivals = sorted(range(len(self.kernels)), key=lambda op: (self.kernels[op].arrival, op))
        while arrivals or self.resident or self.queue:
            self.step += 1
            self.finish(now)
            while arrivals and self.kernels[arrivals[0]].arrival <= now:
                self.queue.append(arrivals.pop(0))
            self.place(now)
            running = [block for block in self.resident if block.begin <= now]
            if any(block.left <= 0 for block in running):
                continue
            # What blocks of one kernel and wave, placed together, draw is shared as one thing.
            together = Counter((block.op, block.wave, block.step) for block in running)
            drawn = {key: tuple(n * one for one in self.draw(*key[:2])) for key, n in together.items()}
            kinds = Counter(drawn.values())
            of_kind = dict(zip(sorted(kinds), fair(tuple(sorted(kinds.items()))), strict=True))
            speed_of = {key: of_kind[draw] for key, draw in drawn.items()}
            speeds = [speed_of[block.op, block.wave, block.step] for block in running]
            times = [
                now + max(1, ceil(block.left / speed - TOLERANCE)) for block, speed in zip(running, speeds, strict=True)
            ]
            times += [block.begin for block in self.resident if block.begin > now]
            times += [self.kernels[op].arrival for op in arrivals[:1]]
            if not times:
                assert not self.queue, "kernels that never fit"
                return
            later = min(times)
            for block, speed in zip(running, speeds, strict=True):
                block.left -= speed * (later - now)
                if block.left <= TOLERANCE * speed:
                    block.left = Fraction(0)
            now = later
