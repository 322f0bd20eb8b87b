"""Rule of the referee on memory: live bytes, computed again from starts and ends alone.

What is live when stands in :mod:`simsched.analysis.lifetimes`; workspace lives while its operator runs.
At one instant frees come before allocations.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from simsched.analysis.findings import Facts
from simsched.analysis.lifetimes import spans
from simsched.graph.model import OpId, TensorKind


@dataclass(slots=True)
class Account:
    """Changes of live bytes on one device by instant, and the resulting curve.

    Attributes
    ----------
    taken, freed : dict of int to int
        Bytes by instant; what lives for no time at all is in both.
    brief : dict of int to int
        Of both, the bytes that are taken and freed at that instant.
    times, live : list of int
        After closing: live bytes from each instant on.
    """

    taken: dict[int, int] = field(default_factory=dict)
    freed: dict[int, int] = field(default_factory=dict)
    brief: dict[int, int] = field(default_factory=dict)
    times: list[int] = field(default_factory=list)
    live: list[int] = field(default_factory=list)

    def add(self, begin: int, end: int | None, size: int) -> None:
        """Count ``size`` bytes from ``begin`` to ``end`` (None: to the end of the run)."""
        self.taken[begin] = self.taken.get(begin, 0) + size
        if end is not None:
            self.freed[end] = self.freed.get(end, 0) + size
            if end == begin:
                self.brief[begin] = self.brief.get(begin, 0) + size

    def close(self) -> None:
        """Sum up the curve."""
        taken, freed, total = self.taken.get, self.freed.get, 0
        self.times = sorted(self.taken.keys() | self.freed.keys())
        for time in self.times:
            total += taken(time, 0) - freed(time, 0)
            self.live.append(total)

    def at(self, time: int) -> int:
        """Live bytes from ``time`` on."""
        position = bisect_right(self.times, time) - 1
        return self.live[position] if position >= 0 else 0

    def before(self, time: int) -> int:
        """Live bytes just before ``time``."""
        position = bisect_left(self.times, time) - 1
        return self.live[position] if position >= 0 else 0


def check_memory(facts: Facts) -> None:
    """Check that the recorded live bytes are right at every instant, and within the capacity if it is a limit."""
    accounts = live_bytes(facts)
    recorded = _recorded(facts, len(accounts))
    for device, account in enumerate(accounts):
        _check_curve(facts, device, account, recorded[device])
        if facts.memory != "unbounded":
            _check_capacity(facts, device, account, recorded[device])
    _check_memory_waits(facts, accounts)


def live_bytes(facts: Facts) -> list[Account]:
    """Account for every tensor and workspace on every device."""
    graph = facts.problem.graph
    accounts = [Account() for _ in facts.problem.devices]
    sizes, kinds, producers = graph.tensor_bytes, graph.tensor_kinds, graph.tensor_producer
    single = len(accounts) == 1
    start, ended = facts.start, facts.end.__getitem__
    for tensor, size in enumerate(sizes):
        if not size:
            continue
        if not single:
            for device, begin, end in spans(facts.problem, facts.device, facts.start, facts.end, tensor):
                accounts[device].add(begin, end, size)
        elif kinds[tensor].persistent:
            accounts[0].add(0, None, size)
        else:
            maker = producers[tensor]
            until = None
            if kinds[tensor] is not TensorKind.OUTPUT:
                until = max(map(ended, graph.tensor_consumers[tensor]), default=facts.end[maker])
            accounts[0].add(start[maker], until, size)
    for op, size in _workspaces(facts):
        accounts[facts.device[op]].add(facts.start[op], facts.end[op], size)
    for account in accounts:
        account.close()
    return accounts


def _workspaces(facts: Facts) -> Iterator[tuple[OpId, int]]:
    problem = facts.problem
    ops = dict.fromkeys(problem.graph.workspace)
    for costs in problem.costs:
        ops.update(dict.fromkeys(costs))
    for op in ops:
        size = problem.workspace(op, facts.device[op])
        if size:
            yield op, size


@dataclass(slots=True)
class Recorded:
    """What a trace says of one device: the last live bytes of each instant, and the extremes if there are several."""

    last: dict[int, int] = field(default_factory=dict)
    lowest: dict[int, int] = field(default_factory=dict)
    highest: dict[int, int] = field(default_factory=dict)


def _recorded(facts: Facts, devices: int) -> list[Recorded]:
    """Read the trace's memory steps; complains when they go back in time or name no device."""
    found = [Recorded() for _ in range(devices)]
    steps = facts.trace.memory
    before = 0
    for time, device, live in zip(steps.time, steps.device, steps.live, strict=True):
        if not 0 <= device < devices:
            facts.findings.add("memory", f"a step at {facts.at(time)} names device {device}, which does not exist")
            continue
        if time < before:
            facts.findings.add("memory", f"a step at {facts.at(time)} is recorded after one at {facts.at(before)}")
        before = time
        row = found[device]
        if time in row.last:
            first = row.last[time]
            row.lowest[time] = min(live, row.lowest.get(time, first))
            row.highest[time] = max(live, row.highest.get(time, first))
        row.last[time] = live
    return found


