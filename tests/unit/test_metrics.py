from __future__ import annotations

import math
from dataclasses import replace

import pytest

from simsched.analysis.metrics import metrics, serial_time
from simsched.analysis.rows import op_rows, run_row
from simsched.analysis.usage import bandwidth_notes, live_tensors
from simsched.cost.base import KernelCost
from simsched.graph.builder import GraphBuilder
from simsched.hardware import Device, HardwareProfile, lanes, procs
from simsched.problem import make_problem
from simsched.result import Result
from simsched.trace import Wait
from tests.builders import linked_pair, problem_of, rigid, with_memory, zoo_graphs
from tests.traces import SERIAL, STEPS, memory_steps, tensors, trace_of


def result_of(problem, rows, *, actual=None, memory="unbounded", **rest) -> Result:
    return Result(problem, "by_hand", trace_of(problem, rows, **rest), memory, actual)


@pytest.fixture
def run() -> Result:
    """a(2), b(3) and c(5) beside each other after it, d(7): b on a lane of its own."""
    problem = problem_of(zoo_graphs()["diamond"], lanes(3))
    rows = [
        ("v0", "d0/s0", 0, 0, 0, 2),
        ("v1", "d0/s1", 2, 2, 2, 5),
        ("v2", "d0/s0", 2, 2, 2, 7),
        ("v3", "d0/s0", 7, 7, 7, 14),
    ]
    return result_of(problem, rows, calls=4)


def test_times_of_a_run_by_hand(run):
    figures = metrics(run)
    assert (figures.makespan, figures.serial, figures.critical_path) == (14, 17, 14)
    assert (figures.lower_bound.name, figures.lower_bound.value, figures.gap) == ("critical_path", 14, 0.0)
    assert figures.upper_bound is not None
    assert figures.upper_bound.value == 15  # 17 / 3 + 2 / 3 x 14
    assert figures.speedup == 17 / 14
    assert figures.machines == 3
    assert figures.efficiency == 17 / 14 / 3
    assert (figures.busy, figures.idle) == (17, 3 * 14 - 17)
    assert figures.utilisation == 17 / 42
    assert figures.parallelism == 17 / 14


def test_streams_of_a_run_by_hand(run):
    streams = metrics(run).streams
    assert [(use.name, use.operators, use.busy, use.idle) for use in streams] == [
        ("d0/s0", 3, 14, 0),
        ("d0/s1", 1, 3, 11),
        ("d0/s2", 0, 0, 14),
    ]
    assert streams[1].utilisation == 3 / 14
    assert metrics(run).balance == 17 / 3 / 14


def test_the_gap_is_relative_to_the_lower_bound(run):
    late = replace(run, actual=[[2, 3, 5, 7]])
    assert metrics(late).gap == 0.0
    shorter = replace(run, actual=[[2, 3, 1, 4]])
    assert metrics(shorter).critical_path == 9
    assert metrics(shorter).gap == (14 - 9) / 9


def test_a_run_without_duration_has_plain_figures():
    problem = problem_of(zoo_graphs()["empty"], lanes(2))
    figures = metrics(result_of(problem, []))
    assert (figures.makespan, figures.speedup, figures.gap, figures.utilisation) == (0, 1.0, 0.0, 0.0)
    assert (figures.parallelism, figures.balance, figures.peak_bytes) == (0.0, 1.0, 0)
    assert run_row(result_of(problem, []))["peak_at_ns"] == 0


def test_a_gap_above_a_bound_of_nothing_is_not_a_number_in_a_row():
    builder = GraphBuilder("delayed", time_unit="tick")
    builder.add_op("a", duration=0)
    builder.add_op("b", duration=0)
    builder.add_edge("a", "b", delay=5)
    problem = problem_of(builder.build(), procs(2))
    run = result_of(problem, [("a", "p0/s0", 0, 0, 0, 0), ("b", "p1/s0", 0, 0, 5, 5)])
    assert metrics(run).gap == math.inf
    assert run_row(run)["gap"] is None


def test_serial_time_is_on_the_best_device_that_may_run_everything():
    builder = GraphBuilder("both", time_unit="tick")
    builder.add_op("a", duration={"d0": 2, "d1": 11})
    builder.add_op("b", duration={"d0": 7, "d1": 3})
    problem = problem_of(builder.build(), linked_pair())
    assert serial_time(problem) == 9  # on d0; each on its best would be 5
    builder.add_op("c", duration=13, device="d1")
    assert serial_time(problem_of(builder.build(), linked_pair())) == 11 + 3 + 13
    builder.add_op("d", duration=17, device="d0")
    assert serial_time(problem_of(builder.build(), linked_pair())) == 2 + 3 + 13 + 17
    assert serial_time(problem, [[5, 7], [1, 2]]) == 3


