from __future__ import annotations

import json
import random

import pytest

from simsched.analysis.liveness import sequence_liveness
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.problem import Problem
from tests.builders import problem_of, random_graph, zoo_graphs
from tests.exhaustive import best_peak, peak_bytes, step_bytes, topological_orders
from tests.known_answers import find, folder


def published() -> list[dict]:
    found = find("memory_small")
    return json.loads((found / "graphs.json").read_text())["model_opt"] if found else []


def problem_from(row: dict) -> Problem:
    """One tensor per row, whose producer may make several; operators in the order of the file."""
    builder = GraphBuilder(row["name"], time_unit="tick")
    made: dict[str, list[str]] = {}
    read: dict[str, list[str]] = {}
    for number, (producer, consumers, size) in enumerate(row["tensors"]):
        builder.add_tensor(f"t{number}", bytes=size)
        made.setdefault(producer, []).append(f"t{number}")
        for consumer in consumers:
            read.setdefault(consumer, []).append(f"t{number}")
    for name in row["order"]:
        builder.add_op(name, duration=1, inputs=read.get(name, ()), outputs=made.get(name, ()))
    return problem_of(builder.build(), lanes(1))


def test_published_graphs_are_here_or_the_skip_is_visible():
    folder("memory_small")
    assert len(published()) == 5


@pytest.mark.parametrize("row", published(), ids=lambda row: row["name"])
def test_memory_per_step_of_published_orders(row):
    problem = problem_from(row)
    order = [problem.graph.index[name] for name in row["order"]]
    liveness = sequence_liveness(problem, order)
    assert list(liveness.live) == row["memory_per_step"]
    assert liveness.peak == row["peak_of_order"]
    assert liveness.final == 0


@pytest.mark.parametrize("row", [row for row in published() if "optimal_peak" in row], ids=lambda row: row["name"])
def test_the_best_of_all_orders_has_the_published_optimal_peak(row):
    problem = problem_from(row)
    peaks = {order: sequence_liveness(problem, order).peak for order in topological_orders(problem.graph)}
    assert min(peaks.values()) == row["optimal_peak"]
    if "an_optimal_order" in row:
        order = tuple(problem.graph.index[name] for name in row["an_optimal_order"])
        assert peaks[order] == row["optimal_peak"]


def test_a_published_order_of_sixteen_operators():
    folder("memory_small")
    row = next(row for row in published() if "given_order" in row)
    problem = problem_from(row)
    order = [problem.graph.index[name] for name in row["given_order"]]
    assert sequence_liveness(problem, order).peak == row["peak_of_given_order"] == 10


def small() -> Problem:
    """a makes 3 (for b and c), b makes 7 for nobody and 11 for c, c makes the output of 17; a weight of 100, and 23."""
    builder = GraphBuilder("small", time_unit="tick")
    builder.add_tensor("w", bytes=100, kind="parameter")
    for name, size in (("ta", 3), ("dead", 7), ("tb", 11)):
        builder.add_tensor(name, bytes=size)
    builder.add_tensor("out", bytes=17, kind="output")
    builder.add_op("a", duration=2, outputs=["ta"])
    builder.add_op("b", duration=3, inputs=["ta", "w"], outputs=["dead", "tb"], workspace=23)
    builder.add_op("c", duration=5, inputs=["ta", "tb"], outputs=["out"])
    return problem_of(builder.build(), lanes(1))


def test_every_kind_of_tensor_by_hand():
    liveness = sequence_liveness(small())
    assert liveness.order == (0, 1, 2)
    assert liveness.live == (100 + 3, 100 + 3 + 7 + 11 + 23, 100 + 3 + 11 + 17)
    assert (liveness.peak, liveness.peak_step, liveness.persistent, liveness.final) == (144, 1, 100, 117)


def test_an_empty_order_holds_nothing():
    liveness = sequence_liveness(problem_of(zoo_graphs()["empty"], lanes(1)))
    assert (liveness.live, liveness.peak, liveness.peak_step, liveness.final) == ((), 0, None, 0)


@pytest.mark.parametrize("order", [(0, 1), (0, 1, 1), (0, 1, 2, 3)])
def test_an_order_names_every_operator_once(order):
    with pytest.raises(ValueError, match="each of the 3 operators of 'small' once"):
        sequence_liveness(small(), order)


def test_an_order_respects_dependencies():
    with pytest.raises(ValueError, match="'b' comes before its predecessor 'a'"):
        sequence_liveness(small(), (1, 0, 2))


@pytest.mark.parametrize("seed", range(25))
def test_every_step_agrees_with_the_definition(seed):
    problem = problem_of(random_graph(seed, 6, workspace=(0, 23)), lanes(1))
    for order in topological_orders(problem.graph):
        live = sequence_liveness(problem, order).live
        assert list(live) == [step_bytes(problem, order, step) for step in range(len(order))]
    assert best_peak(problem) <= peak_bytes(problem, tuple(range(6)))


def test_a_long_chain_is_linear():
    count = 20_000
    builder = GraphBuilder("chain", time_unit="tick")
    for op in range(count):
        builder.add_op(f"v{op}", duration=1, inputs=[f"t{op - 1}"] if op else [], outputs=[f"t{op}"])
        builder.add_tensor(f"t{op}", bytes=5)
    order = list(range(count))
    random.Random(1).shuffle(order)
    problem = problem_of(builder.build(), lanes(1))
    assert sequence_liveness(problem).peak == 10
    with pytest.raises(ValueError, match="before its predecessor"):
        sequence_liveness(problem, order)
