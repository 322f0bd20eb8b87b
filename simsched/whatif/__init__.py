"""What if: the same run with faster operators, other hardware, fused kernels, more streams, another scheduler.

>>> from simsched import run
>>> answer = whatif(run("residual", "critical_path", "lanes:2"), Changes(scale={"Conv1": 0}))
>>> answer.before.makespan, answer.after.makespan
(6, 5)
"""

from __future__ import annotations

from simsched.whatif.answer import Move, WhatIf, whatif
from simsched.whatif.changes import Changes
from simsched.whatif.figures import Edit

__all__ = ["Changes", "Edit", "Move", "WhatIf", "whatif"]
