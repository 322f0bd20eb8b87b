"""The tables of ``docs/reference/results.md``: ``python -m benchmarks.results stg --schedulers heft,anytime``.

``stg``, ``psplib`` and ``auckland`` are published instances, see :mod:`benchmarks.answers`; they are no part of the
project, and where they are absent the table says so. ``small`` and ``networks`` are graphs and hardware that come with
simsched; what is not known of them is replaced by the best lower bound.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.answers import REPOSITORY, SETS, Instance
from simsched import __version__
from simsched.analysis.bounds import best_lower, bounds
from simsched.problem import Problem
from simsched.run import compare
from simsched.scenario import Scenario
from simsched.schedulers.registry import split_specs
from simsched.study.cases import Case
from simsched.study.ranking import FEWEST, Ranking, rank
from simsched.units import format_duration

CHEAP = {
    "stg": "critical_path,hlfet,mcp,heft,etf,dls,sgs:lft,greedy_ready:lpt,greedy_ready:fifo,greedy_ready:spt,"
    "topological",
    "psplib": "sgs:lft,sgs(rule=lft, scheme=parallel),sgs(rule=mts, scheme=parallel),critical_path,heft,"
    "greedy_ready:lft,greedy_ready:spt,topological",
    "auckland": "heft,cpop,peft,mcp,etf,dls,hlfet,min_min,max_min,sufferage,mct,critical_path",
    "small": "critical_path,heft,etf,dls,sgs:lft,greedy_ready:lpt,greedy_ready:fifo,topological",
    "networks": "critical_path,heft,etf,sgs:lft,greedy_ready:fifo,greedy_ready:lpt,memory_aware,topological",
}  # fmt: skip
FOLDERS = {"stg": "stg", "psplib": "psplib", "auckland": "auckland_optimal"}
SMALL = ("graham", "residual", "fork_join", "diamond", "layered_random(n=60, seed=1)", "layered_random(n=60, seed=2)",
         "series_parallel(n=60, seed=1)", "in_tree(depth=5)")  # fmt: skip
NETWORKS = ("inception_v1", "resnet50", "densenet121", "squeezenet", "shufflenet", "bert_base", "gpt2")


@dataclass(frozen=True)
class Row:
    """An instance under every scheduler.

    Attributes
    ----------
    case : Case
    known : bool
        Whether its source states the optimum.
    proved : tuple of bool
        By scheduler: whether it has proved that nothing is shorter.
    """

    case: Case
    known: bool
    proved: tuple[bool, ...]


def shipped(graphs: Sequence[str], scenarios: Sequence[Scenario]) -> Iterator[Instance]:
    """Yield graphs that come with simsched; the best that is known is their best lower bound."""
    for name, scenario in product(graphs, scenarios):
        problem = scenario.problem(scenario.load_graph(name))
        best = best_lower(bounds(problem)).value
        yield Instance(f"{name} on {scenario.hardware}", partial(_itself, problem), best, False)


def _itself(problem: Problem) -> Problem:
    return problem


OWN: dict[str, Callable[[], Iterator[Instance]]] = {
    "small": lambda: shipped(SMALL, [Scenario(f"lanes:{count}") for count in (2, 3, 4, 8)]),
    "networks": lambda: shipped(
        NETWORKS, [Scenario(name, streams=4) for name in ("a100_sxm_80gb", "t4", "orin_agx_64gb")]
    ),
}


def instances(name: str, every: int) -> list[Instance] | None:
    """Return the instances of a set, None where they are not here."""
    if name in OWN:
        return list(OWN[name]())[::every]
    stated = os.environ.get("SIMSCHED_KNOWN_ANSWERS")
    folder = Path(stated) if stated else REPOSITORY.parent / "shared" / "known_answers"
    return list(SETS[name](folder))[::every] if (folder / FOLDERS[name]).is_dir() else None


def measured(found: Sequence[Instance], schedulers: Sequence[str]) -> list[Row]:
    """Run every scheduler on every instance; a run below a proved optimum, or one that breaks a rule, ends it all."""
    rows = []
    for instance in found:
        comparison = compare(instance.make(), schedulers)
        makespans = tuple(result.makespan for result in comparison.results)
        if not comparison.valid:
            raise SystemExit(f"{instance.name}: {comparison.failures or 'a run breaks a rule'}")
        if instance.proved and min(makespans) < instance.best:
            raise SystemExit(f"{instance.name}: {min(makespans)}, below the published optimum {instance.best}")
        seconds = tuple(result.scheduler_seconds for result in comparison.results)
        proved = tuple(
            result.proved is not None and result.makespan <= result.proved.bound for result in comparison.results
        )
        # The same graph on other hardware is no other graph.
        graph = instance.name.partition(" on ")[0]
        rows.append(Row(Case(graph, "drawn", makespans, instance.best, seconds), instance.proved, proved))
    return rows


def table(schedulers: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, the best mean rank first."""
    ranking: Ranking = rank(schedulers, [row.case for row in rows])
    unreal = [ranking.standings[0].scheduler, *(pair.second for pair in ranking.against_first() if not pair.real)]
    proves = any(any(row.proved) for row in rows)
    yield f"| scheduler | reached |{' proved |' if proves else ''} mean above | worst | mean rank (95 %) | time each |"
    yield f"| --- | --- |{' --- |' if proves else ''} --- | --- | --- | --- |"
    for each in ranking.standings:
        number = schedulers.index(each.scheduler)
        reached = sum(row.case.makespans[number] <= row.case.bound for row in rows)  # type: ignore[operator]
        limits = "" if math.isnan(each.rank.low) else f" ({each.rank.low:.2f}-{each.rank.high:.2f})"
        proved = f" {sum(row.proved[number] for row in rows)} |" if proves else ""
        took = format_duration((each.seconds or 0.0) * 1e9)
        yield (
            f"| `{each.scheduler}` | {reached} |{proved} {100 * each.mean:.2f} % | {100 * each.worst:.1f} % "
            f"| {each.rank.mean:.2f}{limits} | {took} |"
        )
    if len(unreal) > 1 and ranking.units >= FEWEST:
        yield f"\nNo real difference between `{unreal[0]}` and {', '.join(f'`{name}`' for name in unreal[1:])}."


def commit() -> str:
    """Return the commit that is checked out."""
    asked = ["git", "-C", str(REPOSITORY), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main() -> None:
    """Print one table with the command that made it."""
    parser = argparse.ArgumentParser(description="Run schedulers on a set of instances and print a table.")
    parser.add_argument("set", choices=[*SETS, *OWN])
    parser.add_argument("--schedulers", help="comma-separated; those that take milliseconds by default")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth instance")
    asked = parser.parse_args()
    found = instances(asked.set, asked.every)
    if found is None:
        print(f"{asked.set}: not measured, the instances are not here; set $SIMSCHED_KNOWN_ANSWERS to their folder")
        return
    schedulers = split_specs(asked.schedulers or CHEAP[asked.set])
    begin = time.perf_counter()
    rows = measured(found, schedulers)
    known = sum(row.known for row in rows)
    print(f"`python -m benchmarks.results {shlex.join(sys.argv[1:])}` (version {__version__}, commit {commit()})\n")
    of = f"{known} with a proved optimum" if known else "above their best lower bound"
    print(f"{len(rows)} instances, {of}.\n")
    print("\n".join(table(schedulers, rows)))
    print(f"\n{time.perf_counter() - begin:.0f} s in all", file=sys.stderr)


if __name__ == "__main__":
    main()
