"""Random generators: what holds for all seeds and sizes, and the same graph on every machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.graph.generators import GENERATORS, generate, layered_random, series_parallel
from simsched.graph.generators.assembly import spread
from simsched.graph.model import Graph
from simsched.graph.ranks import t_level

SEEDS = st.integers(0, 10**6)


def levels(graph: Graph) -> list[int]:
    """Layer of each operator, by the longest path that leads to it."""
    return t_level(graph, [1] * len(graph))


@given(n=st.integers(0, 120), seed=SEEDS, width=st.integers(1, 12), degree=st.floats(0, 9))
def test_layers_are_levels_and_degrees_are_as_stated(n: int, seed: int, width: int, degree: float):
    graph = layered_random(n, seed, width=width, degree=degree)
    assert len(graph) == n
    layers = Counter(levels(graph))
    assert all(layer in layers for layer in range(len(layers)))
    sizes = [layers[layer] for layer in range(len(layers))]
    assert all((width + 1) // 2 <= size <= width + width // 2 for size in sizes[:-1])
    level = levels(graph)
    for op, before in enumerate(graph.pred):
        assert all(level[source] == level[op] - 1 for source in before)
        most = sizes[level[op] - 1] if level[op] else 0
        assert len(before) in {min(most, max(1, count)) for count in (int(degree), int(degree) + 1)} or not level[op]
    assert all(1 <= duration <= 99 for duration in graph.durations if duration is not None)


@given(seed=SEEDS, width=st.integers(8, 40), degree=st.integers(1, 4))
def test_the_number_of_edges_of_a_layered_graph(seed: int, width: int, degree: int):
    """With layers of at least ``degree`` operators, all but those of the first have just as many predecessors."""
    graph = layered_random(300, seed, width=width, degree=degree)
    first = levels(graph).count(0)
    assert graph.edge_count == degree * (300 - first)


@given(seed=SEEDS, reach=st.integers(1, 4))
def test_predecessors_reach_back_as_far_as_stated(seed: int, reach: int):
    graph = layered_random(200, seed, width=6, degree=3, reach=reach)
    level = levels(graph)
    steps = {level[op] - level[source] for op, before in enumerate(graph.pred) for source in before}
    assert 1 in steps
    assert max(steps) <= reach


def test_predecessors_do_reach_back():
    graph = layered_random(400, 3, width=6, degree=3, reach=3)
    level = levels(graph)
    steps = Counter(level[op] - level[source] for op, before in enumerate(graph.pred) for source in before)
    assert set(steps) == {1, 2, 3}
    assert min(steps.values()) > 100


@pytest.mark.parametrize(("density", "degree"), [(1.0, 9.0), (0.5, 5.0), (0.0, 1.0)])
def test_density_is_a_share_of_the_layer_before(density: float, degree: float):
    graph = layered_random(300, 2, width=10, density=density)
    level = levels(graph)
    sizes = Counter(level)
    expected = sum(max(1.0, density * sizes[level[op] - 1]) for op in range(300) if level[op])
    assert abs(graph.edge_count - expected) <= len(sizes)
    assert graph.edge_count / 300 > degree * 0.8


@given(n=st.integers(2, 120), seed=SEEDS, parallel=st.floats(0, 1))
def test_series_parallel_graphs_reduce_to_one_edge(n: int, seed: int, parallel: float):
    """Valdes, Tarjan and Lawler: series and parallel reductions, in any order, leave one edge of just these graphs."""
    graph = series_parallel(n, seed, parallel=parallel)
    assert len(graph) == n
    g = nx.MultiDiGraph([(u, v) for u, row in enumerate(graph.succ) for v in row])
    assert g.number_of_nodes() == n
    assert [op for op in g if not g.in_degree(op)] == [0]
    assert [op for op in g if not g.out_degree(op)] == [n - 1]
    assert set(nx.transitive_reduction(nx.DiGraph(g)).edges) == set(nx.DiGraph(g).edges)
    reduced = nx.DiGraph(g)
    inner = [op for op in reduced if 0 < op < n - 1]
    while inner:
        thin = [op for op in inner if reduced.in_degree(op) == reduced.out_degree(op) == 1]
        assert thin, "no series reduction is left: the graph is not series-parallel"
        for op in thin:
            (before,), (after,) = reduced.pred[op], reduced.succ[op]
            reduced.remove_node(op)
            reduced.add_edge(before, after)  # a second edge of this kind is the parallel reduction
        inner = [op for op in inner if op in reduced]
    assert list(reduced.edges) == [(0, n - 1)]


def test_parallel_blocks_make_width_and_their_absence_a_chain():
    assert series_parallel(60, 1, parallel=0.0).edge_count == 59
    wide = nx.MultiDiGraph([(u, v) for u, row in enumerate(series_parallel(60, 1, parallel=1.0).succ) for v in row])
    assert wide.out_degree(0) == 58


@given(
    durations=st.lists(st.integers(0, 99), min_size=1, max_size=30),
    weights=st.lists(st.integers(1, 99), min_size=1, max_size=30),
    ccr=st.floats(0.001, 100),
)
def test_delays_add_up_to_the_stated_ratio(durations: list[int], weights: list[int], ccr: float):
    delays = spread("test", ccr, durations, len(weights), weights)
    assert delays is not None
    mean_duration = Fraction(sum(durations), len(durations))
    assert abs(sum(delays) - Fraction(str(ccr)) * mean_duration * len(weights)) <= Fraction(1, 2)
    total = sum(weights)
    assert all(
        abs(delay - Fraction(sum(delays) * weight, total)) < 1 for delay, weight in zip(delays, weights, strict=True)
    )


@given(seed=SEEDS, ccr=st.sampled_from([0.1, 1.0, 5.0]))
def test_random_graphs_have_the_stated_ratio(seed: int, ccr: float):
    for graph in (layered_random(80, seed, ccr=ccr), series_parallel(80, seed, ccr=ccr)):
        durations: list[int] = list(graph.durations)  # type: ignore[arg-type]
        assert len(graph.delays) == graph.edge_count
        mean_delay = sum(graph.delays.values()) / graph.edge_count
        assert abs(mean_delay / (sum(durations) / len(graph)) - ccr) < 0.01 * ccr + 0.001
        assert len(set(graph.delays.values())) > 3
        assert sum(graph.tensor_bytes) == 1024 * sum(graph.delays.values())


SPECS = [name for name in GENERATORS if name != "pipeline_graph"]
SPECS += ["layered_random(n=200, seed=7, ccr=0.5, reach=3)", "series_parallel(n=90, seed=7, ccr=2)"]
SPECS += ["transformer_block(layers=2, backward=true)", "nas_like(cells=4, seed=7)"]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_seed_is_the_same_graph_and_another_one_is_not(seed: int):
    for make in (layered_random, series_parallel):
        assert make(50, seed).content_hash == make(50, seed).content_hash
        assert make(50, seed).content_hash != make(50, seed + 1).content_hash


def test_the_same_graphs_under_every_hash_seed():
    program = (
        "import sys\n"
        "from simsched.graph.generators import generate\n"
        "for spec in sys.argv[1:]: sys.stdout.write(generate(spec).content_hash + '\\n')\n"
    )
    here = "".join(generate(spec).content_hash + "\n" for spec in SPECS)
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        made = subprocess.run(
            [sys.executable, "-c", program, *SPECS], env=environment, capture_output=True, text=True, check=True
        )
        assert made.stdout == here


def test_graphs_drawn_from_a_seed_stay_what_they_are():
    """A published figure names a seed; these digits must not change between versions."""
    graph = layered_random(12, seed=1)
    assert list(graph.durations) == [22, 42, 3, 22, 44, 50, 24, 23, 22, 46, 29, 3]
    assert [list(row) for row in graph.pred[6:]] == [[2, 5], [3, 4], [2, 5], [2, 5], [6, 8], [7, 9]]
