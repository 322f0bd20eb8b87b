"""Speed-up laws by hand, in exact fractions, and what they do to the cost of an operator on a CPU."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from simsched.cost.base import KernelCost
from simsched.cost.roofline import Roofline
from simsched.cost.speedup import amdahl, bandwidth, linear, measured, peak_share, speedup
from simsched.errors import CostError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import Device, DeviceModelName, Efficiency, Threads

# 23 cores of 7 GFLOP/s; 52 GB/s of memory.
CPU = Device(
    "cpu",
    kind="cpu",
    model="sm_share",
    resources={"sms": 23},
    peaks={"vector": {"fp32": 161e9}},
    memory_bandwidth=52e9,
    launch_ns=11,
)
TABLE = ((2, 1.75), (5, 3.25), (13, 4.25))


def cost(threads: Threads | None, flops: int, traffic: int = 0, sms: int | None = None) -> KernelCost:
    builder = GraphBuilder("one")
    builder.add_op("a", flops=flops, traffic=traffic, demands={} if sms is None else {"sms": sms})
    return Roofline()(builder.build(), 0, dataclasses.replace(CPU, threads=threads))


@pytest.mark.parametrize("cores", [1, 2, 3, 7, 19, 64])
@pytest.mark.parametrize("serial", [Fraction(0), Fraction(1, 20), Fraction(3, 7), Fraction(1)])
def test_amdahl_is_the_time_of_the_serial_part_and_the_divided_rest(cores: int, serial: Fraction) -> None:
    time = serial + (1 - serial) / cores
    assert amdahl(cores, float(serial)) == pytest.approx(float(1 / time), rel=1e-15)


def test_amdahl_by_hand() -> None:
    # A quarter serial: 1/4 + 3/4/3 = 1/2; a half serial: 1/2 + 1/2/2 = 3/4.
    assert amdahl(3, 0.25) == 2.0
    assert amdahl(2, 0.5) == 4 / 3
    assert [amdahl(cores, 0.0) for cores in (1, 5, 11)] == [linear(cores) for cores in (1, 5, 11)] == [1.0, 5.0, 11.0]
    assert amdahl(10**9, 0.125) == pytest.approx(8, rel=1e-7), "never faster than one over the serial fraction"


def test_a_table_is_kept_at_its_points_and_straight_between_them() -> None:
    assert [measured(cores, TABLE) for cores in (1, 2, 5, 13)] == [1.0, 1.75, 3.25, 4.25]
    # 2 to 5 rises 1.5 in 3 cores, 5 to 13 rises 1 in 8.
    assert [measured(cores, TABLE) for cores in (3, 4, 6, 9)] == [2.25, 2.75, 3.375, 3.75]
    assert measured(3, ((5, 3.0),)) == 2.0, "one core is 1, also where the table leaves it out"
    assert measured(4, ((1, 1.0), (3, 2.5), (5, 2.0))) == 2.25, "more threads may be slower"


def test_nothing_is_extrapolated_beyond_a_table() -> None:
    with pytest.raises(CostError, match=r"^the table of speed-ups ends at 13 cores; nothing is known about 14$"):
        measured(14, TABLE)
    with pytest.raises(CostError, match="ends at 1 cores"):
        measured(2, ())


def test_no_law_makes_cores_faster_than_their_share_of_the_peak() -> None:
    threads = Threads(4, "table", table=((2, 2.5), (4, 3.0)))
    assert [speedup(threads, cores) for cores in (1, 2, 3, 4)] == [1.0, 2.0, 2.75, 3.0]
    assert peak_share(dataclasses.replace(CPU, threads=threads), 2) == 2 / 23


def test_without_threads_a_share_is_that_of_the_cores() -> None:
    assert [peak_share(CPU, cores) for cores in (0, 1, 7, 23)] == [1.0, 1 / 23, 7 / 23, 1.0]
    assert bandwidth(CPU, 1) == bandwidth(CPU, 23) == 52e9
    assert bandwidth(dataclasses.replace(CPU, efficiency=Efficiency(bandwidth=0.5)), 3) == 26e9
    assert bandwidth(dataclasses.replace(CPU, memory_bandwidth=None), 3) is None


def test_an_operator_takes_its_cores_and_is_so_many_times_as_fast_as_on_one() -> None:
    # On one core: 7,000,000 FLOP at 7 GFLOP/s is 1 ms.
    assert cost(Threads(1), 7_000_000).duration == 1_000_011
    four = cost(Threads(4, "amdahl", serial=0.2), 7_000_000)  # 1/5 + 4/5/4 = 2/5
    assert (four.sms, four.duration) == (4, 400_011)
    assert four.compute_ns == pytest.approx(400_000)
    five = cost(Threads(5, "table", table=TABLE), 7_000_000)
    assert five.sms == 5
    assert five.compute_ns == pytest.approx(1_000_000 / 3.25)
    assert cost(Threads(8), 7_000_000).duration == 125_011
    assert cost(None, 7_000_000).sms == 23, "without threads, as ever: all of the device"


def test_an_operator_takes_fewer_cores_where_it_has_fewer_blocks() -> None:
    builder = GraphBuilder("small")
    x = builder.add_tensor("x", shape=(3, 1024), dtype="fp32", kind="input")
    y = builder.add_tensor("y", shape=(3, 1024), dtype="fp32")
    builder.add_op("relu", "Relu", inputs=[x], outputs=[y])
    found = Roofline()(builder.build(), 0, dataclasses.replace(CPU, threads=Threads(8, "amdahl", serial=0.5)))
    assert found.sms == 3, "three blocks of 1024 elements"
    assert found.compute_ns == pytest.approx(3072 / 7 / 1.5)  # 1/2 + 1/2/3 = 2/3 of one core's time


def test_a_demand_of_the_graph_is_held_but_runs_on_no_more_threads_than_there_are() -> None:
    found = cost(Threads(5, "table", table=((5, 3.5),)), 7_000_000, sms=9)
    assert found.sms == 9
    assert found.compute_ns == pytest.approx(1_000_000 / 3.5)


def test_the_memory_side_follows_the_speed_up_of_what_one_core_can_draw() -> None:
    # One core draws 13 GB/s: 130,000 B take 10 us; two cores are 1.75 times as fast; 52 GB/s are 2.5 us.
    threads = Threads(2, "table", table=TABLE, core_bandwidth=13e9)
    assert cost(dataclasses.replace(threads, per_operator=1), 1, 130_000).memory_ns == pytest.approx(10_000)
    assert cost(threads, 1, 130_000).memory_ns == pytest.approx(10_000 / 1.75)
    assert cost(dataclasses.replace(threads, per_operator=13), 1, 130_000).memory_ns == pytest.approx(2_500)
    assert cost(Threads(1), 1, 130_000).memory_ns == pytest.approx(2_500), "not known: one core draws all"


def test_threads_hold_cores_on_lanes_too_and_share_no_wave() -> None:
    builder = GraphBuilder("one")
    builder.add_op("a", flops=7_000_000)
    models: tuple[DeviceModelName, ...] = ("lanes", "sm_share", "blocks")
    for model in models:
        device = dataclasses.replace(CPU, model=model, threads=Threads(4))
        found = Roofline()(builder.build(), 0, device)
        assert (found.sms, found.duration) == (4, 250_011)
        assert (found.grid, found.tail_ns) == (0, 0), "each thread is a block of its own"
