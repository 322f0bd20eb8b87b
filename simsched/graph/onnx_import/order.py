"""Order and names of nodes: what each needs, in which order they can be read, what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simsched.errors import Fault, GraphError
from simsched.graph.cycles import shortest_cycle
from simsched.graph.onnx_import.reading import subgraphs
from simsched.graph.order import topological_order

if TYPE_CHECKING:
    import onnx


def node_names(nodes: Sequence[onnx.NodeProto], prefix: str = "") -> list[str]:
    """Return a unique name for each node, in file order.

    A name that occurs again becomes ``name#2``, ``name#3``; a node without a name is called after its type and its
    number among the nameless nodes of that type: ``Conv_1``.
    """
    taken: set[str] = set()
    names = [""] * len(nodes)
    for number, node in enumerate(nodes):
        if node.name:
            name, copies = prefix + node.name, 1
            while name in taken:
                copies += 1
                name = f"{prefix}{node.name}#{copies}"
            taken.add(name)
            names[number] = name
    counts: dict[str, int] = {}
    for number, node in enumerate(nodes):
        while not names[number]:
            counts[node.op_type] = counts.get(node.op_type, 0) + 1
            name = f"{prefix}{node.op_type}_{counts[node.op_type]}"
            if name not in taken:
                taken.add(name)
                names[number] = name
    return names


def captured(node: onnx.NodeProto) -> list[str]:
    """Return the names that the graphs inside a node read from outside, in order of first use."""
    found: dict[str, None] = {}
    for graph in subgraphs(node):
        own = {item.name for item in (*graph.input, *graph.initializer)}
        own |= {item.values.name for item in graph.sparse_initializer}
        own |= {name for inner in graph.node for name in inner.output}
        used = [name for inner in graph.node for name in (*inner.input, *captured(inner))]
        used += [item.name for item in graph.output]
        found.update((name, None) for name in used if name and name not in own)
    return list(found)


def needs(node: onnx.NodeProto) -> list[str]:
    """Return the names that a node reads, those of the graphs inside it too."""
    return [name for name in (*node.input, *captured(node)) if name]


def reading_order(nodes: Sequence[onnx.NodeProto], names: Sequence[str], source: str) -> list[int]:
    """Return the numbers of nodes such that each comes after what it needs, ties in file order.

    Raises
    ------
    GraphError
        If the nodes form a cycle; a shortest one is shown.
    """
    producer = {name: number for number, node in enumerate(nodes) for name in node.output if name}
    succ: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes):
        for name in needs(node):
            if name in producer:
                succ[producer[name]].append(number)
    order, left = topological_order(succ)
    if left:
        cycle = shortest_cycle(succ, left)
        text = " -> ".join(names[number] for number in (*cycle, cycle[0]))
        raise GraphError(source, [Fault(f"the graph has a cycle: {text}")])
    return order
