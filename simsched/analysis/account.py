"""Where the makespan went, in few rows, so that two runs can be held against each other.

Along the chain of dependencies to the last end each operator runs or waits; time in which it does neither does not
exist (:mod:`simsched.analysis.explain`). The rows of a run add up to its makespan, so that the differences of the rows
of two runs are, exactly, the difference of the runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from simsched.analysis.breakdown import dependency_chain
from simsched.analysis.explain import Explanation, Part
from simsched.analysis.parts import LOSSES
from simsched.graph.model import OpId

WORK = "work"
"""Row for what operators take alone, launches aside."""
SHORT_OF = "short_of_"
LOST = "lost_"
_SHORT = frozenset(("passed_over", "resource", "memory", "copy_memory"))


def account(story: Explanation) -> dict[str, int]:
    """Return where the makespan went along the chain to the last end.

    Parameters
    ----------
    story : Explanation

    Returns
    -------
    dict of str to int
        ns by reason, in the order of the chain; the values add up to the makespan. ``work`` and ``launch`` are what
        operators take alone; ``lost_bandwidth``, ``lost_arithmetic``, ``lost_room`` and ``lost_link`` what they and
        copies lost by sharing; the others are waits, see :func:`reason_of`.

    Examples
    --------
    >>> from simsched import run
    >>> account(Explanation(run("residual", "critical_path", "lanes:1")))
    {'work': 6, 'no_stream': 1}
    """
    found: dict[str, int] = {}
    for op in dependency_chain(story):
        for reason, time in (*_waits(story, op), *_runs(story, op)):
            if time:
                found[reason] = found.get(reason, 0) + time
    return found


def _waits(story: Explanation, op: OpId) -> Iterator[tuple[str, int]]:
    for part in story.waits(op):
        if part.reason != "dependency":
            lost = round((1 - part.speed) * part.length)  # of a copy, by sharing links
            yield f"{LOST}link", lost
            yield reason_of(part), part.length - lost


def _runs(story: Explanation, op: OpId) -> Iterator[tuple[str, int]]:
    for reason, time in story.spent(op).items():
        yield (f"{LOST}{reason}" if reason in LOSSES else "launch" if reason == "launch" else WORK), time


def reason_of(part: Part) -> str:
    """Return the row of the account to which a wait belongs.

    ``short_of_`` and what was short, whoever held the operator back for it; or the part's own reason. Reasons that are
    not known here (new kinds of waiting) have rows of their own.
    """
    if part.reason in _SHORT and part.shortages:
        return f"{SHORT_OF}{part.shortages[0].resource.replace(' ', '_')}"
    return f"{SHORT_OF}memory" if part.reason in ("memory", "copy_memory") else part.reason
