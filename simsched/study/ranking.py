"""Rankings of schedulers over many graphs, and which of their differences would survive another draw of graphs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from simsched.study.bootstrap import Interval, intervals
from simsched.study.cases import Case

FEWEST = 6
"""Graphs below which no difference is called real: even if all agreed, so would five coins once in sixteen throws."""
ONES = "one of its kind"


@dataclass(frozen=True, slots=True)
class Standing:
    """One scheduler in a ranking.

    Attributes
    ----------
    scheduler : str
    rank : Interval
        Mean rank, 1 for the shortest makespan, ties sharing the mean of their places; failures come last. NaN limits
        where there is one unit only.
    wins, alone : int
        Cases in which no makespan is shorter; and in which, moreover, no other is as short.
    best, mean, worst : float
        Gap to the best lower bound known: makespan over it, less 1. NaN where every run failed.
    failed : int
    seconds : float or None
        Mean wall time of the scheduler, where it is known.
    """

    scheduler: str
    rank: Interval
    wins: int
    alone: int
    best: float
    mean: float
    worst: float
    failed: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two schedulers, the better-ranked first.

    Attributes
    ----------
    first, second : str
    more : Interval
        By how much longer the second takes, as a share (geometric mean over graphs, each the mean of its cases).
        The limits hold for all pairs of a ranking together, at 95 %.
    real : bool
        Whether the limits lie on the same side of 0, and there are enough units to say so.
    """

    first: str
    second: str
    more: Interval
    real: bool


@dataclass(frozen=True)
class Ranking:
    """Schedulers over cases, the best mean rank first.

    Attributes
    ----------
    title : str
    standings : tuple of Standing
    pairs : tuple of Pair
        All of them.
    cases, units : int
        Problems: graphs with hardware, settings and seeds; and graphs.
    known : int
        Cases whose best makespan equals the lower bound, and so is the optimum.
    """

    title: str
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    cases: int
    units: int
    known: int

    def pair(self, first: str, second: str) -> Pair:
        """Return the pair of two schedulers, in whatever order they are ranked."""
        return next(pair for pair in self.pairs if {pair.first, pair.second} == {first, second})

    def against_first(self) -> list[Pair]:
        """Return the best-ranked scheduler with each of the others."""
        return [pair for pair in self.pairs if pair.first == self.standings[0].scheduler]


def rank(
    schedulers: Sequence[str], cases: Sequence[Case], *, title: str = "", seed: int = 0, resamples: int = 2000
) -> Ranking:
    """Rank schedulers.

    Parameters
    ----------
    schedulers : sequence of str
    cases : sequence of Case
        At least one.
    title : str
    seed, resamples : int
        Of the bootstrap.

    Notes
    -----
    Other seeds of noise, other hardware make no new graph, so that the cases of a graph are averaged first. Then graphs
    are drawn again within each family of generated ones; those that are one of their kind form one more family.
    """
    units: dict[str, list[Case]] = {}
    for case in cases:
        units.setdefault(case.unit, []).append(case)
    strata = [group[0].family or ONES for group in units.values()]
    mean_ranks = [_means([ranks(case.makespans) for case in group]) for group in units.values()]
    found = intervals(mean_ranks, strata, seed=seed, resamples=resamples)
    if len(units) == 1:
        found = [Interval(each.mean, math.nan, math.nan) for each in found]
    standings = [_standing(number, name, cases, found[number]) for number, name in enumerate(schedulers)]
    order = sorted(range(len(schedulers)), key=lambda number: (found[number].mean, number))
    pairs = _pairs(schedulers, order, list(units.values()), strata, seed, resamples)
    known = sum(case.shortest == case.bound for case in cases)
    return Ranking(title, tuple(standings[number] for number in order), pairs, len(cases), len(units), known)


def ranks(makespans: Sequence[int | None]) -> list[float]:
    """Return ranks from 1 on; equal ones share the mean of their places, and None comes last.

    Examples
    --------
    >>> ranks([7, 5, None, 5])
    [3.0, 1.5, 4.0, 1.5]
    """
    values = [math.inf if makespan is None else makespan for makespan in makespans]
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    """Mean of each column over what is known; NaN where nothing is."""
    return [_mean([value for value in column if not math.isnan(value)]) for column in zip(*rows, strict=True)]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _standing(number: int, name: str, cases: Sequence[Case], found: Interval) -> Standing:
    ran = [(case, makespan) for case in cases if (makespan := case.makespans[number]) is not None]
    gaps = [makespan / case.bound - 1.0 if case.bound else 0.0 for case, makespan in ran]
    wins = [case for case, makespan in ran if makespan == case.shortest]
    seconds = [case.seconds[number] for case in cases if case.seconds]
    return Standing(
        name,
        found,
        len(wins),
        sum(case.makespans.count(case.shortest) == 1 for case in wins),
        min(gaps, default=math.nan),
        _mean(gaps),
        max(gaps, default=math.nan),
        len(cases) - len(ran),
        _mean(seconds) if seconds else None,
    )


def _pairs(
    schedulers: Sequence[str],
    order: Sequence[int],
    units: Sequence[Sequence[Case]],
    strata: Sequence[str],
    seed: int,
    resamples: int,
) -> tuple[Pair, ...]:
    wanted = list(combinations(order, 2))
    if not wanted:
        return ()
    logs = [_means([[_log_ratio(case, one, other) for one, other in wanted] for case in unit]) for unit in units]
    found = intervals(logs, strata, seed=seed, resamples=resamples, together=True)
    return tuple(
        Pair(
            schedulers[one],
            schedulers[other],
            Interval(*(math.expm1(limit) for limit in each)),
            len(units) >= FEWEST and (each.low > 0.0 or each.high < 0.0),
        )
        for (one, other), each in zip(wanted, found, strict=True)
    )


def _log_ratio(case: Case, one: int, other: int) -> float:
    """Logarithm of the second makespan over the first; NaN where either failed."""
    first, second = case.makespans[one], case.makespans[other]
    if first is None or second is None:
        return math.nan
    return math.log(second / first) if first and second else 0.0
