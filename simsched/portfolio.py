"""Portfolio: try many schedulers on the estimates, and run the one that does best here.

No scheduler is best on every graph and every device, so whoever has the time tries several (J. R. Rice, "The algorithm
selection problem", Advances in Computers 15, 1976, doi:10.1016/S0065-2458(08)60520-3; B. A. Huberman, R. M. Lukose, T.
Hogg, "An economics approach to hard computational problems", Science 275, 1997, doi:10.1126/science.275.5296.51). Each
is simulated, not only planned: what sharing, copies, launches and queues do to a plan counts. Simulating is why this
scheduler is none of :mod:`simsched.schedulers`, which do not know the engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError, SimschedError, UnknownNameError
from simsched.problem import MemoryMode, Problem
from simsched.schedulers.base import Policy, Scheduler, View
from simsched.schedulers.registry import make_scheduler
from simsched.timing import Timed

MEMBERS = (
    "critical_path+greedy_ready+greedy_ready:lft+greedy_ready:lpt+memory_aware+pipeline"
    "+heft+peft+cpop+mcp+min_min+max_min+sgs+sgs(scheme=parallel)+anytime(schedules=100)"
)
"""What is tried unless one says otherwise: the quick ones and a short search."""


class Trial(NamedTuple):
    """What became of one member.

    Attributes
    ----------
    spec : str
    makespan : int or None
        ns, on the estimates; None where its run could not be carried out.
    failure : str
        Why not.
    """

    spec: str
    makespan: int | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Portfolio:
    """The best of several schedulers for this graph, this hardware and the estimated durations.

    Every member is simulated on the estimates, and the one with the shortest makespan is run, of equal ones the first.
    It starts anew for the run itself: with other durations, one that reacts still reacts. So its planning is paid for
    twice. Where a run limits memory, members are tried with starts that wait for memory (mode ``block``), and those
    that come to a dead end are passed over.

    Parameters
    ----------
    members : str
        Specs with ``+`` between them.

    Raises
    ------
    SchedulerError, UnknownNameError
        If a member cannot be made.
    """

    members: str = MEMBERS

    def __post_init__(self) -> None:
        self._made()

    def _made(self) -> list[tuple[str, Scheduler]]:
        specs = split_members(self.members)
        if not specs:
            raise SchedulerError("portfolio: members is empty; write for example 'heft+critical_path'")
        return [(spec, make_scheduler(spec)) for spec in specs]

    def start(self, problem: Problem) -> Policy:
        """Return a policy that chooses when it is first asked: only then is it known whether memory is limited."""
        return Choosing(self, problem)

    def trials(self, problem: Problem, memory: MemoryMode = "unbounded") -> list[Trial]:
        """Simulate every member on the estimates.

        Parameters
        ----------
        problem : Problem
        memory : {"unbounded", "block", "strict"}
        """
        return [_tried(problem, spec, scheduler, memory) for spec, scheduler in self._made()]

    def choose(self, problem: Problem, memory: MemoryMode = "unbounded") -> Trial:
        """Return the best member.

        Raises
        ------
        SchedulerError
            If none can be carried out.
        """
        trials = self.trials(problem, memory)
        able = [(trial.makespan, number) for number, trial in enumerate(trials) if trial.makespan is not None]
        if not able:
            failures = "; ".join(f"{trial.spec}: {trial.failure}" for trial in trials)
            raise SchedulerError(f"portfolio: no member can be carried out ({failures})")
        return trials[min(able)[1]]


class Choosing:
    """A policy that chooses a member at its first call and is that member's policy from then on.

    Parameters
    ----------
    portfolio : Portfolio
    problem : Problem

    Attributes
    ----------
    chosen : Trial or None
        None before the first call.
    """

    def __init__(self, portfolio: Portfolio, problem: Problem) -> None:
        self.chosen: Trial | None = None
        self._portfolio = portfolio
        self._problem = problem
        self._policy: Policy | None = None

    def __call__(self, view: View) -> Iterable[tuple[int, int, str]]:
        """Dispatch what the chosen member dispatches."""
        if self._policy is None:
            limited = any(view.free_bytes(device) is not None for device in range(len(self._problem.devices)))
            self.chosen = self._portfolio.choose(self._problem, "block" if limited else "unbounded")
            self._policy = make_scheduler(self.chosen.spec).start(self._problem)
        return self._policy(view)


def _tried(problem: Problem, spec: str, scheduler: Scheduler, memory: MemoryMode) -> Trial:
    try:
        return Trial(spec, simulate(problem, Timed(scheduler, spec), memory=memory).makespan)
    except UnknownNameError:
        raise
    except SimschedError as error:
        return Trial(spec, None, str(error))


def split_members(text: str) -> list[str]:
    """Split specs at ``+``, leaving those inside parentheses alone.

    Examples
    --------
    >>> split_members("heft + anytime(schedules=50) + portfolio(members=etf+dls)")
    ['heft', 'anytime(schedules=50)', 'portfolio(members=etf+dls)']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
