"""When each tensor of a run is live, and where: from an instant to the end of an operator, per device.

- An output of an operator from its start to the end of its last consumer; to its producer's own end where nobody
  reads it; to the end of the run where it is a graph output.
- A parameter or graph input from time 0 on a single device; with several devices, on each that reads it, from the
  start of its first consumer there.
- A tensor read on another device than its producer's has one copy there: from the start of the copy over links, or
  where there was none, from the start of its first consumer there; to the end of its last consumer anywhere.
- An output that shares the buffer of an input has no span of its own: it prolongs that of the input on the device of
  its producer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from simsched.graph.model import OpId, TensorId, TensorKind
from simsched.problem import Problem
from simsched.trace import Trace, Transfer


class Span(NamedTuple):
    """Live on a device from ``begin`` (ns) to the end of ``closer`` (None: of the run).

    ``opener`` is the operator that starts then; None where a copy over links does, or the run.
    """

    device: int
    begin: int
    closer: OpId | None
    opener: OpId | None


class Lifetimes:
    """The spans of every tensor of one run.

    Parameters
    ----------
    problem : Problem
    device, start, end : sequence of int
        Of each operator, by id.
    transfers : sequence of Transfer
        Copies over links; pure delays among them are passed over.
    last : sequence of int, optional
        Says of operators that end at one instant which ends last: the one with the largest number. By default one that
        takes no time.
    """

    def __init__(
        self,
        problem: Problem,
        device: Sequence[int],
        start: Sequence[int],
        end: Sequence[int],
        transfers: Sequence[Transfer] = (),
        last: Sequence[int] | None = None,
    ) -> None:
        self._last = start if last is None else last
        self._graph, self._device, self._start, self._end = problem.graph, device, start, end
        self._single = len(problem.devices) == 1
        self._sharers: dict[TensorId, list[TensorId]] = {}
        for tensor, source in problem.graph.shares.items():
            self._sharers.setdefault(source, []).append(tensor)
        self._copied = {(move.tensor, move.to_device): move.start for move in transfers if move.tensor >= 0}

    def spans(self, tensor: TensorId) -> Iterator[Span]:
        """Yield the spans of the bytes that one tensor brought, one for each device where it did."""
        graph, start = self._graph, self._start
        kind, maker = graph.tensor_kinds[tensor], graph.tensor_producer[tensor]
        if kind.persistent and self._single:
            yield Span(0, 0, None, None)
            return
        home = -1 if kind.persistent else self._device[maker]
        if home >= 0 and tensor not in graph.shares:
            yield Span(home, start[maker], self._closer(tensor, home, kind is TensorKind.OUTPUT), maker)
        if not self._single:
            for there, first in self._first_reads(graph.tensor_consumers[tensor]).items():
                if there != home:
                    closer = self._closer(tensor, there, kind.persistent)
                    copied = self._copied.get((tensor, there))
                    yield (
                        Span(there, start[first], closer, first)
                        if copied is None
                        else Span(there, copied, closer, None)
                    )

    def owners(self, tensor: TensorId) -> list[TensorId]:
        """The tensors whose bytes a tensor uses on some device: its own, for copies of it, and maybe an input's."""
        found = [tensor]
        while found[-1] in self._graph.shares:
            found.append(self._graph.shares[found[-1]])
        return found

    def owner(self, tensor: TensorId, device: int) -> TensorId:
        """The tensor whose bytes a tensor uses on one device."""
        shares, producer = self._graph.shares, self._graph.tensor_producer
        while tensor in shares and self._device[producer[tensor]] == device:
            tensor = shares[tensor]
        return tensor

    def _closer(self, tensor: TensorId, device: int, kept: bool) -> OpId | None:
        """The last reader of the bytes that a tensor brought to a device; None where they stay to the end."""
        if kept:
            return None
        graph, sharing = self._graph, [tensor]
        for member in sharing:
            for other in self._sharers.get(member, ()):
                if self._device[graph.tensor_producer[other]] == device:
                    if graph.tensor_kinds[other] is TensorKind.OUTPUT:
                        return None
                    sharing.append(other)
        readers = (op for member in sharing for op in graph.tensor_consumers[member])
        return max(readers, key=lambda op: (self._end[op], self._last[op]), default=graph.tensor_producer[tensor])

    def _first_reads(self, ops: Sequence[OpId]) -> dict[int, OpId]:
        """By device: the first of these operators that started there."""
        found: dict[int, OpId] = {}
        for op in ops:
            first = found.setdefault(self._device[op], op)
            if self._start[op] < self._start[first]:
                found[self._device[op]] = op
        return found


def lifetimes_of(problem: Problem, trace: Trace, last: Sequence[int] | None = None) -> Lifetimes:
    """The lifetimes of a finished run."""
    where = [problem.stream_device[stream] for stream in trace.stream]
    return Lifetimes(problem, where, trace.start, trace.end, trace.transfers, last)
