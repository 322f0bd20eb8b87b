"""The portfolio: the best member by simulation on the estimates, whatever becomes of the others."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import simsched
from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError, SimschedError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes, procs
from simsched.noise import actual_durations, parse_noise
from simsched.portfolio import MEMBERS, Choosing, Portfolio, split_members
from simsched.problem import Problem
from simsched.schedulers.base import Policy
from simsched.schedulers.registry import make_scheduler, scheduler_spec
from simsched.testing import check_scheduler
from tests.builders import problem_of, random_graph, small_gpu


@dataclass(frozen=True)
class Crashing:
    """A scheduler with a bug."""

    def start(self, problem: Problem) -> Policy:
        raise ValueError(f"cannot do {problem.graph.name}")


@dataclass(frozen=True)
class Idle:
    """A scheduler that never dispatches."""

    def start(self, problem: Problem) -> Policy:
        del problem
        return lambda view: ()


CRASHING = "tests.unit.test_portfolio:Crashing"
IDLE = "tests.unit.test_portfolio:Idle"


@pytest.mark.parametrize("seed", range(4))
def test_it_is_as_good_as_its_best_member(seed: int) -> None:
    for hardware in (lanes(3), procs(3), small_gpu()):
        graph = random_graph(
            seed, 30, sizes=(), delays=(0, 5, 11), demands={"sms": 3} if hardware.name == "small_gpu" else None
        )
        problem = problem_of(graph, hardware)
        best = min(simulate(problem, make_scheduler(spec)).makespan for spec in split_members(MEMBERS))
        trace = simulate(problem, Portfolio())
        assert trace.makespan == best
        assert check_trace(problem, trace) == []


def test_of_equal_members_the_first_is_run() -> None:
    problem = problem_of(random_graph(0, 1, durations=(7,)), lanes(2))
    assert Portfolio("heft+critical_path").choose(problem).spec == "heft"
    assert Portfolio("critical_path + heft").choose(problem).spec == "critical_path"


def test_it_chooses_by_the_estimates_and_runs_with_what_comes() -> None:
    problem = problem_of(random_graph(3, 40, durations=(3, 5, 7, 11)), lanes(3))
    actual = actual_durations(problem, parse_noise("lognormal(0.4)"), 1)
    chosen = Portfolio().choose(problem)
    ran = simulate(problem, Portfolio(), actual=actual)
    alone = simulate(problem, make_scheduler(chosen.spec), actual=actual)
    assert list(ran.start) == list(alone.start)


def test_members_that_fail_are_passed_over() -> None:
    problem = problem_of(random_graph(1, 12), lanes(2))
    portfolio = Portfolio(f"{CRASHING}+{IDLE}+critical_path")
    crashed, idle, able = portfolio.trials(problem)
    assert crashed.makespan is None
    assert "cannot do random1" in crashed.failure
    assert idle.makespan is None
    assert able.makespan == simulate(problem, portfolio).makespan


def test_where_all_fail_each_says_why() -> None:
    problem = problem_of(random_graph(1, 12), lanes(2))
    with pytest.raises(SchedulerError, match=r"no member can be carried out .*Crashing.*cannot do.*Idle") as caught:
        simulate(problem, Portfolio(f"{CRASHING}+{IDLE}"))
    assert isinstance(caught.value, SimschedError)


def test_with_little_memory_it_takes_a_member_that_gets_through() -> None:
    # Two producers of 3 bytes and what reads them: side by side neither pair can go on within 6. One after the other
    # they take 5 + 5 + 5 + 5 + 1; the end of the first, which leaves 3 bytes, runs beside the second producer.
    builder = GraphBuilder("tight", "tick")
    for name in ("a", "b"):
        builder.add_tensor(f"{name}1", bytes=3)
        builder.add_tensor(f"{name}2", bytes=3)
        builder.add_op(f"{name}_make", duration=5, outputs=[f"{name}1"])
        builder.add_op(f"{name}_use", duration=5, inputs=[f"{name}1"], outputs=[f"{name}2"])
        builder.add_op(f"{name}_end", duration=1, inputs=[f"{name}2"])
    problem = problem_of(builder.build(), small_gpu(capacity=6))
    portfolio = Portfolio("greedy_ready+memory_aware")
    assert [trial.makespan is None for trial in portfolio.trials(problem, "block")] == [True, False]
    assert portfolio.choose(problem).spec == "greedy_ready"
    assert simulate(problem, portfolio, memory="block").makespan == 21


def test_it_says_what_it_chose() -> None:
    problem = problem_of(random_graph(1, 12), lanes(2))
    policy = Portfolio("heft").start(problem)
    assert isinstance(policy, Choosing)
    assert policy.chosen is None
    assert simsched.run(problem, "portfolio").makespan == simulate(problem, Portfolio()).makespan


def test_the_contract_on_the_zoo() -> None:
    assert check_scheduler(Portfolio("critical_path+heft+anytime(schedules=20)")) > 20


def test_specs() -> None:
    assert make_scheduler("portfolio") == Portfolio()
    made = make_scheduler("portfolio(members=heft+anytime(schedules=5, seed=2))")
    assert made == Portfolio("heft+anytime(schedules=5, seed=2)")
    assert make_scheduler(scheduler_spec(made)) == made
    with pytest.raises(SchedulerError, match="members is empty"):
        Portfolio(" + ")
    with pytest.raises(UnknownNameError, match="heff"):
        Portfolio("heff")
