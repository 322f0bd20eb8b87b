"""What operators share, in the Chrome trace: bandwidth, blocks, launches by the host, copies."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from simsched.analysis.explain import Explanation
from simsched.cost.base import KernelCost
from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.output.chrome import to_chrome
from simsched.result import Result
from tests.builders import problem_of
from tests.reference.cases import drawn_case
from tests.unit.test_chrome import faults, of_kind
from tests.unit.test_explain import static
from tests.unit.test_explain_shared import GPU, grid, kernels, pair, sms, traffic, two_copies


def document_of(story: Explanation) -> dict[str, Any]:
    assert isinstance(story.run, Result)
    document = to_chrome(story.run)
    assert faults(document) == []
    return document


def spans_of(document: dict[str, Any], category: str) -> dict[str, tuple[float, float, dict[str, Any]]]:
    return {event["name"]: (event["ts"], event["dur"], event["args"]) for event in of_kind(document, "X", category)}


def levels(document: dict[str, Any]) -> dict[str, list[tuple[float, int]]]:
    found: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for event in of_kind(document, "C"):
        (value,) = event["args"].values()
        found[event["name"]].append((event["ts"], value))
    return found


def names_of_tracks(document: dict[str, Any]) -> list[str]:
    return [event["args"]["name"] for event in of_kind(document, "M") if event["name"] == "thread_name"]


def test_a_kernel_says_how_fast_it_was_and_with_whom_it_shared() -> None:
    document = document_of(static(kernels({"a": traffic(310, 225, 10), "b": traffic(310, 225, 10)}), "a", "b"))
    args = spans_of(document, "kernel")["a"][2]
    assert (args["alone_ns"], args["speed"], args["shared_with"]) == (310, round(310 / 460, 4), "b")
    assert args["ran_ns"] == {"launch": 10, "bandwidth": 150, "memory": 300}
    assert levels(document)["bandwidth_used"] == [(0.01, 10**9), (0.46, 0)]
    assert levels(document)["bandwidth_wanted"] == [(0.01, 1_500_000_000), (0.46, 0)]


def test_where_nobody_is_slowed_what_was_wanted_is_left_out() -> None:
    document = document_of(static(kernels({"a": traffic(100, 25), "b": traffic(50, 25)}), "a", "b"))
    assert levels(document)["bandwidth_used"] == [(0, 750_000_000), (0.05, 250_000_000), (0.1, 0)]
    assert "bandwidth_wanted" not in levels(document)
    assert "speed" not in spans_of(document, "kernel")["a"][2]


def test_each_thread_of_the_host_has_a_track_of_launches() -> None:
    costs = {name: KernelCost(2000) for name in "abc"}
    story = static(kernels(costs, mode="serial", launch_ns=7000, threads=2), "a", "b", "c", launch="a b c")
    document = document_of(story)
    assert names_of_tracks(document)[-3:] == ["dispatches", "launches, thread 0", "launches, thread 1"]
    found = spans_of(document, "cuda_runtime")
    assert {name: (start, length) for name, (start, length, _) in found.items()} == {
        "launch a": (0, 7), "launch b": (0, 7), "launch c": (7, 7),
    }  # fmt: skip
    assert found["launch c"][2] == {"correlation": 2, "dispatched_ns": 0, "waited_ns": 7000}
    arrows = [(event["ph"], event["ts"]) for event in document["traceEvents"] if event.get("cat") == "ac2g"]
    assert arrows == [("s", 6.999), ("f", 7), ("s", 13.999), ("f", 14), ("s", 6.999), ("f", 7)]
    assert spans_of(document, "kernel")["c"][2]["waited_ns"] == {"host": 7000, "host_launch": 7000}


def test_the_launch_of_a_graph_is_one_span() -> None:
    document = document_of(static(kernels({"a": KernelCost(2000)}, mode="graph", graph_ns=11_000), "a"))
    assert spans_of(document, "cuda_runtime") == {"launch kernels": (0, 11, {"operators": 1})}
    assert names_of_tracks(document)[-1] == "launch of the graph"


def test_copies_say_what_they_waited_for_and_how_fast_they_were() -> None:
    document = document_of(static(problem_of(two_copies(), pair()), "a", "b", "c", "d"))
    copied = spans_of(document, "gpu_memcpy")
    assert copied["ta"][:2] == (4, 43)
    assert copied["ta"][2] == {
        "bytes": 20, "source": "a", "target": "c", "asked_ticks": 4, "latency_ticks": 3, "alone_ticks": 20,
        "speed": 0.5,
    }  # fmt: skip
    assert names_of_tracks(document)[4:6] == ["d0 to d1 #1", "d0 to d1 #2"]
    arrows = [event for event in document["traceEvents"] if event.get("cat") == "copy"]
    assert [(event["ph"], event["ts"]) for event in arrows if event["id"] <= 2] == [
        ("s", 3.999), ("f", 4), ("s", 46.999), ("f", 47),
    ]  # fmt: skip
    queued = document_of(static(problem_of(two_copies(), pair(engines=1)), "a", "b", "c", "d"))
    assert spans_of(queued, "gpu_memcpy")["tb"][2]["waited_ticks"] == 23


def test_blocks_and_the_sms_that_have_any_are_counted() -> None:
    story = static(kernels({"full": grid(300, 10), "tiny": grid(17, 1)}, sms()), "full", "tiny", launch="full tiny")
    document = document_of(story)
    assert levels(document)["blocks_resident"] == [(0, 4), (0.2, 3), (0.217, 2), (0.3, 0)]
    assert levels(document)["sms_busy"] == [(0, 4), (0.2, 3), (0.217, 2), (0.3, 0)]
    args = spans_of(document, "kernel")["full"][2]
    assert (args["grid"], args["block"], args["ran_ns"]) == ([10, 1, 1], [256, 1, 1], {"tail": 100, "explicit": 200})


def test_a_device_without_bandwidth_has_no_counter_of_it() -> None:
    problem = kernels({"a": traffic(100, 25)}, replace(GPU, memory_bandwidth=None))
    assert "bandwidth_used" not in levels(document_of(static(problem, "a")))


@given(st.integers(0, 10**6), st.none() | st.integers(0, 8))
def test_every_run_can_be_opened_whatever_is_shared(seed: int, most: int | None) -> None:
    case = drawn_case(seed)
    try:
        trace = simulate(case.problem, case.scheduler, memory=case.memory, actual=case.actual)
    except SchedulerError:
        assume(False)
    document = to_chrome(Result(case.problem, "drawn", trace, case.memory, case.actual), max_ops=most)
    assert faults(document) == []
