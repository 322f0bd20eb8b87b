"""When each tensor of a run is live, and where: from the start of one operator to the end of another, per device.

- An output of an operator from its start to the end of its last consumer; to its producer's own end where nobody
  reads it; to the end of the run where it is a graph output.
- A parameter or graph input from time 0 on a single device; with several devices, on each that reads it, from the
  start of its first consumer there.
- A tensor read on another device than its producer's has one copy there while any such consumer runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from simsched.graph.model import OpId, TensorId, TensorKind
from simsched.problem import Problem


class Span(NamedTuple):
    """Live on a device from the start of ``opener`` (None: time 0) to the end of ``closer`` (None: of the run)."""

    device: int
    opener: OpId | None
    closer: OpId | None


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
    single = len(problem.devices) == 1
    if kind.persistent and single:
        yield Span(0, None, None)
    elif kind.persistent:
        for there, readers in _by_device(device, consumers).items():
            yield Span(there, min(readers, key=start.__getitem__), None)
    else:
        # Of those that end last together, one that takes no time is in the last round of the instant.
        last = max(consumers, key=lambda op: (end[op], start[op]), default=maker)
        yield Span(device[maker], maker, None if kind is TensorKind.OUTPUT else last)
        for there, readers in {} if single else _by_device(device, consumers).items():
            if there != device[maker]:
                yield from (Span(there, *pair) for pair in _union(readers, start, end))


def _by_device(device: Sequence[int], ops: Sequence[OpId]) -> dict[int, list[OpId]]:
    found: dict[int, list[OpId]] = {}
    for op in ops:
        found.setdefault(device[op], []).append(op)
    return found


def _union(ops: list[OpId], start: Sequence[int], end: Sequence[int]) -> Iterator[tuple[OpId, OpId]]:
    """Merge the intervals of operators that overlap, to first and last operator; those that only touch stay apart."""
    ops.sort(key=lambda op: (start[op], end[op]))
    opener = closer = ops[0]
    for op in ops[1:]:
        if start[op] >= end[closer]:
            yield opener, closer
            opener = closer = op
        elif end[op] > end[closer]:
            closer = op
    yield opener, closer
