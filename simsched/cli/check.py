"""``simsched check``: what a file is and what is wrong with it, and whether a scheduler keeps its contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simsched.cli import console, exits
from simsched.cli.options import DIM_HELP, DimType, json_option
from simsched.errors import InputError, SimschedError
from simsched.identify import identify
from simsched.testing import ContractError

SHORT_FORMS = ("lanes", "procs")
"""What may stand before a colon without being a package."""


@click.command("check", epilog="Example: simsched check residual --json")
@click.argument("files", nargs=-1, metavar="FILE|SCHEDULER...")
@click.option("--dim", "dims", type=DimType(), multiple=True, metavar="NAME=N", help=DIM_HELP)
@click.option("--strict", is_flag=True, help="Refuse operator types of unknown cost.")
@json_option
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], dims: tuple[Any, ...], strict: bool, as_json: bool) -> None:
    """Say what files are, and whether they are valid.

    Counts what is in them, and lists everything that is wrong.

    A file may be a graph of any format, a hardware profile, an experiment, a schedule text, a recorded trace, or the
    manifest of an output folder. Names that simsched knows will do too. The exit code is 2 when one is not valid.

    A scheduler, by name or as package.module:Object, is run on a zoo of problems at the edges: empty and very long
    graphs, operators of no length, two devices, memory that is tight. Every run has to end, to obey all rules, and to
    be the same when run again.
    """
    if not files:
        raise click.UsageError("no file given; name one or more, for example: graphs/residual.yaml", ctx)
    sound = True
    for file in files:
        try:
            facts = _tried(file) if _is_scheduler(file) else identify(file, dict(dims), strict)
            found: dict[str, Any] = {"file": file, "valid": True, **facts}
        except (SimschedError, ContractError) as error:
            sound = False
            found = {"file": file, "valid": False, "problems": _problems(error)}
            if not as_json:
                console.warn(exits.message_of(error) if isinstance(error, SimschedError) else str(error))
                continue
        if as_json:
            console.emit(found)
        else:
            console.line(_sentence(found))
    ctx.exit(exits.OK if sound else exits.BAD_INPUT)


def _is_scheduler(text: str) -> bool:
    """Whether a text can only mean a scheduler: no file, and a scheduler's name or the path of an object."""
    from simsched.schedulers.registry import scheduler_names

    name, colon, _ = text.partition("(")[0].partition(":")
    if Path(text).is_file() or "/" in name:
        return False
    return name.strip() in scheduler_names() or (bool(colon) and name not in SHORT_FORMS)


def _tried(text: str) -> dict[str, Any]:
    """Run a scheduler over the zoo."""
    from simsched.schedulers.registry import make_scheduler
    from simsched.testing import check_scheduler

    made = make_scheduler(text)
    try:
        cases = check_scheduler(made)
    except ContractError as error:
        raise ContractError(str(error).replace(repr(made), text)) from error
    none = {"operators": 0, "edges": 0, "devices": 0}
    return {"kind": "scheduler", "format": "contract kept", "name": text, **none, "cases": cases}


def _problems(error: Exception) -> list[dict[str, Any]]:
    if not isinstance(error, InputError):
        return [{"message": str(error)}]
    return [
        {"message": fault.message, "where": fault.where, "line": fault.line, "column": fault.column}
        for fault in error.faults
    ]


def _sentence(found: dict[str, Any]) -> str:
    """One line for people: the kind, the name, and every count that is not nothing."""
    counts = [
        f"{found[key]} {key if found[key] != 1 else key.removesuffix('s')}"
        for key in ("operators", "edges", "tensors", "devices", "streams", "links", "runs", "files", "cases")
        if found.get(key)
    ]
    article = "an" if found["kind"][0] in "aeiou" else "a"
    name = f" {found['name']!r}" if found.get("name") else ""
    lines = [
        f"{found['file']}: valid, {article} {found['kind']}{name} ({found['format']}): {', '.join(counts) or 'empty'}"
    ]
    if found.get("unknown"):
        listed = ", ".join(f"{kind} ({count})" for kind, count in found["unknown"].items())
        lines.append(f"  operator types of unknown cost, costed by their bytes: {listed}")
    lines += [f"  note: {note}" for note in found.get("notes", ())]
    return "\n".join(lines)