def test_use_of_resources_by_hand():
    builder = GraphBuilder("units", time_unit="tick")
    for name, duration, cores, ports in (("a", 2, 3, 0), ("b", 3, 1, 1), ("c", 5, 4, 1)):
        builder.add_op(name, duration=duration, demands={"cores": cores, "ports": ports})
    problem = problem_of(builder.build(), rigid(3, cores=4, ports=2, idle=7))
    rows = [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 0, 0, 0, 3), ("c", "d0/s2", 0, 0, 3, 8)]
    uses = {use.resource: use for use in metrics(result_of(problem, rows)).resources}
    assert (uses["cores"].peak, uses["cores"].used, uses["cores"].utilisation) == (4, 6 + 3 + 20, 29 / 32)
    assert (uses["ports"].peak, uses["ports"].used, uses["ports"].utilisation) == (1, 8, 0.5)
    assert (uses["idle"].peak, uses["idle"].used, uses["idle"].utilisation) == (0, 0, 0.0)


def test_memory_at_the_peak_by_hand():
    problem = problem_of(tensors(), with_memory(lanes(1), 1000))
    run = Result(problem, "by_hand", trace_of(problem, SERIAL, memory=memory_steps(*STEPS)))
    (use,) = metrics(run).memory
    assert (use.device, use.peak, use.at, use.capacity, use.final) == ("d0", 144, 2, 1000, 117)
    assert use.operators == (1,)
    assert use.tensors == (("w", 100), ("tb", 11), ("dead", 7), ("ta", 3))  # and 23 of workspace
    assert use.others == 0
    assert live_tensors(run, 0, 10) == [("w", 100), ("out", 17)]
    assert metrics(run).peak_bytes == 144


def test_each_device_has_its_own_use():
    """x on d0 makes 5 B for y [10, 16) and z [11, 13) on d1, which share one copy there; w (100 B) comes with y."""
    builder = GraphBuilder("spread", time_unit="tick")
    builder.add_tensor("w", bytes=100, kind="parameter")
    builder.add_tensor("t", bytes=5)
    builder.add_op("x", duration=3, outputs=["t"], device="d0", demands={"cores": 2})
    builder.add_op("y", duration=6, inputs=["t", "w"], device="d1", demands={"cores": 1})
    builder.add_op("z", duration=2, inputs=["t"], device="d1", demands={"cores": 1})
    hardware = linked_pair(latency=2, bandwidth=1e9)
    devices = tuple(replace(device, resources={"cores": 2}) for device in hardware.devices)
    problem = problem_of(builder.build(), replace(hardware, devices=devices))
    rows = [("x", "d0/s0", 0, 0, 0, 3), ("y", "d1/s0", 0, 3, 10, 16), ("z", "d1/s1", 10, 3, 11, 13)]
    steps = memory_steps((0, 0, 5), (10, 1, 105), (16, 1, 100), (16, 0, 0))
    figures = metrics(Result(problem, "by_hand", trace_of(problem, rows, memory=steps)))
    assert [(use.device, use.peak, use.used) for use in figures.resources] == [("d0", 2, 6), ("d1", 2, 8)]
    assert [(use.peak, use.at, use.final, use.operators) for use in figures.memory] == [
        (5, 0, 0, (0,)),
        (105, 10, 100, (1,)),
    ]
    assert figures.memory[1].tensors == (("w", 100), ("t", 5))
    assert figures.peak_bytes == 105


def test_only_the_largest_tensors_are_named():
    builder = GraphBuilder("many", time_unit="tick")
    for number in range(13):
        builder.add_tensor(f"w{number}", bytes=number + 1, kind="parameter")
    builder.add_op("v", duration=2, inputs=[f"w{number}" for number in range(13)])
    problem = problem_of(builder.build(), lanes(1))
    trace = trace_of(problem, [("v", "d0/s0", 0, 0, 0, 2)], memory=memory_steps((0, 0, 91)))
    (use,) = metrics(Result(problem, "by_hand", trace)).memory
    assert use.tensors[0] == ("w12", 13)
    assert (len(use.tensors), use.others) == (10, 3)


