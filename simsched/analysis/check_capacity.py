"""Rules of the referee on what devices have: renewable resources, resident kernels, and the order of admission."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simsched.analysis.findings import Facts
from simsched.graph.model import OpId

RESIDENT = "resident kernels"


@dataclass(frozen=True, slots=True)
class Usage:
    """Units in use over time: ``used[i]`` from ``times[i]`` on."""

    capacity: int
    holds: Mapping[OpId, int]
    times: Sequence[int]
    used: Sequence[int]

    def at(self, time: int) -> int:
        """Units in use from ``time`` on."""
        position = bisect_right(self.times, time) - 1
        return self.used[position] if position >= 0 else 0

    def before(self, time: int) -> int:
        """Units in use just before ``time``."""
        position = bisect_left(self.times, time) - 1
        return self.used[position] if position >= 0 else 0


def check_resources(facts: Facts) -> None:
    """Check that no resource is used beyond its capacity, and that who waits for one is really short of it."""
    for device, described in enumerate(facts.problem.devices):
        held = dict(_holdings(facts, device))
        limit = described.max_resident_kernels
        capacities = {**described.resources, RESIDENT: described.streams if limit is None else limit}
        usages = {}
        for resource, holds in held.items():
            usage = _usage(facts, holds, capacities.get(resource, 0))
            usages[resource] = usage
            _check_usage(facts, device, resource, usage)
        _check_shortages(facts, device, usages)


def _holdings(facts: Facts, device: int) -> Iterator[tuple[str, dict[OpId, int]]]:
    """Units of each resource that operators held on a device."""
    problem = facts.problem
    held: dict[str, dict[OpId, int]] = {}
    for op in sorted(problem.graph.demands.keys() | problem.costs[device].keys()):
        if facts.device[op] == device:
            for resource, units in problem.demand(op, device).items():
                if units > 0:
                    held.setdefault(resource, {})[op] = units
    yield from held.items()
    limit = problem.devices[device].max_resident_kernels
    if limit is not None and limit < problem.devices[device].streams:
        yield RESIDENT, {op: 1 for op, owner in enumerate(facts.device) if owner == device}


def _usage(facts: Facts, holds: Mapping[OpId, int], capacity: int) -> Usage:
    """Sweep over starts and ends; at one instant what ends gives back before what starts takes."""
    change: dict[int, int] = {}
    for op, units in holds.items():
        begin, end = facts.start[op], facts.end[op]
        if end > begin:
            change[begin] = change.get(begin, 0) + units
            change[end] = change.get(end, 0) - units
    times = sorted(change)
    used, total = [], 0
    for time in times:
        total += change[time]
        used.append(total)
    return Usage(capacity, holds, times, used)


def _check_usage(facts: Facts, device: int, resource: str, usage: Usage) -> None:
    name = facts.problem.devices[device].name
    if max(usage.used, default=0) > usage.capacity:
        time, used = next(row for row in zip(usage.times, usage.used, strict=True) if row[1] > usage.capacity)
        holders = [op for op in usage.holds if facts.start[op] <= time < facts.end[op]]
        text = f"{used} {resource} of {name} are in use at {facts.at(time)}, it has {usage.capacity}"
        facts.findings.add("resource", f"{text}: {facts.some(holders)}")
    instant = [op for op in usage.holds if facts.end[op] <= facts.start[op]]
    if instant:
        _check_instant_usage(facts, name, resource, usage, instant)


def _check_instant_usage(facts: Facts, name: str, resource: str, usage: Usage, instant: Sequence[OpId]) -> None:
    """Check operators that take no time: they need their units beside all that runs through their instant."""
    ended: dict[int, int] = {}
    for op, units in usage.holds.items():
        if facts.end[op] > facts.start[op]:
            ended[facts.end[op]] = ended.get(facts.end[op], 0) + units
    for op in instant:
        time, units = facts.start[op], usage.holds[op]
        used = usage.before(time) - ended.get(time, 0)
        if used + units > usage.capacity:
            through = [other for other in usage.holds if facts.start[other] < time < facts.end[other]]
            text = f"{facts.name(op)} needs {units} {resource} of {name} at {facts.at(time)}, it has {usage.capacity}"
            beside = f" and {used} are in use by {facts.some(through)}" if through else ""
            facts.findings.add("resource", text + beside)


def _check_shortages(facts: Facts, device: int, usages: Mapping[str, Usage]) -> None:
    """Check that whoever waited for a resource was short of one, at the start and at the end of the wait."""
    for wait in facts.trace.waits:
        if wait.reason != "resource" or not 0 <= wait.op < len(facts.start) or facts.device[wait.op] != device:
            continue
        needs = [(usage, usage.holds[wait.op]) for usage in usages.values() if wait.op in usage.holds]
        first = any(usage.at(wait.start) + units > usage.capacity for usage, units in needs)
        last = any(usage.before(wait.end) + units > usage.capacity for usage, units in needs)
        if not (first and last):
            when = facts.at(wait.start) if not first else f"just before {facts.at(wait.end)}"
            text = f"{facts.name(wait.op)} is recorded as waiting for a resource of {facts.host(wait.op)}"
            facts.findings.add("wait", f"{text}, but at {when} all that it needs is free")


def check_queues(facts: Facts) -> None:
    """Check that under ``sm_share`` kernels start in the order in which they entered their device's queue.

    A kernel enters when it is eligible; within one instant kernels enter in launch order. Where an operator that
    takes no time ends at that instant, several rounds of entering share it, and their order is not checked.
    """
    for device, described in enumerate(facts.problem.devices):
        if described.model == "sm_share":
            _check_queue(facts, device)
        _check_queue_waits(facts, device, described.model == "sm_share")


def _check_queue(facts: Facts, device: int) -> None:
    eligible, start, end = facts.eligible, facts.start, facts.end
    ops = [op for op in facts.trace.launch_order if facts.device[op] == device]
    ops.sort(key=eligible.__getitem__)  # stable: launch order within an instant
    rounds = {start[op] for op in range(len(start)) if end[op] == start[op]}
    latest = group = -1  # whoever started last among earlier entries, and among those of strictly earlier instants
    for number, op in enumerate(ops):
        if number and eligible[op] > eligible[ops[number - 1]]:
            group = latest
        before = group if eligible[op] in rounds else latest
        if before >= 0 and start[op] < start[before]:
            text = f"{facts.name(op)} starts at {facts.at(start[op])}, before {facts.name(before)}"
            entered = f"which entered the queue of {facts.host(op)} earlier, at {facts.at(eligible[before])}"
            facts.findings.add("queue", f"{text}, {entered}")
        if latest < 0 or start[op] > start[latest]:
            latest = op


def _check_queue_waits(facts: Facts, device: int, queued: bool) -> None:
    for wait in facts.trace.waits:
        if wait.reason != "queue" or not 0 <= wait.op < len(facts.start) or facts.device[wait.op] != device:
            continue
        if not queued:
            text = f"{facts.name(wait.op)} is recorded as waiting in the queue of {facts.host(wait.op)}"
            facts.findings.add("wait", f"{text}, a device of model {facts.problem.devices[device].model!r} has none")
