"""Whether a ranking survives other circumstances: what becomes of its real differences."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.study.ranking import Pair, Ranking


@dataclass(frozen=True, slots=True)
class Survival:
    """The real differences of one ranking in another one.

    Attributes
    ----------
    title : str
        Of the other ranking.
    kept, faded, turned : tuple of Pair
        As they are in the other ranking: real in the same direction; no longer real; real in the other direction.
    agreement : float
        Kendall's tau-b of the mean ranks: 1 for the same order, -1 for the opposite one (M. Kendall, Biometrika 30,
        1938, doi:10.1093/biomet/30.1-2.81).
    """

    title: str
    kept: tuple[Pair, ...]
    faded: tuple[Pair, ...]
    turned: tuple[Pair, ...]
    agreement: float


def survival(before: Ranking, after: Ranking) -> Survival:
    """Say what becomes of the real differences of ``before`` in ``after``, which has the same schedulers."""
    kept: list[Pair] = []
    faded: list[Pair] = []
    turned: list[Pair] = []
    for pair in before.pairs:
        if not pair.real:
            continue
        other = after.pair(pair.first, pair.second)
        # In a pair the first is the better-ranked one, which need not be the one that takes less.
        same = (pair.more.mean > 0) == ((other.more.mean > 0) == (other.first == pair.first))
        (faded if not other.real else kept if same else turned).append(other)
    return Survival(after.title, tuple(kept), tuple(faded), tuple(turned), agreement(before, after))


def agreement(before: Ranking, after: Ranking) -> float:
    """Return Kendall's tau-b of two rankings' mean ranks, 1 where one of them has nothing but ties."""
    second = {standing.scheduler: standing.rank.mean for standing in after.standings}
    pairs = [(standing.rank.mean, second[standing.scheduler]) for standing in before.standings]
    score = firsts = seconds = 0
    for number, (one, other) in enumerate(pairs):
        for one_more, other_more in pairs[number + 1 :]:
            first, then = _sign(one - one_more), _sign(other - other_more)
            score += first * then
            firsts += abs(first)
            seconds += abs(then)
    return score / (firsts * seconds) ** 0.5 if firsts and seconds else 1.0


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
