from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import simsched
from simsched import GraphBuilder, compare, lanes, run
from simsched.cost.base import KernelCost
from simsched.errors import ConfigError, SchedulerError, TraceError, UnknownNameError
from simsched.graph.model import Graph
from simsched.noise import Noise, actual_durations
from simsched.problem import Problem, make_problem
from simsched.run import SCHEDULERS
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.listing import list_policy


def residual() -> Graph:
    builder = GraphBuilder("residual", time_unit="tick")
    for name, after in (
        ("Input", []), ("Conv1", ["Input"]), ("BN", ["Conv1"]), ("Conv2", ["Conv1"]), ("ReLU", ["Conv2"]),
        ("Add", ["BN", "ReLU"]), ("Output", ["Add"]),
    ):  # fmt: skip
        builder.add_op(name, duration=1, after=after)
    return builder.build()


def long(durations: Iterable[int]) -> Graph:
    builder = GraphBuilder("independent")
    for number, duration in enumerate(durations):
        builder.add_op(f"op{number}", duration=duration)
    return builder.build()


@dataclass(frozen=True)
class Crashing:
    """Fails in the place that it is told."""

    place: str = "start"

    def start(self, problem: Problem) -> Policy:
        if self.place == "start":
            raise RuntimeError("no plan")
        if self.place == "type":
            return None  # type: ignore[return-value]
        return self._generator if self.place == "generator" else self._call

    def _call(self, view: View) -> Iterable[tuple[int, int, str]]:
        raise ZeroDivisionError("division by zero")

    def _generator(self, view: View) -> Iterator[tuple[int, int, str]]:
        yield Dispatch(0, 0)
        raise KeyError("op")


@dataclass(frozen=True)
class Idle:
    def start(self, problem: Problem) -> Policy:
        return lambda view: ()


@dataclass(frozen=True)
class Generating:
    """A list scheduler whose policy is a generator, which reads its view between its answers."""

    def start(self, problem: Problem) -> Policy:
        inner = list_policy(problem, [0] * len(problem.graph))

        def policy(view: View) -> Iterator[tuple[int, int, str]]:
            for op, stream, reason in inner(view):
                assert view.now >= 0
                yield op, stream, reason

        return policy


def test_one_run_is_simulated_checked_and_labelled() -> None:
    result = run(residual(), "greedy_ready:spt", lanes(2))
    assert result.makespan == 6
    assert result.valid is True
    assert (result.written, result.scheduler) == ("greedy_ready:spt", "greedy_ready(rule=spt)")
    assert result.label == "greedy_ready:spt"
    assert result.actual is None
    assert result.scheduler_seconds > 0


def test_hardware_and_graphs_may_be_names() -> None:
    assert run("residual", "serial", "lanes:2").makespan == 7
    assert run("chain:5", "critical_path", "lanes:3").makespan == 5


def test_comparison_of_the_residual_example() -> None:
    comparison = compare("residual", ["serial", "critical_path", "greedy_ready"], "lanes:2")
    assert [result.makespan for result in comparison.results] == [7, 6, 6]
    assert comparison.valid
    assert compare("residual", "serial, critical_path", "lanes:2").order == ("serial", "critical_path")


def test_by_default_every_built_in_list_and_the_pipeline_are_compared_with_serial() -> None:
    comparison = compare("residual", hardware="lanes:2")
    assert comparison.order == SCHEDULERS
    assert SCHEDULERS[0] == "serial"


def test_objects_are_called_by_their_canonical_spec() -> None:
    result = run(residual(), Generating(), lanes(2))
    assert (result.written, result.label, result.makespan) == ("", "Generating", 6)


def test_a_generator_policy_is_timed_and_gives_the_same_run() -> None:
    plain, generated = run(residual(), "topological", lanes(1)), run(residual(), Generating(), lanes(1))
    assert list(generated.trace.start) == list(plain.trace.start)
    assert generated.scheduler_seconds > 0


