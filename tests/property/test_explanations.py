"""Every nanosecond of every operator has a reason, and the reason is true: looked up instant by instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import assume, given
from hypothesis import strategies as st

from simsched.analysis.breakdown import chain_breakdown, path_breakdown
from simsched.analysis.critical import realised_path
from simsched.analysis.explain import Explanation, Part
from simsched.analysis.liveness import sequence_liveness
from simsched.analysis.usage import live_tensors
from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.graph.model import Graph, OpId
from simsched.hardware import lanes
from simsched.noise import actual_durations, parse_noise
from simsched.problem import Problem
from simsched.result import Result
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.registry import make_scheduler
from tests.builders import problem_of, small_gpu, with_memory
from tests.strategies import graphs, problems


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


def check(result: Result) -> None:
    story = Explanation(result)
    for op, end in enumerate(result.trace.end):
        reached = 0
        for part in story.parts(op):
            assert part.start == reached < part.end
            assert (part.kind == "run") == (part.start >= result.trace.start[op])
            reached = part.end
            assert part.reason != "unknown"
            CHECKS.get(part.reason, nothing)(story, op, part)
        assert reached == end
        assert story.waited(op) == sum(p.length for p in story.waits(op) if p.reason != "dependency")
    for rows in (path_breakdown(story), chain_breakdown(story)):
        assert sum(row.time for row in rows) == result.makespan
    on_path = Counter[str]()
    for segment in realised_path(result.problem, result.trace):
        on_path[segment.kind] += segment.end - segment.start
    by_kind = Counter[str]()
    for row in path_breakdown(story):
        by_kind[row.what if row.kind == "wait" else "operator"] += row.time
    assert +by_kind == +on_path


# --- what is true of each reason ----------------------------------------------------------------------------------


def nothing(story: Explanation, op: OpId, part: Part) -> None:
    del story, op, part


def dependency(story: Explanation, op: OpId, part: Part) -> None:
    preds, end = story.run.problem.graph.pred[op], story.run.trace.end
    assert part.culprit in preds
    assert end[part.culprit] == part.end == max(end[before] for before in preds)


def transfer(story: Explanation, op: OpId, part: Part) -> None:
    moves = [move for move in story.run.trace.transfers if move.target == op]
    assert part.end == max(move.end for move in moves)
    assert part.culprit in [move.source for move in moves if move.end == part.end]


def stream(story: Explanation, op: OpId, part: Part) -> None:
    trace = story.run.trace
    order = [other for other in trace.launch_order if trace.stream[other] == trace.stream[op]]
    ahead = [other for other in order[: order.index(op)] if trace.end[other] > part.start]
    assert (part.culprit, part.end, part.ahead) == (ahead[-1], trace.end[ahead[-1]], len(ahead))


def queue(story: Explanation, op: OpId, part: Part) -> None:
    trace, head = story.run.trace, part.culprit
    assert head is not None
    assert device_of(story, head) == device_of(story, op)
    assert max(trace.dispatch[head], trace.ready[head]) <= part.start
    assert trace.start[head] >= part.end
    for time in range(part.start, part.end):
        assert short_of(story, head, device_of(story, op), time)
    assert {short.resource for short in part.shortages} == short_of(story, head, device_of(story, op), part.start)


def resource(story: Explanation, op: OpId, part: Part) -> None:
    device = device_of(story, op)
    for time in range(part.start, part.end):
        now = short_of(story, op, device, time) - {"memory"}
        assert {short.resource for short in part.shortages} == now
    held = dict(story.holders(part))
    (first, *_) = part.shortages
    if first.resource != "resident kernels":
        capacity = story.run.problem.devices[device].resources[first.resource]
        assert capacity - sum(held.values()) == first.free
    assert 0 < first.missing <= sum(held.values())
    assert all(story.run.trace.start[holder] <= part.start < story.run.trace.end[holder] for holder in held)
    if part.culprit is not None:
        assert story.run.trace.end[part.culprit] == part.end
    if part.end == story.run.trace.start[op]:
        assert part.culprit is not None


def memory(story: Explanation, op: OpId, part: Part) -> None:
    if part.kind == "run":
        return
    device = device_of(story, op)
    for time in range(part.start, part.end):
        assert "memory" in short_of(story, op, device, time)
    (short,) = part.shortages
    assert short.missing > 0
    if all(end > start for start, end in zip(story.run.trace.start, story.run.trace.end, strict=True)):
        running = story.timelines.running(device, part.start)
        spaces = sum(story.run.problem.workspace(other, device) for other in running)
        tensors = live_tensors(story.run, device, part.start)
        assert sum(size for _, size in tensors) + spaces == story.run.problem.devices[device].capacity - short.free
        assert list(story.tensors(part)) == tensors[:5]
        assert part.culprit is not None


def undispatched(story: Explanation, op: OpId, part: Part) -> None:
    """The reason holds at every instant of the part: which streams are idle, and what is short on their devices."""
    trace, problem = story.run.trace, story.run.problem
    assert trace.dispatch[op] >= part.end
    for time in range(part.start, part.end):
        taken = {trace.stream[o] for o in range(len(trace)) if trace.dispatch[o] <= time < trace.end[o]}
        idle = [d for d in problem.allowed_devices(op) if not taken.issuperset(problem.device_streams[d])]
        short = [short_of(story, op, device, time) for device in idle]
        expected = "no_stream" if not idle else "passed_over" if all(short) else "held"
        assert part.reason == expected
        if expected == "passed_over":
            assert {item.resource for item in part.shortages} == short[idle.index(part.device)]


CHECKS = {
    "dependency": dependency,
    "transfer": transfer,
    "stream": stream,
    "queue": queue,
    "resource": resource,
    "memory": memory,
    "no_stream": undispatched,
    "passed_over": undispatched,
    "held": undispatched,
}


def device_of(story: Explanation, op: OpId) -> int:
    return story.run.problem.stream_device[story.run.trace.stream[op]]


def short_of(story: Explanation, op: OpId, device: int, time: int) -> set[str]:
    """What an operator would lack at an instant, from the operators that run through it."""
    problem, trace = story.run.problem, story.run.trace
    described = problem.devices[device]
    running = [
        other
        for other in range(len(trace))
        if trace.start[other] <= time < trace.end[other] and device_of(story, other) == device
    ]
    found = set()
    for name, units in problem.demand(op, device).items():
        used = sum(problem.demand(other, device).get(name, 0) for other in running)
        if units and units + used > described.resources[name]:
            found.add(name)
    limit = described.max_resident_kernels
    if limit is not None and limit < described.streams and len(running) >= limit:
        found.add("resident kernels")
    if story.run.memory != "unbounded" and described.capacity is not None:
        live = dict(trace.memory.curve(device))
        now = max((when for when in live if when <= time), default=None)
        need = story.timelines.bytes_needed(op, device, time)
        if need + (0 if now is None else live[now]) > described.capacity:
            found.add("memory")
    return found


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
