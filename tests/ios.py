"""The networks and schedules of IOS as graphs and stages, read from its published files.

Ding et al., "IOS: Inter-Operator Scheduler for CNN Acceleration", MLSys 2021 (arXiv 2011.01302). A published schedule
is a list of stages; a stage is a list of groups that run at once, and a group is a list of operators that run one after
the other. One host thread launches a stage, group by group, and waits for the device where more than one group has run
or will run: so its runtime is written.

Schedules merge convolutions that read the same tensor (``hint_name`` lists the originals) and then read ranges of the
merged channels: views at batch 1, copies otherwise. The network before merging is put together from those files in
which a node, and what it reads, stands alone; two pairs that every file merges are halves of equal width.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View
from tests.known_answers import folder

Stages = tuple[tuple[tuple[str, ...], ...], ...]
FILES = ("bs1", "bs32", "bs128", "k80")
POOLS = {"max": "MaxPool", "avg": "AveragePool", "global_avg": "GlobalAveragePool"}
Node = dict[str, Any]


@functools.cache
def measured() -> dict[str, Any]:
    """Return what was measured."""
    data: dict[str, Any] = json.loads((folder("ios") / "measured.json").read_text())
    return data


@functools.cache
def _file(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder("ios") / f"inception_v3_{name}.json").read_text())
    return data


def _nodes(name: str) -> list[Node]:
    return [node for block in _file(name)["blocks"] for node in (*block["inner_nodes"], block["exit_node"])]


@functools.cache
def original() -> tuple[Node, ...]:
    """Return the nodes before merging, in the order of their numbers, which is topological."""
    found: dict[str, Node] = {}
    halves: dict[str, Node] = {}
    for name in FILES:
        nodes = _nodes(name)
        merged = {node["name"]: node["hint_name"].split() for node in nodes if " " in node["hint_name"]}
        for node in nodes:
            if node["name"] in merged:
                names = merged[node["name"]]
                if len(names) == 2:
                    halves.update((half, _half(node, half)) for half in names)
            elif not any(term[0][0] in merged for term in node["inputs"]):
                found.setdefault(node["name"], node)
            elif all(len(merged.get(term[0][0], "12")) == 2 for term in node["inputs"]):
                halves[node["name"]] = node | {"inputs": [_read(term, merged) for term in node["inputs"]]}
    return tuple(sorted({**halves, **found}.values(), key=lambda node: int(node["name"])))


def _half(node: Node, name: str) -> Node:
    width = node["out_channels"] // 2
    return node | {"name": name, "out_channels": width, "output_shape": [width, *node["output_shape"][1:]]}


def _read(term: list[list[Any]], merged: dict[str, list[str]]) -> list[list[Any]]:
    """Return which half of a merged pair a range of channels is."""
    ((source, first, last),) = term
    return [[merged[source][0 if first == 0 else 1], 0, last - first]] if source in merged else term


# --- graphs -------------------------------------------------------------------------------------------------------


def sequential_graph(batch: int) -> Graph:
    """Return Inception v3 before merging, at a batch size."""
    return _graph(original(), batch)


def scheduled_graph(name: str, batch: int) -> Graph:
    """Return Inception v3 as a published schedule merges it, at a batch size."""
    return _graph(tuple(_nodes(name)), batch)


def _graph(nodes: tuple[Node, ...], batch: int) -> Graph:
    builder = GraphBuilder(f"inception_v3_{batch}")
    first = _file("bs1")["input"]
    builder.add_tensor(first["name"], shape=(batch, *first["output_shape"]), dtype="fp32", kind="input")
    shapes = {first["name"]: first["output_shape"], **{node["name"]: node["output_shape"] for node in nodes}}
    for node in nodes:
        _add(builder, node, batch, shapes, _ranges(nodes, node["name"]))
    return builder.build()


def _ranges(nodes: tuple[Node, ...], name: str) -> list[tuple[int, int]]:
    """Ranges of a node's channels that others read."""
    terms = [term[0] for node in nodes for term in node["inputs"]]
    return sorted({(first, last) for source, first, last in terms if source == name})


