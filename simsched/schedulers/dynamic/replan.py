"""The rest of a plan from the middle of a run: by a planner that can begin there, or by any other one."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Protocol, cast, runtime_checkable

from simsched.problem import Problem
from simsched.schedulers.dynamic.estimates import with_durations
from simsched.schedulers.planning.begun import Begun
from simsched.schedulers.planning.costs import Costs
from simsched.schedulers.planning.partial import PartialPlan
from simsched.schedulers.planning.plan import Plan


@runtime_checkable
class Planner(Protocol):
    """Whatever makes a plan."""

    def plan(self, problem: Problem) -> Plan:
        """Place every operator."""
        ...


class Continuing(Protocol):
    """A planner that can begin in the middle of a run."""

    def plan(self, problem: Problem, begun: Begun) -> Plan:
        """Place every operator that has not begun."""
        ...


def plan_rest(planner: Planner, problem: Problem, begun: Begun) -> Plan:
    """Return a plan of what has not begun, where the planner says so and as its machines are free.

    A planner whose ``plan`` has the parameter ``begun`` makes it itself. Any other one is asked about a problem in
    which what has ended takes no time and what runs takes what is left of it, all on the devices where it is; of its
    answer the devices and the order are taken.
    """
    if "begun" in inspect.signature(planner.plan).parameters:
        return cast("Continuing", planner).plan(problem, begun)
    return retimed(problem, planner.plan(remaining(problem, begun)), begun)


def remaining(problem: Problem, begun: Begun) -> Problem:
    """Return the problem that begins now: what has begun takes what is left of it, on its device."""
    columns = [list(problem.durations(device)) for device in range(len(problem.devices))]
    allowed = dict(problem.allowed)
    for op, stream in begun.stream.items():
        device = problem.stream_device[stream]
        allowed[op] = (device,)
        columns[device][op] = max(0, begun.end[op] - max(begun.start[op], begun.now))
    return with_durations(dataclasses.replace(problem, allowed=allowed), columns)


def retimed(problem: Problem, plan: Plan, begun: Begun) -> Plan:
    """Return the same order on the same devices, as it can be carried out from the middle of a run."""
    partial = PartialPlan(Costs(problem), insertion=False, begun=begun)
    durations = partial.costs.durations
    for op in plan.order:
        if op not in begun.stream:
            device = problem.stream_device[plan.stream[op]]
            ready = partial.arrivals(op)[device]
            partial.place(op, device, partial.machines[device].earliest(op, ready, durations[device][op]))
    return partial.finished()
