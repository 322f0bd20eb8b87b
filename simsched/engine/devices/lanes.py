"""Device model ``lanes``: k identical machines, fixed durations.

Each stream is one machine, as in scheduling theory (P | prec | Cmax). An operator may also demand renewable
resources, held for its whole duration; operators that do not fit are passed over, so that later launches may start.
Launch order is thus what the priority list is in theory: a schedule in which nothing that fits ever waits is repeated
when its operators are launched in the order of their starts.

Not modelled: a stream of a real GPU is *not* a machine; kernels of several streams share SMs and bandwidth. Use
``sm_share`` for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simsched.engine.devices.base import Blocked, Gate, Shortage
from simsched.graph.model import OpId


def admit(
    pending: Sequence[OpId], launched: Callable[[OpId], int], gate: Gate, start: Callable[[OpId], None]
) -> list[Blocked]:
    """Start every pending operator that fits, earliest launch first; pass over those that do not."""
    short_of: dict[OpId, Shortage] = {}
    for op in sorted(pending, key=launched):
        short = gate.shortage(op)
        if short is None:
            start(op)
        else:
            short_of[op] = short
    return [(op, *short_of[op]) for op in pending if op in short_of]
