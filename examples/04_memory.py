"""Memory by tensor lifetime, what a limit does, and how a scheduler runs into a dead end.

Covers: tensors and workspace, peak memory, the memory mode block, memory_aware, OutOfMemoryError.

Scenario: four branches make a large tensor each and reduce it to a small one, for which they need workspace. On three
lanes they would all like to be alive at once. With 160 MiB, critical_path starts two branches and then has no room to
finish either. memory_aware looks at what must still fit before it starts anything; its slack says how much memory may
be spent on speed.
"""

from __future__ import annotations

import dataclasses

from simsched import Graph, GraphBuilder, HardwareProfile, lanes, run
from simsched.errors import OutOfMemoryError
from simsched.units import format_size

MIB = 2**20


def lanes_with_memory(count: int, capacity: int) -> HardwareProfile:
    """Identical lanes that share a memory."""
    plain = lanes(count)
    (device,) = plain.devices
    return dataclasses.replace(plain, devices=(dataclasses.replace(device, memory_capacity=capacity),))


def branches() -> Graph:
    """Four branches of two operators, and one operator that joins them."""
    builder = GraphBuilder("branches", time_unit="tick")
    builder.add_tensor("image", bytes=8 * MIB)
    for branch in range(4):
        large, small = f"large{branch}", f"small{branch}"
        builder.add_tensor(large, bytes=64 * MIB)
        builder.add_tensor(small, bytes=MIB)
        builder.add_op(f"expand{branch}", duration=3, inputs=["image"], outputs=[large])
        builder.add_op(f"reduce{branch}", duration=2, inputs=[large], outputs=[small], workspace=40 * MIB)
    builder.add_op("concat", duration=1, inputs=[f"small{branch}" for branch in range(4)])
    return builder.build()


graph = branches()
for capacity in (400, 160):
    hardware = lanes_with_memory(3, capacity * MIB)
    for scheduler in ("critical_path", "memory_aware(slack=0)", "memory_aware(slack=1)"):
        print(f"{capacity} MiB, {scheduler}: ", end="")
        try:
            result = run(graph, scheduler, hardware, memory="block")
        except OutOfMemoryError as error:
            print(error)
        else:
            print(f"makespan {result.makespan}, peak {format_size(result.trace.memory.peak(0))}")

try:
    run(graph, "serial", lanes_with_memory(3, 100 * MIB), memory="block")
except OutOfMemoryError as error:
    print(f"100 MiB, serial: {error}")
    print(f"in bytes, for programs: {error.needed}")
