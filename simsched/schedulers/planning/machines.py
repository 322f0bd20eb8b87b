"""Machines of a plan: when an operator could start on a device, given what has been placed there already.

A device on which nothing but streams is scarce is a set of *lanes*: one operator at a time on each. Where operators
also demand units (SMs, cores, any renewable resource), the device is a *pool* of units, held from start to end, and
streams are one more resource of it. Either can be filled by *insertion*, which lets an operator into an idle gap
between others, or by *appending*: after all that its lane has, and in a pool not before the last one that started.

Placing an operator never lets another start earlier than before; the planners rely on that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from typing import Protocol

from simsched.graph.model import OpId


class Machine(Protocol):
    """A device being filled. Times are in ns."""

    @property
    def free_at(self) -> int:
        """When the device next has nothing more to do: a lane of it, or a pool as a whole."""

    def earliest(self, op: OpId, ready: int, duration: int) -> int:
        """Earliest start of an operator whose inputs are there at ``ready``."""

    def place(self, op: OpId, start: int, duration: int) -> int:
        """Place an operator at a start that :meth:`earliest` gave; returns its lane, or -1: see :func:`lanes_of`."""


class ByLane(Machine, Protocol):
    """A device on which nothing but streams is scarce."""

    def occupy(self, lane: int, until: int) -> None:
        """Have a lane busy from the beginning until an instant."""


class Queue:
    """One lane, filled by appending."""

    def __init__(self) -> None:
        self.free_at = 0

    def earliest(self, op: OpId, ready: int, duration: int) -> int:
        """Earliest start after all that is there."""
        del op, duration
        free = self.free_at
        return ready if ready > free else free

    def place(self, op: OpId, start: int, duration: int) -> int:
        """Append an operator."""
        del op
        self.free_at = start + duration
        return 0

    def occupy(self, lane: int, until: int) -> None:
        """Have the lane busy from the beginning until an instant."""
        del lane
        self.free_at = until


class Lane:
    """One lane, filled by insertion.

    Only the idle gaps are kept, so that looking for one costs nothing where there are none. An operator that takes no
    time may also go between two others that follow each other at once; and what comes later may not run across it.
    """

    def __init__(self) -> None:
        self.free_at = 0
        self._gap_starts: list[int] = []
        self._gap_ends: list[int] = []
        self._ends: list[int] = []

    def earliest(self, op: OpId, ready: int, duration: int) -> int:
        """Earliest start in a gap, or after all that is there."""
        del op
        free = self.free_at
        if ready >= free:
            return ready
        starts, ends = self._gap_starts, self._gap_ends
        for number in range(bisect_left(ends, ready + duration), len(ends)):
            start = starts[number] if starts[number] > ready else ready
            if start + duration <= ends[number]:
                return start if duration else min(start, self._boundary(ready))
        return free if duration else self._boundary(ready)

    def _boundary(self, ready: int) -> int:
        """First end of an operator from ``ready`` on; there is one, and nothing starts between."""
        return self._ends[bisect_left(self._ends, ready)]

    def place(self, op: OpId, start: int, duration: int) -> int:
        """Put an operator into a gap, or after all that is there."""
        del op
        end, free = start + duration, self.free_at
        starts, ends = self._gap_starts, self._gap_ends
        if start >= free:
            if start > free:
                starts.append(free)
                ends.append(start)
            self.free_at = end
            self._ends.append(end)
            return 0
        number = bisect_right(starts, start) - 1
        if number >= 0 and start < ends[number]:
            pieces = [(starts[number], start), (end, ends[number])]
            kept = [(left, right) for left, right in pieces if left < right]
            starts[number : number + 1] = [left for left, _ in kept]
            ends[number : number + 1] = [right for _, right in kept]
        insort(self._ends, end)
        return 0

    def occupy(self, lane: int, until: int) -> None:
        """Have the lane busy from the beginning until an instant."""
        self.place(lane, 0, until)


class Lanes:
    """Several lanes of one device, filled by insertion. An operator takes the lowest of those on which it starts first.

    Parameters
    ----------
    count : int
        Number of lanes. Those that were never used are alike, and none of them is looked at.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._lanes: list[Lane] = []

    @property
    def free_at(self) -> int:
        """When a lane is next free for good."""
        return 0 if len(self._lanes) < self._count else min(lane.free_at for lane in self._lanes)

    def earliest(self, op: OpId, ready: int, duration: int) -> int:
        """Earliest start on any lane."""
        lanes = self._lanes
        if len(lanes) < self._count:
            return ready
        best = lanes[0].earliest(op, ready, duration)
        for lane in lanes:
            if best == ready:
                break
            start = lane.earliest(op, ready, duration)
            if start < best:
                best = start
        return best

    def place(self, op: OpId, start: int, duration: int) -> int:
        """Place an operator on the lowest lane on which it can start then."""
        for number, lane in enumerate(self._lanes):
            if lane.earliest(op, start, duration) == start:
                lane.place(op, start, duration)
                return number
        self._lanes.append(Lane())
        self._lanes[-1].place(op, start, duration)
        return len(self._lanes) - 1

    def occupy(self, lane: int, until: int) -> None:
        """Have a lane busy from the beginning until an instant."""
        self._lanes += [Lane() for _ in range(lane + 1 - len(self._lanes))]
        self._lanes[lane].occupy(0, until)


