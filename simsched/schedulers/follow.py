"""Follow a given schedule: a text file, a recorded run, or what another algorithm worked out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from simsched.config.files import read_text
from simsched.problem import Problem
from simsched.schedule import Schedule, parse_schedule
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.trace import Trace, read_trace


@dataclass(frozen=True, slots=True)
class Follow:
    """Do again what a schedule or a recorded run says.

    A schedule is an order per stream: everything is appended to its stream at time 0, and each operator starts as soon
    as its stream, its inputs and its device allow. That can be earlier than in the run that the order was taken from,
    if that run held operators back on purpose. A recorded run also says what had finished when each operator was
    dispatched, and every dispatch waits for the same: on one device the run is repeated to the nanosecond, and with
    other durations the same decisions are taken.

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
    number = {op: position for position, op in enumerate(trace.launch_order)}
    ends = sorted(range(len(trace)), key=lambda op: (trace.end[op], number[op]))
    # How many of ``ends`` had finished at each launch. An operator of no length can end at the instant of its own
    # dispatch: of the ends of that instant only those of earlier launches count.
    needed = [
        bisect_left(ends, (trace.dispatch[op], position), key=lambda other: (trace.end[other], number[other]))
        for position, op in enumerate(trace.launch_order)
    ]
    done = bytearray(len(trace))
    finished, launched = 0, 0

    def policy(view: View) -> Iterable[Dispatch]:
        nonlocal finished, launched
        for op in view.newly_finished:
            done[op] = 1
        while finished < len(ends) and done[ends[finished]]:
            finished += 1
        chosen = []
        while launched < len(needed) and needed[launched] <= finished:
            op = trace.launch_order[launched]
            chosen.append(Dispatch(op, trace.stream[op], trace.reasons.get(op, "as recorded")))
            launched += 1
        return chosen

    return policy


def static_policy(schedule: Schedule) -> Policy:
    """Return a policy that dispatches everything at its first call, in the schedule's order of launches."""
    waiting = [Dispatch(op, stream, "as the schedule says") for op, stream in schedule.launches()]

    def policy(view: View) -> Iterable[Dispatch]:
        del view
        chosen = tuple(waiting)
        waiting.clear()
        return chosen

    return policy
