"""What ``run`` and ``compare`` have in common: load, simulate, print, write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simsched.cli import console, exits
from simsched.errors import SchedulerError
from simsched.scenario import Scenario

if TYPE_CHECKING:
    from simsched.problem import Problem
    from simsched.result import Comparison
    from simsched.schedulers.base import Scheduler

Printer = Callable[["Comparison"], None]
Summary = Callable[[Sequence[tuple[str, "Comparison"]]], None]
"""Prints what several graphs say together."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a command asks for, of every graph.

    Attributes
    ----------
    scenario : Scenario
    schedulers : sequence of (Scheduler, str)
        Objects, and what the user wrote for them.
    check, explain, as_json, timing : bool
    arena : int
        Alignment in bytes of arenas to replay; 0 for none.
    output : Path or None
    """

    scenario: Scenario
    schedulers: Sequence[tuple[Scheduler, str]]
    check: bool = True
    explain: bool = False
    as_json: bool = False
    timing: bool = False
    output: Path | None = None
    arena: int = 0


@contextmanager
def bad_spec(option: str) -> Iterator[None]:
    """Report a scheduler that cannot be made as a fault of the command line, not of a run."""
    try:
        yield
    except SchedulerError as error:
        raise click.BadOptionUsage(option, f"{option}: {error}", click.get_current_context()) from error


def make_schedulers(text: str, option: str) -> list[tuple[Scheduler, str]]:
    """Make every scheduler of a comma-separated list."""
    from simsched.schedulers.registry import make_scheduler, split_specs

    with bad_spec(option):
        made = [(make_scheduler(spec), spec) for spec in split_specs(text)]
    if not made:
        raise click.BadOptionUsage(option, f"{option}: no scheduler is named; write for example serial,critical_path")
    return made


def carry_out(graphs: Sequence[str], request: Request, show: Printer, sum_up: Summary | None = None) -> int:
    """Load every graph, then simulate each and print it as soon as it is done; return the exit code."""
    from simsched.output.records import comparison_object

    if request.output is not None:
        from simsched.output.folder import claim

        claim(request.output)
    done: list[tuple[str, Comparison]] = []
    problems = [request.scenario.problem(request.scenario.load_graph(name)) for name in graphs]
    for number, (name, problem) in enumerate(zip(graphs, problems, strict=True)):
        comparison = simulate(problem, request)
        done.append((name, comparison))
        if request.as_json:
            document = comparison_object(name, request.scenario.hardware, comparison, timing=request.timing)
            if request.arena:
                from simsched.output.arenas import add_arenas

                add_arenas(document, comparison, request.arena)
            console.emit(document)
        else:
            if number:
                console.say("\n")
            show(comparison)
    if sum_up is not None and len(done) > 1 and not request.as_json:
        sum_up(done)
    if request.output is not None:
        from simsched.output.export import write_comparisons

        write_comparisons(request.output, done, request.scenario)
        if not request.as_json:
            console.say(f"\nwritten to {request.output}")
    return exits.OK if all(comparison.valid for _, comparison in done) else exits.RUN_FAILED


def simulate(problem: Problem, request: Request) -> Comparison:
    """Run all schedulers on one problem, showing how far long searches are."""
    from simsched.cli.searching import search_shown
    from simsched.run import compare_named

    scenario = request.scenario
    with search_shown(problem):
        return compare_named(
            problem,
            request.schedulers,
            memory=scenario.memory,
            noise=scenario.noise,
            seed=scenario.seed,
            check=request.check,
            explain=request.explain,
        )
