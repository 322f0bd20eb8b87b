"""Pipelines never deadlock: every shape, both orders, split or not, stages of any lengths, links of any latency."""

from __future__ import annotations

import random

import pytest

from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.graph.pipeline import pipeline_graph
from simsched.hardware import Device, HardwareProfile, Link, lanes, procs
from simsched.problem import make_problem
from simsched.schedulers.pipeline import Pipeline

MICROBATCHES = (1, 2, 3, 4, 7, 8, 9, 16)


def linked(stages: int, rng: random.Random) -> HardwareProfile:
    """Processors in a row, each linked to the next, a link slower than the other."""
    devices = tuple(Device(f"p{stage}", streams=rng.choice((1, 2))) for stage in range(stages))
    links = tuple(
        Link(f"p{s}", f"p{s + 1}", rng.choice((0, 1, 50)), rng.choice((None, 1e8))) for s in range(stages - 1)
    )
    return HardwareProfile("row", devices, links)


@pytest.mark.parametrize("stages", range(1, 9))
@pytest.mark.parametrize("order", ["gpipe", "1f1b"])
def test_every_pipeline_comes_to_its_end(order: str, stages: int) -> None:
    rng = random.Random(stages)
    for microbatches in MICROBATCHES:
        split = microbatches % 2 == 0
        where = rng.choice((procs(stages), linked(stages, rng), lanes(stages)))
        placed = len(where.devices) > 1
        graph = pipeline_graph(stages, microbatches, 3, 5, 7, split=split, placed=placed)
        problem = make_problem(graph, where)
        # Lengths that no plan knew of, none at all among them.
        lengths = [rng.choice((0, 1, 2, 13)) for _ in range(len(graph))]
        actual = [lengths for _ in where.devices]
        trace = simulate(problem, Pipeline(order, stages), actual=actual)
        assert check_trace(problem, trace, actual=actual) == []
        if not where.links:
            assert max(lengths) <= trace.makespan <= sum(lengths)
