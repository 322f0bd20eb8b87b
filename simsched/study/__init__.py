"""Studies of schedulers: instances on which one loses to another, and rankings that say how sure they are.

``instance`` is a small instance as plain numbers, ``moves`` changes it, ``duel`` searches among such changes,
``shrink`` leaves out what does not matter, ``spaces`` says where to search. ``cases`` reads runs, ``ranking`` ranks
schedulers over them, with ``bootstrap`` for its intervals, and ``survival`` compares two rankings.
"""

from __future__ import annotations

from simsched.study.cases import Case, Cases, cases_of, read_cases
from simsched.study.duel import Found, duel
from simsched.study.instance import Instance, Space
from simsched.study.ranking import Ranking, rank
from simsched.study.spaces import make_space
from simsched.study.survival import Survival, survival

__all__ = [
    "Case",
    "Cases",
    "Found",
    "Instance",
    "Ranking",
    "Space",
    "Survival",
    "cases_of",
    "duel",
    "make_space",
    "rank",
    "read_cases",
    "survival",
]
