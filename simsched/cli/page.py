"""``simsched page``: one HTML file that replays runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from simsched.cli import console, exits, options
from simsched.cli.progress import progress
from simsched.cli.sources import Found, find_runs, look_options, warn

LONG = 5000
"""Operators of all runs together above which it is said how far the page is."""


@click.command("page", epilog="Example: simsched page residual --hardware lanes:2 -o page.html")
@click.argument("sources", nargs=-1, metavar="GRAPH|DIR...")
@click.option("--schedulers", "--scheduler", "-s", metavar="A,B,...", help="Default: those of compare.")
@options.scenario_options
@look_options
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), default=Path("page.html"), metavar="FILE",
    help="Default: page.html here.",
)  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    schedulers: str | None,
    title: str,
    lessons: bool,
    output: Path,
    **scenario: Any,
) -> None:
    """Write one HTML file that replays runs side by side.

    The file needs nothing else and no network: it holds the graph, the runs, why each operator ran when it did, and
    three lessons. Open it in any browser.

    DIR is a folder that --output of run or compare has written, or a part of it; several may be named if they hold
    runs of one graph, on different hardware too. GRAPH and --hardware are written as for simsched compare.

    A run that cannot be carried out is reported, in the page as well, and does not end the command; the exit code is
    then 1.
    """
    from simsched.output.folder import check_place

    if not sources:
        message = "nothing to show; name a graph ('simsched list graphs') or a folder of recorded runs"
        raise click.UsageError(message, ctx)
    check_place(output)
    found = find_runs(sources, schedulers, scenario)
    text = _page(found, title, with_lessons=lessons)
    _write(output, text, found)
    ctx.exit(exits.OK if found.valid else exits.RUN_FAILED)


def _page(found: Found, title: str, *, with_lessons: bool) -> str:
    from simsched.page.document import page_document
    from simsched.page.html import page_data, page_html
    from simsched.page.lessons import lessons

    with _shown(found) as advance:
        scene = page_document(found.results, title=title, failures=found.failures, progress=advance)
    return page_html(page_data(scene, lessons=lessons() if with_lessons else ()))


@contextmanager
def _shown(found: Found) -> Iterator[Callable[[int, int], None]]:
    """Show how far a large page is."""
    if sum(len(result.trace) for result in found.results) <= LONG:
        yield lambda done, total: None
        return
    with progress("page") as advance:
        yield advance


def _write(output: Path, text: str, found: Found) -> None:
    from simsched.output.folder import write_file
    from simsched.units import format_size, plural

    data = text.encode()
    write_file(output, data)
    warn(found)
    graph = found.results[0].problem.graph
    what = f"{plural(len(found.results), 'run')} of {graph.name}"
    console.say(f"written to {output} ({format_size(len(data))}, {what})")
