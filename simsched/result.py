"""Result: one run with everything needed to judge it: problem, scheduler, trace, provenance.

Metrics are functions of a result; nobody asks the engine afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from simsched.display import notebook_html
from simsched.problem import MemoryMode, Problem
from simsched.schedulers.proof import Proof
from simsched.trace import Trace

if TYPE_CHECKING:
    from simsched.analysis.bounds import Bound


@dataclass(frozen=True, eq=False)
class Result:
    """One run.

    Attributes
    ----------
    problem : Problem
    scheduler : str
        Canonical spec, e.g. ``"greedy_ready(rule=spt)"``.
    trace : Trace
    memory : {"unbounded", "block", "strict"}
    actual : sequence of sequence of int or None
        Actual durations per device where they differ from the problem's estimates.
    violations : tuple of str or None
        The referee's findings; empty means valid, None that it was switched off.
    scheduler_seconds : float
        Wall time spent in the scheduler (not deterministic, kept out of compared outputs).
    written : str
        The spec as the user wrote it; empty where an object was passed.
    noise : str
        Spec of the noise that made ``actual``, or empty.
    seed : int
        Seed of the noise.
    proved : Proof or None
        What the scheduler has proved of all runs of the problem in this memory mode; None where it proves nothing, or
        where durations are not the estimated ones, of which it proved it.
    """

    problem: Problem
    scheduler: str
    trace: Trace
    memory: MemoryMode = "unbounded"
    actual: Sequence[Sequence[int]] | None = None
    violations: tuple[str, ...] | None = None
    scheduler_seconds: float = 0.0
    written: str = ""
    noise: str = ""
    seed: int = 0
    proved: Proof | None = None

    @property
    def label(self) -> str:
        """What the run is called in tables and pictures: the spec as written, or the canonical one."""
        return self.written or self.scheduler

    @property
    def makespan(self) -> int:
        """Last end in ns (ticks for graphs in ticks)."""
        return self.trace.makespan

    @property
    def proved_ns(self) -> int | None:
        """The lower bound that the scheduler has proved, in ns."""
        return None if self.proved is None else self.proved.bound

    @property
    def valid(self) -> bool | None:
        """The referee's word; None when it was switched off."""
        return None if self.violations is None else not self.violations

    def _repr_html_(self) -> str:
        """Show the run as a page in notebooks."""
        return notebook_html(self)


class Failure(NamedTuple):
    """A run that could not be carried out.

    Attributes
    ----------
    scheduler : str
        Spec as written, or the canonical one.
    message : str
        The kind of error and what it says.
    """

    scheduler: str
    message: str

    @property
    def label(self) -> str:
        """What the run is called in tables, as that of a :class:`Result`."""
        return self.scheduler


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several runs of one problem, in the order in which the schedulers were named.

    Attributes
    ----------
    problem : Problem
    results : tuple of Result
    failures : tuple of Failure
        Runs that could not be carried out.
    memory : {"unbounded", "block", "strict"}
    actual : sequence of sequence of int or None
        Actual durations of all runs, where they differ from the estimates.
    order : tuple of str
        Labels of all runs, failures among them, as they were named; empty where nobody named them.
    """

    problem: Problem
    results: tuple[Result, ...]
    failures: tuple[Failure, ...] = ()
    memory: MemoryMode = "unbounded"
    actual: Sequence[Sequence[int]] | None = None
    order: tuple[str, ...] = ()

    def runs(self) -> Iterator[Result | Failure]:
        """Results and failures, in the order in which their schedulers were named."""
        waiting: list[Result | Failure] = [*self.results, *self.failures]
        for label in self.order:
            found = next((item for item in waiting if item.label == label), None)
            if found is not None:
                waiting.remove(found)
                yield found
        yield from waiting

    @property
    def proved_ns(self) -> int | None:
        """The largest lower bound that any of the schedulers has proved, in ns; None where none has."""
        return max((run.proved_ns for run in self.results if run.proved_ns is not None), default=None)

    def bounds(self) -> tuple[Bound, ...]:
        """Every bound of the runs, what their schedulers have proved included."""
        from simsched.analysis.bounds import bounds

        return bounds(self.problem, actual=self.actual, memory=self.memory, proved=self.proved_ns)

    @property
    def valid(self) -> bool:
        """Whether every run was carried out and none breaks a rule."""
        return not self.failures and all(result.valid is not False for result in self.results)

    def _repr_html_(self) -> str:
        """Show the runs as a page in notebooks."""
        return notebook_html(self)
