"""Where the makespan went: rows that add up to it exactly, seen in two ways.

Along the *realised critical path* something runs nearly all the time: the rows say which operator types decided the
end. Along the *chain of dependencies* of the operator that ended last, each operator runs or waits for a reason: the
rows say what the end would have come earlier without.

What an operator loses by sharing has rows of its own: its time less what it takes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from simsched.analysis.critical import Segment, realised_path
from simsched.analysis.explain import Explanation, Part
from simsched.analysis.parts import LOSSES
from simsched.graph.model import OpId

Kind = Literal["operators", "launch", "lost", "wait"]
ORDER: dict[Kind, int] = {"operators": 0, "launch": 1, "lost": 2, "wait": 3}

WAITS = {
    "event": "to see the end of one in another stream",
    "copy_engine": "copies: waiting for a copy engine",
    "copy_queue": "copies: behind copies that wait",
    "copy_memory": "copies: waiting for memory",
    "copy_latency": "copies: latency of links",
    "copy": "copies: bytes on links",
    "delay": "delays of edges",
    "transfer": "data on its way between devices",
    "no_stream": "not dispatched: every stream taken",
    "passed_over": "not dispatched: short of units or bytes",
    "held": "not dispatched: held back by the policy",
    "host_sync": "host: to learn of what ended",
    "host": "host: behind other launches",
    "host_launch": "host: being launched",
    "host_graph": "host: launch of the graph",
    "stream": "behind others in its stream",
    "resource": "at the device: short of units",
    "room": "at the device: no room for a block",
    "queue": "at the device: behind the head of its queue",
    "priority": "at the device: behind a more urgent one",
    "memory": "at the device: short of memory",
    "idle": "nothing ran that led on",
    "unknown": "no reason recorded",
}
BOUNDS = {
    "compute": "bound by compute",
    "memory": "bound by memory",
    "explicit": "duration stated",
    "measured": "duration measured",
    "tail": "last wave of blocks",
    "none": "no kernel",
}
LOST = {
    "bandwidth": "lost by sharing bandwidth",
    "arithmetic": "lost by sharing arithmetic",
    "room": "lost without room for all blocks",
    "link": "copies: lost by sharing links",
}


@dataclass(frozen=True, slots=True)
class Row:
    """Part of the makespan.

    Attributes
    ----------
    kind : {"operators", "launch", "lost", "wait"}
    what : str
        The operator type; for a launch gap ``"launch"``; for time lost by sharing ``"bandwidth"``, ``"arithmetic"``,
        ``"room"`` (places for blocks) or ``"link"``; for a wait its reason (see
        :class:`~simsched.analysis.parts.Part`), or ``"idle"`` for time in which nothing ran that led on.
    bound : str
        What bounds the kernels; empty for what is not an operator.
    time : int
        ns.
    operators : int
        How many operators have a share in it.
    """

    kind: Kind
    what: str
    bound: str
    time: int
    operators: int

    @property
    def name(self) -> str:
        """What the row is, in words."""
        if self.kind == "wait":
            return WAITS[self.what]
        if self.kind == "lost":
            return LOST[self.what]
        return "launch gaps" if self.kind == "launch" else f"{self.what}, {BOUNDS[self.bound]}"


class _Piece(NamedTuple):
    """Time that belongs to a row, and the operator that spent it."""

    kind: Kind
    what: str
    bound: str
    time: int
    op: OpId


def path_breakdown(story: Explanation) -> tuple[Row, ...]:
    """Return the makespan by what ran along the realised critical path.

    Parameters
    ----------
    story : Explanation

    Returns
    -------
    tuple of Row
        Operators, launch gaps, time lost by sharing, waits, each with the longest first.
    """
    path = realised_path(story.run.problem, story.run.trace)
    return _rows(piece for segment in path for piece in _of_segment(story, segment))


def chain_breakdown(story: Explanation) -> tuple[Row, ...]:
    """Return the makespan by what the chain of dependencies to the last end did: run, or wait for a reason."""
    return _rows(piece for op in dependency_chain(story) for piece in _of_chained(story, op))


def dependency_chain(story: Explanation) -> tuple[OpId, ...]:
    """Return the operator that ended last, and before it each time the predecessor that ended last.

    Returns
    -------
    tuple of int
        In order of time; empty for a run without operators. Ties go to the lowest id, at the end to the operator
        that started last, as in :func:`~simsched.analysis.critical.realised_path`.
    """
    trace, pred = story.run.trace, story.run.problem.graph.pred
    if not len(trace):
        return ()
    makespan = trace.makespan
    op = max((op for op, end in enumerate(trace.end) if end == makespan), key=lambda op: (trace.start[op], op))
    chain = [op]
    while pred[op]:
        op = max(pred[op], key=lambda before: (trace.end[before], -before))
        chain.append(op)
    return tuple(reversed(chain))


def _of_segment(story: Explanation, segment: Segment) -> Iterator[_Piece]:
    op = segment.op
    if segment.kind == "operator":
        yield from _of_run(story, op, segment.end)
    elif segment.kind == "copy":
        for part in story.copies.parts(segment.copy):
            if part.start >= segment.start:
                yield from _of_wait(op, part)
    else:
        launch = "host_launch" if story.host.serial else "host_graph"
        what = launch if segment.kind == "host" else segment.kind
        yield _Piece("wait", what, "", segment.end - segment.start, op)


def _of_chained(story: Explanation, op: OpId) -> Iterator[_Piece]:
    for part in story.waits(op):
        if part.reason != "dependency":
            yield from _of_wait(op, part)
    yield from _of_run(story, op, story.run.trace.end[op])


def _of_wait(op: OpId, part: Part) -> Iterator[_Piece]:
    """Yield a wait; of a copy what it lost by sharing links apart."""
    lost = round((1 - part.speed) * part.length)
    if lost:
        yield _Piece("lost", "link", "", lost, op)
    yield _Piece("wait", part.reason, "", part.length - lost, op)


def _of_run(story: Explanation, op: OpId, until: int) -> Iterator[_Piece]:
    """Yield what an operator did from its start on."""
    for reason, time in story.spent(op, until).items():
        if reason == "launch":
            yield _Piece("launch", "launch", "", time, op)
        elif reason in LOSSES:
            yield _Piece("lost", reason, "", time, op)
        else:
            yield _Piece("operators", story.run.problem.graph.op_types[op], reason, time, op)


def _rows(pieces: Iterable[_Piece]) -> tuple[Row, ...]:
    time: dict[tuple[Kind, str, str], int] = {}
    ops: dict[tuple[Kind, str, str], set[OpId]] = {}
    for piece in pieces:
        if piece.time:
            key = piece[:3]
            time[key] = time.get(key, 0) + piece.time
            ops.setdefault(key, set()).add(piece.op)
    keys = sorted(time, key=lambda key: (ORDER[key[0]], -time[key], key))
    return tuple(Row(*key, time[key], len(ops[key])) for key in keys)
