"""Device model ``sm_share``: kernels demand whole SMs and are admitted in launch order.

A kernel enters the device's queue when it is at the head of its stream and its inputs are there; kernels that come
together enter in launch order. (One that had to wait for an operator of no length comes after one of the same instant
that had not.) Only the first of the queue may start, when its SMs (and other demands, and its memory)
are free: a large kernel at the head holds back a small one behind it. This head-of-line blocking is what was measured
on NVIDIA devices (Amert et al., "GPU scheduling on the NVIDIA TX2", RTSS 2017, rules G2, G3 and X1). A kernel holds
its SMs until it ends; it is never preempted.

Not modelled here: sharing of DRAM bandwidth between resident kernels (each runs at the speed that it has alone),
partial residency and tail waves, L2 reuse, contention inside an SM, clock changes, priorities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simsched.engine.devices.base import Blocked, Gate
from simsched.graph.model import OpId


def admit(
    pending: Sequence[OpId], launched: Callable[[OpId], int], gate: Gate, start: Callable[[OpId], None]
) -> list[Blocked]:
    """Start pending operators in order until one does not fit; it holds back all behind it."""
    del launched  # the order in which kernels came to the queue decides
    for position, op in enumerate(pending):
        short = gate.shortage(op)
        if short is not None:
            behind: list[Blocked] = [
                (other, "queue", "behind the head of the device's queue") for other in pending[position + 1 :]
            ]
            return [(op, *short), *behind]
        start(op)
    return []