def _add(
    builder: GraphBuilder, node: Node, batch: int, shapes: dict[str, list[int]], ranges: list[tuple[int, int]]
) -> None:
    name, shape = node["name"], node["output_shape"]
    parts = [part for part in ranges if part != (0, shape[0])]
    # At batch 1 a range of channels is a view: the node writes its parts, and the whole is only a shape.
    views = bool(parts) and batch == 1
    assert not views or sum(last - first for first, last in parts) == shape[0]
    builder.add_tensor(name, shape=(batch, *shape), dtype="fp32", **({"bytes": 0} if views else {}))
    for first, last in parts:
        builder.add_tensor(f"{name}[{first}:{last}]", shape=(batch, last - first, *shape[1:]), dtype="fp32")
    outputs = [name, *(f"{name}[{first}:{last}]" for first, last in parts)] if views else [name]
    inputs = [_tensor(term[0], shapes) for term in node["inputs"]]
    kind = {"conv": "Conv", "identity": "Concat", "pool": POOLS.get(node.get("pool_type", ""), "")}[node["type"]]
    attributes: dict[str, Any] = {}
    if "kernel" in node and kind != "GlobalAveragePool":
        attributes = {"kernel_shape": node["kernel"], "strides": node["stride"]}
    if kind == "Conv":
        channels = sum(term[0][2] - term[0][1] for term in node["inputs"])
        weights = (node["out_channels"], channels // node["groups"], *node["kernel"])
        builder.add_tensor(f"{name}.w", shape=weights, dtype="fp32", kind="parameter")
        inputs.append(f"{name}.w")
        attributes["group"] = node["groups"]
    builder.add_op(f"op{name}", kind, inputs=inputs, outputs=outputs, attributes=attributes)
    if not views:
        for first, last in parts:
            part = f"{name}[{first}:{last}]"
            size = 4 * batch * (last - first) * shape[1] * shape[2]
            builder.add_op(f"op{part}", "Slice", inputs=[name], outputs=[part], traffic=2 * size)


def _tensor(term: list[Any], shapes: dict[str, list[int]]) -> str:
    source, first, last = term
    return source if (first, last) == (0, shapes[source][0]) else f"{source}[{first}:{last}]"


# --- stages -------------------------------------------------------------------------------------------------------


def one_by_one(graph: Graph) -> Stages:
    """Return the sequential schedule."""
    return tuple(((name,),) for name in graph.names)


def level_by_level(graph: Graph) -> Stages:
    """Return the greedy schedule: every operator that is ready, at once, and so on."""
    levels: list[int] = []
    for op in range(len(graph)):
        levels.append(1 + max((levels[before] for before in graph.pred[op]), default=-1))
    stages: list[list[tuple[str, ...]]] = [[] for _ in range(max(levels) + 1)]
    for op, level in enumerate(levels):
        stages[level].append((graph.names[op],))
    return tuple(map(tuple, stages))


def published(name: str, graph: Graph) -> Stages:
    """Return a published schedule; copies of ranges stand before the operators that read them first."""
    done: set[str] = set()

    def with_copies(node: str) -> list[str]:
        op = f"op{node}"
        copies = [
            graph.names[before]
            for before in graph.pred[graph.id_of(op)]
            if graph.op_types[before] == "Slice" and graph.names[before] not in done
        ]
        done.update(copies)
        return [*copies, op]

    return tuple(
        tuple(tuple(op for node in group for op in with_copies(node)) for group in stage)
        for block in _file(name)["blocks"]
        for stage in block["stages"]
    )


@dataclass(frozen=True)
class InStages:
    """Launch a stage, group i in stream i; where more than one group ran or will run, wait before the next stage."""

    stages: Stages

    def start(self, problem: Problem) -> Policy:
        """Return the policy."""
        rounds: list[list[Dispatch]] = []
        single = False
        for stage in self.stages:
            here = [
                Dispatch(problem.graph.id_of(name), stream)
                for stream, group in enumerate(stage)
                for name in group
            ]  # fmt: skip
            if rounds and single and len(stage) == 1:
                rounds[-1] += here
            else:
                rounds.append(here)
            single = len(stage) == 1
        left = 0

        def policy(view: View) -> list[Dispatch]:
            nonlocal left
            left -= len(view.newly_finished)
            if left or not rounds:
                return []
            now = rounds.pop(0)
            left = len(now)
            return now

        return policy


# --- the sample network -------------------------------------------------------------------------------------------


def sample_graph() -> Graph:
    """Return the network of five operators of which every time was measured; an operator's name is its number."""
    sample = measured()["sample_network"]
    channels, height, width = sample["input_chw"]
    builder = GraphBuilder("sample")
    builder.add_tensor("in", shape=(1, channels, height, width), dtype="fp32", kind="input")
    made = {"in": channels}
    for op in sample["ops"]:
        name, sources = str(op["id"]), [str(source) for source in op["inputs"]]
        inputs = ["in" if source == "in" else f"t{source}" for source in sources]
        read = sum(made[source] for source in sources)
        made[name] = read if op["type"] == "concat" else int(op["type"].rpartition("->")[2])
        builder.add_tensor(f"t{name}", shape=(1, made[name], height, width), dtype="fp32")
        if op["type"] == "concat":
            builder.add_op(name, "Concat", inputs=inputs, outputs=[f"t{name}"])
            continue
        builder.add_tensor(f"w{name}", shape=(made[name], read, 3, 3), dtype="fp32", kind="parameter")
        builder.add_op(name, "Conv", inputs=[*inputs, f"w{name}"], outputs=[f"t{name}"])
    return builder.build()
