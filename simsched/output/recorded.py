"""Recorded runs: a folder holds all that is needed to judge a run again, without the files it was made from.

``problem.json`` has the graph, the hardware and the costs of every operator; each run's folder has ``trace.json``
(what happened) and ``run.json`` (under which scheduler and parameters).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from simsched.config import Document, read_document, validate
from simsched.config.files import read_text
from simsched.config.plain import to_plain
from simsched.cost.base import KernelCost
from simsched.errors import ConfigError, Fault
from simsched.hardware import HardwareProfile
from simsched.problem import MemoryMode, Problem
from simsched.profiles.ranges import check_hardware
from simsched.result import Comparison, Failure, Result
from simsched.schedulers.proof import Proof
from simsched.trace import read_trace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Problem:
    """What ``problem.json`` holds."""

    simsched_problem: int
    graph: dict[str, Any]
    hardware: HardwareProfile
    costs: list[dict[int, KernelCost]]
    allowed: dict[int, list[int]]
    seed: int
    memory: MemoryMode
    failures: list[tuple[str, str]]
    runs: list[str]


@dataclass(frozen=True, slots=True)
class _Run:
    """What ``run.json`` holds."""

    simsched_run: int
    scheduler: str
    written: str
    memory: MemoryMode
    noise: str
    seed: int
    actual: list[list[int]] | None
    violations: list[str] | None
    proved: Proof | None = None


def problem_text(comparison: Comparison, folders: Sequence[str]) -> str:
    """Return ``problem.json`` of a comparison whose runs lie in the given folders, in this order."""
    from simsched.graph.io import dump_graph

    problem = comparison.problem
    return _compact(
        {
            "simsched_problem": 1,
            "graph": dump_graph(problem.graph),
            "hardware": to_plain(problem.hardware),
            "costs": [{str(op): to_plain(cost) for op, cost in sorted(column.items())} for column in problem.costs],
            "allowed": {str(op): list(devices) for op, devices in sorted(problem.allowed.items())},
            "seed": problem.seed,
            "memory": comparison.memory,
            "failures": [list(failure) for failure in comparison.failures],
            "runs": list(folders),
        }
    )


def run_text(result: Result) -> str:
    """Return ``run.json`` of a run."""
    return _compact(
        {
            "simsched_run": 1,
            "scheduler": result.scheduler,
            "written": result.written,
            "memory": result.memory,
            "noise": result.noise,
            "seed": result.seed,
            "actual": None if result.actual is None else [list(column) for column in result.actual],
            "violations": None if result.violations is None else list(result.violations),
            **({} if result.proved is None else {"proved": to_plain(result.proved)}),
        }
    )


def read_run(folder: Path) -> Result:
    """Read one recorded run; the folder above it holds its problem.

    Raises
    ------
    ConfigError
        If a file is missing or is not what simsched writes.
    """
    return _read_run(folder, _read_problem(folder.parent)[0])


def read_comparison(folder: Path) -> Comparison:
    """Read all recorded runs of one problem, in the order in which they were made.

    Parameters
    ----------
    folder : Path
        The folder of the problem, or one above it that holds a single problem.

    Raises
    ------
    ConfigError
        If there is no recorded run, or more than one problem, or a file is not what simsched writes.
    """
    place = _problem_folder(folder)
    problem, recorded = _read_problem(place)
    results = tuple(_read_run(place / name, problem) for name in recorded.runs)
    failures = tuple(Failure(*failure) for failure in recorded.failures)
    return Comparison(problem, results, failures, recorded.memory)


def is_recorded(path: Path) -> bool:
    """Whether a path is the folder of a recorded run, of a problem, or of several."""
    return path.is_dir() and any((path / name).is_file() for name in ("run.json", "problem.json", "manifest.json"))


def _problem_folder(folder: Path) -> Path:
    if (folder / "problem.json").is_file():
        return folder
    below = sorted(path.parent for path in folder.glob("*/problem.json"))
    if len(below) == 1:
        return below[0]
    if not below:
        raise ConfigError(
            str(folder), [Fault("holds no recorded runs; write some with 'simsched compare ... --output'")]
        )
    names = ", ".join(str(path) for path in below)
    raise ConfigError(str(folder), [Fault(f"holds several problems; name one of: {names}")])


def _read_problem(folder: Path) -> tuple[Problem, _Problem]:
    from simsched.graph.io import graph_from_document

    document, found = _read(folder / "problem.json", _Problem)
    graph = graph_from_document(Document(found.graph, document.source))
    check_hardware(found.hardware, document.source)
    _check_costs(found, len(graph), document.source)
    costs = tuple(found.costs)
    allowed = {op: tuple(devices) for op, devices in found.allowed.items()}
    return Problem(graph, found.hardware, costs, allowed, found.seed), found


def _check_costs(found: _Problem, operators: int, source: str) -> None:
    """Refuse costs of devices and operators that there are not."""
    devices = len(found.hardware.devices)
    strange = [op for column in found.costs for op in column if not 0 <= op < operators]
    strange += [op for op in found.allowed if not 0 <= op < operators]
    if strange:
        raise ConfigError(source, [Fault(f"has costs of operator {strange[0]} of {operators}")])
    if len(found.costs) != devices:
        raise ConfigError(source, [Fault(f"has costs on {len(found.costs)} devices of {devices}")])
    placed = [device for row in found.allowed.values() for device in row or (-1,)]
    if not all(0 <= device < devices for device in placed):
        raise ConfigError(source, [Fault(f"places operators on devices that are none of its {devices}")])


def _check_actual(run: _Run, problem: Problem, source: str) -> None:
    columns, operators = run.actual or [], len(problem.graph)
    whole = all(len(column) == operators and min(column, default=0) >= 0 for column in columns)
    if run.actual is not None and (len(columns) != len(problem.devices) or not whole):
        raise ConfigError(source, [Fault("'actual' has not a duration for each operator on each device")])


def _read_run(folder: Path, problem: Problem) -> Result:
    document, run = _read(folder / "run.json", _Run)
    _check_actual(run, problem, document.source)
    path = folder / "trace.json"
    trace = read_trace(read_text(path), problem, str(path))
    violations = None if run.violations is None else tuple(run.violations)
    return Result(
        problem,
        run.scheduler,
        trace,
        run.memory,
        run.actual,
        violations,
        0.0,
        run.written,
        run.noise,
        run.seed,
        run.proved,
    )


def _read(path: Path, kind: type[T]) -> tuple[Document, T]:
    from pydantic import TypeAdapter

    document = read_document(path)
    return document, validate(document, TypeAdapter(kind))


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
