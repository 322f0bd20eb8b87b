"""From starts and devices to a plan: which stream of its device each operator takes."""

from __future__ import annotations

from collections.abc import Sequence

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.planning.plan import Plan


def without_strays(problem: Problem, start: Sequence[int]) -> list[int]:
    """Move operators that take no time and hold nothing to the end of their last predecessor, on a single device.

    The model lets them run where no stream is free. At the end of a predecessor its stream is.

    Parameters
    ----------
    problem : Problem
    start : sequence of int
        Of each operator, in ns.
    """
    durations, demands = problem.durations(), problem.demands_on(0)
    moved = list(start)
    for op, duration in enumerate(durations):
        if not duration and op not in demands:
            moved[op] = max((moved[before] + durations[before] for before in problem.graph.pred[op]), default=0)
    return moved


def assign_streams(problem: Problem, device: Sequence[int], start: Sequence[int]) -> Plan:
    """Give operators streams in the order of their starts.

    A stream that a predecessor has just left comes first, so that the host needs no event; then the lowest that is
    free. An operator that takes no time may find none free where the model let it run: it takes the one that is free
    first, see :func:`without_strays`.

    Parameters
    ----------
    problem : Problem
    device : sequence of int
        Of each operator.
    start : sequence of int
        Of each operator, in ns; at no instant more operators on a device than it has streams.
    """
    end = [begin + problem.durations(device[op])[op] for op, begin in enumerate(start)]
    free = [0] * len(problem.stream_device)
    latest: dict[int, OpId] = {}
    stream = [0] * len(start)
    for op in Plan(stream, start, end).order:
        predecessors = problem.graph.pred[op]
        _, _, chosen = min(
            (max(free[one] - start[op], 0), latest.get(one, -1) not in predecessors, one)
            for one in problem.device_streams[device[op]]
        )
        stream[op], latest[chosen] = chosen, op
        free[chosen] = max(free[chosen], end[op])
    return Plan(stream, start, end)
