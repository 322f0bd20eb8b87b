"""Rule of the referee on memory: the recorded live bytes are right, and within the capacity where it is a limit.

What is live when stands in :mod:`simsched.analysis.lifetimes`; workspace lives while its operator runs. At one instant
frees come before allocations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import ge, le

from simsched.analysis.findings import Facts
from simsched.analysis.live_bytes import Account, live_bytes
from simsched.graph.model import OpId
from simsched.trace import Cohort, Transfer


def check_memory(facts: Facts) -> None:
    """Check that the recorded live bytes are right at every instant, and within the capacity if it is a limit."""
    accounts = live_bytes(facts)
    recorded = _recorded(facts, len(accounts))
    for device, account in enumerate(accounts):
        _check_curve(facts, device, account, recorded[device])
        if facts.memory != "unbounded":
            _check_capacity(facts, device, account, recorded[device])
    _check_memory_waits(facts, accounts)


@dataclass(slots=True)
class Recorded:
    """What a trace says of one device, a row per instant: the last, lowest and highest of its live bytes."""

    times: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    lowest: list[int] = field(default_factory=list)
    highest: list[int] = field(default_factory=list)


def _recorded(facts: Facts, devices: int) -> list[Recorded]:
    """Read the trace's memory steps; complains when they go back in time or name no device."""
    found = [Recorded() for _ in range(devices)]
    latest = [-1] * devices
    steps = facts.trace.memory
    for time, device, live in zip(steps.time, steps.device, steps.live, strict=True):
        if not 0 <= device < devices:
            facts.findings.add("memory", f"a step at {facts.at(time)} names device {device}, which does not exist")
            continue
        row = found[device]
        if time == latest[device]:
            row.last[-1] = live
            if live < row.lowest[-1]:
                row.lowest[-1] = live
            if live > row.highest[-1]:
                row.highest[-1] = live
            continue
        if time < latest[device]:
            text = f"a step at {facts.at(time)} is recorded after one at {facts.at(latest[device])}"
            facts.findings.add("memory", text)
        latest[device] = time
        row.times.append(time)
        row.last.append(live)
        row.lowest.append(live)
        row.highest.append(live)
    return found


def _check_curve(facts: Facts, device: int, account: Account, recorded: Recorded) -> None:
    """Check that the last step of each instant is right, and that the steps within it are possible."""
    bursts = _bursts(facts, device, account)
    if not bursts and recorded.times == account.times and recorded.last == account.live:
        ceilings = map(max, [account.base, *account.live[:-1]], account.live)
        if all(map(ge, recorded.lowest, account.least)) and all(map(le, recorded.highest, ceilings)):
            return
    name = facts.problem.devices[device].name
    for time, (before, right, least), (said, low, high) in _side_by_side(account, recorded):
        if said != right:
            text = f"{said} B are recorded as live on {name} from {facts.at(time)} on; it is {right} B"
            facts.findings.add("memory", f"{text} ({_changes(facts, device, time)})")
            return  # whatever follows is wrong for the same reason
        floor, ceiling, peak = least, max(before, right), right
        if time in bursts:
            # Operators that take no time free late, after others have taken.
            floor += account.brief.get(time, 0)
            ceiling, peak = before + right - least, max(right, floor + bursts[time])
        if low < floor or high > ceiling or high < peak:
            text = f"steps between {low} B and {high} B are recorded on {name} within the instant {facts.at(time)}"
            bounds = f"they lie between {floor} B and {ceiling} B, the highest at {peak} B or more"
            facts.findings.add("memory", f"{text}; {bounds} ({_changes(facts, device, time)})")


Triple = tuple[int, int, int]


def _side_by_side(account: Account, recorded: Recorded) -> Iterator[tuple[int, Triple, Triple]]:
    """Yield for every instant live bytes before, after, and after its frees; and the recorded last, lowest, highest."""
    ours = dict(zip(account.times, zip(account.live, account.least, strict=True), strict=True))
    theirs = zip(recorded.times, zip(recorded.last, recorded.lowest, recorded.highest, strict=True), strict=True)
    steps = dict(theirs)
    right, said = account.base, 0
    for time in sorted({*ours, *steps, *([0] if account.base else [])}):
        before = right
        right, least = ours.get(time, (right, right))
        said, low, high = steps.get(time, (said, said, said))
        yield time, (before, right, least), (said, low, high)


