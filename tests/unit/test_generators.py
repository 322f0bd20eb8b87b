"""Generators: counts by formula, structure by independent means, work by the literature's formulas."""

from __future__ import annotations

import networkx as nx
import pytest

from simsched.cost.registry import unknown_types, work_of
from simsched.errors import ConfigError, UnknownNameError
from simsched.graph.generators import (
    GENERATORS,
    chain,
    diamond,
    fork_join,
    generate,
    in_tree,
    inception_like,
    is_generator,
    nas_like,
    out_tree,
    transformer_block,
)
from simsched.graph.io import load_graph
from simsched.graph.model import Graph, TensorKind
from simsched.graph.nx import to_networkx
from simsched.graph.ranks import b_level


def critical_path(graph: Graph) -> int:
    return max(b_level(graph, graph.durations), default=0)  # type: ignore[arg-type]


# --- textbook shapes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 17])
def test_chain(n: int):
    graph = chain(n, duration=3)
    assert (len(graph), graph.edge_count, critical_path(graph)) == (n, max(0, n - 1), 3 * n)
    assert all(len(row) <= 1 for row in graph.succ)


def test_a_chain_of_a_hundred_thousand():
    assert critical_path(chain(100_000)) == 100_000


@pytest.mark.parametrize(("width", "stages"), [(1, 1), (4, 1), (3, 5)])
def test_fork_join(width: int, stages: int):
    graph = fork_join(width, stages, duration=7)
    assert len(graph) == stages * (width + 1) + 1
    assert graph.edge_count == 2 * width * stages
    assert critical_path(graph) == 7 * (2 * stages + 1)
    g = to_networkx(graph)
    assert max(len(level) for level in nx.topological_generations(g)) == width


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_diamond(size: int):
    graph = diamond(size, duration=5)
    assert len(graph) == size**2
    assert graph.edge_count == 2 * size * (size - 1)
    assert critical_path(graph) == 5 * (2 * size - 1)
    widths = [len(level) for level in nx.topological_generations(to_networkx(graph))]
    assert widths == [*range(1, size + 1), *range(size - 1, 0, -1)]


@pytest.mark.parametrize(("depth", "arity"), [(1, 2), (4, 1), (4, 2), (3, 5)])
def test_trees(depth: int, arity: int):
    count = sum(arity**level for level in range(depth))
    out, into = out_tree(depth, arity, duration=3), in_tree(depth, arity, duration=3)
    for graph in (out, into):
        assert (len(graph), graph.edge_count, critical_path(graph)) == (count, count - 1, 3 * depth)
    assert sorted(map(len, out.pred)) == [0] + [1] * (count - 1)
    assert sorted(map(len, into.succ)) == [0] + [1] * (count - 1)
    leaves = arity ** (depth - 1)
    assert sorted(map(len, out.succ)) == sorted(map(len, into.pred)) == [0] * leaves + [arity] * (count - leaves)
    assert nx.is_arborescence(nx.DiGraph(to_networkx(out))) or count == 1


def test_communication_is_the_stated_share_of_computation():
    graph = fork_join(4, 3, duration=10, ccr=0.25)
    assert len(graph.delays) == graph.edge_count == 24
    assert sum(graph.delays.values()) == 24 * 10 * 0.25
    for (u, v), delay in graph.delays.items():
        sizes = [graph.tensor_bytes[t] for t in graph.outputs[u] if v in graph.tensor_consumers[t]]
        assert sizes == [1024 * delay]
    plain = fork_join(4, 3, duration=10)
    assert (plain.delays, list(plain.tensor_names)) == ({}, [])


def test_small_delays_are_rounded_without_losing_any():
    assert sum(chain(11, ccr=0.3).delays.values()) == 3
    assert sorted(chain(11, ccr=0.3).delays.values()) == [0] * 7 + [1] * 3


# --- networks ---------------------------------------------------------------------------------------------------


def product_flops(graph: Graph, prefix: str = "") -> int:
    """Flops of the matrix products whose names start with a prefix."""
    return sum(
        work_of(graph, op).flops
        for op, op_type in enumerate(graph.op_types)
        if op_type == "MatMul" and graph.names[op].startswith(prefix)
    )


SHAPES = {"batch": 2, "sequence": 7, "hidden": 30, "heads": 3, "feed_forward": 110}


