"""Rules of the referee on devices of model ``blocks``: who placed which blocks where, and when.

From the recorded cohorts it works out what every SM holds at every instant, and compares where blocks went with where
most room was. How fast cohorts ran is another rule (:mod:`simsched.analysis.check_cohorts`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from simsched.analysis.check_capacity import blame_wait, shortages, usages_of
from simsched.analysis.check_cohorts import check_cohort_speeds
from simsched.analysis.check_grids import WHOLE, Grid, grid_of, limits_of
from simsched.analysis.check_queue import blurred, queue_of, urgency
from simsched.analysis.findings import Facts
from simsched.graph.model import OpId
from simsched.trace import Cohort, Wait


def check_blocks(facts: Facts) -> None:
    """Check the cohorts of every device of model ``blocks``, and that there are none elsewhere."""
    cohorts: dict[int, list[Cohort]] = {}
    for cohort in facts.trace.cohorts:
        if not 0 <= cohort.op < len(facts.start):
            facts.findings.add("blocks", f"a cohort names operator {cohort.op}, out of range")
        elif facts.problem.devices[facts.device[cohort.op]].model != "blocks":
            text = f"blocks of {facts.name(cohort.op)} are recorded on {facts.host(cohort.op)}, which places none"
            facts.findings.add("blocks", text)
        else:
            cohorts.setdefault(facts.device[cohort.op], []).append(cohort)
    of_blocks = [device for device, described in enumerate(facts.problem.devices) if described.model == "blocks"]
    instants = blurred(facts) if of_blocks else set()
    for device in of_blocks:
        _check_device(facts, device, cohorts.get(device, []), instants)


def _check_device(facts: Facts, device: int, cohorts: Sequence[Cohort], instants: set[int]) -> None:
    ops = [op for op, owner in enumerate(facts.device) if owner == device]
    grids = {op: grid_of(facts, op) for op in ops}
    by_op: dict[OpId, list[Cohort]] = {op: [] for op in ops}
    for cohort in cohorts:
        by_op[cohort.op].append(cohort)
    for op in ops:
        by_op[op].sort(key=lambda cohort: (cohort.start, cohort.wave))
    complete = [_check_kernel(facts, op, grids[op], by_op[op], instants) for op in ops]
    if all(complete):
        _Replay(facts, device, grids, by_op, instants).run()
        check_cohort_speeds(facts, cohorts, grids)


# --- one kernel -------------------------------------------------------------------------------------------------


def _check_kernel(facts: Facts, op: OpId, grid: Grid, cohorts: Sequence[Cohort], instants: set[int]) -> bool:
    """Check that every block was placed once, in order, and that the kernel is as long as its cohorts."""
    sms = facts.problem.devices[facts.device[op]].sms
    wrong = [cohort for cohort in cohorts if not _is_placed(cohort, sms, grid)]
    if wrong:
        text = f"blocks of {facts.name(op)} from {facts.at(wrong[0].start)} have places {list(wrong[0].places)}"
        facts.findings.add("blocks", f"{text}; expected SMs from 0 to {sms - 1}, ascending, each with some blocks")
        return False
    placed = sum(cohort.blocks for cohort in cohorts)
    if placed != grid.blocks or not cohorts:
        text = f"{placed} blocks of {facts.name(op)} are recorded in {len(cohorts)} cohorts; it has {grid.blocks}"
        facts.findings.add("blocks", text)
        return False
    number = 0
    for before, cohort in zip([None, *cohorts], cohorts, strict=False):
        last = number + max(cohort.blocks, 1) - 1
        again = before is not None and (before.start, before.wave) == (cohort.start, cohort.wave)
        split = again and cohort.start not in instants  # in a further round of an instant there may be another one
        if split or not number // grid.wave == cohort.wave == last // grid.wave:
            text = f"blocks {number} to {last} of {facts.name(op)}, placed at {facts.at(cohort.start)}"
            facts.findings.add("blocks", f"{text}, are not one cohort of wave {cohort.wave} ({grid.wave} a wave)")
            return False
        number += cohort.blocks
    begin, end = cohorts[0].start, max(cohort.end for cohort in cohorts)
    if (facts.start[op], facts.end[op]) != (begin, end):
        text = f"{facts.name(op)} ran from {facts.at(facts.start[op])} to {facts.at(facts.end[op])}"
        facts.findings.add("duration", f"{text}; its blocks from {facts.at(begin)} to {facts.at(end)}")
        return False
    return True


def _is_placed(cohort: Cohort, sms: int, grid: Grid) -> bool:
    places = [sm for sm, _ in cohort.places]
    if any(count <= 0 for _, count in cohort.places) or cohort.end < cohort.start:
        return False
    in_order = all(before < after for before, after in pairwise(places))
    return in_order and all(0 <= sm < sms for sm in places) and bool(places) == bool(grid.blocks)


State = tuple[int, ...]


# --- one device ---------------------------------------------------------------------------------------------------


class _Sms:
    """What is in use on each SM: how many blocks, then units of everything that the profile limits.

    Of many SMs few are in different states, so what a state has room for, or becomes, is worked out once.
    """

    def __init__(self, limits: Mapping[str, int], sms: int) -> None:
        self._names = list(limits)
        self._limits = (0, *limits.values())
        self._states: list[State] = [(0,) * (len(limits) + 1)] * sms
        self._after: dict[tuple[State, State, int], State] = {}
        self._rooms: dict[State, dict[State, int]] = {}
        self._over: dict[State, str] = {}

    def _need(self, grid: Grid) -> State:
        return (1, *(grid.need.get(name, 0) for name in self._names))

    def change(self, grid: Grid, cohort: Cohort, sign: int) -> None:
        """Place or take away the blocks of a cohort."""
        need = self._need(grid)
        for sm, count in cohort.places:
            key = (self._states[sm], need, sign * count)
            after = self._after.get(key)
            if after is None:
                after = tuple(used + sign * count * units for used, units in zip(key[0], need, strict=True))
                self._after[key] = after
            self._states[sm] = after

    def over(self, sm: int) -> str:
        """What an SM has too little of, in words; empty where all fits."""
        state = self._states[sm]
        known = self._over.get(state)
        if known is None:
            known = self._over[state] = self._excess(state)
        return known

    def _excess(self, state: State) -> str:
        residents, *used = state
        for name, units, limit in zip(self._names, used, self._limits[1:], strict=True):
            if units > limit:
                return f"{units} {name} in use, it has {limit}"
        if used[self._names.index(WHOLE)] and residents > 1:
            return f"{residents} blocks, one of which takes the whole SM"
        return ""

    def rooms(self, grid: Grid) -> list[int]:
        """How many further blocks of a kernel each SM can hold."""
        need = self._need(grid)
        known = self._rooms.setdefault(need, {})
        found = []
        for state in self._states:
            room = known.get(state)
            if room is None:
                room = known[state] = self._room(state, need, grid.blocks)
            found.append(room)
        return found

    def _room(self, state: State, need: State, blocks: int) -> int:
        whole = self._names.index(WHOLE) + 1
        if state[whole] or (need[whole] and state[0]):
            return 0
        limited = zip(state[1:], need[1:], self._limits[1:], strict=True)
        return min([(limit - used) // units for used, units, limit in limited if units], default=blocks)


def most_room(rooms: Sequence[int], blocks: int) -> list[int]:
    """Return how many of some blocks go to each SM, when each goes where most room is, to the lowest SM of several.

    Examples
    --------
    >>> most_room([3, 1, 3], 4)
    [2, 0, 2]
    >>> most_room([3, 1, 3], 5)
    [3, 0, 2]
    """
    tally = Counter(rooms)
    blocks = min(blocks, sum(room * sms for room, sms in tally.items() if room > 0))
    low, high = 0, max(rooms, default=0)
    while low < high:  # the lowest room to which all SMs can be filled down
        middle = (low + high) // 2
        if sum((room - middle) * sms for room, sms in tally.items() if room > middle) <= blocks:
            high = middle
        else:
            low = middle + 1
    counts = [room - low if room > low else 0 for room in rooms]
    left = blocks - sum(counts)
    for sm, room in enumerate(rooms):
        if left and room >= low > 0:
            counts[sm] += 1
            left -= 1
    return counts


class _Replay:
    """Everything that was placed on one device, once more in order of time."""

    def __init__(
        self,
        facts: Facts,
        device: int,
        grids: Mapping[OpId, Grid],
        by_op: Mapping[OpId, Sequence[Cohort]],
        instants: set[int],
    ) -> None:
        described = facts.problem.devices[device]
        self.facts, self.device, self.grids, self.name = facts, device, grids, described.name
        limits = limits_of(described)
        self.sms = _Sms(limits, described.sms)
        self.blurred = instants
        self.queue = queue_of(facts, device, self.blurred)
        self.starting: dict[int, list[Cohort]] = {}
        self.ending: dict[int, list[Cohort]] = {}
        for cohort in (cohort for op in by_op for cohort in by_op[op]):
            self.starting.setdefault(cohort.start, []).append(cohort)
            self.ending.setdefault(cohort.end, []).append(cohort)
        self.left = {op: grid.blocks for op, grid in grids.items()}
        self.partial: dict[OpId, None] = {}
        self.waits = list(shortages(facts, device, usages_of(facts, device)))
        self.short: dict[int, list[tuple[Wait, bool]]] = {}
        for wait, first, last in self.waits:
            if not first:
                self.short.setdefault(wait.start, []).append((wait, True))
            if not last:
                self.short.setdefault(wait.end, []).append((wait, False))

    def run(self) -> None:
        """Go through all instants; after a violation of room nothing that follows can be told."""
        for time in sorted({*self.starting, *self.ending, *self.short}):
            self._check_shortages(time, first=False)
            for cohort in self.ending.get(time, ()):
                if cohort.start < time:
                    self.sms.change(self.grids[cohort.op], cohort, -1)
            here = self.starting.get(time, ())
            # Blocks that take no time need their places only beside those that run through the instant.
            if not all(self._fits(cohort, time) for cohort in here if cohort.end == time):
                return
            lasting = [cohort for cohort in here if cohort.end > time]
            if time not in self.blurred:
                self._check_places(time, lasting)
            for cohort in lasting:
                self.sms.change(self.grids[cohort.op], cohort, 1)
            for cohort in here:
                self._count(cohort)
            if not all(self._fits(cohort, time) for cohort in lasting):
                return
            if time not in self.blurred:
                self._check_idle(time)
                self._check_shortages(time, first=True)

    def _count(self, cohort: Cohort) -> None:
        self.left[cohort.op] -= cohort.blocks
        if self.left[cohort.op]:
            self.partial[cohort.op] = None
        else:
            self.partial.pop(cohort.op, None)

    def _fits(self, cohort: Cohort, time: int) -> bool:
        """Check that an SM has what the blocks on it need."""
        brief, grid = cohort.end == time, self.grids[cohort.op]
        if brief:
            self.sms.change(grid, cohort, 1)
        over = [(sm, text) for sm, _ in cohort.places if (text := self.sms.over(sm))]
        if brief:
            self.sms.change(grid, cohort, -1)
        for sm, text in over[:1]:
            holders = f"with blocks of {self.facts.name(cohort.op)}"
            self.facts.findings.add("blocks", f"SM {sm} of {self.name} has {text} at {self.facts.at(time)}, {holders}")
        return not over

    def _rank(self, op: OpId) -> tuple[int, ...]:
        """Order in the queue; of those that entered in several rounds of an instant, the first to start was first."""
        facts = self.facts
        return urgency(facts, op), facts.eligible[op], facts.start[op], self.queue.place[op]

    def _check_places(self, time: int, cohorts: Iterable[Cohort]) -> None:
        """Check that the blocks of an instant went where most room was, one after the other."""
        facts = self.facts
        by_op: dict[OpId, list[Cohort]] = {}
        for cohort in cohorts:
            by_op.setdefault(cohort.op, []).append(cohort)
        # Those that the policy dispatched at this very instant came after those that were there.
        late = {op: facts.dispatch[op] == time for op in by_op}
        before: list[Cohort] = []
        order = sorted(by_op, key=lambda op: (late[op], self._rank(op)))
        if any(
            self._rank(a)[:3] == self._rank(b)[:3] and facts.eligible[a] in self.blurred for a, b in pairwise(order)
        ):
            return
        for op in order:
            grid, placed = self.grids[op], 0
            rooms = self.sms.rooms(grid)
            done = [0] * len(rooms)
            for cohort in by_op[op]:
                placed += cohort.blocks
                due = most_room(rooms, placed)
                right = [(sm, count - done[sm]) for sm, count in enumerate(due) if count > done[sm]]
                if list(cohort.places) != right:
                    text = f"blocks of {facts.name(op)} are placed at {facts.at(time)} on SMs {_places(cohort.places)}"
                    facts.findings.add("blocks", f"{text}; most room is on {_places(right)}")
                done = due
                self.sms.change(grid, cohort, 1)
                before.append(cohort)
        for cohort in before:
            self.sms.change(self.grids[cohort.op], cohort, -1)

    def _check_idle(self, time: int) -> None:
        """Check that the kernel at the head has placed all blocks that there is room for."""
        if not self.partial:
            return
        op = min(self.partial, key=self._rank)
        rank = urgency(self.facts, op)
        for other, entries in self.queue.entries.items():
            if other < rank and entries.busy_until(bisect_right(entries.entered, time)) > time:
                return  # somebody more urgent is before it
        if max(self.sms.rooms(self.grids[op])) > 0:
            text = f"{self.facts.name(op)} has {self.left[op]} blocks to place at {self.facts.at(time)}"
            self.facts.findings.add("blocks", f"{text}, and {self.name} has room for more of them")

    def _check_shortages(self, time: int, first: bool) -> None:
        """Check that who waited for a resource found no room for a block."""
        for wait, begins in self.short.get(time, ()):
            if begins == first and max(self.sms.rooms(self.grids[wait.op]), default=1) > 0:
                blame_wait(self.facts, wait, not first)


def _places(places: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{sm} ({count})" for sm, count in places) or "none"
