"""What reacting is worth, and what estimates are worth: ``python -m benchmarks.dynamic``.

On random layered graphs, with the same actual durations for all: how planners, the same planners when they plan again,
and schedulers that decide at run time compare when durations differ from their estimates; and how much longer runs
take when a scheduler is told less about durations, which are then the truth.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import NamedTuple

import simsched
from simsched.graph.generators.random_graphs import layered_random
from simsched.hardware import lanes, procs
from simsched.problem import Problem, make_problem

REACTING = (
    "heft",
    "online(heft, threshold=inf)",
    "online(heft, threshold=1)",
    "online(heft, threshold=0.3)",
    "online(heft)",
    "online(heft, threshold=0)",
    "etf",
    "online(etf)",
    "critical_path",
    "greedy_ready",
    "work_stealing",
)
TOLD = ("heft", "peft", "etf", "min_min", "critical_path", "greedy_ready:spt", "online(etf)")
INFO = ("exact", "noisy(0.2)", "noisy(0.5)", "blind")


class Row(NamedTuple):
    """Geometric mean of makespans over those of a reference, its standard error in percent, and scheduler seconds."""

    ratio: float
    error: float
    seconds: float


def problems(where: str, count: int, operators: int) -> list[Problem]:
    """Layered graphs on four lanes without delays, or on four processors with delays as long as operators."""
    hardware, ccr = (lanes(4), 0.0) if where == "lanes:4" else (procs(4), 1.0)
    graphs = [layered_random(operators, seed, degree=3.0, shortest=10, ccr=ccr) for seed in range(count)]
    return [make_problem(graph, hardware, seed=seed) for seed, graph in enumerate(graphs)]


def ratios(cases: Sequence[Problem], specs: Sequence[str], noise: float, reference: Sequence[int] = ()) -> list[Row]:
    """Run every scheduler on every problem; the first is the reference unless another one is given."""
    rows = []
    base = list(reference)
    for spec in specs:
        results = [simsched.run(problem, spec, noise=noise or None, seed=problem.seed) for problem in cases]
        base = base or [result.makespan for result in results]
        logs = [math.log(result.makespan / one) for result, one in zip(results, base, strict=True)]
        mean = sum(logs) / len(logs)
        deviation = math.sqrt(sum((log - mean) ** 2 for log in logs) / max(1, len(logs) - 1))
        seconds = sum(result.scheduler_seconds for result in results) / len(results)
        rows.append(Row(math.exp(mean), 100 * deviation / math.sqrt(len(logs)), seconds))
    return rows


def main(words: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dynamic", description="what reacting is worth")
    parser.add_argument("--graphs", type=int, default=40)
    parser.add_argument("--operators", type=int, default=120)
    asked = parser.parse_args(words)
    print(
        f"{asked.graphs} layered graphs of {asked.operators} operators; makespan over HEFT's, geometric means +- s.e."
    )
    for where in ("lanes:4", "procs:4"):
        cases = problems(where, asked.graphs, asked.operators)
        for noise in (0.2, 0.5):
            print(f"\n{where}, durations lognormal({noise:g})")
            for spec, row in zip(REACTING, ratios(cases, REACTING, noise), strict=True):
                print(f"  {spec:30} {row.ratio:.3f} +- {row.error:3.1f} %  {1000 * row.seconds:7.1f} ms")
    print("\nTold less, durations exact; makespan over the same scheduler's with exact estimates")
    for where in ("lanes:4", "procs:4"):
        cases = problems(where, asked.graphs, asked.operators)
        print(f"\n{where:20}" + "".join(f"{info:>16}" for info in INFO[1:]))
        for spec in TOLD:
            rows = ratios(cases, [f"informed({spec}, info={info})" for info in INFO], 0.0)
            print(f"  {spec:18}" + "".join(f"  {row.ratio:.3f} +- {row.error:3.1f}" for row in rows[1:]))


if __name__ == "__main__":
    main()
