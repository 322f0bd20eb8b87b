"""The referee: whether a run obeys the rules, told from the problem and the trace alone.

It shares no code with the engine, computes everything a second time, and runs after every run. Each rule is one
function; together they say what a valid run is (``docs/reference/referee.md`` has them in words). All are linear
or sort once, so that a run of a million operators is judged in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import le

from simsched.analysis.check_blocks import check_blocks
from simsched.analysis.check_capacity import check_resources
from simsched.analysis.check_host import check_launches
from simsched.analysis.check_memory import check_memory
from simsched.analysis.check_queue import check_queues
from simsched.analysis.check_speed import check_durations
from simsched.analysis.check_waits import check_arrivals, check_dispatches, check_waits
from simsched.analysis.findings import Facts, Findings
from simsched.errors import TraceError
from simsched.problem import Problem
from simsched.trace import Trace

COLUMNS = ("stream", "dispatch", "ready", "start", "end")


def check_trace(
    problem: Problem, trace: Trace, *, memory: str = "unbounded", actual: Sequence[Sequence[int]] | None = None
) -> list[str]:
    """Find every rule that a run breaks.

    Parameters
    ----------
    problem : Problem
    trace : Trace
    memory : {"unbounded", "block", "strict"}
        Memory mode of the run: whether the capacity was a limit.
    actual : sequence of sequence of int, optional
        Actual durations per device in ns, where they differ from the estimates.

    Returns
    -------
    list of str
        One sentence each, with operators and times; empty for a valid run. At most 20 per rule.
    """
    findings = Findings()
    if not _complete(problem, trace, findings):
        return findings.all()
    facts = _facts(problem, trace, memory, actual, findings)
    _check_placement(facts)
    check_durations(facts)
    _check_order(facts)
    _check_streams(facts)
    check_launches(facts)
    check_arrivals(facts)
    check_dispatches(facts)
    check_waits(facts)
    check_resources(facts)
    check_queues(facts)
    check_blocks(facts)
    check_memory(facts)
    return findings.all()


def require_valid(
    problem: Problem, trace: Trace, *, memory: str = "unbounded", actual: Sequence[Sequence[int]] | None = None
) -> None:
    """Raise when a run breaks a rule; parameters as for :func:`check_trace`.

    Raises
    ------
    TraceError
        With every violation.
    """
    violations = check_trace(problem, trace, memory=memory, actual=actual)
    if violations:
        raise TraceError(violations)


def _facts(
    problem: Problem, trace: Trace, memory: str, actual: Sequence[Sequence[int]] | None, findings: Findings
) -> Facts:
    devices = range(len(problem.devices))
    durations = [problem.durations(device) for device in devices] if actual is None else actual
    stream, dispatch, ready, start, end = (list(getattr(trace, name)) for name in COLUMNS)
    device = [0] * len(start) if len(devices) == 1 else [problem.stream_device[number] for number in stream]
    return Facts(problem, trace, memory, durations, stream, dispatch, ready, start, end, device, [], findings)


# --- every operator once --------------------------------------------------------------------------------------


def _complete(problem: Problem, trace: Trace, findings: Findings) -> bool:
    """Check that every operator has a row, a stream and one launch; all other rules need that."""
    count = len(problem.graph)
    for name in COLUMNS:
        rows = len(getattr(trace, name))
        if rows != count:
            findings.add("complete", f"column {name!r} has {rows} rows for {count} operators")
    if findings.texts:
        return False
    names = problem.graph.names
    last = len(problem.stream_device) - 1
    if count and not (min(trace.stream) >= 0 and max(trace.stream) <= last):
        for op, stream in enumerate(trace.stream):
            if not 0 <= stream <= last:
                findings.add("complete", f"operator {names[op]!r} ran on stream {stream}; streams go from 0 to {last}")
    _check_launches(problem, trace.launch_order, findings)
    return not findings.texts


def _check_launches(problem: Problem, order: Sequence[int], findings: Findings) -> None:
    """Check that the launch order names every operator once."""
    names = problem.graph.names
    seen = bytearray(len(names))
    for op in order:
        if not 0 <= op < len(names):
            findings.add("complete", f"the launch order names operator {op}; ids go from 0 to {len(names) - 1}")
        elif seen[op]:
            findings.add("complete", f"operator {names[op]!r} is in the launch order twice")
        else:
            seen[op] = 1
    if len(order) != len(names) or not all(seen):
        for op, there in enumerate(seen):
            if not there:
                findings.add("complete", f"operator {names[op]!r} is missing from the launch order")


# --- one operator, one stream ---------------------------------------------------------------------------------


def _check_placement(facts: Facts) -> None:
    """Check that every operator ran on a device that may run it."""
    problem = facts.problem
    for op, devices in problem.allowed.items():
        if facts.device[op] not in devices:
            names = ", ".join(problem.devices[device].name for device in devices)
            facts.findings.add("placement", f"{facts.name(op)} ran on {facts.host(op)}; it may run only on {names}")


def _check_order(facts: Facts) -> None:
    """Check that operators are listed in the order of their dispatches."""
    order, times = facts.trace.launch_order, facts.dispatch
    column = [times[op] for op in order]
    if all(map(le, column, column[1:])):
        return
    for before, after in pairwise(order):
        if times[before] > times[after]:
            text = f"{facts.name(after)} was dispatched at {facts.at(times[after])}, listed after"
            facts.findings.add("order", f"{text} {facts.name(before)} at {facts.at(times[before])}")


def _check_streams(facts: Facts) -> None:
    """Check that a stream runs one operator at a time, in the order of its launches."""
    stream, start, end = facts.stream, facts.start, facts.end
    last = [-1] * len(facts.problem.stream_device)
    free = [0] * len(last)
    for op in facts.trace.launch_order:
        queue = stream[op]
        if start[op] < free[queue]:
            before = last[queue]
            if start[op] < start[before]:
                text = f"starts at {facts.at(start[op])}, before {facts.name(before)} at {facts.at(start[before])}"
                text += ", which was launched earlier"
            else:
                text = f"starts at {facts.at(start[op])} while {facts.name(before)} runs until {facts.at(end[before])}"
            facts.findings.add("stream", f"{facts.name(op)} {text} on {facts.on(op)}")
        if end[op] >= free[queue]:
            free[queue] = end[op]
            last[queue] = op
