"""Every nanosecond of every operator has a reason, and the reason is true: looked up instant by instant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simsched.analysis.liveness import sequence_liveness
from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.graph.model import Graph
from simsched.hardware import lanes
from simsched.noise import actual_durations, parse_noise
from simsched.problem import Problem
from simsched.result import Result
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.registry import make_scheduler
from tests.builders import problem_of, small_gpu, with_memory
from tests.reference.cases import drawn_case
from tests.strategies import graphs, problems
from tests.true_reasons import check


@dataclass(frozen=True)
class Eager:
    """Everything at time 0, to the allowed streams in turn: then all waits are in streams and at devices."""

    def start(self, problem: Problem) -> Policy:
        todo = list(range(len(problem.graph)))

        def policy(view: View) -> Iterable[Dispatch]:
            for op in todo:
                streams = [s for device in problem.allowed_devices(op) for s in problem.device_streams[device]]
                yield Dispatch(op, streams[op % len(streams)])
            todo.clear()

        return policy


SPECS = ("serial", "topological", "critical_path", "greedy_ready:spt", "memory_aware", "random:5", "eager")
specs = st.sampled_from(SPECS)


def result_of(problem: Problem, spec: str, **choices) -> Result:
    scheduler = Eager() if spec == "eager" else make_scheduler(spec)
    trace = simulate(problem, scheduler, **choices)
    return Result(problem, spec, trace, choices.get("memory", "unbounded"), choices.get("actual"))


# --- runs ---------------------------------------------------------------------------------------------------------


@given(problems(10), specs)
def test_every_instant_has_a_true_reason(problem: Problem, spec: str):
    check(result_of(problem, spec))


@given(problems(10), specs, st.sampled_from(("block", "strict")), st.sampled_from((17, 40, 90)))
def test_every_instant_has_a_true_reason_where_memory_is_a_limit(
    problem: Problem, spec: str, memory: str, capacity: int
):
    tight = problem_of(problem.graph, with_memory(problem.hardware, capacity))
    try:
        result = result_of(tight, spec, memory=memory)
    except SchedulerError:
        assume(False)
    check(result)


@given(graphs(10, demands={"sms": 4}, durations=(1, 2, 3, 5, 7)), st.integers(2, 6), st.sampled_from((None, 2)))
def test_queues_of_a_crowded_gpu_have_true_heads(graph: Graph, streams: int, resident: int | None):
    check(result_of(problem_of(graph, small_gpu(4, streams, resident=resident)), "eager"))


@given(graphs(10, durations=(1, 2, 3, 5, 7)), st.integers(2, 4), st.sampled_from((0, 3, 10)))
def test_waits_for_memory_have_true_shortages(graph: Graph, streams: int, spare: int):
    peak = sequence_liveness(problem_of(graph, lanes(1))).peak
    tight = problem_of(graph, with_memory(lanes(streams), peak + spare))
    try:
        result = result_of(tight, "eager", memory="block")
    except SchedulerError:
        assume(False)
    check(result)


@given(problems(10), specs, st.integers(0, 3))
def test_durations_that_differ_from_the_estimates_are_explained_too(problem: Problem, spec: str, seed: int):
    check(result_of(problem, spec, actual=actual_durations(problem, parse_noise("lognormal(0.5)"), seed)))


@settings(max_examples=4 * settings.default.max_examples)
@given(st.integers(0, 10**6))
def test_all_that_operators_share_is_explained(seed: int):
    case = drawn_case(seed)
    try:
        trace = simulate(case.problem, case.scheduler, memory=case.memory, actual=case.actual)
    except SchedulerError:
        assume(False)
    check(Result(case.problem, "drawn", trace, case.memory, case.actual))
