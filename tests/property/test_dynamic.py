"""Properties of schedulers that react: online equals its planner where nothing departs, and is valid where all does."""

from __future__ import annotations

from typing import Any, Literal

import pytest

import simsched
from simsched.hardware import lanes, procs
from simsched.noise import Noise, actual_durations
from simsched.problem import Problem
from simsched.profiles import load_hardware
from simsched.profiles.variants import with_launch, with_model
from simsched.schedulers.dynamic.estimates import with_durations
from simsched.schedulers.dynamic.informed import Informed
from simsched.schedulers.dynamic.online import Online
from simsched.schedulers.dynamic.replan import plan_rest, retimed
from simsched.schedulers.dynamic.stealing import VICTIMS, WorkStealing
from simsched.schedulers.planning.begun import Begun
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.registry import make_scheduler
from tests.builders import linked_pair, problem_of, random_graph, with_memory
from tests.planners import PLANNED_IN_FULL, PLANNERS, drawn_problem

HARDWARE = PLANNED_IN_FULL | {"links": linked_pair(0, 5e8, 1), "slow links": linked_pair(7, 1e8, 2)}


@pytest.mark.parametrize("hardware", sorted(PLANNED_IN_FULL))
@pytest.mark.parametrize("spec", [*PLANNERS, "anytime(schedules=30)"])
def test_with_exact_durations_online_does_what_its_planner_does(spec: str, hardware: str) -> None:
    for seed, operators in ((1, 0), (3, 12), (5, 25)):
        problem = drawn_problem(seed, operators, PLANNED_IN_FULL[hardware])
        alone = simsched.run(problem, make_scheduler(spec)).trace
        trace = simsched.run(problem, Online(spec, threshold=0)).trace
        if spec.startswith("anytime"):
            # It may be followed in another way than by the pace of its plan.
            assert trace.makespan == make_plan(spec, problem).makespan
        else:
            assert (list(trace.start), list(trace.end)) == (list(alone.start), list(alone.end))


def make_plan(spec: str, problem: Problem) -> Plan:
    scheduler: Any = make_scheduler(spec)
    plan: Plan = scheduler.plan(problem)
    return plan


@pytest.mark.parametrize("hardware", sorted(HARDWARE))
@pytest.mark.parametrize("spec", ["heft", "heft(insertion=false)", "etf", "sufferage", "sgs", "anytime(schedules=20)"])
def test_with_noise_online_is_valid_and_never_replanning_is_its_planner(spec: str, hardware: str) -> None:
    for seed in range(4):
        problem = drawn_problem(seed, 20, HARDWARE[hardware])
        noise = Noise("lognormal", 0.5)
        runs = [simsched.run(problem, Online(spec, threshold=0), noise=noise, seed=seed).trace for _ in range(2)]
        assert list(runs[0].start) == list(runs[1].start)
        never = simsched.run(problem, Online(spec, threshold=float("inf"), ahead=0), noise=noise, seed=seed).trace
        if hardware in ("one lane", "three lanes", "three processors"):
            alone = simsched.run(problem, make_scheduler(spec), noise=noise, seed=seed).trace
            assert list(never.start) == list(alone.start)


@pytest.mark.parametrize("hardware", ["two resources", "four SMs"])
def test_nobody_waits_in_a_stream_behind_a_late_operator_while_another_stream_is_free(hardware: str) -> None:
    for seed in range(12):
        trace = simsched.run(drawn_problem(seed, 25, HARDWARE[hardware]), "online(heft)", noise=0.5, seed=seed).trace
        for number, op in enumerate(trace.launch_order):
            before = [other for other in trace.launch_order[:number] if trace.end[other] > trace.dispatch[op]]
            assert len(before) >= 3 or trace.stream[op] not in [trace.stream[other] for other in before]


