"""``simsched run``: one scheduler on one or more graphs, in detail."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, options
from simsched.cli.session import Request, carry_out, make_schedulers
from simsched.data import not_a_file
from simsched.errors import ConfigError, Fault

if TYPE_CHECKING:
    from simsched.result import Comparison
    from simsched.schedulers.base import Scheduler

DEFAULT = "critical_path"


@click.command("run", epilog="Example: simsched run residual --hardware lanes:2 --steps")
@options.graphs_argument
@click.option("--scheduler", "-s", metavar="SPEC", help=f"Default: {DEFAULT}.")
@click.option(
    "--schedule",  metavar="FILE",
    help="Follow a schedule text (device/stream: op op) or a recorded trace (.json).",
)  # fmt: skip
@click.option("--arena", is_flag=True, help="Replay allocators with real addresses, and plan addresses.")
@click.option(
    "--alignment", type=click.IntRange(1, 1 << 30), metavar="BYTES",
    help="For --arena: what sizes and addresses are multiples of. Default: 1; CUDA has 256.",
)  # fmt: skip
@click.option("--steps", is_flag=True, help="Tell the scheduling loop step by step.")
@options.scenario_options
@options.check_option
@click.option("--timing", is_flag=True, help="Say in the JSON, too, how long the scheduler took.")
@options.output_option
@options.json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    graphs: tuple[str, ...],
    scheduler: str | None,
    schedule: str | None,
    arena: bool,
    alignment: int | None,
    steps: bool,
    check: bool,
    timing: bool,
    output: Path | None,
    as_json: bool,
    **scenario: Any,
) -> None:
    """Run one scheduler on graphs, and tell what happened.

    With --steps, every instant is told: what finished, what became ready, what was free, what was dispatched and why.

    GRAPH is a file, a name (simsched list graphs), or a generator such as chain:10. Hardware is a file or a name
    (simsched list hardware), or lanes:4: one device of four identical machines; procs:4: four devices of one machine
    each; native: what a .sm or .rcp file carries.

    A scheduler is written name, name:value or name(parameter=value, ...), as in greedy_ready:spt (simsched list
    schedulers).
    """
    options.need_graphs(graphs)
    made = _scheduler(ctx, scheduler, schedule)
    explain = steps or output is not None
    if alignment and not arena:
        raise click.UsageError("--alignment is that of an arena; write --arena too", ctx)
    aligned = (alignment or 1) if arena else 0
    request = Request(options.make_scenario(scenario), [made], check, explain, as_json, timing, output, aligned)

    def show(comparison: Comparison) -> None:
        from simsched.cli.views import show_run

        if steps and comparison.results:
            from simsched.output.steps import tell

            for line in tell(comparison.results[0]):
                console.line(line)
            console.say()
        show_run(comparison)
        for result in comparison.results if arena else ():
            from simsched.output.arenas import arena_table

            table = arena_table(result, aligned)
            console.say()
            console.show(table) if table.rows else console.say("Nothing was held in memory.")

    if steps and as_json:
        raise click.UsageError("--steps is for people; write it without --json", ctx)
    ctx.exit(carry_out(graphs, request, show))


def _scheduler(ctx: click.Context, scheduler: str | None, schedule: str | None) -> tuple[Scheduler, str]:
    if schedule is None:
        made = make_schedulers(scheduler or DEFAULT, "--scheduler")
        if len(made) > 1:
            raise click.UsageError("--scheduler takes one scheduler; write 'simsched compare' for several", ctx)
        return made[0]
    if scheduler is not None:
        raise click.UsageError("--scheduler and --schedule exclude each other; a schedule is followed as it is", ctx)
    if not Path(schedule).is_file():
        reason = not_a_file(Path(schedule))
        raise ConfigError(schedule, [Fault(f"{reason}; --schedule takes a schedule text or a recorded trace")])
    from simsched.schedulers.follow import Follow

    return Follow(schedule), f"follow:{schedule}"
