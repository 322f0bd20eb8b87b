"""Runs of one graph as one document of plain data: all that a page shows, computed before it is opened.

``web/types.d.ts`` says what each field is; equal runs give equal documents, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from simsched.analysis.bounds import Bound
from simsched.config.plain import to_plain
from simsched.errors import ConfigError, Fault
from simsched.graph.dump import dump_graph
from simsched.page.graph_part import graph_part
from simsched.page.machine_part import Machine, distinct, machines_of
from simsched.page.run_part import run_part
from simsched.result import Failure, Result

Progress = Callable[[int, int], None]


def page_document(
    results: Sequence[Result],
    *,
    title: str = "",
    failures: Sequence[Failure] = (),
    live: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return ``PageDocument`` of ``web/types.d.ts``.

    Parameters
    ----------
    results : sequence of Result
        Runs of one graph, at least one; they may be on different hardware.
    title : str
        By default the names of the graph and of the hardware.
    failures : sequence of Failure
        Runs that could not be carried out, to be told of.
    live : bool
        Whether the page may run the first problem again: then the graph and the hardware are in the document, too.
    progress : callable, optional
        Called with the number of runs that are done and that of all.

    Returns
    -------
    dict
        Plain data without NaN or infinity.

    Raises
    ------
    ConfigError
        If there is no run, or the runs are of different graphs.

    Examples
    --------
    >>> from simsched import run
    >>> document = page_document([run("residual", "serial", "lanes:2"), run("residual", "critical_path", "lanes:2")])
    >>> document["title"], [(each["label"], each["makespan"]) for each in document["runs"]]
    ('residual on lanes:2', [('serial', 7), ('critical_path', 6)])
    """
    _check(results)
    machines = machines_of(results)
    limits = [machine.bounds() for machine in machines]
    graph = results[0].problem.graph
    return {
        "title": title or f"{graph.name} on {', '.join(dict.fromkeys(run.problem.hardware.name for run in results))}",
        "graph": graph_part(graph),
        "machines": [machine.part(bounds) for machine, bounds in zip(machines, limits, strict=True)],
        "runs": _runs(results, machines, limits, progress or (lambda done, total: None)),
        "failures": [{"label": failure.scheduler, "message": failure.message} for failure in failures],
        "problem": live_problem(results) if live else None,
    }


def _runs(
    results: Sequence[Result], machines: Sequence[Machine], limits: Sequence[tuple[Bound, ...]], progress: Progress
) -> list[dict[str, Any]]:
    homes = _homes(results, machines)
    labels = _labels(results, machines, homes)
    found = []
    for number, (run, label, home) in enumerate(zip(results, labels, homes, strict=True)):
        progress(number, len(results))
        found.append(run_part(run, label, home, limits[home]))
    progress(len(results), len(results))
    return found


def live_problem(results: Sequence[Result]) -> dict[str, Any]:
    """Return ``LiveProblem`` of ``web/types.d.ts``: what running the first problem again needs."""
    first = results[0]
    specs = dict.fromkeys(run.label for run in results)
    return {
        "graph": dump_graph(first.problem.graph),
        "hardware": to_plain(first.problem.hardware),
        "schedulers": [{"spec": spec} for spec in specs],
        "memory": first.memory,
        "seed": first.problem.seed,
    }


def _check(results: Sequence[Result]) -> None:
    """Refuse what is not runs of one graph."""
    if not results:
        raise ConfigError("page", [Fault("there is no run to show")])
    first = results[0].problem.graph
    others = [
        run.problem.graph
        for run in results
        if run.problem.graph is not first and run.problem.graph.content_hash != first.content_hash
    ]
    if others:
        other = others[0]
        what = f"{first.name} ({len(first)} operators) and {other.name} ({len(other)} operators)"
        raise ConfigError("page", [Fault(f"a page shows runs of one graph, but these are of different ones: {what}")])


def _homes(results: Sequence[Result], machines: Sequence[Machine]) -> list[int]:
    home = {id(run): number for number, machine in enumerate(machines) for run in machine.runs}
    return [home[id(run)] for run in results]


def _labels(results: Sequence[Result], machines: Sequence[Machine], homes: Sequence[int]) -> list[str]:
    """What each run is called: its scheduler, with its machine where there are several; no two alike."""
    if len(machines) == 1:
        return distinct([run.label for run in results])
    return distinct([f"{run.label} on {machines[home].name}" for run, home in zip(results, homes, strict=True)])
