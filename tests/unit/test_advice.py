"""How many streams: limits, accounts and causes of small runs, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simsched.advice import Point, advice_of, advise, measured, stream_counts
from simsched.analysis.account import account, reason_of
from simsched.analysis.explain import Part
from simsched.analysis.timelines import Shortage
from simsched.analysis.usage import resource_use
from simsched.cli.reasons import reason_words
from simsched.errors import ConfigError, SchedulerError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, Host, SmLimits, lanes
from simsched.problem import Problem, make_problem
from simsched.profiles import load_hardware
from simsched.schedulers.base import Dispatch, Policy
from tests.builders import problem_of, with_memory


def independent(count: int, duration: int = 10, **more: object) -> Graph:
    builder = GraphBuilder("independent", time_unit="tick")
    for number in range(count):
        builder.add_op(f"n{number}", duration=duration, **more)  # type: ignore[arg-type]
    return builder.build()


def gpu(**more: object) -> HardwareProfile:
    return HardwareProfile("toy", (Device("gpu", kind="gpu", model="sm_share", resources={"sms": 4}, **more),))  # type: ignore[arg-type]


def limits(problem: Problem, counts: tuple[int, ...]) -> list[tuple[int | None, str]]:
    found = advise(problem, "critical_path", counts)
    return [(point.makespan, point.limit) for point in found.points]


def test_numbers_of_streams_to_try() -> None:
    assert stream_counts(1) == [1]
    assert stream_counts(2) == [1, 2]
    assert stream_counts(16) == [1, 2, 3, 4, 6, 8, 12, 16]
    assert stream_counts(100)[-3:] == [64, 96, 100]


def test_independent_operators_are_limited_by_streams_until_each_has_one() -> None:
    problem = problem_of(independent(6), lanes(1))
    assert limits(problem, (1, 2, 3, 4, 6, 8)) == [
        (60, "streams"), (30, "streams"), (20, "streams"), (20, "no_stream"), (10, "critical_path"),
        (10, "critical_path"),
    ]  # fmt: skip
    found = advise(problem, "critical_path", (1, 2, 3, 4, 6, 8))
    assert (found.best.streams, found.speedup(found.best), found.harmful) == (6, 6.0, None)
    assert found.best.at_once == 6


def test_a_chain_is_worth_one_stream() -> None:
    found = advise(make_problem(graph_of_chain(), lanes(1)), "critical_path")
    assert (found.best.streams, found.best.limit, found.best.at_once) == (1, "critical_path", 1)
    assert {point.makespan for point in found.points} == {35}


def graph_of_chain() -> Graph:
    builder = GraphBuilder("chain", time_unit="tick")
    for place, duration in enumerate((7, 11, 17)):
        builder.add_op(f"n{place}", duration=duration, after=[f"n{place - 1}"] if place else [])
    return builder.build()


def test_full_sms_are_named() -> None:
    """Eight kernels of two of four SMs: two at once, whatever the streams."""
    problem = problem_of(independent(8, demands={"sms": 2}), gpu())
    assert limits(problem, (1, 2, 4)) == [(80, "streams"), (40, "sms"), (40, "sms")]
    found = advise(problem, "critical_path", (1, 2, 4))
    assert found.best.streams == 2
    assert {pressure.name: pressure.share for pressure in found.points[2].pressures} == {
        "sms": 1.0, "streams": 0.5, "critical_path": 0.25,
    }  # fmt: skip


def test_a_kernel_that_leaves_too_few_sms_is_waited_for() -> None:
    """Kernels of three of four SMs run one at a time, at 75 % of the SMs: nothing is full, but all wait for SMs."""
    problem = problem_of(independent(4, demands={"sms": 3}), gpu())
    found = advise(problem, "critical_path", (2, 4))
    (_, four) = found.points
    assert (four.makespan, four.limit) == (40, "short_of_sms")
    assert four.account == {"short_of_sms": 30, "work": 10}


def test_sms_that_hold_blocks_are_in_use() -> None:
    """Kernels of three blocks, of which an SM holds one: on four SMs one at a time, or one and a third at once."""
    device = Device(
        "gpu", kind="gpu", model="blocks", streams=1, resources={"sms": 4}, sm_limits=SmLimits(blocks=1, threads=64)
    )
    attributes = {"grid": 3, "block": {"threads": 64}}
    problem = make_problem(independent(4, attributes=attributes), HardwareProfile("toy", (device,)))
    one, two = advise(problem, "critical_path", (1, 2)).points
    assert one.makespan == 40
    assert one.sm_use == 0.75
    assert one.result is not None
    (sms,) = resource_use(one.result)
    assert (sms.used, sms.peak, sms.capacity) == (3 * 10 * 4, 3, 4)
    # The second one's first block starts at 0, its others at 10; and so on: twelve blocks in three rounds of four.
    assert (two.makespan, two.sm_use) == (30, 1.0)


def test_memory_is_named_in_runs_that_wait_for_it() -> None:
    builder = GraphBuilder("memory", time_unit="tick")
    for number in range(4):
        builder.add_tensor(f"t{number}", bytes=5)
        builder.add_op(f"n{number}", duration=10, outputs=[f"t{number}"])
    problem = problem_of(builder.build(), with_memory(lanes(1), 9))
    found = advise(problem, "critical_path", (1, 4), memory="block")
    assert [point.makespan for point in found.points] == [40, 40]
    assert found.points[1].limit == "short_of_memory"
    assert found.best.streams == 1


def test_bandwidth_that_is_drawn_all_the_time_is_named() -> None:
    """Kernels of 100 ns that move 800 of the 1,000 B that the device can: two at once take 160 ns."""
    problem = problem_of(independent(4, duration=100, traffic=800), gpu(memory_bandwidth=10e9))
    found = advise(problem, "critical_path", (1, 2, 4))
    assert [point.makespan for point in found.points] == [400, 320, 320]
    assert [point.limit for point in found.points] == ["streams", "bandwidth", "bandwidth"]
    assert [point.pressures[0].share for point in found.points] == [1.0, 1.0, 1.0]
    assert found.points[2].account == {"work": 100, "lost_bandwidth": 220}


def test_where_more_streams_hurt_the_cause_may_be_shared_bandwidth() -> None:
    """a, then b, are the critical path; a and y draw all of the bandwidth, x and b none.

    On two streams x runs beside a and y beside b: 200. On three y runs beside a: y ends at 180, when a has run 90 of
    its 100, so that b begins at 190.
    """
    builder = GraphBuilder("harm")
    builder.add_op("a", duration=100, traffic=1000)
    builder.add_op("b", duration=100, after=["a"])
    builder.add_op("x", duration=100)
    builder.add_op("y", duration=90, traffic=900)
    found = advise(problem_of(builder.build(), gpu(memory_bandwidth=10e9)), "critical_path", (1, 2, 3))
    assert [point.makespan for point in found.points] == [390, 200, 290]
    assert found.best.streams == 2
    assert found.harmful is found.points[2]
    assert found.differences(found.points[2]) == (("lost_bandwidth", 90),)
    assert found.cause(found.points[2]) == "lost_bandwidth"


def test_a_host_that_launches_all_the_time_is_named() -> None:
    """Four kernels of 10 ns; each launch takes 30 ns, one after the other: the last one starts at 120."""
    host = Host(launch_ns=30, mode="serial")
    hardware = HardwareProfile("h", (Device("gpu", kind="gpu", model="sm_share", resources={"sms": 4}),), host=host)
    (point,) = advise(problem_of(independent(4), hardware), "critical_path", (4,)).points
    assert (point.makespan, point.limit) == (130, "host")
    assert {pressure.name: pressure.share for pressure in point.pressures}["host"] == 120 / 130
    # Streams 0 and 2 share one of two threads, which launches two of the four: at 30 and 60.
    two = HardwareProfile("h", hardware.devices, host=Host(launch_ns=30, mode="serial", threads=2))
    (point,) = advise(problem_of(independent(4), two), "critical_path", (4,)).points
    assert (point.makespan, point.pressures[0].name, point.pressures[0].share) == (70, "host", 60 / 70)


def test_where_more_streams_hurt_the_cause_is_the_order() -> None:
    """Graham's nine operators: 12 on three lanes, 15 on four, where T9 (9) waits 3 behind T5 to T8 (4 each).

    On three lanes T8 starts last: T4 waits 2 and runs 2, T8 waits 4 and runs 4. On four, T1 runs 3, T9 waits 3, runs 9.
    T4 waited behind T1, which is more urgent than itself, and T8 behind its equals: no inversion there.
    """
    problem = problem_of(load("graham"), lanes(1))
    found = advise(problem, "greedy_ready:list", (1, 2, 3, 4))
    assert [point.makespan for point in found.points] == [34, 17, 12, 15]
    assert found.best.streams == 3
    assert found.harmful is found.worst is found.points[3]
    assert (found.best.account, found.points[3].account) == ({"work": 6, "no_stream": 6}, {"work": 12, "no_stream": 3})
    assert found.differences(found.points[3]) == (("work", 6), ("no_stream", -3))
    assert (found.best.inverted, found.points[3].inverted) == (0, 3)
    assert found.cause(found.points[3]) == "inversion"


def load(name: str) -> Graph:
    from simsched import load_graph

    return load_graph(name)


def test_differences_of_accounts_add_up_to_the_difference_of_the_makespans() -> None:
    found = advise(problem_of(load("layered_random(n=120, seed=4)"), lanes(1)), "random:7", (1, 2, 3, 5, 8))
    for point in found.points:
        assert point.makespan is not None
        assert found.best.makespan is not None
        assert sum(point.account.values()) == point.makespan
        assert sum(time for _, time in found.differences(point)) == point.makespan - found.best.makespan


def test_the_fewest_streams_within_a_hundredth_of_the_best_are_recommended() -> None:
    """1,000 and 5 beside it: the second stream gains 5 of 1,005, less than 1 %."""
    builder = GraphBuilder("nearly", time_unit="tick")
    builder.add_op("a", duration=1000)
    builder.add_op("b", duration=5)
    found = advise(problem_of(builder.build(), lanes(1)), "critical_path", (1, 2))
    assert [point.makespan for point in found.points] == [1005, 1000]
    assert found.best.streams == 1
    assert found.next is found.points[1]


class Careless:
    """Sends whatever is ready to any idle stream, without a look at the memory."""

    def start(self, problem: Problem) -> Policy:
        del problem
        return lambda view: [Dispatch(op, stream) for op, stream in zip(view.ready, view.idle_streams, strict=False)]


def test_runs_that_cannot_be_carried_out_are_points_too() -> None:
    builder = GraphBuilder("memory", time_unit="tick")
    for name in "xy":
        builder.add_tensor(name, bytes=5)
        builder.add_op(name.upper(), duration=3, outputs=[name])
        builder.add_op(f"{name}2", duration=2, inputs=[name])
    problem = problem_of(builder.build(), with_memory(lanes(1), 7))
    found = advise(problem, Careless(), (1, 2), memory="strict")
    assert [point.makespan for point in found.points] == [10, None]
    assert found.points[1].error.startswith("OutOfMemoryError: ")
    assert found.best.streams == 1
    with pytest.raises(SchedulerError, match="OutOfMemoryError"):
        advice_of([found.points[1]])


def test_counts_are_checked_sorted_and_taken_once() -> None:
    problem = problem_of(independent(2), lanes(1))
    assert [point.streams for point in measured(problem, "serial", (3, 1, 3))] == [1, 3]
    with pytest.raises(ConfigError):
        list(measured(problem, "serial", (0,)))


def test_an_empty_run_has_no_limits() -> None:
    problem = problem_of(independent(0), lanes(1))
    (point,) = advise(problem, "critical_path", (1,)).points
    assert (point.makespan, point.limit, point.at_once, point.pressures) == (0, "critical_path", 0, ())


def test_reasons_that_are_not_known_here_have_rows_of_their_own() -> None:
    part = Part("wait", "passed_over", 0, 3, device=0, shortages=(Shortage("resident kernels", 1, 0),))
    assert reason_of(part) == "short_of_resident_kernels"
    assert reason_of(Part("wait", "memory", 0, 3)) == "short_of_memory"
    assert reason_of(Part("wait", "queue", 0, 3)) == "queue"
    assert reason_of(Part("wait", "held_by_magic", 0, 3)) == "held_by_magic"  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["free", "serial", "graph"])
@pytest.mark.parametrize("model", ["lanes", "sm_share", "blocks"])
@pytest.mark.parametrize("hardware", ["toy_4sm", "box_epyc7763_a100"])
def test_accounts_add_up_to_the_makespan_whatever_is_simulated(hardware: str, model: str, mode: str) -> None:
    graph, profile = load("inception_like:2"), load_hardware(hardware)
    devices = tuple(replace(device, model=model) for device in profile.devices)  # type: ignore[arg-type]
    host = replace(profile.host, mode=mode, launch_ns=700, graph_ns=900, event_ns=130)  # type: ignore[arg-type]
    problem = make_problem(graph, replace(profile, devices=devices, host=host))
    for point in advise(problem, "greedy_ready", (1, 3)).points:
        assert point.result is not None
        assert sum(account(point.story).values()) == point.makespan
        assert all(time > 0 for time in point.account.values())
        assert all(0 <= pressure.share < 1.0 + 1e-9 for pressure in point.pressures)
        assert reason_words(point.limit)


def test_points_are_lazy() -> None:
    point = Point(1, None, "why")
    assert point.makespan is None
