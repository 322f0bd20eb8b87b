"""The engine against a second simulator (``tests/reference_engine.py``), on thousands of small random problems.

Everything is compared: streams, dispatches, starts, ends, waits with their reasons, transfers, live bytes, peaks, the
number of calls; and where a run cannot be carried out, the kind of the error.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import pytest

from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.errors import SimschedError
from simsched.graph.model import Graph
from simsched.graph.ranks import b_level
from simsched.hardware import Device, HardwareProfile, Link
from simsched.problem import Problem
from simsched.schedule import Schedule, parse_schedule
from simsched.schedulers.base import Policy, Scheduler, View
from simsched.schedulers.follow import Follow
from simsched.schedulers.registry import make_scheduler
from simsched.trace import Trace, read_trace
from tests.builders import DELAYS, DURATIONS, SIZES, problem_of, random_graph
from tests.reference_engine import Told, changes, refer

CASES = 1600
SPECS = (
    "serial", "topological", "critical_path", "greedy_ready:fifo", "greedy_ready:spt", "memory_aware",
    "memory_aware(slack=0.5)", "random:3",
)  # fmt: skip
MODES = ("unbounded", "block", "strict")


@dataclass(frozen=True)
class Case:
    """One problem with what runs it."""

    problem: Problem
    scheduler: Scheduler
    memory: str
    actual: Sequence[Sequence[int]] | None


def drawn_case(seed: int) -> Case:
    rng = random.Random(seed)
    hardware = drawn_hardware(rng)
    problem = problem_of(drawn_graph(rng, hardware), hardware)
    actual = None
    if rng.random() < 0.4:
        devices = range(len(hardware.devices))
        actual = [[max(0, ns + rng.choice((-2, -1, 0, 1, 4))) for ns in problem.durations(d)] for d in devices]
    memory = rng.choice(MODES)
    static = rng.random() < 0.5
    scheduler = Follow(drawn_schedule(rng, problem)) if static else make_scheduler(rng.choice(SPECS))
    return Case(problem, scheduler, memory, actual)


def drawn_hardware(rng: random.Random) -> HardwareProfile:
    """One to three devices of either model, with few or many streams, tight or ample memory, some of them linked."""
    count = rng.choice((1, 1, 1, 2, 2, 3))
    devices = tuple(
        Device(
            f"d{number}",
            model=rng.choice(("lanes", "sm_share")),
            streams=rng.choice((1, 2, 3, 12)),
            resources={"sms": rng.choice((2, 4)), "ports": 2},
            memory_capacity=rng.choice((None, 40, 60, 90, 150, 300)),
            max_resident_kernels=rng.choice((None, None, 1, 2)),
        )
        for number in range(count)
    )
    pairs = [(a, b) for b in range(count) for a in range(b) if rng.random() < 0.6]
    links = tuple(Link(f"d{a}", f"d{b}", rng.choice((0, 2, 5)), rng.choice((None, 1e9, 3e8))) for a, b in pairs)
    return HardwareProfile("drawn", devices, links)


def drawn_graph(rng: random.Random, hardware: HardwareProfile) -> Graph:
    names = [device.name for device in hardware.devices]
    return random_graph(
        rng.randrange(10**9),
        rng.randint(0, 10),
        degree=rng.choice((0.5, 1, 2)),
        durations=rng.choice((DURATIONS, (0, 0, 0, 1), (1,), (2, 3), (0,))),
        sizes=rng.choice(((), SIZES, (10,))),
        workspace=(0, 0, 5, 23),
        demands=rng.choice((None, {"sms": 2}, {"sms": 2, "ports": 2})),
        delays=rng.choice(((), DELAYS)),
        devices=rng.choice(((), names)),
        parameters=rng.choice((0, 2)),
        shuffle=rng.random() < 0.5,
    )


def drawn_schedule(rng: random.Random, problem: Problem) -> Schedule:
    """Operators on random allowed streams: in topological order, slightly out of it, or in any (most deadlock)."""
    order = list(range(len(problem.graph)))
    for _ in range(rng.choice((0, 0, 1, 3)) if len(order) > 1 else 0):
        at = rng.randrange(len(order) - 1)
        order[at], order[at + 1] = order[at + 1], order[at]
    if rng.random() < 0.15:
        rng.shuffle(order)
    streams: dict[int, list[int]] = {}
    for op in order:
        device = rng.choice(problem.allowed_devices(op))
        streams.setdefault(rng.choice(problem.device_streams[device]), []).append(op)
    launch: list[int] = []
    left = {stream: list(ops) for stream, ops in sorted(streams.items())} if rng.random() < 0.7 else {}
    while left:
        stream = rng.choice(list(left))
        launch.append(left[stream].pop(0))
        left = {stream: ops for stream, ops in left.items() if ops}
    return Schedule({stream: tuple(ops) for stream, ops in sorted(streams.items())}, tuple(launch))


def told_by(trace: Trace, devices: int) -> Told:
    """Bring a trace of the engine into the form of the reference."""
    told = Told(*(list(getattr(trace, name)) for name in ("stream", "dispatch", "ready", "start", "end")))
    told.launch_order = list(trace.launch_order)
    told.waits = sorted((wait.op, wait.reason, wait.start, wait.end) for wait in trace.waits)
    told.transfers = sorted(
        (move.source, move.target, move.from_device, move.to_device, move.start, move.end, move.bytes)
        for move in trace.transfers
    )
    told.curves = {device: changes(trace.memory.curve(device)) for device in range(devices)}
    told.peaks = {device: trace.memory.peak(device) for device in range(devices)}
    told.calls = trace.calls
    return told


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
        again = simulate(case.problem, Follow(read_trace(trace.to_json(case.problem), case.problem)), **given)
        alike = replace(again, reasons=trace.reasons)
        assert alike.to_json(case.problem) == trace.to_json(case.problem), f"seed {seed}"
        runs += 1
    assert runs > CASES // 4


def test_the_text_of_a_list_schedule_repeats_it_on_lanes() -> None:
    runs = 0
    for seed in range(CASES):
        case = drawn_case(seed)
        problem = case.problem
        # In strict runs the policy holds back what does not fit; a schedule does not.
        if len(problem.devices) > 1 or problem.devices[0].model != "lanes" or case.memory == "strict":
            continue
        try:
            trace = simulate(problem, make_scheduler(LISTS[seed % 4]), memory=case.memory)
        except SimschedError:
            continue
        text = trace.schedule().to_text(problem)
        again = simulate(problem, Follow(parse_schedule(text, problem)), memory=case.memory)
        assert (again.start, again.stream) == (trace.start, trace.stream), f"seed {seed}"
        runs += 1
    assert runs > CASES // 8
