"""Rules of the referee on devices of model ``blocks``: who placed which blocks where, and when.

From the recorded cohorts it works out what every SM holds at every instant, and compares where blocks went with where
most room was. How fast cohorts ran is another rule (:mod:`simsched.analysis.check_cohorts`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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


# --- one device ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sms:
    """What is in use on each SM."""

    limits: Mapping[str, int]
    used: list[dict[str, int]]
    residents: list[int] = field(default_factory=list)

    def change(self, grid: Grid, cohort: Cohort, sign: int) -> None:
        """Place or take away the blocks of a cohort."""
        for sm, count in cohort.places:
            self.residents[sm] += sign * count
            for name, units in grid.need.items():
                self.used[sm][name] += sign * count * units

    def over(self, sm: int) -> str:
        """What an SM has too little of, in words; empty where all fits."""
        for name, limit in self.limits.items():
            if self.used[sm][name] > limit:
                return f"{self.used[sm][name]} {name} in use, it has {limit}"
        if self.used[sm][WHOLE] and self.residents[sm] > 1:
            return f"{self.residents[sm]} blocks, one of which takes the whole SM"
        return ""

    def rooms(self, grid: Grid) -> list[int]:
        """How many further blocks of a kernel each SM can hold."""
        limits = [(name, units, self.limits[name]) for name, units in grid.need.items()]
        found = []
        for used, resident in zip(self.used, self.residents, strict=True):
            if used[WHOLE] or (resident and WHOLE in grid.need):
                found.append(0)
            else:
                found.append(min([(limit - used[name]) // units for name, units, limit in limits], default=grid.blocks))
        return found


def most_room(rooms: Sequence[int], blocks: int) -> list[int]:
    """Return how many of some blocks go to each SM, when each goes where most room is, to the lowest SM of several.

    Examples
    --------
    >>> most_room([3, 1, 3], 4)
    [2, 0, 2]
    >>> most_room([3, 1, 3], 5)
    [3, 0, 2]
    """
    blocks = min(blocks, sum(max(room, 0) for room in rooms))
    low, high = 0, max(rooms, default=0)
    while low < high:  # the lowest room to which all SMs can be filled down
        middle = (low + high) // 2
        if sum(max(room - middle, 0) for room in rooms) <= blocks:
            high = middle
        else:
            low = middle + 1
    counts = [max(room - low, 0) for room in rooms]
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
        self.sms = _Sms(limits, [dict.fromkeys(limits, 0) for _ in range(described.sms)], [0] * described.sms)
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
