"""Memory in the model: the live bytes of one device never exceed its capacity.

A buffer lives from the start of the operator that makes it to the end of the last that reads any tensor in it; graph
outputs to the end; workspace while its operator runs. Parameters and graph inputs are resident. What an instant frees
is available to what starts in it. A buffer that lives for no time at all needs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from simsched.exact.times import Times
from simsched.graph.model import OpId, TensorId, TensorKind
from simsched.problem import Problem

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar, LinearExprT


class Buffer(NamedTuple):
    """Bytes that an operator allocates at its start.

    Attributes
    ----------
    maker : int
    size : int
        Bytes.
    readers : tuple of int
        Who must have ended before it is freed; the maker too.
    kept : bool
        Whether it stays to the end.
    """

    maker: OpId
    size: int
    readers: tuple[OpId, ...]
    kept: bool


def resident_bytes(problem: Problem) -> int:
    """Bytes of parameters and graph inputs, which are there from the beginning."""
    graph = problem.graph
    return sum(size for size, maker in zip(graph.stored_bytes, graph.tensor_producer, strict=True) if maker < 0)


def buffers(problem: Problem) -> Iterator[Buffer]:
    """All buffers that operators allocate on a single device, workspaces too."""
    graph = problem.graph
    members: dict[TensorId, list[TensorId]] = {}
    for tensor in range(len(graph.tensor_bytes)):
        root = tensor
        while root in graph.shares:
            root = graph.shares[root]
        members.setdefault(root, []).append(tensor)
    for root, tensors in members.items():
        maker = graph.tensor_producer[root]
        if maker >= 0 and graph.tensor_bytes[root]:
            readers = {maker, *(op for tensor in tensors for op in graph.tensor_consumers[tensor])}
            readers.update(graph.tensor_producer[tensor] for tensor in tensors)
            kept = any(graph.tensor_kinds[tensor] is TensorKind.OUTPUT for tensor in tensors)
            yield Buffer(maker, graph.tensor_bytes[root], tuple(sorted(readers)), kept)
    for op in range(len(graph)):
        if problem.workspace(op):
            yield Buffer(op, problem.workspace(op), (op,), False)


def add_memory(
    cp: CpModel,
    problem: Problem,
    times: Times,
    start: Sequence[IntVar],
    end: Sequence[LinearExprT],
    makespan: IntVar,
    horizon: int,
) -> None:
    """Keep the live bytes of the one device within its capacity.

    Parameters
    ----------
    cp : CpModel
    problem : Problem
    times : Times
    start, end : sequence
        Of each operator.
    makespan : IntVar
    horizon : int
        The largest value of ``makespan``.
    """
    capacity = problem.devices[0].capacity
    if capacity is None:
        return
    found = list(buffers(problem))
    free = capacity - resident_bytes(problem)
    if free >= sum(buffer.size for buffer in found):
        return
    intervals = []
    for number, buffer in enumerate(found):
        begin = start[buffer.maker]
        if not buffer.kept and buffer.readers == (buffer.maker,):
            duration = times.durations[0][buffer.maker]
            intervals.append(cp.new_fixed_size_interval_var(begin, duration, f"buffer {number}"))
            continue
        until = cp.new_int_var(0, horizon, f"buffer {number} freed")
        if buffer.kept:
            cp.add(until == makespan)
        for reader in buffer.readers:
            cp.add(until >= end[reader])
        size = cp.new_int_var(0, horizon, f"buffer {number} lives")
        intervals.append(cp.new_interval_var(begin, size, until, f"buffer {number}"))
    cp.add_cumulative(intervals, [buffer.size for buffer in found], free)
