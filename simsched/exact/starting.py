"""Starting plans: what list schedulers achieve, in the engine. The shortest is where the search begins."""

from __future__ import annotations

from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.problem import MemoryMode, Problem
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.registry import make_scheduler

STARTS = ("critical_path", "greedy_ready:lft", "greedy_ready:lpt", "heft", "peft", "sgs", "serial")
FRUGAL = ("memory_aware", "memory_aware(slack=0.5)")


def best_start(problem: Problem, memory: MemoryMode) -> Plan | None:
    """Return the shortest run of the list schedulers, the first of equal ones.

    Parameters
    ----------
    problem : Problem
    memory : {"unbounded", "block", "strict"}

    Returns
    -------
    Plan or None
        None where all of them run out of memory.
    """
    best: Plan | None = None
    for spec in (*STARTS, *(() if memory == "unbounded" else FRUGAL)):
        try:
            trace = simulate(problem, make_scheduler(spec), memory=memory)
        except SchedulerError:
            continue  # it runs out of memory; another may not
        if best is None or trace.makespan < best.makespan:
            best = Plan(trace.stream, trace.start, trace.end)
    return best


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
