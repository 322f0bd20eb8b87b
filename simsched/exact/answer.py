"""Solving: limits, the starting plan, progress, and what the solver's word means for the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simsched.analysis.bounds import lower_bound
from simsched.errors import MissingExtraError, SchedulerError
from simsched.exact.interrupt import solve_interruptibly
from simsched.exact.model import Model, build_model
from simsched.exact.starting import best_start, longest
from simsched.exact.streams import assign_streams, without_strays
from simsched.problem import MemoryMode, Problem
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.proof import Proof, Searched, listener
from simsched.units import format_size

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpSolver, CpSolverStatus


SEARCHES = ("no_lp", "quick_restart_no_lp")
"""Searches of the solver that take turns. Linear relaxations prove little of schedules and cost much."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the solver may search, and how.

    Attributes
    ----------
    time : float
        Seconds by the wall clock; infinite for no such limit.
    work : float
        Units of the solver's own count of its work, about a second each on a fast core; infinite for no limit. The
        same on any machine.
    workers : int
    seed : int
    """

    time: float
    work: float
    workers: int
    seed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The best plan that was found, and what was proved."""

    plan: Plan
    proof: Proof


def need_solver() -> None:
    """Raise :class:`MissingExtraError` where OR-tools is not installed."""
    try:
        import ortools.sat.python.cp_model  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "the scheduler 'optimal' needs the package 'ortools': pip install 'simsched[exact]'"
        ) from None


def solve(problem: Problem, limits: Limits, memory: MemoryMode = "unbounded") -> Answer:
    """Find the shortest plan of a problem, and a lower bound of all of its runs.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    memory : {"unbounded", "block", "strict"}
        Whether the capacity of a single device is a limit.

    Returns
    -------
    Answer

    Raises
    ------
    SchedulerError
        If no plan exists, or none was found within the limits.
    """
    known = lower_bound(problem).value
    start = best_start(problem, memory, known)
    if start is not None and start.makespan <= known:
        return _answer(start, known)
    most = longest(problem) if start is None else start.makespan
    model = build_model(problem, known, most, limited=memory != "unbounded")
    if start is not None:
        _give_hint(model, problem, start)
    return _search(problem, model, limits, start, known)


def _answer(plan: Plan, bound: int) -> Answer:
    return Answer(plan, Proof(bound, "optimal" if plan.makespan <= bound else "feasible", plan.makespan))


def _give_hint(model: Model, problem: Problem, start: Plan) -> None:
    """Tell the solver the starting plan, with devices and operators that are alike in the order of the model."""
    rows = [(begin, problem.stream_device[stream]) for begin, stream in zip(start.start, start.stream, strict=True)]
    for group in model.twins:
        for op, row in zip(group, sorted(rows[op] for op in group), strict=True):
            rows[op] = row
    numbers = {device: device for device in range(len(problem.devices))}
    if model.places.alike:
        numbers = {device: number for number, device in enumerate(dict.fromkeys(device for _, device in rows))}
    model.cp.add_hint(model.makespan, start.makespan // model.times.unit)
    for op, (begin, device) in enumerate(rows):
        model.cp.add_hint(model.start[op], begin // model.times.unit)
        if len(model.places.at[op]) > 1:
            for other, literal in model.places.at[op].items():
                model.cp.add_hint(literal, int(other == numbers[device]))


def _search(problem: Problem, model: Model, limits: Limits, start: Plan | None, known: int) -> Answer:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    _set_parameters(solver, limits)
    # Where memory is limited, starting plans are poor, and searches around the best plan so far pay; elsewhere they
    # only take turns from those that prove.
    solver.parameters.use_lns = model.limited
    status = _told(solver, model, None if start is None else start.makespan, known)
    if status == cp_model.INFEASIBLE or (status == cp_model.UNKNOWN and start is None):
        raise SchedulerError(_no_plan(problem, status == cp_model.INFEASIBLE, limits))
    bound = max(known, round(solver.best_objective_bound) * model.times.unit)
    plan = None if status == cp_model.UNKNOWN else _plan(problem, model, solver)
    if plan is None or (start is not None and start.makespan <= plan.makespan):
        plan = start
    assert plan is not None
    return _answer(plan, bound)


def _set_parameters(solver: CpSolver, limits: Limits) -> None:
    parameters = solver.parameters
    parameters.max_time_in_seconds = limits.time
    parameters.max_deterministic_time = limits.work
    parameters.num_workers = limits.workers
    parameters.random_seed = limits.seed
    parameters.subsolvers.extend(SEARCHES)
    # Workers take turns in a fixed order: the same plan and the same proof in every run that the clock does not end.
    parameters.interleave_search = True
    parameters.interleave_batch_size = limits.workers


def _plan(problem: Problem, model: Model, solver: CpSolver) -> Plan:
    device = [next(device for device, literal in at.items() if solver.boolean_value(literal)) for at in model.places.at]
    start = [solver.value(variable) * model.times.unit for variable in model.start]
    if len(problem.devices) == 1 and not model.limited:
        start = without_strays(problem, start)
    return assign_streams(problem, device, start)


def _told(solver: CpSolver, model: Model, best: int | None, known: int) -> CpSolverStatus:
    """Solve, and tell whoever listens of every better plan and bound."""
    heard, unit = listener() or _nobody, model.times.unit

    def better(makespan: float) -> None:
        nonlocal best
        best = round(makespan) * unit
        heard(Searched(best, known))

    def bound_rises(bound: float) -> None:
        nonlocal known
        known = max(known, round(bound) * unit)
        heard(Searched(best, known))

    solver.best_bound_callback = bound_rises
    heard(Searched(best, known))
    try:
        return solve_interruptibly(solver, model.cp, better)
    finally:
        heard(None)


def _nobody(searched: Searched | None) -> None:
    del searched


def _no_plan(problem: Problem, proved: bool, limits: Limits) -> str:
    capacity = problem.devices[0].capacity
    within = "" if capacity is None else f" within {format_size(capacity)} of memory"
    name = f"{problem.graph.name} on {problem.hardware.name}"
    if proved:
        return f"{name}: no schedule exists{within}, whatever the order; that is proved"
    given = f"{limits.time:g} s" if math.isfinite(limits.time) else f"{limits.work:g} units of work"
    return f"{name}: no schedule{within} was found in {given}, and it is not proved that there is none; give it more"
