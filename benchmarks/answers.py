"""Published instances with answers, and how near a scheduler comes: ``python -m benchmarks.answers stg --scheduler S``.

The instances are not part of the project. They are looked for in ``$SIMSCHED_KNOWN_ANSWERS`` and in
``../shared/known_answers`` beside the repository.

============  ========================================================================================================
``stg``       Standard Task Graph Set, 50 tasks, on 2 to 16 lanes (T. Tobita, H. Kasahara, J. Scheduling 5(5), 2002)
``psplib``    PSPLIB j30, four renewable resources (R. Kolisch, A. Sprecher, EJOR 96, 1996)
``auckland``  graphs with communication delays on identical processors (O. Sinnen's group, Auckland)
============  ========================================================================================================
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from simsched.graph.builder import GraphBuilder
from simsched.graph.psplib import load_sm
from simsched.graph.stg import load_stg
from simsched.hardware import lanes, native, procs
from simsched.problem import Problem, make_problem
from simsched.run import run

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Instance:
    """One instance and what is known of it.

    Attributes
    ----------
    name : str
    make : callable
        Makes its problem.
    best : int
        The makespan that its source states.
    proved : bool
        Whether that is the optimum; otherwise the best that its source had found.
    """

    name: str
    make: Callable[[], Problem]
    best: int
    proved: bool = True


def stg(folder: Path) -> Iterator[Instance]:
    """Yield the rows of the Standard Task Graph Set, 50 tasks."""
    with (folder / "stg" / "stg_v2_optima_50.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        path, count = folder / "stg" / row["file"], int(row["processors"])

        def make(path: Path = path, count: int = count) -> Problem:
            return make_problem(load_stg(path), lanes(count))

        yield Instance(f"{row['file']} on {count}", make, int(row["best_found"]), row["proved_optimal"] == "1")


def psplib(folder: Path) -> Iterator[Instance]:
    """Yield the instances of PSPLIB j30."""
    with (folder / "psplib" / "reference_j30.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        path = folder / "psplib" / "j30" / f"{row['instance']}.sm"

        def make(path: Path = path) -> Problem:
            graph = load_sm(path)
            assert graph.native is not None
            return make_problem(graph, native(graph.native, len(graph)))

        yield Instance(row["instance"], make, int(row["best_known_makespan"]), row["proved_optimal"] == "1")


def auckland(folder: Path) -> Iterator[Instance]:
    """Yield the graphs with communication delays."""
    for line in (folder / "auckland_optimal" / "instances.jsonl").read_text().splitlines():
        row = json.loads(line)

        def make(row: dict[str, object] = row) -> Problem:
            return _with_delays(row)

        yield Instance(row["name"], make, row["optimal_makespan"])


def _with_delays(row: dict[str, object]) -> Problem:
    nodes, edges, count = row["nodes"], row["edges"], row["processors"]
    assert isinstance(nodes, dict)
    assert isinstance(edges, list)
    assert isinstance(count, int)
    builder = GraphBuilder(str(row["name"]), "tick")
    for name, weight in nodes.items():
        builder.add_op(name, duration=weight)
    for source, target, delay in edges:
        builder.add_edge(str(source), str(target), delay=delay)
    return make_problem(builder.build(), procs(count))


SETS: dict[str, Callable[[Path], Iterator[Instance]]] = {"stg": stg, "psplib": psplib, "auckland": auckland}


def main() -> None:
    """Print every row that is not proved or not reached, then a line of totals."""
    parser = argparse.ArgumentParser(description="Run a scheduler on published instances with answers.")
    parser.add_argument("set", choices=sorted(SETS))
    parser.add_argument("--scheduler", default="optimal")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth instance")
    asked = parser.parse_args()
    stated = os.environ.get("SIMSCHED_KNOWN_ANSWERS")
    folder = Path(stated) if stated else REPOSITORY.parent / "shared" / "known_answers"
    rows = list(SETS[asked.set](folder))[:: asked.every]
    print(table(rows, asked.scheduler))


def table(rows: list[Instance], scheduler: str) -> str:
    """Run every instance; returns the line of totals."""
    reached = shorter = known = proved = 0
    ratio, wall, cpu = 0.0, [0.0], [0.0]
    for row in rows:
        problem = row.make()
        begin, worked = time.perf_counter(), time.process_time()
        result = run(problem, scheduler)
        wall.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - worked)
        optimal = result.proved is not None and result.makespan <= result.proved.bound
        if row.proved and (
            result.makespan < row.best or (result.proved is not None and result.proved.bound > row.best)
        ):
            print(f"{row.name}: {result.makespan} ({result.proved}) contradicts the published optimum {row.best}")
        if result.proved is not None and row.proved and not optimal:
            print(f"{row.name}: {result.makespan}, {result.proved}; published {row.best}; {wall[-1]:.1f} s", flush=True)
        reached += result.makespan == row.best
        shorter += result.makespan < row.best
        known += row.proved
        proved += optimal and row.proved
        ratio += result.makespan / row.best
    count = len(rows)
    return (
        f"{count} instances, {known} with a known optimum: {reached} reached, {shorter} shorter than published, "
        f"{proved} of the known ones proved; mean ratio {ratio / count:.4f}; "
        f"wall mean {sum(wall) / count:.3f} s, max {max(wall):.1f} s; "
        f"CPU mean {sum(cpu) / count:.3f} s, max {max(cpu):.1f} s"
    )


if __name__ == "__main__":
    main()