def _bursts(facts: Facts, device: int, account: Account) -> dict[int, int]:
    """Largest need of an operator that takes no time, by instant: it must show in the steps of that instant.

    One that runs elsewhere and frees something here, as the last to read it, needs nothing but frees late too; so does
    a kernel whose last blocks take no time, and one that starts after a copy that takes none.
    """
    graph = facts.problem.graph
    found: dict[int, int] = {}
    for op, (begin, end) in enumerate(zip(facts.start, facts.end, strict=True)):
        if begin != end:
            continue
        if facts.device[op] != device:
            if account.freed[op]:
                found.setdefault(begin, 0)
        else:
            need = facts.problem.workspace(op, device) + sum(graph.stored_bytes[tensor] for tensor in graph.outputs[op])
            found[begin] = max(need, found.get(begin, 0))
    others: list[Cohort | Transfer] = [*facts.trace.cohorts, *facts.trace.transfers]
    for brief in others:
        if brief.start == brief.end:
            found.setdefault(brief.start, 0)
    return found


def _changes(facts: Facts, device: int, time: int) -> str:
    """Name the operators of a device that start or end at one instant, and the copies to it that start."""
    ops = [op for op, owner in enumerate(facts.device) if owner == device]
    parts = [
        f"{facts.some(found)} {verb}"
        for verb, found in (
            ("ends", [op for op in ops if facts.end[op] == time]),
            ("starts", [op for op in ops if facts.start[op] == time]),
        )
        if found
    ]
    names = facts.problem.graph.tensor_names
    moves = [move for move in facts.trace.transfers if move.tensor >= 0 and move.start == time]
    parts += [f"a copy of {names[move.tensor]!r} starts" for move in moves if move.to_device == device]
    return ", ".join(parts) or "no operator starts or ends then"


def _check_capacity(facts: Facts, device: int, account: Account, recorded: Recorded) -> None:
    """Check that live bytes never exceed the capacity where it is a limit."""
    capacity, name = facts.problem.devices[device].capacity, facts.problem.devices[device].name
    if capacity is None:
        return
    for steps in ((account.times, account.live), (recorded.times, recorded.highest)):
        for time, live in zip(*steps, strict=True):
            if live > capacity:
                text = f"{live} B are live on {name} at {facts.at(time)}, its capacity is {capacity} B"
                facts.findings.add("memory", f"{text} ({_changes(facts, device, time)})")
                return


def _check_memory_waits(facts: Facts, accounts: list[Account]) -> None:
    """Check that whoever waited for memory did not fit, at the start and at the end of the wait."""
    copied = {(move.tensor, move.to_device) for move in facts.trace.transfers if move.tensor >= 0}
    for wait in facts.trace.waits:
        if wait.reason != "memory" or not 0 <= wait.op < len(facts.start):
            continue
        device = facts.device[wait.op]
        capacity, account = facts.problem.devices[device].capacity, accounts[device]
        text = f"{facts.name(wait.op)} is recorded as waiting for memory of {facts.host(wait.op)}"
        if facts.memory != "block" or capacity is None:
            facts.findings.add("wait", f"{text}, which was no limit to it in this run")
            continue
        need = _most_needed(facts, wait.op, device, copied)
        if account.at(wait.start) + need <= capacity or account.before(wait.end) + need <= capacity:
            facts.findings.add("wait", f"{text} from {facts.at(wait.start)} to {facts.at(wait.end)}, but it fits there")


def _most_needed(facts: Facts, op: OpId, device: int, copied: set[tuple[int, int]]) -> int:
    """Bytes that a start can allocate at most: outputs, workspace, and inputs that no copy over links has brought."""
    graph = facts.problem.graph
    need = facts.problem.workspace(op, device) + sum(graph.stored_bytes[tensor] for tensor in graph.outputs[op])
    if len(facts.problem.devices) > 1:
        for tensor in dict.fromkeys(graph.inputs[op]):
            maker = graph.tensor_producer[tensor]
            if (maker < 0 or facts.device[maker] != device) and (tensor, device) not in copied:
                need += graph.tensor_bytes[tensor]
    return need
