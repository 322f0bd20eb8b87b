"""Runs for a page: recorded ones from folders, or new ones of a graph."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, options
from simsched.cli.session import Request, make_schedulers, simulate
from simsched.errors import ConfigError, Fault, SchedulerError
from simsched.run import SCHEDULERS

if TYPE_CHECKING:
    from simsched.result import Comparison, Failure, Result

look_options = options.stack(
    click.option("--title", default="", metavar="TEXT", help="Default: the graph and the hardware."),
    click.option(
        "--no-lessons", "lessons", is_flag=True, default=True, flag_value=False, help="Leave the lessons out."
    ),
)
"""What the page itself is to be, whichever command makes it."""


@dataclass(frozen=True, slots=True)
class Found:
    """Runs of one graph, and those that could not be carried out."""

    results: tuple[Result, ...]
    failures: tuple[Failure, ...]

    @property
    def valid(self) -> bool:
        """Whether every run was carried out and none breaks a rule."""
        return not self.failures and all(result.valid is not False for result in self.results)


def find_runs(sources: Sequence[str], schedulers: str | None, scenario: dict[str, Any]) -> Found:
    """Read recorded runs, or run a graph.

    Parameters
    ----------
    sources : sequence of str
        Folders that ``--output`` of run or compare has written, or parts of them; or one graph.
    schedulers : str or None
        Those to run on a graph; by default those of compare.
    scenario : dict
        Values of the options of a scenario.

    Raises
    ------
    click.UsageError
        If graphs and folders are mixed, or options do not go with the sources.
    ConfigError
        If a path leads nowhere, or a folder holds no recorded runs, or runs of another graph.
    SchedulerError
        If no run could be carried out.
    """
    for source in sources:
        if ("/" in source or os.sep in source) and "(" not in source and not os.path.lexists(source):
            raise ConfigError(source, [Fault("no such file or folder")])
    folders = [Path(source) for source in sources if Path(source).is_dir()]
    if not folders:
        found = _new_runs(sources, schedulers, scenario)
    elif len(folders) == len(sources):
        found = _recorded_runs(folders, schedulers, scenario)
    else:
        raise _usage("name either folders of recorded runs, or a graph")
    if not found.results:
        raise SchedulerError("; ".join(f"{failure.label}: {failure.message}" for failure in found.failures))
    return found


def warn(found: Found) -> None:
    """Say which runs failed and which are not valid; the page says it too."""
    for failure in found.failures:
        console.warn(f"{failure.label} failed: {failure.message}")
    for result in found.results:
        if result.valid is False:
            console.warn(f"{result.label}: the referee finds this run INVALID; the page says why")


def _new_runs(sources: Sequence[str], schedulers: str | None, options_given: dict[str, Any]) -> Found:
    if len(sources) > 1:
        raise _usage("a page shows one graph; name one, or folders of recorded runs of one")
    made = make_schedulers(schedulers or ",".join(SCHEDULERS), "--schedulers")
    scenario = options.make_scenario(options_given)
    problem = scenario.problem(scenario.load_graph(sources[0]))
    return _of_comparison(simulate(problem, Request(scenario, made, explain=True)))


def _recorded_runs(folders: Sequence[Path], schedulers: str | None, options_given: dict[str, Any]) -> Found:
    if schedulers or options_given["hardware"]:
        message = "holds recorded runs, with hardware and schedulers; leave --hardware and --schedulers out"
        raise _usage(f"{folders[0]} {message}")
    found = [_recorded(folder) for folder in folders]
    for folder, part in zip(folders, found, strict=True):
        _check_same_graph(folders[0], found[0], folder, part)
    results = tuple(result for part in found for result in part.results)
    return Found(results, tuple(failure for part in found for failure in part.failures))


def _recorded(folder: Path) -> Found:
    from simsched.output.recorded import is_recorded, read_comparison, read_run

    if not is_recorded(folder):
        message = "holds no recorded runs; write some with 'simsched compare ... --output'"
        raise ConfigError(str(folder), [Fault(message)])
    if (folder / "run.json").is_file():
        return Found((read_run(folder),), ())
    return _of_comparison(read_comparison(folder))


def _check_same_graph(first: Path, known: Found, folder: Path, part: Found) -> None:
    if not known.results or not part.results:
        return
    one, other = known.results[0].problem.graph, part.results[0].problem.graph
    if one.content_hash != other.content_hash:
        message = f"holds runs of {other.name}, which is another graph than {one.name} in {first}; a page shows one"
        raise ConfigError(str(folder), [Fault(message)])


def _of_comparison(comparison: Comparison) -> Found:
    return Found(comparison.results, comparison.failures)


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context())
