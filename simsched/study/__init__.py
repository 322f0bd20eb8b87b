"""Studies of schedulers: instances on which one loses to another, and rankings that say how sure they are.

``instance`` is a small instance as plain numbers, ``moves`` changes it, ``duel`` searches among such changes,
``shrink`` leaves out what does not matter. ``cases`` reads runs, ``ranking`` ranks schedulers over them, with
``bootstrap`` for its intervals, and ``survival`` compares two rankings.
"""

from __future__ import annotations

from simsched.study.duel import Found, duel
from simsched.study.instance import Instance, Space

__all__ = ["Found", "Instance", "Space", "duel"]
