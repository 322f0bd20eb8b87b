"""Peaks that PyTorch's allocator reached on real networks, from the sizes, views and workspaces of their nodes."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from simsched.analysis.liveness import sequence_liveness
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.problem import Problem
from simsched.run import run
from tests.builders import problem_of
from tests.known_answers import find, folder

FOLDER = "mem_traces"
# A layer norm of gpt2 makes 1,024 B of statistics in the same node as its result. They are dropped before the peak, but
# the trace gives them no name of their own.
UNNAMED = {"gpt2": 1024}


def networks() -> list[str]:
    found = find(FOLDER)
    return sorted(path.name.removesuffix(".json.gz") for path in found.glob("*.json.gz")) if found else []


def recorded(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(gzip.decompress((folder(FOLDER) / f"{name}.json.gz").read_bytes()))
    return data


def problem_from(record: dict[str, Any]) -> Problem:
    """One operator per node, in the order of the trace; a node without storage of its own makes a view of an input."""
    builder = GraphBuilder(record["model"], time_unit="tick")
    storage = {node["name"]: node["storage"] for node in record["nodes"]}
    for node in record["nodes"]:
        name, own = node["name"], node["storage"] == node["name"]
        sources = [other for other in node["inputs"] if storage[other] == node["storage"]]
        builder.add_tensor(name, bytes=node["new_bytes"], kind="output" if node["is_output"] else "activation")
        alias = {name: sources[0]} if sources and not own else None
        workspace = node["workspace_bytes"] or None
        builder.add_op(name, duration=1, inputs=node["inputs"], outputs=[name], alias=alias, workspace=workspace)
    return problem_of(builder.build(), lanes(1))


def test_recorded_networks_are_here_or_the_skip_is_visible():
    folder(FOLDER)
    assert len(networks()) == 3


@pytest.mark.parametrize("name", networks())
def test_the_peak_is_the_one_that_was_measured(name):
    record = recorded(name)
    problem = problem_from(record)
    assert sequence_liveness(problem).peak == record["measured_peak_bytes"] + UNNAMED.get(name, 0)


@pytest.mark.parametrize("name", networks())
def test_a_run_reaches_the_peak_of_the_order_and_passes_the_referee(name):
    problem = problem_from(recorded(name))
    done = run(problem.graph, hardware=lanes(1), scheduler="topological")
    assert done.trace.memory.peak(0) == sequence_liveness(problem).peak
    assert done.valid


def test_views_matter():
    assert len(problem_from(recorded("gpt2")).graph.aliases) > 300
