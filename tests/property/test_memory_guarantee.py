"""What memory_aware promises on one device: the peak is at most its target, and the run comes to its end."""

from __future__ import annotations

import random

import pytest

from simsched.engine.simulator import simulate
from simsched.hardware import Device, HardwareProfile
from simsched.schedulers.memory_aware import MemoryAware
from tests.builders import DURATIONS, SIZES, problem_of, random_graph
from tests.exhaustive import step_bytes

CASES = 400


def greedy_peak(problem) -> int:
    """Peak of the order that always runs what leaves least, from the definition of live bytes."""
    graph, order = problem.graph, []
    while len(order) < len(graph):
        ready = [op for op in range(len(graph)) if op not in order and set(graph.pred[op]) <= set(order)]
        order.append(min(ready, key=lambda op: (after(problem, [*order, op]), op)))
    return max(step_bytes(problem, order, step) for step in range(len(order)))


def after(problem, done: list[int]) -> int:
    """Bytes live when ``done`` is done and nothing runs."""
    graph = problem.graph
    total = 0
    for tensor, size in enumerate(graph.tensor_bytes):
        kind, maker = graph.tensor_kinds[tensor].value, graph.tensor_producer[tensor]
        unread = kind == "output" or any(reader not in done for reader in graph.tensor_consumers[tensor])
        if kind in ("parameter", "input") or (maker in done and unread):
            total += size
    return total


def own_peak(problem) -> int:
    order = range(len(problem.graph))
    return max(step_bytes(problem, order, step) for step in order)


@pytest.mark.parametrize("part", range(2))
def test_the_peak_is_at_most_the_target_and_the_run_ends(part: int) -> None:
    for seed in range(part * CASES // 2, (part + 1) * CASES // 2):
        rng = random.Random(seed)
        graph = random_graph(
            seed,
            rng.randint(1, 14),
            degree=rng.choice((0.5, 1, 2)),
            durations=rng.choice((DURATIONS, (1,), (0, 1))),
            sizes=rng.choice((SIZES, (10,), (1, 100))),
            workspace=rng.choice(((0,), (0, 23))),
            demands=rng.choice((None, {"sms": 2}, {"sms": 4, "ports": 2})),
            shuffle=rng.random() < 0.5,
        )
        plain = problem_of(graph, HardwareProfile("plain", (Device("d0", resources={"sms": 4, "ports": 2}),)))
        peak, slack = min(own_peak(plain), greedy_peak(plain)), rng.choice((0.0, 0.25, 0.5, 2.0))
        capacity = rng.choice((None, peak, peak + rng.randint(0, 30), 2 * peak))
        target = min(int(peak * (1 + slack)), peak * 9 if capacity is None else capacity)
        device = Device(
            "d0",
            model=rng.choice(("lanes", "sm_share")),
            streams=rng.choice((1, 2, 3, 8)),
            resources={"sms": 4, "ports": 2},
            memory_capacity=capacity,
            max_resident_kernels=rng.choice((None, None, 1, 2)),
        )
        problem = problem_of(graph, HardwareProfile("drawn", (device,)))
        actual = [[max(0, ns + rng.choice((-3, 0, 3))) for ns in problem.durations(0)]] if rng.random() < 0.5 else None
        scheduler = MemoryAware(slack, rng.choice((0.0, 0.1, 0.5, 1.0)))
        trace = simulate(problem, scheduler, memory=rng.choice(("unbounded", "block", "strict")), actual=actual)
        assert trace.memory.peak(0) <= target, f"seed {seed}"


def test_a_kernel_limit_does_not_hide_what_is_promised_already() -> None:
    # With two resident kernels and eight streams, a third dispatch would wait in its stream, out of sight, and its
    # bytes would come on top of those of operators dispatched meanwhile.
    seeds = (660, 1847)
    for seed in seeds:
        graph = random_graph(seed, 16, durations=(1, 5), sizes=(10, 31), workspace=(0, 23))
        for limit in (1, 2):
            device = Device("d0", streams=8, max_resident_kernels=limit)
            problem = problem_of(graph, HardwareProfile("limited", (device,)))
            trace = simulate(problem, MemoryAware())
            assert all(wait.reason != "resource" for wait in trace.waits)
            assert trace.memory.peak(0) <= min(own_peak(problem), greedy_peak(problem))
