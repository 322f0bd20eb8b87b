"""``simsched plot``: one picture, from names or from a recorded run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, options
from simsched.cli.session import Request, make_schedulers, simulate
from simsched.run import SCHEDULERS
from simsched.scenario import Scenario

if TYPE_CHECKING:
    from simsched.problem import Problem
    from simsched.result import Comparison, Result

Draw = Callable[[], Any]
"""Draws, and returns the axes of what it has drawn."""

KINDS = ("gantt", "sms", "memory", "arena", "breakdown", "comparison", "scaling", "tradeoff", "roofline", "dag")
OF_ONE_RUN = ("gantt", "sms", "arena")
LANES = (1, 2, 3, 4, 6, 8)


# click keeps the lines of a paragraph that begins with a backspace character.
HELP = """Draw one picture, from names or from recorded runs.

GRAPH and --hardware are written as for simsched compare; dag needs no hardware. DIR is a folder that --output of run
or compare has written, or a part of it.

\b
gantt       one run: streams over time, critical path, memory below
sms         one run: SMs over time, on a device of model blocks
memory      live bytes over time
arena       one run: addresses over time, planned or by an allocator
breakdown   where the makespan went: what ran, what sharing cost, what waited
comparison  makespans in the corridor of the bounds
scaling     speed-up against streams, with Amdahl's curves
tradeoff    time against peak memory
roofline    operators under the roof of the device
dag         the graph in levels
"""


@click.command("plot", help=HELP, epilog="Example: simsched plot gantt residual --hardware lanes:2")
@click.argument("kind", type=options.Word(KINDS), metavar="KIND")
@click.argument("source", metavar="GRAPH|DIR")
@click.option(
    "--schedulers", "--scheduler", "-s", metavar="A,B,...",
    help="Default: critical_path for gantt and sms, which draw one run; for the others those of compare.",
)  # fmt: skip
@click.option(
    "--addresses", type=options.Word(("plan", "best", "first")), default="plan", metavar="RULE",
    help="For arena: plan (all lifetimes known), or an allocator by best or first fit. Default: plan.",
)  # fmt: skip
@click.option("--lanes", metavar="N,N,...", help="For scaling: streams of each device. Default: 1,2,3,4,6,8.")
@options.scenario_options
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="A .png, .svg or .pdf. Default: KIND.png here.",
)  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context,
    /,
    kind: str,
    source: str,
    schedulers: str | None,
    addresses: str,
    lanes: str | None,
    output: Path | None,
    **scenario: Any,
) -> None:
    """Draw one picture."""
    from simsched.output.recorded import is_recorded
    from simsched.plot.figure import save

    if kind != "arena" and addresses != "plan":
        raise click.UsageError(f"--addresses are those of an arena; {kind} has none", ctx)
    target = output or Path(f"{kind}.png")
    recorded = is_recorded(Path(source))
    if recorded and scenario["hardware"]:
        raise click.UsageError(f"{source} holds recorded runs, with their hardware; leave --hardware out", ctx)
    if kind == "dag" and not recorded and not scenario["hardware"]:
        save(_bare_graph(source, scenario), target)
    elif recorded:
        save(_of_recorded(kind, Path(source)), target)
    else:
        save(_of_names(kind, source, schedulers, _counts(lanes), options.make_scenario(scenario)), target)
    console.say(f"written to {target}")


def _bare_graph(source: str, scenario: dict[str, Any]) -> Draw:
    from simsched.plot.dag import plot_dag

    words = options.make_scenario({**scenario, "hardware": "lanes:1"})
    graph = words.load_graph(source)
    return lambda: plot_dag(graph)


def _of_names(kind: str, source: str, schedulers: str | None, lanes: Sequence[int], scenario: Scenario) -> Draw:
    if kind in ("roofline", "dag"):
        return _of_problem(kind, scenario.problem(scenario.load_graph(source)))
    single = kind in OF_ONE_RUN
    made = make_schedulers(schedulers or ("critical_path" if single else ",".join(SCHEDULERS)), "--schedulers")
    if single and len(made) > 1:
        raise click.UsageError(f"{kind} draws one run; name one scheduler", click.get_current_context())
    if kind == "scaling":
        return _scaling(source, Request(scenario, made), lanes)
    problem = scenario.problem(scenario.load_graph(source))
    return _of_comparison(kind, simulate(problem, Request(scenario, made)))


def _of_recorded(kind: str, folder: Path) -> Draw:
    from simsched.output.recorded import read_comparison, read_run

    if kind == "scaling":
        message = "scaling needs runs on several numbers of streams; write simsched plot scaling GRAPH --hardware ..."
        raise click.UsageError(message, click.get_current_context())
    if (folder / "run.json").is_file():
        result = read_run(folder)
        if kind in ("roofline", "dag"):
            return _of_problem(kind, result.problem)
        return _of_run(kind, result)
    comparison = read_comparison(folder)
    if kind in ("roofline", "dag"):
        return _of_problem(kind, comparison.problem)
    if kind in OF_ONE_RUN and len(comparison.results) != 1:
        names = ", ".join(sorted(str(path.parent) for path in folder.rglob("run.json")))
        raise click.UsageError(f"{kind} draws one run; name the folder of one: {names}", click.get_current_context())
    return _of_comparison(kind, comparison)


def _of_problem(kind: str, problem: Problem) -> Draw:
    if kind == "roofline":
        from simsched.plot.roofline import plot_roofline

        return lambda: plot_roofline(problem)
    from simsched.plot.dag import plot_dag

    return lambda: plot_dag(problem)


def _of_run(kind: str, result: Result) -> Draw:
    from simsched.result import Comparison

    return _of_comparison(kind, Comparison(result.problem, (result,), (), result.memory, result.actual))


def _of_comparison(kind: str, comparison: Comparison) -> Draw:
    """Return how to draw runs; those that failed are drawn where the picture has a place for them."""
    from simsched.errors import SchedulerError
    from simsched.plot.arena import plot_arena
    from simsched.plot.breakdown import plot_breakdown
    from simsched.plot.comparison import plot_comparison
    from simsched.plot.gantt import plot_gantt
    from simsched.plot.memory import plot_memory
    from simsched.plot.sms import plot_sms
    from simsched.plot.tradeoff import plot_tradeoff

    if not comparison.results:
        raise SchedulerError("; ".join(f"{name}: {message}" for name, message in comparison.failures))
    if kind == "gantt":
        return lambda: plot_gantt(comparison.results[0])
    if kind == "sms":
        return lambda: plot_sms(comparison.results[0])
    if kind == "memory":
        return lambda: plot_memory(comparison)
    if kind == "arena":
        rule = click.get_current_context().params["addresses"]
        return lambda: plot_arena(comparison.results[0], rule=rule)
    if kind == "breakdown":
        return lambda: plot_breakdown(comparison)
    return lambda: plot_tradeoff(comparison) if kind == "tradeoff" else plot_comparison(comparison)


def _scaling(source: str, request: Request, lanes: Sequence[int]) -> Draw:
    import dataclasses

    from simsched.plot.scaling import plot_scaling

    results: list[Result] = []
    for count in lanes:
        scenario = dataclasses.replace(request.scenario, streams=count)
        problem = scenario.problem(scenario.load_graph(source))
        results += simulate(problem, dataclasses.replace(request, scenario=scenario)).results
    return lambda: plot_scaling(results, count="streams")


def _counts(text: str | None) -> Sequence[int]:
    if text is None:
        return LANES
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 0 < int(part) <= 100_000 for part in parts):
        message = f"--lanes: {text!r} is not a list of positive whole numbers; write for example 1,2,4,8"
        raise click.BadOptionUsage("--lanes", message, click.get_current_context())
    return sorted({int(part) for part in parts})
