"""What the command line writes: plain text for pipes and files, rich tables on a terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import replace
from typing import Any

import click

from simsched.output.tables import Table
from simsched.output.visible import visible, visible_json, visible_line

PLAIN_WIDTH = 80


def fancy() -> bool:
    """Whether the output is a terminal that may be coloured."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Columns of the page: the terminal's, or 80."""
    return max(40, shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns) if sys.stdout.isatty() else PLAIN_WIDTH


def say(text: str = "") -> None:
    """Write one paragraph, folded to the page."""
    for part in visible(text).split("\n"):
        click.echo(click.wrap_text(part, width()) if len(part) > width() and not part.startswith(" ") else part)


def line(text: str) -> None:
    """Write a line, or several, without folding."""
    click.echo(visible(text))


def warn(text: str) -> None:
    """Write a message to stderr."""
    click.echo(visible(text), err=True)


def show(table: Table) -> None:
    """Write a table."""
    table = replace(table, rows=[tuple(map(visible_line, row)) for row in table.rows])
    if not fancy():
        click.echo(table.plain(width()))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for number, header in enumerate(table.headers):
        justify = "right" if header.startswith(">") else "left"
        drawn.add_column(header.lstrip(">"), justify=justify, overflow="fold", no_wrap=number != table.wrap)  # type: ignore[arg-type]
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(drawn)


def emit(value: Any) -> None:
    """Write one JSON value on one line."""
    click.echo(visible_json(json.dumps(value, ensure_ascii=False, allow_nan=False)))
