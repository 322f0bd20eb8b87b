"""Planning from the middle of a run, and planning again when the run departs from the plan: hand-worked."""

from __future__ import annotations

import re
from typing import Any

import pytest

import simsched
from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import HardwareProfile, lanes, procs
from simsched.problem import Problem
from simsched.schedulers.dynamic.following import Following, Record
from simsched.schedulers.dynamic.online import Online
from simsched.schedulers.dynamic.replan import plan_rest, remaining, retimed
from simsched.schedulers.heft import Heft
from simsched.schedulers.planning.begun import Begun
from simsched.schedulers.planning.compose import Pace
from simsched.schedulers.planning.machines import Lane, Lanes, Queue, Queues
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.registry import make_scheduler, scheduler_spec
from simsched.testing import check_scheduler
from simsched.trace import Trace
from tests.builders import linked_pair, problem_of, rigid, small_gpu


def graph_of(durations: dict[str, int], edges: dict[tuple[str, str], int] | None = None, **demands: int) -> Graph:
    """Operators with durations, edges with delays, and units that operators hold of ``cores``."""
    builder = GraphBuilder("hand", "tick")
    for name, duration in durations.items():
        held = {"cores": demands[name]} if name in demands else None
        builder.add_op(name, duration=duration, demands=held)
    for (source, target), delay in (edges or {}).items():
        builder.add_edge(source, target, delay=delay)
    return builder.build()


def carried_out(scheduler: Online, problem: Problem, actual: dict[str, int]) -> tuple[Trace, Following]:
    """Run with other durations than the estimates, the same on all devices; the referee looks on."""
    from simsched.analysis.check import check_trace

    policies: list[Any] = []

    class Kept:
        def start(self, problem: Problem) -> Any:
            policies.append(scheduler.start(problem))
            return policies[0]

    index = problem.graph.index
    column = list(problem.durations(0))
    for name, duration in actual.items():
        column[index[name]] = duration
    truth = [column] * len(problem.devices)
    trace = simulate(problem, Kept(), actual=truth, explain=True)
    assert check_trace(problem, trace, actual=truth) == []
    return trace, policies[0]


# --- five operators, of which the first takes much longer than expected --------------------------------------------

LATE = {"a": 11, "b": 11, "c": 7, "d": 7, "e": 5}
"""HEFT: a and b first, then c behind a and d behind b (11 to 18), then e behind c (18 to 23)."""


@pytest.mark.parametrize("hardware", [lanes(2), procs(2)])
def test_what_waits_behind_a_late_operator_goes_elsewhere(hardware: HardwareProfile) -> None:
    problem = problem_of(graph_of(LATE), hardware)
    assert list(Heft().plan(problem).start) == [0, 0, 11, 11, 18]
    trace, policy = carried_out(Online(), problem, {"a": 41})
    # At 18 d ends, and a is overdue by 7: c goes where d was. At 25 c ends, and a is overdue again: so does e.
    assert list(trace.start) == [0, 0, 18, 11, 25]
    assert list(trace.stream) == [0, 1, 1, 1, 1]
    assert trace.makespan == 41
    assert policy.made == 3
    assert trace.reasons[0] == "as planned"
    assert trace.reasons[2] == "as planned anew at 18"
    assert simulate(problem, Heft(), actual=[[41, 11, 7, 7, 5]] * 2).makespan == 53


def test_nothing_is_planned_again_within_the_threshold() -> None:
    problem = problem_of(graph_of(LATE), procs(2))
    # a ends 1 late, 1/11 of what it was to take, and b 2 late, 2/11. When d ends, 2/7 late, all has been dispatched.
    for threshold, plans in ((0.2, 1), (0.15, 2), (0.1, 2), (0.05, 2), (float("inf"), 1)):
        _, policy = carried_out(Online(threshold=threshold), problem, {"a": 12, "b": 13})
        assert policy.made == plans, threshold


def test_what_ends_early_counts_too() -> None:
    problem = problem_of(graph_of({"a": 23, "b": 11, "c": 7, "d": 5}), procs(2))
    # HEFT: a on the first; b, c and d one after the other on the second, d at 18 and not behind a at 23.
    assert list(Heft().plan(problem).start) == [0, 0, 11, 18]
    trace, _ = carried_out(Online(), problem, {"a": 2})
    # At 2 the first is free: c is planned there until 9, and d behind it.
    assert list(trace.stream) == [0, 1, 0, 0]
    assert list(trace.start) == [0, 0, 2, 9]


