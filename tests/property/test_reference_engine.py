"""The engine against a second simulator (``tests/reference``), on thousands of small random problems.

Everything is compared: streams, dispatches, launches, starts, ends, waits with their reasons, transfers, cohorts, live
bytes, peaks, the number of calls; and where a run cannot be carried out, the kind of the error. Runs are short, so that
the engine's floats cannot drift from the reference's fractions.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import pytest

from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.errors import SimschedError
from simsched.graph.ranks import b_level
from simsched.problem import Problem
from simsched.schedule import parse_schedule
from simsched.schedulers.base import Policy, Scheduler, View
from simsched.schedulers.follow import Follow
from simsched.schedulers.registry import make_scheduler
from simsched.trace import read_trace
from tests.reference.cases import Case, busy_links_case, crowded_case, drawn_case, lanes_case
from tests.reference.engine import refer
from tests.reference.told import told_by

CASES = 1600


def engine_says(case: Case) -> dict[str, object] | str:
    try:
        trace = simulate(case.problem, case.scheduler, memory=case.memory, actual=case.actual)
    except SimschedError as error:
        return type(error).__name__
    assert check_trace(case.problem, trace, memory=case.memory, actual=case.actual) == []
    return asdict(told_by(trace, len(case.problem.devices)))


def reference_says(case: Case, scheduler: Scheduler | None = None) -> dict[str, object] | str:
    try:
        return asdict(refer(case.problem, scheduler or case.scheduler, memory=case.memory, actual=case.actual))
    except SimschedError as error:
        return type(error).__name__


@pytest.mark.parametrize("part", range(4))
def test_the_engine_agrees_with_the_reference(part: int) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(part * CASES // 4, (part + 1) * CASES // 4):
        case = drawn_case(seed)
        expected = reference_says(case)
        assert engine_says(case) == expected, f"seed {seed}"
        outcomes[expected if isinstance(expected, str) else "run"] += 1
    # The cases are of use only while runs, deadlocks and memory errors are all among them.
    assert outcomes["run"] > CASES // 8
    assert min(outcomes["DeadlockError"], outcomes["OutOfMemoryError"]) > CASES // 200


@pytest.mark.parametrize("drawn", [crowded_case, busy_links_case])
def test_where_nearly_all_is_shared_they_agree_too(drawn: Callable[[int], Case]) -> None:
    for seed in range(CASES // 4):
        case = drawn(seed)
        assert engine_says(case) == reference_says(case), f"seed {seed}"


@dataclass(frozen=True)
class PlainList:
    """List scheduling from its definition: the longest path first, whatever fits what is free."""

    def start(self, problem: Problem) -> Policy:
        rank = b_level(problem.graph, problem.shortest_durations())

        def policy(view: View) -> list[tuple[int, int, str]]:
            streams = set(view.idle_streams)
            units = {device: dict(view.free(device)) for device in range(len(problem.devices))}
            bytes_left = {device: view.free_bytes(device) for device in range(len(problem.devices))}
            chosen = []
            for op in sorted(view.ready, key=lambda op: (-rank[op], op)):
                options = []
                for device in problem.allowed_devices(op):
                    here = [stream for stream in streams if problem.stream_device[stream] == device]
                    held = problem.devices[device].streams - len(here)
                    limit = problem.devices[device].max_resident_kernels
                    enough = (limit is None or held < limit) and all(
                        n <= units[device].get(name, 0) for name, n in problem.demand(op, device).items()
                    )
                    room = bytes_left[device]
                    if here and enough and (room is None or view.memory_need(op, device) <= room):
                        end = max(view.now, view.arrival(op, device)) + problem.durations(device)[op]
                        options.append((end, device, min(here)))
                if options:
                    _, device, stream = min(options)
                    streams.remove(stream)
                    for name, needed in problem.demand(op, device).items():
                        units[device][name] = units[device].get(name, 0) - needed
                    room = bytes_left[device]
                    bytes_left[device] = None if room is None else room - view.memory_need(op, device)
                    chosen.append((op, stream, ""))
            return chosen

        return policy


def test_critical_path_agrees_with_list_scheduling_from_its_definition() -> None:
    for seed in range(50_000, 50_000 + CASES // 4):
        drawn = drawn_case(seed)
        case = Case(drawn.problem, make_scheduler("critical_path"), drawn.memory, drawn.actual)
        assert engine_says(case) == reference_says(case, PlainList()), f"seed {seed}"


LISTS = ("critical_path", "greedy_ready:fifo", "greedy_ready:spt", "random:3", "memory_aware", "topological", "serial")


def test_a_recorded_run_is_repeated_in_every_detail_on_any_hardware() -> None:
    runs = 0
    for seed in range(CASES // 2):
        case = drawn_case(seed)
        given, rng = {"memory": case.memory, "actual": case.actual}, random.Random(seed)
        scheduler = case.scheduler if rng.random() < 0.3 else make_scheduler(rng.choice(LISTS))
        try:
            trace = simulate(case.problem, scheduler, **given)
        except SimschedError:
            continue
        # A recorded run says how many operators of no length had ended before a dispatch, but not how many rounds there
        # were in which launches came through, or the last blocks of a kernel took no time.
        if trace.launched or any(cohort.start == cohort.end for cohort in trace.cohorts):
            continue
        again = simulate(case.problem, Follow(read_trace(trace.to_json(case.problem), case.problem)), **given)
        alike = replace(again, reasons=trace.reasons)
        assert alike.to_json(case.problem) == trace.to_json(case.problem), f"seed {seed}"
        runs += 1
    assert runs > CASES // 8


def test_the_text_of_a_list_schedule_repeats_it_on_lanes() -> None:
    runs = 0
    for seed in range(CASES // 4):
        case = lanes_case(seed)
        problem = case.problem
        try:
            trace = simulate(problem, make_scheduler(LISTS[seed % 4]), memory=case.memory)
        except SimschedError:
            continue
        text = trace.schedule().to_text(problem)
        again = simulate(problem, Follow(parse_schedule(text, problem)), memory=case.memory)
        assert (again.start, again.stream) == (trace.start, trace.stream), f"seed {seed}"
        runs += 1
    assert runs > CASES // 8
