"""Rules of the referee on what devices have: renewable resources and resident kernels."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simsched.analysis.findings import Facts
from simsched.graph.model import OpId
from simsched.trace import Wait

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
        usages = usages_of(facts, device)
        for resource, usage in usages.items():
            _check_usage(facts, device, resource, usage)
        if described.model != "blocks":  # there, room on SMs counts too: see check_blocks
            for wait, first, last in shortages(facts, device, usages):
                if not (first and last):
                    blame_wait(facts, wait, first)


def usages_of(facts: Facts, device: int) -> dict[str, Usage]:
    """Return the use of each resource of a device that anybody needs, by name."""
    described = facts.problem.devices[device]
    limit = described.max_resident_kernels
    capacities = {**described.resources, RESIDENT: described.streams if limit is None else limit}
    holdings = dict(_holdings(facts, device))
    return {resource: _usage(facts, holds, capacities.get(resource, 0)) for resource, holds in holdings.items()}


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


def shortages(facts: Facts, device: int, usages: Mapping[str, Usage]) -> Iterator[tuple[Wait, bool, bool]]:
    """Yield who waited for a resource of a device, and whether it was short of one when that began and ended."""
    for wait in facts.trace.waits:
        if wait.reason != "resource" or not 0 <= wait.op < len(facts.start) or facts.device[wait.op] != device:
            continue
        needs = [(usage, usage.holds[wait.op]) for usage in usages.values() if wait.op in usage.holds]
        first = any(usage.at(wait.start) + units > usage.capacity for usage, units in needs)
        last = any(usage.before(wait.end) + units > usage.capacity for usage, units in needs)
        yield wait, first, last


def blame_wait(facts: Facts, wait: Wait, first: bool) -> None:
    """Complain about a wait for a resource at whose start, or else at whose end, all is free that it needs."""
    when = facts.at(wait.start) if not first else f"just before {facts.at(wait.end)}"
    text = f"{facts.name(wait.op)} is recorded as waiting for a resource of {facts.host(wait.op)}"
    facts.findings.add("wait", f"{text}, but at {when} all that it needs is free")
