"""A graph in Python, two lanes, and how long it takes.

Covers: GraphBuilder, run, makespan, what ran when.

Scenario: bread is baked while soup is cooked. One cook needs 12 minutes,
two cooks need 9: the bread decides.
"""

from __future__ import annotations

from simsched import GraphBuilder, run

builder = GraphBuilder("dinner", time_unit="tick")
builder.add_op("knead", duration=2)
builder.add_op("bake", duration=5, after=["knead"])
builder.add_op("cook", duration=3)
builder.add_op("serve", duration=2, after=["bake", "cook"])
graph = builder.build()

for hardware in ("lanes:1", "lanes:2"):
    result = run(graph, "critical_path", hardware)
    print(f"{hardware}: {result.makespan} minutes")
    for op in result.trace.start_order:
        start, end = result.trace.start[op], result.trace.end[op]
        stream = result.problem.stream_names[result.trace.stream[op]]
        print(f"  {start:2}-{end:2}  {stream}  {graph.names[op]}")
