"""The folder that ``--output`` writes: tables, traces and pictures of every run, and what is needed to make them again.

::

    manifest.json                 versions, hashes, parameters, seed, and a hash of every file
    timing.json                   what differs from run to run: how long schedulers took
    runs.csv                      one row a run
    GRAPH/problem.json            graph, hardware and costs, to judge the runs again
    GRAPH/comparison.png          and tradeoff.png, where there are several runs
    GRAPH/SCHEDULER/run.json      which scheduler, under which parameters
    GRAPH/SCHEDULER/trace.json    what happened
    GRAPH/SCHEDULER/perfetto.json the same for ui.perfetto.dev
    GRAPH/SCHEDULER/ops.csv       one row an operator
    GRAPH/SCHEDULER/memory.csv    live bytes over time
    GRAPH/SCHEDULER/schedule.txt  the order on each stream, to be followed or edited
    GRAPH/SCHEDULER/gantt.png
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simsched.analysis.rows import op_rows
from simsched.output.folder import slug, write_folder
from simsched.output.provenance import command_of, describe, manifest, to_bytes
from simsched.output.recorded import problem_text, run_text
from simsched.output.records import comparison_rows, to_csv
from simsched.result import Comparison, Result
from simsched.scenario import Scenario

Named = Sequence[tuple[str, Comparison]]
MOST_PICTURED = 20_000
"""Operators above which a Gantt chart would show nothing that the comparison does not."""


def write_comparisons(
    folder: Path, comparisons: Named, scenario: Scenario, arguments: Sequence[str] | None = None
) -> None:
    """Write comparisons of one command into a folder that has been claimed.

    Parameters
    ----------
    folder : Path
    comparisons : sequence of (str, Comparison)
        What the user wrote for each graph, and its runs.
    scenario : Scenario
    arguments : sequence of str, optional
        The command line without the program; ``sys.argv`` by default.
    """
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    contents = []
    timing: dict[str, dict[str, float]] = {}
    for written, comparison in comparisons:
        place = slug(comparison.problem.graph.name, taken)
        folders = _add_comparison(files, place, comparison)
        runs = [{"scheduler": run.label, "canonical": run.scheduler, "folder": name} for name, run in folders]
        failures = [{"scheduler": failure.scheduler, "error": failure.message} for failure in comparison.failures]
        contents.append(
            {"written": written, "folder": place, **describe(comparison.problem), "runs": runs, "failures": failures}
        )
        timing[place] = {name: run.scheduler_seconds for name, run in folders}
    files["runs.csv"] = to_bytes(to_csv(_rows(comparisons, scenario)))
    command = command_of(sys.argv[1:] if arguments is None else arguments)
    found = manifest(command, scenario.parameters(), {"problems": contents}, files)
    write_folder(folder, files, found, {"scheduler_seconds": timing})


def _rows(comparisons: Named, scenario: Scenario) -> Iterator[dict[str, Any]]:
    for written, comparison in comparisons:
        head = {"graph": written, "hardware": scenario.hardware}
        tail = {"memory": comparison.memory, "seed": scenario.seed}
        for run, row in comparison_rows(comparison):
            yield {**head, "scheduler": run.label, **tail, **row}


def _add_comparison(files: dict[str, bytes], place: str, comparison: Comparison) -> list[tuple[str, Result]]:
    """Add everything of one graph; return the folder of each run."""
    taken: set[str] = set()
    folders = [(slug(result.label, taken), result) for result in comparison.results]
    files[f"{place}/problem.json"] = to_bytes(problem_text(comparison, [name for name, _ in folders]))
    for name, result in folders:
        for file, text in _texts(result):
            files[f"{place}/{name}/{file}"] = to_bytes(text)
        if len(result.trace) <= MOST_PICTURED:
            files[f"{place}/{name}/gantt.png"] = _gantt(result)
    if len(comparison.results) > 1:
        for file, picture in _pictures(comparison):
            files[f"{place}/{file}"] = picture
    return folders


def _texts(result: Result) -> Iterator[tuple[str, str]]:
    from simsched.output.chrome import to_chrome

    problem, trace = result.problem, result.trace
    yield "run.json", run_text(result)
    yield "trace.json", trace.to_json(problem)
    chrome = to_chrome(result)
    yield "perfetto.json", json.dumps(chrome, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    yield "ops.csv", to_csv(op_rows(result))
    yield "memory.csv", to_csv(_memory_rows(result), ("time_ns", "device", "live_bytes"))
    yield "schedule.txt", trace.schedule().to_text(problem)


def _memory_rows(result: Result) -> Iterable[Mapping[str, Any]]:
    steps, devices = result.trace.memory, result.problem.devices
    for time, device, live in zip(steps.time, steps.device, steps.live, strict=True):
        yield {"time_ns": time, "device": devices[device].name, "live_bytes": live}


def _gantt(result: Result) -> bytes:
    from simsched.plot.gantt import plot_gantt

    return png(lambda: plot_gantt(result))


def _pictures(comparison: Comparison) -> Iterator[tuple[str, bytes]]:
    from simsched.plot.comparison import plot_comparison
    from simsched.plot.tradeoff import plot_tradeoff

    yield "comparison.png", png(lambda: plot_comparison(comparison))
    if any(len(result.trace.memory) for result in comparison.results):
        yield "tradeoff.png", png(lambda: plot_tradeoff(comparison))


def png(draw: Any) -> bytes:
    """Draw a picture and return the bytes of its PNG."""
    from simsched.plot.figure import render

    return render(draw)
