"""Hypothesis strategies for graphs, hardware and problems; the plain builders and the zoo are re-exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, TensorKind
from simsched.hardware import HardwareProfile, lanes, procs
from simsched.problem import Problem
from tests.builders import (
    DELAYS,
    DURATIONS,
    SIZES,
    Recipe,
    layered_graph,
    linked_pair,
    problem_of,
    random_graph,
    rigid,
    small_gpu,
    with_memory,
    zoo,
    zoo_graphs,
)
from tests.reference.cases import Case, drawn_case

__all__ = [
    "DELAYS",
    "DURATIONS",
    "SIZES",
    "Recipe",
    "cases",
    "graphs",
    "layered_graph",
    "linked_pair",
    "problem_of",
    "problems",
    "random_graph",
    "rigid",
    "small_gpu",
    "small_hardware",
    "with_memory",
    "zoo",
    "zoo_graphs",
]


@st.composite
def graphs(
    draw: st.DrawFn,
    max_operators: int = 9,
    *,
    tensors: bool = True,
    demands: Mapping[str, int] | None = None,
    delays: bool = False,
    devices: Sequence[str] = (),
    durations: Sequence[int] = DURATIONS,
    max_degree: int = 3,
) -> Graph:
    """Draw a small DAG: zero durations, zero bytes, dead tensors, outputs, parameters, control and buffer orders."""
    count = draw(st.integers(0, max_operators))
    builder = GraphBuilder("drawn", time_unit="tick")
    parameters = draw(st.lists(st.sampled_from(SIZES), max_size=2)) if tensors else []
    for number, size in enumerate(parameters):
        builder.add_tensor(f"w{number}", bytes=size, kind="parameter")
    made: list[bool] = []
    edges: list[tuple[int, int, int | None]] = []
    for op in range(count):
        sources = sorted(draw(st.sets(st.integers(0, op - 1), max_size=max_degree))) if op else []
        inputs = [f"w{number}" for number in range(len(parameters)) if draw(st.integers(0, 3)) == 0]
        for source in sources:
            delay = draw(st.sampled_from(DELAYS)) if delays else None
            by_tensor = made[source] and draw(st.booleans())
            if by_tensor:
                inputs.append(f"t{source}")
            if delay is not None or not by_tensor:
                edges.append((source, op, delay))
        made.append(tensors and draw(st.integers(0, 3)) > 0)
        if made[op]:
            kind = draw(st.sampled_from((TensorKind.ACTIVATION, TensorKind.ACTIVATION, TensorKind.OUTPUT)))
            builder.add_tensor(f"t{op}", bytes=draw(st.sampled_from(SIZES)), kind=kind)
        builder.add_op(
            f"v{op}",
            **_drawn_cost(draw, durations, demands, devices),
            inputs=inputs,
            outputs=[f"t{op}"] if made[op] else [],
            workspace=draw(st.sampled_from((0, 0, 0, 23))) if tensors else None,
        )
    for source, target, delay in edges:
        builder.add_edge(f"v{source}", f"v{target}", delay=delay)
    return builder.build()


def _drawn_cost(
    draw: st.DrawFn, durations: Sequence[int], demands: Mapping[str, int] | None, devices: Sequence[str]
) -> dict[str, Any]:
    fields: dict[str, Any] = {"duration": draw(st.sampled_from(durations))}
    if demands:
        fields["demands"] = {key: draw(st.integers(0, most)) for key, most in demands.items()}
    if len(devices) > 1:
        how = draw(st.integers(0, 3))
        if how == 1:
            fields["device"] = draw(st.sampled_from(devices))
        elif how == 2:
            some = draw(st.sets(st.sampled_from(devices), min_size=1))
            fields["duration"] = {device: draw(st.sampled_from(durations)) for device in devices if device in some}
    return fields


def small_hardware(*, devices: int | None = None) -> st.SearchStrategy[HardwareProfile]:
    """Draw small hardware of every kind: lanes, rigid resources, SM sharing, pure delays, a linked pair."""
    single = [
        *(lanes(count) for count in (1, 2, 3)),
        rigid(3, cores=4, ports=2),
        small_gpu(4, 3),
        small_gpu(4, 3, resident=2),
        small_gpu(3, 1),
    ]
    several = [procs(2), procs(3), linked_pair(), linked_pair(0, 5e8, 1)]
    chosen = single if devices == 1 else several if devices and devices > 1 else single + several
    return st.sampled_from(chosen)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a problem with all that operators can share, with a scheduler, a memory mode, and noise in some."""
    return drawn_case(draw(st.integers(0, 2**32 - 1)))


@st.composite
def problems(
    draw: st.DrawFn,
    max_operators: int = 9,
    *,
    devices: int | None = None,
    tensors: bool = True,
    hardware: st.SearchStrategy[HardwareProfile] | None = None,
) -> Problem:
    """Draw a small problem on small hardware; demands name only resources that it has."""
    profile = draw(hardware if hardware is not None else small_hardware(devices=devices))
    names = [device.name for device in profile.devices]
    resources = dict(profile.devices[0].resources) or None
    graph = draw(graphs(max_operators, tensors=tensors, demands=resources, delays=len(names) > 1, devices=names))
    return problem_of(graph, profile)
