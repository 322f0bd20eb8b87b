"""Rules of the referee on a device's queue: urgent kernels first, equally urgent ones in the order in which they came.

A kernel enters when it is eligible; within one instant kernels enter in launch order. It leaves when it starts, on a
device of model ``blocks`` when its last block is placed. Only the first may start or place blocks. Where something
that takes no time ends at an instant, several rounds of entering share it, and their order is not checked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from simsched.analysis.findings import Facts
from simsched.graph.model import OpId
from simsched.trace import Wait

NEVER = -(1 << 62)
"""Before every instant, those of broken traces included."""


@dataclass(slots=True)
class Entries:
    """Kernels of one urgency in the order in which they entered a queue.

    Attributes
    ----------
    ops, entered : list of int
        Kernels, and when they entered, ascending.
    latest : list of int
        When the last to leave of those up to each had left.
    """

    ops: list[OpId] = field(default_factory=list)
    entered: list[int] = field(default_factory=list)
    latest: list[int] = field(default_factory=list)

    def busy_until(self, count: int) -> int:
        """When the last to leave of the first ``count`` had left."""
        return self.latest[count - 1] if count else NEVER


@dataclass(slots=True)
class Queue:
    """The queue of one device over a run.

    Attributes
    ----------
    entries : dict of int to Entries
        By urgency, most urgent first.
    place : dict of int to int
        Position of each kernel among those of its urgency.
    left : dict of int to int
        When each left the queue.
    blurred : set of int
        Instants with several rounds.
    """

    entries: dict[int, Entries]
    place: dict[OpId, int]
    left: dict[OpId, int]
    blurred: set[int]


def urgency(facts: Facts, op: OpId) -> int:
    """Priority of the stream that ran an operator; lower is more urgent."""
    device = facts.device[op]
    priorities = facts.problem.devices[device].stream_priorities
    return priorities[facts.stream[op] - facts.problem.device_streams[device][0]] if priorities else 0


def blurred(facts: Facts) -> set[int]:
    """Instants at which something ends that takes no time, so that further rounds follow within them."""
    found = {begin for begin, end in zip(facts.start, facts.end, strict=True) if begin == end}
    found.update(move.start for move in facts.trace.transfers if move.start == move.end)
    found.update(cohort.start for cohort in facts.trace.cohorts if cohort.start == cohort.end)
    return found


def queue_of(facts: Facts, device: int, instants: set[int]) -> Queue:
    """Work out who was in the queue of a device when."""
    eligible = facts.eligible
    ops = [op for op in facts.trace.launch_order if facts.device[op] == device]
    ops.sort(key=eligible.__getitem__)  # stable: launch order within an instant
    start = facts.start
    left = dict(zip(ops, map(start.__getitem__, ops), strict=True))
    for cohort in facts.trace.cohorts:
        if cohort.op in left and cohort.start > left[cohort.op]:
            left[cohort.op] = cohort.start
    entries: dict[int, Entries] = {}
    if not facts.problem.devices[device].stream_priorities:
        entries[0] = Entries(ops, [eligible[op] for op in ops], list(accumulate(map(left.__getitem__, ops), max)))
        return Queue(entries, {op: number for number, op in enumerate(ops)}, left, instants)
    place: dict[OpId, int] = {}
    for op in ops:
        same = entries.setdefault(urgency(facts, op), Entries())
        place[op] = len(same.ops)
        latest = same.latest[-1] if same.latest else NEVER
        same.ops.append(op)
        same.entered.append(eligible[op])
        same.latest.append(max(latest, left[op]))
    return Queue(dict(sorted(entries.items())), place, left, instants)


def check_queues(facts: Facts) -> None:
    """Check on every device with a queue that only its first went, and that who waited in it had somebody before."""
    queued = [described.model != "lanes" for described in facts.problem.devices]
    instants = blurred(facts) if any(queued) else set()
    for device, described in enumerate(facts.problem.devices):
        if described.model == "lanes":
            _check_no_waits(facts, device, described.model)
            continue
        queue = queue_of(facts, device, instants)
        moves = _moves(facts, device) if len(queue.entries) > 1 else {}
        for rank, same in queue.entries.items():
            _check_order(facts, queue, same)
            for other, urgent in queue.entries.items():
                if other < rank:
                    _check_urgent(facts, urgent, [(op, time) for op in same.ops for time in moves[op]], queue)
        _check_waits(facts, device, queue)


def _moves(facts: Facts, device: int) -> dict[OpId, list[int]]:
    """When each kernel started or placed blocks."""
    moves = {op: [start] for op, start in enumerate(facts.start) if facts.device[op] == device}
    for cohort in facts.trace.cohorts:
        if cohort.op in moves and cohort.start not in moves[cohort.op]:
            moves[cohort.op].append(cohort.start)
    return moves


def _check_order(facts: Facts, queue: Queue, same: Entries) -> None:
    """Check that equally urgent kernels start in the order in which they entered."""
    start = facts.start
    group = 0  # how many entered at strictly earlier instants
    for number, op in enumerate(same.ops):
        if number and same.entered[number] > same.entered[number - 1]:
            group = number
        count = group if same.entered[number] in queue.blurred else number
        if start[op] < same.busy_until(count):
            before = next(other for other in same.ops[:count] if queue.left[other] > start[op])
            _blame(facts, op, start[op], before)


def _blame(facts: Facts, op: OpId, time: int, before: OpId) -> None:
    goes = "starts" if time == facts.start[op] else "places blocks"
    text = f"{facts.name(op)} {goes} at {facts.at(time)}, before {facts.name(before)}"
    urgent = urgency(facts, before) < urgency(facts, op)
    how = "more urgent and in the queue of" if urgent else "which entered the queue of"
    when = "since" if urgent else "earlier, at"
    facts.findings.add("queue", f"{text}, {how} {facts.host(op)} {when} {facts.at(facts.eligible[before])}")


def _check_urgent(facts: Facts, urgent: Entries, moves: Sequence[tuple[OpId, int]], queue: Queue) -> None:
    """Check that nobody went while a more urgent kernel was in the queue."""
    for op, time in moves:
        first = bisect_left(urgent.entered, time)
        if urgent.busy_until(first) > time:
            _blame(facts, op, time, next(other for other in urgent.ops[:first] if queue.left[other] > time))
            continue
        if time in queue.blurred:
            continue
        # Of those that entered at this very instant, some came only after the policy had been asked.
        late = facts.dispatch[op] == time
        for other in urgent.ops[first : bisect_right(urgent.entered, time)]:
            if queue.left[other] > time and (late or facts.dispatch[other] < time):
                _blame(facts, op, time, other)
                break


def _check_waits(facts: Facts, device: int, queue: Queue) -> None:
    """Check that who waited in the queue had somebody before it, at the start and at the end of the wait."""
    for wait in _queue_waits(facts, device):
        if facts.eligible[wait.op] in queue.blurred or wait.start in queue.blurred or wait.end in queue.blurred:
            continue
        rank = urgency(facts, wait.op)
        first = last = False
        for other, entries in queue.entries.items():
            if other > rank:
                break
            here = queue.place[wait.op]
            begun = here if other == rank else bisect_right(entries.entered, wait.start)
            ended = here if other == rank else bisect_left(entries.entered, wait.end)
            first = first or entries.busy_until(begun) > wait.start
            last = last or entries.busy_until(ended) >= wait.end
        if not (first and last):
            when = facts.at(wait.start) if not first else f"just before {facts.at(wait.end)}"
            text = f"{facts.name(wait.op)} is recorded as waiting in the queue of {facts.host(wait.op)}"
            facts.findings.add("wait", f"{text}, but at {when} nobody is before it")


def _queue_waits(facts: Facts, device: int) -> Iterator[Wait]:
    for wait in facts.trace.waits:
        if wait.reason == "queue" and 0 <= wait.op < len(facts.start) and facts.device[wait.op] == device:
            yield wait


def _check_no_waits(facts: Facts, device: int, model: str) -> None:
    for wait in _queue_waits(facts, device):
        text = f"{facts.name(wait.op)} is recorded as waiting in the queue of {facts.host(wait.op)}"
        facts.findings.add("wait", f"{text}, a device of model {model!r} has none")