def formula(batch: int, sequence: int, hidden: int, heads: int, feed_forward: int) -> int:
    """Two flops a multiply-add: four projections, two products of attention, two of the feed-forward part."""
    tokens = batch * sequence
    projections = 4 * 2 * tokens * hidden * hidden
    attention = 2 * 2 * batch * heads * sequence * sequence * (hidden // heads)
    fed = 2 * 2 * tokens * hidden * feed_forward
    return projections + attention + fed


@pytest.mark.parametrize("layers", [1, 3])
def test_transformer_forward(layers: int):
    graph = transformer_block(layers, **SHAPES)
    assert len(graph) == 29 * layers
    assert product_flops(graph) == layers * formula(**SHAPES)
    assert unknown_types(graph) == {}
    weights = sum(
        size for size, kind in zip(graph.tensor_bytes, graph.tensor_kinds, strict=True) if kind is TensorKind.PARAMETER
    )
    h, f = SHAPES["hidden"], SHAPES["feed_forward"]
    # Four projections with bias, two feed-forward layers with bias, two normalisations, one scale; two bytes each.
    assert weights == 2 * layers * (4 * (h * h + h) + (h * f + f) + (f * h + h) + 4 * h + 1)


def test_transformer_flops_of_a_known_size():
    """24 b s h^2 + 4 b s^2 h (Korthikanti et al., without the backward pass)."""
    graph = transformer_block(batch=2, sequence=64, hidden=96, heads=8)
    assert product_flops(graph) == 24 * 2 * 64 * 96**2 + 4 * 2 * 64**2 * 96


@pytest.mark.parametrize("layers", [1, 3])
def test_transformer_backward(layers: int):
    graph = transformer_block(layers, backward=True, **SHAPES)
    assert len(graph) == (29 + 38) * layers + 1
    assert unknown_types(graph) == {}
    # Each product has two gradients of the same size.
    assert product_flops(graph) == 3 * layers * formula(**SHAPES)
    shapes = dict(zip(graph.tensor_names, graph.tensor_shapes, strict=True))
    outputs = {
        name for name, kind in zip(graph.tensor_names, graph.tensor_kinds, strict=True) if kind is TensorKind.OUTPUT
    }
    weights = {
        name for name, kind in zip(graph.tensor_names, graph.tensor_kinds, strict=True) if kind is TensorKind.PARAMETER
    }
    scales = {f"l{layer}.scale" for layer in range(layers)}  # constants of attention, not trained
    assert {f"{name}.grad" for name in weights - scales} | {"l0.x.grad"} == outputs
    assert all(shapes[f"{name}.grad"] == shapes[name] for name in weights - scales)
    assert shapes["l0.x.grad"] == shapes["x"]


def test_activations_wait_for_their_gradients():
    """What the first block made is read again only after the last block's backward pass has begun."""
    graph = transformer_block(2, backward=True, **SHAPES)
    gelu = graph.tensor(list(graph.tensor_names).index("l0.gelu"))
    assert [graph.names[op] for op in gelu.consumers] == ["l0.fc2", "l0.fc2.weight.grad"]
    after = nx.descendants(to_networkx(graph), "loss.grad")
    assert {"l0.fc2.weight.grad", "l1.fc2.weight.grad"} <= after


def test_inception_like():
    graph = inception_like(2, batch=3, channels=19, size=7)
    assert len(graph) == 28
    convolutions = {"1x1": (19, 64, 1), "3x3.reduce": (19, 96, 1), "3x3": (96, 128, 3), "5x5.reduce": (19, 16, 1)}
    convolutions |= {"5x5": (16, 32, 5), "pool.project": (19, 32, 1)}
    for name, (channels, filters, kernel) in convolutions.items():
        assert work_of(graph, graph.id_of(f"c0.{name}")).flops == 2 * 3 * 49 * channels * filters * kernel**2
    assert graph.tensor(list(graph.tensor_names).index("c1.concat")).shape == (3, 256, 7, 7)
    assert unknown_types(graph) == {}
    branches = [len(level) for level in nx.topological_generations(to_networkx(graph))]
    assert branches == [4, 4, 3, 2, 1] * 2


def test_nas_like():
    graph = nas_like(3, seed=5, nodes=4, channels=8, size=6)
    g = to_networkx(graph)
    assert graph.op_types.count("Add") == 12
    assert graph.op_types.count("Concat") == 3
    assert unknown_types(graph) == {}
    for cell in range(3):
        assert set(g.pred[f"c{cell}.concat"]) == {f"c{cell}.n{node}" for node in range(4)}
        for node in range(4):
            assert g.in_degree(f"c{cell}.n{node}") == 2
    assert nx.is_weakly_connected(g)
    assert [name for name in g if not g.out_degree(name)] == ["c2.concat"]
    assert nas_like(3, seed=6).content_hash != nas_like(3, seed=5).content_hash


# --- by name --------------------------------------------------------------------------------------------------------


def test_generators_by_name():
    assert generate("chain:7").content_hash == chain(7).content_hash
    assert generate("fork_join(width=3, stages=2, ccr=0.5)").content_hash == fork_join(3, 2, ccr=0.5).content_hash
    assert generate("diamond").content_hash == diamond().content_hash
    assert generate("transformer_block(backward=true,heads=4,hidden=8)").name == "transformer_block_1_training"
    assert load_graph("in_tree(depth=3)").content_hash == in_tree(3).content_hash
    assert {"chain", "layered_random", "transformer_block"} <= set(GENERATORS)


def test_what_counts_as_the_name_of_a_generator():
    assert is_generator("chain:10")
    assert is_generator("chain()")
    assert not is_generator("chain")
    assert not is_generator("graphs/chain.yaml")
    assert not is_generator("C:/graphs/chain.yaml")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("chain:x", "chain:x: parameter 'n' is 'x'; expected a whole number"),
        ("chain:", "chain:: expected parameter=value, got 'n='"),
        ("chain(m=3)", "chain(m=3): generator 'chain' has no parameter 'm'; expected one of: n, duration, ccr"),
        ("chain(n=3,n=4)", "chain(n=3,n=4): parameter 'n' is given twice"),
        ("chain(n=3", "chain(n=3: not a generator; write name, name:value or name(parameter=value, ...)"),
        ("chain(n=-1)", "generator chain: n: expected at least 0, got -1"),
        ("chain(n=99999999)", "generator chain: it would make 99,999,999 operators; expected at most 10,000,000"),
        ("chain(ccr=-1)", "generator chain: ccr: expected a number from 0 to 1000000, got -1.0"),
        ("fork_join(width=0,stages=0)",
         "generator fork_join: 2 problems\n  width: expected at least 1, got 0\n  stages: expected at least 1, got 0"),
        ("layered_random(shortest=9,longest=5)",
         "generator layered_random: longest: expected at least shortest = 9, got 5"),
        ("series_parallel(n=1)", "generator series_parallel: n: expected at least 2, got 1"),
        ("transformer_block(heads=5)", "generator transformer_block: heads: expected a divisor of hidden = 768, got 5"),
        ("transformer_block(backward=yes)",
         "transformer_block(backward=yes): parameter 'backward' is 'yes'; expected true or false"),
        ("nas_like(dtype=float)",
         "generator nas_like: dtype: expected one of: fp64, fp32, tf32, bf16, fp16, fp8, fp4; got 'float'"),
        ("in_tree(depth=60)", "generator in_tree: it would make 16,777,215 operators; expected at most 10,000,000"),
        ("inception_like(size=100000000)",
         "generator inception_like: x: a tensor of shape [1, 192, 100000000, 100000000] is too large; "
         "make the network smaller"),
    ],
)  # fmt: skip
def test_messages(spec: str, message: str):
    with pytest.raises(ConfigError) as caught:
        generate(spec)
    assert str(caught.value) == message


def test_an_unknown_generator():
    with pytest.raises(UnknownNameError, match="unknown generator 'chian'; did you mean 'chain'"):
        generate("chian:3")


def test_values_of_the_wrong_type_in_python():
    with pytest.raises(ConfigError, match=r"n: expected a whole number, got 2\.5"):
        chain(2.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="ccr: expected a number from 0 to 1000000, got nan"):
        chain(2, ccr=float("nan"))
    with pytest.raises(ConfigError, match="duration: expected a whole number, got True"):
        chain(2, duration=True)
