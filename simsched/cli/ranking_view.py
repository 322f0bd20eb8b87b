"""Rankings as people and machines read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from simsched.cli import console
from simsched.output.tables import Table
from simsched.study.ranking import FEWEST, Pair, Ranking, Standing, rank
from simsched.units import format_duration, plural

if TYPE_CHECKING:
    from simsched.result import Comparison
    from simsched.study.survival import Survival


def show_ranking(ranking: Ranking) -> None:
    """Print one ranking: how much there is, the table, and which differences are real."""
    console.say(f"{ranking.title}: {_extent(ranking)}" if ranking.title else _extent(ranking))
    console.say()
    console.show(standings_table(ranking))
    if len(ranking.standings) > 1:
        console.say()
        _show_differences(ranking)


def _extent(ranking: Ranking) -> str:
    seeds = f", {ranking.cases} runs of each scheduler" if ranking.cases != ranking.units else ""
    known = f"the optimum is known in {ranking.known} of {ranking.cases} cases"
    if ranking.known in (0, ranking.cases):
        known = "every optimum is known" if ranking.known else "no optimum is known"
    return f"{plural(ranking.units, 'graph')}{seeds}; {known}."


def standings_table(ranking: Ranking) -> Table:
    """Return the table of a ranking; gaps are to the best lower bound known."""
    timed = any(standing.seconds is not None for standing in ranking.standings)
    failed = any(standing.failed for standing in ranking.standings)
    heads = ("scheduler", ">rank", ">95 %", ">wins", ">alone", ">best gap", ">mean", ">worst")
    extra = ((">own time",) if timed else ()) + ((">failed",) if failed else ())
    rows = [_row(standing, timed, failed) for standing in ranking.standings]
    return Table((*heads, *extra), rows)


def _row(standing: Standing, timed: bool, failed: bool) -> tuple[str, ...]:
    place = standing.rank
    limits = "-" if math.isnan(place.low) else f"{place.low:.2f}-{place.high:.2f}"
    took = (format_duration((standing.seconds or 0.0) * 1e9),) if timed else ()
    return (
        standing.scheduler,
        f"{place.mean:.2f}",
        limits,
        str(standing.wins),
        str(standing.alone),
        percent(standing.best),
        percent(standing.mean),
        percent(standing.worst),
        *took,
        *((str(standing.failed),) if failed else ()),
    )


def percent(share: float) -> str:
    """Say a share, ``-`` where there is none."""
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def _show_differences(ranking: Ranking) -> None:
    real = sum(pair.real for pair in ranking.pairs)
    if ranking.units < FEWEST:
        console.say(f"{plural(ranking.units, 'graph')}: too few to say which differences are real ({FEWEST} are).")
        return
    first = ranking.standings[0].scheduler
    count = plural(len(ranking.pairs), "difference")
    console.say(f"{real} of {count} between two schedulers are real (95 %, all together). Against {first}:")
    console.say()
    rows = [(pair.second, more(pair), "real" if pair.real else "-") for pair in ranking.against_first()]
    console.show(Table(("scheduler", ">takes longer by", "difference"), rows))


def more(pair: Pair) -> str:
    """Say by how much longer the second of a pair takes, with limits."""
    mean, low, high = (100 * limit for limit in pair.more)
    return "-" if math.isnan(mean) else f"{mean:.1f} % ({low:.1f} to {high:.1f})"


def show_survival(first: str, found: Sequence[Survival]) -> None:
    """Print what becomes of the real differences of the first ranking in the others."""
    if not any(each.kept or each.faded or each.turned for each in found):
        console.say(f"'{first}' has no real difference that could survive or not.")
        return
    console.say(f"What becomes of the real differences of '{first}':")
    console.say()
    heads = ("ranking", ">kept", ">no longer real", ">turned round", ">agreement (tau)")
    rows = [
        (each.title, str(len(each.kept)), str(len(each.faded)), str(len(each.turned)), f"{each.agreement:.2f}")
        for each in found
    ]
    console.show(Table(heads, rows))
    for each in found:
        for pair in each.turned:
            console.say(f"\n{each.title}: {pair.first} is now better than {pair.second}, by {more(pair)}.")


def ranking_record(ranking: Ranking) -> dict[str, Any]:
    """Return a ranking as plain data."""
    return {
        "title": ranking.title,
        "graphs": ranking.units,
        "cases": ranking.cases,
        "optimum_known": ranking.known,
        "schedulers": [
            {
                "scheduler": each.scheduler,
                "mean_rank": _number(each.rank.mean),
                "rank_low": _number(each.rank.low),
                "rank_high": _number(each.rank.high),
                "wins": each.wins,
                "wins_alone": each.alone,
                "best_gap": _number(each.best),
                "mean_gap": _number(each.mean),
                "worst_gap": _number(each.worst),
                "failed": each.failed,
            }
            for each in ranking.standings
        ],
        "differences": [
            {
                "first": pair.first,
                "second": pair.second,
                "longer": _number(pair.more.mean),
                "low": _number(pair.more.low),
                "high": _number(pair.more.high),
                "real": pair.real,
            }
            for pair in ranking.pairs
        ],
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 6)


def show_across(done: Sequence[tuple[str, Comparison]]) -> None:
    """Sum up comparisons of several graphs: a row per graph, then the ranking of schedulers over all of them."""
    from simsched.study.cases import cases_of

    found = cases_of(done)
    console.say(f"\n\nAll {len(done)} graphs\n")
    console.show(Table(("graph", "shortest", ">best gap", ">mean", ">worst"), list(_graph_rows(done)), wrap=1))
    console.say()
    show_ranking(rank(found.schedulers, found.groups[""]))


def _graph_rows(done: Iterable[tuple[str, Comparison]]) -> Iterable[tuple[str, ...]]:
    from simsched.analysis.bounds import best_lower

    for written, comparison in done:
        sound = [result for result in comparison.results if result.valid is not False]
        if not sound:
            yield written, "no run is valid", "-", "-", "-"
            continue
        bound = best_lower(comparison.bounds()).value
        gaps = [result.makespan / bound - 1.0 if bound else 0.0 for result in sound]
        shortest = ", ".join(result.label for result, gap in zip(sound, gaps, strict=True) if gap == min(gaps))
        yield written, shortest, percent(min(gaps)), percent(sum(gaps) / len(gaps)), percent(max(gaps))
