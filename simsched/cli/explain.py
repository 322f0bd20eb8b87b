"""``simsched explain``: why a run took as long as it did, and why an operator ran when it did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, exits, options
from simsched.cli.session import Request, make_schedulers, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simsched.graph.model import Graph, OpId
    from simsched.output.story import Story
    from simsched.result import Comparison, Result

DEFAULT = "critical_path"
ENDS_SHOWN = 20
"""Parts of an operator that are told at either end of a long story."""


@click.command("explain", epilog="Example: simsched explain residual BN --hardware lanes:1")
@click.argument("source", metavar="GRAPH|DIR")
@click.argument("operators", nargs=-1, metavar="[OPERATOR...]")
@click.option("--scheduler", "-s", metavar="SPEC", help=f"Default: {DEFAULT}.")
@options.scenario_options
@options.check_option
@options.json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    source: str,
    operators: tuple[str, ...],
    scheduler: str | None,
    check: bool,
    as_json: bool,
    **scenario: Any,
) -> None:
    """Say why a run took as long as it did, or why operators ran when they did.

    Without an OPERATOR: where the makespan went, and who waited longest for what. With some: everything that each
    of them waited for, from time 0 to its end, and who was behind it.

    DIR is a folder that --output of run or compare has written, or a part of it that holds one run.
    """
    from simsched.output.recorded import is_recorded

    if is_recorded(Path(source)):
        if scenario["hardware"] or scheduler:
            raise click.UsageError(
                f"{source} holds recorded runs, with hardware and scheduler; leave --hardware and --scheduler out", ctx
            )
        result = _recorded(Path(source))
        chosen = _ids(result.problem.graph, operators)
    else:
        result, chosen = _simulated(source, operators, scheduler or DEFAULT, check, scenario)
    _show(result, chosen, as_json)
    ctx.exit(exits.OK if result.valid is not False else exits.RUN_FAILED)


def _recorded(folder: Path) -> Result:
    from simsched.output.recorded import read_comparison, read_run

    if (folder / "run.json").is_file():
        return read_run(folder)
    comparison = read_comparison(folder)
    if len(comparison.results) != 1:
        names = ", ".join(sorted(str(path.parent) for path in folder.rglob("run.json"))) or "there is none"
        raise click.UsageError(f"explain takes one run; name the folder of one: {names}", click.get_current_context())
    return comparison.results[0]


def _simulated(
    source: str, operators: Sequence[str], scheduler: str, check: bool, options_given: dict[str, Any]
) -> tuple[Result, list[OpId]]:
    made = make_schedulers(scheduler, "--scheduler")
    if len(made) > 1:
        raise click.UsageError("--scheduler takes one scheduler", click.get_current_context())
    scenario = options.make_scenario(options_given)
    problem = scenario.problem(scenario.load_graph(source))
    chosen = _ids(problem.graph, operators)
    return _only(simulate(problem, Request(scenario, made, check, explain=True))), chosen


def _ids(graph: Graph, names: Sequence[str]) -> list[OpId]:
    from simsched.errors import UnknownNameError

    for name in names:
        if name not in graph.index:
            raise UnknownNameError("operator", name, graph.names)
    return [graph.index[name] for name in names]


def _only(comparison: Comparison) -> Result:
    from simsched.errors import SchedulerError

    for failure in comparison.failures:
        raise SchedulerError(f"{failure.scheduler} failed. {failure.message}")
    return comparison.results[0]


def _show(result: Result, chosen: Sequence[OpId], as_json: bool) -> None:
    from simsched.analysis.explain import Explanation
    from simsched.output.story import Story, operator_record, run_record

    if result.valid is False:
        console.warn(f"{result.label}: the referee finds this run INVALID; see 'simsched run'")
    explanation = Explanation(result)
    if as_json:
        about = {"graph": result.problem.graph.name, "hardware": result.problem.hardware.name}
        head = {**about, "scheduler": result.label, "valid": result.valid}
        for found in [operator_record(explanation, op) for op in chosen] or [run_record(explanation)]:
            console.emit({**head, **found})
        return
    story = Story(explanation)
    for number, op in enumerate(chosen):
        if number:
            console.say()
        _show_operator(story, op)
    if not chosen:
        _show_run(story, result)


def _show_operator(story: Story, op: OpId) -> None:
    from simsched.output.tables import Table

    console.say(story.introduction(op))
    parts = story.story.parts(op)
    shown = parts if len(parts) <= 2 * ENDS_SHOWN else (*parts[:ENDS_SHOWN], *parts[-ENDS_SHOWN:])
    rows = [
        (story.time(part.start), story.time(part.end), story.time(part.length), story.words(op, part)) for part in shown
    ]
    if len(shown) < len(parts):
        left = parts[ENDS_SHOWN:-ENDS_SHOWN]
        span = story.time(left[0].start), story.time(left[-1].end), story.time(left[-1].end - left[0].start)
        rows.insert(ENDS_SHOWN, (*span, f"({len(left)} more parts; --json has them all)"))
    if rows:
        console.say()
        console.show(Table((">from", ">to", ">for", "it"), rows, wrap=3))


def _show_run(story: Story, result: Result) -> None:
    from simsched.analysis.breakdown import chain_breakdown, path_breakdown
    from simsched.cli.views import title

    console.say(title(result.problem))
    console.say(f"{result.label}: {story.headline()}")
    path, chain = path_breakdown(story.story), chain_breakdown(story.story)
    for rows, what in ((path, "what ran on the realised critical path"), (chain, "what the chain to the last end did")):
        if rows and (rows is path or rows != path):
            console.say()
            _show_rows(story, rows, what)
    _show_longest(story)


def _show_rows(story: Story, rows: Sequence[Any], what: str) -> None:
    from simsched.output.tables import Table

    whole = story.story.run.trace.makespan
    cells = [(row.name, str(row.operators), story.time(row.time), f"{100 * row.time / whole:.1f} %") for row in rows]
    cells.append(("together", "", story.time(whole), "100.0 %"))
    console.show(Table((what, ">operators", ">time", ">share"), cells))


def _show_longest(story: Story) -> None:
    from simsched.output.story import longest_waits, main_part
    from simsched.output.tables import Table

    names, rows = story.story.run.problem.graph.names, []
    for op in longest_waits(story.story):
        part, waited = main_part(story.story, op), story.story.waited(op)
        share = "" if part.length == waited else f" ({story.time(part.length)} of it)"
        rows.append((names[op], story.time(waited), f"{story.words(op, part)}{share}"))
    console.say()
    if not rows:
        console.say("No operator waited after its last predecessor had ended.")
        return
    console.show(Table(("waited longest", ">waited", "because it"), rows, wrap=2))
