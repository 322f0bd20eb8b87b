"""Where operators run, and what crossing from device to device takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simsched.exact.times import Times
from simsched.graph.model import OpId
from simsched.problem import Problem

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar, LinearExprT


@dataclass(frozen=True, slots=True)
class Places:
    """Where operators run.

    Attributes
    ----------
    at : sequence of mapping
        For each operator, a literal for each device that may run it; true for the one that does.
    alike : bool
        Whether devices differ in their names only; they are numbered by their first operators then.
    """

    at: Sequence[Mapping[int, IntVar]]
    alike: bool


def choose_places(cp: CpModel, problem: Problem) -> Places:
    """Put each operator on one of the devices that may run it."""
    sure = cp.new_constant(1)
    at: list[dict[int, IntVar]] = []
    for op in range(len(problem.graph)):
        devices = problem.allowed_devices(op)
        if len(devices) == 1:
            at.append({devices[0]: sure})
            continue
        at.append({device: cp.new_bool_var(f"{op} on {device}") for device in devices})
        cp.add_exactly_one(at[-1].values())
    alike = _interchangeable(problem)
    if alike:
        _number_in_order(cp, at)
    return Places(at, alike)


def _interchangeable(problem: Problem) -> bool:
    """Whether devices differ in their names only, so that plans that exchange them are the same plan."""
    devices = problem.devices
    if len(devices) == 1 or problem.hardware.links or problem.allowed or problem.graph.device_durations:
        return False
    return all(replace(device, name="") == replace(devices[0], name="") for device in devices)


def _number_in_order(cp: CpModel, at: Sequence[Mapping[int, IntVar]]) -> None:
    """A device is used only by operators after the first of the device before it; costs no plan."""
    count = len(at[0]) if at else 0
    used: list[IntVar | None] = [None] * count
    for op, here in enumerate(at):
        for device in range(1, count):
            before = used[device - 1]
            if device > op or before is None:
                cp.add(here[device] == 0)
            else:
                cp.add_implication(here[device], before)
        for device in range(min(count, op + 1)):
            earlier = used[device]
            if earlier is None:
                used[device] = here[device]
                continue
            now = cp.new_bool_var(f"{device} used by {op}")
            cp.add_max_equality(now, [earlier, here[device]])
            used[device] = now


def add_precedence(
    cp: CpModel,
    problem: Problem,
    times: Times,
    start: Sequence[IntVar],
    end: Sequence[LinearExprT],
    places: Places,
) -> None:
    """Each operator starts after its predecessors, and after what crosses from them."""
    for op, predecessors in enumerate(problem.graph.pred):
        for before in predecessors:
            cp.add(start[op] >= end[before])
            moves = times.crossings.get((before, op), {})
            here, there = places.at[before], places.at[op]
            apart = sum(a != b for a in here for b in there)
            if len(moves) == apart and len(set(moves.values())) == 1:
                same = _same(cp, before, op, places)
                cp.add(start[op] >= end[before] + next(iter(moves.values()))).only_enforce_if(same.negated())
                continue
            for (one, other), takes in moves.items():
                cp.add(start[op] >= end[before] + takes).only_enforce_if(here[one], there[other])


def _same(cp: CpModel, before: OpId, op: OpId, places: Places) -> IntVar:
    """Whether two operators are on the same device; all that matters where any two devices are equally far."""
    here, there = places.at[before], places.at[op]
    same = cp.new_bool_var(f"{before} with {op}")
    for device in sorted(here.keys() & there.keys()):
        cp.add_bool_or(here[device].negated(), there[device].negated(), same)
        cp.add_bool_or(here[device].negated(), there[device], same.negated())
        cp.add_bool_or(here[device], there[device].negated(), same.negated())
    for device in sorted(here.keys() - there.keys()):
        cp.add_implication(here[device], same.negated())
    for device in sorted(there.keys() - here.keys()):
        cp.add_implication(there[device], same.negated())
    return same
