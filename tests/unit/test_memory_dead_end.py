"""A policy that holds operators back because none fits the memory is told about memory, not about stalling."""

from __future__ import annotations

import dataclasses

import pytest

from simsched import GraphBuilder, HardwareProfile, lanes, run
from simsched.errors import OutOfMemoryError


def two_lanes(capacity: int) -> HardwareProfile:
    plain = lanes(2)
    (device,) = plain.devices
    return dataclasses.replace(plain, devices=(dataclasses.replace(device, memory_capacity=capacity),))


@pytest.mark.parametrize("memory", ["block", "strict"])
def test_two_half_finished_branches_leave_no_room_for_either(memory: str) -> None:
    builder = GraphBuilder("branches", time_unit="tick")
    for branch, size in (("a", 50), ("b", 43)):
        builder.add_tensor(branch, bytes=size)
        builder.add_op(f"make_{branch}", duration=3, outputs=[branch])
        builder.add_op(f"use_{branch}", duration=2, inputs=[branch], workspace=17)
    graph = builder.build()
    # 50 + 43 live; each user needs 17 more: 110 would be enough to go on, and 109 is not.
    assert run(graph, "critical_path", two_lanes(110), memory=memory).makespan == 7
    with pytest.raises(OutOfMemoryError, match="'use_a' does not fit into device 'd0': 110 B") as caught:
        run(graph, "critical_path", two_lanes(109), memory=memory)
    assert caught.value.needed == 110
