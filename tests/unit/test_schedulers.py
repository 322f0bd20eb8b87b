"""Schedulers on hand-worked problems, their names, and the contract on the zoo."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from simsched.engine.simulator import simulate
from simsched.errors import ConfigError, SchedulerError
from simsched.graph.builder import GraphBuilder
from simsched.graph.lifetimes import greedy_order, sequential_peak
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, lanes, procs
from simsched.problem import Problem, make_problem
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.follow import Follow
from simsched.schedulers.listing import dynamic_list_policy, list_policy
from simsched.schedulers.memory_aware import MemoryAware
from simsched.schedulers.pipeline import Pipeline, balanced_cuts, stage_order
from simsched.schedulers.registry import make_scheduler
from simsched.testing import ContractError, check_scheduler
from tests.builders import random_graph


def diamond() -> Graph:
    builder = GraphBuilder("diamond", "tick")
    for name, duration in (("top", 2), ("short", 3), ("long", 7), ("bottom", 5)):
        builder.add_op(name, duration=duration)
    for source, target in (("top", "short"), ("top", "long"), ("short", "bottom"), ("long", "bottom")):
        builder.add_edge(source, target)
    return builder.build()


def starts(problem: Problem, spec: str) -> dict[str, int]:
    trace = simulate(problem, make_scheduler(spec))
    return dict(zip(problem.graph.names, trace.start, strict=True))


# --- what each does ------------------------------------------------------------------------------------------------


def test_serial_runs_one_at_a_time_in_file_order() -> None:
    assert starts(make_problem(diamond(), lanes(3)), "serial") == {"top": 0, "short": 2, "long": 5, "bottom": 12}


def test_serial_stays_on_the_device_with_the_least_total_work() -> None:
    builder = GraphBuilder("g", "tick")
    builder.add_op("a", duration={"p0": 9, "p1": 2})
    builder.add_op("b", duration={"p0": 3, "p1": 4})
    builder.add_edge("a", "b", delay=100)
    trace = simulate(make_problem(builder.build(), procs(2)), make_scheduler("serial"))
    assert list(trace.stream) == [1, 1]
    assert trace.makespan == 6


def test_topological_never_lets_a_later_operator_start_first() -> None:
    builder = GraphBuilder("g", "tick")
    for name, duration in (("a", 5), ("b", 1), ("c", 1)):
        builder.add_op(name, duration=duration)
    builder.add_edge("a", "b")
    problem = make_problem(builder.build(), lanes(2))
    assert starts(problem, "topological") == {"a": 0, "b": 5, "c": 5}
    assert starts(problem, "greedy_ready") == {"a": 0, "b": 5, "c": 0}


@pytest.mark.parametrize("seed", range(12))
def test_topological_starts_are_in_order_on_any_hardware(seed: int) -> None:
    graph = random_graph(seed, 60, delays=(0, 2, 5))
    for hardware in (lanes(3), procs(3)):
        trace = simulate(make_problem(graph, hardware), make_scheduler("topological"))
        assert all(first <= second for first, second in itertools.pairwise(trace.start))


def test_critical_path_takes_the_longest_path_first() -> None:
    builder = GraphBuilder("g", "tick")
    for name, duration in (("x", 4), ("y", 4), ("head", 1), ("tail", 9)):
        builder.add_op(name, duration=duration)
    builder.add_edge("head", "tail")
    problem = make_problem(builder.build(), lanes(1))
    assert starts(problem, "critical_path") == {"head": 0, "tail": 1, "x": 10, "y": 14}


@pytest.mark.parametrize(
    ("rule", "order"),
    [
        ("list", ["e", "a", "b", "c", "d"]),
        ("spt", ["c", "b", "a", "d", "e"]),
        ("lpt", ["e", "d", "a", "b", "c"]),
        ("lft", ["c", "b", "e", "a", "d"]),
        ("fifo", ["e", "a", "b", "c", "d"]),
    ],
)
def test_rules_of_greedy_ready_on_one_lane(rule: str, order: list[str]) -> None:
    # Paths after an operator: c has b after it... c->d (11): latest finish earliest; b->a (5).
    builder = GraphBuilder("g", "tick")
    for name, duration in (("e", 13), ("a", 5), ("b", 3), ("c", 2), ("d", 11)):
        builder.add_op(name, duration=duration)
    if rule == "lft":
        builder.add_edge("c", "d")
        builder.add_edge("b", "a")
    found = starts(make_problem(builder.build(), lanes(1)), f"greedy_ready:{rule}")
    assert sorted(found, key=found.__getitem__) == order


def test_fifo_goes_by_the_time_of_becoming_ready() -> None:
    # Two lanes: late is ready from 0 but has the highest id; x becomes ready at 2.
    builder = GraphBuilder("g", "tick")
    for name, duration in (("a", 2), ("b", 3), ("x", 1), ("late", 1)):
        builder.add_op(name, duration=duration)
    builder.add_edge("a", "x")
    problem = make_problem(builder.build(), lanes(2))
    assert starts(problem, "greedy_ready") == {"a": 0, "b": 0, "late": 2, "x": 3}
    assert starts(problem, "greedy_ready:list") == {"a": 0, "b": 0, "x": 2, "late": 3}


def test_list_schedulers_pass_over_what_does_not_fit() -> None:
    builder = GraphBuilder("g", "tick")
    for name, duration, units in (("big", 9, 3), ("bigger", 8, 4), ("small", 1, 1)):
        builder.add_op(name, duration=duration, demands={"sms": units})
    hardware = HardwareProfile("h", (Device("d0", model="sm_share", streams=3, resources={"sms": 4}),))
    assert starts(make_problem(builder.build(), hardware), "critical_path") == {"big": 0, "small": 0, "bigger": 9}


def test_on_unequal_devices_an_operator_goes_where_it_ends_first() -> None:
    builder = GraphBuilder("g", "tick")
    builder.add_op("a", duration={"p0": 5, "p1": 3})
    builder.add_op("b", duration={"p0": 4, "p1": 7})
    trace = simulate(make_problem(builder.build(), procs(2)), make_scheduler("critical_path"))
    assert list(trace.stream) == [1, 0]


def test_random_is_the_same_for_a_seed_and_differs_between_seeds() -> None:
    problem = make_problem(random_graph(3, 40), lanes(2))
    runs = [starts(problem, f"random:{seed}") for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_random_without_a_seed_takes_the_problem_s() -> None:
    graph = random_graph(3, 40)
    assert starts(make_problem(graph, lanes(2), seed=5), "random") == starts(make_problem(graph, lanes(2)), "random:5")


def test_priorities_may_be_fractions_but_not_nan() -> None:
    @dataclass(frozen=True)
    class Given:
        priority: tuple[float, ...]

        def start(self, problem: Problem) -> Policy:
            return list_policy(problem, self.priority)

    problem = make_problem(diamond(), lanes(1))
    assert list(simulate(problem, Given((0.5, -1.5, 0.25, 2))).start) == [0, 9, 2, 12]
    with pytest.raises(SchedulerError, match="the priority of operator 2 is not a number"):
        simulate(problem, Given((0.5, 1.5, float("nan"), 2)))


# --- memory-aware --------------------------------------------------------------------------------------------------


def wide_chains(chains: int, sizes: tuple[int, ...]) -> Graph:
    """Independent chains whose intermediate tensors have the given sizes."""
    builder = GraphBuilder("chains", "tick")
    for number in range(chains):
        for step in range(len(sizes) + 1):
            builder.add_op(f"k{number}.{step}", duration=3)
        for step, size in enumerate(sizes):
            builder.add_edge(f"k{number}.{step}", f"k{number}.{step + 1}", bytes=size)
    return builder.build()


def test_memory_aware_needs_no_more_than_the_frugal_order() -> None:
    # One chain at a time needs 40 + 2; six at once would need 240.
    problem = make_problem(wide_chains(6, (40, 2)), lanes(6))
    assert simulate(problem, make_scheduler("critical_path")).memory.peak(0) == 6 * 42
    careful = simulate(problem, MemoryAware())
    assert careful.memory.peak(0) == sequential_peak(problem.graph, greedy_order(problem.graph, [0] * 18), [0] * 18)
    assert careful.memory.peak(0) < 100


def test_slack_buys_parallelism() -> None:
    problem = make_problem(wide_chains(6, (40, 2)), lanes(6))
    spans = [simulate(problem, MemoryAware(slack=slack)) for slack in (0.0, 1.0, 10.0)]
    assert [trace.makespan for trace in spans] == sorted((trace.makespan for trace in spans), reverse=True)
    assert spans[-1].makespan == 9
    peaks = [trace.memory.peak(0) for trace in spans]
    assert peaks == sorted(peaks)


@pytest.mark.parametrize("seed", range(40))
def test_memory_aware_keeps_its_target_and_never_runs_dry(seed: int) -> None:
    graph = random_graph(seed, 30, sizes=(1, 7, 31, 100), workspace=(0, 5))
    sequential = make_problem(graph, lanes(1))
    workspace = [sequential.workspace(op) for op in range(len(graph))]
    target = min(
        sequential_peak(graph, order, workspace) for order in (range(len(graph)), greedy_order(graph, workspace))
    )
    device = Device("d0", streams=4, memory_capacity=target)
    trace = simulate(make_problem(graph, HardwareProfile("h", (device,))), MemoryAware(), memory="block")
    assert trace.memory.peak(0) <= target
    assert simulate(make_problem(graph, lanes(4)), MemoryAware()).memory.peak(0) <= target


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), 1e300])
def test_memory_aware_refuses_slack_that_is_none(value: float) -> None:
    with pytest.raises(SchedulerError, match="slack must be between 0 and 1e9"):
        MemoryAware(slack=value)


# --- pipeline ------------------------------------------------------------------------------------------------------


def test_stage_orders() -> None:
    held = {(phase, batch): None for phase in "FB" for batch in range(4)}

    def words(order: str, stage: int) -> str:
        return " ".join(f"{phase}{batch}" for phase, batch in stage_order(order, stage, 3, held))

    assert words("gpipe", 0) == "F0 F1 F2 F3 B0 B1 B2 B3"
    assert words("1f1b", 0) == "F0 F1 F2 B0 F3 B1 B2 B3"
    assert words("1f1b", 1) == "F0 F1 B0 F2 B1 F3 B2 B3"
    assert words("1f1b", 2) == "F0 B0 F1 B1 F2 B2 F3 B3"


@pytest.mark.parametrize("seed", range(30))
def test_balanced_cuts_are_optimal(seed: int) -> None:
    import random

    source = random.Random(seed)
    work = [source.choice([0, 1, 2, 3, 5, 7, 11]) for _ in range(source.randint(0, 9))]
    parts = source.randint(1, 4)
    found = balanced_cuts(work, parts)
    assert found == sorted(found)
    assert len(set(found)) <= parts

    def largest(cuts: Iterable[int]) -> int:
        edges = [0, *cuts, len(work)]
        return max(sum(work[a:b]) for a, b in itertools.pairwise(edges))

    best = min(largest(cuts) for cuts in itertools.combinations_with_replacement(range(len(work) + 1), parts - 1))
    loads = [sum(amount for amount, part in zip(work, found, strict=True) if part == stage) for stage in range(parts)]
    assert max(loads) == best


def test_given_stages_are_kept_and_must_be_complete() -> None:
    builder = GraphBuilder("g", "tick")
    for name, stage in (("a", 1), ("b", 0)):
        builder.add_op(name, duration=3, attributes={"stage": stage})
    trace = simulate(make_problem(builder.build(), lanes(2)), Pipeline())
    assert list(trace.stream) == [1, 0]
    builder = GraphBuilder("g", "tick")
    builder.add_op("a", duration=3, attributes={"stage": 1})
    builder.add_op("b", duration=3)
    with pytest.raises(SchedulerError, match="operator 'b' has no attribute 'stage'"):
        simulate(make_problem(builder.build(), lanes(2)), Pipeline())


def test_a_pipeline_needs_as_many_streams_as_stages() -> None:
    with pytest.raises(SchedulerError, match="3 stages need as many streams; lanes:2 has 2"):
        simulate(make_problem(diamond(), lanes(2)), Pipeline(stages=3))


@pytest.mark.parametrize("attributes", [{"phase": "X"}, {"microbatch": "first"}, {"microbatch": -1}])
def test_odd_pipeline_attributes_are_named(attributes: dict[str, object]) -> None:
    builder = GraphBuilder("g", "tick")
    builder.add_op("a", duration=3, attributes=attributes)
    with pytest.raises(SchedulerError, match=r"operator 'a' has phase .* expected F, B or W, and a number from 0"):
        simulate(make_problem(builder.build(), lanes(2)), Pipeline())


# --- follow --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["topological", "critical_path", "greedy_ready:spt", "memory_aware", "random:3"])
@pytest.mark.parametrize("seed", range(8))
def test_a_recorded_run_is_repeated_to_the_nanosecond(spec: str, seed: int) -> None:
    graph = random_graph(seed, 40, durations=(0, 0, 1, 3, 7), demands={"sms": 4})
    hardware = HardwareProfile("h", (Device("d0", model="sm_share", streams=4, resources={"sms": 5}),))
    problem = make_problem(graph, hardware)
    trace = simulate(problem, make_scheduler(spec))
    again = simulate(problem, Follow(trace))
    assert (again.start, again.end, again.stream) == (trace.start, trace.end, trace.stream)


def test_an_order_alone_may_start_earlier_than_the_run_it_was_taken_from() -> None:
    builder = GraphBuilder("g", "tick")
    for name, duration in (("a", 5), ("b", 1), ("c", 1)):
        builder.add_op(name, duration=duration)
    builder.add_edge("a", "b")
    problem = make_problem(builder.build(), lanes(2))
    trace = simulate(problem, make_scheduler("topological"))
    assert list(trace.start) == [0, 5, 5]
    assert list(simulate(problem, Follow(trace.schedule())).start) == [0, 5, 0]
    assert list(simulate(problem, Follow(trace)).start) == [0, 5, 5]


def test_follow_reads_a_text_and_a_recorded_trace(tmp_path: Path) -> None:
    problem = make_problem(diamond(), lanes(2))
    trace = simulate(problem, make_scheduler("critical_path"))
    (tmp_path / "s.txt").write_text(trace.schedule().to_text(problem))
    (tmp_path / "t.json").write_text(trace.to_json(problem))
    for name in ("s.txt", "t.json"):
        assert simulate(problem, make_scheduler(f"follow:{tmp_path / name}")).start == trace.start


def test_follow_names_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    problem = make_problem(diamond(), lanes(2))
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(ConfigError, match="not a recorded run of this problem: it has no 'simsched_trace': 1"):
        simulate(problem, Follow(tmp_path / "t.json"))
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        simulate(problem, Follow(tmp_path / "absent.txt"))


# --- contract ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mine:
    """A user's own: the operator with the most successors first."""

    weight: int = 1

    def start(self, problem: Problem) -> Policy:
        succ = problem.graph.succ
        return dynamic_list_policy(lambda op, view: (-self.weight * len(succ[op]),))


@dataclass(frozen=True)
class Cheat:
    """Uses only one stream, and forgets the last operator."""

    def start(self, problem: Problem) -> Policy:
        def policy(view: View) -> Iterable[Dispatch]:
            return [Dispatch(op, 0) for op in view.newly_ready if op + 1 < len(problem.graph)]

        return policy


@pytest.mark.parametrize(
    "spec",
    [
        "serial", "topological", "critical_path", "greedy_ready", "greedy_ready:spt", "greedy_ready:lpt",
        "greedy_ready:lft", "greedy_ready:list", "memory_aware", "memory_aware(slack=1)", "pipeline", "pipeline:gpipe",
        "random:1", "tests.unit.test_schedulers:Mine",
    ],
)  # fmt: skip
def test_every_scheduler_keeps_the_contract(spec: str) -> None:
    assert check_scheduler(make_scheduler(spec)) == 27


def test_the_contract_catches_a_cheat() -> None:
    with pytest.raises(ContractError, match="Cheat\\(\\) on one operator on one lane: SchedulerStalledError"):
        check_scheduler(Cheat)
