"""The engine against a bare heapq loop over the same lists, interleaved in one process."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.bare import bare_list_schedule, layered_graph
from benchmarks.timing import Row, cpu_seconds, median_seconds
from simsched.engine.simulator import simulate
from simsched.graph.model import Graph
from simsched.graph.ranks import b_level
from simsched.hardware import lanes
from simsched.problem import Problem, make_problem
from simsched.schedulers.base import Policy
from simsched.schedulers.listing import list_policy

LANES = 8


@dataclass(frozen=True)
class StaticPriorities:
    """List scheduling with priorities that are already there, as the bare loop has them."""

    priority: Sequence[int]

    def start(self, problem: Problem) -> Policy:
        """Rank them."""
        return list_policy(problem, self.priority)


def engine_rows(sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    """Ratios per size, growth of the cost per operator, and bytes per operator."""
    costs: dict[int, float] = {}
    for size in sizes:
        plain = layered_graph(size)
        yield Row(f"b-level, {size:,} operators", 1e6 * _b_level_seconds(plain, rounds) / size, "us", 0.3)
        ratio, costs[size] = _ratio(plain, rounds)
        yield Row(f"simulate() / bare loop, {size:,} operators", ratio, "x", 2.5)
        yield Row(f"  bytes an operator beyond the graph, {size:,}", _bytes_per_operator(plain), "B", 200)
        del plain
        tensors = layered_graph(size, tensor_bytes=1000)
        yield Row(f"simulate() with lifetimes / bare loop, {size:,} operators", _ratio(tensors, rounds)[0], "x", 4)
        yield Row(f"  bytes an operator beyond the graph, {size:,}", _bytes_per_operator(tensors), "B", 200)
    if len(sizes) > 1:
        yield Row(f"cost per operator, {sizes[-1]:,} / {sizes[0]:,}", costs[sizes[-1]] / costs[sizes[0]], "x", 1.4)


def _ratio(graph: Graph, rounds: int) -> tuple[float, float]:
    """Median ratio of the whole ``simulate()`` to the bare loop, and its median cost per operator in seconds."""
    problem = make_problem(graph, lanes(LANES))
    durations = problem.durations()
    priority = b_level(graph, durations)
    order = sorted(range(len(graph)), key=priority.__getitem__, reverse=True)
    rank = [0] * len(order)
    for position, op in enumerate(order):
        rank[op] = position
    counts = list(map(len, graph.pred))
    scheduler = StaticPriorities(priority)
    ratios, seconds = [], []
    for _ in range(rounds):
        bare, makespan = cpu_seconds(lambda: bare_list_schedule(graph.succ, counts, durations, rank, LANES))
        ours, trace = cpu_seconds(lambda: simulate(problem, scheduler))
        if trace.makespan != makespan:
            raise AssertionError(f"the bare loop takes {makespan}, the engine {trace.makespan}")
        ratios.append(ours / bare)
        seconds.append(ours)
    return median(ratios), median(seconds) / len(graph)


def _b_level_seconds(graph: Graph, rounds: int) -> float:
    durations = make_problem(graph, lanes(LANES)).durations()
    return median_seconds(lambda: b_level(graph, durations), rounds)


def _bytes_per_operator(graph: Graph) -> float:
    problem = make_problem(graph, lanes(LANES))
    scheduler = StaticPriorities(b_level(graph, problem.durations()))
    tracemalloc.start()
    trace = simulate(problem, scheduler)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / len(trace)
