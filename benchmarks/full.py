"""The full model against the bare heapq loop: SMs, memory, bandwidth, trace and reasons of waits, on eight streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from statistics import median

from benchmarks.bare import bare_list_schedule, shared_graph
from benchmarks.engine import StaticPriorities
from benchmarks.timing import Row, cpu_seconds
from simsched.engine.simulator import simulate
from simsched.graph.ranks import b_level
from simsched.hardware import Device, HardwareProfile
from simsched.problem import Problem, make_problem
from simsched.schedulers.base import Policy, Scheduler, View

STREAMS = 8
GPU = Device("gpu", "gpu", "sm_share", STREAMS, {"sms": 20}, memory_bandwidth=1e9)


@dataclass(frozen=True)
class DeviceQueue:
    """Dispatches the ready operator of highest priority to each idle stream, and leaves the rest to the device.

    So kernels wait at the device, and each wait is recorded with its reason.
    """

    priority: list[int]

    def start(self, problem: Problem) -> Policy:
        """Return the policy."""
        del problem
        count = len(self.priority)
        keys = [op - priority * count for op, priority in enumerate(self.priority)]
        heap: list[int] = []

        def policy(view: View) -> Iterable[tuple[int, int, str]]:
            for op in view.newly_ready:
                heappush(heap, keys[op])
            return [(heappop(heap) % count, stream, "") for stream in view.idle_streams[: len(heap)]]

        return policy


def full_rows(size: int, rounds: int) -> Iterator[Row]:
    """Ratio of ``simulate()`` to the bare loop over the same graph, in one process, in turns."""
    problem = make_problem(shared_graph(size), HardwareProfile("one GPU", (GPU,)))
    graph, durations = problem.graph, problem.durations()
    priority = list(b_level(graph, durations))
    order = sorted(range(size), key=priority.__getitem__, reverse=True)
    rank = [0] * size
    for position, op in enumerate(order):
        rank[op] = position
    counts = list(map(len, graph.pred))

    def bare() -> int:
        return bare_list_schedule(graph.succ, counts, durations, rank, STREAMS)

    queued = DeviceQueue(priority)
    waits = len(simulate(problem, queued).waits)
    yield Row(
        f"full model / bare loop, {size:,} operators", _ratio(problem, StaticPriorities(priority), bare, rounds), "x", 8
    )
    name = f"  the same with {waits:,} waits at the device"
    yield Row(name, _ratio(problem, queued, bare, rounds), "x", 8)


def _ratio(problem: Problem, scheduler: Scheduler, bare: Callable[[], int], rounds: int) -> float:
    ratios = []
    for _ in range(rounds):
        least = cpu_seconds(bare)[0]
        ratios.append(cpu_seconds(lambda: simulate(problem, scheduler))[0] / least)
    return median(ratios)
