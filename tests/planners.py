"""Oracles for planners: what a plan must obey, the optimum of tiny problems, list scheduling spelled out naively."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

from simsched.graph.model import OpId
from simsched.hardware import HardwareProfile, lanes, procs
from simsched.problem import Problem
from simsched.schedulers.planning.plan import Plan
from tests.builders import problem_of, random_graph, rigid, small_gpu
from tests.exhaustive import topological_orders

PLANNERS = (
    "heft",
    "heft(insertion=false)",
    "cpop",
    "peft",
    "mcp",
    "hlfet",
    "etf",
    "dls",
    "olb",
    "met",
    "mct",
    "min_min",
    "max_min",
    "sufferage",
    "sgs",
    "sgs(rule=mts, scheme=parallel)",
    "hu",
    "coffman_graham",
    "parametric(order=sufferage)",
)
"""Specs of every planner, some with other parameters than their defaults."""

PLANNED_IN_FULL: dict[str, HardwareProfile] = {
    "one lane": lanes(1),
    "three lanes": lanes(3),
    "three processors": procs(3),
    "two resources": rigid(3, cores=4, ports=2),
    "four SMs": small_gpu(4, 3),
    "two resident kernels": small_gpu(4, 3, resident=2),
}
"""Hardware on which planners leave nothing out of their plans."""

Span = tuple[int, int, int]
"""Device, start and end."""


def objections(problem: Problem, plan: Plan) -> list[str]:
    """What is wrong with a plan: places, durations, arrivals, lanes and units, each by its definition."""
    graph, found = problem.graph, []
    device = [problem.stream_device[stream] for stream in plan.stream]
    for op, pred in enumerate(graph.pred):
        if device[op] not in problem.allowed_devices(op):
            found.append(f"{op} may not run there")
        if plan.end[op] - plan.start[op] != problem.durations(device[op])[op]:
            found.append(f"{op} takes another time")
        found += [
            f"{op} starts before what {other} sends arrives"
            for other in pred
            if plan.start[op] < plan.end[other] + problem.transfer_ns(other, op, device[other], device[op])
        ]
    for ops in plan.schedule().streams.values():
        found += [f"{b} runs into {a}" for a, b in itertools.pairwise(ops) if plan.end[a] > plan.start[b]]
    for number, described in enumerate(problem.devices):
        for time in plan.start:
            running = [op for op in range(len(graph)) if device[op] == number and plan.start[op] <= time < plan.end[op]]
            for name, units in described.resources.items():
                if sum(problem.demand(op, number).get(name, 0) for op in running) > units:
                    found.append(f"more than {units} {name} at {time}")
            if described.max_resident_kernels is not None and len(running) > described.max_resident_kernels:
                found.append(f"too many kernels at {time}")
    return found


def optimum(problem: Problem) -> int:
    """Optimal makespan on devices of one lane each: every order, appended to every choice of devices."""
    graph, count = problem.graph, len(problem.graph)
    best = -1
    choices = list(itertools.product(*(problem.allowed_devices(op) for op in range(count))))
    for order in topological_orders(graph):
        for devices in choices:
            free = [0] * len(problem.devices)
            end = [0] * count
            for op in order:
                home = devices[op]
                ready = [end[other] + problem.transfer_ns(other, op, devices[other], home) for other in graph.pred[op]]
                free[home] = end[op] = max([free[home], *ready]) + problem.durations(home)[op]
            length = max(end, default=0)
            best = length if best < 0 else min(best, length)
    return max(best, 0)


def mean_upward_ranks(problem: Problem) -> list[Fraction]:
    """HEFT's ranks by their definition, for operators that may run anywhere and delays without links."""
    graph, devices = problem.graph, range(len(problem.devices))
    ranks = [Fraction(0)] * len(graph)
    for op in reversed(range(len(graph))):
        mean = Fraction(sum(problem.durations(device)[op] for device in devices), len(devices))
        after = [ranks[other] + graph.delays.get((op, other), 0) for other in graph.succ[op]]
        ranks[op] = mean + max(after, default=Fraction(0))
    return ranks


Key = Callable[[OpId, int, int, int], tuple[object, ...]]
"""``key(op, device, start, end)``: the pair of lowest key is placed next."""


def naive_pairs(problem: Problem, key: Key, *, batches: bool = False, last: bool = False) -> list[Span]:
    """Place pairs of operator and device by looking at all of them at every step; devices have one lane each.

    Parameters
    ----------
    problem : Problem
    key : callable
        Of all devices of an operator the lowest counts.
    batches : bool
        Whether what becomes ready waits until all that was ready is placed.
    last : bool
        Whether, of the best places of all operators, the highest is taken: then the key's first element is compared,
        and ties go to the lower id.
    """
    graph = problem.graph
    placed: dict[OpId, Span] = {}
    free = [0] * len(problem.devices)
    batch: list[OpId] = []
    while len(placed) < len(graph):
        ready = [
            op for op in range(len(graph)) if op not in placed and all(other in placed for other in graph.pred[op])
        ]
        batch = batch or ready
        best = []
        for op in batch if batches else ready:
            spans = []
            for device in problem.allowed_devices(op):
                arrivals = [
                    placed[other][2] + problem.transfer_ns(other, op, placed[other][0], device)
                    for other in graph.pred[op]
                ]
                start = max([free[device], *arrivals])
                end = start + problem.durations(device)[op]
                spans.append((key(op, device, start, end), op, (device, start, end)))
            best.append(min(spans, key=lambda span: (span[0], span[2][0])))
        if last:
            highest = max(entry[0][0] for entry in best)
            _, op, span = next(entry for entry in best if entry[0][0] == highest)
        else:
            _, op, span = min(best)
        placed[op] = span
        free[span[0]] = span[2]
        batch = [other for other in batch if other != op]
    return [placed[op] for op in range(len(graph))]


def spans_of(problem: Problem, plan: Plan) -> list[Span]:
    """Device, start and end of every operator of a plan."""
    devices: Sequence[int] = [problem.stream_device[stream] for stream in plan.stream]
    return list(zip(devices, plan.start, plan.end, strict=True))


def drawn_problem(seed: int, operators: int, hardware: HardwareProfile) -> Problem:
    """Draw a graph that the hardware can run, with delays, demands and sizes where they count."""
    names = [device.name for device in hardware.devices]
    several = len(names) > 1
    graph = random_graph(
        seed,
        operators,
        delays=(0, 2, 5, 19) if several else (),
        devices=names,
        demands=dict(hardware.devices[0].resources) or None,
        sizes=(0, 3, 17) if hardware.links else (),
    )
    return problem_of(graph, hardware, seed)
