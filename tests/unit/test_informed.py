"""What schedulers are told of durations: modes by hand, and that a run takes the truth all the same."""

from __future__ import annotations

import json
import math
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

import simsched
from simsched.errors import ConfigError, SchedulerError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import lanes, procs
from simsched.noise import Noise, actual_durations
from simsched.problem import Problem, make_problem
from simsched.schedulers.dynamic.estimates import blind, exact, from_table, mean_of_types, noisy, with_durations
from simsched.schedulers.dynamic.informed import Informed
from simsched.schedulers.registry import make_scheduler, scheduler_spec
from simsched.testing import check_scheduler
from tests.builders import problem_of, random_graph
from tests.cli import objects


def typed() -> Graph:
    builder = GraphBuilder("typed", "tick")
    for name, op_type, duration in (
        ("a", "Conv", 10),
        ("b", "Conv", 13),
        ("c", "Conv", {"p0": 2}),
        ("d", "Relu", {"p0": 3, "p1": 30}),
        ("e", "Relu", 0),
        ("f", "View", 0),
    ):
        builder.add_op(name, op_type, duration=duration)
    builder.add_edge("a", "f")
    return builder.build()


def columns(info: Any, problem: Problem, seed: int = 0) -> list[list[int]]:
    return [list(column) for column in info(problem, seed)]


# --- modes ----------------------------------------------------------------------------------------------------------


def test_means_of_types_are_by_device_and_over_who_may_run_there() -> None:
    problem = problem_of(typed(), procs(2))
    # On p0 (10 + 13 + 2) / 3 = 8.33 and 3 / 2 = 1.5; on p1, where c may not run, 11.5 and 15. Halves go up.
    assert columns(mean_of_types, problem) == [[8, 8, 8, 2, 2, 0], [12, 12, 0, 15, 15, 0]]


def test_blind_sees_one_duration() -> None:
    problem = problem_of(typed(), procs(2))
    # 10 + 13 + 2 + 3 and 10 + 13 + 30, over 6 and 5 places.
    assert columns(blind, problem) == [[7] * 6] * 2
    assert columns(blind, problem_of(GraphBuilder("empty", "tick").build(), lanes(1))) == [[]]


def test_what_takes_time_takes_some_in_the_mean_too() -> None:
    builder = GraphBuilder("tiny", "tick")
    for number in range(5):
        builder.add_op(f"v{number}", "T", duration=1 if number == 0 else 0)
    problem = problem_of(builder.build(), lanes(1))
    assert columns(mean_of_types, problem) == columns(blind, problem) == [[1] * 5]


def test_noisy_estimates_are_lognormal_with_mean_1_and_the_same_on_all_devices() -> None:
    builder = GraphBuilder("many", "tick")
    for number in range(4000):
        builder.add_op(f"v{number}", duration={"p0": 10**6, "p1": 3 * 10**6})
    problem = problem_of(builder.build(), procs(2))
    first, second = columns(noisy(0.5), problem, 11)
    factors = [time / 10**6 for time in first]
    assert statistics.mean(factors) == pytest.approx(1, abs=0.03)
    assert statistics.stdev(map(math.log, factors)) == pytest.approx(0.5, abs=0.02)
    assert all(abs(3 * one - other) <= 3 for one, other in zip(first, second, strict=True))
    assert columns(noisy(0.5), problem, 11)[0] == first
    assert columns(noisy(0.5), problem, 12)[0] != first
    assert columns(noisy(0.0), problem, 11) == columns(exact, problem)


def test_noisy_estimates_are_not_the_truth_of_a_noisy_run() -> None:
    problem = problem_of(random_graph(1, 30), lanes(2))
    assert columns(noisy(0.4), problem, 5) != actual_durations(problem, Noise("lognormal", 0.4), 5)


def test_a_table_of_the_user(tmp_path: Path) -> None:
    rows = [
        {"operator": "a", "duration_ns": 99},
        {"op_type": "Relu", "duration_ns": 7},
        {"op_type": "Relu", "device": "p1", "duration_ns": 5},
    ]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(rows))
    problem = problem_of(typed(), procs(2))
    told = columns(from_table(str(path)), problem)
    assert told == [[99, 13, 2, 7, 7, 0], [99, 13, 0, 5, 5, 0]]
    seen = Informed("heft", str(path)).sees(problem)
    assert [list(seen.durations(device)) for device in (0, 1)] == told
    with pytest.raises(ConfigError, match="cannot be read"):
        simsched.run(problem, Informed("heft", str(tmp_path / "none.csv")))


def test_only_durations_change() -> None:
    problem = make_problem(simsched.load_graph("inception_v1"), simsched.load_hardware("a100_sxm_80gb"))
    seen = Informed("serial", "blind").sees(problem)
    (duration,) = set(seen.durations())
    assert duration == round(statistics.mean(problem.durations()))
    assert seen.demands_on(0) == problem.demands_on(0)
    for op, cost in problem.costs[0].items():
        other = seen.costs[0][op]
        assert (other.sms, other.bytes, other.flops, other.grid) == (cost.sms, cost.bytes, cost.flops, cost.grid)
        assert other.launch_ns <= duration
        assert other.tail_ns <= duration
    assert Informed("serial", "exact").sees(problem) is problem


@pytest.mark.parametrize("wrong", [[[1, 2]], [[1, -2, 3]], [[1, 2.5, 3]], [[1, None, 3]], [[1, 2, 3]] * 2])
def test_what_are_no_durations(wrong: Any) -> None:
    problem = problem_of(random_graph(1, 3), lanes(1))
    with pytest.raises(SchedulerError, match=r"info: (expected 1 columns of 3 durations|a duration is a whole number)"):
        with_durations(problem, wrong)


