"""Loading: networkx to our graph, and 12 MB of JSON, both validated."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from benchmarks.timing import Row, median_seconds
from simsched.graph.io import load_graph
from simsched.graph.nx import from_networkx

OPERATORS = 40_000


def file_rows() -> Iterator[Row]:
    """Microseconds an operator from networkx; seconds for the JSON file."""
    made = _networkx_graph(100_000)
    yield Row("networkx to our graph, 100,000 nodes, 200,000 edges", 1e6 * _from_networkx(made) / len(made), "us", 4)
    del made
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.json"
        path.write_text(json.dumps(_document()))
        megabytes = path.stat().st_size / 1e6
        yield Row(f"JSON graph of {megabytes:.1f} MB, validated", median_seconds(lambda: load_graph(path), 3), "s", 1)


def _from_networkx(made: nx.DiGraph[int]) -> float:
    return median_seconds(lambda: from_networkx(made, time_unit="tick"), 5)


def _networkx_graph(count: int) -> nx.DiGraph[int]:
    source = random.Random(1)
    made: nx.DiGraph[int] = nx.DiGraph()
    for node in range(count):
        made.add_node(node, duration=source.randint(1, 1000))
    for node in range(1, count):
        for other in {max(0, node - source.randint(1, 50)) for _ in range(2)}:
            made.add_edge(other, node)
    return made


def _document() -> dict[str, object]:
    source = random.Random(1)
    operators = [
        {
            "name": f"operator_number_{number}",
            "op_type": "Conv",
            "duration": source.randint(1, 10**6),
            "attributes": {"kernel": 3, "stride": 1, "pad": "same"},
            "demands": {"sms": 2},
        }
        for number in range(OPERATORS)
    ]
    pairs = [(max(0, number - source.randint(1, 50)), number) for number in range(1, OPERATORS) for _ in range(2)]
    edges = [
        {"from": f"operator_number_{u}", "to": f"operator_number_{v}", "bytes": source.randint(1, 10**7)}
        for u, v in pairs
    ]
    return {"simsched": 1, "name": "large", "time_unit": "ns", "operators": operators, "edges": edges}
