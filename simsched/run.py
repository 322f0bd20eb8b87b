"""``run()`` and ``compare()``: from a graph, hardware and schedulers to results that the referee has seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from simsched.errors import ConfigError, Fault, SchedulerError, TraceError, suggest

if TYPE_CHECKING:
    from simsched.cost.base import CostModel
    from simsched.graph.model import Graph
    from simsched.hardware import HardwareProfile
    from simsched.noise import Noise
    from simsched.problem import MemoryMode, Problem
    from simsched.result import Comparison, Result
    from simsched.schedulers.base import Scheduler


class _Truth(NamedTuple):
    """What durations turn out to be, and where that comes from."""

    noise: str
    seed: int
    actual: Sequence[Sequence[int]] | None


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
        Whether schedulers word the reason of each dispatch, for :func:`simsched.output.steps.tell`.

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
    truth = _truth(problem, noise, seed)
    named = _scheduler(scheduler), _written(scheduler)
    result = _simulated(problem, named, _checked_mode(memory), truth, check, explain)
    if result.violations:
        raise TraceError(result.violations)
    return result


def compare(
    graph: Graph | Problem | str,
    schedulers: Iterable[Scheduler | str] | str = SCHEDULERS,
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
    run that breaks a rule stays in it, marked invalid. All runs meet the same actual durations. Parameters and other
    errors are those of :func:`run`; ``schedulers`` may also be one text, ``"serial,critical_path"``.

    Examples
    --------
    >>> [result.makespan for result in compare("residual", ["serial", "critical_path"], "lanes:2").results]
    [7, 6]
    """
    problem = _problem(graph, hardware, cost_model, seed)
    named = [(_scheduler(item), _written(item)) for item in _listed(schedulers)]
    return compare_named(problem, named, memory=memory, noise=noise, seed=seed, check=check, explain=explain)


def compare_named(
    problem: Problem,
    named: Sequence[tuple[Scheduler, str]],
    *,
    memory: MemoryMode = "unbounded",
    noise: Noise | str | float | None = None,
    seed: int = 0,
    check: bool = True,
    explain: bool = False,
) -> Comparison:
    """Run schedulers that have been made already; see :func:`compare`.

    Parameters
    ----------
    named : sequence of (Scheduler, str)
        What the user wrote for each, or an empty text.
    """
    from simsched.result import Comparison, Failure

    truth = _truth(problem, noise, seed)
    mode = _checked_mode(memory)
    order = tuple(written or _canonical(scheduler) for scheduler, written in named)
    results: list[Result] = []
    failures: list[Failure] = []
    for each, label in zip(named, order, strict=True):
        try:
            results.append(_simulated(problem, each, mode, truth, check, explain))
        except SchedulerError as error:
            failures.append(Failure(label, f"{type(error).__name__}: {error}"))
    return Comparison(problem, tuple(results), tuple(failures), mode, truth.actual, order)


def _problem(
    graph: Graph | Problem | str, hardware: HardwareProfile | str | None, cost_model: CostModel | None, seed: int
) -> Problem:
    from simsched.problem import Problem, make_problem

    if isinstance(graph, Problem):
        if hardware is not None or cost_model is not None:
            raise ConfigError(
                "run", [Fault("a problem already has its hardware and costs; pass neither, or pass a graph")]
            )
        return graph
    if hardware is None:
        raise ConfigError(
            "run", [Fault("no hardware; write for example hardware='a100_sxm_80gb' or hardware='lanes:4'")]
        )
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


def _listed(schedulers: Iterable[Scheduler | str] | str) -> Iterable[Scheduler | str]:
    """Split a text, which is a comma-separated list of specs."""
    if not isinstance(schedulers, str):
        return schedulers
    from simsched.schedulers.registry import split_specs

    return split_specs(schedulers)


def _checked_mode(memory: MemoryMode) -> MemoryMode:
    from simsched.problem import MEMORY_MODES

    if memory not in MEMORY_MODES:
        message = f"{memory!r} is not a memory mode; {suggest(str(memory), MEMORY_MODES)}"
        raise ConfigError("run", [Fault(message)])
    return memory


def _truth(problem: Problem, noise: Noise | str | float | None, seed: int) -> _Truth:
    from simsched.noise import actual_durations, parse_noise

    level = parse_noise(noise)
    return _Truth("" if level is None else str(level), seed, actual_durations(problem, level, seed))


def _simulated(
    problem: Problem, named: tuple[Scheduler, str], memory: MemoryMode, truth: _Truth, check: bool, explain: bool
) -> Result:
    """Simulate one run; what the referee finds is kept in the result."""
    from simsched.analysis.check import check_trace
    from simsched.engine.simulator import simulate
    from simsched.result import Result
    from simsched.timing import Timed

    (scheduler, written), actual = named, truth.actual
    timed = Timed(scheduler, _canonical(scheduler))
    trace = simulate(problem, timed, memory=memory, actual=actual, explain=explain)
    violations = tuple(check_trace(problem, trace, memory=memory, actual=actual)) if check else None
    return Result(
        problem,
        timed.name,
        trace,
        memory,
        actual,
        violations,
        timed.seconds,
        written,
        truth.noise,
        truth.seed,
        timed.proved if actual is None else None,
    )
