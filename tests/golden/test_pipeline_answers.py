"""GPipe and 1F1B against their closed forms (Huang et al. 2019; Narayanan et al. 2021)."""

from __future__ import annotations

import pytest

from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.graph.model import Graph
from simsched.graph.pipeline import microbatched, pipeline_graph
from simsched.hardware import lanes, procs
from simsched.problem import make_problem
from simsched.schedulers.pipeline import Pipeline

FORWARD, BACKWARD, WEIGHT = 3, 5, 7


@pytest.mark.parametrize("stages", range(2, 9))
@pytest.mark.parametrize("order", ["gpipe", "1f1b"])
def test_equal_stages(stages: int, order: str) -> None:
    for microbatches in range(1, 17):
        graph = pipeline_graph(stages, microbatches, FORWARD, BACKWARD, WEIGHT, activation_bytes=11)
        problem = make_problem(graph, procs(stages))
        trace = simulate(problem, Pipeline(order))
        assert trace.makespan == (microbatches + stages - 1) * (FORWARD + BACKWARD + WEIGHT)
        held = [microbatches if order == "gpipe" else min(microbatches, stages - stage) for stage in range(stages)]
        assert [trace.memory.peak(stage) for stage in range(stages)] == [11 * count for count in held]
        assert check_trace(problem, trace) == []


@pytest.mark.parametrize(("order", "makespan"), [("gpipe", 38), ("1f1b", 38)])
def test_split_backward_waits_for_no_weight_gradient(order: str, makespan: int) -> None:
    # Two stages, two microbatches, F=3, B=5, W=7. Stage 1: F 3-6, F 6-9, then (gpipe) B 9-14, W 14-21, B 21-26,
    # W 26-33. Stage 0 gets its gradients at 14 and 26: B 14-19, W 19-26, B 26-31, W 31-38. With 1F1B stage 1 runs
    # B 6-11, W 11-18, F 18-21, B 21-26, W 26-33, so stage 0 has B 11-16, W 16-23, B 26-31, W 31-38.
    graph = pipeline_graph(2, 2, FORWARD, BACKWARD, WEIGHT, split=True)
    assert simulate(make_problem(graph, procs(2)), Pipeline(order)).makespan == makespan


def test_forward_only_microbatches_stream_through_balanced_stages(chain: Graph) -> None:
    # Six operators of 2, 2, 2, 2, 2, 2 in three stages of 4: 5 microbatches take (5 + 3 - 1) * 4.
    graph = microbatched(chain, 5)
    problem = make_problem(graph, lanes(3))
    trace = simulate(problem, Pipeline(stages=3))
    assert trace.makespan == (5 + 3 - 1) * 4
    assert check_trace(problem, trace) == []


@pytest.fixture
def chain() -> Graph:
    from simsched.graph.builder import GraphBuilder

    builder = GraphBuilder("chain", "tick")
    for number in range(6):
        builder.add_op(f"c{number}", duration=2)
    for number in range(1, 6):
        builder.add_edge(f"c{number - 1}", f"c{number}", bytes=10)
    return builder.build()
