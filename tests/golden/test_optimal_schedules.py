"""Published optimal schedules with communication delays, followed: each must take exactly its optimal time.

The Auckland set (O. Sinnen's group; known_answers/auckland_optimal): P | prec, c_ij | Cmax on identical processors.
"""

from __future__ import annotations

import json
from typing import Any

from simsched.analysis.bounds import lower_bound
from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.hardware import procs
from simsched.problem import Problem, make_problem
from simsched.schedule import Schedule
from simsched.schedulers.follow import Follow
from simsched.schedulers.registry import make_scheduler
from tests.known_answers import folder


def _problem(instance: dict[str, Any]) -> Problem:
    builder = GraphBuilder(instance["name"], "tick")
    for name, weight in instance["nodes"].items():
        builder.add_op(name, duration=weight)
    for source, target, delay in instance["edges"]:
        builder.add_edge(str(source), str(target), delay=delay)
    return make_problem(builder.build(), procs(instance["processors"]))


def _schedule(instance: dict[str, Any], problem: Problem) -> Schedule:
    rows: dict[int, list[tuple[int, int, int]]] = {}
    for name, (processor, start, finish) in instance["schedule"].items():
        rows.setdefault(processor, []).append((start, finish, problem.graph.id_of(name)))
    first = 1 if max(rows) == instance["processors"] else 0
    return Schedule(
        {processor - first: tuple(op for _, _, op in sorted(row)) for processor, row in sorted(rows.items())}
    )


def test_every_optimal_schedule_takes_its_optimal_time_and_no_scheduler_beats_it() -> None:
    lines = (folder("auckland_optimal") / "instances.jsonl").read_text().splitlines()
    schedulers = [make_scheduler(name) for name in ("critical_path", "greedy_ready", "topological")]
    for line in lines:
        instance = json.loads(line)
        problem = _problem(instance)
        trace = simulate(problem, Follow(_schedule(instance, problem)))
        assert trace.makespan == instance["optimal_makespan"], instance["name"]
        assert check_trace(problem, trace) == [], instance["name"]
        assert lower_bound(problem).value <= instance["optimal_makespan"], instance["name"]
        for scheduler in schedulers:
            assert simulate(problem, scheduler).makespan >= instance["optimal_makespan"], instance["name"]
    assert len(lines) == 264
