"""The machines of a document: what runs of one graph ran on, as far as it differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simsched.analysis.bounds import Bound, bounds
from simsched.graph.ranks import slack
from simsched.hardware import Device
from simsched.result import Result


class Machine:
    """Hardware with the costs of all operators on it, and the runs on it, which share their bounds.

    Attributes
    ----------
    runs : list of Result
    name : str
        That of the hardware; with a number behind it where another machine has the same.
    """

    def __init__(self, first: Result) -> None:
        self.runs = [first]
        self.name = first.problem.hardware.name

    def same(self, run: Result) -> bool:
        """Whether a run was on this machine: equal hardware, costs, actual durations and memory mode."""
        mine = self.runs[0]
        return mine.memory == run.memory and mine.actual == run.actual and _same_problem(mine, run)

    def bounds(self) -> tuple[Bound, ...]:
        """Bounds on every run, what their schedulers have proved included."""
        run = self.runs[0]
        proved = max((each.proved_ns for each in self.runs if each.proved_ns is not None), default=None)
        return bounds(run.problem, actual=run.actual, memory=run.memory, proved=proved)

    def part(self, limits: Sequence[Bound]) -> dict[str, Any]:
        """Return ``Machine`` of ``web/types.d.ts``."""
        problem = self.runs[0].problem
        shortest = problem.shortest_durations()
        return {
            "name": self.name,
            "devices": [_device_part(device) for device in problem.devices],
            "streams": list(problem.stream_names),
            "stream_device": list(problem.stream_device),
            "duration": list(shortest),
            "slack": slack(problem.graph, shortest),
            "bounds": [
                {"name": limit.name, "ns": limit.value, "kind": limit.kind, "statement": limit.statement}
                for limit in limits
            ],
        }


def machines_of(results: Sequence[Result]) -> list[Machine]:
    """Return the different machines of some runs, in the order of the runs, each with a name of its own."""
    found: list[Machine] = []
    for run in results:
        home = next((machine for machine in found if machine.same(run)), None)
        if home is None:
            found.append(Machine(run))
        else:
            home.runs.append(run)
    for machine, name in zip(found, distinct([machine.name for machine in found]), strict=True):
        machine.name = name
    return found


def distinct(names: Sequence[str]) -> list[str]:
    """Number equal names from the second on.

    Examples
    --------
    >>> distinct(["a", "b", "a", "a", "a (2)"])
    ['a', 'b', 'a (2)', 'a (3)', 'a (2) (2)']
    """
    found: dict[str, None] = {}
    for name in names:
        number, written = 1, name
        while written in found:
            number += 1
            written = f"{name} ({number})"
        found[written] = None
    return list(found)


def _same_problem(one: Result, other: Result) -> bool:
    a, b = one.problem, other.problem
    if a is b:
        return True
    if a.hardware.content_hash != b.hardware.content_hash or a.hardware.name != b.hardware.name:
        return False
    return a.costs == b.costs and dict(a.allowed) == dict(b.allowed)


def _device_part(device: Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "model": device.model,
        "sms": device.resources.get("sms"),
        "capacity": device.capacity,
    }
