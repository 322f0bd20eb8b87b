"""The Chrome trace: spans nest, arrows join, times are exact to the nanosecond, and bytes never change."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.output.chrome import to_chrome, write_chrome
from simsched.problem import Problem
from simsched.result import Result
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.critical_path import CriticalPath
from simsched.schedulers.greedy_ready import GreedyReady
from tests.builders import linked_pair, problem_of, random_graph, small_gpu, zoo
from tests.plots.looks import HOSTILE, hand_result
from tests.strategies import problems

Event = dict[str, Any]


class AllAtOnce:
    """Dispatches everything at time 0, in turn over the streams, so that heads of streams wait for SMs."""

    def start(self, problem: Problem) -> Policy:
        def policy(view: View) -> list[Dispatch]:
            streams = len(problem.stream_device)
            ops = range(len(problem.graph)) if not view.now else ()
            return [Dispatch(op, op % streams, f"number {op}") for op in ops]

        return policy


def run(problem: Problem, **how: Any) -> Result:
    return Result(problem, "critical_path", simulate(problem, CriticalPath(), **how))


def ns(microseconds: float) -> int:
    """As viewers read a time: microseconds x 1,000, rounded."""
    return round(microseconds * 1000)


def faults(document: dict[str, Any]) -> list[str]:
    """Check the rules that viewers apply; this shares nothing with the writer.

    Spans of a thread nest (here: do not overlap), every start of an arrow has its end with the same id, category and
    name, both inside a span of their thread, and processes and threads have names.
    """
    text = json.dumps(document, allow_nan=False)
    events: list[Event] = json.loads(text)["traceEvents"]
    found: list[str] = []
    tracks: dict[tuple[int, int], list[tuple[int, int, str]]] = defaultdict(list)
    named = {(event["name"], event["pid"], event.get("tid")) for event in events if event["ph"] == "M"}
    for event in events:
        if event["ph"] == "M":
            if not event["args"].get("name", "x"):
                found.append(f"empty name: {event}")
            continue
        if ("process_name", event["pid"], None) not in named:
            found.append(f"process {event['pid']} has no name")
        if event["ph"] == "C":
            values = event["args"].values()
            found += [f"counter {event['name']} is not a number" for value in values if type(value) is not int]
            continue
        if ("thread_name", event["pid"], event["tid"]) not in named:
            found.append(f"thread {event['pid']}/{event['tid']} has no name")
        if not event["name"]:
            found.append("an event without name")
        if event["ph"] == "X":
            start = ns(event["ts"])
            tracks[event["pid"], event["tid"]].append((start, start + ns(event["dur"]), event["name"]))
        elif event["ph"] == "i" and event["s"] not in ("t", "p", "g"):
            found.append(f"instant {event['name']} without scope")
    for place, spans in tracks.items():
        spans.sort()
        for (_, end, first), (start, _, second) in pairwise(spans):
            if start < end:
                found.append(f"{first} overlaps {second} on {place}")
    return found + arrow_faults(events, tracks)


def arrow_faults(events: list[Event], tracks: dict[tuple[int, int], list[tuple[int, int, str]]]) -> list[str]:
    found = []
    ends: dict[tuple[int, str, str], dict[str, Event]] = defaultdict(dict)
    for event in events:
        if event["ph"] in ("s", "f"):
            key = (event["id"], event["cat"], event["name"])
            if event["ph"] in ends[key]:
                found.append(f"arrow {key} starts or ends twice")
            ends[key][event["ph"]] = event
    for key, both in ends.items():
        if set(both) != {"s", "f"}:
            found.append(f"arrow {key} has one end")
            continue
        if both["f"].get("bp") != "e":
            found.append(f"arrow {key} does not say that it ends in the span around it")
        if ns(both["s"]["ts"]) > ns(both["f"]["ts"]):
            found.append(f"arrow {key} goes back in time")
        for event in both.values():
            at = ns(event["ts"])
            if not any(start <= at < end for start, end, _ in tracks[event["pid"], event["tid"]]):
                found.append(f"arrow {key}: no span around its {event['ph']}")
    return found


def of_kind(document: dict[str, Any], phase: str, category: str = "") -> list[Event]:
    events = document["traceEvents"]
    return [event for event in events if event["ph"] == phase and category in event.get("cat", "")]


def test_a_run_by_hand() -> None:
    document = to_chrome(hand_result())
    assert faults(document) == []
    spans = {event["name"]: event for event in of_kind(document, "X")}
    assert {name: (event["pid"], event["tid"], event["ts"], event["dur"]) for name, event in spans.items()} == {
        "a": (1, 1, 0, 2),
        "b": (1, 3, 2, 3),
        "c": (1, 3, 5, 5),
        "d": (1, 1, 10, 7),
    }
    assert {name: event["cat"] for name, event in spans.items()} == dict.fromkeys("abcd", "kernel,critical")
    (instant,) = of_kind(document, "i", "kernel")
    assert (instant["name"], instant["ts"], instant["s"], instant["cat"]) == ("z", 5, "t", "kernel")
    assert spans["c"]["args"] == {
        "op_type": "Conv",
        "device": "d0",
        "stream": "d0/s2",
        "correlation": hand_result().problem.graph.index["c"],
        "flops": 0,
        "bytes": 0,
        "bound": "explicit",
        "slack_ticks": 0,
        "ready_ticks": 2,
        "waited_ticks": {"stream": 3},
        "on_critical_path": True,
    }
    assert spans["b"]["args"]["slack_ticks"] == 2  # a, b, d is 12 of 14
    assert document["simsched"]["time_note"] == "1 tick is written as 1 us"
    assert document["simsched"]["makespan_ticks"] == 17
    assert document["traceName"] == "diamond on lanes:3, by_hand"


def test_arrows_join_the_dependencies_of_operators_with_a_duration() -> None:
    document = to_chrome(hand_result())
    starts = {event["id"]: event for event in of_kind(document, "s")}
    ends = {event["id"]: event for event in of_kind(document, "f")}
    # a-b, a-c and c-d; b-z and z-d touch the operator without duration.
    assert sorted((starts[key]["ts"], ends[key]["ts"]) for key in starts) == [(1.999, 2), (1.999, 5), (9.999, 10)]
    assert {event["name"] for event in starts.values()} == {"control"}
    assert of_kind(to_chrome(hand_result(), flows=False), "s") == []


def test_counters_follow_memory_and_busy_units() -> None:
    document = to_chrome(hand_result())
    rows: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for event in of_kind(document, "C"):
        (value,) = event["args"].values()
        rows[event["name"]].append((event["ts"], value))
    assert rows["memory_used"] == [(0, 11), (2, 24), (5, 31), (10, 13), (17, 6)]
    assert rows["kernels_running"] == [(0, 1), (17, 0)]  # steps that change nothing are left out


def test_busy_sms_never_exceed_the_device_and_end_at_zero() -> None:
    problem = problem_of(random_graph(6, 40, demands={"sms": 4}), small_gpu(4, 3))
    document = to_chrome(run(problem))
    assert faults(document) == []
    levels = [event["args"]["units"] for event in of_kind(document, "C") if event["name"] == "sms_busy"]
    assert 0 < max(levels) <= 4
    assert levels[-1] == 0
    assert "SMs" in next(event["args"]["name"] for event in of_kind(document, "M") if event["name"] == "process_name")


def test_nanoseconds_survive_the_way_through_microseconds() -> None:
    builder = GraphBuilder("odd")
    durations = (1, 7, 999, 1000, 1001, 123_456_789, 10**15 + 1)
    for number, duration in enumerate(durations):
        builder.add_op(f"k{number}", duration=duration, after=[f"k{number - 1}"] if number else [])
    document = json.loads(json.dumps(to_chrome(run(problem_of(builder.build(), lanes(1))))))
    spans = of_kind(document, "X")
    at = 0
    for span, duration in zip(spans, durations, strict=True):
        assert (ns(span["ts"]), ns(span["dur"])) == (at, duration)
        at += duration
    assert faults(document) == []
    assert spans[0]["args"]["slack_ns"] == 0
    assert document["simsched"]["makespan_ns"] == sum(durations)


def test_two_devices_their_streams_and_the_copies_between_them() -> None:
    problem = problem_of(random_graph(7, 40), linked_pair())
    result = Result(problem, "greedy_ready", simulate(problem, GreedyReady("fifo")))
    document = to_chrome(result)
    assert faults(document) == []
    assert len(result.trace.transfers) > 0
    copies = [event for event in document["traceEvents"] if "gpu_memcpy" in event.get("cat", "")]
    assert len(copies) == len(result.trace.transfers)
    assert {event["pid"] for event in copies} == {3}
    assert sum(event["args"]["bytes"] for event in copies) == sum(move.bytes for move in result.trace.transfers)
    names = {event["pid"]: event["args"]["name"] for event in of_kind(document, "M") if event["name"] == "process_name"}
    assert names == {1: "d0 (ideal)", 2: "d1 (ideal)", 3: "copies between devices", 4: "host (scheduler)"}
    indexes = [event for event in of_kind(document, "M") if event["name"] == "process_sort_index"]
    order = {event["pid"]: event["args"]["sort_index"] for event in indexes}
    assert sorted(order, key=order.__getitem__) == [1, 2, 3, 4]


def test_waits_and_reasons_are_told() -> None:
    problem = problem_of(random_graph(6, 40, demands={"sms": 4}), small_gpu(4, 3))
    result = Result(problem, "all_at_once", simulate(problem, AllAtOnce()))
    events = to_chrome(result)["traceEvents"]
    spans = {event["args"]["correlation"]: event for event in events if "kernel" in event.get("cat", "")}
    assert result.trace.waits
    assert result.trace.reasons
    for op, event in spans.items():
        waits = [wait for wait in result.trace.waits if wait.op == op]
        assert event["args"].get("wait_ticks", 0) == sum(wait.end - wait.start for wait in waits)
        assert event["args"].get("wait_reason", "") == ", ".join(sorted({wait.reason for wait in waits}))
        assert event["args"].get("reason") == result.trace.reasons.get(op)


def test_estimates_are_told_where_the_run_had_other_durations() -> None:
    problem = hand_result().problem
    actual = [[2 * duration for duration in problem.durations(0)]]
    result = Result(problem, "critical_path", simulate(problem, CriticalPath(), actual=actual), actual=actual)
    spans = of_kind(to_chrome(result), "X")
    assert all(event["dur"] == 2 * event["args"]["estimate_ticks"] for event in spans)


def test_a_limit_keeps_the_first_operators_and_says_so() -> None:
    result = run(problem_of(random_graph(9, 60), lanes(3)))
    document = to_chrome(result, max_ops=20)
    assert faults(document) == []
    kept = {event["args"]["correlation"] for event in document["traceEvents"] if "kernel" in event.get("cat", "")}
    assert kept == set(list(result.trace.start_order)[:20])
    assert document["simsched"]["operators_left_out"] == 40
    horizon = max(result.trace.end[op] for op in kept)
    assert all(event["ts"] <= horizon for event in document["traceEvents"] if "ts" in event)
    with pytest.raises(ValueError, match="max_ops is a number of operators, at least 0; got -1"):
        to_chrome(result, max_ops=-1)


def test_hostile_names_survive() -> None:
    builder = GraphBuilder('graph "quoted"\n', time_unit="tick")
    for name in HOSTILE:
        builder.add_op(name, name, duration=3)
    document = json.loads(json.dumps(to_chrome(run(problem_of(builder.build(), lanes(2)))), allow_nan=False))
    assert faults(document) == []
    assert sorted(event["name"] for event in of_kind(document, "X")) == sorted(HOSTILE)
    assert document["simsched"]["graph"] == 'graph "quoted"\n'


@pytest.mark.parametrize("name", sorted(zoo(deep=50, wide=40)))
def test_the_zoo(name: str) -> None:
    problem = zoo(deep=50, wide=40)[name]
    result = run(problem)
    document = to_chrome(result)
    assert faults(document) == []
    kernels = [event for event in document["traceEvents"] if "kernel" in event.get("cat", "")]
    assert len(kernels) == len(problem.graph)


@settings(deadline=None)
@given(problems(), st.none() | st.integers(0, 8))
def test_every_run_can_be_opened(problem: Problem, most: int | None) -> None:
    assert faults(to_chrome(run(problem), max_ops=most)) == []


def test_the_checker_sees_planted_faults() -> None:
    document = to_chrome(hand_result())
    spans = of_kind(document, "X")
    spans[1]["ts"] -= 1
    spans[1]["pid"], spans[1]["tid"] = 1, 1
    (first, *_) = of_kind(document, "s")
    first["cat"] = "other"
    complaints = " ".join(faults(document))
    assert "overlaps" in complaints
    assert "has one end" in complaints


def test_files_plain_and_compressed(tmp_path: Path) -> None:
    result = hand_result()
    plain = write_chrome(result, tmp_path / "run.trace.json")
    packed = write_chrome(result, tmp_path / "run.trace.json.gz")
    assert json.loads(plain.read_bytes()) == to_chrome(result)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    again = write_chrome(result, tmp_path / "again.json.gz")
    assert again.read_bytes() == packed.read_bytes()


def test_the_same_bytes_under_every_hash_seed() -> None:
    program = (
        "import hashlib, json; from simsched.output.chrome import to_chrome; from tests.unit.test_chrome import run; "
        "from tests.builders import problem_of, random_graph, small_gpu; "
        "problem = problem_of(random_graph(6, 80, demands={'sms': 4}), small_gpu(4, 3)); "
        "print(hashlib.sha256(json.dumps(to_chrome(run(problem))).encode()).hexdigest())"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "3", "99")
    }  # fmt: skip
    assert len(made) == 1