def test_a_plan_that_would_end_no_sooner_is_not_followed() -> None:
    class Worse:
        """Plans like HEFT at first and puts everything on the first device later."""

        def plan(self, problem: Problem, begun: Begun = Begun()) -> Plan:  # noqa: B008
            if not begun.stream:
                return Heft().plan(problem)
            order = Plan([0] * len(problem.graph), range(len(problem.graph)), range(len(problem.graph)))
            return retimed(problem, order, begun)

        def start(self, problem: Problem) -> Any:
            raise AssertionError("only its plans are asked for")

    problem = problem_of(graph_of(LATE), procs(2))
    trace, policy = carried_out(Online(Worse(), threshold=0), problem, {"b": 12})
    assert policy.made > 1
    assert list(trace.start) == [0, 0, 11, 12, 18]


def test_a_pause_keeps_plans_apart() -> None:
    problem = problem_of(graph_of({f"v{number}": 5 for number in range(12)}), lanes(1))
    slow = {f"v{number}": 7 for number in range(12)}
    made = [carried_out(Online(pause=pause), problem, slow)[1].made for pause in (0.0, 0.34, 1.0)]
    # At the n-th end 12 - n are left. With 1/3 and a little, plans are made at n = 4 (8 left), 7, 9, 10 and 11;
    # with 1 at n = 6, 9 and 11.
    assert made == [12, 6, 4]


# --- what runs ------------------------------------------------------------------------------------------------------


def test_what_runs_takes_its_estimate_and_what_is_overdue_ends_at_any_moment() -> None:
    problem = problem_of(graph_of({"a": 10, "b": 9, "c": 3, "d": 4, "e": 100}, {("c", "e"): 0}), lanes(3))
    policy = Online(threshold=float("inf")).start(problem)
    assert isinstance(policy, Following)
    record = policy.record
    seen: list[Begun] = []

    class Watching:
        def start(self, problem: Problem) -> Any:
            def watch(view: Any) -> Any:
                chosen = policy(view)
                seen.append(record.begun(view))
                return chosen

            return watch

    simulate(problem, Watching(), actual=[[30, 6, 25, 7, 100]])
    # e behind c, a and b alone, and d behind b, which is expected to end before a.
    ends = [(begun.now, begun.end) for begun in seen]
    assert ends[1] == (6, {2: 7, 0: 10, 1: 6, 3: 10})
    assert ends[2] == (13, {2: 14, 0: 14, 1: 6, 3: 13})
    assert seen[2].start == {2: 0, 0: 0, 1: 0, 3: 6}


def test_a_machine_that_is_busy() -> None:
    for lane in (Lane(), Queue()):
        lane.occupy(0, 13)
        assert [lane.earliest(0, ready, 5) for ready in (0, 12, 17)] == [13, 13, 17]
        assert lane.free_at == 13
    for many in (Lanes(3), Queues(3)):
        many.occupy(1, 13)
        assert many.free_at == 0
        assert many.earliest(0, 0, 5) == 0
        assert [many.place(op, start, 5) for op, start in ((0, 0), (1, 2), (2, 5))] == [0, 2, 0]
        assert many.free_at == 7


def test_the_rest_of_a_plan_on_lanes() -> None:
    problem = problem_of(graph_of(LATE), lanes(3))
    begun = Begun(13, {0: 1, 1: 2, 2: 0}, {0: 0, 1: 0, 2: 0}, {0: 29, 1: 11, 2: 17})
    plan = Heft().plan(problem, begun)
    # Streams 0 and 1 are busy until 17 and 29; d is more urgent than e.
    assert list(plan.stream) == [1, 2, 0, 2, 0]
    assert list(plan.start) == [0, 0, 0, 13, 17]
    assert list(plan.end) == [29, 11, 17, 20, 22]


def test_streams_that_are_busy_stay_so_where_few_kernels_may_run_at_a_time() -> None:
    problem = problem_of(graph_of({"a": 7, "b": 5, "c": 3, "d": 2}), small_gpu(4, 4, resident=2))
    begun = Begun(2, {0: 3}, {0: 0}, {0: 7})
    plan = Heft().plan(problem, begun)
    assert plan.stream[0] == 3
    # One place beside a: b until 7, when a gives back the other.
    assert list(plan.start) == [0, 2, 7, 7]
    assert len({plan.stream[1], plan.stream[2], plan.stream[3]}) == 2


def test_what_waits_in_a_busy_stream_comes_after_what_runs() -> None:
    problem = problem_of(graph_of({"a": 7, "b": 5, "c": 3}), procs(1))
    for order in ({0: 0, 1: 0}, {1: 0, 0: 0}):
        assert Heft().plan(problem, Begun(2, order, {0: 0, 1: 7}, {0: 7, 1: 12})).start[2] == 12


