"""Brute force for tiny graphs: all topological orders, the best peak memory, the optimal makespan. Oracles only."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from simsched.graph.model import Graph, OpId, TensorKind
from simsched.problem import Problem


def topological_orders(graph: Graph) -> Iterator[tuple[OpId, ...]]:
    """Every order that the dependencies allow."""
    count = len(graph)

    def extend(done: tuple[OpId, ...]) -> Iterator[tuple[OpId, ...]]:
        if len(done) == count:
            yield done
            return
        for op in range(count):
            if op not in done and all(before in done for before in graph.pred[op]):
                yield from extend((*done, op))

    return extend(())


def step_bytes(problem: Problem, order: Sequence[OpId], step: int) -> int:
    """Live bytes in one step, straight from the definition: one look at every tensor."""
    graph, total = problem.graph, problem.workspace(order[step])
    when = {op: number for number, op in enumerate(order)}
    for tensor in range(len(graph.tensor_bytes)):
        kind, producer = graph.tensor_kinds[tensor], graph.tensor_producer[tensor]
        made = kind.persistent or when[producer] <= step
        needed = (
            kind.persistent
            or kind is TensorKind.OUTPUT
            or when[producer] == step
            or any(when[reader] >= step for reader in graph.tensor_consumers[tensor])
        )
        total += graph.tensor_bytes[tensor] if made and needed else 0
    return total


def peak_bytes(problem: Problem, order: Sequence[OpId]) -> int:
    """Peak of one order, from the definition."""
    return max(step_bytes(problem, order, step) for step in range(len(order)))


def best_peak(problem: Problem) -> int:
    """Smallest peak over all orders."""
    return min(peak_bytes(problem, order) for order in topological_orders(problem.graph))


def optimal_makespan(
    graph: Graph, durations: Sequence[int], machines: int, demands: Mapping[OpId, int] | None = None, capacity: int = 0
) -> int:
    """Optimal makespan on identical machines with one renewable resource, by trying every serial-scheme order.

    The serial scheme places each operator, in the order, at the earliest instant that precedence, machines and the
    resource allow over its whole duration. Some order yields an optimal schedule (Kolisch 1996: active schedules).
    """
    needs = demands or {}
    best = sum(durations)
    for order in topological_orders(graph):
        best = min(best, _serial_scheme(graph, durations, order, machines, needs, capacity))
    return best


def _serial_scheme(
    graph: Graph,
    durations: Sequence[int],
    order: Sequence[OpId],
    machines: int,
    needs: Mapping[OpId, int],
    capacity: int,
) -> int:
    placed: dict[OpId, tuple[int, int]] = {}
    for op in order:
        start = max((placed[before][1] for before in graph.pred[op]), default=0)
        moments = sorted({start, *(end for _, end in placed.values() if end > start)})
        start = next(at for at in moments if _fits(op, at, durations[op], placed, machines, needs, capacity))
        placed[op] = (start, start + durations[op])
    return max((end for _, end in placed.values()), default=0)


def _fits(
    op: OpId,
    start: int,
    duration: int,
    placed: Mapping[OpId, tuple[int, int]],
    machines: int,
    needs: Mapping[OpId, int],
    capacity: int,
) -> bool:
    moments = {start, *(at for at, _ in placed.values() if start < at < start + duration)}
    for at in moments:
        beside = [other for other, (first, end) in placed.items() if first <= at < end]
        if len(beside) >= machines and duration:
            return False
        if sum(needs.get(other, 0) for other in beside) + needs.get(op, 0) > max(capacity, 0) and needs.get(op, 0):
            return False
    return True


def greedy_makespans(graph: Graph, durations: Sequence[int], machines: int) -> Iterator[int]:
    """Makespans of list scheduling with every priority list that is a permutation of the operators."""
    for ranking in itertools.permutations(range(len(graph))):
        yield list_makespan(graph, durations, machines, ranking)


def list_makespan(graph: Graph, durations: Sequence[int], machines: int, ranking: Sequence[int]) -> int:
    """Makespan of :func:`list_starts`."""
    starts = list_starts(graph, durations, machines, ranking)
    return max((start + durations[op] for op, start in starts.items()), default=0)


def list_starts(graph: Graph, durations: Sequence[int], machines: int, ranking: Sequence[int]) -> dict[OpId, int]:
    """Graham's list scheduling, one instant at a time: never idle while something is ready."""
    starts: dict[OpId, int] = {}
    end: dict[OpId, int] = {}
    now = 0
    while len(end) < len(graph):
        busy = sum(finish > now for finish in end.values())
        ready = [
            op
            for op in ranking
            if op not in end and all(before in end and end[before] <= now for before in graph.pred[op])
        ]
        if ready and busy < machines:
            starts[ready[0]] = now
            end[ready[0]] = now + durations[ready[0]]
        else:
            now = min(finish for finish in end.values() if finish > now)
    return starts


def optimal_on_devices(problem: Problem) -> int:
    """Optimal makespan on devices of one stream each, by trying every placement and every order.

    In an order, each operator goes to the end of its device's queue and starts as early as queue and data allow.
    """
    graph = problem.graph
    best: int | None = None
    orders = list(topological_orders(graph))
    for places in itertools.product(*(problem.allowed_devices(op) for op in range(len(graph)))):
        for order in orders:
            free = [0] * len(problem.devices)
            end: dict[OpId, int] = {}
            for op in order:
                here = places[op]
                arrivals = [end[u] + problem.transfer_ns(u, op, places[u], here) for u in graph.pred[op]]
                end[op] = free[here] = max([free[here], *arrivals]) + problem.durations(here)[op]
            length = max(end.values(), default=0)
            best = length if best is None else min(best, length)
    return best or 0
