"""Follow a given schedule: a text file, a recorded run, or what another algorithm worked out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from simsched.errors import ConfigError, Fault
from simsched.problem import Problem
from simsched.schedule import Schedule, parse_schedule
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.trace import read_trace


@dataclass(frozen=True, slots=True)
class Follow:
    """Append all operators to their streams at time 0, in the given order.

    Parameters
    ----------
    schedule : Schedule, str or Path
        A schedule, or the path of a schedule text or of a recorded trace (``.json``).
    """

    schedule: Schedule | str | Path

    def start(self, problem: Problem) -> Policy:
        """Read the schedule for the problem.

        Raises
        ------
        ConfigError
            If the file cannot be read, or does not hold each operator of the problem exactly once.
        """
        schedule = self.schedule if isinstance(self.schedule, Schedule) else read_schedule(self.schedule, problem)
        return static_policy(schedule)


def read_schedule(path: str | Path, problem: Problem) -> Schedule:
    """Read a schedule text, or the schedule of a recorded trace (``.json``)."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), [Fault(f"cannot read the schedule: {error}")]) from error
    if path.suffix == ".json":
        return read_trace(text, problem, str(path)).schedule()
    return parse_schedule(text, problem, str(path))


def static_policy(schedule: Schedule) -> Policy:
    """Return a policy that dispatches everything at its first call.

    Operators are launched round-robin over the streams, position by position; on a device whose queue admits in
    launch order that is the order in which equally ready kernels compete.
    """
    waiting = [
        Dispatch(op, stream, "as the schedule says")
        for position in zip_longest(*([(op, stream) for op in ops] for stream, ops in sorted(schedule.streams.items())))
        for op, stream in filter(None, position)
    ]

    def policy(view: View) -> Iterable[Dispatch]:
        del view
        chosen = tuple(waiting)
        waiting.clear()
        return chosen

    return policy
