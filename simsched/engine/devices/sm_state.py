"""What is free on each SM of a device, and where the blocks of a kernel go.

Each block goes to the SM that at that moment can hold the most further blocks of its kernel; of equal ones to the
lowest number. That *most-room* rule is what was measured on NVIDIA's Pascal, Volta, Turing and Ampere devices
(G. Gilman et al., SIGMETRICS PER 48(3), 2021, DOI 10.1145/3453953.3453972; G. Gilman and R. Walls, 2021,
arXiv:2110.00459). The real order of the ties is another one, fixed for each device.

All blocks that are placed at one instant are placed together, in time that grows with the SMs and not with the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from simsched.cost.base import Block
from simsched.cost.occupancy import needs, occupancy
from simsched.hardware import SmLimits

Free = tuple[int, ...]
Need = tuple[int, ...] | None
"""What a block takes of each limit that the device states; None for a whole SM."""
Places = tuple[tuple[int, int], ...]
"""SMs and how many blocks are on each, ascending."""

TAKEN: Free = ()
"""The state of an SM that one block has to itself."""


def most_room(rooms: Sequence[int], blocks: int) -> list[int]:
    """Return how many blocks each SM gets, one after the other going where most room is left, ties to the first.

    Parameters
    ----------
    rooms : sequence of int
        How many blocks each SM can hold.
    blocks : int
        At least 0; those for which there is no room are left out.

    Notes
    -----
    An SM with room for r blocks offers one place at each level r, r - 1, ..., 1. Blocks take the places from the
    highest level down, and within a level in the order of the SMs. So all that matters is the level at which the blocks
    run out.

    Examples
    --------
    >>> most_room([3, 1, 2, 3], 5)
    [2, 0, 1, 2]
    """
    if blocks >= sum(rooms):
        return list(rooms)
    tally: dict[int, int] = {}
    for room in rooms:
        tally[room] = tally.get(room, 0) + 1
    levels = [*sorted(tally, reverse=True), 0]
    width, left, level = 0, blocks, levels[0]
    for level, below in pairwise(levels):
        width += tally[level]
        if left < width * (level - below):
            break
        left -= width * (level - below)
    full, more = divmod(left, width)
    counts = []
    for room in rooms:
        if room < level:
            counts.append(0)
        else:
            counts.append(room - level + full + (more > 0))
            more -= 1
    return counts


class SmState:
    """Free threads, warps, registers, shared memory and blocks of each SM of one device.

    Parameters
    ----------
    sms : int
        How many SMs the device has.
    limits : SmLimits or None
        What fits on an empty one.
    """

    __slots__ = ("_empty", "_free", "_limits", "_names", "_residents", "sms")

    def __init__(self, sms: int, limits: SmLimits | None) -> None:
        self.sms = sms
        self._limits = limits
        everything = () if limits is None else needs(Block(threads=1, registers=1, shared_memory=1), limits)
        self._names = [row.limit for row in everything]
        # Where nothing is limited, an SM is either taken or not; -1 keeps the free one apart from a taken one.
        self._empty: Free = tuple(row.there for row in everything) or (-1,)
        self._free = [self._empty] * sms
        self._residents = 0

    @property
    def residents(self) -> int:
        """Blocks that are on the device now."""
        return self._residents

    def need(self, block: Block | None) -> Need:
        """Return what a block takes; None, a whole SM, where nothing is known of it or nothing limits it."""
        if block is None or self._limits is None:
            return None
        taken = {row.limit: row.need for row in needs(block, self._limits)}
        return tuple(taken.get(name, 0) for name in self._names) if taken else None

    def per_sm(self, block: Block | None) -> int:
        """Return how many such blocks an empty SM holds; 0 where a block is too large for one."""
        return 1 if block is None else occupancy(block, self._limits).blocks

    def room(self, need: Need, sm: int) -> int:
        """Return how many such blocks an SM can hold now."""
        return self._room(self._free[sm], need)

    def _room(self, free: Free, need: Need) -> int:
        if need is None:
            return int(free == self._empty)
        if free == TAKEN:
            return 0
        return min([there // taken for there, taken in zip(free, need, strict=True) if taken])

    def fits(self, need: Need) -> bool:
        """Whether any SM can hold such a block now."""
        return any(self._rooms(need))

    def place(self, need: Need, blocks: int) -> Places:
        """Place as many of these blocks as fit and return where."""
        counts = self._spread(need, blocks) if not self._residents else most_room(self._rooms(need), blocks)
        places = tuple([(sm, count) for sm, count in enumerate(counts) if count])
        self._change(need, places, -1)
        return places

    def _spread(self, need: Need, blocks: int) -> list[int]:
        """Counts on an empty device: all alike, and one more on the first."""
        fitting = min(blocks, self.sms * self._room(self._empty, need))
        full, more = divmod(fitting, self.sms) if self.sms else (0, 0)
        return [full + 1] * more + [full] * (self.sms - more)

    def _rooms(self, need: Need) -> list[int]:
        """Room on each SM; many SMs are in the same state, and each state is looked at once."""
        known: dict[Free, int] = {}
        rooms = []
        for free in self._free:
            room = known.get(free)
            if room is None:
                known[free] = room = self._room(free, need)
            rooms.append(room)
        return rooms

    def give_back(self, need: Need, places: Places) -> None:
        """Take these blocks away."""
        if self._residents == sum([count for _, count in places]):
            self._residents = 0
            self._free = [self._empty] * self.sms
        else:
            self._change(need, places, 1)

    def _change(self, need: Need, places: Places, sign: int) -> None:
        states = self._free
        known: dict[tuple[Free, int], Free] = {}
        for sm, count in places:
            self._residents -= sign * count
            if need is None:
                states[sm] = self._empty if sign > 0 else TAKEN
                continue
            before = states[sm]
            after = known.get((before, count))
            if after is None:
                change = sign * count
                after = tuple([there + change * taken for there, taken in zip(before, need, strict=True)])
                known[before, count] = after
            states[sm] = after
