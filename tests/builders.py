"""Plain seeded graphs, small hardware, and a zoo of edge cases, for tests and for measuring.

Costs are primes where that can matter, so that a swapped term shows in a sum.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from simsched.cost.base import KernelCost
from simsched.errors import GraphError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, OpId, TensorKind
from simsched.hardware import Device, HardwareProfile, Link, lanes, procs
from simsched.problem import Problem, make_problem

DURATIONS = (0, 1, 2, 3, 5, 7, 11, 13)
SIZES = (0, 1, 3, 7, 17, 31)
DELAYS = (0, 2, 5, 19)


def problem_of(graph: Graph, hardware: HardwareProfile, seed: int = 0) -> Problem:
    """Make a problem of a graph whose durations are all explicit."""
    return make_problem(graph, hardware, _no_cost, seed=seed)


def _no_cost(graph: Graph, op: OpId, device: Device) -> KernelCost:
    raise AssertionError(f"{graph.names[op]!r} has no explicit duration on {device.name}")


def built(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> Graph:
    """Build a graph in ticks in which operator number n takes n."""
    builder = GraphBuilder("g", time_unit="tick")
    for number, name in enumerate(names):
        builder.add_op(name, duration=number)
    for source, target in edges:
        builder.add_edge(source, target)
    return builder.build()


def message_of(builder: GraphBuilder) -> str:
    """The message of the error that building causes."""
    with pytest.raises(GraphError) as caught:
        builder.build()
    return str(caught.value)


# --- seeded graphs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """What a random graph is drawn from.

    Attributes
    ----------
    degree : float
        Mean number of predecessors.
    reach : int
        How far back a predecessor may lie.
    durations, sizes, workspace : tuple of int
        Per operator (ns) and per tensor (bytes); no ``sizes`` means no tensors.
    demands : mapping
        Resource to the largest demand.
    delays : tuple of int
        Delays of edges; empty for none.
    devices : tuple of str
        With several, every third operator has its own duration per device, every fifth a fixed place.
    parameters : int
        Number of parameters.
    shuffle : bool
        Add operators in random order, so that the builder has to sort them.
    """

    degree: float = 2.0
    reach: int = 50
    durations: Sequence[int] = DURATIONS
    sizes: Sequence[int] = SIZES
    workspace: Sequence[int] = (0,)
    demands: Mapping[str, int] | None = None
    delays: Sequence[int] = ()
    devices: Sequence[str] = ()
    parameters: int = 2
    shuffle: bool = False


def random_graph(seed: int, operators: int, **choices: Any) -> Graph:
    """Build a random DAG; ``choices`` are fields of :class:`Recipe`. Equal arguments give equal graphs."""
    rng, recipe = random.Random(seed), Recipe(**choices)
    builder = GraphBuilder(f"random{seed}", time_unit="tick")
    rows = [(op, *_drawn_operator(rng, op, recipe)) for op in range(operators)]
    parameters = _declare_tensors(rng, builder, operators, recipe)
    if recipe.shuffle:
        rng.shuffle(rows)
    edges: list[tuple[int, int]] = []
    for op, fields, sources in rows:
        carried = [source for source in sources if recipe.sizes and rng.random() < 0.7]
        inputs = [f"t{source}" for source in carried]
        if parameters and rng.random() < 0.2:
            inputs.append(rng.choice(parameters))
        builder.add_op(f"v{op}", **fields, inputs=inputs, outputs=[f"t{op}"] if recipe.sizes else [])
        edges += [(source, op) for source in sources if recipe.delays or source not in carried]
    for source, target in edges:
        builder.add_edge(f"v{source}", f"v{target}", delay=rng.choice(recipe.delays) if recipe.delays else None)
    return builder.build()


def _drawn_operator(rng: random.Random, op: int, recipe: Recipe) -> tuple[dict[str, Any], list[int]]:
    count = min(op, int(rng.random() * recipe.degree * 2 + 0.5))
    sources = sorted({rng.randrange(max(0, op - recipe.reach), op) for _ in range(count)})
    fields: dict[str, Any] = {"duration": rng.choice(recipe.durations)}
    if recipe.demands:
        fields["demands"] = {key: rng.randint(0, most) for key, most in recipe.demands.items()}
    if len(recipe.devices) > 1 and op % 3 == 1:
        some = rng.sample(list(recipe.devices), rng.randint(1, len(recipe.devices)))
        fields["duration"] = {device: rng.choice(recipe.durations) for device in recipe.devices if device in some}
    elif len(recipe.devices) > 1 and op % 5 == 2:
        fields["device"] = rng.choice(recipe.devices)
    space = rng.choice(recipe.workspace)
    if space:
        fields["workspace"] = space
    return fields, sources


def _declare_tensors(rng: random.Random, builder: GraphBuilder, operators: int, recipe: Recipe) -> list[str]:
    """Declare one output per operator, every tenth a graph output, and the parameters; returns those."""
    if not recipe.sizes:
        return []
    for op in range(operators):
        kind = TensorKind.OUTPUT if rng.random() < 0.1 else TensorKind.ACTIVATION
        builder.add_tensor(f"t{op}", bytes=rng.choice(recipe.sizes), kind=kind)
    names = [f"w{number}" for number in range(recipe.parameters)]
    return [builder.add_tensor(name, bytes=rng.choice(recipe.sizes), kind="parameter") for name in names]


def layered_graph(seed: int, operators: int, *, width: int = 50, degree: int = 2) -> Graph:
    """Build a layered DAG without tensors whose durations are at least 1, for measuring speed."""
    rng = random.Random(seed)
    builder = GraphBuilder(f"layered{seed}", time_unit="tick")
    for op in range(operators):
        builder.add_op(f"v{op}", duration=rng.randint(1, 1000))
        layer = op // width
        if layer:
            for _ in range(degree):
                builder.add_edge(f"v{(layer - 1) * width + rng.randrange(width)}", f"v{op}")
    return builder.build()


# --- small hardware -------------------------------------------------------------------------------------------


def rigid(streams: int = 3, **resources: int) -> HardwareProfile:
    """One ideal device with renewable resources: multi-resource project scheduling."""
    return HardwareProfile("rigid", (Device("d0", streams=streams, resources=resources),))


def small_gpu(
    sms: int = 4, streams: int = 3, resident: int | None = None, capacity: int | None = None
) -> HardwareProfile:
    """One device of model ``sm_share``, illustrative."""
    device = Device(
        "d0", kind="gpu", model="sm_share", streams=streams, resources={"sms": sms},
        max_resident_kernels=resident, memory_capacity=capacity,
    )  # fmt: skip
    return HardwareProfile("small_gpu", (device,))


def with_memory(hardware: HardwareProfile, capacity: int | None) -> HardwareProfile:
    """The same hardware with another memory capacity on every device."""
    devices = tuple(replace(device, memory_capacity=capacity, memory_usable=None) for device in hardware.devices)
    return replace(hardware, devices=devices)


def linked_pair(latency: int = 3, bandwidth: float | None = 1e9, streams: int = 2) -> HardwareProfile:
    """Two ideal devices ``d0`` and ``d1``, joined by a link of ``latency`` ns + 1 ns a byte by default."""
    devices = (Device("d0", streams=streams), Device("d1", streams=streams))
    return HardwareProfile("pair", devices, (Link("d0", "d1", latency, bandwidth),))


# --- the zoo --------------------------------------------------------------------------------------------------


def zoo_graphs(deep: int = 2000, wide: int = 500) -> dict[str, Graph]:
    """Graphs at the edges of what is allowed, by name."""

    def plain(name: str, durations: Sequence[int], edges: Sequence[tuple[int, int]] = ()) -> Graph:
        builder = GraphBuilder(name, time_unit="tick")
        for op, duration in enumerate(durations):
            builder.add_op(f"v{op}", duration=duration)
        for source, target in edges:
            builder.add_edge(f"v{source}", f"v{target}")
        return builder.build()

    chain = [(op, op + 1) for op in range(9)]
    return {
        "empty": plain("empty", ()),
        "one": plain("one", (7,)),
        "one_zero": plain("one_zero", (0,)),
        "wide": plain("wide", [3] * wide),
        "deep": plain("deep", [1] * deep, [(op, op + 1) for op in range(deep - 1)]),
        "zero_length": plain("zero_length", (0, 0, 0, 0), [(0, 1), (1, 2), (0, 3)]),
        "some_zero": plain("some_zero", (2, 0, 3, 0, 5), [(0, 1), (1, 2), (0, 3), (3, 4)]),
        "disconnected": plain("disconnected", (2, 3, 5, 7, 11), [(0, 1), (2, 3)]),
        "equal_ties": plain("equal_ties", [5] * 8, [(0, 2), (1, 2), (0, 3), (1, 3), (2, 6), (3, 7)]),
        "diamond": plain("diamond", (2, 3, 5, 7), [(0, 1), (0, 2), (1, 3), (2, 3)]),
        "chain_beside_independent": plain("chain_beside_independent", [1] * 20, chain),
        "tensors": random_graph(4, 30, workspace=(0, 23)),
    }


def zoo(deep: int = 2000, wide: int = 500) -> dict[str, Problem]:
    """Problems at the edges, by name: every zoo graph on one and on three lanes, and a few on two devices."""
    made: dict[str, Problem] = {}
    for name, graph in zoo_graphs(deep, wide).items():
        made[f"{name} on lanes:1"] = problem_of(graph, lanes(1))
        made[f"{name} on lanes:3"] = problem_of(graph, lanes(3))
    for name in ("empty", "one", "zero_length", "disconnected", "equal_ties", "tensors"):
        made[f"{name} on procs:2"] = problem_of(zoo_graphs(3, 3)[name], procs(2))
    placed = random_graph(11, 25, devices=("d0", "d1"), delays=DELAYS)
    made["placed on two devices"] = problem_of(placed, linked_pair())
    rigid_graph = random_graph(5, 25, demands={"cores": 4, "ports": 2})
    made["demands on rigid"] = problem_of(rigid_graph, rigid(3, cores=4, ports=2))
    made["kernels on small_gpu"] = problem_of(random_graph(6, 25, demands={"sms": 4}), small_gpu(4, 3, resident=2))
    return made
