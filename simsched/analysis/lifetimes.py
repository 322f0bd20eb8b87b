"""When each tensor of a run is live, and where: spans of time per device.

- An output of an operator from its start to the end of its last consumer; to its producer's own end where nobody
  reads it; to the end of the run where it is a graph output.
- A parameter or graph input from time 0 on a single device; with several devices, on each that reads it, from the
  start of its first consumer there.
- A tensor read on another device than its producer's has one copy there while any such consumer runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from simsched.graph.model import TensorId, TensorKind
from simsched.problem import Problem


class Span(NamedTuple):
    """A tensor is live on a device from ``begin`` to ``end``, in ns; None is to the end of the run."""

    device: int
    begin: int
    end: int | None


def spans(
    problem: Problem, device: Sequence[int], start: Sequence[int], end: Sequence[int], tensor: TensorId
) -> Iterator[Span]:
    """Yield the spans of one tensor.

    Parameters
    ----------
    problem : Problem
    device, start, end : sequence of int
        Of each operator, by id.
    tensor : int
    """
    graph = problem.graph
    kind, maker, consumers = graph.tensor_kinds[tensor], graph.tensor_producer[tensor], graph.tensor_consumers[tensor]
    if kind.persistent and len(problem.devices) == 1:
        yield Span(0, 0, None)
        return
    readers: dict[int, list[tuple[int, int]]] = {}
    for op in consumers:
        readers.setdefault(device[op], []).append((start[op], end[op]))
    if kind.persistent:
        for there, times in readers.items():
            yield Span(there, min(times)[0], None)
        return
    home = device[maker]
    last = max((end[op] for op in consumers), default=end[maker])
    yield Span(home, start[maker], None if kind is TensorKind.OUTPUT else last)
    for there, times in readers.items():
        if there != home:
            yield from (Span(there, begin, until) for begin, until in _union(times))


def _union(times: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Merge intervals that overlap; those that only touch stay apart."""
    times.sort()
    begin, end = times[0]
    for first, last in times[1:]:
        if first >= end:
            yield begin, end
            begin, end = first, last
        else:
            end = max(end, last)
    yield begin, end
