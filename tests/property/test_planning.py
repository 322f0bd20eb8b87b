"""Properties of every planner: plans are feasible, come true, and never beat the optimum; theorems where they hold."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simsched
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import lanes, procs
from simsched.problem import Problem, make_problem
from simsched.schedulers.planning.costs import Costs
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.planning.priorities import level, upward
from simsched.schedulers.registry import make_scheduler
from simsched.schedulers.unit_tasks import CoffmanGraham, Hu
from tests.builders import linked_pair
from tests.exhaustive import optimal_makespan
from tests.planners import (
    PLANNED_IN_FULL,
    PLANNERS,
    Key,
    drawn_problem,
    mean_upward_ranks,
    naive_pairs,
    objections,
    optimum,
    spans_of,
)


def planned(spec: str, problem: Problem) -> Plan:
    scheduler: Any = make_scheduler(spec)
    plan: Plan = scheduler.plan(problem)
    return plan


HARDWARE = PLANNED_IN_FULL | {"links": linked_pair(0, 5e8, 1)}


@pytest.mark.parametrize("hardware", sorted(HARDWARE))
@pytest.mark.parametrize("spec", PLANNERS)
def test_plans_are_feasible_and_come_true(spec: str, hardware: str) -> None:
    for seed, operators in ((1, 0), (2, 4), (3, 12), (4, 12), (5, 25)):
        problem = drawn_problem(seed, operators, HARDWARE[hardware])
        plan = planned(spec, problem)
        assert objections(problem, plan) == []
        result = simsched.run(problem, make_scheduler(spec))
        if hardware != "links":
            # Links are planned without contention.
            assert list(result.trace.start) == list(plan.start)
            assert list(result.trace.end) == list(plan.end)


@cache
def _tiny(seed: int) -> tuple[Problem, int]:
    problem = drawn_problem(seed, 5, procs(2 + seed % 2))
    return problem, optimum(problem)


@pytest.mark.parametrize("spec", PLANNERS)
def test_no_plan_beats_the_optimum(spec: str) -> None:
    for seed in range(12):
        problem, best = _tiny(seed)
        assert planned(spec, problem).makespan >= best, seed


def test_the_optimum_is_often_reached() -> None:
    # Else the oracle above would be too low to find anything.
    reached = sum(
        min(planned(spec, tiny).makespan for spec in PLANNERS) == best for tiny, best in map(_tiny, range(12))
    )
    assert reached >= 9


# --- against the naive form ---------------------------------------------------------------------------------------


def _plain(seed: int, operators: int = 25) -> Problem:
    """Every operator may run anywhere, at times of its own, with delays."""
    rng = random.Random(seed)
    builder = GraphBuilder("plain", "tick")
    for op in range(operators):
        builder.add_op(f"v{op}", duration={f"p{device}": rng.randint(1, 30) for device in range(3)})
        for other in sorted({rng.randrange(op) for _ in range(rng.randint(0, 3))}) if op else []:
            builder.add_edge(f"v{other}", f"v{op}", delay=rng.randint(0, 20))
    return make_problem(builder.build(), procs(3))


def test_upward_ranks_are_their_definition() -> None:
    for seed in range(10):
        problem = _plain(seed)
        ranking = upward(Costs(problem))
        assert ranking.values == [rank * ranking.scale for rank in mean_upward_ranks(problem)]


@pytest.mark.parametrize("seed", range(8))
def test_pairs_are_those_of_the_naive_form(seed: int) -> None:
    problem = _plain(seed)
    costs = Costs(problem)
    static = level(costs).values
    medians = costs.median_durations()
    after = costs.longest_after(medians)
    keys: dict[str, Key] = {
        "etf": lambda op, device, start, end: (start, -static[op], op),
        # Of equal levels the higher fixed part goes first.
        "dls": lambda op, device, start, end: (2 * (end - medians[op]) - after[op], -2 * medians[op] - after[op], op),
    }
    for spec, key in keys.items():
        assert spans_of(problem, planned(spec, problem)) == naive_pairs(problem, key), spec


@pytest.mark.parametrize("seed", range(8))
def test_batches_are_those_of_the_naive_form(seed: int) -> None:
    problem = _plain(seed)
    key: Key = lambda op, device, start, end: (end, op)  # noqa: E731
    assert spans_of(problem, planned("min_min", problem)) == naive_pairs(problem, key, batches=True)
    assert spans_of(problem, planned("max_min", problem)) == naive_pairs(problem, key, batches=True, last=True)


# --- theorems -----------------------------------------------------------------------------------------------------


def _forest(rng: random.Random, count: int, *, outward: bool) -> Graph:
    window = rng.choice((2, 5, count))
    builder = GraphBuilder("forest", "tick")
    for op in range(count):
        builder.add_op(f"v{op}", duration=1)
    for op in range(count - 1):
        if rng.random() < 0.05:
            continue
        if outward:
            builder.add_edge(f"v{rng.randint(max(0, op + 1 - window), op)}", f"v{op + 1}")
        else:
            builder.add_edge(f"v{op}", f"v{rng.randint(op + 1, min(count - 1, op + window))}")
    return builder.build()


def _formula(graph: Graph, machines: int, *, outward: bool) -> int:
    """Hu's formula: what is above a level has to end, and then that many levels remain."""
    levels = [1] * len(graph)
    ids = range(len(graph))
    for op in ids if outward else reversed(ids):
        for other in graph.pred[op] if outward else graph.succ[op]:
            levels[op] = max(levels[op], levels[other] + 1)
    return max(low - (-sum(one > low for one in levels) // machines) for low in range(max(levels) + 1))


@pytest.mark.parametrize("outward", [False, True])
@pytest.mark.parametrize("count", [150, pytest.param(3000, marks=pytest.mark.slow)])
def test_hu_takes_what_his_formula_says(count: int, outward: bool) -> None:
    for seed in range(count):
        rng = random.Random(seed)
        graph, machines = _forest(rng, rng.randint(1, 60), outward=outward), rng.randint(1, 6)
        plan = Hu(strict=True).plan(make_problem(graph, lanes(machines)))
        assert plan.makespan == _formula(graph, machines, outward=outward), seed


@given(st.integers(0, 10**6))
def test_coffman_and_graham_are_optimal_on_two_lanes(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 7)
    builder = GraphBuilder("units", "tick")
    for op in range(count):
        builder.add_op(f"v{op}", duration=3)
        for other in range(op):
            if rng.random() < 0.35:
                builder.add_edge(f"v{other}", f"v{op}")
    graph = builder.build()
    plan = CoffmanGraham(strict=True).plan(make_problem(graph, lanes(2)))
    assert plan.makespan == optimal_makespan(graph, [3] * count, 2)


def test_the_formula_is_the_optimum() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        outward = seed % 2 == 1
        graph, machines = _forest(rng, rng.randint(1, 7), outward=outward), rng.randint(2, 3)
        assert _formula(graph, machines, outward=outward) == optimal_makespan(graph, [1] * len(graph), machines)