def _check_curve(facts: Facts, device: int, account: Account, recorded: Recorded) -> None:
    """Check that the last step of each instant is right, and that the steps within it are possible."""
    name = facts.problem.devices[device].name
    curve, last = dict(zip(account.times, account.live, strict=True)), recorded.last
    bursts = _bursts(facts, device)
    said = right = 0
    for time in sorted(curve.keys() | last.keys()):
        before, right, said = right, curve.get(time, right), last.get(time, said)
        if said != right:
            text = f"{said} B are recorded as live on {name} from {facts.at(time)} on; it is {right} B"
            facts.findings.add("memory", f"{text} ({_changes(facts, device, time)})")
            return  # whatever follows is wrong for the same reason
        low, high = recorded.lowest.get(time, said), recorded.highest.get(time, said)
        floor = before - account.freed.get(time, 0) + account.brief.get(time, 0)
        ceiling, least = max(before, right), right
        if time in bursts:
            # Operators that take no time free late, after others have taken.
            ceiling, least = before + account.taken.get(time, 0), max(right, floor + bursts[time])
        if low < floor or high > ceiling or high < least:
            text = f"steps between {low} B and {high} B are recorded on {name} within the instant {facts.at(time)}"
            bounds = f"they lie between {floor} B and {ceiling} B, the highest at {least} B or more"
            facts.findings.add("memory", f"{text}; {bounds} ({_changes(facts, device, time)})")


def _bursts(facts: Facts, device: int) -> dict[int, int]:
    """Largest need of an operator that takes no time, by instant: it must show in the steps of that instant."""
    graph = facts.problem.graph
    found: dict[int, int] = {}
    for op, (begin, end) in enumerate(zip(facts.start, facts.end, strict=True)):
        if begin == end and facts.device[op] == device:
            need = facts.problem.workspace(op, device) + sum(graph.tensor_bytes[tensor] for tensor in graph.outputs[op])
            found[begin] = max(need, found.get(begin, 0))
    return found


def _changes(facts: Facts, device: int, time: int) -> str:
    """Name the operators of a device that start or end at one instant."""
    ops = [op for op, owner in enumerate(facts.device) if owner == device]
    parts = [
        f"{facts.some(found)} {verb}"
        for verb, found in (
            ("ends", [op for op in ops if facts.end[op] == time]),
            ("starts", [op for op in ops if facts.start[op] == time]),
        )
        if found
    ]
    return ", ".join(parts) or "no operator starts or ends then"


def _check_capacity(facts: Facts, device: int, account: Account, recorded: Recorded) -> None:
    """Check that live bytes never exceed the capacity where it is a limit."""
    capacity, name = facts.problem.devices[device].capacity, facts.problem.devices[device].name
    if capacity is None:
        return
    for steps in (zip(account.times, account.live, strict=True), recorded.last.items(), recorded.highest.items()):
        for time, live in steps:
            if live > capacity:
                text = f"{live} B are live on {name} at {facts.at(time)}, its capacity is {capacity} B"
                facts.findings.add("memory", f"{text} ({_changes(facts, device, time)})")
                return


def _check_memory_waits(facts: Facts, accounts: list[Account]) -> None:
    """Check that whoever waited for memory did not fit, at the start and at the end of the wait."""
    for wait in facts.trace.waits:
        if wait.reason != "memory" or not 0 <= wait.op < len(facts.start):
            continue
        device = facts.device[wait.op]
        capacity, account = facts.problem.devices[device].capacity, accounts[device]
        text = f"{facts.name(wait.op)} is recorded as waiting for memory of {facts.host(wait.op)}"
        if facts.memory != "block" or capacity is None:
            facts.findings.add("wait", f"{text}, which was no limit to it in this run")
            continue
        need = _most_needed(facts, wait.op, device)
        if account.at(wait.start) + need <= capacity or account.before(wait.end) + need <= capacity:
            facts.findings.add("wait", f"{text} from {facts.at(wait.start)} to {facts.at(wait.end)}, but it fits there")


def _most_needed(facts: Facts, op: OpId, device: int) -> int:
    """Bytes that a start can allocate at most: outputs, workspace and, on several devices, inputs from elsewhere."""
    graph = facts.problem.graph
    need = facts.problem.workspace(op, device) + sum(graph.tensor_bytes[tensor] for tensor in graph.outputs[op])
    if len(facts.problem.devices) > 1:
        for tensor in dict.fromkeys(graph.inputs[op]):
            maker = graph.tensor_producer[tensor]
            if maker < 0 or facts.device[maker] != device:
                need += graph.tensor_bytes[tensor]
    return need
