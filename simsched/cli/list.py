"""``simsched list``: what can be named."""

from __future__ import annotations

from collections.abc import Callable

import click

from simsched.cli import console
from simsched.cli.options import Word, json_option
from simsched.output.tables import Table

Rows = list[dict[str, object]]


@click.command("list", epilog="Example: simsched list hardware")
@click.argument("kind", type=Word(["graphs", "hardware", "schedulers", "generators", "experiments"]), metavar="KIND")
@json_option
def command(kind: str, as_json: bool) -> None:
    """List what can be named.

    KIND is graphs, hardware, schedulers, generators or experiments.

    Names are looked up in the folders of $SIMSCHED_PATH, in the working directory, and among what comes with simsched.
    """
    rows = LISTS[kind]()
    if as_json:
        for row in rows:
            console.emit(row)
        return
    headers = list(rows[0]) if rows else ["name"]
    numeric = {key for key in headers if all(isinstance(row[key], int) for row in rows)}
    shown = tuple(f">{key}" if key in numeric else key for key in headers)
    cells = [tuple(str(row[key]) for key in headers) for row in rows]
    console.show(Table(shown, cells, wrap=len(headers) - 1))
    if kind == "hardware":
        console.say("\nShort forms: lanes:4 (one device, 4 lanes), procs:4 (4 devices), native (.sm and .rcp files).")


def _graphs() -> Rows:
    from simsched.data import names
    from simsched.graph.io import load_graph

    rows: Rows = []
    for name in names("graphs"):
        graph = load_graph(name)
        rows.append(
            {
                "name": name,
                "operators": len(graph),
                "edges": graph.edge_count,
                "description": " ".join(graph.description.split()),
            }
        )
    return rows


def _hardware() -> Rows:
    from simsched.profiles import load_hardware, profile_names

    return [{"name": name, "description": load_hardware(name).description} for name in profile_names()]


def _schedulers() -> Rows:
    from simsched.schedulers.registry import scheduler_class, scheduler_names

    return [{"name": name, "description": _first_line(scheduler_class(name))} for name in scheduler_names()]


def _generators() -> Rows:
    from simsched.graph.generators import GENERATORS

    return [{"name": name, "description": _first_line(function)} for name, function in GENERATORS.items()]


def _experiments() -> Rows:
    from simsched.data import names
    from simsched.experiment.schema import load_experiment

    rows: Rows = []
    for name in names("experiments"):
        description = load_experiment(name).description
        rows.append({"name": name, "description": " ".join(description.split()).split(". ")[0].rstrip(".")})
    return rows


def _first_line(documented: object) -> str:
    import inspect

    return (inspect.getdoc(documented) or "").split("\n")[0].rstrip(".")


LISTS: dict[str, Callable[[], Rows]] = {
    "graphs": _graphs,
    "hardware": _hardware,
    "schedulers": _schedulers,
    "generators": _generators,
    "experiments": _experiments,
}
