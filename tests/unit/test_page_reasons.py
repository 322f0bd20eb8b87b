"""Why operators ran when they did, in the document of a page: what ``explain`` says, compact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simsched.analysis.explain import Explanation
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.output.story import operator_record
from simsched.page import reasons_part
from simsched.page.document import page_document
from simsched.run import run
from tests.page_cases import Document, all_pairs, drawn_pairs
from tests.page_shapes import faults_of
from tests.strategies import linked_pair, problem_of, random_graph, with_memory

if TYPE_CHECKING:
    import pytest


def test_parts_fill_the_time_of_every_operator() -> None:
    seen: set[str] = set()
    for result, document in all_pairs():
        part = document["runs"][0]
        for op, parts in enumerate(part["parts"]):
            waits = [each for each in parts if each["kind"] == "wait"]
            assert parts[: len(waits)] == waits
            assert sum(each["end"] - each["start"] for each in waits) == result.trace.start[op]
            reached = 0
            for each in parts:
                assert each["start"] == reached < each["end"]
                reached = each["end"]
            assert reached == result.trace.end[op]
            seen.update(each["reason"] for each in parts)
    assert {"dependency", "copy", "copy_engine", "host_launch", "memory", "room", "bandwidth", "resource"} <= seen
    assert {"no_stream", "held", "passed_over", "stream", "queue", "launch", "event", "host_sync"} <= seen
    assert "unknown" not in seen


def told(part: Mapping[str, Any], document: Document) -> dict[str, Any]:
    """A part in the words of the JSON of ``simsched explain``."""
    names, devices = document["graph"]["names"], document["machines"][0]["devices"]
    moves = document["runs"][0]["transfers"]
    culprit, device, copy = part.get("culprit"), part.get("device"), part.get("copy")
    return {
        "kind": part["kind"],
        "reason": part["reason"],
        "start_ns": part["start"],
        "end_ns": part["end"],
        "culprit": None if culprit is None else names[culprit],
        "device": None if device is None else devices[device]["name"],
        "short": [{"of": of, "needs": needs, "free": free} for of, needs, free in part.get("short", [])],
        "holders": [[names[op], units] for op, units in part.get("holders", [])],
        "tensors": part.get("tensors", []),
        "ahead": part.get("ahead", 0),
        "speed": part.get("speed", 1),
        "shared_with": [[names[op], share] for op, share in part.get("sharers", [])],
        "copy": None
        if copy is None
        else {
            "tensor": document["graph"]["tensors"]["names"][moves[copy][7]],
            "from": devices[moves[copy][2]]["name"],
            "to": devices[moves[copy][3]]["name"],
            "bytes": moves[copy][6],
        },
    }


def test_parts_say_what_explain_says() -> None:
    seen: set[str] = set()
    for result, document in drawn_pairs():
        story = Explanation(result)
        for op, parts in enumerate(document["runs"][0]["parts"]):
            record = operator_record(story, op)
            expected = [{name: each[name] for name in each if name != "text"} for each in record["parts"]]
            assert [told(each, document) for each in parts] == expected
            for part, text in zip(parts, (each["text"] for each in record["parts"]), strict=True):
                assert_said(part, text, document)
                seen.update(part)
    assert {"changed", "thread", "room", "copies"} <= seen


def assert_said(part: Mapping[str, Any], text: str, document: Document) -> None:
    """What the words of ``explain`` tell beside its figures is in the part, too."""
    if part.get("short") and "short" in text:
        assert part.get("changed", False) is ("at first " in text)
    thread = re.search(r" in thread (\d+)$", text)
    assert part.get("thread") == (int(thread[1]) if thread else None)
    assert part.get("room", False) is ("finds no room for" in text or "no place on" in text)
    copies = re.search(r"the copy of (.*?)(?: \(\+(\d+) more\))?$", text)
    shown, more = (copies[1].split(", "), int(copies[2] or 0)) if copies else ([], 0)
    tensors, moves = document["graph"]["tensors"]["names"], document["runs"][0]["transfers"]
    devices = document["machines"][0]["devices"]
    names = [f"{tensors[moves[each][7]]} to {devices[moves[each][3]]['name']}" for each in part.get("copies", [])]
    assert names[:3] == shown
    assert len(names) == len(shown) + more


def test_data_on_the_way_without_a_recorded_copy() -> None:
    """Seven bytes over a link of 3 ns + 1 ns a byte, in a trace that tells of no copies."""
    builder = GraphBuilder("far", time_unit="tick")
    builder.add_tensor("t", bytes=7, kind="activation")
    builder.add_op("a", duration=2, outputs=["t"], device="d0")
    builder.add_op("b", duration=5, inputs=["t"], device="d1")
    result = run(problem_of(builder.build(), linked_pair()), "topological")
    told_nothing = replace(result, trace=replace(result.trace, transfers=()))
    (_, parts) = page_document([told_nothing])["runs"][0]["parts"]
    assert parts[1] == {
        "kind": "wait", "reason": "transfer", "start": 2, "end": 12, "culprit": 0, "bytes": 7, "moving": 10,
    }  # fmt: skip


def test_parts_name_who_held_what_was_short() -> None:
    """Worked out by hand: of four bytes, the second operator needs three while the first holds two."""
    builder = GraphBuilder("short", time_unit="tick")
    for name, size, duration in (("a", 2, 5), ("b", 3, 7)):
        builder.add_tensor(f"t{name}", bytes=size, kind="activation")
        builder.add_op(name, duration=duration, outputs=[f"t{name}"])
    problem = problem_of(builder.build(), with_memory(lanes(2), 4))
    document = page_document([run(problem, "heft", memory="block")])
    (_, parts) = document["runs"][0]["parts"]
    assert parts == [
        {
            "kind": "wait", "reason": "memory", "start": 0, "end": 5, "culprit": 0, "device": 0,
            "short": [["memory", 3, 2]], "tensors": [["ta", 2]],
        },
        {"kind": "run", "reason": "explicit", "start": 5, "end": 12},
    ]  # fmt: skip


def test_large_runs_leave_open_why_the_policy_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(random_graph(1, 60, degree=0.3), lanes(2))
    result = run(problem, "critical_path")
    full = page_document([result])["runs"][0]["parts"]
    assert {"no_stream"} <= {each["reason"] for parts in full for each in parts}
    for name in ("MOST_INSTANTS", "MOST_ENTRIES"):
        with monkeypatch.context() as patch:
            entries = sum(map(reasons_part._entries, (each for parts in full for each in parts)))
            patch.setattr(reasons_part, name, -1 if name == "MOST_INSTANTS" else entries - 1)
            outline = page_document([result])["runs"][0]["parts"]
        reasons = {each["reason"] for parts in outline for each in parts}
        assert "undispatched" in reasons
        assert reasons.isdisjoint({"no_stream", "held", "passed_over"})
    monkeypatch.setattr(reasons_part, "MOST_ENTRIES", 59)
    document = page_document([result])
    assert document["runs"][0]["parts"] is None
    assert faults_of(document) == []
