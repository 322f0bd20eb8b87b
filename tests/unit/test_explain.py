"""Reasons of waits and runs, on runs that were worked out by hand; one case for each reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simsched.analysis.breakdown import Row, chain_breakdown, dependency_chain, path_breakdown
from simsched.analysis.explain import Explanation, Part, explain
from simsched.analysis.timelines import Shortage
from simsched.cost.base import BoundBy, KernelCost
from simsched.errors import UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, lanes
from simsched.output.story import Story, longest_waits, main_part
from simsched.problem import Problem, make_problem
from simsched.result import Result
from simsched.run import run
from simsched.schedule import Schedule
from simsched.schedulers.follow import Follow
from simsched.trace import Trace, Wait
from tests.builders import linked_pair, problem_of, rigid, small_gpu, with_memory
from tests.traces import Row as TraceRow
from tests.traces import trace_of


def independent(*operators: tuple[str, int, int], resource: str = "cores") -> Graph:
    """Operators without dependencies: name, duration, units."""
    builder = GraphBuilder("independent", time_unit="tick")
    for name, duration, units in operators:
        builder.add_op(name, duration=duration, demands={resource: units} if units else None)
    return builder.build()


def chain() -> Graph:
    """a (2) and b (3), then c (5) that waits for both."""
    builder = GraphBuilder("chain", time_unit="tick")
    builder.add_op("a", duration=2)
    builder.add_op("b", duration=3)
    builder.add_op("c", duration=5, after=["a", "b"])
    return builder.build()


def by_hand(problem: Problem, rows: list[TraceRow], **rest: object) -> Explanation:
    return Explanation(Result(problem, "by_hand", trace_of(problem, rows, **rest)))


def told(story: Explanation, name: str) -> list[tuple[str, int, int, str | None]]:
    names = story.run.problem.graph.names
    parts = story.parts(names.index(name))
    return [
        (part.reason, part.start, part.end, None if part.culprit is None else names[part.culprit]) for part in parts
    ]


def words(story: Explanation, name: str) -> list[str]:
    op = story.run.problem.graph.names.index(name)
    return [Story(story).words(op, part) for part in story.parts(op)]


def static(problem: Problem, *streams: str, memory: str = "unbounded", launch: str = "") -> Explanation:
    """Follow a schedule; one text of names for each stream."""
    index = problem.graph.index
    orders = {number: tuple(index[name] for name in text.split()) for number, text in enumerate(streams) if text}
    schedule = Schedule(orders, tuple(index[name] for name in launch.split()) or None)
    return Explanation(run(problem, Follow(schedule), memory=memory))  # type: ignore[arg-type]


# --- before it was dispatched -------------------------------------------------------------------------------------


def test_the_predecessor_that_ended_last_is_named() -> None:
    story = by_hand(
        problem_of(chain(), lanes(2)),
        [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 0, 0, 0, 3), ("c", "d0/s0", 3, 3, 3, 8)],
    )
    assert told(story, "a") == [("explicit", 0, 2, None)]
    assert told(story, "c") == [("dependency", 0, 3, "b"), ("explicit", 3, 8, None)]
    assert words(story, "c") == [
        "waits for b, the last of its 2 predecessors to end",
        "runs; the graph states its duration",
    ]


def test_every_stream_is_taken_until_one_is_left_free() -> None:
    problem = problem_of(independent(("a", 2, 0), ("b", 5, 0), ("c", 7, 0)), lanes(2))
    story = by_hand(problem, [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 0, 0, 0, 5), ("c", "d0/s1", 5, 0, 5, 12)])
    assert told(story, "c") == [("no_stream", 0, 2, None), ("held", 2, 5, None), ("explicit", 5, 12, None)]
    assert [story.holders(part) for part in story.parts(2)] == [((0, 1), (1, 1)), (), ()]
    assert words(story, "c")[:2] == [
        "is not dispatched: every stream that may run it is taken, by a, b",
        "is not dispatched, though a stream and all that it needs are free: the policy holds it back",
    ]


def test_a_stream_with_a_queue_is_taken_though_it_runs_nothing() -> None:
    builder = GraphBuilder("queued", time_unit="tick")
    builder.add_op("a", duration=3)
    builder.add_op("b", duration=5, after=["a"])
    builder.add_op("c", duration=2)
    problem = problem_of(builder.build(), lanes(2))
    rows = [("a", "d0/s0", 0, 0, 0, 3), ("b", "d0/s1", 0, 3, 3, 8), ("c", "d0/s0", 3, 0, 3, 5)]
    assert told(by_hand(problem, rows), "c") == [("no_stream", 0, 3, None), ("explicit", 3, 5, None)]


def test_passed_over_names_the_units_that_were_short_and_who_held_them() -> None:
    problem = problem_of(independent(("a", 2, 2), ("b", 5, 1), ("c", 7, 3)), rigid(3, cores=4))
    story = by_hand(problem, [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 0, 0, 0, 5), ("c", "d0/s2", 3, 0, 3, 10)])
    first, second, _ = story.parts(2)
    assert first == Part("wait", "passed_over", 0, 2, None, 0, (Shortage("cores", 3, 1),))
    assert first.shortages[0].missing == 2
    assert story.holders(first) == ((0, 2), (1, 1))
    assert (second.reason, second.start, second.end) == ("held", 2, 3)
    assert words(story, "c")[0] == (
        "is not dispatched: a stream is free, but it needs 3 of d0/cores, 1 free, 2 short; held by a 2, b 1"
    )


def test_an_operator_that_may_run_on_one_device_looks_at_its_streams_alone() -> None:
    builder = GraphBuilder("placed", time_unit="tick")
    builder.add_op("a", duration=3, device="d0")
    builder.add_op("b", duration=5, device="d0")
    problem = problem_of(builder.build(), linked_pair(streams=1))
    rows = [("a", "d0/s0", 0, 0, 0, 3), ("b", "d0/s0", 3, 0, 3, 8)]
    assert told(by_hand(problem, rows), "b") == [("no_stream", 0, 3, None), ("explicit", 3, 8, None)]


def test_an_operator_that_may_run_anywhere_was_held_back_while_another_device_had_room() -> None:
    problem = problem_of(independent(("a", 3, 0), ("b", 5, 0)), linked_pair(streams=1))
    rows = [("a", "d0/s0", 0, 0, 0, 3), ("b", "d0/s0", 3, 0, 3, 8)]
    assert told(by_hand(problem, rows), "b") == [("held", 0, 3, None), ("explicit", 3, 8, None)]


# --- after it was dispatched --------------------------------------------------------------------------------------


def test_data_on_its_way_says_from_where_and_how_long() -> None:
    builder = GraphBuilder("pair", time_unit="tick")
    builder.add_op("u", duration=3, device="d0")
    builder.add_op("w", duration=5, device="d1")
    builder.add_op("v", duration=2, device="d1", after=["w"])
    builder.add_edge("u", "v", bytes=11)
    problem = problem_of(builder.build(), linked_pair(latency=7, bandwidth=1e9))
    story = Explanation(run(problem, "critical_path"))
    # v is dispatched when w ends at 5, and only then is the copy asked for: 7 of latency, 11 for the bytes.
    assert told(story, "v") == [
        ("dependency", 0, 5, "w"),
        ("copy_latency", 5, 12, "u"),
        ("copy", 12, 23, "u"),
        ("explicit", 23, 25, None),
    ]
    assert words(story, "v")[1:3] == [
        "waits for 11 B of u on the way from d0 to d1: the latency of the links",
        "waits for 11 B of u on the way from d0 to d1",
    ]
    assert [(row.what, row.time) for row in path_breakdown(story)] == [("op", 7), ("copy", 11), ("copy_latency", 7)]


def test_data_of_which_no_copy_is_recorded_is_on_its_way() -> None:
    builder = GraphBuilder("pair", time_unit="tick")
    builder.add_op("u", duration=3, device="d0")
    builder.add_op("v", duration=2, device="d1")
    builder.add_edge("u", "v", bytes=11)
    problem = problem_of(builder.build(), linked_pair(latency=7, bandwidth=1e9))
    story = by_hand(problem, [("u", "d0/s0", 0, 0, 0, 3), ("v", "d1/s0", 3, 3, 21, 23)])
    assert told(story, "v") == [("dependency", 0, 3, "u"), ("transfer", 3, 21, "u"), ("explicit", 21, 23, None)]
    assert words(story, "v")[1] == "waits for 11 B of u on the way from d0 to d1 (18, from 3 on)"


def test_a_stream_names_who_is_just_before_and_how_many_more() -> None:
    story = static(problem_of(independent(("a", 2, 0), ("b", 3, 0), ("c", 5, 0)), lanes(2)), "a b c")
    assert told(story, "c") == [("stream", 0, 5, "b"), ("explicit", 5, 10, None)]
    assert story.parts(2)[0].ahead == 2
    assert words(story, "b")[0] == "waits behind a on d0/s0"
    assert words(story, "c")[0] == "waits behind b and 1 before it on d0/s0"


def test_units_short_at_the_device_name_holders_and_who_gave_them_back() -> None:
    problem = problem_of(independent(("a", 2, 1), ("b", 5, 2), ("c", 7, 3)), rigid(3, cores=4))
    story = static(problem, "a", "b", "c")
    (part, _) = story.parts(2)
    # 3 of 4 are taken; when a ends 2 are free, and only when b ends is there enough.
    assert part == Part("wait", "resource", 0, 5, 1, 0, (Shortage("cores", 3, 1),))
    assert story.holders(part) == ((1, 2), (0, 1))
    assert words(story, "c")[0] == (
        "waits for the device until b ends: needs 3 of d0/cores, at first 1 free, 2 short; held at first by b 2, a 1"
    )


def test_a_wait_for_units_is_divided_where_another_resource_becomes_short() -> None:
    builder = GraphBuilder("two", time_unit="tick")
    builder.add_op("a", duration=2, demands={"cores": 4})
    builder.add_op("b", duration=5, demands={"ports": 2})
    builder.add_op("c", duration=7, demands={"cores": 1, "ports": 1})
    story = static(problem_of(builder.build(), rigid(3, cores=4, ports=2)), "a", "b", "c")
    assert [(part.start, part.end, part.culprit, part.shortages) for part in story.parts(2)[:2]] == [
        (0, 2, 0, (Shortage("cores", 1, 0), Shortage("ports", 1, 0))),
        (2, 5, 1, (Shortage("ports", 1, 0),)),
    ]


def test_a_limit_of_resident_kernels_is_a_resource() -> None:
    problem = problem_of(independent(("a", 3, 0), ("b", 5, 0)), small_gpu(4, 2, resident=1))
    story = static(problem, "a", "b")
    (part, _) = story.parts(1)
    assert part == Part("wait", "resource", 0, 3, 0, 0, (Shortage("resident kernels", 1, 0),))
    assert story.holders(part) == ((0, 1),)


def test_the_queue_of_a_device_names_each_head_in_turn() -> None:
    kernels = (("a", 5, 3), ("b", 7, 3), ("c", 3, 4), ("d", 2, 1))
    problem = problem_of(independent(*kernels, resource="sms"), small_gpu(4, 4))
    story = static(problem, "a", "b", "c", "d", launch="a b c d")
    # b is the head until a ends at 5, c until b ends at 12, d then waits for c's SMs itself, until 15.
    assert told(story, "b") == [("resource", 0, 5, "a"), ("explicit", 5, 12, None)]
    assert told(story, "c") == [("queue", 0, 5, "b"), ("resource", 5, 12, "b"), ("explicit", 12, 15, None)]
    assert told(story, "d") == [
        ("queue", 0, 5, "b"),
        ("queue", 5, 12, "c"),
        ("resource", 12, 15, "c"),
        ("explicit", 15, 17, None),
    ]
    assert words(story, "d")[:3] == [
        "waits in the queue of d0 behind b, which needs 3 of d0/sms, 1 free, 2 short; held by a 3",
        "waits in the queue of d0 behind c, which needs 4 of d0/sms, 1 free, 3 short; held by b 3",
        "waits for the device until c ends: needs 1 of d0/sms, 0 free, 1 short; held by c 4",
    ]


def memory_run() -> Explanation:
    """a makes 60 B, read by c, and b 30 B that nobody reads; d wants 50 B of 100."""
    builder = GraphBuilder("bytes", time_unit="tick")
    for name, size in (("ta", 60), ("tb", 30), ("td", 50)):
        builder.add_tensor(name, bytes=size)
    builder.add_op("a", duration=2, outputs=["ta"])
    builder.add_op("b", duration=3, outputs=["tb"])
    builder.add_op("c", duration=5, inputs=["ta"])
    builder.add_op("d", duration=7, outputs=["td"])
    problem = problem_of(builder.build(), with_memory(lanes(3), 100))
    return static(problem, "a c", "b", "d", memory="block")


def test_bytes_short_name_the_largest_tensors_and_who_freed_enough() -> None:
    story = memory_run()
    (part, _) = story.parts(3)
    # 90 B live; b's 30 B go at 3, which leaves 40 free; a's 60 B go when c ends at 7.
    assert part == Part("wait", "memory", 0, 7, 2, 0, (Shortage("memory", 50, 10),))
    assert part.shortages[0].missing == 40
    assert story.tensors(part) == (("ta", 60), ("tb", 30))
    assert story.holders(part) == ()
    assert words(story, "d")[0] == (
        "waits for the device until c ends: needs 50 B of d0/memory, at first 10 B free, 40 B short; "
        "largest tensors then ta 60 B, tb 30 B"
    )


def test_without_a_recorded_reason_the_reason_is_unknown() -> None:
    problem = problem_of(independent(("a", 3, 0)), lanes(1))
    late = by_hand(problem, [("a", "d0/s0", 0, 0, 11, 14)], waits=(Wait(0, "queue", 2, 5),))
    assert told(late, "a") == [
        ("unknown", 0, 2, None),
        ("unknown", 2, 5, None),
        ("unknown", 5, 11, None),
        ("explicit", 11, 14, None),
    ]
    assert words(late, "a")[0] == "waits, and no reason is recorded"


# --- while it ran -------------------------------------------------------------------------------------------------


def sides(duration: int, *, compute: int, memory: int, launch: int, bound: BoundBy) -> KernelCost:
    return KernelCost(duration, compute_ns=compute, memory_ns=memory, launch_ns=launch, bound=bound)


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        (sides(17, compute=7, memory=14, launch=3, bound="memory"), [("launch", 3), ("memory", 17)]),
        (sides(16, compute=13, memory=2, launch=3, bound="compute"), [("launch", 3), ("compute", 16)]),
        (sides(10, compute=2, memory=3, launch=7, bound="launch"), [("launch", 7), ("memory", 10)]),
        (sides(10, compute=3, memory=2, launch=7, bound="launch"), [("launch", 7), ("compute", 10)]),
        (KernelCost(11, bound="measured"), [("measured", 11)]),
        (KernelCost(0, bound="none"), []),
    ],
)
def test_a_run_is_a_launch_and_what_bounds_the_kernel(cost: KernelCost, expected: list[tuple[str, int]]) -> None:
    builder = GraphBuilder("one")
    builder.add_op("a", op_type="Conv", inputs=[builder.add_tensor("x", bytes=1, kind="input")])
    problem = make_problem(builder.build(), lanes(1), lambda *_: cost)
    story = Explanation(run(problem, "serial"))
    assert [(part.reason, part.end) for part in story.parts(0)] == expected


def test_noise_stretches_the_launch_in_proportion() -> None:
    builder = GraphBuilder("one")
    builder.add_op("a", op_type="Conv", inputs=[builder.add_tensor("x", bytes=1, kind="input")])
    cost = KernelCost(10, compute_ns=7.0, memory_ns=2.0, launch_ns=3.0, bound="compute")
    problem = make_problem(builder.build(), lanes(1), lambda *_: cost)
    trace = trace_of(problem, [("a", "d0/s0", 0, 0, 0, 20)])
    story = Explanation(Result(problem, "by_hand", trace, actual=[[20]]))
    assert [(part.reason, part.start, part.end) for part in story.parts(0)] == [("launch", 0, 6), ("compute", 6, 20)]
    assert words(story, "a") == [
        "is launched on the device",
        "runs, bound by compute (7 ns of compute, 2 ns of memory traffic); 10 ns were estimated, it took 20 ns",
    ]


# --- the whole run ------------------------------------------------------------------------------------------------


def test_both_breakdowns_of_a_run_add_up_to_its_makespan() -> None:
    story = by_hand(
        problem_of(chain(), lanes(1)),
        [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s0", 2, 0, 2, 5), ("c", "d0/s0", 5, 5, 5, 10)],
    )
    kind = story.run.problem.graph.op_types[0]
    assert path_breakdown(story) == (Row("operators", kind, "explicit", 10, 3),)
    assert dependency_chain(story) == (1, 2)
    assert chain_breakdown(story) == (Row("operators", kind, "explicit", 8, 2), Row("wait", "no_stream", "", 2, 1))
    assert Story(story).headline() == (
        "c ended last, at 10. The chain of 2 operators that led to it ran for 8 (80 %) and waited for 2 (20 %)."
    )


def test_transfers_and_idle_time_have_rows_on_the_path() -> None:
    builder = GraphBuilder("pair", time_unit="tick")
    builder.add_op("u", duration=3, device="d0", op_type="First")
    builder.add_op("v", duration=2, device="d1", op_type="Second")
    builder.add_edge("u", "v", bytes=5)
    problem = problem_of(builder.build(), linked_pair(latency=7, bandwidth=1e9, streams=1))
    story = by_hand(problem, [("u", "d0/s0", 2, 0, 2, 5), ("v", "d1/s0", 5, 5, 17, 19)])
    assert path_breakdown(story) == (
        Row("operators", "First", "explicit", 3, 1),
        Row("operators", "Second", "explicit", 2, 1),
        Row("wait", "transfer", "", 12, 1),
        Row("wait", "idle", "", 2, 1),
    )
    assert chain_breakdown(story)[2:] == (Row("wait", "transfer", "", 12, 1), Row("wait", "held", "", 2, 1))


def test_memory_and_device_waits_have_rows_on_the_chain() -> None:
    story = memory_run()
    assert [(row.what, row.time) for row in chain_breakdown(story) if row.kind == "wait"] == [("memory", 7)]
    assert longest_waits(story) == [3]
    assert main_part(story, 3).reason == "memory"


def test_a_run_without_operators_has_nothing_to_explain() -> None:
    problem = problem_of(GraphBuilder("empty").build(), lanes(1))
    story = Explanation(Result(problem, "by_hand", Trace([], [], [], [], [], [])))
    assert (path_breakdown(story), chain_breakdown(story), longest_waits(story)) == ((), (), [])
    assert Story(story).headline() == "The run has no operators."


def test_operators_are_explained_by_name_or_id() -> None:
    result = run("residual", "serial", "lanes:2")
    assert explain(result, "BN") == explain(result, 2)
    with pytest.raises(UnknownNameError, match="did you mean 'Output'"):
        explain(result, "Outputs")


def test_a_strict_limit_of_memory_is_one_to_the_policy() -> None:
    builder = GraphBuilder("bytes", time_unit="tick")
    for name, size in (("ta", 60), ("tb", 50)):
        builder.add_tensor(name, bytes=size)
    builder.add_op("a", duration=3, outputs=["ta"])
    builder.add_op("b", duration=5, outputs=["tb"])
    hardware = HardwareProfile("box", (Device("d0", streams=2, memory_capacity=100),))
    result = run(problem_of(builder.build(), hardware), "critical_path", memory="strict")
    first = Explanation(result).parts(0)[0]
    assert (first.reason, first.end, first.shortages) == ("passed_over", 5, (Shortage("memory", 60, 50),))
    assert Explanation(replace(result, memory="unbounded")).parts(0)[0].reason == "held"