# --- schedulers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["critical_path", "heft", "memory_aware", "online", "greedy_ready:spt"])
def test_exact_changes_nothing(spec: str) -> None:
    problem = problem_of(random_graph(7, 25), lanes(3))
    alone, informed = (simsched.run(problem, one, noise=0.3, seed=2).trace for one in (spec, Informed(spec, "exact")))
    assert list(alone.start) == list(informed.start)


def telling(durations: list[int]) -> Any:
    return lambda problem, seed: [durations]


def test_priorities_come_from_what_is_seen_and_durations_from_the_truth() -> None:
    builder = GraphBuilder("three", "tick")
    for name, duration in (("a", 2), ("b", 3), ("c", 11)):
        builder.add_op(name, duration=duration)
    problem = problem_of(builder.build(), lanes(1))
    for seen, order in (([2, 3, 11], "cba"), ([9, 3, 5], "acb"), ([4, 4, 4], "abc")):
        trace = simsched.run(problem, Informed("critical_path", telling(seen))).trace
        assert "".join("abc"[op] for op in sorted(range(3), key=trace.start.__getitem__)) == order
        assert [end - start for start, end in zip(trace.start, trace.end, strict=True)] == [2, 3, 11]


@pytest.mark.parametrize("rule", ["spt", "lpt"])
def test_rules_by_duration_are_the_order_of_the_file_to_the_blind(rule: str) -> None:
    for seed in range(6):
        problem = problem_of(random_graph(seed, 25), lanes(3))
        told = simsched.run(problem, Informed(f"greedy_ready:{rule}", "blind")).trace
        assert list(told.start) == list(simsched.run(problem, "greedy_ready:list").trace.start)


def test_the_longest_path_is_the_deepest_to_the_blind() -> None:
    for seed in range(6):
        graph = random_graph(seed, 25)
        depth = [0] * 25
        for op in reversed(range(25)):
            depth[op] = 1 + max((depth[other] for other in graph.succ[op]), default=0)
        from simsched.schedulers.listing import list_policy

        class Deepest:
            def start(self, problem: Problem) -> Any:
                return list_policy(problem, depth)  # noqa: B023

        problem = problem_of(graph, lanes(3))
        told = simsched.run(problem, Informed("critical_path", "blind")).trace
        assert list(told.start) == list(simsched.run(problem, Deepest()).trace.start)


def test_first_come_first_served_looks_at_no_estimate() -> None:
    problem = problem_of(random_graph(7, 25), lanes(3))
    for info in ("blind", "mean", "noisy(1)"):
        for spec in ("greedy_ready", "work_stealing", "random", "topological"):
            runs = (simsched.run(problem, one, noise=0.3).trace for one in (spec, Informed(spec, info)))
            first, second = (list(trace.start) for trace in runs)
            assert first == second


def test_devices_are_chosen_by_what_is_seen() -> None:
    builder = GraphBuilder("two", "tick")
    builder.add_op("a", duration={"p0": 5, "p1": 3})
    problem = problem_of(builder.build(), procs(2))
    assert simsched.run(problem, "greedy_ready").trace.stream[0] == 1
    trace = simsched.run(problem, Informed("greedy_ready", "blind")).trace
    assert (trace.stream[0], trace.end[0]) == (0, 5)


def test_a_proof_about_other_durations_proves_nothing() -> None:
    pytest.importorskip("ortools")
    problem = problem_of(random_graph(2, 6), lanes(2))
    assert simsched.run(problem, "optimal").proved is not None
    assert simsched.run(problem, Informed("optimal", "blind")).proved is None


# --- words ----------------------------------------------------------------------------------------------------------


def test_specs() -> None:
    made = make_scheduler("informed(greedy_ready:spt, info=noisy(0.3), seed=4)")
    assert made == Informed("greedy_ready:spt", "noisy(0.3)", 4)
    assert scheduler_spec(made) == "informed(scheduler=greedy_ready:spt, info=noisy(0.3), seed=4)"
    assert make_scheduler("informed(online(heft, threshold=0), info=blind)") == Informed(
        "online(heft, threshold=0)", "blind"
    )
    assert scheduler_spec(Informed("serial", blind)) == "informed(scheduler=serial, info=blind)"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("informed(heft, info=blint)", UnknownNameError, "unknown info 'blint'; did you mean 'blind'?"),
        ("informed(heft, info=noisy(a))", SchedulerError, "info: 'noisy(a)' is not a level of noise"),
        ("informed(heft, info=noisy(0.1.2))", SchedulerError, "is not a level of noise; write for example noisy(0.3)"),
        ("informed(heft, info=noisy(9))", SchedulerError, "level of lognormal noise lies between 0 and 5; got 9"),
        ("informed(heft, info=noisy(0.3)", SchedulerError, "'noisy(0.3' is not a level of noise"),
        ("informed(heft, seed=-1)", SchedulerError, "informed: seed must be at least 0, got -1"),
        ("informed(nobody)", UnknownNameError, "unknown scheduler 'nobody'"),
    ],
)
def test_what_is_said_of_mistakes(spec: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        make_scheduler(spec)


def test_on_the_command_line() -> None:
    specs = ["informed(critical_path, info=blind)", "online(heft(insertion=false), threshold=0.2)"]
    (found,) = objects("compare", "inception_v1", "-H", "a100_sxm_80gb", "-s", ",".join(specs), "--noise", "0.3")
    assert [row["scheduler"] for row in found["runs"]] == specs
    assert all(row["valid"] for row in found["runs"])


@pytest.mark.parametrize("spec", ["informed(critical_path, info=mean)", "informed(heft, info=blind)", "informed(sgs)"])
def test_the_contract(spec: str) -> None:
    assert check_scheduler(make_scheduler(spec)) == 27
