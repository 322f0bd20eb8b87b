"""What is finished: one JSON line per run, keyed by everything that decides its numbers.

The file is only appended to, so an interruption can at worst cut the last line short; such a line is dropped when the
file is opened again. A line that somebody has changed is ignored, and its run made again. So are lines of other grids,
of other versions of simsched, and of schedulers that have been edited since: they have other keys.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from simsched._version import __version__
from simsched.experiment.grid import Cell
from simsched.problem import Problem
from simsched.schedulers.registry import scheduler_spec

Row = dict[str, Any]


def problem_hash(problem: Problem) -> str:
    """Hash everything about a problem that can change a number: graph, hardware, costs and places of all operators."""
    digest = hashlib.sha256(f"{problem.graph.content_hash} {problem.hardware.content_hash}".encode())
    digest.update(repr(sorted(problem.allowed.items())).encode())
    for costs in problem.costs:
        digest.update(repr(sorted(costs.items())).encode())
    return digest.hexdigest()


def scheduler_hash(scheduler: object) -> str:
    """Hash what decides what a scheduler does: canonical spec, source of its class, files that its parameters name."""
    kind = type(scheduler)
    digest = hashlib.sha256(scheduler_spec(scheduler).encode())
    files: list[object] = [getattr(sys.modules.get(kind.__module__), "__file__", None)]
    if dataclasses.is_dataclass(scheduler):
        files += [getattr(scheduler, field.name) for field in dataclasses.fields(scheduler)]
    for file in files:
        if isinstance(file, (str, Path)) and Path(file).is_file():
            digest.update(hashlib.sha256(Path(file).read_bytes()).digest())
    return digest.hexdigest()


def key_of(cell: Cell, problem: str, scheduler: str) -> str:
    """Return the key of a run.

    Parameters
    ----------
    cell : Cell
    problem, scheduler : str
        Their hashes: the content counts, not the names of files.
    """
    scenario = cell.scenario
    parts = [__version__, problem, scheduler, scenario.memory, str(scenario.noise), scenario.seed]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _sum(row: object) -> str:
    """Return what tells a row as it was written from one that somebody has changed."""
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:16]


class Store:
    """The file of finished runs, open for appending; use it in a ``with`` block.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}

    def __enter__(self) -> Store:
        whole = self._read() if self.path.exists() else 0
        self._file = self.path.open("ab")
        self._file.truncate(whole)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _read(self) -> int:
        """Read whole lines; return the length of the file up to the end of the last one."""
        whole = 0
        for line in self.path.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            try:
                record = json.loads(line)
                if record["sum"] == _sum(record["row"]):
                    self.rows[record["key"]] = record["row"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
        return whole

    def add(self, key: str, row: Mapping[str, Any]) -> None:
        """Keep one finished run; it outlives this process when this returns."""
        self.rows[key] = dict(row)
        line = json.dumps({"key": key, "sum": _sum(row), "row": row}, allow_nan=False, separators=(",", ":"))
        self._file.write(line.encode() + b"\n")
        self._file.flush()