@pytest.mark.parametrize("mode", ["serial", "graph"])
def test_launches_and_blocks(mode: Literal["serial", "graph"]) -> None:
    hardware = with_launch(load_hardware("a100_sxm_80gb"), mode)
    for profile in (hardware, with_model(hardware, "blocks")):
        simsched.run("inception_v1", "online", profile, noise=0.3)
        simsched.run("inception_v1", "work_stealing", profile, noise=0.3)


def test_planning_again_pays_when_estimates_are_wrong() -> None:
    total = {"heft": 0, "online(heft)": 0}
    for seed in range(8):
        devices = ["p0", "p1", "p2"]
        graph = random_graph(seed, 60, durations=(20, 30, 50, 70, 110), delays=(0, 2, 5, 19), devices=devices)
        problem = problem_of(graph, procs(3))
        for spec in total:
            total[spec] += simsched.run(problem, spec, noise=0.5, seed=seed).makespan
    assert total["online(heft)"] < 0.96 * total["heft"]


# --- the rest of a plan ---------------------------------------------------------------------------------------------


def cut(problem: Problem, seed: int) -> Begun:
    """The state of a run with wrong estimates at the end of its middle operator."""
    noise = Noise("lognormal", 0.5)
    trace = simsched.run(problem, "greedy_ready", noise=noise, seed=seed).trace
    now = sorted(trace.end)[len(trace.end) // 2]
    begun = [op for op in range(len(trace.start)) if trace.start[op] <= now]
    begun = [op for op in begun if all(trace.end[other] <= trace.start[op] for other in problem.graph.pred[op])]
    begun = [op for op in begun if trace.start[op] < now or trace.end[op] == now]
    end = {}
    for op in begun:
        estimate = problem.durations(problem.stream_device[trace.stream[op]])[op]
        over = trace.end[op] <= now
        end[op] = trace.end[op] if over else max(trace.start[op] + estimate, now + 1)
    return Begun(now, {op: trace.stream[op] for op in begun}, {op: trace.start[op] for op in begun}, end)


def objections(problem: Problem, plan: Plan, begun: Begun) -> list[str]:
    """What is wrong with the rest of a plan, each by its definition."""
    graph, found = problem.graph, []
    device = [problem.stream_device[stream] for stream in plan.stream]
    for op in range(len(graph)):
        if op in begun.stream:
            if (plan.stream[op], plan.start[op], plan.end[op]) != (begun.stream[op], begun.start[op], begun.end[op]):
                found.append(f"{op} has begun and was moved")
            continue
        if device[op] not in problem.allowed_devices(op):
            found.append(f"{op} may not run there")
        if plan.start[op] < begun.now or plan.end[op] - plan.start[op] != problem.durations(device[op])[op]:
            found.append(f"{op} starts in the past or takes another time")
        for other in graph.pred[op]:
            sent = max(plan.end[other], begun.now) if problem.hardware.links else plan.end[other]
            moving = problem.transfer_ns(other, op, device[other], device[op])
            if plan.start[op] < max(plan.end[other], sent + moving if moving else 0):
                found.append(f"{op} starts before what {other} sends arrives")
    return found + too_much(problem, plan, begun, device)


def too_much(problem: Problem, plan: Plan, begun: Begun, device: list[int]) -> list[str]:
    """Where a device has more running than it can, from now on."""
    found = []
    rest = [op for op in range(len(plan.start)) if op not in begun.stream]
    for time in sorted({plan.start[op] for op in rest}):
        running = [op for op in range(len(plan.start)) if plan.start[op] <= time < plan.end[op]]
        for number, described in enumerate(problem.devices):
            there = [op for op in running if device[op] == number]
            for name, units in described.resources.items():
                if sum(problem.demand(op, number).get(name, 0) for op in there) > units:
                    found.append(f"more than {units} {name} at {time}")
            if len(there) > min(described.streams, described.max_resident_kernels or described.streams):
                found.append(f"too many at {time}")
            if not described.resources and len({plan.stream[op] for op in there}) < len(there):
                found.append(f"two in one stream at {time}")
    return found


@pytest.mark.parametrize("hardware", sorted(HARDWARE))
@pytest.mark.parametrize("spec", [*PLANNERS, "anytime(schedules=20)"])
def test_the_rest_of_a_plan_is_feasible(spec: str, hardware: str) -> None:
    planner: Any = make_scheduler(spec)
    for seed in range(5):
        problem = drawn_problem(seed, 22, HARDWARE[hardware])
        begun = cut(problem, seed)
        assert 5 < len(begun.stream) < 22
        plan = plan_rest(planner, problem, begun)
        assert objections(problem, plan, begun) == []
        again = retimed(problem, plan, begun)
        assert objections(problem, again, begun) == []
        if hardware in ("one lane", "three lanes", "three processors"):
            assert again.makespan <= plan.makespan


# --- others ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("victim", VICTIMS)
def test_thieves_leave_nobody_idle(victim: str) -> None:
    for seed in range(12):
        for streams in (1, 2, 3, 5):
            problem = drawn_problem(seed, 30, lanes(streams))
            durations = problem.durations(0)
            longest = [0] * 30
            for op in range(30):
                before = max((longest[other] for other in problem.graph.pred[op]), default=0)
                longest[op] = before + durations[op]
            # Graham: what never idles while something is ready takes no longer.
            makespan = simsched.run(problem, WorkStealing(victim)).makespan
            assert streams * makespan <= sum(durations) + (streams - 1) * max(longest)


@pytest.mark.parametrize("hardware", sorted(HARDWARE))
@pytest.mark.parametrize("victim", VICTIMS)
def test_theft_is_valid_and_repeats_for_a_seed(victim: str, hardware: str) -> None:
    starts = []
    for seed in (0, 1, 1):
        problem = drawn_problem(5, 25, HARDWARE[hardware])
        starts.append(list(simsched.run(problem, WorkStealing(victim, seed), noise=0.3).trace.start))
    assert starts[1] == starts[2]


def test_theft_with_little_memory() -> None:
    problem = problem_of(random_graph(4, 25, sizes=(3, 17)), with_memory(lanes(3), 400))
    assert simsched.run(problem, "work_stealing", memory="block").trace.memory is not None


@pytest.mark.parametrize(
    "spec", ["critical_path", "heft", "memory_aware", "online(heft)", "portfolio(members=heft+etf)"]
)
@pytest.mark.parametrize("info", ["mean", "blind", "noisy(0.4)"])
def test_wrong_estimates_lead_to_valid_runs(spec: str, info: str) -> None:
    for hardware in HARDWARE.values():
        problem = drawn_problem(3, 18, hardware)
        simsched.run(problem, Informed(spec, info), noise=0.2)


@pytest.mark.parametrize("info", ["mean", "blind", "noisy(0.4)"])
def test_only_durations_are_other(info: str) -> None:
    problem = drawn_problem(3, 18, HARDWARE["four SMs"])
    seen = Informed("serial", info).sees(problem)
    assert seen.demands_on(0) == problem.demands_on(0)
    assert (seen.graph.succ, seen.hardware, seen.seed) == (problem.graph.succ, problem.hardware, problem.seed)
    assert list(problem.durations()) == list(drawn_problem(3, 18, HARDWARE["four SMs"]).durations())


@pytest.mark.parametrize("hardware", sorted(HARDWARE))
def test_planning_on_noisy_estimates_is_planning_that_truth(hardware: str) -> None:
    """A planner that sees the truth of a run makes the plan that it would make were that truth the estimates."""
    problem = drawn_problem(3, 18, HARDWARE[hardware])
    truth = actual_durations(problem, Noise("lognormal", 0.4), 7)
    assert truth is not None
    columns = [[time or 0 for time in column] for column in truth]
    known = with_durations(problem, columns)
    informed = simsched.run(problem, Informed("heft", lambda problem, seed: columns), noise=0.4, seed=7)
    assert informed.makespan == simsched.run(known, "heft").makespan
