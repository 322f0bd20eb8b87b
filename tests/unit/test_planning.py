"""The parts of planners by hand: lanes, gaps, pools of units, means, orders, refusals; the contract on the zoo."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import simsched
from simsched.errors import SchedulerError, UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, Link, lanes, procs
from simsched.problem import Problem, make_problem
from simsched.schedulers.parametric import Parametric
from simsched.schedulers.planning.compose import Recipe
from simsched.schedulers.planning.costs import Costs
from simsched.schedulers.planning.labels import coffman_graham_labels, without_redundant_arcs
from simsched.schedulers.planning.machines import InOrder, Lane, Lanes, Pool, Queue, Queues, lanes_of
from simsched.schedulers.planning.orders import Order, by_level, by_lowest_of_batch, by_lowest_score
from simsched.schedulers.planning.partial import PartialPlan, Score, ends_first, starts_first
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.planning.priorities import PRIORITIES
from simsched.schedulers.registry import make_scheduler, scheduler_spec
from simsched.schedulers.sgs import Sgs
from simsched.schedulers.unit_tasks import CoffmanGraham, Hu
from simsched.testing import check_scheduler
from tests.builders import problem_of, random_graph, rigid, small_gpu
from tests.planners import PLANNERS


def graph_of(durations: dict[str, Any], edges: tuple[tuple[str, str], ...] = (), **more: Any) -> Graph:
    builder = GraphBuilder("hand", "tick")
    for name, duration in durations.items():
        builder.add_op(name, duration=duration, **more)
    for source, target in edges:
        builder.add_edge(source, target)
    return builder.build()


def planned(spec: str, problem: Problem) -> Plan:
    scheduler: Any = make_scheduler(spec)
    plan: Plan = scheduler.plan(problem)
    return plan


# --- one lane -----------------------------------------------------------------------------------------------------


def test_a_queue_appends() -> None:
    queue = Queue()
    assert queue.earliest(0, 7, 5) == 7
    queue.place(0, 7, 5)
    assert queue.free_at == 12
    assert queue.earliest(1, 0, 2) == 12


def test_a_lane_lets_into_gaps_that_are_long_enough() -> None:
    lane = Lane()
    lane.place(0, 5, 3)
    lane.place(1, 15, 2)
    assert [lane.earliest(2, 0, duration) for duration in (5, 6, 7, 8)] == [0, 8, 8, 17]
    assert [lane.earliest(2, 6, duration) for duration in (1, 7, 8)] == [8, 8, 17]
    assert lane.earliest(2, 10, 5) == 10
    assert lane.earliest(2, 40, 1) == 40
    lane.place(2, 9, 4)
    assert [lane.earliest(3, 6, duration) for duration in (1, 2, 3)] == [8, 13, 17]


def test_what_takes_no_time_goes_between_others_and_nothing_runs_across_it() -> None:
    lane = Lane()
    lane.place(0, 0, 5)
    lane.place(1, 5, 6)
    assert [lane.earliest(2, ready, 0) for ready in (0, 1, 5, 6, 11, 12)] == [5, 5, 5, 11, 11, 12]
    lane.place(2, 20, 3)
    lane.place(3, 15, 0)
    assert [lane.earliest(4, 0, duration) for duration in (4, 5, 6)] == [11, 15, 23]


def test_the_lowest_lane_that_is_free_is_taken() -> None:
    many = Queues(3)
    assert [many.place(op, start, 10) for op, start in ((0, 0), (1, 0), (2, 12), (3, 0))] == [0, 1, 0, 2]
    assert many.free_at == 10
    assert many.earliest(4, 3, 1) == 10
    assert many.place(4, 10, 1) == 1


def test_lanes_are_filled_by_insertion_too() -> None:
    many = Lanes(2)
    assert many.earliest(0, 4, 3) == 4
    assert [many.place(0, 4, 3), many.place(1, 5, 9)] == [0, 1]
    assert many.earliest(2, 0, 4) == 0
    assert many.place(2, 0, 4) == 0
    assert many.earliest(3, 0, 5) == 0
    assert many.place(3, 0, 5) == 1
    assert many.earliest(4, 0, 5) == 7
    assert many.free_at == 7


# --- a pool of units ----------------------------------------------------------------------------------------------


def _pool() -> Pool:
    demands = {0: {"cores": 3, "ports": 1}, 1: {"cores": 2}, 2: {"ports": 2}, 3: {"cores": 1, "ports": 1}}
    return Pool({"cores": 4, "ports": 2}, demands, 3)


def test_a_pool_holds_units_from_start_to_end() -> None:
    pool = _pool()
    pool.place(0, 0, 7)
    assert pool.earliest(1, 0, 5) == 7, "5 cores of 4"
    assert pool.earliest(2, 0, 5) == 7, "3 ports of 2"
    assert pool.earliest(3, 0, 5) == 0
    pool.place(1, 11, 6)
    assert [pool.earliest(0, 0, duration) for duration in (4, 5)] == [7, 17]
    assert pool.earliest(9, 0, 100) == 0, "what demands nothing needs a stream only"


def test_streams_are_a_resource_of_the_pool() -> None:
    pool = _pool()
    for op in (7, 8, 9):
        pool.place(op, 2, 5)
    assert pool.earliest(10, 0, 2) == 0
    assert pool.earliest(10, 0, 3) == 7


def test_nothing_in_a_pool_runs_across_what_takes_no_time_and_needs_the_same() -> None:
    pool = _pool()
    pool.place(0, 5, 0)
    assert pool.earliest(1, 0, 5) == 0
    assert pool.earliest(1, 0, 6) == 5
    assert pool.earliest(3, 0, 6) == 0, "1 core and 1 port fit beside 3 and 1"


def test_in_order_nothing_starts_before_the_last() -> None:
    pool = InOrder(_pool())
    pool.place(0, 9, 4)
    assert pool.earliest(3, 0, 2) == 9
    assert pool.earliest(1, 0, 2) == 13


def test_lanes_are_given_out_in_the_end() -> None:
    start, end = [0, 0, 3, 3, 5], [3, 9, 3, 8, 6]
    assert lanes_of([0, 1, 2, 3, 4], start, end) == {0: 0, 1: 1, 2: 0, 3: 0, 4: 2}


# --- costs --------------------------------------------------------------------------------------------------------


def test_means_are_exact_and_over_the_devices_that_may_run_an_operator() -> None:
    graph = graph_of({"a": {"p0": 1, "p1": 2, "p2": 4}, "b": {"p0": 5, "p2": 8}, "c": 3}, (("a", "b"),))
    costs = Costs(make_problem(graph, procs(3)))
    assert [Fraction(value, costs.scale) for value in costs.mean_durations] == [Fraction(7, 3), Fraction(13, 2), 3]
    assert costs.median_durations() == [4, 13, 6]


def _linked() -> Problem:
    """Three devices in a row; a sends 60 bytes to b and 90 to c."""
    builder = GraphBuilder("linked", "tick")
    builder.add_op("a", duration=10, outputs=["x", "y"])
    builder.add_op("b", duration=10, inputs=["x"])
    builder.add_op("c", duration=10, inputs=["y"])
    builder.add_tensor("x", bytes=60)
    builder.add_tensor("y", bytes=90)
    links = (Link("d0", "d1", 2, 3e9), Link("d1", "d2", 5, 1e9), Link("d0", "d2", 2, 3e9))
    return make_problem(builder.build(), HardwareProfile("row", tuple(Device(f"d{n}") for n in range(3)), links))


def test_transfers_are_those_of_the_problem_once_per_kind_of_route() -> None:
    problem = _linked()
    costs = Costs(problem)
    assert costs.kind == [[-1, 0, 0], [0, -1, 1], [0, 1, -1]]
    assert costs.transfers == [[[], [22], [32]], [[], [65], [95]]]
    assert [Fraction(times[0], costs.scale) for times in costs.mean_transfers[1:]] == [Fraction(109, 3), 53]
    for source in costs.devices:
        for target in costs.devices:
            if source != target:
                kind = costs.kind[source][target]
                assert costs.transfers[kind][1] == [problem.transfer_ns(0, 1, source, target)]


def test_arrivals_with_links_of_several_kinds() -> None:
    plan = PartialPlan(Costs(_linked()), insertion=False)
    plan.place(0, 1, 0)
    assert plan.arrivals(1) == [10 + 22, 10, 10 + 65]


def test_arrivals_from_near_and_far() -> None:
    builder = GraphBuilder("joins", "tick")
    for name, duration in (("a", 10), ("b", 14), ("c", 3), ("end", 1)):
        builder.add_op(name, duration=duration)
    for name, delay in (("a", 8), ("b", 2), ("c", 11)):
        builder.add_edge(name, "end", delay=delay)
    plan = PartialPlan(Costs(make_problem(builder.build(), procs(3))), insertion=False)
    plan.place(0, 0, 0)
    plan.place(1, 1, 0)
    plan.place(2, 0, 10)
    # From d0: 10 (18 from afar) and 13 (24); from d1: 14 (16).
    assert plan.arrivals(3) == [max(13, 16), max(14, 24), 24]


# --- orders and priorities ----------------------------------------------------------------------------------------


def test_rules_by_hand() -> None:
    edges = (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"))
    costs = Costs(make_problem(graph_of({"a": 2, "b": 7, "c": 5, "d": 3, "e": 11}, edges), lanes(2)))
    found = {
        name: list(PRIORITIES[name](costs).values) for name in ("level", "lft", "slack", "mts", "grpw", "spt", "lpt")
    }
    assert found == {
        "level": [12, 10, 8, 3, 11],
        "lft": [10, 3, 3, 0, 0],
        "slack": [12, 12, 10, 12, 11],
        "mts": [3, 1, 1, 0, 0],
        "grpw": [14, 10, 8, 3, 11],
        "spt": [-2, -7, -5, -3, -11],
        "lpt": [2, 7, 5, 3, 11],
    }


def test_redundant_arcs_do_not_count_for_labels() -> None:
    graph = graph_of(dict.fromkeys("abcde", 1), (("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("a", "e")))
    assert without_redundant_arcs(graph)[graph.index["a"]] == [graph.index["b"], graph.index["e"]]
    labels = dict(zip(graph.names, coffman_graham_labels(graph), strict=True))
    assert labels == {"e": 1, "c": 2, "d": 3, "b": 4, "a": 5}


def _start(op: int, device: int, start: int, end: int) -> int:
    return start


def _end(op: int, device: int, start: int, end: int) -> int:
    return end


@pytest.mark.parametrize("order", [by_lowest_score, by_level, by_lowest_of_batch])
@pytest.mark.parametrize(("quick", "slow"), [(starts_first, _start), (ends_first, _end)])
def test_pairs_by_lines_are_those_found_one_by_one(order: Order, quick: Score, slow: Score) -> None:
    for hardware in (lanes(1), lanes(3), procs(3), rigid(3, cores=4, ports=2), small_gpu(4, 3, resident=2)):
        names = [device.name for device in hardware.devices]
        for seed in range(6):
            demands = dict(hardware.devices[0].resources) or None
            delays = (0, 2, 5, 19) if len(names) > 1 else ()
            graph = random_graph(seed, 40, sizes=(), demands=demands, delays=delays, devices=names)
            costs = Costs(problem_of(graph, hardware))
            plans = []
            for score in (quick, slow):
                plan = PartialPlan(costs, insertion=False)
                order(plan, PRIORITIES["median_level"](costs), score)
                plans.append(plan.finished())
            assert plans[0] == plans[1], (hardware.name, seed)


@pytest.mark.parametrize(
    ("spec", "devices", "makespan"),
    [
        ("olb", [0, 1, 1], 12),  # free at 0, 0; then 12, 7
        ("met", [1, 1, 1], 17),  # all of them are quicker there
        ("mct", [1, 0, 1], 10),  # a ends at 5, not 12; b at 9, not 5 + 7; c at 10, not 9 + 12
        ("min_min", [1, 0, 1], 10),  # a at 5, b at 9, c at 10
        ("max_min", [0, 1, 1], 12),  # b at 7; a at 12 on either, the first is taken; c at 12
    ],
)
def test_mapping_rules_by_hand(spec: str, devices: list[int], makespan: int) -> None:
    costs = {"a": {"p0": 12, "p1": 5}, "b": {"p0": 9, "p1": 7}, "c": {"p0": 12, "p1": 5}}
    plan = planned(spec, make_problem(graph_of(costs), procs(2)))
    assert (list(plan.stream), plan.makespan) == (devices, makespan)


def test_sufferage_gives_the_best_device_to_who_needs_it() -> None:
    # b would lose 20 without p0, a only 1.
    problem = make_problem(graph_of({"a": {"p0": 4, "p1": 5}, "b": {"p0": 6, "p1": 26}}), procs(2))
    assert (list(planned("sufferage", problem).stream), planned("sufferage", problem).makespan) == ([1, 0], 6)
    assert planned("min_min", problem).makespan == 10


def test_the_serial_scheme_looks_ahead_and_the_parallel_one_does_not_wait() -> None:
    # x (2 units) could start at 0, but then y (3 units, all that matters) has to wait for it.
    builder = GraphBuilder("schemes", "tick")
    builder.add_op("first", duration=2, demands={"cores": 1})
    builder.add_op("y", duration=10, demands={"cores": 3})
    builder.add_op("x", duration=6, demands={"cores": 1})
    builder.add_edge("first", "y")
    problem = make_problem(builder.build(), rigid(3, cores=3))
    assert list(planned("sgs", problem).start) == [0, 2, 12]
    assert list(planned("sgs(scheme=parallel)", problem).start) == [0, 6, 0]
    for spec in ("sgs", "sgs(scheme=parallel)"):
        assert list(simsched.run(problem, spec).trace.start) == list(planned(spec, problem).start)


def test_on_blocks_a_plan_counts_whole_sms() -> None:
    device = Device("gpu", kind="gpu", model="blocks", streams=4, resources={"sms": 4})
    graph = graph_of({"a": 5, "b": 7}, demands={"sms": 3})
    plan = planned("heft", make_problem(graph, HardwareProfile("blocks", (device,))))
    assert plan.makespan == 12


def test_a_plan_survives_late_operators() -> None:
    graph = random_graph(3, 40, sizes=(), demands={"cores": 4})
    problem = problem_of(graph, rigid(3, cores=4))
    for spec in PLANNERS:
        assert simsched.run(problem, spec, noise="lognormal(0.5)", seed=5).valid


# --- names, refusals, contract ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("sgs(rule=lpf)", "unknown rule of sgs 'lpf'; did you mean"),
        ("sgs(scheme=both)", "unknown scheme of sgs 'both'"),
        ("parametric(priority=upwards)", "unknown priority 'upwards'; did you mean"),
        ("parametric(order=lost)", "unknown order 'lost'"),
        ("parametric(selection=stop)", "unknown selection 'stop'"),
    ],
)
def test_unknown_parts(spec: str, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        make_scheduler(spec)
    assert message in str(caught.value)


def test_parametric_is_heft_unless_told_otherwise() -> None:
    problem = problem_of(random_graph(7, 30, delays=(0, 2, 5, 19), sizes=(), devices=("p0", "p1", "p2")), procs(3))
    assert Parametric().plan(problem) == planned("heft", problem)
    assert Recipe("upward", "list", "finish", insertion=False).plan(problem) == planned(
        "heft(insertion=false)", problem
    )


@pytest.mark.parametrize("spec", PLANNERS)
def test_specs_are_written_as_they_are_read(spec: str) -> None:
    made = make_scheduler(spec)
    assert scheduler_spec(made) == spec
    assert make_scheduler(scheduler_spec(made)) == made


def test_hu_says_where_he_is_not_optimal() -> None:
    tree = graph_of({"a": 3, "b": 3, "c": 3}, (("a", "c"), ("b", "c")))
    assert Hu().doubts(make_problem(tree, lanes(5))) == []
    assert Hu().doubts(make_problem(tree, procs(2))) == []
    mixed = graph_of({"a": 3, "b": 3, "c": 3, "d": 4}, (("a", "c"), ("b", "c"), ("a", "d")), demands={"cores": 1})
    problem = make_problem(mixed, rigid(2, cores=2))
    assert Hu().doubts(problem) == [
        "not all operators take equally long",
        "operators hold units of a device",
        "the graph is neither an in-forest nor an out-forest",
    ]
    assert Hu().plan(problem).makespan > 0
    with pytest.raises(SchedulerError, match=r"hu\(strict=true\): the result may not be optimal: not all operators"):
        Hu(strict=True).start(problem)


def test_coffman_and_graham_say_where_they_are_not_optimal() -> None:
    builder = GraphBuilder("pair", "tick")
    builder.add_op("a", duration=1)
    builder.add_op("b", duration=1)
    builder.add_edge("a", "b", delay=2)
    graph = builder.build()
    assert CoffmanGraham().doubts(make_problem(graph, lanes(2))) == []
    assert CoffmanGraham().doubts(make_problem(graph, procs(3))) == [
        "transfers between devices take time",
        "there are 3 lanes, not two",
    ]


def test_devices_that_all_may_run_everything_equally_fast_are_lanes() -> None:
    graph = graph_of({name: {"p0": 3, "p1": 3} for name in "abc"}, (("a", "b"), ("b", "c")))
    assert Hu().doubts(make_problem(graph, procs(2))) == []
    graph = graph_of({"a": {"p0": 3, "p1": 3}, "b": {"p1": 3}})
    assert Hu().doubts(make_problem(graph, procs(2)))[-1] == "not every operator may run on every device"


@pytest.mark.parametrize("rule", ["lft", "lst", "slack", "mts", "grpw", "spt", "lpt", "list"])
@pytest.mark.parametrize("scheme", ["serial", "parallel"])
def test_every_rule_in_both_schemes(rule: str, scheme: str) -> None:
    problem = problem_of(random_graph(11, 20, sizes=(), demands={"cores": 4}), rigid(3, cores=4))
    scheduler = Sgs(rule, scheme)
    assert simsched.run(problem, scheduler).makespan == scheduler.plan(problem).makespan


@pytest.mark.parametrize("spec", PLANNERS)
def test_the_contract_on_the_zoo(spec: str) -> None:
    assert check_scheduler(make_scheduler(spec)) == 27
