"""Where the makespan went: rows that add up to it exactly, seen in two ways.

Along the *realised critical path* something runs nearly all the time: the rows say which operator types decided the
end. Along the *chain of dependencies* of the operator that ended last, each operator runs or waits for a reason: the
rows say what the end would have come earlier without.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from simsched.analysis.critical import realised_path
from simsched.analysis.explain import Explanation, Part
from simsched.graph.model import OpId

Kind = Literal["operators", "launch", "wait"]


@dataclass(frozen=True, slots=True)
class Row:
    """Part of the makespan.

    Attributes
    ----------
    kind : {"operators", "launch", "wait"}
    what : str
        The operator type; for a launch ``"launch"``; for a wait its reason (see
        :class:`~simsched.analysis.explain.Part`), or ``"idle"`` for time in which nothing ran that led on.
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


def path_breakdown(story: Explanation) -> tuple[Row, ...]:
    """Return the makespan by what ran along the realised critical path.

    Parameters
    ----------
    story : Explanation

    Returns
    -------
    tuple of Row
        Operators, launches, waits, each with the longest first.
    """
    pieces: list[tuple[OpId, Part]] = []
    for segment in realised_path(story.run.problem, story.run.trace):
        if segment.kind == "operator":
            pieces += ((segment.op, part) for part in story.runs(segment.op))
        elif segment.end > segment.start:
            reason: Literal["transfer", "unknown"] = "transfer" if segment.kind == "transfer" else "unknown"
            pieces.append((segment.op, Part("wait", reason, segment.start, segment.end)))
    return _rows(story, pieces, unknown="idle")


def chain_breakdown(story: Explanation) -> tuple[Row, ...]:
    """Return the makespan by what the chain of dependencies to the last end did: run, or wait for a reason."""
    pieces = [(op, part) for op in dependency_chain(story) for part in _after_ready(story, op)]
    return _rows(story, pieces, unknown="unknown")


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


def _after_ready(story: Explanation, op: OpId) -> list[Part]:
    return [part for part in story.parts(op) if part.reason != "dependency"]


def _rows(story: Explanation, pieces: Iterable[tuple[OpId, Part]], unknown: str) -> tuple[Row, ...]:
    graph = story.run.problem.graph
    time: dict[tuple[Kind, str, str], int] = {}
    ops: dict[tuple[Kind, str, str], set[OpId]] = {}
    for op, part in pieces:
        key: tuple[Kind, str, str]
        if part.kind == "wait":
            key = "wait", unknown if part.reason == "unknown" else part.reason, ""
        elif part.reason == "launch":
            key = "launch", "launch", ""
        else:
            key = "operators", graph.op_types[op], part.reason
        time[key] = time.get(key, 0) + part.length
        ops.setdefault(key, set()).add(op)
    order: dict[Kind, int] = {"operators": 0, "launch": 1, "wait": 2}
    keys = sorted(time, key=lambda key: (order[key[0]], -time[key], key))
    return tuple(Row(*key, time[key], len(ops[key])) for key in keys)
