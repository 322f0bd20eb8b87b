"""Starting plans: what schedulers without a solver achieve, in the engine. The shortest is where the search begins."""

from __future__ import annotations

from collections.abc import Iterator

from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.problem import MemoryMode, Problem
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.proof import listening
from simsched.schedulers.registry import make_scheduler

STARTS = ("critical_path", "greedy_ready:lft", "heft", "serial")
FRUGAL = ("memory_aware", "memory_aware(slack=0.5)")


def best_start(problem: Problem, memory: MemoryMode, known: int) -> Plan | None:
    """Return the shortest run of the other schedulers, the first of equal ones.

    Parameters
    ----------
    problem : Problem
    memory : {"unbounded", "block", "strict"}
    known : int
        A lower bound of the makespan, in ns; a run that meets it ends the search.

    Returns
    -------
    Plan or None
        None where all of them run out of memory.
    """
    best: Plan | None = None
    for spec in _specs(len(problem.graph), memory):
        try:
            with listening(None):
                trace = simulate(problem, make_scheduler(spec), memory=memory)
        except SchedulerError:
            continue  # it runs out of memory; another may not
        if best is None or trace.makespan < best.makespan:
            best = Plan(trace.stream, trace.start, trace.end)
        if best.makespan <= known:
            break
    return best


def _specs(operators: int, memory: MemoryMode) -> Iterator[str]:
    yield from STARTS
    if memory != "unbounded":
        yield from FRUGAL
    # Generations cost what a graph's size does; a second or two are enough to spend on a start.
    yield f"anytime(schedules={max(10, min(1000, 100_000 // max(operators, 1)))})"


def longest(problem: Problem) -> int:
    """A time in ns in which everything can be done one after the other, every edge crossing between devices."""
    graph = problem.graph
    columns = [problem.durations(device) for device in range(len(problem.devices))]
    total = sum(max(columns[device][op] for device in problem.allowed_devices(op)) for op in range(len(graph)))
    for op, predecessors in enumerate(graph.pred):
        for before in predecessors:
            total += max(
                problem.transfer_ns(before, op, here, there)
                for here in problem.allowed_devices(before)
                for there in problem.allowed_devices(op)
            )
    return total
