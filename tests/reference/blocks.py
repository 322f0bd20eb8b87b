"""Thread blocks on SMs: waves, residency, most-room placement, and the cohorts in which they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from simsched.cost.base import Block, KernelCost
from simsched.graph.model import OpId
from tests.reference.flows import Flow, two_resources

if TYPE_CHECKING:
    from tests.reference.engine import Reference


@dataclass
class Grid:
    """The blocks of one kernel on one device: how many, how many fit on an SM, and its waves alone."""

    blocks: int
    per_sm: int
    need: dict[str, int]
    lengths: list[int]
    sizes: list[int]
    compute: list[Fraction]
    bandwidth: list[Fraction]
    places: list[int] = field(default_factory=list)
    """The SM of each block that has been placed."""
    wave: int = 0
    """How many blocks a full wave has."""

    @property
    def left(self) -> int:
        return self.blocks - len(self.places)


@dataclass
class Resident:
    """A cohort: blocks of one kernel and one wave that were placed at one instant."""

    op: OpId
    wave: int
    start: int
    flow: Flow
    places: tuple[tuple[int, int], ...]
    end: int = -1


WHOLE = "whole SM"


class Sms:
    """The SMs of one device of model ``blocks``."""

    def __init__(self, run: Reference, device: int) -> None:
        self.run, self.device = run, device
        self.described = run.problem.devices[device]
        self.count = self.described.resources.get("sms", 1)
        self.grids: dict[OpId, Grid] = {}
        self.cohorts: list[Resident] = []
        self.fresh: dict[OpId, list[int]] = {}
        limits = self.described.sm_limits
        known = {WHOLE: 1}
        if limits is not None:
            stated = {
                "threads": limits.threads, "warps": limits.warps, "registers": limits.registers,
                "shared memory": limits.shared_memory, "blocks": limits.blocks,
            }  # fmt: skip
            known |= {name: units for name, units in stated.items() if units is not None}
        self.limits = known

    # --- one kernel ------------------------------------------------------------------------------------------

    def grid(self, op: OpId) -> Grid:
        if op not in self.grids:
            self.grids[op] = self.made(op)
        return self.grids[op]

    def needs(self, block: Block | None) -> dict[str, int]:
        """What one block takes of an SM; without a known grid, or where nothing limits it, all of it."""
        if block is None:
            return {WHOLE: 1}
        limits = self.described.sm_limits
        warp = limits.warp_size if limits is not None else 32
        needs = {
            "threads": block.threads, "warps": -(-block.threads // warp),
            "registers": block.registers * block.threads, "shared memory": block.shared_memory, "blocks": 1,
        }  # fmt: skip
        return {name: units for name, units in needs.items() if units and name in self.limits} or {WHOLE: 1}

    def made(self, op: OpId) -> Grid:
        problem, device = self.run.problem, self.device
        cost, took = problem.cost(op, device), self.run.length[device][op]
        body = took - problem.launch_part(op, device, took)
        blocks = cost.grid if cost.grid else cost.sms
        need = self.needs(cost.block if cost.grid else None)
        if not blocks:
            # It needs no SM, but draws what it would draw as a single block.
            alone = self.shares(cost, 1, [body], [1])
            return Grid(0, 0, {}, [body], [0], *alone)
        per_sm = min((self.limits[name] // units for name, units in need.items() if units), default=blocks)
        full = per_sm * self.count
        waves = -(-blocks // full)
        sizes = [min(full, blocks - wave * full) for wave in range(waves)]
        lengths = self.lengths(op, body, took, waves)
        return Grid(blocks, per_sm, need, lengths, sizes, *self.shares(cost, blocks, lengths, sizes), wave=full)

    def shares(
        self, cost: KernelCost, blocks: int, lengths: Sequence[int], sizes: Sequence[int]
    ) -> list[list[Fraction]]:
        """What a block of each wave draws at full speed, of the device's arithmetic and of its bandwidth."""
        bandwidth = self.described.memory_bandwidth
        achievable = bandwidth * self.described.efficiency.bandwidth if bandwidth is not None else None
        streamed = cost.bytes * 1e9 / achievable if achievable else 0.0
        return [
            [
                min(Fraction(total) / blocks / length, Fraction(1, size)) if length else Fraction(0)
                for length, size in zip(lengths, sizes, strict=True)
            ]
            for total in (cost.peak_ns, streamed)
        ]

    def lengths(self, op: OpId, body: int, took: int, waves: int) -> list[int]:
        cost = self.run.problem.cost(op, self.device)
        tail = cost.tail_ns
        if not tail or waves == 1:
            return split(body, waves)
        if took != cost.duration and cost.duration:
            tail = tail * took // cost.duration
        tail = min(tail, body)
        return [*split(body - tail, waves - 1), tail] if tail else split(body, waves)

    # --- places ----------------------------------------------------------------------------------------------

    def room(self, grid: Grid, sm: int) -> int:
        """How many further blocks an SM can hold now."""
        used = dict.fromkeys(self.limits, 0)
        taken = False
        for op, sms in self.placed():
            for name, units in self.grids[op].need.items():
                used[name] += units * sms.count(sm)
            taken = taken or sm in sms
        if used[WHOLE] or (WHOLE in grid.need and taken):
            return 0
        return min(
            ((self.limits[name] - used[name]) // units for name, units in grid.need.items() if units),
            default=grid.left,
        )

    def placed(self) -> Iterator[tuple[OpId, list[int]]]:
        """SMs of all blocks that are resident, those of the instant that have no cohort yet included."""
        for cohort in self.cohorts:
            if cohort.end < 0:
                yield cohort.op, [sm for sm, count in cohort.places for _ in range(count)]
        yield from self.fresh.items()

    def has_room(self, op: OpId) -> bool:
        grid = self.grid(op)
        return not grid.blocks or any(self.room(grid, sm) > 0 for sm in range(self.count))

    def assign(self, op: OpId) -> bool:
        """Place blocks while there is room; whether all of them have a place now."""
        grid, first = self.grid(op), len(self.grid(op).places)
        self.fresh = {op: []}
        while grid.left:
            rooms = [self.room(grid, sm) for sm in range(self.count)]
            if not max(rooms):
                break
            sm = rooms.index(max(rooms))
            grid.places.append(sm)
            self.fresh[op].append(sm)
        self.fresh = {}
        if not grid.blocks:
            self.add(op, 0, [])
        by_wave: dict[int, list[int]] = {}
        for number in range(first, len(grid.places)):
            by_wave.setdefault(number // grid.wave, []).append(grid.places[number])
        for wave, sms in by_wave.items():
            self.add(op, wave, sms)
        return not grid.left

    def add(self, op: OpId, wave: int, sms: list[int]) -> None:
        run, grid = self.run, self.grids[op]
        launch = run.problem.launch_part(op, self.device, run.length[self.device][op])
        begin = max(run.now, run.told.start[op] + launch)
        places = tuple((sm, sms.count(sm)) for sm in sorted(set(sms)))
        self.cohorts.append(Resident(op, wave, run.now, Flow(begin, Fraction(grid.lengths[wave])), places))

    # --- time ------------------------------------------------------------------------------------------------

    def finish(self) -> bool:
        over = [cohort for cohort in self.cohorts if cohort.end < 0 and cohort.flow.over(self.run.now)]
        for cohort in over:
            cohort.end = self.run.now
        return bool(over)

    def done(self, op: OpId) -> bool:
        mine = [cohort for cohort in self.cohorts if cohort.op == op]
        return bool(mine) and not self.grids[op].left and all(cohort.end >= 0 for cohort in mine)

    def share(self) -> None:
        moving = [c for c in self.cohorts if c.end < 0 and c.flow.on_its_way(self.run.now)]
        draws = []
        for cohort in moving:
            grid, count = self.grids[cohort.op], sum(count for _, count in cohort.places) or 1
            draws.append((count * grid.compute[cohort.wave], count * grid.bandwidth[cohort.wave]))
        for cohort, speed in zip(moving, two_resources(draws), strict=True):
            cohort.flow.rate = speed


def split(total: int, parts: int) -> list[int]:
    """Whole parts of a whole number, by cumulative floor."""
    return [(part + 1) * total // parts - part * total // parts for part in range(parts)]
