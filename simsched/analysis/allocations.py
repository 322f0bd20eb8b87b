"""What a run held in the memory of a device, from when to when: what an allocator would have been asked for.

Allocations are put into the order in which the engine makes them. Operators that take no time make this more than an
order of times: within an instant there are rounds, and what they free in one is there for those that start in the next.
So the ends of an allocation are *steps*, numbers of the pairs of instant and round at which anything begins or ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simsched.analysis.lifetimes import Span, lifetimes_of
from simsched.analysis.usage import Run
from simsched.graph.model import OpId, TensorId
from simsched.problem import Problem
from simsched.trace import Trace


class Allocation(NamedTuple):
    """Bytes in use from step ``first`` to before step ``last``.

    Attributes
    ----------
    size : int
        Bytes.
    first, last : int
        Steps; at each step frees come before allocations.
    begin, end : int
        The instants of the two steps, in ns.
    tensor : int
        Whose bytes they are; -1 for a workspace.
    op : int
        The operator whose workspace they are; -1 for a tensor.
    resident : bool
        Whether they are there from the beginning: parameters and graph inputs on a single device.
    """

    size: int
    first: int
    last: int
    begin: int = 0
    end: int = 0
    tensor: TensorId = -1
    op: OpId = -1
    resident: bool = False


def allocations_of(run: Run, device: int = 0) -> list[Allocation]:
    """Everything that a run held on a device, in the order of the allocations; what has no bytes is left out.

    Parameters
    ----------
    run : Result
    device : int
    """
    problem, trace = run.problem, run.trace
    starts, ends = _rounds(problem, trace)
    rows: list[tuple[Moment, Moment | None, int, TensorId, OpId, bool]] = []
    lives = lifetimes_of(problem, trace, ends)
    graph = problem.graph
    for tensor, size in enumerate(graph.tensor_bytes):
        for span in lives.spans(tensor) if size else ():
            if span.device == device:
                begin = (span.begin, _round_of(problem, trace, (tensor, span), starts, ends))
                end = None if span.closer is None else (trace.end[span.closer], ends[span.closer])
                resident = graph.tensor_producer[tensor] < 0 and span.opener is None
                rows.append((begin, end, size, tensor, -1, resident))
    for op, stream in enumerate(trace.stream):
        size = problem.workspace(op, device) if problem.stream_device[stream] == device else 0
        if size:
            rows.append(((trace.start[op], starts[op]), (trace.end[op], ends[op]), size, -1, op, False))
    return _in_steps(rows, trace.makespan)


Moment = tuple[int, int]
"""An instant, and a round within it."""


def _in_steps(
    rows: Sequence[tuple[Moment, Moment | None, int, TensorId, OpId, bool]], makespan: int
) -> list[Allocation]:
    moments = sorted({moment for begin, end, *_ in rows for moment in (begin, end) if moment is not None})
    step = {moment: number for number, moment in enumerate(moments)}
    found = []
    for begin, end, size, tensor, op, resident in rows:
        last, until = (len(moments), makespan) if end is None else (step[end], end[0])
        found.append(Allocation(size, step[begin], last, begin[0], until, tensor, op, resident))
    return sorted(found, key=lambda one: (not one.resident, one.first, one.op, one.tensor))


def _round_of(
    problem: Problem, trace: Trace, held: tuple[TensorId, Span], starts: Sequence[int], ends: Sequence[int]
) -> int:
    """Round in which a span of a tensor begins: that of the first to start, or of the producer's end for a copy."""
    tensor, span = held
    producer = problem.graph.tensor_producer[tensor]
    if span.opener is None:
        return ends[producer] if producer >= 0 and trace.end[producer] == span.begin else 0
    if span.opener == producer:
        return starts[producer]
    first = [op for op in problem.graph.tensor_consumers[tensor] if trace.start[op] == span.begin]
    return min(starts[op] for op in first if problem.stream_device[trace.stream[op]] == span.device)


def _rounds(problem: Problem, trace: Trace) -> tuple[list[int], list[int]]:
    """Round of the start and of the end of each operator within its instant: the earliest that the trace allows.

    It follows dependencies, streams and dispatches. Who had to wait for memory until another operator of no time gave
    it back in the same instant may have started a round later; so may who was launched in the instant in which a copy
    for it began.
    """
    starts, ends = [0] * len(trace), [0] * len(trace)
    brief = [op for op in range(len(trace)) if trace.start[op] == trace.end[op]]
    instants: dict[int, list[OpId]] = {trace.start[op]: [] for op in brief}
    if not brief:
        return starts, ends
    sources = _sources(problem, trace)
    for op, time in enumerate(trace.start):
        if time in instants:
            instants[time].append(op)
    for time, ops in instants.items():
        changed = True
        while changed:
            changed = False
            ended = sorted(ends[op] for op in ops if trace.end[op] == time)
            for op in ops:
                earliest = max((ends[source] for source in sources[op] if trace.end[source] == time), default=0)
                if trace.dispatch[op] == time and trace.rounds.get(op):
                    earliest = max(earliest, ended[trace.rounds[op] - 1])
                if earliest > starts[op] or (trace.end[op] == time and ends[op] <= earliest):
                    starts[op], changed = earliest, True
                    if trace.end[op] == time:
                        ends[op] = earliest + 1
    return starts, ends


def _sources(problem: Problem, trace: Trace) -> list[tuple[OpId, ...]]:
    """The operators that must have ended before each: its predecessors, and the one before it in its stream."""
    sources = list(problem.graph.pred)
    latest: dict[int, OpId] = {}
    for op in trace.launch_order:
        stream = trace.stream[op]
        if stream in latest:
            sources[op] = (*sources[op], latest[stream])
        latest[stream] = op
    return [tuple(row) for row in sources]


def peak_of(allocations: Iterable[Allocation], alignment: int = 1) -> int:
    """Most bytes in use at once, each allocation rounded up to a multiple of ``alignment``."""
    changes = []
    for one in allocations:
        size = -(-one.size // alignment) * alignment
        if one.last > one.first:
            changes += [(one.first, size), (one.last, -size)]
    peak = live = 0
    for _, change in sorted(changes):
        live += change
        peak = max(peak, live)
    return peak
