"""``simsched whatif``: a run with something changed, beside the run without; or what matters most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, exits, options
from simsched.cli.session import Request, make_schedulers, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simsched.cost.base import CostModel
    from simsched.result import Result
    from simsched.sensitivity import Bench, Effect
    from simsched.whatif import Changes, WhatIf

DEFAULT = "critical_path"
LONG = 50_000
"""Operators to simulate, over all runs, from which on progress is shown."""
_RECORDED = (
    "hardware", "dims", "strict", "memory", "memory_capacity", "launch", "device_model", "place", "microbatches",
    "seed", "noise",
)  # fmt: skip
"""Options that a recorded run has answered already."""


@click.command("whatif", epilog="Example: simsched whatif residual --hardware lanes:1 --streams 2")
@click.argument("source", metavar="RUN|GRAPH")
@click.option(
    "--scale", "scales", multiple=True, metavar="NAME=FACTOR",
    help="Multiply the cost of an operator, of a pattern (conv*=0.5), or of a type (type:Conv=0.5).",
)  # fmt: skip
@click.option(
    "--set", "settings", multiple=True, metavar="FIGURE=VALUE",
    help='Change a figure of the hardware: memory_bandwidth=x2, launch="1 us", gpu.sms=80.',
)  # fmt: skip
@click.option("--fuse", "fusions", multiple=True, metavar="A,B[,C]", help="Make one kernel of operators.")
@click.option("--drop-edge", "edges", multiple=True, metavar="A,B", help="Let B no longer wait for A.")
@click.option("--scheduler", "-s", metavar="SPEC", help="Scheduler of the new run. Default: that of the old one.")
@click.option("--base", metavar="SPEC", help=f"Scheduler of the old run. Default: as recorded, or {DEFAULT}.")
@click.option("--sensitivity", is_flag=True, help="Try many changes, one at a time, and say which matter most.")
@click.option(
    "--tries", type=options.WholeType(1, 1_000_000), metavar="N",
    help="For --sensitivity: how many operators to try. Default: as many as 200,000 simulated operators allow.",
)  # fmt: skip
@click.option("--top", type=options.WholeType(1, 1000), default=10, metavar="N", help="Rows of a table. Default: 10.")
@options.scenario_options
@options.check_option
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Draw both runs on one time scale, or what matters most: a .png, .svg or .pdf.",
)  # fmt: skip
@options.json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    source: str,
    scales: tuple[str, ...],
    settings: tuple[str, ...],
    fusions: tuple[str, ...],
    edges: tuple[str, ...],
    scheduler: str | None,
    base: str | None,
    sensitivity: bool,
    tries: int | None,
    top: int,
    check: bool,
    output: Path | None,
    as_json: bool,
    **scenario: Any,
) -> None:
    """Run again with something changed, and show what it does.

    Both runs are simulated, the old one and the new one, and shown beside each other. All options of changes may be
    given together, and repeatedly: hardware is changed first, then operators are fused, edges dropped, costs scaled.

    RUN is a folder that --output of run or compare has written, or a part of it that holds one run. GRAPH is written as
    for simsched run.

    Figures: memory_bandwidth, sms, peaks.matrix.fp16, launch, streams, memory_capacity, copy_engines, host.launch,
    link.bandwidth, ...: one of the profile's, as x2 or as a value with its unit; of several devices that of each, or
    gpu.sms for one.
    """
    from simsched.whatif import Changes
    from simsched.whatif.changes import parse_edge, parse_group, parse_scales, parse_settings

    changes = Changes(
        hardware=parse_settings(settings),
        streams=scenario.pop("streams"),
        fuse=tuple(map(parse_group, fusions)),
        drop=tuple(map(parse_edge, edges)),
        scale=parse_scales(scales),
        scheduler=None if scheduler is None else _one(scheduler, "--scheduler"),
    )
    _need(ctx, changes, sensitivity, tries)
    old, model = _old(ctx, source, base, check, scenario)
    if sensitivity:
        _sensitivity(old, base, model, tries, top, check, output, as_json)
        return
    from simsched.whatif.answer import changed

    answer = changed(old, changes, scheduler=base, cost_model=model, check=check)
    _show(answer, top, output, as_json)


for _parameter in command.params:
    if isinstance(_parameter, click.Option) and _parameter.name == "streams":
        _parameter.help = "Streams of each device in the new run."


def _need(ctx: click.Context, changes: Changes, sensitivity: bool, tries: int | None) -> None:
    nothing = not changes.words()
    if sensitivity and not nothing:
        raise click.UsageError("--sensitivity makes its own changes; leave the others out", ctx)
    if tries is not None and not sensitivity:
        raise click.UsageError("--tries belongs to --sensitivity", ctx)
    if nothing and not sensitivity:
        message = "nothing is changed; write for example --scale conv1=0.5, --set memory_bandwidth=x2 or --streams 4"
        raise click.UsageError(f"{message}; or --sensitivity for what matters most", ctx)


def _one(text: str, option: str) -> str:
    if len(make_schedulers(text, option)) > 1:
        raise click.UsageError(f"{option} takes one scheduler", click.get_current_context())
    return text


def _old(
    ctx: click.Context, source: str, base: str | None, check: bool, scenario: dict[str, Any]
) -> tuple[Result, CostModel | None]:
    """Return the old run, simulated here and now, and the cost model that made its costs."""
    from simsched.output.recorded import is_recorded
    from simsched.scenario import load_cost_model

    if base is not None:
        _one(base, "--base")
    if is_recorded(Path(source)):
        given = [name for name in _RECORDED if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
        if given:
            names = {param.name: max(param.opts, key=len) for param in ctx.command.params}
            listed = " and ".join(names[name] for name in given)
            raise click.UsageError(f"{source} is recorded, with all that it was run under; leave {listed} out", ctx)
        from simsched.whatif.answer import repeated

        recorded = _recorded(ctx, Path(source))
        return repeated(recorded, scheduler=base, check=check), load_cost_model(scenario["cost_model"])
    made = make_schedulers(base or DEFAULT, "--base")
    words = options.make_scenario({**scenario, "streams": None})
    problem = words.problem(words.load_graph(source))
    comparison = simulate(problem, Request(words, made, check))
    for failure in comparison.failures:
        from simsched.errors import SchedulerError

        raise SchedulerError(f"{failure.scheduler} failed. {failure.message}")
    (result,) = comparison.results
    if result.violations:
        from simsched.errors import TraceError

        raise TraceError(result.violations)
    return result, load_cost_model(words.cost_model)


def _recorded(ctx: click.Context, folder: Path) -> Result:
    from simsched.output.recorded import read_comparison, read_run

    if (folder / "run.json").is_file():
        return read_run(folder)
    comparison = read_comparison(folder)
    if len(comparison.results) != 1:
        names = ", ".join(sorted(str(path.parent) for path in folder.rglob("run.json"))) or "there is none"
        raise click.UsageError(f"whatif takes one run; name the folder of one: {names}", ctx)
    return comparison.results[0]


def _show(answer: WhatIf, top: int, output: Path | None, as_json: bool) -> None:
    from simsched.cli.whatif_views import show_answer, whatif_record

    if output is not None:
        from simsched.plot.before_after import plot_before_after
        from simsched.plot.figure import save

        change = " ".join(answer.changes.words())
        save(lambda: plot_before_after(answer.before, answer.after, change=change), output)
    if as_json:
        console.emit(whatif_record(answer))
        return
    show_answer(answer, top)
    if output is not None:
        console.say(f"\nwritten to {output}")


def _sensitivity(
    old: Result,
    base: str | None,
    model: CostModel | None,
    tries: int | None,
    top: int,
    check: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    from simsched.cli.sensitivity_view import draw_effects, sensitivity_record, show_effects
    from simsched.sensitivity import Bench, figure_probes, operator_probes

    bench = Bench(old, scheduler=base, cost_model=model, check=check)
    probes = [*figure_probes(old), *operator_probes(old, tries)]
    found, complete = _tried(bench, probes)
    if output is not None and found:
        from simsched.plot.figure import save

        save(lambda: draw_effects(old, found, top), output)
    if as_json:
        console.emit(sensitivity_record(old, found, complete))
    else:
        show_effects(old, found, top)
        if output is not None and found:
            console.say(f"\nwritten to {output}")
    if not complete:
        raise exits.InterruptedExit(f"{len(found)} of {len(probes)} changes had been tried, and are shown")


def _tried(bench: Bench, probes: Sequence[Any]) -> tuple[list[Effect], bool]:
    """Try all changes, or as many as there is time for: an interruption leaves what is known by then."""
    from contextlib import nullcontext

    from simsched.cli.progress import Advance, progress
    from simsched.sensitivity import effects

    found: list[Effect] = []
    shown = len(probes) * len(bench.base.problem.graph) > LONG
    silent: Advance = lambda done, total: None  # noqa: E731
    try:
        with progress("sensitivity") if shown else nullcontext(silent) as advance:
            for effect in effects(bench, probes):
                found.append(effect)
                advance(len(found), len(probes))
    except KeyboardInterrupt:
        return found, False
    return found, True
