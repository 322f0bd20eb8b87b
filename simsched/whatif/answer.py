"""``whatif()``: the same run with something changed, and the two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from simsched.analysis.critical import realised_critical_path
from simsched.errors import ConfigError, Fault, SchedulerError, TraceError
from simsched.graph.model import OpId
from simsched.problem import MemoryMode, Problem
from simsched.result import Result
from simsched.units import format_duration, plural
from simsched.whatif.changes import Changes, exact
from simsched.whatif.figures import Edit, edited
from simsched.whatif.fusion import fused, without_edge
from simsched.whatif.variant import Variant, actual_of, matching, scaled, variant_of, with_hardware

if TYPE_CHECKING:
    from simsched.cost.base import CostModel
    from simsched.schedulers.base import Scheduler

DEFAULT_SCHEDULER = "critical_path"


@dataclass(frozen=True, slots=True)
class Move:
    """How one operator's times changed.

    Attributes
    ----------
    op : int
        In the new problem.
    before, after : (int, int)
        Start and end in ns; of a fused operator the first start and the last end of those that it stands for.
    """

    op: OpId
    before: tuple[int, int]
    after: tuple[int, int]

    @property
    def shift(self) -> int:
        """How much later it ends, in ns; negative where it ends earlier."""
        return self.after[1] - self.before[1]


@dataclass(frozen=True, eq=False)
class WhatIf:
    """A run and what becomes of it.

    Attributes
    ----------
    before, after : Result
    changes : Changes
    edits : tuple of Edit
        What was changed, one line each.
    origin : sequence of tuple of int
        For each operator of the new problem, those of the old one that it stands for.
    notes : tuple of str
        What a reader should know, e.g. that hardware figures do not change stated durations.
    """

    before: Result
    after: Result
    changes: Changes
    edits: tuple[Edit, ...]
    origin: Sequence[tuple[OpId, ...]]
    notes: tuple[str, ...] = ()

    @property
    def speedup(self) -> Fraction:
        """Old makespan over new one, exactly; 1 where both are 0."""
        old, new = self.before.makespan, self.after.makespan
        if not new:
            return Fraction(1 if not old else 0)
        return Fraction(old, new)

    @property
    def paths(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names along the realised critical path, of the old and of the new run."""
        old, new = (
            tuple(run.problem.graph.names[op] for op in realised_critical_path(run.problem, run.trace))
            for run in (self.before, self.after)
        )
        return old, new

    @property
    def path_changed(self) -> bool:
        """Whether other operators decide the end now; a fused operator counts as those that it stands for."""
        old, new = (realised_critical_path(run.problem, run.trace) for run in (self.before, self.after))
        return list(old) != [first for op in new for first in self.origin[op]]

    def moves(self) -> tuple[Move, ...]:
        """Return how the times of every operator changed, those whose end moved most first; ties by id."""
        old, new = self.before.trace, self.after.trace
        found = [
            Move(
                op, (min(old.start[one] for one in ops), max(old.end[one] for one in ops)), (new.start[op], new.end[op])
            )
            for op, ops in enumerate(self.origin)
        ]
        return tuple(sorted(found, key=lambda move: (-abs(move.shift), move.op)))


def whatif(
    base: Result | Problem,
    changes: Changes,
    *,
    scheduler: Scheduler | str | None = None,
    memory: MemoryMode = "unbounded",
    cost_model: CostModel | None = None,
    check: bool = True,
) -> WhatIf:
    """Simulate a run again with something changed.

    Both runs are simulated here, by the same engine, so that nothing but the changes tells them apart.

    Parameters
    ----------
    base : Result or Problem
        A run; or a problem, which is run first.
    changes : Changes
    scheduler : Scheduler or str, optional
        The scheduler of the old run: for a problem, ``critical_path`` by default; for a result, where it cannot be made
        again from its name. Both runs use it, unless the changes name another for the new one.
    memory : {"unbounded", "block", "strict"}
        For a problem; a result has its own.
    cost_model : CostModel, optional
        That made the costs, where the roofline model did not.
    check : bool
        Whether the referee checks both runs.

    Returns
    -------
    WhatIf

    Raises
    ------
    InputError, UnknownNameError, CostError
        If a change cannot be made.
    SchedulerError
        If a run cannot be carried out.
    TraceError
        If a run breaks a rule.

    Examples
    --------
    >>> from simsched import run
    >>> answer = whatif(run("residual", "critical_path", "lanes:1"), Changes(streams=2))
    >>> answer.before.makespan, answer.after.makespan, answer.speedup, answer.path_changed
    (7, 6, Fraction(7, 6), True)
    """
    if isinstance(base, Result):
        old = repeated(base, scheduler=scheduler, check=check)
    else:
        from simsched.run import run

        old = run(base, scheduler or DEFAULT_SCHEDULER, memory=memory, check=check)
    return changed(old, changes, scheduler=scheduler, cost_model=cost_model, check=check)


