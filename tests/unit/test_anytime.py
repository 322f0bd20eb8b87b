"""The search for short plans: what it plans is what runs, tiny problems are solved, budgets and seeds are kept."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest

from simsched.analysis.bounds import lower_bound as best_bound
from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import HardwareProfile, lanes, procs
from simsched.noise import actual_durations, parse_noise
from simsched.problem import Problem, make_problem
from simsched.schedulers.anytime import Anytime, population
from simsched.schedulers.base import Policy
from simsched.schedulers.follow import static_policy
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.proof import Searched, listening
from simsched.schedulers.registry import make_scheduler
from simsched.schedulers.search.bound import lower_bound
from simsched.schedulers.search.effort import Effort, Member
from simsched.schedulers.search.hold import handed_over, holding_policy
from simsched.schedulers.search.one_device import OneDevice
from simsched.schedulers.search.places import match
from simsched.schedulers.search.several import FREE, Several
from simsched.schedulers.search.starts import biased, topological
from simsched.schedulers.search.world import World
from simsched.testing import check_scheduler
from tests.builders import linked_pair, problem_of, random_graph, rigid, small_gpu
from tests.exhaustive import optimal_makespan
from tests.planners import objections, optimum


class _Given:
    """A scheduler whose policy is there already."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def start(self, problem: Problem) -> Policy:
        del problem
        return self._policy


def drawn(seed: int, operators: int, hardware: HardwareProfile, **choices: Any) -> Problem:
    return problem_of(random_graph(seed, operators, sizes=(), **choices), hardware)


def problems(seed: int, operators: int) -> dict[str, Problem]:
    names = [device.name for device in procs(3).devices]
    return {
        "lanes": drawn(seed, operators, lanes(3)),
        "units": drawn(seed, operators, rigid(4, a=5, b=3), demands={"a": 4, "b": 2}, durations=(1, 2, 3, 5, 7)),
        "many streams": drawn(seed, operators, rigid(60, a=5), demands={"a": 4}, durations=(1, 3, 5, 11)),
        "no duration": drawn(seed, operators, lanes(2), durations=(0, 0, 1, 3)),
        "delays": drawn(seed, operators, procs(3), delays=(0, 2, 5, 19)),
        "unlike devices": drawn(seed, operators, procs(3), delays=(0, 2, 5), devices=names),
        "no duration, delays": drawn(seed, operators, procs(3), delays=(0, 2, 5), durations=(0, 0, 1, 3)),
    }


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("operators", [1, 2, 3, 9, 40])
def test_what_is_planned_is_what_runs(seed: int, operators: int) -> None:
    for kind, problem in problems(seed, operators).items():
        found = Anytime(60, seed).search(problem)
        assert objections(problem, found.plan) == [], kind
        trace = simulate(problem, _Given(found.followed.policy()))
        assert check_trace(problem, trace) == [], kind
        assert list(trace.start) == list(found.plan.start), kind
        assert list(trace.stream) == list(found.plan.stream), kind
        assert found.bound <= best_bound(problem).value <= trace.makespan, kind


@pytest.mark.parametrize("seed", range(12))
def test_tiny_problems_are_solved(seed: int) -> None:
    two = procs(2)
    for problem in (
        drawn(seed, 6, two, delays=(0, 1, 4)),
        drawn(seed, 6, two, delays=(0, 3), devices=[device.name for device in two.devices]),
    ):
        assert Anytime(2000).plan(problem).makespan == optimum(problem)
    for hardware, demands in ((lanes(2), None), (rigid(7, a=4), {"a": 3})):
        problem = drawn(seed, 7, hardware, demands=demands, durations=(1, 2, 3, 5, 7))
        needs = {op: demand["a"] for op, demand in problem.demands_on(0).items()}
        best = optimal_makespan(problem.graph, problem.durations(), problem.devices[0].streams, needs, capacity=4)
        assert Anytime(2000).plan(problem).makespan == best


def test_the_contract_on_the_zoo() -> None:
    assert check_scheduler(Anytime(30)) > 20


