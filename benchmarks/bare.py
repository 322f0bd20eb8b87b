"""The yardstick: a bare list-scheduling loop on heapq over the graph's own lists, and the graphs it is run on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph


def layered_graph(operators: int, seed: int = 1, *, tensor_bytes: int = 0) -> Graph:
    """Layered random DAG: layers of 25 to 75 operators, average degree 2, log-normal durations.

    With ``tensor_bytes`` every operator makes one tensor of up to that size, which its successors read.
    """
    source = random.Random(seed)
    builder = GraphBuilder(f"layered_{operators}", time_unit="tick")
    readers: list[list[str]] = [[] for _ in range(operators)]
    edges: list[tuple[int, int]] = []
    previous, current, first = range(0), range(0), 0
    while first < operators:
        previous, current = current, range(first, min(operators, first + source.randint(25, 75)))
        first = current.stop
        for op in current:
            for other in sorted({source.choice(previous) for _ in range(2)}) if previous else ():
                edges.append((other, op))
                readers[op].append(f"t{other}")
    for op in range(operators):
        duration = max(1, round(source.lognormvariate(3, 1) * 1000))
        if tensor_bytes:
            builder.add_tensor(f"t{op}", bytes=source.randint(1, tensor_bytes))
            builder.add_op(f"o{op}", duration=duration, inputs=readers[op], outputs=[f"t{op}"])
        else:
            builder.add_op(f"o{op}", duration=duration)
    if not tensor_bytes:
        for u, v in edges:
            builder.add_edge(f"o{u}", f"o{v}")
    return builder.build()


def shared_graph(operators: int, seed: int = 1) -> Graph:
    """The same kind of DAG for a GPU: operators demand 1 to 5 SMs, and draw seven shares of the bandwidth of 1 GB/s."""
    source = random.Random(seed)
    builder = GraphBuilder(f"shared_{operators}")
    shape = layered_graph(operators, seed)
    for op in range(operators):
        builder.add_tensor(f"t{op}", bytes=source.randint(1, 1000))
    for op, (duration, preds) in enumerate(zip(shape.durations, shape.pred, strict=True)):
        assert duration is not None
        traffic = int(duration * source.choice((0.0, 0.1, 0.2, 0.35, 0.5, 0.8, 1.0)))
        inputs, demands = [f"t{other}" for other in preds], {"sms": source.randint(1, 5)}
        builder.add_op(f"o{op}", duration=duration, inputs=inputs, outputs=[f"t{op}"], demands=demands, traffic=traffic)
    return builder.build()


def bare_list_schedule(
    succ: Sequence[Sequence[int]], pred_counts: Sequence[int], durations: Sequence[int], rank: Sequence[int], lanes: int
) -> int:
    """Makespan of list scheduling on identical lanes; smaller rank first, simultaneous ends drained first."""
    left = list(pred_counts)
    order = [0] * len(rank)
    for op, position in enumerate(rank):
        order[position] = op
    ready = [rank[op] for op, count in enumerate(left) if not count]
    heapify(ready)
    running: list[tuple[int, int]] = []
    now, free = 0, lanes
    while ready or running:
        while ready and free:
            op = order[heappop(ready)]
            free -= 1
            heappush(running, (now + durations[op], op))
        now, op = heappop(running)
        while True:
            free += 1
            for other in succ[op]:
                left[other] -= 1
                if not left[other]:
                    heappush(ready, rank[other])
            if not running or running[0][0] != now:
                break
            _, op = heappop(running)
    return now