class Queues:
    """Several lanes of one device, filled by appending. An operator takes the lowest that is free when it starts.

    Parameters
    ----------
    count : int
        Number of lanes.
    """

    def __init__(self, count: int) -> None:
        self.free_at = 0
        self._count = count
        self._free: list[int] = []

    def earliest(self, op: OpId, ready: int, duration: int) -> int:
        """Earliest start after all that is on some lane."""
        del op, duration
        free = self.free_at
        return ready if ready > free else free

    def place(self, op: OpId, start: int, duration: int) -> int:
        """Append an operator to the lowest lane that is free by then."""
        del op
        free = self._free
        lane = next((number for number, time in enumerate(free) if time <= start), len(free))
        free[lane : lane + 1] = [start + duration]
        if len(free) == self._count:
            self.free_at = min(free)
        return lane

    def occupy(self, lane: int, until: int) -> None:
        """Have a lane busy from the beginning until an instant."""
        free = self._free
        free += [0] * (lane + 1 - len(free))
        free[lane] = until
        if len(free) == self._count:
            self.free_at = min(free)


class Pool:
    """Renewable units of one device over time, filled by insertion.

    Between two instants at which anything changes, the free units of all resources are one integer: each has a field of
    bits, with a guard bit above it that no count reaches. With all guard bits set, one subtraction tells whether a
    demand fits: a resource that lacks units borrows from its guard bit.

    Parameters
    ----------
    capacities : mapping of str to int
        Units by resource.
    demands : mapping of int to mapping
        Units that operators hold; those that are not in it hold none.
    streams : int
        Operators that can be there at a time.

    Attributes
    ----------
    needs : dict of int to int
        The demands of operators as such integers, their stream included.
    """

    def __init__(self, capacities: Mapping[str, int], demands: Mapping[OpId, Mapping[str, int]], streams: int) -> None:
        width = {"": 0}
        shift, full, guard = 0, 0, 0
        for name, units in [("", streams), *capacities.items()]:
            width[name] = shift
            full |= units << shift
            shift += units.bit_length() + 1
            guard |= 1 << (shift - 1)
        self._guard = guard
        self._plain = 1
        self.needs = {
            op: 1 + sum(units << width[name] for name, units in demand.items()) for op, demand in demands.items()
        }
        self._times = [0]
        self._free = [full | guard]
        self._points: list[tuple[int, int]] = []

    @property
    def free_at(self) -> int:
        """When all is free for good."""
        return self._times[-1]

    def earliest(self, op: OpId, ready: int, duration: int) -> int:
        """Earliest start from which the units are free for as long as the operator takes."""
        need, guard = self.needs.get(op, self._plain), self._guard
        times, free = self._times, self._free
        last = len(times) - 1
        start = ready
        number = bisect_right(times, ready) - 1
        while True:
            if (free[number] - need) & guard != guard:
                number += 1
                start = times[number]
            elif number == last or times[number + 1] >= start + duration:
                blocked = self._blocked(start, start + duration, need) if self._points else -1
                if blocked < 0:
                    return start
                start = blocked
                number = bisect_right(times, start) - 1
            else:
                number += 1

    def _blocked(self, start: int, end: int, need: int) -> int:
        """Last instant within a span at which something that takes no time would no longer fit; -1 for none."""
        points, guard = self._points, self._guard
        for number in range(bisect_left(points, (end, 0)) - 1, bisect_right(points, (start + 1, 0)) - 1, -1):
            time, other = points[number]
            there = self._free[bisect_right(self._times, time) - 1]
            if (there - need - other) & guard != guard:
                return time
        return -1

    def place(self, op: OpId, start: int, duration: int) -> int:
        """Take the units from start to end; lanes are given out at the end, see :func:`lanes_of`."""
        need = self.needs.get(op, self._plain)
        if not duration:
            insort(self._points, (start, need))
        else:
            first, last = self._cut(start), self._cut(start + duration)
            free = self._free
            for number in range(first, last):
                free[number] -= need
        return -1

    def _cut(self, time: int) -> int:
        """Number of the interval that begins at a time; it is cut off from the one before if need be."""
        times = self._times
        number = bisect_left(times, time)
        if number == len(times) or times[number] != time:
            times.insert(number, time)
            self._free.insert(number, self._free[number - 1])
        return number


class InOrder:
    """A pool filled by appending: nothing starts before the last that started."""

    def __init__(self, pool: Machine) -> None:
        self._pool = pool
        self._last = 0

    @property
    def free_at(self) -> int:
        """When all is free for good."""
        return self._pool.free_at

    def earliest(self, op: OpId, ready: int, duration: int) -> int:
        """Earliest start that is not before the last one."""
        return self._pool.earliest(op, max(ready, self._last), duration)

    def place(self, op: OpId, start: int, duration: int) -> int:
        """Place an operator."""
        self._last = start
        return self._pool.place(op, start, duration)


def lanes_of(order: Sequence[OpId], start: Sequence[int], end: Sequence[int]) -> dict[OpId, int]:
    """Give out lanes to operators of one device, of which never more than there are lanes run at a time.

    Parameters
    ----------
    order : sequence of int
        Operators by start; of one instant those that take no time first.
    start, end : sequence of int
        By operator id.

    Returns
    -------
    dict of int to int
        The lowest lane that is free at the start of each.
    """
    lane_of: dict[OpId, int] = {}
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    count = 0
    for op in order:
        while busy and busy[0][0] <= start[op]:
            insort(free, busy.pop(0)[1])
        if not free:
            free.append(count)
            count += 1
        lane = free.pop(0)
        lane_of[op] = lane
        insort(busy, (end[op], lane))
    return lane_of