def changed(
    old: Result,
    changes: Changes,
    *,
    scheduler: Scheduler | str | None = None,
    cost_model: CostModel | None = None,
    check: bool = True,
) -> WhatIf:
    """Change a run that was made here and now: what :func:`whatif` does after it has repeated the old one."""
    new, edits, notes = apply(old.problem, changes, cost_model)
    named = _changed_scheduler(old, scheduler, changes, new)
    actual = actual_of(new, old.problem, old.actual)
    after = simulated(new.problem, named, old, actual, check=check)
    if changes.scheduler is not None:
        edits = (*edits, Edit("scheduler", old.label, after.label))
    return WhatIf(old, after, changes, edits, new.origin, notes)


def apply(
    problem: Problem, changes: Changes, cost_model: CostModel | None = None
) -> tuple[Variant, tuple[Edit, ...], tuple[str, ...]]:
    """Carry out changes of a problem: hardware first, then fusions, dropped edges, and scaling.

    Returns
    -------
    Variant
    tuple of Edit
        What was changed.
    tuple of str
        Notes.

    Raises
    ------
    InputError, UnknownNameError, CostError
        If a change cannot be made.
    """
    variant = variant_of(problem)
    edits: list[Edit] = []
    notes: list[str] = []
    if changes.settings:
        hardware, made = edited(problem.hardware, changes.settings)
        variant = with_hardware(variant, hardware, cost_model)
        edits += made
        notes += _hardware_notes(problem, made, variant.problem)
    for names in changes.fuse:
        graph, shortest = variant.problem.graph, variant.problem.shortest_durations()
        ops = sorted({graph.id_of(name) for name in names})
        variant = fused(variant, names)
        name = "+".join(graph.names[op] for op in ops)
        edits.append(_fusion_edit(variant, name, sum(shortest[op] for op in ops)))
    for source, target in changes.drop:
        variant = without_edge(variant, source, target)
        edits.append(Edit(f"{source} -> {target}", "waits", "does not wait"))
    if changes.scale:
        factors: dict[OpId, Fraction] = {}
        for pattern, written in changes.scale.items():
            factor = exact(pattern, written)
            ops = matching(variant.problem.graph, pattern)
            for op in ops:
                factors[op] = factors.get(op, Fraction(1)) * factor
            edits.append(_scale_edit(variant.problem, pattern, ops, factor))
        variant = scaled(variant, factors)
    return variant, tuple(edits), tuple(notes)


def simulated(
    problem: Problem,
    named: tuple[Scheduler, str],
    like: Result,
    actual: Sequence[Sequence[int]] | None,
    *,
    check: bool = True,
) -> Result:
    """Run a problem under the memory mode and the noise of another run.

    Raises
    ------
    SchedulerError, TraceError
        If it cannot be carried out, or breaks a rule.
    """
    from simsched.analysis.check import check_trace
    from simsched.engine.simulator import simulate
    from simsched.schedulers.registry import scheduler_spec
    from simsched.timing import Timed

    scheduler, written = named
    timed = Timed(scheduler, scheduler_spec(scheduler))
    trace = simulate(problem, timed, memory=like.memory, actual=actual)
    violations = tuple(check_trace(problem, trace, memory=like.memory, actual=actual)) if check else None
    if violations:
        raise TraceError(violations)
    return Result(
        problem, timed.name, trace, like.memory, actual, violations, timed.seconds, written, like.noise, like.seed
    )