def test_a_run_faster_than_the_memory_says_so():
    device = Device("gpu0", streams=2, memory_bandwidth=1e9)
    builder = GraphBuilder("wide")
    builder.add_op("a")
    builder.add_op("b")

    def cost(graph, op, device):
        return KernelCost(1000, bytes=900, bound="memory")

    problem = make_problem(builder.build(), HardwareProfile("one", (device,)), cost)
    beside = result_of(problem, [("a", "gpu0/s0", 0, 0, 0, 1000), ("b", "gpu0/s1", 0, 0, 0, 1000)])
    assert bandwidth_notes(beside) == (
        "gpu0: the run moves 1.8 GB/s of memory traffic, the device has 1 GB/s; lanes share no bandwidth, so that "
        "it would take longer (model sm_share shares it)",
    )
    after = result_of(problem, [("a", "gpu0/s0", 0, 0, 0, 1000), ("b", "gpu0/s0", 0, 0, 1000, 2000)])
    assert bandwidth_notes(after) == ()


# --- rows -----------------------------------------------------------------------------------------------------


def test_the_row_of_a_run(run):
    assert run_row(run) == {
        "operators": 4,
        "makespan_ns": 14,
        "serial_ns": 17,
        "speedup": 1.214286,
        "critical_path_ns": 14,
        "lower_bound_ns": 14,
        "lower_bound": "critical_path",
        "gap": 0.0,
        "upper_bound_ns": 15,
        "amdahl_ns": 12,  # 9 + 8 / 3
        "amdahl_textbook_ns": 15,
        "machines": 3,
        "efficiency": 0.404762,
        "parallelism": 1.214286,
        "utilisation": 0.404762,
        "balance": 0.404762,
        "busy_ns": 17,
        "idle_ns": 25,
        "sm_utilisation": None,
        "lost_ns": 0,
        "bandwidth_utilisation": None,
        "host_utilisation": None,
        "copies": 0,
        "copied_bytes": 0,
        "copy_ns": 0,
        "copy_wait_ns": 0,
        "peak_bytes": 0,
        "peak_at_ns": 0,
        "capacity_bytes": None,
        "policy_calls": 4,
    }


def test_the_rows_of_operators():
    problem = problem_of(tensors(), lanes(2))
    rows = [("a", "d0/s0", 0, 0, 0, 2), ("b", "d0/s1", 2, 2, 4, 9), ("c", "d0/s0", 9, 9, 11, 16)]
    waits = (Wait(1, "resource", 2, 3), Wait(1, "memory", 3, 4), Wait(2, "queue", 9, 11))
    run = result_of(problem, rows, actual=[[2, 5, 5]], waits=waits, reasons={2: "largest"})
    first, second, third = op_rows(run)
    assert second == {
        "op": 1,
        "name": "b",
        "op_type": "op",
        "device": "d0",
        "stream": "d0/s1",
        "ready_ns": 2,
        "dispatch_ns": 2,
        "launched_ns": None,
        "start_ns": 4,
        "end_ns": 9,
        "duration_ns": 5,
        "estimate_ns": 3,
        "lost_ns": 0,
        "wait_ns": 2,
        "wait_resource_ns": 1,
        "wait_memory_ns": 1,
        "wait_queue_ns": 0,
        "b_level_ns": 10,
        "t_level_ns": 2,
        "slack_ns": 0,
        "on_critical_path": True,
        "on_realised_path": True,
        "flops": 0,
        "bytes": 0,
        "intensity": 0.0,
        "bound": "explicit",
        "sms": 0,
        "workspace_bytes": 23,
        "output_bytes": 18,
        "reason": "",
    }
    assert (third["wait_queue_ns"], third["wait_ns"], third["reason"]) == (2, 2, "largest")
    assert (first["slack_ns"], first["on_critical_path"]) == (0, True)


def test_slack_and_critical_operators_of_a_diamond(run):
    rows = list(op_rows(run))
    assert [row["slack_ns"] for row in rows] == [0, 2, 0, 0]
    assert [row["on_critical_path"] for row in rows] == [True, False, True, True]
    assert [row["on_realised_path"] for row in rows] == [True, False, True, True]


def test_every_column_is_documented():
    from tests.known_answers import REPOSITORY

    text = (REPOSITORY / "docs" / "reference" / "metrics.md").read_text()
    problem = problem_of(zoo_graphs()["one"], lanes(1))
    run = result_of(problem, [("v0", "d0/s0", 0, 0, 0, 7)])
    for column in (*run_row(run), *next(op_rows(run))):
        assert f"| `{column}` |" in text, column
