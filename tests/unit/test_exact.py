"""The exact scheduler against exhaustive search, and everything around it: limits, errors, proofs, progress."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import pytest

from simsched.engine.simulator import simulate
from simsched.errors import MissingExtraError, SchedulerError
from simsched.exact.alike import alike
from simsched.exact.cliques import cliques
from simsched.exact.optimal import Optimal
from simsched.exact.times import times_of
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, Link, lanes, procs
from simsched.problem import Problem
from simsched.run import compare, run
from simsched.schedulers.proof import Searched, listening
from simsched.testing import check_scheduler, zoo
from tests.builders import problem_of
from tests.cli import ROOT, environment, invoke, objects
from tests.exhaustive import optimal_makespan, optimal_on_devices

pytest.importorskip("ortools")

UNTIL_DONE = Optimal(time=300)


def random_graph(seed: int, count: int, **options: int) -> Graph:
    """A seeded graph; ``units`` of a resource demanded at most, ``delay`` and ``size`` of edges at most."""
    rng = random.Random(seed)
    builder = GraphBuilder(f"random_{seed}", "tick")
    for number in range(count):
        demands = {"units": rng.randint(0, options["units"])} if "units" in options else {}
        builder.add_op(f"o{number}", duration=rng.choice((1, 2, 3, 5)), demands=demands)
    for target in range(1, count):
        for source in range(target):
            if rng.random() < 0.3:
                delay, size = rng.randint(0, options.get("delay", 0)), rng.randint(0, options.get("size", 0))
                builder.add_edge(f"o{source}", f"o{target}", delay=delay, bytes=size)
    return builder.build()


# --- against exhaustive search --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_lanes_and_units(seed: int) -> None:
    graph = random_graph(seed, 6, units=3)
    hardware = HardwareProfile("pool", (Device("d0", streams=2 + seed % 2, resources={"units": 4}),))
    problem = problem_of(graph, hardware)
    demands = {op: demand["units"] for op, demand in problem.demands_on(0).items()}
    best = optimal_makespan(graph, problem.durations(), 2 + seed % 2, demands, 4)
    answer = UNTIL_DONE.solve(problem)
    assert (answer.plan.makespan, answer.proof.bound, answer.proof.status) == (best, best, "optimal")
    assert simulate(problem, UNTIL_DONE).makespan == best


@pytest.mark.parametrize("seed", range(8))
def test_delays_on_processors(seed: int) -> None:
    problem = problem_of(random_graph(seed, 5, delay=6), procs(2 + seed % 2))
    best = optimal_on_devices(problem)
    answer = UNTIL_DONE.solve(problem)
    assert (answer.plan.makespan, answer.proof.bound) == (best, best)
    assert simulate(problem, UNTIL_DONE).makespan == best


@pytest.mark.parametrize("seed", range(6))
def test_unequal_devices_with_a_link(seed: int) -> None:
    rng = random.Random(seed)
    builder = GraphBuilder("unequal", "tick")
    for number in range(5):
        builder.add_op(f"o{number}", duration={"fast": rng.randint(1, 4), "slow": rng.randint(2, 9)})
    for target in range(1, 5):
        builder.add_edge(f"o{rng.randrange(target)}", f"o{target}", bytes=rng.randint(0, 3), delay=rng.randint(0, 1))
    link = Link("fast", "slow", latency_ns=1, bandwidth=1e9)
    problem = problem_of(builder.build(), HardwareProfile("two", (Device("fast"), Device("slow")), (link,)))
    best = optimal_on_devices(problem)
    answer = UNTIL_DONE.solve(problem)
    assert (answer.plan.makespan, answer.proof.bound) == (best, best)
    # Copies that share the link may take longer than the plan says, never less.
    assert simulate(problem, UNTIL_DONE).makespan >= best


def best_within(problem: Problem, machines: int, capacity: int) -> int | None:
    """The least makespan within a memory capacity, by trying every start of every operator; None where there is none.

    A tensor is live from its producer's start to its last reader's end.
    """
    graph, durations = problem.graph, problem.durations()
    best = sum(durations) + 1

    def fits(starts: Sequence[int]) -> bool:
        ends = [start + took for start, took in zip(starts, durations, strict=True)]
        for now in starts:
            if sum(start <= now < end for start, end in zip(starts, ends, strict=True)) > machines:
                return False
            live = 0
            for tensor, size in enumerate(graph.tensor_bytes):
                maker = graph.tensor_producer[tensor]
                last = max((ends[op] for op in graph.tensor_consumers[tensor]), default=ends[maker])
                live += size if starts[maker] <= now < max(last, ends[maker]) else 0
            if live > capacity:
                return False
        return True

    def place(starts: list[int]) -> None:
        nonlocal best
        op = len(starts)
        if op == len(graph):
            length = max(start + took for start, took in zip(starts, durations, strict=True))
            best = length if fits(starts) and length < best else best
            return
        first = max((starts[before] + durations[before] for before in graph.pred[op]), default=0)
        for start in range(first, best - durations[op]):
            place([*starts, start])

    place([])
    return best if best <= sum(durations) else None


@pytest.mark.parametrize("seed", range(10))
def test_memory_of_one_device(seed: int) -> None:
    graph = random_graph(seed, 5, size=7)
    free = problem_of(graph, lanes(2))
    most = sum(graph.tensor_bytes)
    for capacity in (most, (2 * most) // 3, most // 2):
        device = Device("d0", streams=2, memory_capacity=capacity)
        problem = problem_of(graph, HardwareProfile("tight", (device,)))
        best = best_within(free, 2, capacity)
        if best is None:
            with pytest.raises(SchedulerError):
                UNTIL_DONE.solve(problem, "block")
            continue
        answer = UNTIL_DONE.solve(problem, "block")
        assert (answer.plan.makespan, answer.proof.bound, answer.proof.status) == (best, best, "optimal")
        for memory in ("block", "strict"):
            result = run(problem, UNTIL_DONE, memory=memory)
            assert (result.makespan, result.proved) == (best, answer.proof)
        assert UNTIL_DONE.solve(problem).proof.bound <= best


@pytest.mark.parametrize("seed", range(15))
def test_operators_that_take_no_time_run_as_planned(seed: int) -> None:
    rng = random.Random(seed)
    builder = GraphBuilder("instants", "tick")
    for number in range(14):
        builder.add_op(f"o{number}", duration=rng.choice((0, 0, 2, 3, 5, 7)))
        for before in range(number):
            if rng.random() < 0.15:
                builder.add_edge(f"o{before}", f"o{number}")
    problem = problem_of(builder.build(), lanes(2 + seed % 2))
    answer = UNTIL_DONE.solve(problem)
    assert answer.proof.status == "optimal"
    assert simulate(problem, UNTIL_DONE).makespan == answer.plan.makespan


# --- the contract ---------------------------------------------------------------------------------------------


def test_it_keeps_the_contract_on_the_zoo() -> None:
    small: Iterator[tuple[str, Problem]] = ((name, problem) for name, problem in zoo() if len(problem.graph) < 1000)
    assert check_scheduler(Optimal(), list(small)) > 20


def test_resident_kernels_are_machines() -> None:
    device = Device("d0", streams=4, max_resident_kernels=2)
    builder = GraphBuilder("five", "tick")
    for number, duration in enumerate((3, 3, 2, 2, 2)):
        builder.add_op(f"o{number}", duration=duration)
    problem = problem_of(builder.build(), HardwareProfile("few", (device,)))
    assert simulate(problem, Optimal()).makespan == 6  # longest first takes 7


def test_time_is_counted_in_the_largest_unit_and_that_sharpens_the_bound() -> None:
    builder = GraphBuilder("forty", "tick")
    for number in range(40):
        builder.add_op(f"o{number}", duration=3)
    problem = problem_of(builder.build(), lanes(3))
    assert times_of(problem).unit == 3
    assert Optimal(work=1).solve(problem).proof.bound == 42
    assert alike(problem) == [list(range(40))]


def test_operators_that_exclude_each_other_for_different_reasons_are_found() -> None:
    builder = GraphBuilder("triangle", "tick")
    for name, demands in (("ab", {"a": 2, "b": 2}), ("bc", {"b": 2, "c": 2}), ("ca", {"c": 2, "a": 2}), ("free", {})):
        builder.add_op(name, duration=5, demands=demands)
    device = Device("d0", streams=4, resources={"a": 3, "b": 3, "c": 3})
    problem = problem_of(builder.build(), HardwareProfile("three", (device,)))
    ids = sorted(problem.graph.id_of(name) for name in ("ab", "bc", "ca"))
    assert cliques(problem, 0) == [ids]
    assert Optimal().solve(problem).proof.bound == 15


def hard_problem() -> Problem:
    """Takes a solver long: three scarce resources, little precedence."""
    rng = random.Random(7)
    builder = GraphBuilder("hard", "tick")
    for number in range(60):
        builder.add_op(f"o{number}", duration=rng.randint(5, 50), demands={key: rng.randint(0, 5) for key in "abc"})
        for before in range(number):
            if rng.random() < 0.03:
                builder.add_edge(f"o{before}", f"o{number}")
    device = Device("d0", streams=60, resources={"a": 11, "b": 11, "c": 11})
    return problem_of(builder.build(), HardwareProfile("scarce", (device,)))


def test_a_limit_of_work_gives_the_same_answer_again() -> None:
    first, again = (Optimal(work=0.05).solve(hard_problem()) for _ in range(2))
    assert first == again
    assert first.proof.bound <= first.plan.makespan
    assert simulate(hard_problem(), Optimal(work=0.05)).makespan <= first.plan.makespan


@pytest.mark.parametrize("limit", [Optimal(time=0.001), Optimal(work=1e-9)])
def test_with_no_time_at_all_the_starting_plan_remains(limit: Optimal) -> None:
    answer = limit.solve(hard_problem())
    assert answer.proof.status == "feasible"
    assert answer.plan.makespan == answer.proof.planned


def test_progress_is_told_and_ends() -> None:
    told: list[Searched | None] = []
    with listening(told.append):
        answer = Optimal(work=0.05).solve(hard_problem())
    steps = [step for step in told if step is not None]
    assert told[-1] is None
    assert [step.best for step in steps][-1] == answer.plan.makespan
    assert all(step.bound <= answer.proof.bound for step in steps)


def test_an_interruption_takes_the_best_so_far() -> None:
    script = (
        "import sys\nfrom tests.unit.test_exact import *\n"
        "def hear(step):\n    print('searching' if step else 'over', flush=True)\n"
        "with listening(hear):\n    print(Optimal(time=120).solve(hard_problem()).proof.status, flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "searching\n"
    time.sleep(0.3)  # the solver begins, and may still simplify the model
    child.send_signal(signal.SIGINT)
    rest, _ = child.communicate(timeout=60)
    assert rest.splitlines()[-2:] == ["over", "feasible"]


# --- errors ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time": 0.0}, "time must be a positive number of seconds, got 0.0"),
        ({"time": float("nan")}, "time must be a positive number of seconds, got nan"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number from 0 to 2147483647, got -1"),
        ({"work": -0.5}, "work must be 0, or a positive amount of work, got -0.5"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(SchedulerError, match=message):
        Optimal(**parameters)  # type: ignore[arg-type]


def test_without_the_solver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python.cp_model", None)
    with pytest.raises(MissingExtraError, match=r"needs the package 'ortools': pip install 'simsched\[exact\]'"):
        Optimal().start(problem_of(random_graph(1, 3), lanes(2)))
    done = invoke("run", "residual", "--hardware", "lanes:2", "--scheduler", "optimal")
    assert done.exit_code == 2
    assert "pip install 'simsched[exact]'" in done.stderr


def test_what_no_order_can_do_is_said_to_be_proved() -> None:
    builder = GraphBuilder("tight", "tick")
    for name in ("a", "b", "join"):
        builder.add_op(name, duration=1)
    for name in ("a", "b"):
        builder.add_edge(name, "join", bytes=6)
    device = Device("d0", streams=2, memory_capacity=11)
    problem = problem_of(builder.build(), HardwareProfile("small", (device,)))
    with pytest.raises(SchedulerError, match=r"no schedule exists within 11 B of memory.*that is proved"):
        Optimal().solve(problem, "block")


# --- proofs in comparisons ------------------------------------------------------------------------------------


def test_a_proof_bounds_the_whole_comparison() -> None:
    comparison = compare("graham", "greedy_ready:list,optimal", "lanes:2")
    listed, best = comparison.results
    assert listed.proved is None
    assert best.proved is not None
    assert comparison.proved_ns == best.proved.bound == best.makespan
    assert [bound.value for bound in comparison.bounds() if bound.name == "proved"] == [best.makespan]


def test_a_proof_of_estimates_says_nothing_of_other_durations() -> None:
    comparison = compare("graham", "optimal", "lanes:2", noise=0.3, seed=1)
    assert comparison.proved_ns is None
    assert comparison.results[0].proved is None


def test_the_table_and_the_json_measure_from_the_optimum() -> None:
    words = ("compare", "graham_minus_one", "--hardware", "lanes:3", "--schedulers", "greedy_ready:list,optimal")
    assert "gap to optimum" in invoke(*words).stdout
    (found,) = objects(*words)
    listed, best = found["runs"]
    assert best["proved"] == {"bound_ns": best["makespan_ns"], "status": "optimal", "planned_ns": best["makespan_ns"]}
    assert "proved" not in listed
    assert listed["lower_bound_ns"] == best["makespan_ns"]
    assert listed["gap"] == round(listed["makespan_ns"] / best["makespan_ns"] - 1, 6)
