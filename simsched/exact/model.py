"""The constraint model: every operator once, after its inputs, within what each device has.

It is a *relaxation* of what the engine does: every run, whatever its scheduler, obeys all of its constraints. So the
least makespan of the model, and whatever the solver proves below it, is a lower bound of every run.

=====================================  ==========================================================================
of the engine's rules                  in the model
=====================================  ==========================================================================
durations, per device                  as estimated; kernels that share bandwidth or arithmetic are not slowed down
precedence                             exactly
streams, resident kernels              at most so many operators of a device at a time
renewable resources                    exactly, for the whole duration; a queue that holds back is left out
delays, copies                         each edge between devices takes what it takes alone
memory, one device                     live bytes never exceed the capacity (:mod:`simsched.exact.memory`)
memory, several devices; the host      left out
=====================================  ==========================================================================

An operator that takes no time needs no stream and no units in the model, except on devices that run one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from simsched.analysis.capacity import machines
from simsched.exact.alike import alike
from simsched.exact.cliques import cliques
from simsched.exact.memory import add_memory
from simsched.exact.places import Places, add_precedence, choose_places
from simsched.exact.times import Times, times_of
from simsched.graph.model import OpId
from simsched.problem import Problem

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntervalVar, IntVar, LinearExprT


@dataclass(frozen=True, slots=True)
class Model:
    """A model and its variables, by operator id; all times are in units of ``times``.

    Attributes
    ----------
    cp : CpModel
    times : Times
    start, end : sequence
        Of each operator.
    places : Places
        On which device it runs.
    makespan : IntVar
    horizon : int
        The largest makespan that is looked at.
    twins : list of list of int
        Operators that are alike; the model lets them start in the order of their ids.
    limited : bool
        Whether memory is limited.
    """

    cp: CpModel
    times: Times
    start: Sequence[IntVar]
    end: Sequence[LinearExprT]
    places: Places
    makespan: IntVar
    horizon: int
    twins: list[list[OpId]]
    limited: bool


def build_model(problem: Problem, least: int, most: int, *, limited: bool) -> Model:
    """Build the model of a problem.

    Parameters
    ----------
    problem : Problem
    least : int
        A lower bound of the makespan that is known already, in ns; given to the solver as a constraint.
    most : int
        A makespan that can be reached, in ns.
    limited : bool
        Whether the memory capacity is a limit.
    """
    from ortools.sat.python.cp_model import CpModel

    cp, times = CpModel(), times_of(problem)
    lowest = -(-least // times.unit)
    horizon = max(most // times.unit, lowest)
    makespan = cp.new_int_var(lowest, horizon, "makespan")
    places = choose_places(cp, problem)
    start, end = _starts(cp, problem, times, places, makespan, horizon)
    model = Model(cp, times, start, end, places, makespan, horizon, alike(problem), limited)
    _add_devices(model, problem)
    add_precedence(cp, problem, times, start, end, places)
    for group in model.twins:
        for first, second in pairwise(group):
            cp.add(start[first] <= start[second])
    if limited and len(problem.devices) == 1:
        add_memory(cp, problem, times, start, end, makespan, horizon)
    cp.minimize(makespan)
    return model


def _starts(
    cp: CpModel, problem: Problem, times: Times, places: Places, makespan: IntVar, horizon: int
) -> tuple[list[IntVar], list[LinearExprT]]:
    """Make starts and ends; each operator leaves time for the longest paths before and after it."""
    starts: list[IntVar] = []
    ends: list[LinearExprT] = []
    for op, duration in enumerate(times.shortest):
        head, level = times.heads[op], times.levels[op]
        start = cp.new_int_var(head, horizon - level, f"start {op}")
        durations = {device: times.durations[device][op] for device in problem.allowed_devices(op)}
        end: LinearExprT = start + duration
        if len(set(durations.values())) > 1:
            end = cp.new_int_var(head + duration, horizon - level + duration, f"end {op}")
            for device, took in durations.items():
                cp.add(end == start + took).only_enforce_if(places.at[op][device])
        cp.add(end + (level - duration) <= makespan)
        starts.append(start)
        ends.append(end)
    return starts, ends


def _add_devices(model: Model, problem: Problem) -> None:
    """Limit what runs at once on each device and, where there are several, on all of them."""
    for device, described in enumerate(problem.devices):
        intervals = dict(_intervals(model, device))
        _add_limit(model.cp, intervals, dict.fromkeys(intervals, 1), machines(problem, device))
        demands = problem.demands_on(device)
        for name, capacity in described.resources.items():
            needs = {op: demands[op][name] for op in intervals if name in demands.get(op, ())}
            _add_limit(model.cp, intervals, needs, capacity)
        for clique in cliques(problem, device):
            model.cp.add_no_overlap([intervals[op] for op in clique if op in intervals])
    count = sum(machines(problem, device) for device in range(len(problem.devices)))
    if len(problem.devices) > 1 and count < len(problem.graph):
        whole = [
            model.cp.new_fixed_size_interval_var(start, duration, f"{op} anywhere")
            for op, (start, duration) in enumerate(zip(model.start, model.times.shortest, strict=True))
        ]
        model.cp.add_cumulative(whole, [1] * len(whole), count)


def _intervals(model: Model, device: int) -> Iterator[tuple[OpId, IntervalVar]]:
    """The operators that may run on a device, each as an interval that is there where it does."""
    durations = model.times.durations[device]
    for op, start in enumerate(model.start):
        at = model.places.at[op]
        if device not in at:
            continue
        if len(at) == 1:
            yield op, model.cp.new_fixed_size_interval_var(start, durations[op], f"{op}")
        else:
            yield op, model.cp.new_optional_fixed_size_interval_var(start, durations[op], at[device], f"{op} @{device}")


def _add_limit(cp: CpModel, intervals: dict[OpId, IntervalVar], needs: dict[OpId, int], capacity: int) -> None:
    """At most ``capacity`` units at a time; nothing where all together need no more."""
    if sum(needs.values()) <= capacity:
        return
    chosen = [intervals[op] for op in needs]
    if capacity == 1:
        cp.add_no_overlap(chosen)
    else:
        cp.add_cumulative(chosen, list(needs.values()), capacity)
