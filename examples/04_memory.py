"""Memory by tensor lifetime, and what a limit does.

Covers: tensors, peak memory, the modes block and strict, memory_aware.

Scenario: four branches make a large tensor each, and reduce it to a small one. On three lanes they would all like to
be alive at once. With less memory, operators wait; with too little, the error says what would have been enough. The
scheduler memory_aware keeps below a target of its own, whatever the capacity, and trades memory for time by its slack.
"""

from __future__ import annotations

import dataclasses

from simsched import GraphBuilder, lanes, run
from simsched.errors import OutOfMemoryError
from simsched.hardware import HardwareProfile
from simsched.units import format_size

MIB = 2**20


def lanes_with_memory(count: int, capacity: int) -> HardwareProfile:
    """Identical lanes that share a memory."""
    plain = lanes(count)
    (device,) = plain.devices
    return dataclasses.replace(plain, devices=(dataclasses.replace(device, memory_capacity=capacity),))


builder = GraphBuilder("branches", time_unit="tick")
builder.add_tensor("image", bytes=8 * MIB)
for branch in range(4):
    builder.add_tensor(f"large{branch}", bytes=64 * MIB)
    builder.add_tensor(f"small{branch}", bytes=MIB)
    builder.add_op(f"expand{branch}", duration=3, inputs=["image"], outputs=[f"large{branch}"])
    builder.add_op(f"reduce{branch}", duration=2, inputs=[f"large{branch}"], outputs=[f"small{branch}"])
builder.add_op("concat", duration=1, inputs=[f"small{branch}" for branch in range(4)])
graph = builder.build()

for capacity in (256, 160, 80):
    result = run(graph, "critical_path", lanes_with_memory(3, capacity * MIB), memory="block")
    peak = format_size(result.trace.memory.peak(0))
    print(f"critical_path within {capacity:3} MiB   makespan {result.makespan:2}  peak {peak}")

for slack in (0.0, 1.0, 2.0):
    result = run(graph, f"memory_aware(slack={slack})", lanes_with_memory(3, 256 * MIB))
    peak = format_size(result.trace.memory.peak(0))
    print(f"memory_aware(slack={slack})        makespan {result.makespan:2}  peak {peak}")

try:
    run(graph, "critical_path", lanes_with_memory(3, 70 * MIB), memory="block")
except OutOfMemoryError as error:
    print(f"with 70 MiB: {error}")
    print(f"{format_size(error.needed)} would have been enough to get past this point")
