"""Figures of what operators share, on runs that were worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simsched.analysis.metrics import Metrics, metrics
from simsched.analysis.rows import op_rows, run_row
from simsched.analysis.shared_use import CopyUse, HostUse, bandwidth_use, copy_use, host_use, lost_time
from simsched.cost.base import KernelCost
from tests.builders import problem_of
from tests.unit.test_explain import static
from tests.unit.test_explain_shared import GPU, kernels, pair, traffic, two_copies


def test_bandwidth_that_was_used_and_time_that_was_lost() -> None:
    run = static(kernels({"a": traffic(310, 225, 10), "b": traffic(310, 225, 10)}), "a", "b").run
    (use,) = bandwidth_use(run)
    # 450 B at 1 B/ns in 460 ns; each kernel took 460 ns instead of 310.
    assert (use.device, use.rate, use.used, use.lost, use.span) == ("gpu", 1e9, pytest.approx(450), 300, 460)
    assert use.utilisation == pytest.approx(450 / 460)
    assert lost_time(run) == 300
    assert [row["lost_ns"] for row in op_rows(run)] == [150, 150]
    row = run_row(run)
    assert (row["lost_ns"], row["bandwidth_utilisation"]) == (300, round(450 / 460, 6))
    assert (row["host_utilisation"], next(op_rows(run))["launched_ns"]) == (None, None)


def test_devices_that_share_no_bandwidth_have_no_figure() -> None:
    costs = {"a": traffic(100, 90), "b": traffic(50, 50)}
    for device in (replace(GPU, model="lanes", resources={}), replace(GPU, memory_bandwidth=None)):
        found = metrics(static(kernels(costs, device), "a", "b").run)
        assert (found.bandwidth, found.bandwidth_utilisation, found.lost) == ((), None, 0)


def test_copies_are_counted_and_their_waits_too() -> None:
    run = static(problem_of(two_copies(), pair(engines=1)), "a", "b", "c", "d").run
    assert copy_use(run) == CopyUse(2, 50, 23 + 33, 23)
    assert [run_row(run)[name] for name in ("copies", "copied_bytes", "copy_ns", "copy_wait_ns")] == [2, 50, 56, 23]


def test_threads_of_the_host() -> None:
    costs = {name: KernelCost(20) for name in "abc"}
    run = static(kernels(costs, mode="serial", launch_ns=7, threads=2), "a", "b", "c", launch="a b c").run
    assert host_use(run) == (HostUse(0, 2, 14, 34), HostUse(1, 1, 7, 34))
    found: Metrics = metrics(run)
    assert found.host_utilisation == 14 / 34
    assert [row["launched_ns"] for row in op_rows(run)] == [7, 7, 14]
    graph = static(kernels(costs, mode="graph", graph_ns=11), "a b c").run
    assert host_use(graph) == (HostUse(0, 1, 11, 71),)
