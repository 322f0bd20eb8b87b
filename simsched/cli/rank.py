"""``simsched rank``: schedulers over many runs, and which of their differences are real."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simsched.cli import console
from simsched.cli.options import WholeType, json_option

if TYPE_CHECKING:
    from simsched.study.ranking import Ranking


@click.command("rank", epilog="Example: simsched rank results/ranking_of_planners --by noise")
@click.argument("sources", nargs=-1, metavar="DIR|CSV...", type=click.Path(path_type=Path))
@click.option("--by", metavar="COLUMN", help="One ranking for each value of a column, such as noise or hardware.")
@click.option("--seed", type=WholeType(0, 2**63 - 1), default=0, metavar="N", help="Of the bootstrap. Default: 0.")
@click.option(
    "--resamples", type=WholeType(100, 1_000_000), default=2000, metavar="N", help="Of the bootstrap. Default: 2000."
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Draw the ranks, too."
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[Path, ...],
    by: str | None,
    seed: int,
    resamples: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Rank schedulers over many runs, and say which differences are real.

    DIR is a folder that simsched experiment or compare --output wrote, or its runs.csv. Problems on which one of the
    schedulers was not run are left out.

    Ranks, wins, and gaps to the best lower bound known; an interval around each mean rank; and by how much longer the
    next scheduler takes. A difference is real if it would hold, with 95 %, had other graphs of the same families
    been drawn. With --by, what becomes of the real differences of the first ranking in the others.
    """
    from simsched.cli import ranking_view as view
    from simsched.study.cases import read_cases
    from simsched.study.ranking import rank
    from simsched.study.survival import survival

    if not sources:
        raise click.UsageError("no results given; name a folder, for example: results/ranking_of_planners", ctx)
    found = read_cases(sources, by)
    rankings = [
        rank(found.schedulers, cases, title=title, seed=seed, resamples=resamples)
        for title, cases in found.groups.items()
    ]
    lasting = [survival(rankings[0], other) for other in rankings[1:]]
    if as_json:
        for ranking in rankings:
            console.emit(view.ranking_record(ranking))
    else:
        for number, ranking in enumerate(rankings):
            if number:
                console.say("\n")
            view.show_ranking(ranking)
        if lasting:
            console.say("\n")
            view.show_survival(rankings[0].title, lasting)
        if found.left_out:
            console.say(f"\nLeft out: {found.left_out} on which not all schedulers were run.")
    if output is not None:
        _draw(output, rankings, as_json)


def _draw(output: Path, rankings: Sequence[Ranking], as_json: bool) -> None:
    from simsched.plot.figure import save
    from simsched.plot.ranking import RankPanel, Row, plot_ranking

    panels = [
        RankPanel(ranking.title, tuple(Row(each.scheduler, *each.rank) for each in ranking.standings))
        for ranking in rankings
    ]
    save(lambda: plot_ranking(panels), output)
    if not as_json:
        console.say(f"\nwritten to {output}")