# --- budget, seed, time -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedules", [1, 2, 3, 5, 8, 20, 100, 333])
def test_no_more_schedules_are_generated_than_allowed(schedules: int, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = 0
    for decoder in (OneDevice, Several):
        for name in ("_serial", "_parallel"):
            if hasattr(decoder, name):
                real = getattr(decoder, name)

                def counted(self: Any, *args: Any, real: Any = real) -> Any:
                    nonlocal passes
                    passes += 1
                    return real(self, *args)

                monkeypatch.setattr(decoder, name, counted)
    for problem in problems(3, 40).values():
        passes = 0
        found = Anytime(schedules).search(problem)
        assert passes == found.schedules <= schedules


def test_one_schedule_is_a_list_schedule() -> None:
    for seed in range(5):
        problem = drawn(seed, 40, lanes(3), durations=(1, 2, 3, 5, 7))
        listed = simulate(problem, make_scheduler("critical_path"))
        assert Anytime(1).plan(problem).makespan == listed.makespan
        problem = drawn(seed, 40, procs(3), delays=(0, 2, 5, 19), durations=(1, 2, 3, 5, 7))
        heft: Any = make_scheduler("heft")
        assert Anytime(1).plan(problem).makespan <= heft.plan(problem).makespan


def test_more_schedules_are_no_worse_and_the_history_says_when() -> None:
    problem = problems(1, 40)["delays"]
    found = [Anytime(schedules, 5).search(problem) for schedules in (1, 50, 1000)]
    assert found[2].plan.makespan < found[0].plan.makespan
    used, makespans = zip(*found[2].history, strict=True)
    assert list(used) == sorted(used)
    assert list(makespans) == sorted(makespans, reverse=True)
    assert makespans[-1] >= found[2].plan.makespan


def test_a_seed_gives_one_plan() -> None:
    for problem in problems(2, 40).values():
        assert Anytime(200, 7).plan(problem) == Anytime(200, 7).plan(problem)
    hard = drawn(0, 60, procs(4), delays=(0, 5, 19, 31), durations=(3, 5, 7, 11))
    assert len({tuple(Anytime(200, seed).plan(hard).start) for seed in range(4)}) > 1


def test_it_stops_at_a_bound() -> None:
    chain = GraphBuilder("chain", "tick")
    for number in range(9):
        chain.add_op(f"c{number}", duration=7)
    for number in range(8):
        chain.add_edge(f"c{number}", f"c{number + 1}", delay=100)
    for hardware in (lanes(2), procs(2)):
        found = Anytime().search(make_problem(chain.build(), hardware))
        assert (found.plan.makespan, found.bound) == (63, 63)
        assert found.schedules <= 2


def test_seconds_end_a_search() -> None:
    problem = problems(0, 40)["delays"]
    hasty = Anytime(10**9, seconds=0.05).search(problem)
    assert 1 <= hasty.schedules < 10**5
    assert objections(problem, hasty.plan) == []


def test_who_listens_hears_of_every_improvement_and_of_the_end() -> None:
    heard: list[Searched | None] = []
    problem = problems(1, 40)["delays"]
    with listening(heard.append):
        found = Anytime(300).search(problem)
    assert heard[-1] is None
    told = [searched.best for searched in heard if searched is not None]
    assert told == [makespan for _, makespan in found.history][: len(told)]
    assert {searched.bound for searched in heard if searched is not None} == {found.bound}


def test_populations_grow_with_the_budget() -> None:
    assert [population(schedules, 1) for schedules in (1, 1000, 5000)] == [8, 50, 113]
    assert [population(schedules, 3) for schedules in (1, 1000, 5000)] == [8, 20, 45]


@pytest.mark.parametrize(
    "wrong", [{"schedules": 0}, {"seed": -1}, {"seconds": 0.0}, {"seconds": float("inf")}, {"seconds": -1.0}]
)
def test_parameters_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(SchedulerError, match=next(iter(wrong))):
        Anytime(**wrong)


def test_by_name() -> None:
    assert make_scheduler("anytime:50") == Anytime(50)
    assert make_scheduler("anytime(seconds=0.5, seed=3)") == Anytime(seconds=0.5, seed=3)


# --- passes -------------------------------------------------------------------------------------------------------


def decoder(problem: Problem) -> OneDevice | Several:
    world = World(problem)
    return (OneDevice if world.devices == 1 else Several)(world, Effort(10**9, None, -1, world.scale))


@pytest.mark.parametrize("seed", range(8))
def test_a_pass_back_and_forth_never_lengthens(seed: int) -> None:
    for problem in problems(seed, 30).values():
        made = decoder(problem)
        world = made.world
        order = topological(world, [Random(seed + op).random() for op in range(world.count)])
        where = [FREE] * world.count if world.devices > 1 else []
        member = made.forward(order, where)
        for _ in range(3):
            back = made.backward(member.order, member.where)
            assert back.makespan <= member.makespan
            assert back.where == member.where
            assert_feasible(world, back)
            member = made.forward(back.order, back.where)
            assert member.makespan <= back.makespan
            assert_feasible(world, member)


def assert_feasible(world: World, member: Member) -> None:
    where = member.where or [0] * world.count
    for op, rows in enumerate(world.before):
        assert member.start[op] >= 0
        assert member.end[op] - member.start[op] == world.durations[where[op]][op]
        for other, times in rows:
            assert member.start[op] >= member.end[other] + times[world.kind[where[other]][where[op]]]
    for device, amounts in enumerate(world.amounts):
        for units, wanted in amounts:
            for time in member.start:
                running = [op for op in wanted if where[op] == device and member.start[op] <= time < member.end[op]]
                assert sum(wanted[op] for op in running) <= units


def test_passes_by_hand() -> None:
    # Units of one resource, three in all: a and b take two for 5 and 3, c takes one for 7 after b.
    builder = GraphBuilder("hand", "tick")
    for name, duration, units in (("a", 5, 2), ("b", 3, 2), ("c", 7, 1)):
        builder.add_op(name, duration=duration, demands={"u": units})
    builder.add_edge("b", "c")
    made = decoder(make_problem(builder.build(), rigid(9, u=3)))
    assert isinstance(made, OneDevice)
    first = made.forward([0, 1, 2], [])
    assert (first.start, first.makespan, first.order) == ([0, 5, 8], 15, [0, 1, 2])
    # From the end: c in [8, 15], b before it in [5, 8]; a beside c in [10, 15].
    back = made.backward([1, 0, 2], [])
    assert (back.start, back.makespan) == ([5, 0, 3], 10)
    assert made.parallel([0, 1, 2]).start == [0, 5, 8]
    assert made.parallel([2, 0, 1]).start == [3, 0, 3]


def test_places_by_hand() -> None:
    builder = GraphBuilder("hand", "tick")
    for name, duration in (("a", 2), ("b", 3), ("c", 5)):
        builder.add_op(name, duration=duration)
    builder.add_edge("a", "b", delay=7)
    builder.add_edge("a", "c", delay=1)
    made = decoder(make_problem(builder.build(), procs(2)))
    assert made.forward([0, 1, 2], [0, 0, 1]).start == [0, 2, 3]
    assert made.forward([0, 1, 2], [0, 1, 0]).start == [0, 9, 2]
    # Set free, b and then c end first where a is: at 5 and, behind b there or after 1 on the way, c elsewhere at 8.
    free = made.forward([0, 1, 2], [FREE] * 3)
    assert (free.where, free.start) == ([0, 0, 1], [0, 2, 3])
    # Backward: c ends last on p1; b on p0, with a before it, whose data take 1 to c.
    back = made.backward([0, 1, 2], [0, 0, 1])
    assert (back.start, back.makespan) == ([0, 5, 3], 8)


def test_devices_are_renamed_to_agree_where_they_are_alike() -> None:
    world = World(problems(0, 9)["delays"])
    assert match(world, [0, 0, 1, 1, 2, 2, 0, 1, 2], [1, 1, 2, 2, 0, 0, 1, 2, 0]) == [0, 0, 1, 1, 2, 2, 0, 1, 2]
    other = World(problems(0, 9)["unlike devices"])
    assert match(other, [0] * 9, [1] * 9) == [1] * 9


@pytest.mark.parametrize("operators", [5, 40, 300])
def test_drawn_orders_are_topological(operators: int) -> None:
    world = World(drawn(1, operators, lanes(2), durations=(1, 2, 3)))
    for seed in range(5):
        order = biased(world, list(world.head), Random(seed))
        assert sorted(order) == list(range(operators))
        place = {op: number for number, op in enumerate(order)}
        assert all(place[other] < place[op] for op in order for other in world.pred[op])


# --- bounds -------------------------------------------------------------------------------------------------------


def test_bounds_by_hand() -> None:
    builder = GraphBuilder("equal", "tick")
    for number in range(40):
        builder.add_op(f"i{number}", duration=3)
    equal = builder.build()
    # 40 operators of 3 on 3 lanes: some lane has 14 of them. The area alone says 40.
    assert lower_bound(World(make_problem(equal, lanes(3)))) == 42
    assert lower_bound(World(make_problem(equal, procs(3)))) == 40
    builder = GraphBuilder("window", "tick")
    builder.add_op("first", duration=5)
    builder.add_op("last", duration=11)
    for number in range(3):
        builder.add_op(f"m{number}", duration=7, demands={"u": 2})
        builder.add_edge("first", f"m{number}")
        builder.add_edge(f"m{number}", "last")
    # 5 before, 11 after, three times two units for 7 out of three in between: 42 / 3 = 14.
    assert lower_bound(World(make_problem(builder.build(), rigid(9, u=3)))) == 5 + 14 + 11


# --- following ----------------------------------------------------------------------------------------------------


def test_units_are_handed_over_by_hand() -> None:
    # Three units: a has two in [0, 2], b one in [0, 5], c takes two at 2 from a, d two at 5 from b and c.
    start, end = [0, 0, 2, 5], [2, 5, 5, 6]
    wanted = {0: 2, 1: 1, 2: 2, 3: 2}
    assert handed_over([0, 1, 2, 3], end, start, (3, wanted)) == [(0, 2), (1, 3), (2, 3)]


def test_an_operator_that_is_held_back_does_not_start_early() -> None:
    # ``long`` fits at 0, and would make ``wide`` come at 13, on which ``end`` waits.
    builder = GraphBuilder("held", "tick")
    for name, duration, units in (("short", 2, 1), ("wide", 3, 3), ("long", 13, 1), ("end", 11, 2)):
        builder.add_op(name, duration=duration, demands={"u": units})
    builder.add_edge("short", "wide")
    builder.add_edge("wide", "end")
    problem = make_problem(builder.build(), rigid(4, u=3))
    plan = Plan([0, 0, 1, 0], [0, 2, 5, 5], [2, 5, 18, 16])
    assert simulate(problem, _Given(static_policy(plan.schedule()))).makespan == 13 + 3 + 11
    found = Anytime(100).search(problem)
    assert list(found.plan.start) == [0, 2, 5, 5]
    assert sorted(found.followed.pairs) == [(0, 1), (1, 2), (1, 3)]
    assert list(simulate(problem, Anytime(100)).start) == [0, 2, 5, 5]
    held = holding_policy(plan, [0, 1, 2, 3], found.followed.pairs)
    assert list(simulate(problem, _Given(held)).start) == [0, 2, 5, 5]


@pytest.mark.parametrize("seed", range(5))
def test_with_other_durations_what_hands_over_units_still_comes_first(seed: int) -> None:
    problem = problems(seed, 40)["units"]
    found = Anytime(100).search(problem)
    actual = actual_durations(problem, parse_noise("lognormal(0.5)"), seed)
    trace = simulate(problem, _Given(found.followed.policy()), actual=actual)
    assert check_trace(problem, trace, actual=actual) == []
    assert all(trace.start[op] >= trace.end[other] for other, op in found.followed.pairs)


def test_a_held_operator_waits_for_its_stream_too() -> None:
    plan = Plan([0, 0, 1], [0, 2, 2], [2, 3, 4])
    problem = drawn(0, 3, lanes(2), durations=(2,), degree=0.0)
    trace = simulate(problem, _Given(holding_policy(plan, [0, 1, 2], [(0, 2)])))
    assert list(trace.start) == [0, 2, 2]


def test_devices_that_share_run_what_was_planned_without_violations() -> None:
    for hardware in (small_gpu(), small_gpu(resident=2), linked_pair()):
        for seed in range(3):
            problem = problem_of(random_graph(seed, 25, demands=None if hardware.links else {"sms": 3}), hardware)
            assert check_trace(problem, simulate(problem, Anytime(60))) == []


def test_an_empty_graph() -> None:
    problem = make_problem(GraphBuilder("empty", "tick").build(), lanes(2))
    assert Anytime().search(problem).schedules == 0
    assert list(itertools.chain(simulate(problem, Anytime()).start)) == []
