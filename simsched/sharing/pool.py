"""One resource shared max-min fairly, event by event.

The sharing rule is progressive filling (Bertsekas and Gallager, *Data Networks*, 1992, section 6.5.2): a level rises
until the resource is full, and each flow takes the smaller of its own cap and the level. A flow whose cap is at most
the level is *capped*: it runs at full speed, so its end is a fixed instant. All others are *filled*: they run at the
same rate, the level, so their ends are fixed in a virtual time that advances at that rate, as in generalised
processor sharing (Parekh and Gallager 1993, DOI 10.1109/90.234856). An event therefore touches the flows that cross
the border between both sets, and no others.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from heapq import heapify, heappop, heappush
from math import ceil

# Shares are counted in whole 2**-56 of the capacity: their sums are exact, so the level depends on which flows run
# and not on the order in which they came.
WHOLE = 1 << 56
# Caps that are meant to add up to 1 (ten times 0.1) miss it by a rounding: that much over still counts as fitting.
SLACK = WHOLE // 10**12
# A completion this close after a whole nanosecond belongs to it.
TOLERANCE = 1e-6
# Clocks restart before their rounding (2**-52 of their value) comes near the tolerance.
LONGEST_CLOCK = 1 << 30
# Outdated entries of a heap are dropped when they are more than the valid ones and this many.
MOST_OUTDATED = 64

# Where a flow ends (real time since the origin while capped, virtual time while filled), its key, its cap, its share.
Entry = tuple[float, int, float, int]


class Pool:
    """A resource of capacity 1, shared max-min fairly with equal weights by flows that each have a cap.

    A flow of cap ``c`` gets the rate ``min(c, level)``; the level is such that the rates add up to 1 where the caps
    add up to more. Its speed is its rate divided by ``c``. Rates change only at whole nanoseconds, when flows are
    added or taken out. A flow that is never slowed ends exactly ``length`` after it was added.

    Time never runs backwards: each ``now`` is at least the one before, and no later than ``next_time()`` unless
    ``due`` is called first. An event costs O((1 + x) log k) with k flows of which x cross between full speed and less.

    Examples
    --------
    >>> pool = Pool()
    >>> pool.add(0, cap=0.75, length=300, now=0)
    >>> pool.add(1, cap=0.75, length=300, now=0)
    >>> pool.next_time()
    450
    >>> pool.due(450)
    [0, 1]
    """

    __slots__ = (
        "_capped",
        "_clock",
        "_count",
        "_entries",
        "_filled",
        "_free",
        "_fresh",
        "_keys",
        "_level",
        "_now",
        "_origin",
        "_settled",
        "_shares",
    )

    def __init__(self) -> None:
        self._shares: list[int] = []  # ascending; the first _count of them are capped, the others filled
        self._keys: list[int] = []  # whose share stands at the same place
        self._count = 0
        self._free = WHOLE  # what the capped flows leave
        self._level = 1.0  # rate of each filled flow, where there is one
        self._entries: dict[int, Entry] = {}  # the valid entry of each flow
        self._capped: list[Entry] = []  # heaps with outdated entries among the valid ones
        self._filled: list[Entry] = []
        self._fresh: dict[int, int] = {}  # lengths of flows added as filled since the level was last found
        self._settled = True
        self._now = 0  # the last instant of a change
        self._origin = 0  # real times in entries count from here
        self._clock = 0.0  # virtual time at _now

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: int, cap: float, length: int, now: int) -> None:
        """Let a flow in.

        Parameters
        ----------
        key : int
            Names the flow; no flow in the pool has it.
        cap : float
            Share of the resource that it takes at full speed, above 0 and at most 1.
        length : int
            Nanoseconds that it needs at full speed.
        now : int
            The present instant in ns. Flows that are due now are taken out first, by ``due``.
        """
        if now != self._now:
            self._advance(now)
        share = int(cap * WHOLE)
        place = bisect_right(self._shares, share)
        self._shares.insert(place, share)
        self._keys.insert(place, key)
        if place <= self._count:
            entry = (float(now - self._origin + length), key, cap, share)
            heappush(self._capped, entry)
            self._count += 1
            self._free -= share
        else:
            entry = (self._clock + cap * length, key, cap, share)
            heappush(self._filled, entry)
            self._fresh[key] = length
        self._entries[key] = entry
        self._settled = False

    def next_time(self) -> int | None:
        """Return the first whole ns at which a flow will be done if none is added before; None in an empty pool."""
        if not self._settled:
            self._settle()
        entries = self._entries
        heap = self._capped
        while heap and entries.get(heap[0][1]) is not heap[0]:
            heappop(heap)
        first = ceil(heap[0][0] - TOLERANCE) + self._origin if heap else None
        heap = self._filled
        while heap and entries.get(heap[0][1]) is not heap[0]:
            heappop(heap)
        if heap:
            other = self._now + ceil((heap[0][0] - self._clock) / self._level - TOLERANCE)
            if first is None or other < first:
                return other
        return first

    def due(self, now: int) -> list[int]:
        """Take out the flows that are done at ``now`` (ns) and return their keys, ascending."""
        if not self._settled:
            self._settle()
        entries = self._entries
        done = []
        heap = self._capped
        limit = now - self._origin
        while heap:
            entry = heap[0]
            if entries.get(entry[1]) is entry:
                if entry[0] - TOLERANCE > limit:
                    break
                done.append(entry)
            heappop(heap)
        heap = self._filled
        limit = now - self._now
        clock, level = self._clock, self._level
        while heap:
            entry = heap[0]
            if entries.get(entry[1]) is entry:
                # The same sum as in next_time: what was announced for an instant is done at that instant.
                if (entry[0] - clock) / level - TOLERANCE > limit:
                    break
                done.append(entry)
            heappop(heap)
        if not done:
            return []
        self._advance(now)
        shares, keys = self._shares, self._keys
        for _, key, _, share in done:
            place = keys.index(key, bisect_left(shares, share))
            del shares[place], keys[place], entries[key]
            if place < self._count:
                self._count -= 1
                self._free += share
        self._settled = False
        return sorted([entry[1] for entry in done])

    def speed(self, key: int) -> float:
        """Return the present speed of a flow: 1 at full speed, less where it is slowed."""
        if not self._settled:
            self._settle()
        place = self._place(self._entries[key])
        return 1.0 if place < self._count else self._level / self._entries[key][2]

    def _place(self, entry: Entry) -> int:
        return self._keys.index(entry[1], bisect_left(self._shares, entry[3]))

    def _advance(self, now: int) -> None:
        """Bring the clocks to ``now``; where they are long or nothing runs, let them start anew."""
        if not self._settled:
            self._settle()
        if self._count == len(self._keys):
            self._clock = 0.0
        else:
            self._clock += self._level * (now - self._now)
        self._now = now
        if not self._keys:
            self._origin = now
        elif now - self._origin > LONGEST_CLOCK:
            self._restart_clocks()

    def _settle(self) -> None:
        """Find the level, and move the flows that cross between full speed and less.

        A flow fits at full speed when what the smaller ones leave is enough for it and for as much for each larger
        one. Where that holds for a flow, it holds for all smaller ones, so the border is found by walking.
        """
        shares, keys, entries = self._shares, self._keys, self._entries
        size, count, free = len(shares), self._count, self._free
        real, clock = self._now - self._origin, self._clock
        while count < size and shares[count] * (size - count) <= free + SLACK:
            free -= shares[count]
            key = keys[count]
            end, _, cap, share = entries[key]
            length = self._fresh.get(key)
            end = float(real + length) if length is not None else real + (end - clock) / cap
            entries[key] = entry = (end, key, cap, share)
            heappush(self._capped, entry)
            count += 1
        while count and shares[count - 1] * (size - count) > free + SLACK:
            count -= 1
            free += shares[count]
            key = keys[count]
            end, _, cap, share = entries[key]
            entries[key] = entry = (clock + cap * (end - real), key, cap, share)
            heappush(self._filled, entry)
        self._count, self._free = count, free
        if count < size:
            self._level = free / ((size - count) * WHOLE)
        self._fresh.clear()
        self._settled = True
        if len(self._capped) + len(self._filled) > 2 * size + MOST_OUTDATED:
            self._drop_outdated()

    def _drop_outdated(self) -> None:
        entries = self._entries
        self._capped = [entries[key] for key in self._keys[: self._count]]
        self._filled = [entries[key] for key in self._keys[self._count :]]
        heapify(self._capped)
        heapify(self._filled)

    def _restart_clocks(self) -> None:
        """Subtract whole numbers from both clocks and all ends on them, which loses no digit."""
        real, virtual = self._now - self._origin, float(int(self._clock))
        self._origin = self._now
        self._clock -= virtual
        for place, key in enumerate(self._keys):
            end, _, cap, share = self._entries[key]
            self._entries[key] = (end - (real if place < self._count else virtual), key, cap, share)
        self._drop_outdated()
