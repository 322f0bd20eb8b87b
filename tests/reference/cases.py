"""Small random problems with everything that operators can share, for the engine and the reference."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simsched.cost.base import Block, CostModel, KernelCost
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device, Efficiency, HardwareProfile, Host, Link, SmLimits
from simsched.problem import Problem, make_problem
from simsched.schedule import Schedule
from simsched.schedulers.base import Scheduler
from simsched.schedulers.follow import Follow
from simsched.schedulers.registry import make_scheduler
from tests.builders import DELAYS, DURATIONS, SIZES, random_graph

SPECS = (
    "serial", "topological", "critical_path", "greedy_ready:fifo", "greedy_ready:spt", "memory_aware",
    "memory_aware(slack=0.5)", "random:3",
)  # fmt: skip
MODES = ("unbounded", "block", "strict")
SHARINGS = ("full_duplex", "full_duplex", "half_duplex", "unshared")


@dataclass(frozen=True)
class Case:
    """One problem with what runs it."""

    problem: Problem
    scheduler: Scheduler
    memory: str
    actual: Sequence[Sequence[int]] | None


def drawn_case(seed: int) -> Case:
    """A case of any kind; the same for the same seed."""
    return case_of(random.Random(seed))


def case_of(rng: random.Random) -> Case:
    """A case of any kind."""
    hardware = drawn_hardware(rng)
    problem = drawn_problem(rng, hardware)
    actual = None
    if rng.random() < 0.4:
        devices = range(len(hardware.devices))
        actual = [[max(0, ns + rng.choice((-2, -1, 0, 1, 4))) for ns in problem.durations(d)] for d in devices]
    memory = rng.choice(MODES)
    static = rng.random() < 0.5
    scheduler = Follow(drawn_schedule(rng, problem)) if static else make_scheduler(rng.choice(SPECS))
    return Case(problem, scheduler, memory, actual)


def drawn_hardware(rng: random.Random) -> HardwareProfile:
    """One to three devices of any model, with few or many streams, tight or ample memory, some of them linked."""
    count = rng.choice((1, 1, 2, 2, 3))
    devices = tuple(_drawn_device(rng, number) for number in range(count))
    switches = ("hub",) if rng.random() < 0.3 else ()
    places = [device.name for device in devices] + list(switches)
    pairs = [(a, b) for b in places for a in places[: places.index(b)] if rng.random() < 0.75]
    links = tuple(
        Link(a, b, rng.choice((0, 2, 5)), rng.choice((None, 1e9, 3e8)), rng.choice(SHARINGS)) for a, b in pairs
    )
    host = Host(
        launch_ns=rng.choice((0, 1, 3)),
        mode=rng.choice(("free", "free", "serial", "graph")),
        threads=rng.choice((1, 2)),
        graph_ns=rng.choice((0, 4)),
        sync_ns=rng.choice((0, 2)),
        event_ns=rng.choice((0, 1, 3)),
    )
    return HardwareProfile("drawn", devices, links, host, switches=switches)


def _drawn_device(rng: random.Random, number: int) -> Device:
    streams = rng.choice((1, 2, 3, 5, 12))
    urgency = tuple(rng.choice((0, 0, -1, 1)) for _ in range(streams)) if rng.random() < 0.4 else ()
    model = rng.choice(("lanes", "sm_share", "sm_share", "blocks", "blocks"))
    limits = _drawn_limits(rng)
    return Device(
        f"d{number}",
        model=model,
        streams=streams,
        resources={"sms": rng.choice((2, 4)), "ports": 2},
        memory_capacity=rng.choice((None, 40, 60, 90, 150, 300)),
        memory_bandwidth=rng.choice((None, 1e9, 1e9, 3e9)),
        efficiency=Efficiency(bandwidth=rng.choice((1.0, 0.7))),
        copy_engines=rng.choice((None, 1, 2)),
        max_resident_kernels=rng.choice((None, None, 1, 2)),
        stream_priorities=urgency,
        sm_limits=limits if model == "blocks" or rng.random() < 0.3 else None,
    )


def drawn_problem(rng: random.Random, hardware: HardwareProfile) -> Problem:
    """A graph on hardware; a third of the operators get their cost from a model, with launches, traffic and blocks."""
    graph = drawn_graph(rng, hardware)
    ops = range(len(graph))
    costed = [op not in graph.device_durations and rng.random() < 0.35 for op in ops]
    busy = rng.choice((0.3, 0.9))
    traffic = {op: _bytes(rng, graph.durations[op] or 5) for op in ops if rng.random() < busy}
    durations = [None if costed[op] else graph.durations[op] for op in ops]
    return make_problem(replace(graph, durations=durations, traffic=traffic), hardware, _drawn_model(rng))


def _drawn_limits(rng: random.Random) -> SmLimits:
    """At least one block of any kind fits."""
    return SmLimits(
        warps=rng.choice((None, 4, 6)),
        threads=rng.choice((None, 128)),
        blocks=rng.choice((None, 1, 2, 3)),
        registers=rng.choice((None, 4096)),
        shared_memory=rng.choice((None, 1000)),
    )


def _drawn_block(rng: random.Random) -> Block:
    return Block(rng.choice((16, 33, 64)), rng.choice((0, 16, 40)), rng.choice((0, 100, 300)))


def _bytes(rng: random.Random, duration: int) -> int:
    """Bytes of an operator that moves about as much as a GPU can meanwhile."""
    return rng.choice((2, 1 + duration // 3, duration, 3 * duration, 40))


def _drawn_model(rng: random.Random) -> CostModel:
    salt = rng.randrange(10**9)

    def cost(graph: Graph, op: OpId, device: Device) -> KernelCost:
        mine = random.Random(f"{salt} {op} {device.name}")
        duration = mine.choice((0, 1, 5, 8, 13, 21, 34))
        grid = mine.choice((0, 1, 2, 5, 9))
        tail = mine.choice((0, 0, 1, 3))
        return KernelCost(
            duration,
            bytes=mine.choice((0, 3, _bytes(mine, duration))),
            sms=mine.choice((0, 1, 2)),
            workspace=mine.choice((0, 0, 5)),
            launch_ns=float(min(duration, mine.choice((0, 0, 1, 3)))),
            grid=grid,
            block=_drawn_block(mine) if grid else None,
            tail_ns=min(duration, tail) if grid else 0,
            peak_ns=mine.choice((0.0, 2.0, duration / 2, float(duration))),
            bound="memory",
        )

    return cost


def drawn_graph(rng: random.Random, hardware: HardwareProfile) -> Graph:
    names = [device.name for device in hardware.devices]
    return random_graph(
        rng.randrange(10**9),
        rng.choice((0, 1, 2, 3, *range(4, 12))),
        degree=rng.choice((0.3, 0.6, 1, 2)),
        durations=rng.choice((DURATIONS, (5, 8, 13, 21), (8, 13, 34), (0, 0, 0, 1), (1,), (2, 3), (0,))),
        sizes=rng.choice(((), SIZES, SIZES, (10,))),
        workspace=(0, 0, 5, 23),
        demands=rng.choice((None, None, {"sms": 2}, {"sms": 2, "ports": 2})),
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


def crowded_case(seed: int) -> Case:
    """Kernels that are nearly independent, on one GPU with streams for all of them: much is shared, little waits."""
    rng = random.Random(seed)
    device = Device(
        "d0",
        model=rng.choice(("sm_share", "blocks")),
        streams=rng.choice((3, 5, 8)),
        resources={"sms": rng.choice((4, 8)), "ports": 2},
        memory_bandwidth=rng.choice((1e9, 1.3e9)),
        efficiency=Efficiency(bandwidth=rng.choice((1.0, 0.9))),
        sm_limits=_drawn_limits(rng),
    )
    hardware = HardwareProfile("crowded", (device,))
    count = rng.randint(3, 9)
    graph = random_graph(rng.randrange(10**9), count, degree=rng.choice((0, 0.3)), durations=(8, 13, 21, 34, 55))
    graph = replace(graph, durations=[None] * count)
    problem = make_problem(graph, hardware, _drawn_model(rng))
    return Case(problem, Follow(drawn_schedule(rng, problem)), "unbounded", None)


def busy_links_case(seed: int) -> Case:
    """Many tensors made at about the same time, read on other devices, over links that meet in a switch or do not."""
    rng = random.Random(seed)
    count = rng.randint(2, 4)
    engines = [rng.choice((None, 1, 2)) for _ in range(count)]
    devices = tuple(Device(f"d{n}", streams=4, copy_engines=engines[n]) for n in range(count))
    names = [device.name for device in devices]
    pairs = [(name, "hub") for name in names]
    if rng.random() < 0.5:
        pairs = [(a, b) for a in names for b in names if a < b and rng.random() < 0.8]
    links = tuple(
        Link(a, b, rng.choice((0, 2, 5)), rng.choice((1e9, 3e8, 7e8)), rng.choice(SHARINGS)) for a, b in pairs
    )
    hardware = HardwareProfile("busy", devices, links, switches=("hub",))
    made = rng.randint(3, 7)
    graph = random_graph(
        rng.randrange(10**9), 2 * made, degree=1.2, reach=made, durations=(1, 2, 3), sizes=(5, 11, 17, 31)
    )
    problem = make_problem(graph, hardware)
    return Case(problem, Follow(drawn_schedule(rng, problem)), "unbounded", None)


def lanes_case(seed: int) -> Case:
    """One device of the model of scheduling theory; not strict, for then policies hold back what does not fit."""
    rng = random.Random(seed)
    hardware = HardwareProfile(
        "lanes", (replace(_drawn_device(rng, 0), model="lanes", streams=rng.choice((1, 2, 3)), stream_priorities=()),)
    )
    return Case(drawn_problem(rng, hardware), make_scheduler("critical_path"), rng.choice(MODES[:2]), None)
