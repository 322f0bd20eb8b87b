"""``simsched experiment``: a grid of runs from a YAML file, resumed where it was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, exits
from simsched.cli.options import WholeType, json_option
from simsched.output.tables import Table
from simsched.units import plural

if TYPE_CHECKING:
    from simsched.experiment.runner import Finished

SHOWN_ROWS = 60
AXES = (
    "streams", "launch", "device_model", "place", "memory", "memory_capacity", "microbatches", "noise", "seed",
)  # fmt: skip


@click.command("experiment", epilog="Example: simsched experiment critical_path_before_after")
@click.argument("file", metavar="NAME|FILE")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Where results go, and are found again. Default: results/NAME.",
)  # fmt: skip
@click.option("--jobs", "-j", type=WholeType(1, 1024), metavar="N", help="Processes. Default: one a core.")
@click.option("--no-plots", "plots", is_flag=True, default=True, flag_value=False, help="Draw no pictures.")
@json_option
@click.pass_context
def command(ctx: click.Context, file: str, output: Path | None, jobs: int | None, plots: bool, as_json: bool) -> None:
    """Run an experiment: a grid of runs, resumed where it stopped.

    A grid is graphs x hardware x schedulers x parameters x seeds, from a YAML file.

    Finished runs are kept at once. After an interruption the same command goes on where it stopped; results do not
    depend on interruptions nor on the number of processes.

    Writes runs.csv, the pictures that the file asks for, manifest.json, and the log runs.jsonl.
    """
    from simsched.cli.progress import progress
    from simsched.experiment import load_experiment, run_experiment
    from simsched.experiment.report import write_report

    experiment = load_experiment(file)
    folder = output or Path("results") / experiment.name
    try:
        with progress(experiment.name) as advance:
            finished = run_experiment(experiment, folder, jobs=jobs, progress=advance)
    except KeyboardInterrupt:
        message = f"what is finished is kept in {folder}; the same command goes on from there"
        raise exits.InterruptedExit(message) from None
    files = write_report(finished, folder, plots=plots)
    if as_json:
        for row in finished.rows:
            console.emit(row)
    else:
        _show(finished, folder, files)
    ctx.exit(_code(finished))


def _show(finished: Finished, folder: Path, files: list[str]) -> None:
    console.say(f"{finished.experiment.name}: {' '.join(finished.experiment.description.split())}")
    console.say()
    _show_table(finished.rows)
    failed, invalid = _counts(finished)
    kept = f", {finished.kept} of them kept from before" if finished.kept else ""
    console.say(
        f"\n{plural(len(finished.rows), 'run')}{kept}; {failed} could not be carried out, {invalid} break a rule"
    )
    console.say(f"written to {folder}: {', '.join(files)}")


def _show_table(rows: list[dict[str, Any]]) -> None:
    """Show the columns that tell rows apart, and the three figures that everybody looks for."""
    from simsched.units import format_duration, format_size

    settings = list(dict.fromkeys(key for row in rows for key in row if key.startswith("graph.")))
    rows = [{**row, "graph": row["graph"].partition("(")[0]} for row in rows]
    axes = ("graph", *settings, "hardware", "scheduler", *AXES)
    values = {name: {row.get(name) for row in rows} - {None} for name in axes}
    varied = [name for name in axes if len(values[name]) > 1] or ["graph", "scheduler"]
    cells = []
    for row in rows[:SHOWN_ROWS]:
        makespan, gap, peak = row.get("makespan_ns"), row.get("gap"), row.get("peak_bytes")
        cells.append(
            (
                *(_cell(name, row.get(name)) for name in varied),
                "failed" if makespan is None else format_duration(makespan, row["time_unit"]),
                "-" if gap is None else f"{100 * gap:.1f} %",
                "-" if peak is None else format_size(peak),
            )
        )
    heads = [name.removeprefix("graph.") for name in varied]
    console.show(
        Table(
            (*heads, ">makespan", ">gap", ">peak"),
            cells,
            wrap=varied.index("scheduler") if "scheduler" in varied else 0,
        )
    )
    if len(rows) > SHOWN_ROWS:
        console.say(f"... and {len(rows) - SHOWN_ROWS} more rows in runs.csv")


def _cell(name: str, value: object) -> str:
    from simsched.units import format_size

    if isinstance(value, int) and name == "memory_capacity":
        return format_size(value)
    return "-" if value is None else str(value)


def _counts(finished: Finished) -> tuple[int, int]:
    """Count runs that could not be carried out, and runs that break a rule."""
    failed = sum(row.get("error") is not None for row in finished.rows)
    return failed, sum(row["valid"] is False for row in finished.rows) - failed


def _code(finished: Finished) -> int:
    failed, invalid = _counts(finished)
    bad = invalid or (failed and finished.experiment.failures == "reported")
    return exits.RUN_FAILED if bad else exits.OK