def test_a_failing_scheduler_does_not_end_the_comparison() -> None:
    comparison = compare(residual(), ["serial", Idle(), Crashing("call"), "critical_path"], lanes(2))
    assert [result.label for result in comparison.results] == ["serial", "critical_path"]
    assert [failure.scheduler for failure in comparison.failures] == ["Idle", "Crashing(place=call)"]
    assert comparison.failures[0].message.startswith("SchedulerStalledError: ")
    assert comparison.failures[1].message == (
        "SchedulerError: scheduler 'Crashing(place=call)' crashed in its policy at 0 ns: "
        "ZeroDivisionError: division by zero"
    )
    assert not comparison.valid
    names = [run.scheduler for run in comparison.runs()]
    assert names == ["serial", "Idle", "Crashing(place=call)", "critical_path"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("start", "scheduler 'Crashing' crashed in start(problem): RuntimeError: no plan"),
        ("generator", "scheduler 'Crashing(place=generator)' crashed in its policy at 0 ns: KeyError: 'op'"),
        ("type", "scheduler 'Crashing(place=type)': start(problem) returned NoneType; expected a policy to call"),
    ],
)
def test_a_scheduler_that_crashes_is_named(place: str, message: str) -> None:
    with pytest.raises(SchedulerError) as caught:
        run(residual(), Crashing(place), lanes(2))
    assert str(caught.value) == message


def test_an_invalid_run_is_an_error_of_run_and_a_mark_in_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    def complain(problem: Problem, trace: Any, **settings: Any) -> list[str]:
        return ["BN starts too early"]

    monkeypatch.setattr("simsched.analysis.check.check_trace", complain)
    with pytest.raises(TraceError, match="BN starts too early"):
        run(residual(), "serial", lanes(2))
    (result,) = compare(residual(), ["serial"], lanes(2)).results
    assert result.valid is False
    assert result.violations == ("BN starts too early",)
    assert run(residual(), "serial", lanes(2), check=False).valid is None


def test_noise_is_what_happens_and_estimates_are_what_schedulers_see() -> None:
    graph = long([1000, 1000, 1000, 1000])
    problem = make_problem(graph, lanes(2))
    (actual,) = actual_durations(problem, Noise("uniform", 0.5), 4) or [[]]
    comparison = compare(problem, ["serial", "greedy_ready:lpt"], noise="uniform(0.5)", seed=4)
    for result in comparison.results:
        assert [end - start for start, end in zip(result.trace.start, result.trace.end, strict=True)] == actual
        assert result.valid is True
        assert (result.noise, result.seed) == ("uniform(0.5)", 4)
    assert comparison.results[0].makespan == sum(actual)
    # All estimates are equal, so longest-first goes by id, although operator 1 turns out to be another length.
    assert list(comparison.results[1].trace.launch_order) == [0, 1, 2, 3]


def test_a_problem_has_its_hardware_already() -> None:
    problem = make_problem(residual(), lanes(2))
    assert run(problem, "critical_path").makespan == 6
    with pytest.raises(ConfigError, match="a problem already has its hardware"):
        run(problem, "critical_path", "lanes:2")
    with pytest.raises(ConfigError, match="no hardware; write for example hardware='a100_sxm_80gb'"):
        run(residual(), "critical_path")


def test_unknown_names_are_answered_before_anything_runs() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'critical_path'"):
        compare(residual(), ["serial", "critical_pth"], lanes(2))
    with pytest.raises(ConfigError, match="'blok' is not a memory mode; did you mean 'block'"):
        run(residual(), "serial", lanes(2), memory="blok")  # type: ignore[arg-type]


def test_a_cost_model_is_a_plain_function() -> None:
    builder = GraphBuilder("costed")
    builder.add_op("a")
    builder.add_op("b", after=["a"])
    graph = builder.build()
    result = run(graph, "serial", lanes(1), cost_model=lambda graph, op, device: KernelCost(17 + op))
    assert result.makespan == 17 + 18


def test_public_names_are_these_functions() -> None:
    assert simsched.run is run
    assert simsched.compare is compare
