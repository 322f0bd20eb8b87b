"""The explanation of a run in words, and as records for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simsched.analysis.breakdown import Row, chain_breakdown, dependency_chain, path_breakdown
from simsched.analysis.critical import realised_critical_path
from simsched.analysis.explain import Explanation, Part
from simsched.graph.model import OpId
from simsched.output.part_words import PartWords
from simsched.units import format_duration


class Story:
    """Words for a run, its operators and their parts.

    Parameters
    ----------
    story : Explanation
    """

    def __init__(self, story: Explanation) -> None:
        self.story = story
        self._problem, self._trace = story.run.problem, story.run.trace
        self._names = self._problem.graph.names
        self._unit = self._problem.graph.time_unit
        self._words = PartWords(story)

    def time(self, nanoseconds: int) -> str:
        """Write a duration or an instant."""
        return format_duration(nanoseconds, self._unit)

    def headline(self) -> str:
        """Say how much of the makespan the chain of dependencies to the last end ran, and how much it waited."""
        chain = dependency_chain(self.story)
        if not chain:
            return "The run has no operators."
        rows = chain_breakdown(self.story)
        waited = sum(row.time for row in rows if row.kind == "wait" or row.what == "link")
        lost = sum(row.time for row in rows if row.kind == "lost" and row.what != "link")
        whole = self._trace.makespan
        last = f"{self._names[chain[-1]]} ended last, at {self.time(whole)}"
        if not waited and not lost:
            return f"{last}. On the way to it no operator waited for anything but its predecessors."
        length = f"{len(chain)} operators that led to it" if len(chain) > 1 else "one operator"
        ran, slow, not_ran = (f"{self.time(part)} ({_share(part, whole)})" for part in (whole - waited, lost, waited))
        shared = f", {slow} of it lost by sharing," if lost else ""
        return f"{last}. The chain of {length} ran for {ran}{shared} and waited for {not_ran if waited else 'nothing'}."

    def introduction(self, op: OpId) -> str:
        """Say where and when an operator ran, when and why it was dispatched, and whether that decided the end."""
        trace, start, end = self._trace, self._trace.start[op], self._trace.end[op]
        stream = self._problem.stream_names[trace.stream[op]]
        where = f"{self._names[op]} ({self._problem.graph.op_types[op]}) ran on {stream} from {self.time(start)}"
        waited = self.story.waited(op)
        ready = f"ready at {self.time(trace.ready[op])}, dispatched at {self.time(trace.dispatch[op])}"
        reason = f" ({trace.reasons[op]})" if op in trace.reasons else ""
        after = f"; it started {self.time(waited)} after it was ready" if waited > 0 else "; it started at once"
        lost = end - start - self.story.speeds.alone(op)
        slow = f" It took {self.time(lost)} longer than alone." if lost > 0 else ""
        path = "" if op in realised_critical_path(self._problem, trace) else "not "
        path = f"It is {path}on the realised critical path."
        return f"{where} to {self.time(end)}. It was {ready}{reason}{after}.{slow} {path}"

    def words(self, op: OpId, part: Part) -> str:
        """Say what an operator did in one part."""
        return self._words.words(op, part)


def longest_waits(story: Explanation, count: int = 10) -> list[OpId]:
    """Operators that waited longest after they were ready, longest first, ties by id; those that did not left out."""
    ops = sorted(range(len(story.run.trace)), key=lambda op: (-story.waited(op), op))[:count]
    return [op for op in ops if story.waited(op) > 0]


def main_part(story: Explanation, op: OpId) -> Part:
    """Return the longest wait of an operator after it was ready; the first of equal ones."""
    return longest_of([part for part in story.waits(op) if part.reason != "dependency"])


def longest_of(parts: Sequence[Part]) -> Part:
    """Return the longest part; the first of equal ones."""
    return max(parts, key=lambda part: part.length)


def operator_record(story: Explanation, op: OpId) -> dict[str, Any]:
    """Return one operator's explanation as plain data; ``docs/reference/json-contract.md`` describes it."""
    problem, trace, words = story.run.problem, story.run.trace, Story(story)
    return {
        "operator": problem.graph.names[op],
        "op_type": problem.graph.op_types[op],
        "device": problem.devices[story.timelines.device[op]].name,
        "stream": problem.stream_names[trace.stream[op]],
        "ready_ns": trace.ready[op],
        "dispatch_ns": trace.dispatch[op],
        "start_ns": trace.start[op],
        "end_ns": trace.end[op],
        "wait_ns": story.waited(op),
        "dispatch_reason": trace.reasons.get(op, ""),
        "parts": [_part_record(words, op, part) for part in story.parts(op)],
    }


def run_record(story: Explanation) -> dict[str, Any]:
    """Return the breakdown of the makespan and the longest waits of a run as plain data."""
    return {
        "operators": len(story.run.trace),
        "time_unit": story.run.problem.graph.time_unit,
        "makespan_ns": story.run.trace.makespan,
        "path": _row_records(path_breakdown(story)),
        "chain": _row_records(chain_breakdown(story)),
        "longest_waits": [_wait_record(story, op) for op in longest_waits(story)],
    }


def _wait_record(story: Explanation, op: OpId) -> dict[str, Any]:
    """How long an operator waited after it was ready, by reason, and the longest of its waits."""
    parts = [part for part in story.waits(op) if part.reason != "dependency"]
    by_reason: dict[str, int] = {}
    for part in parts:
        by_reason[part.reason] = by_reason.get(part.reason, 0) + part.length
    return {
        "operator": story.run.problem.graph.names[op],
        "wait_ns": story.waited(op),
        "by_reason": by_reason,
        "longest": _part_record(Story(story), op, longest_of(parts)),
    }


def _part_record(words: Story, op: OpId, part: Part) -> dict[str, Any]:
    story, names = words.story, words.story.run.problem.graph.names
    return {
        "kind": part.kind,
        "reason": part.reason,
        "start_ns": part.start,
        "end_ns": part.end,
        "culprit": None if part.culprit is None else names[part.culprit],
        "device": None if part.device is None else story.run.problem.devices[part.device].name,
        "short": [{"of": short.resource, "needs": short.needs, "free": short.free} for short in part.shortages],
        "holders": [[names[holder], units] for holder, units in story.holders(part, but=op)],
        "tensors": [[name, size] for name, size in story.tensors(part)],
        "ahead": part.ahead,
        "speed": round(part.speed, 6),
        "shared_with": [[names[other], round(share, 6)] for other, share in story.sharers(op, part)],
        "copy": _copy_record(story, part.copy),
        "text": words.words(op, part),
    }


def _copy_record(story: Explanation, number: int) -> dict[str, Any] | None:
    """Say which copy a part waited for; None where for none."""
    if number < 0:
        return None
    move, problem = story.run.trace.transfers[number], story.run.problem
    ends = {"from": problem.devices[move.from_device].name, "to": problem.devices[move.to_device].name}
    return {"tensor": problem.graph.tensor_names[move.tensor], **ends, "bytes": move.bytes}


def _row_records(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {"kind": row.kind, "what": row.what, "bound": row.bound, "ns": row.time, "operators": row.operators}
        for row in rows
    ]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"
