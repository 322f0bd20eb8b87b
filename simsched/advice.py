"""How many streams: the makespan against their number, what limits it at each, and from where on more of them hurt.

Everything is read from the runs. Two kinds of figures say why:

* *pressures*: for each limit the time that it alone would need (a lower bound, or work over capacity) as a share of the
  makespan; a share of 1 means that the limit is reached and nothing but more of it can help;
* the *account*: where the makespan went along the chain of dependencies to the last end, by reason
  (:mod:`simsched.analysis.explain`). The rows of two runs add up to their makespans, so that the differences of the
  rows are, exactly, the difference of the runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from simsched.analysis.account import SHORT_OF, WORK, account
from simsched.analysis.breakdown import dependency_chain
from simsched.analysis.explain import Explanation
from simsched.analysis.metrics import Metrics, metrics
from simsched.errors import SchedulerError
from simsched.graph.ranks import b_level
from simsched.problem import Problem
from simsched.result import Result

if TYPE_CHECKING:
    from simsched.schedulers.base import Scheduler

REACHED = 0.9
"""From which share of the makespan on a limit counts as reached."""
ENOUGH = Fraction(1, 100)
"""A gain below this share is not worth another stream; a loss below it is no harm."""
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16)
# Waits in which others are ahead; of copies and events the culprit is the predecessor, which is behind nobody.
_BEHIND = frozenset(
    ("no_stream", "passed_over", "stream", "resource", "room", "queue", "priority", "memory", "host")
)  # fmt: skip
_ORDER = frozenset((WORK, "no_stream", "held", "idle", "unknown", "queue", "stream"))


@dataclass(frozen=True, slots=True)
class Pressure:
    """One limit of a run.

    Attributes
    ----------
    name : str
        ``critical_path``, ``streams``, ``sms``, another resource, ``bandwidth``, ``host``; behind the name of the
        device where there are several.
    share : float
        Time that the limit alone would need, as a share of the makespan.
    """

    name: str
    share: float


@dataclass(frozen=True, eq=False)
class Point:
    """The run on one number of streams.

    Attributes
    ----------
    streams : int
        Of each device.
    result : Result or None
        None where the run cannot be carried out.
    error : str
        Why.
    """

    streams: int
    result: Result | None
    error: str = ""

    @property
    def makespan(self) -> int | None:
        """In ns."""
        return None if self.result is None else self.result.makespan

    @cached_property
    def figures(self) -> Metrics:
        """The figures of the run."""
        assert self.result is not None
        return metrics(self.result)

    @cached_property
    def story(self) -> Explanation:
        """The reasons of the run."""
        assert self.result is not None
        return Explanation(self.result)

    @cached_property
    def account(self) -> Mapping[str, int]:
        """Where the makespan went along the chain to the last end, in ns by reason; the values add up to it."""
        return account(self.story)

    @cached_property
    def pressures(self) -> tuple[Pressure, ...]:
        """The limits of the run, the nearest first."""
        assert self.result is not None
        found = list(_pressures(self.result, self.figures))
        return tuple(sorted(found, key=lambda pressure: -pressure.share))

    @property
    def sm_use(self) -> float | None:
        """Share of the SMs x makespan in use, of the device where it is largest; None where there are no SMs."""
        return max((each.share for each in self.pressures if each.name.rpartition("/")[2] == "sms"), default=None)

    @cached_property
    def at_once(self) -> int:
        """Most operators that ran or were ready at one instant: no more streams can ever be of use to this run."""
        assert self.result is not None
        trace = self.result.trace
        steps: dict[int, int] = {}
        for ready, start, end in zip(trace.ready, trace.start, trace.end, strict=True):
            if end > start:
                steps[ready] = steps.get(ready, 0) + 1
                steps[end] = steps.get(end, 0) - 1
        most = now = 0
        for time in sorted(steps):
            now += steps[time]
            most = max(most, now)
        return most

    @cached_property
    def limit(self) -> str:
        """Name of what keeps the run from being shorter.

        A limit that is reached (a pressure of at least 0.9), the nearest first; streams, of which there could be more,
        only where no other limit is. Where none is reached, the reason for which the chain to the last end waited or
        lost most; where it did neither, ``critical_path``: it ran all the time.
        """
        reached = [pressure.name for pressure in self.pressures if pressure.share >= REACHED]
        if reached:
            return next((name for name in reached if name.rpartition("/")[2] != "streams"), reached[0])
        lost = {reason: time for reason, time in self.account.items() if reason != WORK}
        return max(lost, key=lambda reason: lost[reason]) if lost else "critical_path"

    @cached_property
    def inverted(self) -> int:
        """Time in ns that the chain to the last end waited behind operators that are less urgent.

        Less urgent is what has a shorter path of durations to the end of the graph. Who was waited for is what the
        explanation names as culprit or as holder.
        """
        assert self.result is not None
        problem = self.result.problem
        level = b_level(problem.graph, problem.shortest_durations(self.result.actual))
        total = 0
        for op in dependency_chain(self.story):
            for part in self.story.waits(op):
                if part.reason not in _BEHIND:
                    continue
                ahead = [part.culprit] if part.culprit is not None else [held for held, _ in self.story.holders(part)]
                if ahead and all(level[other] < level[op] for other in ahead):
                    total += part.length
        return total


def _pressures(result: Result, figures: Metrics) -> Iterator[Pressure]:
    problem, span = result.problem, result.makespan
    if not span:
        return
    yield Pressure("critical_path", figures.critical_path / span)
    several = len(problem.devices) > 1
    for number, device in enumerate(problem.devices):
        before = f"{device.name}/" if several else ""
        streams = [stream for stream in figures.streams if problem.stream_device[stream.stream] == number]
        yield Pressure(f"{before}streams", sum(stream.busy for stream in streams) / (len(streams) * span))
        for use in figures.resources:
            if use.device == device.name:
                yield Pressure(f"{before}{use.resource}", use.utilisation)
        moved = sum(
            problem.cost(op, number).bytes
            for op, stream in enumerate(result.trace.stream)
            if problem.stream_device[stream] == number
        )
        if moved and device.memory_bandwidth is not None and device.model != "lanes":
            rate = device.memory_bandwidth * device.efficiency.bandwidth
            yield Pressure(f"{before}bandwidth", moved * 1e9 / rate / span)
    yield from _host_pressure(result)


def _host_pressure(result: Result) -> Iterator[Pressure]:
    """How busy the busiest launching thread of the host is."""
    host, span = result.problem.hardware.host, result.makespan
    if host.mode != "serial":
        return
    launches = [0] * host.threads
    for stream in result.trace.stream:
        launches[stream % host.threads] += 1
    yield Pressure("host", max(launches) * host.launch_ns / span)


@dataclass(frozen=True, eq=False)
class Advice:
    """What is known about numbers of streams.

    Attributes
    ----------
    points : tuple of Point
        In ascending order of streams, the first with one stream.
    """

    points: tuple[Point, ...]

    @cached_property
    def done(self) -> tuple[Point, ...]:
        """Points whose run could be carried out."""
        return tuple(point for point in self.points if point.result is not None)

    @cached_property
    def best(self) -> Point:
        """The point that is recommended: the fewest streams whose makespan is within 1 % of the shortest."""
        shortest = min(_span(point) for point in self.done)
        return next(point for point in self.done if _span(point) <= shortest * (1 + ENOUGH))

    @cached_property
    def next(self) -> Point | None:
        """The point after the recommended one."""
        return next((point for point in self.done if point.streams > self.best.streams), None)

    @cached_property
    def harmful(self) -> Point | None:
        """The first point after the recommended one whose run is more than 1 % longer; None where there is none."""
        after = (point for point in self.done if point.streams > self.best.streams)
        return next((point for point in after if _span(point) > _span(self.best) * (1 + ENOUGH)), None)

    @cached_property
    def worst(self) -> Point | None:
        """Of the points from the harmful one on, the one with the longest run."""
        if self.harmful is None:
            return None
        after = [point for point in self.done if point.streams >= self.harmful.streams]
        return max(after, key=lambda point: (_span(point), -point.streams))

    def speedup(self, point: Point) -> float:
        """How many times as fast as one stream, or as the fewest streams that can be carried out."""
        span = _span(point)
        return _span(self.done[0]) / span if span else 1.0

    def differences(self, point: Point) -> tuple[tuple[str, int], ...]:
        """Return by how much a point's account differs from that of the recommended one.

        Returns
        -------
        tuple of (str, int)
            Reason and ns, the largest increase first; they add up to the difference of the makespans. Reasons without a
            difference are left out.
        """
        here, there = point.account, self.best.account
        found = [(reason, here.get(reason, 0) - there.get(reason, 0)) for reason in dict.fromkeys([*here, *there])]
        changed = (pair for pair in found if pair[1])
        return tuple(sorted(changed, key=lambda pair: (-pair[1], pair[0] == WORK, pair[0])))

    def cause(self, point: Point) -> str:
        """Name the likely cause of a longer run: the reason whose row grew most.

        Where that is ``work`` (the chain to the last end has other operators, none of them slower) or a wait that the
        policy decides, it is the order that differs: ``order`` (Graham's anomaly). Where the chain waited longer than
        before behind less urgent operators, for at least half of the loss: ``inversion``.
        """
        rows = self.differences(point)
        reason, grown = rows[0] if rows else ("", 0)
        if grown <= 0:
            return ""
        loss = _span(point) - _span(self.best)
        waits = reason in _ORDER or reason.startswith(SHORT_OF)
        if waits and 2 * (point.inverted - self.best.inverted) >= loss > 0:
            return "inversion"
        return "order" if reason in _ORDER - {"queue", "stream"} else reason


def _span(point: Point) -> int:
    assert point.result is not None
    return point.result.makespan


def stream_counts(most: int) -> list[int]:
    """Numbers of streams to try: 1, 2, 3, 4, 6, 8, 12, 16, 24, ... and the largest.

    Examples
    --------
    >>> stream_counts(8), stream_counts(5), stream_counts(40)
    ([1, 2, 3, 4, 6, 8], [1, 2, 3, 4, 5], [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40])
    """
    counts = [1, 2, 3]
    power = 4
    while power <= most:
        counts += [power, power + power // 2]
        power *= 2
    return sorted({count for count in counts if count < most} | {most})


def measured(
    problem: Problem, scheduler: Scheduler | str, counts: Iterable[int] = COUNTS, **options: object
) -> Iterator[Point]:
    """Run a problem on several numbers of streams, one after the other; stop asking whenever enough is known.

    Parameters
    ----------
    problem : Problem
        Its own number of streams does not matter.
    scheduler : Scheduler or str
    counts : iterable of int
        Streams of each device.
    options
        Those of :func:`simsched.run.run`: ``memory``, ``noise``, ``seed``, ``check``.

    Yields
    ------
    Point
        In ascending order of streams.

    Raises
    ------
    ConfigError
        If a number is not from 1 to 100,000.
    TraceError
        If a run breaks a rule.
    """
    from simsched.run import run
    from simsched.whatif.answer import apply
    from simsched.whatif.changes import Changes

    for count in sorted(dict.fromkeys(counts)):
        variant, _, _ = apply(problem, Changes(streams=count))
        try:
            yield Point(count, run(variant.problem, scheduler, **options))  # type: ignore[arg-type]
        except SchedulerError as error:
            yield Point(count, None, f"{type(error).__name__}: {error}")


def advise(problem: Problem, scheduler: Scheduler | str, counts: Iterable[int] = COUNTS, **options: object) -> Advice:
    """Run a problem on several numbers of streams; see :func:`measured` for the parameters.

    Raises
    ------
    SchedulerError
        If none of the runs can be carried out.

    Examples
    --------
    >>> from simsched import load_graph, load_hardware, make_problem
    >>> found = advise(make_problem(load_graph("residual"), load_hardware("lanes:1")), "critical_path", (1, 2, 3))
    >>> found.best.streams, [point.makespan for point in found.points], found.best.limit
    (2, [7, 6, 6], 'critical_path')
    """
    return advice_of(measured(problem, scheduler, counts, **options))


def advice_of(points: Iterable[Point]) -> Advice:
    """Gather points.

    Raises
    ------
    SchedulerError
        If there is none whose run could be carried out.
    """
    gathered = tuple(points)
    if all(point.result is None for point in gathered):
        raise SchedulerError(gathered[0].error if gathered else "no number of streams was tried")
    return Advice(gathered)
