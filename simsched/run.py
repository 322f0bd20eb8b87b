"""``run()`` and ``compare()``: from a graph, hardware and schedulers to results that the referee has seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

from simsched.errors import ConfigError, Fault, SchedulerError, TraceError

if TYPE_CHECKING:
    from simsched.cost.base import CostModel
    from simsched.graph.model import Graph
    from simsched.hardware import HardwareProfile
    from simsched.noise import Noise
    from simsched.problem import Problem
    from simsched.result import Comparison, MemoryMode, Result
    from simsched.schedulers.base import Scheduler

SCHEDULERS = ("serial", "topological", "critical_path", "greedy_ready", "memory_aware", "pipeline")
"""What :func:`compare` compares unless it is told otherwise; ``serial`` is the reference."""


def run(
    graph: Graph | Problem | str,
    scheduler: Scheduler | str,
    hardware: HardwareProfile | str | None = None,
    *,
    memory: MemoryMode = "unbounded",
    noise: Noise | str | float | None = None,
    seed: int = 0,
    check: bool = True,
    cost_model: CostModel | None = None,
    explain: bool = False,
) -> Result:
    """Simulate one run and have the referee check it.

    Parameters
    ----------
    graph : Graph, Problem or str
        A graph or the name or path of one, with ``hardware``; or a problem, which has its hardware.
    scheduler : Scheduler or str
        An object, or a spec such as ``"critical_path"`` or ``"greedy_ready:spt"``.
    hardware : HardwareProfile or str, optional
        A profile, or a name, path or short form such as ``"lanes:4"``.
    memory : {"unbounded", "block", "strict"}
        Record the peak; make operators wait until their outputs fit; or refuse to exceed the capacity.
    noise : Noise, str or float, optional
        What durations turn out to be, e.g. ``"lognormal(0.2)"``; see :mod:`simsched.noise`.
    seed : int
        For noise, and for schedulers that draw. A problem brings its own seed for the latter.
    check : bool
        Whether the referee checks the run.
    cost_model : CostModel, optional
        For operators without a duration; the roofline model by default.
    explain : bool
        Whether schedulers word the reason of each dispatch, for :func:`simsched.steps.tell`.

    Returns
    -------
    Result

    Raises
    ------
    InputError, UnknownNameError, CostError
        If an input cannot be used.
    SchedulerError
        If the run cannot be carried out: stalled, deadlocked, out of memory, an invalid dispatch.
    TraceError
        If the run breaks a rule.

    Examples
    --------
    >>> run("residual", "critical_path", "lanes:2").makespan
    6
    """
    problem = _problem(graph, hardware, cost_model, seed)
    result = _simulated(problem, _scheduler(scheduler), memory, noise, seed, check, explain)
    if result.violations:
        raise TraceError(result.violations)
    return dataclasses.replace(result, written=_written(scheduler))


def compare(
    graph: Graph | Problem | str,
    schedulers: Iterable[Scheduler | str] = SCHEDULERS,
    hardware: HardwareProfile | str | None = None,
    *,
    memory: MemoryMode = "unbounded",
    noise: Noise | str | float | None = None,
    seed: int = 0,
    check: bool = True,
    cost_model: CostModel | None = None,
    explain: bool = False,
) -> Comparison:
    """Run several schedulers on one problem.

    A scheduler whose run cannot be carried out is recorded among the failures and does not end the comparison; a
    run that breaks a rule stays in it, marked invalid. Parameters and other errors are those of :func:`run`.

    Examples
    --------
    >>> [result.makespan for result in compare("residual", ["serial", "critical_path"], "lanes:2").results]
    [7, 6]
    """
    from simsched.result import Comparison, Failure

    problem = _problem(graph, hardware, cost_model, seed)
    results: list[Result] = []
    failures: list[Failure] = []
    for scheduler, written in [(_scheduler(item), _written(item)) for item in schedulers]:
        try:
            result = _simulated(problem, scheduler, memory, noise, seed, check, explain)
        except SchedulerError as error:
            failures.append(Failure(written or _canonical(scheduler), f"{type(error).__name__}: {error}"))
        else:
            results.append(dataclasses.replace(result, written=written))
    return Comparison(problem, tuple(results), tuple(failures), memory)


def _problem(
    graph: Graph | Problem | str, hardware: HardwareProfile | str | None, cost_model: CostModel | None, seed: int
) -> Problem:
    from simsched.problem import Problem, make_problem

    if isinstance(graph, Problem):
        if hardware is not None or cost_model is not None:
            raise ConfigError("run", [Fault("a problem already has its hardware and costs; pass neither, or pass a graph")])
        return graph
    if hardware is None:
        raise ConfigError("run", [Fault("no hardware; write for example hardware='a100_sxm_80gb' or hardware='lanes:4'")])
    if isinstance(graph, str):
        from simsched.graph.io import load_graph

        graph = load_graph(graph)
    if isinstance(hardware, str):
        from simsched.profiles import load_hardware

        hardware = load_hardware(hardware, graph)
    return make_problem(graph, hardware, cost_model, seed=seed)


def _scheduler(scheduler: Scheduler | str) -> Scheduler:
    from simsched.schedulers.registry import make_scheduler

    return make_scheduler(scheduler) if isinstance(scheduler, str) else scheduler


def _written(scheduler: Scheduler | str) -> str:
    return scheduler if isinstance(scheduler, str) else ""


def _canonical(scheduler: Scheduler) -> str:
    from simsched.schedulers.registry import scheduler_spec

    return scheduler_spec(scheduler)


def _simulated(
    problem: Problem,
    scheduler: Scheduler,
    memory: MemoryMode,
    noise: Noise | str | float | None,
    seed: int,
    check: bool,
    explain: bool,
) -> Result:
    """Simulate one run; what the referee finds is kept in the result."""
    from simsched.analysis.check import check_trace
    from simsched.engine.simulator import simulate
    from simsched.noise import actual_durations, parse_noise
    from simsched.result import Result
    from simsched.timing import Timed

    level = parse_noise(noise)
    actual = actual_durations(problem, level, seed)
    timed = Timed(scheduler, _canonical(scheduler))
    trace = simulate(problem, timed, memory=memory, actual=actual, explain=explain)
    violations = tuple(check_trace(problem, trace, memory=memory, actual=actual)) if check else None
    label = "" if level is None else str(level)
    return Result(problem, timed.name, trace, memory, actual, violations, timed.seconds, noise=label, seed=seed)