def test_more_streams_may_wait_than_kernels_may_run() -> None:
    problem = problem_of(graph_of({"a": 7, "b": 5, "c": 4, "d": 2}), small_gpu(4, 4, resident=1))
    for insertion in (True, False):
        begun = Begun(2, {0: 3, 1: 1}, {0: 0, 1: 7}, {0: 7, 1: 12})
        plan = Heft(insertion).plan(problem, begun)
        assert [plan.stream[op] for op in (0, 1)] == [3, 1]
        assert [plan.start[op] for op in (2, 3)] == [7, 11]
        assert [plan.stream[op] for op in (2, 3)] == [3, 3]


def test_what_was_not_expected_to_fit_beside_the_rest_comes_after_it() -> None:
    problem = problem_of(graph_of({"a": 10, "b": 7, "c": 5}, a=3, b=2, c=1), rigid(4, cores=4))
    plan = Heft().plan(problem, Begun(4, {0: 0, 1: 1}, {0: 0, 1: 4}, {0: 10, 1: 11}))
    # 3 and 2 of 4 cores cannot be held at a time, whatever was expected: b is kept room for from 10 on, and c fits.
    assert plan.start[2] == 4


def test_what_has_been_dispatched_and_does_not_run_starts_now_at_the_earliest() -> None:
    record = Record(problem_of(graph_of({"a": 7, "b": 5}), lanes(2)))
    for op in (0, 1):
        record.dispatch(op, op, 0)

    class Shown:
        now = 9
        running = (1,)

    view: Any = Shown()
    begun = record.begun(view)
    assert (begun.start, begun.end) == ({0: 9, 1: 0}, {0: 16, 1: 10})


def test_the_rest_of_a_plan_with_units() -> None:
    graph = graph_of({"a": 10, "b": 7, "c": 5, "d": 3}, a=3, b=2, c=1)
    problem = problem_of(graph, rigid(4, cores=4))
    begun = Begun(4, {0: 0}, {0: 0}, {0: 10})
    for insertion in (True, False):
        plan = Heft(insertion).plan(problem, begun)
        # b needs two cores and has to wait for a; c fits beside a; d needs none.
        assert list(plan.start) == [0, 10, 4 if insertion else 10, 4 if insertion else 10]


def test_transfers_come_from_where_operators_ended() -> None:
    edges = {("a", "c"): 6, ("b", "c"): 4}
    problem = problem_of(graph_of({"a": 3, "b": 5, "c": 7}, edges), procs(3))
    begun = Begun(5, {0: 0, 1: 1}, {0: 0, 1: 0}, {0: 3, 1: 5})
    # On p0 what b made is there at 9, on p1 what a made at 9, on p2 both at 9; the first wins.
    assert Heft().plan(problem, begun).start[2] == 9
    late = Begun(8, {0: 0, 1: 1}, {0: 0, 1: 0}, {0: 3, 1: 5})
    assert (Heft().plan(problem, late).start[2], Heft().plan(problem, late).stream[2]) == (9, 0)
    later = Begun(11, {0: 0, 1: 1}, {0: 0, 1: 0}, {0: 3, 1: 5})
    assert Heft().plan(problem, later).start[2] == 11


def test_nothing_comes_over_a_link_before_now() -> None:
    builder = GraphBuilder("pair", "tick")
    builder.add_tensor("t", bytes=10)
    builder.add_op("a", duration=3, outputs=["t"])
    builder.add_op("b", duration={"d1": 5}, inputs=["t"])
    problem = problem_of(builder.build(), linked_pair(3, 1e9, 1))
    assert [device.name for device in problem.devices] == ["d0", "d1"]
    # 3 ns of latency and 10 bytes at 1 byte per ns, which begin when b is dispatched.
    assert list(Heft().plan(problem, Begun(20, {0: 0}, {0: 0}, {0: 3})).start) == [0, 33]


def test_a_planner_that_cannot_begin_in_the_middle_is_asked_about_what_is_left() -> None:
    class Whole:
        def plan(self, problem: Problem) -> Plan:
            return Heft().plan(problem)

    problem = problem_of(graph_of(LATE), procs(2))
    begun = Begun(18, {0: 0, 1: 1, 3: 1}, {0: 0, 1: 0, 3: 11}, {0: 19, 1: 11, 3: 18})
    left = remaining(problem, begun)
    places = [left.allowed_devices(op) for op in range(5)]
    assert places == [(0,), (1,), (0, 1), (1,), (0, 1)]
    assert [left.durations(devices[0])[op] for op, devices in enumerate(places)] == [1, 0, 7, 0, 5]
    plan = plan_rest(Whole(), problem, begun)
    assert list(plan.start) == [0, 0, 19, 11, 18]
    assert list(plan.end)[:2] == [19, 11]