def repeated(result: Result, *, scheduler: Scheduler | str | None = None, check: bool = True) -> Result:
    """Simulate a recorded run again.

    Raises
    ------
    ConfigError
        If it does not come out as it was recorded: then another version of simsched or of the scheduler made it.
    """
    again = simulated(result.problem, scheduler_of(result, scheduler), result, result.actual, check=check)
    if scheduler is None and again.makespan != result.makespan:
        unit = result.problem.graph.time_unit
        old, new = format_duration(result.makespan, unit), format_duration(again.makespan, unit)
        message = (
            f"{result.label} took {old} when it was recorded, and takes {new} now: another version of simsched, or of "
            "the scheduler, made it; record it again, or name its scheduler with --base to see what changes now"
        )
        raise ConfigError("the recorded run", [Fault(message)])
    return again


def scheduler_of(result: Result, scheduler: Scheduler | str | None = None) -> tuple[Scheduler, str]:
    """Make the scheduler of a run again, and say what it was called.

    A run that followed a schedule is followed again from what it recorded.

    Raises
    ------
    SchedulerError, UnknownNameError
        If it cannot be made from its name.
    """
    from simsched.schedulers.follow import Follow
    from simsched.schedulers.registry import make_scheduler

    if scheduler is not None and not isinstance(scheduler, str):
        return scheduler, result.label
    spec = scheduler or result.written or result.scheduler
    if spec.partition(":")[0].partition("(")[0] == "follow":
        return Follow(result.trace), spec
    return make_scheduler(spec), spec


def _changed_scheduler(
    old: Result, scheduler: Scheduler | str | None, changes: Changes, new: Variant
) -> tuple[Scheduler, str]:
    from simsched.schedulers.follow import Follow
    from simsched.schedulers.registry import make_scheduler

    if changes.scheduler is not None:
        return make_scheduler(changes.scheduler), changes.scheduler
    made, written = scheduler_of(old, scheduler)
    same = new.problem.graph.names == old.problem.graph.names and new.problem.stream_names == old.problem.stream_names
    if isinstance(made, Follow) and not same:
        raise SchedulerError(
            "the run followed a schedule, which says nothing about other operators or streams; name a scheduler for "
            "the new run with --scheduler"
        )
    return made, written


def _hardware_notes(problem: Problem, edits: Sequence[Edit], changed: Problem) -> list[str]:
    """Say so where durations stay although a figure changed on which the cost model's durations depend."""
    stated = len(problem.graph) - len(problem.graph.without_duration)
    same = all(changed.durations(device) == problem.durations(device) for device in range(len(problem.devices)))
    words = ("bandwidth", "peaks.", "launch", "efficiency.", "sms")
    if stated and same and any(word in edit.what for edit in edits for word in words if "link" not in edit.what):
        graph = "the graph states" if stated == len(problem.graph) else f"the graph states {stated} of"
        return [
            f"{graph} the operators' durations, which hardware figures do not change; they change only what is shared"
        ]
    return []


def _fusion_edit(variant: Variant, name: str, parts: int) -> Edit:
    """Say how long the parts take one after the other, and the kernel."""
    graph = variant.problem.graph
    now = variant.problem.shortest_durations()[graph.index[name]]
    return Edit(name, format_duration(parts, graph.time_unit), f"{format_duration(now, graph.time_unit)}, one kernel")


def _scale_edit(problem: Problem, pattern: str, ops: Sequence[OpId], factor: Fraction) -> Edit:
    graph, shortest = problem.graph, problem.shortest_durations()
    before = sum(shortest[op] for op in ops)
    after = sum(round(shortest[op] * factor) for op in ops)
    what = pattern if len(ops) == 1 else f"{pattern} ({plural(len(ops), 'operator')})"
    return Edit(what, format_duration(before, graph.time_unit), format_duration(after, graph.time_unit))
