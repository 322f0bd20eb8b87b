"""Follow a given schedule: a text file, a recorded run, or what another algorithm worked out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from simsched.config.files import read_text
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedule import Schedule, parse_schedule
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.trace import Trace, read_trace


@dataclass(frozen=True, slots=True)
class Follow:
    """Do again what a schedule or a recorded run says.

    A schedule is an order per stream: everything is appended to its stream at time 0, and each operator starts as soon
    as its stream, its inputs and its device allow. The run that the order was taken from is repeated if it held nothing
    back that could start (as list policies do not) and its device is of model ``lanes``. If it did hold back, operators
    may start earlier. On ``sm_share`` and across devices, kernels may also come to a device in another order than then,
    and start later for it.

    A recorded run also says what had finished when each operator was dispatched, and every dispatch waits for the same:
    the run is repeated to the nanosecond, and with other durations the same decisions are taken. One kind of dispatch
    may come earlier than it did, and only on several devices: one that was made when data arrived for an operator that
    its device then made wait.

    Parameters
    ----------
    schedule : Schedule, Trace, str or Path
        A schedule or a trace, or the path of a schedule text or of a recorded trace (``.json``).
    """

    schedule: Schedule | Trace | str | Path

    def start(self, problem: Problem) -> Policy:
        """Read the schedule or trace for the problem.

        Raises
        ------
        ConfigError
            If the file cannot be read, or does not hold each operator of the problem exactly once.
        """
        plan = self.schedule
        if isinstance(plan, (str, Path)):
            plan = read_plan(plan, problem)
        return static_policy(plan) if isinstance(plan, Schedule) else replay_policy(plan)


def read_plan(path: str | Path, problem: Problem) -> Schedule | Trace:
    """Read a schedule text, or a recorded trace (``.json``)."""
    path = Path(path)
    text = read_text(path)
    if path.suffix == ".json":
        return read_trace(text, problem, str(path))
    return parse_schedule(text, problem, str(path))


def replay_policy(trace: Trace) -> Policy:
    """Return a policy that repeats a run's dispatches, each once all that had finished before it has finished again."""
    # Of the ends of one instant, those of operators that took no time come last, in rounds with dispatches between
    # them; how many of those a dispatch had seen is in the trace.
    keys = [(end, start == end) for start, end in zip(trace.start, trace.end, strict=True)]
    ends = sorted(range(len(trace)), key=keys.__getitem__)
    needed = [bisect_left(ends, (trace.dispatch[op], True), key=keys.__getitem__) for op in trace.launch_order]
    total = [count + trace.rounds.get(op, 0) for count, op in zip(needed, trace.launch_order, strict=True)]
    arrived = _starters(trace)
    done = bytearray(len(trace))
    finished, launched, seen = 0, 0, 0

    def policy(view: View) -> Iterable[Dispatch]:
        nonlocal finished, launched, seen
        seen += len(view.newly_finished)
        for op in view.newly_finished:
            done[op] = 1
        while finished < len(ends) and done[ends[finished]]:
            finished += 1
        chosen = []
        while launched < len(needed) and needed[launched] <= finished and total[launched] <= seen:
            op = trace.launch_order[launched]
            first = arrived.get(op)
            if first is not None and not done[first] and first not in view.running:
                break
            chosen.append(Dispatch(op, trace.stream[op], trace.reasons.get(op, "as recorded")))
            launched += 1
        return chosen

    return policy


def _starters(trace: Trace) -> dict[OpId, OpId]:
    """Operators that were dispatched because data arrived, not because something ended, and what had just started."""
    settled = {0, *(end for start, end in zip(trace.start, trace.end, strict=True) if start < end)}
    moved = [op for op in trace.launch_order if trace.dispatch[op] not in settled and op not in trace.rounds]
    if not moved:
        return {}
    started = {trace.start[op]: op for op in reversed(trace.launch_order) if trace.dispatch[op] < trace.start[op]}
    return {op: started[trace.dispatch[op]] for op in moved if trace.dispatch[op] in started}


def static_policy(schedule: Schedule) -> Policy:
    """Return a policy that dispatches everything at its first call, in the schedule's order of launches."""
    waiting = [Dispatch(op, stream, "as the schedule says") for op, stream in schedule.launches()]

    def policy(view: View) -> Iterable[Dispatch]:
        del view
        chosen = tuple(waiting)
        waiting.clear()
        return chosen

    return policy
