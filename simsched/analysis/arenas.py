"""Ideal memory and real addresses side by side: what a run needed, and what allocators make of it."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.analysis.allocations import allocations_of
from simsched.analysis.arena import ArenaUse, replay
from simsched.analysis.offsets import Plan, plan_offsets
from simsched.analysis.usage import Run


@dataclass(frozen=True, slots=True)
class Arenas:
    """Memory of one device.

    Attributes
    ----------
    device : str
    capacity : int or None
        Bytes of the device; None is unlimited.
    alignment : int
        Sizes and addresses are multiples of it.
    ideal : int
        Most live bytes, not rounded.
    best, first : ArenaUse
        An allocator during the run, by best fit and by first fit.
    plan : Plan
        Addresses planned with all lifetimes known.
    """

    device: str
    capacity: int | None
    alignment: int
    ideal: int
    best: ArenaUse
    first: ArenaUse
    plan: Plan


def arenas(run: Run, *, alignment: int = 1) -> tuple[Arenas, ...]:
    """Replay what a run held through allocators, for each device that held anything.

    This takes longer than the run: up to ten seconds or so for one of a few hundred allocations that are hard to pack.

    Parameters
    ----------
    run : Result
    alignment : int
        Bytes; 1 takes sizes as they are, so that all that is lost is lost to holes. CUDA's allocations are aligned to
        256 bytes, those of PyTorch's allocator to 512.
    """
    found = []
    for number, device in enumerate(run.problem.devices):
        allocations = allocations_of(run, number)
        if allocations:
            best, first = (replay(allocations, fit, alignment=alignment) for fit in ("best", "first"))
            plan = plan_offsets(allocations, alignment=alignment)
            found.append(Arenas(device.name, device.capacity, alignment, best.ideal, best, first, plan))
    return tuple(found)
