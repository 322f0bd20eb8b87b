"""What an experiment leaves behind: one table, the pictures that its file asks for, and a manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simsched.experiment.runner import LOG, Finished
from simsched.experiment.schema import Plot, listed
from simsched.output.export import png
from simsched.output.folder import write_folder
from simsched.output.provenance import manifest, to_bytes
from simsched.output.records import to_csv

Row = Mapping[str, Any]
TABLE = "runs.csv"


def write_report(finished: Finished, folder: Path, *, plots: bool = True) -> list[str]:
    """Write the results of an experiment into its folder.

    Parameters
    ----------
    finished : Finished
    folder : Path
    plots : bool
        Whether to draw the pictures, too.

    Returns
    -------
    list of str
        Names of the files.

    Notes
    -----
    The bytes depend on the experiment and on its inputs alone: not on the number of processes, nor on interruptions.
    The log of finished runs is kept beside them, and is no part of the manifest.
    """
    experiment = finished.experiment
    files = {TABLE: to_bytes(to_csv(shown_columns(finished.rows)))}
    if plots:
        for plot in experiment.plots:
            files[f"{plot.file}.png"] = _picture(plot, finished.rows)
    contents = {"experiment": experiment.model_dump(exclude_defaults=True), "inputs": finished.inputs, "log": LOG}
    described = manifest(["simsched", "experiment", experiment.name], {}, contents, files)
    timing = {"scheduler_seconds": finished.seconds, "computed": finished.computed, "kept": finished.kept}
    write_folder(folder, files, described, timing)
    return list(files)


def shown_columns(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Leave out the columns that say nothing in any row."""
    names = dict.fromkeys(key for row in rows for key in row)
    kept = [name for name in names if any(row.get(name) is not None for row in rows)]
    return [{name: row.get(name) for name in kept} for row in rows]


def _picture(plot: Plot, rows: Sequence[Row]) -> bytes:
    from simsched.plot.series import Look, plot_series

    look = Look(
        plot.kind,
        plot.x,
        plot.y,
        tuple(listed(plot.lines)),
        plot.panels,
        tuple(plot.references),
        plot.title,
        plot.log_x,
        plot.log_y,
    )
    kept = [row for row in rows if all(row.get(key) in listed(value) for key, value in plot.where.items())]
    return png(lambda: plot_series(kept, look))
