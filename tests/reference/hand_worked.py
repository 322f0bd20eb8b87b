"""Small runs worked out by hand: what starts and ends when, with kernels, copies and launches that share something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from simsched.cost.base import Block, KernelCost
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device, HardwareProfile, Host, Link, SmLimits
from simsched.problem import Problem, make_problem
from simsched.schedule import Schedule
from simsched.schedulers.follow import Follow


@dataclass(frozen=True)
class Kernel:
    """One operator: its cost, its place (a stream's number), and what it reads and makes."""

    took: int
    stream: int = 0
    moved: int = 0
    launch: int = 0
    sms: int = 0
    reads: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    makes: int | None = None
    grid: int = 0
    block: Block | None = None
    tail: int = 0
    peak: float = 0.0


@dataclass(frozen=True)
class Answer:
    """A run and what comes of it: start and end of each operator, and of each copy by tensor and destination."""

    hardware: HardwareProfile
    kernels: Mapping[str, Kernel]
    spans: Mapping[str, tuple[int, int]]
    copies: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    cohorts: Sequence[tuple[str, int, int, int, tuple[tuple[int, int], ...]]] = ()
    launched: Sequence[int] = ()
    delays: Mapping[tuple[str, str], int] = field(default_factory=dict)
    actual: Mapping[str, int] | None = None

    @property
    def problem(self) -> Problem:
        builder = GraphBuilder("by_hand")
        for name, kernel in self.kernels.items():
            if kernel.makes is not None:
                builder.add_tensor(f"t{name}", bytes=kernel.makes)
            builder.add_op(
                name,
                inputs=[f"t{before}" for before in kernel.reads],
                outputs=[f"t{name}"] if kernel.makes is not None else [],
                after=kernel.after,
            )
        for (before, after), delay in self.delays.items():
            builder.add_edge(before, after, delay=delay)

        def cost(graph: Graph, op: OpId, device: Device) -> KernelCost:
            k = self.kernels[graph.names[op]]
            return KernelCost(
                k.took, bytes=k.moved, sms=k.sms, launch_ns=k.launch, grid=k.grid, block=k.block, tail_ns=k.tail,
                peak_ns=k.peak, bound="memory",
            )  # fmt: skip

        return make_problem(builder.build(), self.hardware, cost)

    @property
    def scheduler(self) -> Follow:
        """Everything is dispatched at time 0, in the order of the kernels."""
        streams: dict[int, list[int]] = {}
        index = self.problem.graph.index
        for name, kernel in self.kernels.items():
            streams.setdefault(kernel.stream, []).append(index[name])
        launch = tuple(index[name] for name in self.kernels)
        return Follow(Schedule({stream: tuple(ops) for stream, ops in sorted(streams.items())}, launch))

    @property
    def durations(self) -> list[list[int]] | None:
        if self.actual is None:
            return None
        names = self.problem.graph.names
        return [[self.actual.get(name, self.kernels[name].took) for name in names] for _ in self.hardware.devices]


def gpu(streams: int = 3, sms: int = 4, *, host: Host | None = None, **fields: Any) -> HardwareProfile:
    """One GPU that moves a byte a nanosecond."""
    device = Device(
        "g", kind="gpu", model="sm_share", streams=streams, resources={"sms": sms}, memory_bandwidth=1e9,
    )  # fmt: skip
    return HardwareProfile("gpu", (replace(device, **fields),), host=host or Host())


def cluster(*links: Link, count: int = 3, engines: int | None = None, switches: Sequence[str] = ()) -> HardwareProfile:
    """Devices ``a``, ``b``, ``c`` of three lanes each; streams 0 to 2, 3 to 5, 6 to 8."""
    devices = tuple(Device(name, streams=3, copy_engines=engines) for name in "abcd"[:count])
    return HardwareProfile("cluster", devices, links, switches=tuple(switches))


def tiny(sms: int = 2, **limits: int) -> HardwareProfile:
    """A GPU of model ``blocks``; two blocks on an SM unless said otherwise."""
    known = SmLimits(**(limits or {"blocks": 2}))
    return gpu(sms=sms, model="blocks", sm_limits=known)


K = Kernel
SHARING = {
    "two that each need all bandwidth take twice as long": Answer(
        gpu(), {"x": K(10, 0, 10), "y": K(10, 1, 10)}, {"x": (0, 20), "y": (0, 20)}
    ),
    # y needs a quarter and keeps it, x gets three quarters: 10 / 0.75 = 13.33, until 14
    "a small demand is met in full, and an end is rounded up": Answer(
        gpu(), {"x": K(10, 0, 10), "y": K(20, 1, 5)}, {"x": (0, 14), "y": (0, 20)}
    ),
    # thirds of 1 for demands of a half: speed 2/3, 10 / (2/3) = 15
    "three halves share in thirds": Answer(
        gpu(), {"x": K(10, 0, 5), "y": K(10, 1, 5), "z": K(10, 2, 5)}, dict.fromkeys("xyz", (0, 15))
    ),
    "two halves do not disturb each other": Answer(
        gpu(), {"x": K(10, 0, 5), "y": K(14, 1, 7)}, {"x": (0, 10), "y": (0, 14)}
    ),
    # x is alone from 3 to 5 and does 2; at half speed the other 8 take 16: 21. y has done 8 by then, 2 are left
    "a launch draws nothing": Answer(
        gpu(), {"x": K(13, 0, 10, launch=3), "y": K(15, 1, 10, launch=5)}, {"x": (0, 21), "y": (0, 23)}
    ),
    # launch 3 of 13 becomes 6 of 26, body 20 draws a half; y's body draws 1 from 0: alone to 6, then level 1/2:
    # y has 4 left at half speed: 14; x runs at full speed throughout
    "noise stretches launch and body": Answer(
        gpu(), {"x": K(13, 0, 10, launch=3), "y": K(10, 1, 10)}, {"x": (0, 26), "y": (0, 14)}, actual={"x": 26}
    ),
    "lanes share nothing": Answer(
        gpu(model="lanes"), {"x": K(10, 0, 10), "y": K(10, 1, 10)}, {"x": (0, 10), "y": (0, 10)}
    ),
    # z waits for SMs until x ends at 20; y (done 10 of 13) and z then share: y's 3 take 6, z is alone with 4 of 7 left
    "who starts later slows those that run": Answer(
        gpu(sms=4), {"x": K(10, 0, 10, sms=2), "y": K(13, 1, 13, sms=2), "z": K(7, 2, 7, sms=2)},
        {"x": (0, 20), "y": (0, 26), "z": (20, 30)},
    ),
    "one that moves nothing runs at full speed": Answer(
        gpu(), {"x": K(10, 0, 10), "y": K(10, 1, 10), "z": K(11, 2)}, {"x": (0, 20), "y": (0, 20), "z": (0, 11)}
    ),
    # x and y at 1/2 until 10, when z (a third of the bandwidth from then on, demand 1) joins: x, y have 5 and 8 left:
    # x ends at 25, y has 3 left and z 6 of 11: at half speed y ends at 31, z has 3 left: 34
    "three in turn": Answer(
        gpu(), {"x": K(10, 0, 10), "y": K(13, 1, 13), "w": K(10, 2), "z": K(11, 2, 11)},
        {"x": (0, 25), "y": (0, 31), "w": (0, 10), "z": (10, 34)},
    ),
}  # fmt: skip

URGENT = {
    # at 10 both y and z are in the queue; z is more urgent though it came later
    "an urgent kernel goes first, but nobody is thrown out": Answer(
        gpu(stream_priorities=(0, 0, -1)),
        {"w": K(4, 2), "x": K(10, 0, sms=3), "y": K(5, 1, sms=2), "z": K(7, 2, sms=3)},
        {"w": (0, 4), "x": (0, 10), "z": (10, 17), "y": (17, 22)},
    ),
    # y waits for room at the head; z would fit but is held back, except that it is urgent
    "an urgent kernel is not held back": Answer(
        gpu(stream_priorities=(0, 0, -1)),
        {"w": K(4, 2), "x": K(10, 0, sms=3), "y": K(5, 1, sms=2), "z": K(7, 2, sms=1)},
        {"w": (0, 4), "x": (0, 10), "z": (4, 11), "y": (10, 15)},
    ),
    "others are held back": Answer(
        gpu(stream_priorities=(0, -1, 0)),
        {"x": K(10, 0, sms=3), "y": K(5, 1, sms=2), "z": K(7, 2, sms=1)},
        {"y": (0, 5), "x": (5, 15), "z": (5, 12)},
    ),
}

HOST = {
    # one thread launches x, y, z by 5, 10, 15; stream 0 is free at 12
    "launches come one after the other": Answer(
        gpu(host=Host(5, "serial")), {"x": K(7, 0), "y": K(7, 1), "z": K(7, 0)},
        {"x": (5, 12), "y": (10, 17), "z": (15, 22)}, launched=(5, 10, 15),
    ),
    # streams 0 and 2 belong to thread 0, stream 1 to thread 1
    "two threads launch side by side": Answer(
        gpu(host=Host(5, "serial", threads=2)), {"x": K(7, 0), "y": K(7, 1), "z": K(7, 2)},
        {"x": (5, 12), "y": (5, 12), "z": (10, 17)}, launched=(5, 5, 10),
    ),
    "a graph is launched once": Answer(
        gpu(host=Host(5, "graph", graph_ns=11)), {"x": K(7, 0), "y": K(7, 1), "z": K(3, 0)},
        {"x": (11, 18), "y": (11, 18), "z": (18, 21)}, launched=(11, 11, 11),
    ),
    # y waits for x in another stream: 18 + 2; z for x in the same one
    "an event costs time between streams": Answer(
        gpu(host=Host(0, "graph", graph_ns=11, event_ns=2)),
        {"x": K(7, 0), "y": K(7, 1, after=("x",)), "z": K(3, 0, after=("x",))},
        {"x": (11, 18), "y": (20, 27), "z": (18, 21)}, launched=(11, 11, 11),
    ),
    "no events where the host costs nothing": Answer(
        gpu(host=Host(5, "free", event_ns=2)), {"x": K(7, 0), "y": K(7, 1, after=("x",))}, {"x": (0, 7), "y": (7, 14)}
    ),
}  # fmt: skip

AB = Link("a", "b", 3, 1e9)
COPIES = {
    # made at 10; 3 ns latency and 20 bytes
    "a copy takes latency and bytes": Answer(
        cluster(AB), {"x": K(10, 0, makes=20), "y": K(5, 3, reads=("x",))}, {"x": (0, 10), "y": (33, 38)},
        {"tx>b": (10, 33)},
    ),
    "two readers share one copy": Answer(
        cluster(AB),
        {"x": K(10, 0, makes=20), "y": K(5, 3, reads=("x",)), "z": K(7, 4, reads=("x",))},
        {"x": (0, 10), "y": (33, 38), "z": (33, 40)}, {"tx>b": (10, 33)},
    ),
    # latency over at 13 for tx and at 17 for tz; tx alone moves 4, then both half a byte a nanosecond: tx's 16 take 32,
    # to 49; tz has moved 16 of 20 by then and takes 4 more
    "copies of one direction share a link": Answer(
        cluster(AB),
        {"x": K(10, 0, makes=20), "z": K(14, 1, makes=20), "y": K(5, 3, reads=("x",)), "w": K(5, 4, reads=("z",))},
        {"x": (0, 10), "z": (0, 14), "y": (49, 54), "w": (53, 58)}, {"tx>b": (10, 49), "tz>b": (14, 53)},
    ),
    "copies of opposite directions do not": Answer(
        cluster(AB),
        {"x": K(10, 0, makes=20), "z": K(10, 3, makes=20), "y": K(5, 4, reads=("x",)), "w": K(5, 1, reads=("z",))},
        {"x": (0, 10), "z": (0, 10), "y": (33, 38), "w": (33, 38)}, {"tx>b": (10, 33), "tz>a": (10, 33)},
    ),
    "except where the link is half duplex": Answer(
        cluster(replace(AB, sharing="half_duplex")),
        {"x": K(10, 0, makes=20), "z": K(10, 3, makes=20), "y": K(5, 4, reads=("x",)), "w": K(5, 1, reads=("z",))},
        {"x": (0, 10), "z": (0, 10), "y": (53, 58), "w": (53, 58)}, {"tx>b": (10, 53), "tz>a": (10, 53)},
    ),
    "an unshared link bounds each copy": Answer(
        cluster(replace(AB, sharing="unshared")),
        {"x": K(10, 0, makes=20), "z": K(14, 1, makes=20), "y": K(5, 3, reads=("x",)), "w": K(5, 4, reads=("z",))},
        {"x": (0, 10), "z": (0, 14), "y": (33, 38), "w": (37, 42)}, {"tx>b": (10, 33), "tz>b": (14, 37)},
    ),
    # one engine each: tz waits for tx's, from 14 to 33
    "one engine copies one tensor at a time": Answer(
        cluster(AB, engines=1),
        {"x": K(10, 0, makes=20), "z": K(14, 1, makes=20), "y": K(5, 3, reads=("x",)), "w": K(5, 4, reads=("z",))},
        {"x": (0, 10), "z": (0, 14), "y": (33, 38), "w": (56, 61)}, {"tx>b": (10, 33), "tz>b": (33, 56)},
    ),
    # over the switch: latencies 3 + 4, the slower of 1 and 0.5 bytes a nanosecond; tz comes in over c's own link (2 a
    # nanosecond) and shares s-b with tx from 15 on: a quarter each. tx has 19.5 left at 15; tz's 10 take 40, to 55;
    # tx then has 9.5 left, 19 ns: 74
    "a route crosses several links": Answer(
        cluster(Link("a", "s", 3, 1e9), Link("s", "b", 4, 5e8), Link("c", "s", 1, 2e9), switches=("s",)),
        {"x": K(7, 0, makes=20), "z": K(10, 6, makes=10), "y": K(5, 3, reads=("x",)), "w": K(5, 4, reads=("z",))},
        {"x": (0, 7), "z": (0, 10), "y": (74, 79), "w": (55, 60)}, {"tx>b": (7, 74), "tz>b": (10, 55)},
    ),
    # a's only engine sends tx to b until 33; tw (a to c) waits behind, and tv (b to c), which needs b's engine too,
    # waits for b; both are next at 33, and c's engine takes the first of the list: tw was asked for at 11, tv at 12
    "who cannot start holds back both ends": Answer(
        cluster(AB, Link("a", "c", 2, 1e9), Link("b", "c", 1, 1e9), engines=1),
        {
            "x": K(10, 0, makes=20), "w": K(11, 1, makes=6), "v": K(12, 3, makes=4),
            "y": K(5, 4, reads=("x",)), "u": K(5, 6, reads=("w",)), "t": K(5, 7, reads=("v",)),
        },
        {"x": (0, 10), "w": (0, 11), "v": (0, 12), "y": (33, 38), "u": (41, 46), "t": (46, 51)},
        {"tx>b": (10, 33), "tw>c": (33, 41), "tv>c": (41, 46)},
    ),
    "a delay of the edge comes on top": Answer(
        cluster(AB), {"x": K(10, 0, makes=20), "y": K(5, 3, reads=("x",))}, {"x": (0, 10), "y": (40, 45)},
        {"tx>b": (10, 33)}, delays={("x", "y"): 7},
    ),
    "nothing to carry takes no time": Answer(
        cluster(AB), {"x": K(10, 0, makes=0), "y": K(5, 3, reads=("x",))}, {"x": (0, 10), "y": (10, 15)}
    ),
}  # fmt: skip

BLOCKS = {
    # four places: four blocks, then one
    "five blocks on four places are two waves": Answer(
        tiny(), {"x": K(20, grid=5, block=Block(1))}, {"x": (0, 20)},
        cohorts=[("x", 0, 0, 10, ((0, 2), (1, 2))), ("x", 1, 10, 20, ((0, 1),))],
    ),
    "the last wave may be shorter": Answer(
        tiny(), {"x": K(20, grid=5, block=Block(1), tail=7)}, {"x": (0, 20)},
        cohorts=[("x", 0, 0, 13, ((0, 2), (1, 2))), ("x", 1, 13, 20, ((0, 1),))],
    ),
    # y is held back until x's last wave leaves room
    "the leftover policy": Answer(
        tiny(), {"x": K(20, 0, grid=5, block=Block(1)), "y": K(3, 1, grid=1, block=Block(1))},
        {"x": (0, 20), "y": (10, 13)},
        cohorts=[("x", 0, 0, 10, ((0, 2), (1, 2))), ("x", 1, 10, 20, ((0, 1),)), ("y", 0, 10, 13, ((1, 1),))],
    ),
    # y takes a place first; x's first wave gets three, its fourth block y's place at 3
    "a full wave of another kernel trickles in": Answer(
        tiny(), {"y": K(3, 1, grid=1, block=Block(1)), "x": K(20, 0, grid=5, block=Block(1))},
        {"x": (0, 20), "y": (0, 3)},
        cohorts=[
            ("y", 0, 0, 3, ((0, 1),)),
            ("x", 0, 0, 10, ((0, 1), (1, 2))), ("x", 0, 3, 13, ((0, 1),)), ("x", 1, 10, 20, ((1, 1),)),
        ],
    ),
    # Gilman et al., figure 2: X has 5 blocks of 256 threads, Y 3 of 160, five SMs of 1024 threads: the emptiest is
    # taken, so X is one on each; Y finds room for 4 on each SM and goes to the first, which then has room for 3
    "most room": Answer(
        tiny(5, threads=1024), {"x": K(20, 0, grid=5, block=Block(256)), "y": K(7, 1, grid=3, block=Block(160))},
        {"x": (0, 20), "y": (0, 7)},
        cohorts=[
            ("x", 0, 0, 20, tuple((sm, 1) for sm in range(5))), ("y", 0, 0, 7, ((0, 1), (1, 1), (2, 1))),
        ],
    ),
    # both would use all arithmetic of the device: each at half speed
    "arithmetic is shared": Answer(
        tiny(2, blocks=1),
        {"x": K(10, 0, grid=1, block=Block(1), peak=10.0), "y": K(10, 1, grid=1, block=Block(1), peak=10.0)},
        {"x": (0, 20), "y": (0, 20)},
        cohorts=[("x", 0, 0, 20, ((0, 1),)), ("y", 0, 0, 20, ((1, 1),))],
    ),
    # x draws 1 of the bandwidth, y 1 of the arithmetic and 1/2 of the bandwidth: half of the bandwidth for each,
    # so x at half speed and y at full speed until 10; x has 5 left
    "bandwidth is shared apart from arithmetic": Answer(
        tiny(2, blocks=1),
        {"x": K(10, 0, 10, grid=1, block=Block(1)), "y": K(10, 1, 5, grid=1, block=Block(1), peak=10.0)},
        {"x": (0, 15), "y": (0, 10)},
        cohorts=[("x", 0, 0, 15, ((0, 1),)), ("y", 0, 0, 10, ((1, 1),))],
    ),
    # an urgent kernel waits for blocks to leave, then goes before the rest of x's
    "an urgent kernel takes the head": Answer(
        gpu(sms=2, model="blocks", sm_limits=SmLimits(blocks=1), stream_priorities=(0, 0, -1)),
        {"w": K(4, 2), "x": K(30, 0, grid=6, block=Block(1)), "y": K(5, 2, grid=1, block=Block(1))},
        {"w": (0, 4), "x": (0, 35), "y": (10, 15)},
        cohorts=[
            ("w", 0, 0, 4, ()), ("x", 0, 0, 10, ((0, 1), (1, 1))), ("y", 0, 10, 15, ((0, 1),)),
            ("x", 1, 10, 20, ((1, 1),)), ("x", 1, 15, 25, ((0, 1),)), ("x", 2, 20, 30, ((1, 1),)),
            ("x", 2, 25, 35, ((0, 1),)),
        ],
    ),
    # without a grid: whole SMs
    "no known grid takes whole SMs": Answer(
        tiny(3), {"x": K(10, 0, sms=2), "y": K(4, 1, grid=3, block=Block(1))}, {"x": (0, 10), "y": (0, 8)},
        cohorts=[
            ("x", 0, 0, 10, ((0, 1), (1, 1))), ("y", 0, 0, 4, ((2, 2),)), ("y", 0, 4, 8, ((2, 1),)),
        ],
    ),
}  # fmt: skip

EVERY = {**SHARING, **URGENT, **HOST, **COPIES, **BLOCKS}
