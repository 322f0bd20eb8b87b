"""``simsched profile``: hardware profiles to look at, to check, and to begin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simsched.cli import console, exits
from simsched.cli.app import HelpfulGroup
from simsched.cli.options import json_option
from simsched.output.tables import Table

if TYPE_CHECKING:
    from simsched.hardware import HardwareProfile


@click.group("profile", cls=HelpfulGroup, epilog="Example: simsched profile show a100_sxm_80gb")
def command() -> None:
    """List, show, check or begin hardware profiles.

    Each figure of a profile names its source: measured, datasheet, derived, or illustrative.
    """


@command.command("list", epilog="Example: simsched profile list")
@json_option
def list_profiles(as_json: bool) -> None:
    """List all profiles with their main figures."""
    from dataclasses import asdict

    from simsched.profiles import profile_rows

    rows = profile_rows()
    if as_json:
        for row in rows:
            console.emit(asdict(row))
        return
    headers = ("profile", "device", ">SMs", ">fp32", ">half", ">memory", ">bandwidth")
    cells = [(row.profile, row.device, row.sms, row.fp32, row.half, row.memory, row.bandwidth) for row in rows]
    console.show(Table(headers, cells))


@command.command("show", epilog="Example: simsched profile show a100_sxm_80gb")
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show every figure of one profile with its source, its links, and how its host launches."""
    from dataclasses import asdict

    from simsched.profiles import figure_rows, link_rows, load_hardware, profile_row

    profile = load_hardware(name)
    figures = figure_rows(profile)
    if as_json:
        devices = [asdict(row) for row in profile_row(profile)]
        rows = [asdict(row) for row in figures]
        head = {"profile": profile.name, "description": profile.description, "devices": devices, "figures": rows}
        links = [asdict(row) for row in link_rows(profile)]
        console.emit({**head, "links": links, "switches": list(profile.switches), "host": asdict(profile.host)})
        return
    console.say(f"{profile.name}: {profile.description}" if profile.description else profile.name)
    console.say()
    if not figures:
        streams = sum(device.streams for device in profile.devices)
        console.say(
            f"{len(profile.devices)} ideal devices, {streams} streams; no figures, since nothing costs anything."
        )
        return
    console.show(Table(("figure", "value", "source"), [(row.path, row.value, row.source) for row in figures]))
    _show_joints(profile)
    cites = dict.fromkeys((row.source, row.cite) for row in figures if row.cite)
    if cites:
        console.say()
    for kind, cite in cites:
        console.say(f"{kind}: {cite}")


def _show_joints(profile: HardwareProfile) -> None:
    from simsched.profiles import host_text, link_rows

    links = link_rows(profile)
    if links:
        console.say()
        cells = [(row.link, row.latency, row.bandwidth, row.sharing) for row in links]
        console.show(Table(("link", ">latency", ">bandwidth", "shared"), cells))
    if profile.switches:
        console.say(f"switches: {', '.join(profile.switches)}")
    console.say()
    console.say(f"host: {host_text(profile)}")


@command.command("check", epilog="Example: simsched profile check a100_sxm_80gb")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@json_option
@click.pass_context
def check(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Check profiles by arithmetic: all of them, or those that are named.

    Peaks must follow from units and clocks, bandwidth from clock and bus. The exit code is 2 where one does not.
    """
    from simsched.profiles import check_profile, checks, load_hardware, profile_names, unsourced_figures

    wrong = False
    for name in names or profile_names():
        profile = load_hardware(name)
        problems, done = check_profile(profile), [item for item in checks(profile) if item.passed is not None]
        unsourced = unsourced_figures(profile)
        wrong = wrong or bool(problems)
        if as_json:
            value = {"profile": name, "valid": not problems, "checked": len(done), "problems": problems}
            console.emit({**value, "unsourced": unsourced})
            continue
        state = "right" if not problems else f"{len(problems)} problems"
        rest = f", {len(unsourced)} figures without a source" if unsourced else ""
        console.say(f"{name}: {len(done)} figures checked by arithmetic, {state}{rest}")
        for problem in problems:
            console.say(f"  {problem}")
    ctx.exit(exits.BAD_INPUT if wrong else exits.OK)


@command.command("new", epilog="Example: simsched profile new my_gpu > my_gpu.yaml")
@click.argument("name", default="my_gpu")
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write a file.")
def new(name: str, output: Path | None) -> None:
    """Print a commented profile to begin with."""
    from simsched.profiles import new_profile_text

    text = new_profile_text(name)
    if output is None:
        click.echo(text, nl=False)
        return
    if output.exists():
        raise click.UsageError(f"{output} exists already; name another file", click.get_current_context())
    output.write_text(text, "utf-8")
    console.say(f"{output} is written; when its figures are yours: simsched profile check {output}")
