"""Search against published optima, one row per set: ``python -m benchmarks.search --schedules 1000 --seed 0``.

Sets: PSPLIB j30 (480 projects, four resources), the Standard Task Graph set with 50 tasks (those rows on 2, 4, 8 and 16
processors whose optimum is proved) and the Auckland set (264 graphs with delays between processors). They are not part
of the project; see ``tests/known_answers.py`` for where they are looked for. Each plan is simulated, and the referee
checks the run; a run that takes another time than planned, or less than the optimum, ends the program.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.graph.psplib import load_sm
from simsched.graph.stg import load_stg
from simsched.hardware import lanes, native, procs
from simsched.problem import Problem, make_problem
from simsched.schedulers.anytime import Anytime
from simsched.schedulers.base import Policy
from tests.known_answers import find

Row = tuple[str, Problem, int]
"""Name, problem and optimum."""


def psplib(place: Path) -> Iterator[Row]:
    """PSPLIB j30."""
    with (place / "reference_j30.csv").open() as file:
        for row in csv.DictReader(file):
            graph = load_sm(place / "j30" / f"{row['instance']}.sm")
            problem = make_problem(graph, native(graph.native or {}, len(graph)))
            yield row["instance"], problem, int(row["best_known_makespan"])


def stg(place: Path) -> Iterator[Row]:
    """STG 50, proved rows."""
    with (place / "stg_v2_optima_50.csv").open() as file:
        for row in csv.DictReader(file):
            if row["proved_optimal"] == "1":
                problem = make_problem(load_stg(place / row["file"]), lanes(int(row["processors"])))
                yield f"{row['file']} on {row['processors']}", problem, int(row["best_found"])


def auckland_optimal(place: Path) -> Iterator[Row]:
    """Graphs with delays."""
    for line in (place / "instances.jsonl").read_text().splitlines():
        instance = json.loads(line)
        builder = GraphBuilder(instance["name"], "tick")
        for name, weight in instance["nodes"].items():
            builder.add_op(name, duration=weight)
        for source, target, delay in instance["edges"]:
            builder.add_edge(str(source), str(target), delay=delay)
        problem = make_problem(builder.build(), procs(instance["processors"]))
        yield instance["name"], problem, instance["optimal_makespan"]


SETS: dict[str, Callable[[Path], Iterator[Row]]] = {"psplib": psplib, "stg": stg, "auckland_optimal": auckland_optimal}


class _Follow:
    """A scheduler that follows what has been found already."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def start(self, problem: Problem) -> Policy:
        """Return the policy."""
        del problem
        return self.policy


def main() -> None:
    """Print one line per set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="take every n-th instance only")
    arguments = parser.parse_args()
    scheduler = Anytime(arguments.schedules, arguments.seed)
    print(scheduler)
    print(f"{'set':<18}{'rows':>6}{'optimal':>9}{'mean above':>12}{'worst':>9}{'schedules':>11}{'ms each':>9}")
    for name in arguments.sets.split(","):
        place = find(name)
        if place is None:
            print(f"{name:<18}  not here")
        else:
            print(measured(name, list(SETS[name](place))[:: arguments.every], scheduler), flush=True)


def measured(name: str, rows: list[Row], scheduler: Anytime) -> str:
    """Search for all instances of a set, simulate what was found, and word the line."""
    above, optimal, schedules, seconds = [], 0, 0, 0.0
    for instance, problem, best in rows:
        begin = time.process_time()
        found = scheduler.search(problem)
        seconds += time.process_time() - begin
        trace = simulate(problem, _Follow(found.followed.policy()))
        wrong = check_trace(problem, trace)
        if wrong or trace.makespan != found.plan.makespan or not found.bound <= best <= trace.makespan:
            raise SystemExit(f"{instance}: planned {found.plan.makespan}, ran {trace.makespan}, best {best}; {wrong}")
        above.append(trace.makespan / best - 1)
        optimal += trace.makespan == best
        schedules += found.schedules
    count = len(rows)
    return (
        f"{name:<18}{count:>6}{optimal:>9}{100 * sum(above) / count:>10.3f} %{100 * max(above):>7.1f} %"
        f"{schedules / count:>11.0f}{1000 * seconds / count:>9.1f}"
    )


if __name__ == "__main__":
    main()
