"""Requests as a live page makes them, on a graph whose runs are worked out by hand."""

from __future__ import annotations

import copy
import json
from typing import Any

from simsched.config.plain import to_plain
from simsched.graph.dump import dump_graph
from simsched.graph.io import load_graph
from simsched.page.live import answer
from simsched.profiles import load_hardware

# a takes 5; b 3 and c 7 after it; d 2 after both. On two lanes 5 + 7 + 2.
GRAPH: dict[str, Any] = {
    "simsched": 1, "name": "four", "time_unit": "tick",
    "operators": [
        {"name": "a", "duration": 5}, {"name": "b", "duration": 3}, {"name": "c", "duration": 7},
        {"name": "d", "duration": 2},
    ],
    "edges": [{"from": "a", "to": "b", "bytes": 10}, ["a", "c"], ["b", "d"], ["c", "d"]],
}  # fmt: skip
LANES = {"name": "lanes:2", "devices": [{"name": "d0", "streams": 2}]}


def problem(graph: Any = None, hardware: Any = None, schedulers: Any = ("critical_path",)) -> dict[str, Any]:
    specs = [{"spec": spec} for spec in schedulers]
    return copy.deepcopy({"graph": graph or GRAPH, "hardware": hardware or LANES, "schedulers": specs})


def named_problem(graph: str, hardware: str) -> dict[str, Any]:
    return problem(dump_graph(load_graph(graph)), to_plain(load_hardware(hardware)))


def ask(given: Any = None, **edits: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        answer(json.dumps({"kind": "run", "problem": given or problem(), "edits": edits}))
    )
    return found
