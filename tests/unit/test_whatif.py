"""What-if: operators scaled, and whole answers, each worked by hand; and that nothing else changes."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from simsched.errors import ConfigError, SchedulerError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes, procs
from simsched.problem import make_problem
from simsched.result import Result
from simsched.run import run
from simsched.whatif import Changes, whatif
from simsched.whatif.answer import apply
from simsched.whatif.changes import exact, parse_edge, parse_group, parse_scales, parse_settings
from simsched.whatif.variant import actual_of, matching, scaled, variant_of
from tests.builders import problem_of
from tests.whatif_cases import gpu, kernels, model, ticks

# --- operators --------------------------------------------------------------------------------------------------


def test_scaling_multiplies_the_durations_of_what_a_pattern_means() -> None:
    graph = ticks({"a1": 7, "a2": 5, "b": 11}, types={"a1": "Conv", "b": "Conv"})
    problem = problem_of(graph, lanes(1))
    for scale, expected in (
        ({"a1": 3}, [21, 5, 11]),
        ({"a*": "0.5"}, [4, 2, 11]),  # 3.5 and 2.5 go to the even neighbour
        ({"type:Conv": Fraction(1, 11)}, [1, 5, 1]),  # 7/11 is nearer to 1
        ({"type:C?nv": 0}, [0, 5, 0]),
        ({"a1": 2, "a*": 2}, [28, 10, 11]),
    ):
        variant, edits, _ = apply(problem, Changes(scale=scale))  # type: ignore[arg-type]
        assert list(variant.problem.durations(0)) == expected, scale
        assert len(edits) == len(scale)
    assert list(problem.durations(0)) == [7, 5, 11], "the first problem is never touched"


def test_an_exact_name_wins_over_a_pattern_and_over_a_type() -> None:
    builder = GraphBuilder("odd", time_unit="tick")
    for name in ("[a]", "a", "type:a"):
        builder.add_op(name, "a", duration=1)
    graph = builder.build()
    assert matching(graph, "[a]") == [0]
    assert matching(graph, "[ab]") == [1]
    assert matching(graph, "type:a") == [2]


def test_a_whole_cost_is_scaled_but_what_it_holds_is_not() -> None:
    problem = make_problem(kernels(), gpu(), model)
    old = problem.costs[0][0]
    assert (old.duration, old.compute_ns, old.memory_ns) == (10_100, 10_000.0, 300.0)
    new = scaled(variant_of(problem), {0: Fraction(3, 10)}).problem.costs[0][0]
    assert new == dataclasses.replace(
        old, duration=3030, flops=12_000, bytes=900, compute_ns=3000.0, memory_ns=90.0, launch_ns=30.0
    )
    assert (new.sms, new.bound) == (4, "compute")


def test_the_share_of_bandwidth_that_a_scaled_kernel_draws_stays() -> None:
    problem = make_problem(kernels(), gpu(), model)
    half = scaled(variant_of(problem), {1: Fraction(1, 2)}).problem
    took = [each.durations(0)[1] for each in (problem, half)]
    assert took == [1100, 550]
    assert half.draw(1, 0, 550) == pytest.approx(problem.draw(1, 0, 1100))


def test_durations_per_device_stated_work_and_actual_durations_are_scaled_too() -> None:
    builder = GraphBuilder("devices", time_unit="tick")
    builder.add_op("a", duration={"p0": 4, "p1": 6}, flops=10, traffic=20)
    builder.add_op("b", duration=8)
    problem = problem_of(builder.build(), procs(2))
    variant = scaled(variant_of(problem), {0: Fraction(5, 2)})
    assert [list(variant.problem.durations(device)) for device in (0, 1)] == [[10, 8], [15, 8]]
    assert (variant.problem.graph.flops[0], variant.problem.graph.traffic[0]) == (25, 50)
    # a took half as long again as estimated, b a quarter less; each errs by as much after the change.
    assert actual_of(variant, problem, [[6, 6], [9, 6]]) == [[15, 6], [round(22.5), 6]]
    assert actual_of(variant, problem, None) is None


@pytest.mark.parametrize(
    ("text", "number"), [("0.1", Fraction(1, 10)), (0.1, Fraction(1, 10)), ("1e-2", Fraction(1, 100))]
)
def test_factors_are_the_decimals_that_were_written(text: str | float, number: Fraction) -> None:
    assert exact("a", text) == number


def test_names_may_hold_equal_signs() -> None:
    assert parse_scales(["a=b=0.5", "c = 2"]) == {"a=b": Fraction(1, 2), "c": Fraction(2)}
    assert parse_settings(["launch = 2 us"]) == {"launch": "2 us"}
    assert parse_group("a, b,c") == ("a", "b", "c")
    assert parse_edge("a,b") == ("a", "b")


@pytest.mark.parametrize("factor", [0, 2, 7])
def test_everything_scaled_alike_is_the_same_run_on_another_clock(factor: int) -> None:
    answer = whatif(run("layered_random(n=60, seed=2)", "critical_path", "lanes:3"), Changes(scale={"*": factor}))
    assert answer.after.makespan == factor * answer.before.makespan
    if factor:
        assert list(answer.after.trace.start) == [factor * start for start in answer.before.trace.start]


# --- whole answers ----------------------------------------------------------------------------------------------


def result() -> Result:
    """Two chains of 3 + 5 and 7 on one lane."""
    return run(problem_of(ticks({"a": 3, "b": 5, "c": 7}, "ab"), lanes(1)), "critical_path")


def test_more_streams_and_another_scheduler() -> None:
    answer = whatif(result(), Changes(streams=2))
    assert (answer.before.makespan, answer.after.makespan, answer.speedup) == (15, 8, Fraction(15, 8))
    assert answer.path_changed
    assert answer.paths == (("a", "c", "b"), ("a", "b"))
    answer = whatif(result(), Changes(streams=2, scheduler="serial"))
    assert (answer.after.makespan, answer.after.label) == (15, "serial")
    assert [str(edit) for edit in answer.edits] == ["streams: 1 -> 2", "scheduler: critical_path -> serial"]


def test_no_change_is_exactly_the_same_run() -> None:
    answer = whatif(result(), Changes())
    assert answer.speedup == 1
    assert not answer.path_changed
    assert all(move.shift == 0 for move in answer.moves())
    assert list(answer.before.trace.start) == list(answer.after.trace.start)


def test_a_problem_is_run_first_and_changes_are_carried_out_in_their_order() -> None:
    problem = problem_of(ticks({"a": 3, "b": 5, "c": 7}, "ab"), lanes(1))
    changes = Changes(fuse=[("a", "b")], scale={"a+b": 2}, streams=2)
    answer = whatif(problem, changes, scheduler="serial")
    assert answer.before.label == "serial"
    assert dict(zip(answer.after.problem.graph.names, answer.after.problem.durations(0), strict=True)) == {
        "a+b": 16,
        "c": 7,
    }
    assert answer.after.makespan == 23
    assert changes.words() == ("--streams 2", "--fuse a,b", "--scale a+b=2")
    with pytest.raises(UnknownNameError):
        whatif(problem, Changes(fuse=[("a", "b")], scale={"a": 2}))


def test_an_answer_of_no_length() -> None:
    problem = problem_of(ticks({"a": 0}), lanes(1))
    assert whatif(problem, Changes(streams=2)).speedup == 1
    problem = problem_of(ticks({"a": 3}), lanes(1))
    assert whatif(problem, Changes(scale={"a": 0})).speedup == 0


def test_the_same_operators_are_misjudged_after_a_change() -> None:
    """Noise is drawn by operator id; fusing must not shift it onto others."""
    graph = ticks(dict.fromkeys("abcdef", 1_000), "ab", "bc")
    noisy = run(problem_of(graph, lanes(3)), "critical_path", noise=0.3, seed=5)
    answer = whatif(noisy, Changes(fuse=[("a", "b")]))
    assert noisy.actual is not None
    assert answer.after.actual is not None
    old = dict(zip(graph.names, noisy.actual[0], strict=True))
    new = dict(zip(answer.after.problem.graph.names, answer.after.actual[0], strict=True))
    assert new == {**{name: old[name] for name in "cdef"}, "a+b": old["a"] + old["b"]}


def test_a_schedule_is_followed_again_and_cannot_be_followed_by_other_operators() -> None:
    from simsched.schedulers.follow import Follow

    first = result()
    followed = run(first.problem, Follow(first.trace))
    followed = dataclasses.replace(followed, written="follow:gone.txt")
    answer = whatif(followed, Changes(scale={"c": 3}))
    assert (answer.before.makespan, answer.after.makespan) == (15, 29)
    with pytest.raises(SchedulerError, match="name a scheduler for the new run with --scheduler"):
        whatif(followed, Changes(fuse=[("a", "b")]))
    assert whatif(followed, Changes(fuse=[("a", "b")], scheduler="serial")).after.makespan == 15


def test_a_record_that_does_not_come_out_again_is_refused() -> None:
    first = result()
    trace = dataclasses.replace(first.trace, end=[end + 1 for end in first.trace.end])
    with pytest.raises(ConfigError, match="critical_path took 16 when it was recorded, and takes 15 now"):
        whatif(dataclasses.replace(first, trace=trace), Changes(streams=2))
