"""An allocator with real addresses, fed with the allocations of a finished run in their order.

The sum of live bytes says what an ideal allocator needs. A real one cannot move what it has placed: what was freed
leaves holes, and a hole may be too small for what comes. Two rules are replayed: best fit takes the smallest hole that
is large enough, first fit the lowest (P. R. Wilson et al., "Dynamic storage allocation: a survey and critical review",
IWMM 1995, doi:10.1007/3-540-60368-9_19); where there is none, the arena grows at its end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simsched.analysis.allocations import Allocation

Fit = Callable[[Sequence[int], int], int]
"""``fit(holes, size)``: number of the hole to use, of the sizes of all in order of address; -1 where none will do."""


def first_fit(holes: Sequence[int], size: int) -> int:
    """The lowest hole that is large enough.

    Examples
    --------
    >>> first_fit([2, 7, 5], 4), first_fit([2], 4)
    (1, -1)
    """
    return next((number for number, hole in enumerate(holes) if hole >= size), -1)


def best_fit(holes: Sequence[int], size: int) -> int:
    """The smallest hole that is large enough, the lowest of equals.

    Examples
    --------
    >>> best_fit([2, 7, 5], 4), best_fit([2], 4)
    (2, -1)
    """
    return min(((hole, number) for number, hole in enumerate(holes) if hole >= size), default=(0, -1))[1]


FITS: Mapping[str, Fit] = {"best": best_fit, "first": first_fit}


class Arena:
    """Addresses from 0 upwards, with holes that are joined when they touch.

    Parameters
    ----------
    fit : callable
        Chooses the hole.
    capacity : int, optional
        Bytes; unlimited by default.

    Attributes
    ----------
    top : int
        The end of what is in use.
    starts, sizes : list of int
        Holes below it, in order of address; no two touch each other, and none touches ``top``.
    """

    __slots__ = ("_capacity", "_fit", "sizes", "starts", "top")

    def __init__(self, fit: Fit, capacity: int | None = None) -> None:
        self._fit = fit
        self._capacity = capacity
        self.top = 0
        self.starts: list[int] = []
        self.sizes: list[int] = []

    def allocate(self, size: int) -> int | None:
        """Return the address of ``size`` bytes that are now in use; None where they fit nowhere."""
        number = self._fit(self.sizes, size)
        if number < 0:
            address = self.top
            if self._capacity is not None and address + size > self._capacity:
                return None
            self.top += size
            return address
        address = self.starts[number]
        if self.sizes[number] == size:
            del self.starts[number], self.sizes[number]
        else:
            self.starts[number] += size
            self.sizes[number] -= size
        return address

    def free(self, address: int, size: int) -> None:
        """Give bytes back, and join the hole with those that it touches."""
        number = bisect_left(self.starts, address)
        if number < len(self.starts) and self.starts[number] == address + size:
            size += self.sizes[number]
            del self.starts[number], self.sizes[number]
        if number and self.starts[number - 1] + self.sizes[number - 1] == address:
            number -= 1
            address, size = self.starts[number], size + self.sizes[number]
            del self.starts[number], self.sizes[number]
        if address + size == self.top:
            self.top = address
        else:
            self.starts.insert(number, address)
            self.sizes.insert(number, size)

    @property
    def largest(self) -> int | None:
        """The most bytes that can be allocated at once; None where there is no limit."""
        if self._capacity is None:
            return None
        return max([self._capacity - self.top, *self.sizes])


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first allocation that did not fit into an arena of limited size.

    Attributes
    ----------
    allocation : Allocation
    live : int
        Bytes in use then.
    largest : int
        The largest piece that was free, in bytes.
    """

    allocation: Allocation
    live: int
    largest: int


@dataclass(frozen=True, slots=True)
class ArenaUse:
    """How an allocator fared.

    Attributes
    ----------
    fit : str
    size : int
        Bytes of the arena: the highest address that was ever in use.
    at : int
        First instant at which it was, in ns.
    ideal : int
        Most live bytes, not rounded, in the same order.
    fragmentation : float
        Part of the arena without live bytes, when it was as large as it ever was.
    worst : float
        The largest part of what was then the arena (up to the highest address in use) without live bytes, at any step.
    offsets : tuple of int
        Address of each allocation, in their order; -1 for those after a refusal.
    refused : Refusal or None
        Where the replay ended because an allocation did not fit.
    """

    fit: str
    size: int
    at: int
    ideal: int
    fragmentation: float
    worst: float
    offsets: tuple[int, ...]
    refused: Refusal | None = None


def replay(
    allocations: Sequence[Allocation], fit: str = "best", *, alignment: int = 1, capacity: int | None = None
) -> ArenaUse:
    """Feed allocations to an allocator in their order; at each step frees come first.

    Parameters
    ----------
    allocations : sequence of Allocation
        As of :func:`simsched.analysis.allocations.allocations_of`: resident ones first, which come to lie at the
        bottom.
    fit : {"best", "first"}
    alignment : int
        Sizes are rounded up to multiples of it, so that addresses are multiples too. CUDA aligns to 256 bytes (CUDA
        C++ Programming Guide, "Device Memory Accesses"), PyTorch's allocator rounds to 512.
    capacity : int, optional
        Bytes of the arena; the replay ends with the first allocation that does not fit.
    """
    arena = Arena(FITS[fit], capacity)
    offsets = [-1] * len(allocations)
    begin, end = _by_step(allocations)
    size = at = live = ideal = 0
    fragmentation = worst = 0.0
    for step in sorted({*begin, *end}):
        for number in end.get(step, ()):
            arena.free(offsets[number], _rounded(allocations[number].size, alignment))
            live -= allocations[number].size
        for number in begin.get(step, ()):
            one = allocations[number]
            address = arena.allocate(_rounded(one.size, alignment))
            if address is None:
                refused = Refusal(one, live, arena.largest or 0)
                return ArenaUse(fit, size, at, ideal, fragmentation, worst, tuple(offsets), refused)
            offsets[number] = address
            live += one.size
        ideal = max(ideal, live)
        holes = 1 - live / arena.top if arena.top else 0.0
        worst = max(worst, holes)
        if arena.top > size:
            size, at, fragmentation = arena.top, allocations[begin[step][0]].begin, holes
    return ArenaUse(fit, size, at, ideal, fragmentation, worst, tuple(offsets))


def _by_step(allocations: Sequence[Allocation]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Numbers of the allocations by their first and by their last step."""
    begin: dict[int, list[int]] = {}
    end: dict[int, list[int]] = {}
    for number, one in enumerate(allocations):
        if one.first < one.last:
            begin.setdefault(one.first, []).append(number)
            end.setdefault(one.last, []).append(number)
    return begin, end


def _rounded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
