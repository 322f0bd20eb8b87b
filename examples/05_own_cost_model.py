"""A cost model of one's own.

Covers: CostModel, KernelCost, make_problem, wrapping the roofline.

Scenario: somebody has measured that convolutions take 1.5 times what the roofline says, and everything else is
fine. A cost model is any callable that gives an operator's cost on a device.
"""

from __future__ import annotations

import dataclasses

from simsched import Graph, KernelCost, Roofline, load_graph, load_hardware, make_problem, run
from simsched.hardware import Device

roofline = Roofline()


def slow_convolutions(graph: Graph, op: int, device: Device) -> KernelCost:
    """Let convolutions take half as long again as the roofline says."""
    cost = roofline(graph, op, device)
    if graph.op_types[op] != "Conv":
        return cost
    return dataclasses.replace(cost, duration=cost.duration * 3 // 2, bound="measured")


graph = load_graph("squeezenet")
hardware = load_hardware("t4")
for name, model in (("roofline", roofline), ("slow convolutions", slow_convolutions)):
    problem = make_problem(graph, hardware, model)
    result = run(problem, "critical_path")
    total = sum(problem.durations())
    print(f"{name:18} all operators {total / 1000:7.1f} us, makespan {result.makespan / 1000:7.1f} us")
