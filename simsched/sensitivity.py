"""Which operators and which figures of the hardware matter most for the makespan: change one at a time, run again.

Nothing is derived or guessed: every answer is a run. So an answer may be surprising, as schedules are: a faster
operator can make a run longer (Graham 1969, doi:10.1137/0117039).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from simsched.analysis.critical import realised_critical_path
from simsched.errors import InputError, SchedulerError, SimschedError
from simsched.graph.model import OpId
from simsched.result import Result
from simsched.units import format_duration
from simsched.whatif.answer import scheduler_of, simulated
from simsched.whatif.figures import Handle, Value, handles, with_value
from simsched.whatif.variant import Variant, actual_of, scaled, variant_of, with_hardware

if TYPE_CHECKING:
    from simsched.cost.base import CostModel
    from simsched.schedulers.base import Scheduler

FASTER = Fraction(9, 10)
FACTORS = (Fraction(11, 10), Fraction(2))
BUDGET = 200_000
"""Operators to simulate over all runs for operators: a graph of 1,000 operators gets 200 of them tried."""
FEWEST = 20
# Fractions of peaks are not hardware that one can buy; what a cache holds decides nothing yet.
_LEFT_OUT = ("efficiency.", "l2", "model", "host.mode", "link.sharing", "threads.")
_ONLY_COSTS = ("peaks.", "launch", "graph_launch")


@dataclass(frozen=True, slots=True)
class Probe:
    """One change to be tried.

    Attributes
    ----------
    kind : {"operator", "figure"}
    name : str
        Of the operator, or what the figure is called.
    op : int or None
    handle : Handle or None
    level : Fraction
        The factor of an operator's duration; of a figure how many times as good it becomes (latencies are divided).
    """

    kind: Literal["operator", "figure"]
    name: str
    op: OpId | None = None
    handle: Handle | None = None
    level: Fraction = FASTER


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does.

    Attributes
    ----------
    probe : Probe
    before, after : str
        The duration or the figure, in words.
    makespan : int or None
        ns; None where the changed run cannot be carried out.
    gain : int
        How much shorter the run is, in ns; negative where it is longer.
    saved : int
        For an operator, how much shorter it is, in ns.
    error : str
        Why there is no run.
    """

    probe: Probe
    before: str
    after: str
    makespan: int | None
    gain: int = 0
    saved: int = 0
    error: str = ""

    @property
    def leverage(self) -> float:
        """Shorter makespan for each ns that the operator is shorter: 1 where all of it counts, 0 where nothing does."""
        return self.gain / self.saved if self.saved else 0.0


def ranked_operators(result: Result) -> list[OpId]:
    """Operators that take time, in the order in which they are worth trying.

    Those on the realised critical path come first, the longest of them first; then the others, the longest first.
    """
    trace = result.trace
    path = frozenset(realised_critical_path(result.problem, trace))
    length = [end - start for start, end in zip(trace.start, trace.end, strict=True)]
    return sorted((op for op in range(len(trace)) if length[op]), key=lambda op: (op not in path, -length[op], op))


