"""Whether a trace that was read from a file has the form of one: everything in it is about operators that there are.

That what it tells could have happened is for the referee to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simsched.problem import Problem
    from simsched.trace import Trace

LATEST = 2**62
"""No time is later; simulated runs end earlier."""


def check_form(trace: Trace, problem: Problem) -> Trace:
    """Return a trace whose numbers are those of operators, streams, devices, tensors and times.

    Raises
    ------
    ValueError
        With the first part that is not.
    """
    operators = len(problem.graph)
    _check_columns(trace, operators, len(problem.stream_names))
    for name, most, indices in _indices(trace, problem):
        _check_numbers(name, list(indices), most - 1, f"of {most}")
    for name, numbers in _amounts(trace):
        _check_numbers(name, list(numbers), LATEST, "which is no time")
    for name, spans in _spans(trace):
        for start, end in spans:
            if end < start:
                raise ValueError(f"its {name} end at {end}, before they start at {start}")
    _check_texts(trace)
    return trace


def _check_numbers(name: str, numbers: Sequence[int], most: int, why: str) -> None:
    strange = set(map(type, numbers)) - {int}
    if strange:
        raise ValueError(f"its {name} have a {strange.pop().__name__} for a whole number")
    if numbers and (min(numbers) < 0 or max(numbers) > most):
        found = min(numbers) if min(numbers) < 0 else max(numbers)
        raise ValueError(f"its {name} name {found}, {why}")


def _check_columns(trace: Trace, operators: int, streams: int) -> None:
    for name in ("stream", "dispatch", "ready", "start", "end", "launch_order", "launched"):
        column: Sequence[int] = getattr(trace, name)
        if len(column) != operators and (name != "launched" or column):
            raise ValueError(f"its {name!r} has {len(column)} values for {operators} operators")
    memory = trace.memory
    if not len(memory.time) == len(memory.device) == len(memory.live):
        raise ValueError("its memory has columns of different lengths")
    if sorted(trace.launch_order) != list(range(operators)):
        raise ValueError("its 'launch_order' does not hold every operator once")
    _check_numbers("operators", trace.stream, streams - 1, f"of {streams} streams")


def _indices(trace: Trace, problem: Problem) -> Iterator[tuple[str, int, Iterable[int]]]:
    """Numbers of things, and how many there are of them."""
    operators, devices, tensors = len(problem.graph), len(problem.devices), len(problem.graph.tensor_names)
    yield "reasons", operators, trace.reasons
    yield "rounds", operators, trace.rounds
    yield "waits", operators, (wait.op for wait in trace.waits)
    yield "transfers", operators, (op for move in trace.transfers for op in (move.source, move.target))
    yield "transfers", devices, (at for move in trace.transfers for at in (move.from_device, move.to_device))
    yield "transfers", tensors, (move.tensor for move in trace.transfers if move.tensor != -1)
    yield "memory steps", devices, trace.memory.device
    yield "cohorts", operators, (cohort.op for cohort in trace.cohorts)
    for number, device in enumerate(problem.devices):
        here = (each for each in trace.cohorts if problem.stream_device[trace.stream[each.op]] == number)
        yield "cohorts", device.sms, (sm for cohort in here for sm, _ in cohort.places)


def _amounts(trace: Trace) -> Iterator[tuple[str, Iterable[int]]]:
    """Times, and other numbers that are not negative."""
    yield "events", chain(trace.dispatch, trace.ready, trace.start, trace.end, trace.launched)
    yield "waits", (time for wait in trace.waits for time in (wait.start, wait.end))
    yield "transfers", (number for move in trace.transfers for number in (move.start, move.end, move.bytes))
    yield "transfers", (move.asked for move in trace.transfers if move.asked != -1)
    yield "memory steps", chain(trace.memory.time, trace.memory.live)
    yield "cohorts", (number for each in trace.cohorts for number in (each.wave, each.start, each.end))
    yield "cohorts", (count for cohort in trace.cohorts for _, count in cohort.places)
    yield "calls and rounds", (trace.calls, *trace.rounds.values())


def _spans(trace: Trace) -> Iterator[tuple[str, Iterable[tuple[int, int]]]]:
    yield "operators", zip(trace.start, trace.end, strict=True)
    for name, rows in (("waits", trace.waits), ("transfers", trace.transfers), ("cohorts", trace.cohorts)):
        yield name, ((row.start, row.end) for row in rows)


def _check_texts(trace: Trace) -> None:
    texts = chain(trace.reasons.values(), (text for wait in trace.waits for text in (wait.reason, wait.detail)))
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"its reasons are not text: {text!r}")
