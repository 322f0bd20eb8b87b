"""What holds for every run of every scheduler: judged by the referee, by second implementations, by repetition."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import sys
from array import array
from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simsched.analysis.bounds import bounds
from simsched.analysis.check import check_trace
from simsched.analysis.critical import realised_path
from simsched.analysis.liveness import sequence_liveness
from simsched.analysis.metrics import metrics
from simsched.engine.simulator import simulate
from simsched.errors import OutOfMemoryError, SchedulerError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.graph.ranks import b_level
from simsched.hardware import lanes
from simsched.noise import actual_durations, parse_noise
from simsched.problem import Problem
from simsched.result import Result
from simsched.schedulers.registry import make_scheduler
from simsched.trace import Trace
from tests.builders import problem_of, random_graph, rigid, small_gpu, with_memory, zoo
from tests.exhaustive import list_starts
from tests.known_answers import REPOSITORY
from tests.strategies import graphs, problems
from tests.traces import changed

GREEDY = ("critical_path", "greedy_ready:fifo", "greedy_ready:spt", "greedy_ready:lpt")
GENERAL = ("serial", "topological", *GREEDY, "memory_aware", "memory_aware(slack=0.5)", "random:3", "random:11")
PIPELINES = ("pipeline", "pipeline:gpipe")

schedulers = st.sampled_from(GENERAL)


@given(problems(12), schedulers)
def test_every_run_passes_the_referee_above_every_lower_bound(problem: Problem, spec: str):
    trace = simulate(problem, make_scheduler(spec))
    assert check_trace(problem, trace) == []
    for bound in bounds(problem):
        assert bound.kind != "lower" or bound.value <= trace.makespan, bound


def outcome(problem: Problem, spec: str, **choices) -> Trace | SchedulerError:
    """Return the run, or why it could not be carried out."""
    try:
        return simulate(problem, make_scheduler(spec), **choices)
    except SchedulerError as error:
        return error


@given(problems(12), st.sampled_from(PIPELINES))
def test_a_pipeline_passes_the_referee_or_says_why_it_cannot_run(problem: Problem, spec: str):
    found = outcome(problem, spec)
    if isinstance(found, Trace):
        assert check_trace(problem, found) == []
    else:
        assert type(found) is SchedulerError
        assert "pipeline" in str(found)


@given(problems(12), schedulers, st.sampled_from(("block", "strict")), st.sampled_from((17, 40, 90, 200)))
def test_a_run_within_a_capacity_passes_or_runs_out_of_memory(problem: Problem, spec: str, memory, capacity: int):
    tight = problem_of(problem.graph, with_memory(problem.hardware, capacity))
    found = outcome(tight, spec, memory=memory)
    if isinstance(found, Trace):
        assert check_trace(tight, found, memory=memory) == []
        assert all(found.memory.peak(device) <= capacity for device in range(len(tight.devices)))
    else:
        assert isinstance(found, OutOfMemoryError)
        assert found.needed > capacity


@given(problems(10), schedulers, st.integers(0, 5))
def test_a_run_with_noise_passes_with_its_actual_durations(problem: Problem, spec: str, seed: int):
    actual = actual_durations(problem, parse_noise("lognormal(0.5)"), seed)
    trace = simulate(problem, make_scheduler(spec), actual=actual)
    assert check_trace(problem, trace, actual=actual) == []
    for bound in bounds(problem, actual=actual):
        assert bound.kind != "lower" or bound.value <= trace.makespan, bound


@given(graphs(12), st.integers(1, 4), st.sampled_from(GREEDY))
def test_greedy_schedules_stay_below_graham_and_brent(graph: Graph, machines: int, spec: str):
    problem = problem_of(graph, lanes(machines))
    upper = next(bound for bound in bounds(problem) if bound.name == "graham_brent")
    assert simulate(problem, make_scheduler(spec)).makespan <= upper.value


def ranking(graph: Graph, spec: str) -> list[int]:
    keys = {
        "critical_path": [-level for level in b_level(graph, graph.durations)],
        "greedy_ready:spt": graph.durations,
        "greedy_ready:lpt": [-duration for duration in graph.durations],
    }
    return sorted(range(len(graph)), key=lambda op: (keys[spec][op], op))


@given(
    graphs(14, durations=(1, 2, 3, 5, 7), tensors=False),
    st.integers(1, 4),
    st.sampled_from(("critical_path", "greedy_ready:spt", "greedy_ready:lpt")),
)
def test_list_scheduling_agrees_with_a_second_implementation(graph: Graph, machines: int, spec: str):
    trace = simulate(problem_of(graph, lanes(machines)), make_scheduler(spec))
    starts = list_starts(graph, graph.durations, machines, ranking(graph, spec))
    assert list(trace.start) == [starts[op] for op in range(len(graph))]


# --- the same inputs, the same bytes --------------------------------------------------------------------------


@given(problems(10), schedulers)
def test_two_runs_are_equal(problem: Problem, spec: str):
    first, second = (simulate(problem, make_scheduler(spec)).to_json(problem) for _ in range(2))
    assert first == second


def columns(trace: Trace) -> tuple[object, ...]:
    times = (trace.stream, trace.dispatch, trace.ready, trace.start, trace.end, trace.launch_order)
    return (*map(list, times), trace.waits, trace.transfers, list(trace.memory.live))


@given(problems(10), schedulers)
def test_names_of_operators_and_tensors_change_nothing(problem: Problem, spec: str):
    graph = problem.graph
    renamed = dataclasses.replace(
        graph,
        names=[hashlib.sha256(name.encode()).hexdigest() for name in graph.names],
        tensor_names=[
            f"{len(graph.tensor_names) - number} of {name}" for number, name in enumerate(graph.tensor_names)
        ],
    )
    plain = simulate(problem, make_scheduler(spec))
    other = simulate(problem_of(renamed, problem.hardware), make_scheduler(spec))
    assert columns(plain) == columns(other)


HASHES = """
import hashlib
from simsched.engine.simulator import simulate
from simsched.schedulers.registry import make_scheduler
from tests.builders import zoo
for name, problem in zoo(deep=20, wide=9).items():
    for spec in {specs!r}:
        text = simulate(problem, make_scheduler(spec), explain=True).to_json(problem)
        print(name, spec, hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_hash_seed_changes_nothing():
    outputs = set()
    for seed in ("0", "1", "20"):
        command = [sys.executable, "-c", HASHES.format(specs=GENERAL)]
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)}
        done = subprocess.run(
            command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == len(zoo()) * len(GENERAL)


def with_ghost(graph: Graph, *, first: bool) -> Graph:
    """Add an isolated operator that takes no time, before or after all others."""
    builder = GraphBuilder(graph.name, time_unit="tick")
    if first:
        builder.add_op("ghost", duration=0)
    for tensor, name in enumerate(graph.tensor_names):
        kind = graph.tensor_kinds[tensor]
        builder.add_tensor(name, bytes=graph.tensor_bytes[tensor], kind=kind)
    for op, name in enumerate(graph.names):
        builder.add_op(
            name,
            duration=graph.durations[op],
            inputs=[graph.tensor_names[tensor] for tensor in graph.inputs[op]],
            outputs=[graph.tensor_names[tensor] for tensor in graph.outputs[op]],
            demands=graph.demands.get(op),
            workspace=graph.workspace.get(op),
            after=[graph.names[before] for before in graph.pred[op]],
        )
    if not first:
        builder.add_op("ghost", duration=0)
    return builder.build()


ORDERED = tuple(spec for spec in GENERAL if not spec.startswith("random"))


@given(problems(10, devices=1), st.sampled_from(ORDERED), st.booleans())
def test_an_isolated_operator_of_no_time_changes_nothing(problem: Problem, spec: str, first: bool):
    haunted = problem_of(with_ghost(problem.graph, first=first), problem.hardware)
    plain, other = (simulate(case, make_scheduler(spec)) for case in (problem, haunted))
    if all(problem.graph.durations):
        ids = range(1, len(haunted.graph)) if first else range(len(problem.graph))
        assert [other.start[op] for op in ids] == list(plain.start)
    assert other.makespan == plain.makespan
    found, haunting = ({bound.name: bound.value for bound in bounds(case)} for case in (problem, haunted))
    if len(problem.graph):
        assert haunting == found


# --- memory ---------------------------------------------------------------------------------------------------


@given(graphs(12), st.sampled_from(("serial", "topological", "critical_path", "memory_aware")))
def test_the_peak_on_one_lane_is_that_of_the_order(graph: Graph, spec: str):
    problem = problem_of(graph, lanes(1))
    trace = simulate(problem, make_scheduler(spec))
    liveness = sequence_liveness(problem, trace.launch_order)
    steps = trace.memory
    assert steps.peak(0) == liveness.peak
    assert (steps.live[-1] if steps.live else 0) == liveness.final
    assert all(live >= 0 for live in steps.live)


@given(graphs(12, durations=(1, 2, 3, 5)))
def test_the_curve_on_one_lane_is_that_of_the_order(graph: Graph):
    problem = problem_of(graph, lanes(1))
    trace = simulate(problem, make_scheduler("serial"))
    curve = dict(trace.memory.curve(0))
    live = sequence_liveness(problem, trace.launch_order).live
    held = sequence_liveness(problem).persistent
    for op, expected in zip(trace.launch_order, live, strict=True):
        held = curve.get(trace.start[op], held)
        assert held == expected


@pytest.mark.parametrize("seed", range(8))
def test_memory_aware_keeps_to_the_peak_of_a_sequential_order(seed: int):
    graph = random_graph(seed, 40, workspace=(0, 23), durations=(1, 3, 7))
    problem = problem_of(graph, lanes(3))
    trace = simulate(problem, make_scheduler("memory_aware"))
    assert trace.memory.peak(0) <= sequence_liveness(problem).peak


# --- figures --------------------------------------------------------------------------------------------------


@given(problems(12), schedulers)
def test_the_realised_path_fills_the_run(problem: Problem, spec: str):
    trace = simulate(problem, make_scheduler(spec))
    reached = 0
    for segment in realised_path(problem, trace):
        assert segment.start == reached
        reached = segment.end
        if segment.kind == "operator":
            assert (segment.start, segment.end) == (trace.start[segment.op], trace.end[segment.op])
    assert reached == trace.makespan


@given(problems(12, devices=1), schedulers)
def test_figures_are_consistent(problem: Problem, spec: str):
    trace = simulate(problem, make_scheduler(spec))
    figures = metrics(Result(problem, spec, trace))
    work = sum(problem.durations(0))
    assert figures.busy == work == figures.serial
    assert figures.busy + figures.idle == trace.makespan * len(figures.streams)
    assert 0 <= figures.utilisation <= 1
    assert 1 / max(len(figures.streams), 1) - 1e-12 <= figures.balance <= 1
    assert figures.gap >= 0
    assert figures.speedup <= figures.machines + 1e-12
    for use in figures.resources:
        assert use.peak <= use.capacity
        assert use.utilisation <= 1
    for device in figures.memory:
        listed = sum(size for _, size in device.tensors) + sum(problem.workspace(op) for op in device.operators)
        if not device.others and all(problem.durations(0)):
            assert listed == device.peak


# --- the referee is not easily fooled ------------------------------------------------------------------------------


@given(problems(9), schedulers, st.data())
def test_a_shifted_operator_is_caught(problem: Problem, spec: str, data: st.DataObject):
    trace = simulate(problem, make_scheduler(spec))
    assume(len(trace))
    op = data.draw(st.integers(0, len(trace) - 1))
    shift = data.draw(st.sampled_from((-5, -1, 1, 7)))
    for columns_ in (("start",), ("end",), ("start", "end"), ("ready",)):
        rows = {name: {op: getattr(trace, name)[op] + shift} for name in columns_}
        found = check_trace(problem, changed(trace, **rows))
        assert any(repr(problem.graph.names[op]) in text for text in found), (columns_, found)


@given(problems(9), schedulers, st.data())
def test_a_false_memory_step_is_caught(problem: Problem, spec: str, data: st.DataObject):
    trace = simulate(problem, make_scheduler(spec))
    steps = trace.memory
    assume(len(steps))
    number = data.draw(st.integers(0, len(steps) - 1))
    live = array("q", steps.live)
    live[number] += data.draw(st.sampled_from((-1000, 1000)))
    assert check_trace(problem, dataclasses.replace(trace, memory=dataclasses.replace(steps, live=live))) != []


@given(problems(9), schedulers, st.data())
def test_a_missing_or_false_wait_or_transfer_is_caught(problem: Problem, spec: str, data: st.DataObject):
    trace = simulate(problem, make_scheduler(spec))
    assume(trace.waits or trace.transfers)
    for name in ("waits", "transfers"):
        rows = getattr(trace, name)
        if rows:
            number = data.draw(st.integers(0, len(rows) - 1))
            rest = rows[:number] + rows[number + 1 :]
            late = dataclasses.replace(rows[number], end=rows[number].end + 1)
            assert check_trace(problem, dataclasses.replace(trace, **{name: rest})) != []
            assert check_trace(problem, dataclasses.replace(trace, **{name: (*rest, late)})) != []


# --- larger ---------------------------------------------------------------------------------------------------


def larger() -> Iterator[tuple[str, Problem, str]]:
    tensors = random_graph(21, 700, workspace=(0, 0, 23))
    demanding = random_graph(22, 700, demands={"cores": 4, "ports": 2}, durations=(1, 2, 3, 5, 7))
    kernels = random_graph(23, 700, demands={"sms": 6}, durations=(2, 3, 5, 7))
    yield "tensors", problem_of(tensors, lanes(4)), "unbounded"
    peak = sequence_liveness(problem_of(tensors, lanes(1))).peak
    yield "tight", problem_of(tensors, with_memory(lanes(4), peak)), "block"
    yield "rigid", problem_of(demanding, rigid(6, cores=4, ports=2)), "unbounded"
    yield "kernels", problem_of(kernels, small_gpu(6, 5, resident=3)), "unbounded"


LARGER = {name: (problem, memory) for name, problem, memory in larger()}


@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("spec", GENERAL)
def test_longer_runs_pass(name: str, spec: str):
    problem, memory = LARGER[name]
    found = outcome(problem, spec, memory=memory)
    if isinstance(found, Trace):
        assert check_trace(problem, found, memory=memory) == []
    else:
        # Only a run within a memory limit may fail, and never one that heeds memory.
        assert isinstance(found, OutOfMemoryError)
        assert memory == "block"
        assert not spec.startswith(("memory_aware", "serial", "topological"))


@pytest.mark.parametrize("name", zoo(deep=50, wide=20))
@pytest.mark.parametrize("spec", GENERAL)
def test_the_zoo_passes(name: str, spec: str):
    problem = zoo(deep=50, wide=20)[name]
    trace = simulate(problem, make_scheduler(spec))
    assert check_trace(problem, trace) == []


@pytest.mark.parametrize("spec", [spec for spec in GENERAL if not spec.startswith("memory")])
def test_a_chain_of_many_operators_runs_and_is_checked_without_recursion(spec: str):
    problem = zoo(deep=20_000, wide=3)["deep on lanes:3"]
    trace = simulate(problem, make_scheduler(spec))
    assert trace.makespan == 20_000
    assert check_trace(problem, trace) == []
    assert len(realised_path(problem, trace)) == 20_000