def operator_probes(result: Result, tries: int | None = None) -> list[Probe]:
    """Return what to try with operators: each of the first ``tries``, 10 % shorter.

    Parameters
    ----------
    result : Result
    tries : int, optional
        By default as many as 200,000 simulated operators allow, and at least 20.
    """
    ranked = ranked_operators(result)
    count = max(FEWEST, BUDGET // max(1, len(result.trace))) if tries is None else tries
    names = result.problem.graph.names
    return [Probe("operator", names[op], op=op) for op in ranked[:count]]


def figure_probes(result: Result) -> list[Probe]:
    """Return what to try with the hardware: each figure 1.1 and 2 times as good.

    Memory capacity only counts in runs that heed it, and the host only where it launches. Figures that are not known or
    have no limit, and latencies of 0, are left out.
    """
    probes = []
    free = result.problem.hardware.host.mode == "free"
    for handle in handles(result.problem.hardware):
        if handle.name.startswith(_LEFT_OUT) or isinstance(handle.value, str) or not handle.value:
            continue
        unheeded = handle.name == "memory_capacity" and result.memory == "unbounded"
        if not unheeded and not (free and handle.part == "host"):
            probes += [Probe("figure", handle.label, handle=handle, level=factor) for factor in FACTORS]
    return probes


def better(handle: Handle, factor: Fraction) -> Value:
    """Return a figure that is ``factor`` times as good; a whole number becomes larger by one at least.

    Examples
    --------
    >>> from simsched.hardware import lanes
    >>> (streams,) = [handle for handle in handles(lanes(4)) if handle.name == "streams"]
    >>> better(streams, Fraction(11, 10)), better(streams, Fraction(2))
    (5, 8)
    """
    value = handle.value
    assert isinstance(value, (int, float))
    if handle.kind.cost:
        return min(int(value) - 1, round(Fraction(value) / factor))
    if handle.kind.least is not None:
        return max(int(value) + 1, round(Fraction(value) * factor))
    return float(Fraction(value) * factor)


class Bench:
    """A run to be repeated with one thing changed.

    Parameters
    ----------
    base : Result
    scheduler : Scheduler or str, optional
        Where it cannot be made again from its name.
    cost_model : CostModel, optional
        That made the costs, where the roofline model did not.
    check : bool
        Whether the referee checks every run.
    """

    def __init__(
        self,
        base: Result,
        *,
        scheduler: Scheduler | str | None = None,
        cost_model: CostModel | None = None,
        check: bool = True,
    ) -> None:
        self._asked, self._model, self._check = scheduler, cost_model, check
        self.base = simulated(base.problem, scheduler_of(base, scheduler), base, base.actual, check=check)

    def effect(self, probe: Probe) -> Effect:
        """Make one change and run again."""
        if probe.op is not None:
            return self._operator(probe, probe.op)
        assert probe.handle is not None
        return self._figure(probe, probe.handle)

    def _operator(self, probe: Probe, op: OpId) -> Effect:
        """Shorten an operator, by a nanosecond (tick) at least."""
        problem = self.base.problem
        old = problem.shortest_durations()[op]
        if not old:  # it is estimated to take no time
            return Effect(probe, "0", "0", self.base.makespan)
        factor = min(probe.level, Fraction(old - 1, old))
        variant = scaled(variant_of(problem), {op: factor})
        new = variant.problem.shortest_durations()[op]
        unit = problem.graph.time_unit
        return self._run(probe, variant, format_duration(old, unit), format_duration(new, unit), saved=old - new)

    def _figure(self, probe: Probe, handle: Handle) -> Effect:
        value = better(handle, probe.level)
        before, after = handle.show(handle.value), handle.show(value)
        hardware = with_value(self.base.problem.hardware, handle, value)
        try:
            variant = with_hardware(variant_of(self.base.problem), hardware, self._model)
        except SimschedError as error:
            return Effect(probe, before, after, None, error=_line(error))
        if handle.name.startswith(_ONLY_COSTS) and variant.problem.costs == self.base.problem.costs:
            return Effect(probe, before, after, self.base.makespan)  # no operator depends on it
        return self._run(probe, variant, before, after)

    def _run(self, probe: Probe, variant: Variant, before: str, after: str, saved: int = 0) -> Effect:
        actual = actual_of(variant, self.base.problem, self.base.actual)
        try:
            named = scheduler_of(self.base, self._asked)
            run = simulated(variant.problem, named, self.base, actual, check=self._check)
        except (SchedulerError, InputError) as error:
            return Effect(probe, before, after, None, error=_line(error))
        return Effect(probe, before, after, run.makespan, self.base.makespan - run.makespan, saved)


def _line(error: SimschedError) -> str:
    return " ".join(str(error).split())


def effects(bench: Bench, probes: Iterable[Probe]) -> Iterator[Effect]:
    """Try changes one after the other; stop asking whenever enough is known."""
    return (bench.effect(probe) for probe in probes)


def most(found: Iterable[Effect], kind: Literal["operator", "figure"], count: int = 10) -> list[tuple[Effect, ...]]:
    """Return the operators or figures that matter most.

    Parameters
    ----------
    found : iterable of Effect
    kind : {"operator", "figure"}
    count : int

    Returns
    -------
    list of tuple of Effect
        For each of at most ``count`` names its effects, in the order in which they were tried; ordered by the largest
        change of the makespan, up or down; names without any effect are left out.
    """
    named: dict[str, list[Effect]] = {}
    for effect in found:
        if effect.probe.kind == kind and effect.makespan is not None:
            named.setdefault(effect.probe.name, []).append(effect)
    places = {name: place for place, name in enumerate(named)}
    ordered = sorted(named, key=lambda name: (-_largest(named[name]), places[name]))
    return [tuple(named[name]) for name in ordered[:count] if _largest(named[name])]


def _largest(found: Sequence[Effect]) -> int:
    return max((abs(effect.gain) for effect in found), default=0)


def sensitivity(
    result: Result,
    *,
    tries: int | None = None,
    scheduler: Scheduler | str | None = None,
    cost_model: CostModel | None = None,
    check: bool = True,
) -> list[Effect]:
    """Try every figure of the hardware and the most promising operators.

    Parameters
    ----------
    result : Result
    tries : int, optional
        How many operators; see :func:`operator_probes`.
    scheduler : Scheduler or str, optional
        Where it cannot be made again from its name.
    cost_model : CostModel, optional
        That made the costs, where the roofline model did not.
    check : bool
        Whether the referee checks every run.

    Returns
    -------
    list of Effect
        Figures first.

    Examples
    --------
    >>> from simsched import run
    >>> found = sensitivity(run("residual", "critical_path", "lanes:1"))
    >>> (streams, *_), *_ = most(found, "figure")
    >>> streams.before, streams.after, streams.gain
    ('1', '2', 1)
    """
    bench = Bench(result, scheduler=scheduler, cost_model=cost_model, check=check)
    return list(effects(bench, [*figure_probes(bench.base), *operator_probes(bench.base, tries)]))


def felt(effect: Effect, before: int) -> float:
    """Change of the makespan as a share of the old one; negative where the run becomes shorter.

    Parameters
    ----------
    effect : Effect
    before : int
        The old makespan in ns.
    """
    return -effect.gain / before if before else math.nan
