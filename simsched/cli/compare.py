"""``simsched compare``: several schedulers on one or more graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import options
from simsched.cli.session import Request, carry_out, make_schedulers
from simsched.run import SCHEDULERS

if TYPE_CHECKING:
    from simsched.result import Comparison


@click.command("compare", epilog="Example: simsched compare inception_v1 --hardware a100_sxm_80gb")
@options.graphs_argument
@click.option(
    "--schedulers", "-s", default=",".join(SCHEDULERS), metavar="A,B,...", help=f"Default: {', '.join(SCHEDULERS)}."
)
@options.scenario_options
@options.check_option
@click.option("--timing", is_flag=True, help="Say in the JSON, too, how long schedulers took.")
@options.output_option
@options.json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    graphs: tuple[str, ...],
    schedulers: str,
    check: bool,
    timing: bool,
    output: Path | None,
    as_json: bool,
    **scenario: Any,
) -> None:
    """Compare schedulers on graphs.

    Which scheduler is fastest, by how much, how far from the lower bound, and what it costs in memory; and after
    several graphs, which is fastest over all of them. A run that cannot be carried out is reported and does not end
    the comparison; the exit code is then 1.

    GRAPH is a file, a name (simsched list graphs), or a generator such as chain:10. Hardware is a file or a name
    (simsched list hardware), or lanes:4: one device of four identical machines; procs:4: four devices of one machine
    each; native: what a .sm or .rcp file carries.

    Schedulers are written name, name:value or name(parameter=value, ...): greedy_ready:spt, random:7,
    memory_aware(slack=0.2); or package.module:Class for your own.
    """
    options.need_graphs(graphs)
    made = make_schedulers(schedulers, "--schedulers")
    request = Request(options.make_scenario(scenario), made, check, output is not None, as_json, timing, output)
    ctx.exit(carry_out(graphs, request, _show, _sum_up))


def _show(comparison: Comparison) -> None:
    from simsched.cli.views import show_comparison

    show_comparison(comparison)


def _sum_up(done: Sequence[tuple[str, Comparison]]) -> None:
    from simsched.cli.ranking_view import show_across

    show_across(done)
