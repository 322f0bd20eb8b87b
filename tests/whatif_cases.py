"""Small graphs, hardware and costs for tests of what-if, worked by hand."""

from __future__ import annotations

from simsched.cost.base import KernelCost
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile


def ticks(durations: dict[str, int], *edges: str, types: dict[str, str] | None = None) -> Graph:
    """Operators of one letter, edges as pairs of letters."""
    builder = GraphBuilder("g", time_unit="tick")
    for name, duration in durations.items():
        builder.add_op(name, (types or {}).get(name, "op"), duration=duration)
    for source, target in edges:
        builder.add_edge(source, target)
    return builder.build()


def gpu(**more: object) -> HardwareProfile:
    """1 FLOP and 0.1 B a ns on each of 4 SMs together 10 B a ns; a launch takes 100 ns."""
    device = Device(
        "gpu", kind="gpu", model="sm_share", streams=3, resources={"sms": 4}, memory_bandwidth=10e9,
        peaks={"vector": {"fp32": 4e9}}, launch_ns=100, **more,  # type: ignore[arg-type]
    )  # fmt: skip
    return HardwareProfile("toy", (device,))


def model(graph: Graph, op: int, device: Device) -> KernelCost:
    """The roofline, without looking at grids: all of the device for every kernel."""
    flops, moved = graph.flops.get(op, 0), graph.traffic.get(op, 0)
    assert device.memory_bandwidth is not None
    compute = flops * 1e9 / device.peaks["vector"]["fp32"]
    memory = moved * 1e9 / device.memory_bandwidth
    slower = max(compute, memory)
    return KernelCost(
        int(slower) + device.launch_ns, flops=flops, bytes=moved, sms=device.sms, compute_ns=compute, memory_ns=memory,
        launch_ns=float(device.launch_ns), bound="compute" if compute > memory else "memory",
    )  # fmt: skip


def kernels() -> Graph:
    """a makes x for b and c; b makes y for c alone; c makes z."""
    builder = GraphBuilder("kernels")
    for name, size in (("x", 700), ("y", 1100), ("z", 130)):
        builder.add_tensor(name, bytes=size)
    builder.add_op("a", "Conv", outputs=["x"], flops=40_000, traffic=3_000)
    builder.add_op("b", "Relu", inputs=["x"], outputs=["y"], flops=4_000, traffic=1_800)
    builder.add_op("c", "Add", inputs=["x", "y"], outputs=["z"], flops=400, traffic=1_930)
    return builder.build()
