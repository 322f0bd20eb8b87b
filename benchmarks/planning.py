"""How long list scheduling takes: HEFT on eight unlike nodes."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.timing import Row, median_seconds
from simsched.graph.builder import GraphBuilder
from simsched.hardware import procs
from simsched.problem import Problem, make_problem
from simsched.schedulers.heft import Heft

NODES = 8
BARS = {1_000: 25.0, 5_000: 400.0}
"""Most milliseconds that HEFT may take, by the number of operators."""


def unlike_problem(operators: int, seed: int = 1) -> Problem:
    """Draw a graph with delays whose operators take another time on every node."""
    rng = random.Random(seed)
    builder = GraphBuilder("unlike", "tick")
    for op in range(operators):
        builder.add_op(f"v{op}", duration={f"p{node}": rng.randint(10, 100) for node in range(NODES)})
        for other in sorted({rng.randrange(max(0, op - 50), op) for _ in range(rng.randint(1, 4))}) if op else []:
            builder.add_edge(f"v{other}", f"v{op}", delay=rng.randint(1, 50))
    return make_problem(builder.build(), procs(NODES))


def planning_rows(rounds: int) -> Iterator[Row]:
    """Time of HEFT's plan, by the number of operators."""
    for operators, bar in BARS.items():
        problem = unlike_problem(operators)
        taken = median_seconds(lambda: Heft().plan(problem), rounds)  # noqa: B023
        yield Row(f"HEFT, {operators:,} operators on {NODES} nodes", 1000 * taken, "ms", bar)
