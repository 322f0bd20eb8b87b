"""What runs held and used over time, in the document of a page: it adds up to the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from simsched.analysis.metrics import metrics
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.page.document import page_document
from simsched.run import run
from tests.page_cases import Document, all_pairs, drawn_pairs
from tests.strategies import problem_of


def integral(steps: Mapping[str, Any], until: int) -> int:
    """Sum of value x time up to an instant."""
    times = [*steps["time"], until]
    return sum(value * (end - begin) for value, begin, end in zip(steps["value"], times, times[1:], strict=False))


def used(document: Document, what: str, device: int) -> int:
    part = document["runs"][0]
    found = [row for row in part["usage"] if (row["what"], row["device"]) == (what, device)]
    assert len(found) <= 1
    for row in found:
        assert not row["value"] or row["value"][-1] == 0
        assert all(0 <= value <= row["capacity"] for value in row["value"])
        assert row["time"] == sorted(set(row["time"]))
    return integral(found[0], part["makespan"]) if found else 0


def test_usage_adds_up_to_the_figures() -> None:
    for result, document in all_pairs():
        figures, problem = metrics(result), result.problem
        for device, described in enumerate(problem.devices):
            busy = sum(figures.streams[stream].busy for stream in problem.device_streams[device])
            assert used(document, "streams", device) == busy
            for use in figures.resources:
                if use.device == described.name:
                    assert used(document, use.resource, device) == use.used


def test_bandwidth_adds_up_to_the_figures() -> None:
    """As far as whole nanoseconds allow: each end is rounded."""
    compared = 0
    for result, document in drawn_pairs():
        for use in metrics(result).bandwidth:
            device = [each.name for each in result.problem.devices].index(use.device)
            found = used(document, "bandwidth", device) / use.rate
            assert found == pytest.approx(use.used, abs=1 + len(result.trace) + len(result.trace.cohorts))
            compared += use.used > 20
    assert compared > 10


def test_memory_steps_have_the_peak_and_the_end() -> None:
    for result, document in all_pairs():
        for use, steps in zip(metrics(result).memory, document["runs"][0]["memory_steps"], strict=True):
            assert max(steps["value"], default=0) == use.peak
            assert (steps["value"] or [0])[-1] == use.final
            assert steps["time"] == sorted(steps["time"])


def test_a_peak_within_an_instant_is_kept() -> None:
    """An operator of no length has its 7 bytes live at 3 only, beside the 2 that are live until 3."""
    builder = GraphBuilder("brief", time_unit="tick")
    builder.add_tensor("x", bytes=2, kind="activation")
    builder.add_tensor("y", bytes=7, kind="activation")
    builder.add_op("a", duration=3, outputs=["x"])
    builder.add_op("b", duration=0, inputs=["x"], outputs=["y"])
    document = page_document([run(problem_of(builder.build(), lanes(1)), "serial")])
    assert document["runs"][0]["memory_steps"] == [{"time": [0, 3, 3], "value": [2, 9, 0]}]
    assert document["runs"][0]["figures"]["peak_bytes"] == 9


def test_spans_add_up_to_the_live_bytes() -> None:
    compared = 0
    for result, document in all_pairs():
        part, sizes = document["runs"][0], document["graph"]["tensors"]["bytes"]
        held = [(device, begin, end, sizes[tensor]) for tensor, device, begin, end in part["spans"]]
        for op, stream in enumerate(part["stream"]):  # workspaces are no tensors
            device = document["machines"][0]["stream_device"][stream]
            held.append((device, part["start"][op], part["end"][op], result.problem.workspace(op, device)))
        for device, steps in enumerate(part["memory_steps"]):
            after = dict(zip(steps["time"], steps["value"], strict=True))
            for time, live in after.items():
                if time < part["makespan"]:  # what stays to the end and what is freed then have the same end
                    now = (row[3] for row in held if row[0] == device and row[1] <= time < row[2])
                    assert sum(now) == live
                    compared += 1
    assert compared > 500


def test_every_step_changes_something() -> None:
    for _, document in all_pairs():
        part = document["runs"][0]
        for steps in (*part["memory_steps"], *part["usage"]):
            assert all(one != other for one, other in pairwise([0, *steps["value"]]))


def test_shares_of_use_are_those_of_the_steps() -> None:
    compared = set()
    for result, document in drawn_pairs():
        figures, makespan = document["runs"][0]["figures"], result.makespan
        devices = document["machines"][0]["devices"]
        whole = makespan * sum(device["sms"] for device in devices)
        expected = sum(used(document, "sms", number) for number in range(len(devices))) / whole if whole else None
        assert figures["sm_utilisation"] == (None if expected is None else pytest.approx(expected, abs=1e-6))
        compared.add(figures["sm_utilisation"] != figures["bandwidth_utilisation"])
    assert compared == {True, False}
