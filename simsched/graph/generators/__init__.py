"""Generated graphs: textbook shapes, seeded random graphs, and networks with true tensor shapes.

Shapes and random graphs count in ticks, with ``ccr``, the ratio of communication to computation; networks leave
durations to the cost model. Every generator is also known by name: ``generate("layered_random(n=100, seed=3)")``.
"""

from __future__ import annotations

from simsched.graph.generators.cells import inception_like, nas_like
from simsched.graph.generators.random_graphs import layered_random, series_parallel
from simsched.graph.generators.shapes import chain, diamond, fork_join, in_tree, out_tree
from simsched.graph.generators.spec import GENERATORS, generate, generator_names, is_generator
from simsched.graph.generators.transformer import transformer_block

__all__ = [
    "GENERATORS",
    "chain",
    "diamond",
    "fork_join",
    "generate",
    "generator_names",
    "in_tree",
    "inception_like",
    "is_generator",
    "layered_random",
    "nas_like",
    "out_tree",
    "series_parallel",
    "transformer_block",
]
