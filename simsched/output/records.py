"""Results as plain records: the JSON object of the command line, and the rows of its files.

``docs/reference/json-contract.md`` describes the object; its required keys do not change.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simsched.analysis.bounds import Bound, best_lower
from simsched.analysis.metrics import Metrics, metrics, serial_time
from simsched.analysis.rows import run_row as figures_of
from simsched.graph.ranks import critical_path
from simsched.problem import Problem
from simsched.result import Comparison, Failure, Result
from simsched.schedulers.proof import Proof

Row = dict[str, Any]

RUN_COLUMNS = (
    "time_unit", "operators", "makespan_ns", "serial_ns", "speedup", "critical_path_ns", "lower_bound_ns",
    "lower_bound", "gap", "upper_bound_ns", "amdahl_ns", "amdahl_textbook_ns", "machines", "efficiency",
    "parallelism", "utilisation", "balance", "busy_ns", "idle_ns", "sm_utilisation", "lost_ns",
    "bandwidth_utilisation", "host_utilisation", "copies", "copied_bytes", "copy_ns", "copy_wait_ns", "peak_bytes",
    "peak_at_ns", "capacity_bytes", "policy_calls", "idle", "valid", "noise", "violations", "error",
)  # fmt: skip
"""Columns of :func:`run_row`; those of a run that failed are among them."""


def comparison_object(graph: str, hardware: str, comparison: Comparison, *, timing: bool = False) -> Row:
    """Return the object that ``compare --json`` and ``run --json`` print for one graph.

    Parameters
    ----------
    graph, hardware : str
        As the user wrote them.
    comparison : Comparison
    timing : bool
        Whether to say how long schedulers took; then two equal commands no longer print equal bytes.
    """
    problem = comparison.problem
    limits = comparison.bounds()
    runs = [
        failure_record(problem, run, limits, comparison.actual)
        if isinstance(run, Failure)
        else run_record(run, metrics(run, limits), timing=timing)
        for run in comparison.runs()
    ]
    durations = problem.shortest_durations(comparison.actual)
    return {
        "graph": graph,
        "hardware": hardware,
        "graph_name": problem.graph.name,
        "hardware_name": problem.hardware.name,
        "operators": len(problem.graph),
        "edges": problem.graph.edge_count,
        "time_unit": problem.graph.time_unit,
        "seed": problem.seed,
        "memory": comparison.memory,
        "critical_path": [problem.graph.names[op] for op in critical_path(problem.graph, durations)],
        "bounds": [{"name": bound.name, "ns": bound.value, "kind": bound.kind} for bound in limits],
        "unknown": unknown_types(problem),
        "notes": list(problem.graph.notes),
        "runs": runs,
    }


def run_record(result: Result, figures: Metrics | None = None, *, timing: bool = False) -> Row:
    """Return one element of ``runs``."""
    known = metrics(result) if figures is None else figures
    record = {
        "scheduler": result.label,
        "canonical": result.scheduler,
        **figures_of(result, known),
        "peak_bytes_by_device": {use.device: use.peak for use in known.memory},
        "valid": result.valid,
        "violations": list(result.violations or ()),
        "notes": list(known.notes),
        "error": None,
    }
    if result.proved is not None:
        record["proved"] = proof_record(result.proved)
    if timing:
        record["scheduler_seconds"] = result.scheduler_seconds
    return record


def proof_record(proof: Proof) -> Row:
    """Return what a scheduler has proved."""
    return {"bound_ns": proof.bound, "status": proof.status, "planned_ns": proof.planned}


def failure_record(
    problem: Problem, failure: Failure, limits: Sequence[Bound], actual: Sequence[Sequence[int]] | None
) -> Row:
    """Return the element of ``runs`` for a run that could not be carried out."""
    best = best_lower(limits)
    kind, _, message = failure.message.partition(": ")
    return {
        "scheduler": failure.scheduler,
        "canonical": None,
        "operators": len(problem.graph),
        "makespan_ns": None,
        "serial_ns": serial_time(problem, actual),
        "critical_path_ns": limits[0].value,
        "lower_bound_ns": best.value,
        "lower_bound": best.name,
        "peak_bytes": None,
        "valid": False,
        "error": {"type": kind, "message": message},
    }


def comparison_rows(comparison: Comparison) -> Iterator[tuple[Result | Failure, Row]]:
    """Yield the runs of a comparison, those that failed too, each with its row of ``runs.csv``."""
    limits = comparison.bounds()
    for run in comparison.runs():
        yield run, failed_row(comparison, run, limits) if isinstance(run, Failure) else run_row(run, limits)


def run_row(result: Result, limits: tuple[Bound, ...] | None = None) -> Row:
    """Return one row of ``runs.csv`` and of experiments: :func:`run_record` without what is nested."""
    found = figures_of(result, metrics(result, limits))
    found["idle"] = round(1.0 - float(found["utilisation"] or 0.0), 6)
    row: Row = {"time_unit": result.problem.graph.time_unit, **found, "valid": result.valid}
    return row | {"noise": result.noise or None, "violations": len(result.violations or ()), "error": None}


def failed_row(comparison: Comparison, failure: Failure, limits: Sequence[Bound]) -> Row:
    """Return the row of a run that could not be carried out."""
    problem = comparison.problem
    record = failure_record(problem, failure, limits, comparison.actual)
    kept = ("operators", "serial_ns", "critical_path_ns", "lower_bound_ns", "lower_bound")
    head = {"time_unit": problem.graph.time_unit, **{key: record[key] for key in kept}}
    return head | {"valid": False, "error": failure.message}


def unknown_types(problem: Problem) -> list[Row]:
    """Operator types of unknown cost, with their number and their share of the serial time."""
    durations = problem.shortest_durations()
    whole = sum(durations)
    found: dict[str, list[int]] = {}
    for op in sorted({op for column in problem.costs for op, cost in column.items() if not cost.known}):
        entry = found.setdefault(problem.graph.op_types[op], [0, 0])
        entry[0] += 1
        entry[1] += durations[op]
    return [
        {"op_type": kind, "operators": count, "share": round(time / whole, 6) if whole else 0.0}
        for kind, (count, time) in sorted(found.items())
    ]


def to_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """Write rows as CSV with a header; the columns are those of the rows, in the order in which they first occur."""
    listed = list(rows)
    names = list(columns or dict.fromkeys(key for row in listed for key in row))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    for row in listed:
        writer.writerow([_cell(row.get(name)) for name in names])
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value
