"""Where the makespan went, in few rows, so that two runs can be held against each other.

Along the chain of dependencies to the last end each operator runs or waits; time that it does neither in does not exist
(:mod:`simsched.analysis.explain`). The rows of a run add up to its makespan, so that the differences of the rows of two
runs are, exactly, the difference of the runs.
"""

from __future__ import annotations

from simsched.analysis.breakdown import dependency_chain
from simsched.analysis.explain import Explanation, Part

WORK = "work"
"""Row for operators that run at the speed that they have alone, launches aside."""
SHORT_OF = "short_of_"
_SHORT = frozenset(("passed_over", "resource", "memory"))
_AT_FULL_SPEED = frozenset(("compute", "memory", "explicit", "measured", "none"))


def account(story: Explanation) -> dict[str, int]:
    """Return where the makespan went along the chain to the last end.

    Parameters
    ----------
    story : Explanation

    Returns
    -------
    dict of str to int
        ns by reason, see :func:`reason_of`, in the order of the chain; the values add up to the makespan.

    Examples
    --------
    >>> from simsched import run
    >>> account(Explanation(run("residual", "critical_path", "lanes:1")))
    {'work': 6, 'no_stream': 1}
    """
    found: dict[str, int] = {}
    for op in dependency_chain(story):
        for part in story.parts(op):
            if part.reason != "dependency":
                key = reason_of(part)
                found[key] = found.get(key, 0) + part.length
    return found


def reason_of(part: Part) -> str:
    """Return the row of the account to which a part of an operator's time belongs.

    ``work``; ``short_of_`` and what was short, whoever held the operator back for it; or the part's own reason. Reasons
    that are not known here (new kinds of slowing and waiting) have rows of their own.
    """
    if part.kind == "run" and part.reason in _AT_FULL_SPEED:
        return WORK
    if part.kind == "wait" and part.reason in _SHORT and part.shortages:
        return f"{SHORT_OF}{part.shortages[0].resource.replace(' ', '_')}"
    return f"{SHORT_OF}memory" if part.kind == "wait" and part.reason == "memory" else part.reason
