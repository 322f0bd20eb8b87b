"""``simsched streams``: the makespan against the number of streams, and why more of them stop helping."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, exits, options
from simsched.cli.session import make_schedulers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simsched.advice import Advice, Point
    from simsched.problem import Problem
    from simsched.scenario import Scenario
    from simsched.schedulers.base import Scheduler

DEFAULT = "critical_path"
MOST = 16
LONG = 50_000
"""Operators to simulate, over all runs, from which on progress is shown."""


@click.command("streams", epilog="Example: simsched streams inception_v1 --hardware orin_agx_64gb")
@click.argument("graph", metavar="GRAPH")
@click.option("--scheduler", "-s", default=DEFAULT, metavar="SPEC", help=f"Default: {DEFAULT}.")
@click.option(
    "--max", "most", type=options.WholeType(1, 100_000), default=MOST, metavar="N",
    help=f"The largest number of streams to try: 1, 2, 3, 4, 6, 8, ... N. Default: {MOST}.",
)  # fmt: skip
@options.scenario_options
@options.check_option
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Draw the makespans and what they consist of: a .png, .svg or .pdf.",
)  # fmt: skip
@options.json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    graph: str,
    scheduler: str,
    most: int,
    check: bool,
    output: Path | None,
    as_json: bool,
    **scenario: Any,
) -> None:
    """Say how many streams are worth having, and why no more.

    The graph is run on 1, 2, 3, 4, 6, 8, ... streams of each device. For each number: the makespan, and what limits it;
    and from where on more streams make it longer, with the likely cause. Nothing is guessed: all is read from the runs.

    GRAPH and --hardware are written as for simsched run.
    """
    from simsched.advice import advice_of, stream_counts

    made = make_schedulers(scheduler, "--scheduler")
    if len(made) > 1:
        raise click.UsageError("--scheduler takes one scheduler", ctx)
    words = options.make_scenario({**scenario, "streams": None})
    problem = words.problem(words.load_graph(graph))
    counts = stream_counts(most)
    points, complete = _measured(problem, made[0][0], counts, words, check)
    if points:
        _show(advice_of(points), scheduler, problem, output, as_json)
    if not complete:
        raise exits.InterruptedExit(f"{len(points)} of {len(counts)} numbers of streams had been tried, and are shown")
    ctx.exit(exits.OK if all(point.result is not None for point in points) else exits.RUN_FAILED)


# The command tries several numbers of streams itself.
command.params = [parameter for parameter in command.params if parameter.name != "streams"]


def _measured(
    problem: Problem, scheduler: Scheduler, counts: Sequence[int], words: Scenario, check: bool
) -> tuple[list[Point], bool]:
    """Run all numbers of streams, or as many as there is time for."""
    from contextlib import nullcontext

    from simsched.advice import measured
    from simsched.cli.progress import Advance, progress

    found: list[Point] = []
    silent: Advance = lambda done, total: None  # noqa: E731
    shown = len(counts) * len(problem.graph) > LONG
    settings = {"memory": words.memory, "noise": words.noise, "seed": words.seed, "check": check}
    try:
        with progress("streams") if shown else nullcontext(silent) as advance:
            for point in measured(problem, scheduler, counts, **settings):
                found.append(point)
                advance(len(found), len(counts))
    except KeyboardInterrupt:
        return found, False
    return found, True


def _show(advice: Advice, scheduler: str, problem: Problem, output: Path | None, as_json: bool) -> None:
    from simsched.cli.advice_view import advice_record, draw_advice, show_advice

    if output is not None:
        from simsched.plot.figure import save

        save(lambda: draw_advice(advice, scheduler, problem), output)
    if as_json:
        console.emit(advice_record(advice, scheduler, problem))
        return
    show_advice(advice, scheduler, problem)
    if output is not None:
        console.say(f"\nwritten to {output}")
