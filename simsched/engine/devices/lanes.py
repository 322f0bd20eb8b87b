"""Device model ``lanes``: k identical machines, fixed durations.

Each stream is one machine, as in scheduling theory (P | prec | Cmax). An operator may also demand renewable
resources, held for its whole duration; operators that do not fit are passed over, so that later ones may start.

Not modelled: a stream of a real GPU is *not* a machine; kernels of several streams share SMs and bandwidth. Use
``sm_share`` for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simsched.engine.devices.base import Blocked, Gate
from simsched.graph.model import OpId


def admit(pending: Sequence[OpId], gate: Gate, start: Callable[[OpId], None]) -> list[Blocked]:
    """Start every pending operator that fits, in order; pass over those that do not."""
    blocked: list[Blocked] = []
    for op in pending:
        short = gate.shortage(op)
        if short is None:
            start(op)
        else:
            blocked.append((op, *short))
    return blocked
