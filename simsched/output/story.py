"""The explanation of a run in words, and as records for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from simsched.analysis.breakdown import Row, chain_breakdown, dependency_chain, path_breakdown
from simsched.analysis.critical import realised_critical_path
from simsched.analysis.explain import Explanation, Part
from simsched.analysis.timelines import MEMORY, Shortage
from simsched.graph.model import OpId
from simsched.units import format_duration, format_size

SHOWN = 3
"""Names listed before the rest is only counted."""

WAITS = {
    "transfer": "data on its way between devices",
    "no_stream": "not dispatched: every stream taken",
    "passed_over": "not dispatched: short of units or bytes",
    "held": "not dispatched: held back by the policy",
    "stream": "behind others in its stream",
    "resource": "at the device: short of units",
    "queue": "at the device: behind the head of its queue",
    "memory": "at the device: short of memory",
    "idle": "nothing ran that led on",
    "unknown": "no reason recorded",
}
BOUNDS = {
    "compute": "bound by compute",
    "memory": "bound by memory",
    "explicit": "duration stated",
    "measured": "duration measured",
    "none": "no kernel",
}


class Story:
    """Words for the parts of operators, and for rows of the breakdown.

    Parameters
    ----------
    story : Explanation
    """

    def __init__(self, story: Explanation) -> None:
        self.story = story
        self._problem, self._trace = story.run.problem, story.run.trace
        self._names = self._problem.graph.names
        self._unit = self._problem.graph.time_unit

    def time(self, nanoseconds: int) -> str:
        """Write a duration or an instant."""
        return format_duration(nanoseconds, self._unit)

    def headline(self) -> str:
        """Say how much of the makespan the chain of dependencies to the last end ran, and how much it waited."""
        chain = dependency_chain(self.story)
        if not chain:
            return "The run has no operators."
        waited = sum(row.time for row in chain_breakdown(self.story) if row.kind == "wait")
        whole = self._trace.makespan
        last = f"{self._names[chain[-1]]} ended last, at {self.time(whole)}"
        if not waited:
            return f"{last}. On the way to it no operator waited for anything but its predecessors."
        length = f"{len(chain)} operators that led to it" if len(chain) > 1 else "one operator"
        ran, not_ran = (f"{self.time(part)} ({_share(part, whole)})" for part in (whole - waited, waited))
        return f"{last}. The chain of {length} ran for {ran} and waited for {not_ran}."

    def introduction(self, op: OpId) -> str:
        """Say where and when an operator ran, when and why it was dispatched, and whether that decided the end."""
        trace, start, end = self._trace, self._trace.start[op], self._trace.end[op]
        stream = self._problem.stream_names[trace.stream[op]]
        where = f"{self._names[op]} ({self._problem.graph.op_types[op]}) ran on {stream} from {self.time(start)}"
        waited = self.story.waited(op)
        ready = f"ready at {self.time(trace.ready[op])}, dispatched at {self.time(trace.dispatch[op])}"
        reason = f" ({trace.reasons[op]})" if op in trace.reasons else ""
        after = f"; it started {self.time(waited)} after it was ready" if waited > 0 else "; it started at once"
        path = "" if op in realised_critical_path(self._problem, trace) else "not "
        path = f"It is {path}on the realised critical path."
        return f"{where} to {self.time(end)}. It was {ready}{reason}{after}. {path}"

    def words(self, op: OpId, part: Part) -> str:
        """Say what an operator did in one part."""
        if part.kind == "run":
            return self._run_words(op, part)
        if part.reason == "dependency":
            count = len(self._problem.graph.pred[op])
            others = f", the last of its {count} predecessors to end" if count > 1 else " to end"
            return f"waits for {self._name(part.culprit)}{others}"
        if part.reason == "transfer":
            return self._transfer_words(op, part)
        if part.reason == "stream":
            more = f" and {part.ahead - 1} before it" if part.ahead > 1 else ""
            stream = self._problem.stream_names[self._trace.stream[op]]
            return f"waits behind {self._name(part.culprit)}{more} on {stream}"
        if part.reason in ("resource", "memory", "queue"):
            return self._device_words(part)
        return self._undispatched_words(part)

    def row(self, row: Row) -> str:
        """Say what a row of the breakdown is."""
        if row.kind == "wait":
            return WAITS[row.what]
        return "launch" if row.kind == "launch" else f"{row.what}, {BOUNDS[row.bound]}"

    def _run_words(self, op: OpId, part: Part) -> str:
        device = self.story.timelines.device[op]
        cost = self._problem.cost(op, device)
        took = self._trace.end[op] - self._trace.start[op]
        guess = f"; {self.time(cost.duration)} were estimated, it took {self.time(took)}"
        note = guess if took != cost.duration else ""
        if part.reason == "launch":
            return "is launched"
        if part.reason in ("compute", "memory"):
            compute, memory = self.time(round(cost.compute_ns)), self.time(round(cost.memory_ns))
            sides = f"{compute} of compute, {memory} of memory traffic"
            return f"runs, bound by {part.reason} ({sides}){note}"
        known = {"explicit": "; the graph states its duration", "measured": "; its duration was measured"}
        return f"runs{known.get(part.reason, '')}{note}"

    def _transfer_words(self, op: OpId, part: Part) -> str:
        assert part.culprit is not None
        problem, devices = self._problem, self.story.timelines.device
        here, there = problem.devices[devices[op]].name, problem.devices[devices[part.culprit]].name
        size, left = problem.edge_bytes(part.culprit, op), self._trace.end[part.culprit]
        moving = problem.transfer_ns(part.culprit, op, devices[part.culprit], devices[op])
        what = f"{format_size(size)} of" if size else "word from"
        times = f"{self.time(moving)}, from {self.time(left)} on"
        return f"waits for {what} {self._name(part.culprit)} on the way from {there} to {here} ({times})"

    def _undispatched_words(self, part: Part) -> str:
        if part.reason == "no_stream":
            holders = self.story.holders(part)
            held = self._listed(self._names[op] for op, _ in holders)
            first = "" if all(self._trace.end[op] >= part.end for op, _ in holders) else "at first "
            return "is not dispatched: every stream that may run it is taken" + (f", {first}by {held}" if held else "")
        if part.reason == "passed_over":
            return f"is not dispatched: a stream is free, but it {self._shortage_words(part)}"
        if part.reason == "held":
            return "is not dispatched, though a stream and all that it needs are free: the policy holds it back"
        return "waits, and no reason is recorded"

    def _device_words(self, part: Part) -> str:
        short = self._shortage_words(part)
        if part.reason == "queue":
            assert part.device is not None
            queue = f"waits in the queue of {self._problem.devices[part.device].name} behind {self._name(part.culprit)}"
            return f"{queue}, which {short}" if short else queue
        until = f" until {self._name(part.culprit)} ends" if part.culprit is not None else ""
        return f"waits for the device{until}: {short}"

    def _shortage_words(self, part: Part) -> str:
        """Say what was short when a part began; that it was so at first, where it changed before the part ended."""
        assert part.device is not None
        device = self._problem.devices[part.device].name
        first = "at first " if self._changes(part) else ""
        texts = []
        for short in part.shortages:
            needs, free, missing = _amounts(short)
            texts.append(f"needs {needs} of {device}/{short.resource}, {first}{free} free, {missing} short")
        held = self._listed(f"{self._names[op]} {units}" for op, units in self.story.holders(part))
        live = self._listed(f"{name} {format_size(size)}" for name, size in self.story.tensors(part))
        texts += [f"held {first}by {held}"] if held else []
        return "; ".join(texts + ([f"largest tensors {'then ' if first else ''}{live}"] if live else []))

    def _changes(self, part: Part) -> bool:
        """Whether what was taken changed within a part."""
        lines, device = self.story.timelines, part.device
        assert device is not None
        for short in part.shortages:
            taken = lines.live(device) if short.resource == MEMORY else lines.used(device, short.resource)
            if taken.inside(part.start, part.end):
                return True
        return False

    def _name(self, op: OpId | None) -> str:
        return "?" if op is None else self._names[op]

    @staticmethod
    def _listed(texts: Iterable[str]) -> str:
        every = list(texts)
        rest = f" (+{len(every) - SHOWN} more)" if len(every) > SHOWN else ""
        return ", ".join(every[:SHOWN]) + rest


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
        "holders": [[names[holder], units] for holder, units in story.holders(part)],
        "tensors": [[name, size] for name, size in story.tensors(part)],
        "ahead": part.ahead,
        "text": words.words(op, part),
    }


def _row_records(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {"kind": row.kind, "what": row.what, "bound": row.bound, "ns": row.time, "operators": row.operators}
        for row in rows
    ]


def _amounts(short: Shortage) -> tuple[str, str, str]:
    figures = (short.needs, short.free, short.missing)
    needs, free, missing = map(format_size if short.resource == MEMORY else str, figures)
    return needs, free, missing


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"
