"""A real network with the figures of a real device.

Covers: shipped graphs and profiles, compare, metrics, lower bound and gap.

Scenario: does it pay to run the branches of Inception v1 on several streams of an A100 at batch size 1?
"""

from __future__ import annotations

from simsched import compare, metrics

comparison = compare("inception_v1", ["serial", "topological", "critical_path"], "a100_sxm_80gb")
graph = comparison.problem.graph
print(f"{graph.name}: {len(graph)} operators, {graph.edge_count} edges")
for result in comparison.results:
    figures = metrics(result)
    print(
        f"{result.scheduler:14} {result.makespan / 1000:8.1f} us"
        f"  speed-up {figures.speedup:4.2f}  above the lower bound {figures.gap:6.1%}"
    )