def test_the_pace_of_the_rest() -> None:
    plan = Plan([0, 1, 2, 0, 1], [0, 0, 0, 11, 15], [11, 15, 4, 13, 20])
    pace = Pace(plan, Begun(6, {0: 0, 1: 1, 2: 2}, {0: 0, 1: 0, 2: 0}, {0: 11, 1: 15, 2: 4}))
    done = bytearray([0, 0, 1, 0, 0])
    assert pace.due(done) == []
    done[0] = 1
    assert pace.due(done) == [3]
    done[1] = 1
    assert pace.due(done) == [], "3 is to end by 13"
    done[3] = 1
    assert pace.due(done) == [4]
    assert pace.due(done) == []


# --- dispatching ------------------------------------------------------------------------------------------------------


def test_operators_wait_ahead_where_copies_or_launches_take_time() -> None:
    graph = graph_of({"a": 5, "b": 5, "c": 5}, {("a", "b"): 0, ("b", "c"): 0})
    early = simsched.run(graph, Online(), linked_pair())
    assert list(early.trace.dispatch) == [0, 0, 5]
    assert list(simsched.run(graph, Online(ahead=2), lanes(1)).trace.dispatch) == [0, 0, 0]
    assert list(simsched.run(graph, Online(), lanes(1)).trace.dispatch) == [0, 5, 10]


def test_a_copy_comes_while_the_stream_is_busy() -> None:
    builder = GraphBuilder("pair", "tick")
    builder.add_tensor("t", bytes=10)
    builder.add_op("long", duration={"d1": 40})
    builder.add_op("maker", duration={"d0": 3}, outputs=["t"])
    builder.add_op("reader", duration={"d1": 5}, inputs=["t"])
    problem = problem_of(builder.build(), linked_pair(3, 1e9, 1))
    for ahead, start in ((None, 40), (0, 53)):
        assert simsched.run(problem, Online("heft(insertion=false)", ahead=ahead)).trace.start[2] == start


# --- words ------------------------------------------------------------------------------------------------------------


def test_specs() -> None:
    assert make_scheduler("online(heft)") == make_scheduler("online") == Online()
    nested = make_scheduler("online(heft(insertion=false), threshold=0.5)")
    assert nested == make_scheduler("online(scheduler=heft(insertion=false), threshold=0.5)")
    assert scheduler_spec(nested) == "online(scheduler=heft(insertion=false), threshold=0.5)"
    assert scheduler_spec(Online(Heft(insertion=False), pause=0)) == "online(scheduler=heft(insertion=false), pause=0)"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("online(threshold=-1)", SchedulerError, "online: threshold must be a number of at least 0, got -1.0"),
        ("online(threshold=nan)", SchedulerError, "threshold must be a number of at least 0, got nan"),
        ("online(pause=2)", SchedulerError, "online: pause must be a number from 0 to 1, got 2.0"),
        ("online(ahead=-1)", SchedulerError, "online: ahead must be at least 0, got -1"),
        ("online(critical_path)", SchedulerError, "online: critical_path makes no plans; write a scheduler that has"),
        ("online(online(heft))", SchedulerError, "online: online makes no plans"),
        ("online(hefft)", UnknownNameError, "unknown scheduler 'hefft'; did you mean 'heft'?"),
        ("online(heft(insertion=maybe))", SchedulerError, "parameter 'insertion' must be true or false, got 'maybe'"),
        ("online(heft, mcp)", SchedulerError, "expected parameter=value, got 'mcp'"),
        ("online(heft, scheduler=mcp)", SchedulerError, "parameter 'scheduler' is given twice"),
        ("online(heft(insertion=false)", SchedulerError, "'heft(insertion=false' is not a scheduler"),
        ("online(heft))", SchedulerError, "'heft)' is not a scheduler"),
    ],
)
def test_what_is_said_of_mistakes(spec: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        make_scheduler(spec)


@pytest.mark.parametrize("spec", ["online", "online(etf, threshold=0)", "online(anytime(schedules=20))", "online(sgs)"])
def test_the_contract(spec: str) -> None:
    assert check_scheduler(make_scheduler(spec)) == 27
