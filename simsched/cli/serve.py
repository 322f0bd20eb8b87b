"""``simsched serve``: the page with simsched itself behind it, for the browser of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, exits, options
from simsched.cli.sources import Found, find_runs, look_options, warn

if TYPE_CHECKING:
    from simsched.page.site import Site

GRAPH, HARDWARE = "residual", "lanes:2"
COMMAND = ("simsched", "serve", "--write")
SCHEDULERS = "topological,critical_path,greedy_ready,memory_aware,pipeline"


@click.command("serve", epilog="Example: simsched serve inception_v1 --hardware a100_sxm_80gb --write site")
@click.argument("sources", nargs=-1, metavar="[GRAPH|DIR...]")
@click.option("--schedulers", "--scheduler", "-s", metavar="A,B,...", help=f"Default: {SCHEDULERS}.")
@options.scenario_options
@look_options
@click.option(
    "--port", type=options.WholeType(0, 65535), metavar="N", help="Default: 8000, or the next one that is free."
)
@click.option(
    "--write", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Write the files of the site, for any web server, instead of serving them.",
)  # fmt: skip
@click.option("--open", "opened", is_flag=True, help="Open the page in the browser.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    schedulers: str | None,
    title: str,
    lessons: bool,
    port: int | None,
    folder: Path | None,
    opened: bool,
    **scenario: Any,
) -> None:
    """Show runs in the browser, change them there, and run again.

    The page is that of simsched page, with simsched itself in it: change durations, edges and hardware, pick
    schedulers or write one, and run again. Everything comes from this machine; nobody else can reach it.

    GRAPH, DIR and --hardware are written as for simsched page; without any, residual on lanes:2.
    """
    if folder is not None and (port is not None or opened):
        raise click.UsageError("--write only writes files; leave --port and --open out", ctx)
    if folder is not None:
        from simsched.output.folder import check_folder

        check_folder(folder, COMMAND)
    if not sources:
        sources, schedulers = (GRAPH,), schedulers or SCHEDULERS
        scenario["hardware"] = scenario["hardware"] or HARDWARE
    recorded = any(Path(source).is_dir() for source in sources)
    found = find_runs(sources, schedulers if recorded else schedulers or SCHEDULERS, scenario)
    files = _site(found, title, with_lessons=lessons)
    if folder is None:
        _serve(files, port, opened=opened)
        return
    _write(folder, files, found)
    ctx.exit(exits.OK if found.valid else exits.RUN_FAILED)


def _site(found: Found, title: str, *, with_lessons: bool) -> Site:
    from simsched.page.document import page_document
    from simsched.page.html import page_data
    from simsched.page.lessons import lessons
    from simsched.page.live import runs_again
    from simsched.page.site import LIVE_FILES, site

    warn(found)
    again = all(runs_again(result) for result in found.results)
    if not again:
        console.warn(
            "these runs have noise, a placement or a cost model of their own, which the page cannot apply: it replays "
            "them, and runs only what is chosen in it"
        )
    scene = page_document(found.results, title=title, failures=found.failures, live=again)
    return site(page_data(scene, lessons=lessons(live=True) if with_lessons else (), live=LIVE_FILES))


def _serve(files: Site, port: int | None, *, opened: bool) -> None:
    from simsched.page.server import SiteServer

    with SiteServer(files, port) as server:
        console.line(f"serving {server.url} (Ctrl-C ends it)")
        if opened:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:  # the way to end it, and no failure
            console.line("\nended")


def _write(folder: Path, files: Mapping[str, bytes], found: Found) -> None:
    from simsched.output.folder import write_folder
    from simsched.output.provenance import describe, manifest
    from simsched.units import format_size, plural

    made = dict(files)
    write_folder(folder, made, manifest(COMMAND, {}, describe(found.results[0].problem), made), {})
    size = sum(len(data) for data in made.values())
    console.say(f"written to {folder} ({plural(len(made), 'file')}, {format_size(size)}); serve it with any web server")
