"""Runs of several schedulers on the same problems, as the rows of ``runs.csv`` or of comparisons tell them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simsched.analysis.bounds import best_lower
from simsched.errors import ConfigError, Fault, suggest
from simsched.result import Comparison, Result

TABLE = "runs.csv"
SETTINGS = (
    "graph", "hardware", "streams", "launch", "device_model", "place", "memory", "memory_capacity", "microbatches",
    "noise",
)  # fmt: skip
"""Columns that say which problem a row is of, beside those that begin with ``graph.``; and the seed."""
NEEDED = ("graph", "scheduler", "makespan_ns", "lower_bound_ns")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One problem with one seed, run under every scheduler.

    Attributes
    ----------
    unit : str
        The graph: what another draw would replace. On other hardware, with other seeds, it is still the same graph.
    family : str
        Where such a draw would come from: the generator, or empty for a graph that is one of its kind.
    makespans : tuple of (int or None)
        ns (ticks) by scheduler; None where the run failed or broke a rule.
    bound : int
        The best lower bound known, in ns.
    seconds : tuple of float
        Wall time of each scheduler, where it is known.
    """

    unit: str
    family: str
    makespans: tuple[int | None, ...]
    bound: int
    seconds: tuple[float, ...] = ()

    @property
    def shortest(self) -> int | None:
        """The shortest makespan, None where every run failed."""
        return min((makespan for makespan in self.makespans if makespan is not None), default=None)


@dataclass(frozen=True)
class Cases:
    """Cases under the same schedulers.

    Attributes
    ----------
    schedulers : tuple of str
    groups : mapping of str to sequence of Case
        By the values of the column that was asked for, in the order in which they first occur.
    left_out : int
        Cases that one of the schedulers was not run on.
    """

    schedulers: tuple[str, ...]
    groups: Mapping[str, Sequence[Case]]
    left_out: int = 0


@dataclass
class _Gathered:
    """Rows of one case so far."""

    row: Row
    runs: dict[str, int | None] = field(default_factory=dict)
    bound: int = 0


def read_cases(sources: Iterable[Path], by: str | None = None) -> Cases:
    """Read the tables of experiments or of recorded comparisons.

    Parameters
    ----------
    sources : iterable of Path
        Folders that hold a ``runs.csv``, or such files.
    by : str, optional
        Column whose values are kept apart, ``noise`` for example.

    Raises
    ------
    ConfigError
        If a file cannot be read, lacks a column, or tells two makespans of the same run.
    """
    gathered: dict[tuple[str, ...], _Gathered] = {}
    schedulers: dict[str, None] = {}
    for source in sources:
        path = source / TABLE if source.is_dir() else source
        rows = _read(path)
        _check_columns(path, rows, by)
        keys = [*SETTINGS, *(name for name in rows[0] if name.startswith("graph.")), "seed"]
        for number, row in enumerate(rows, 2):
            key = tuple(f"{name}={row[name]}" for name in keys if row.get(name))
            schedulers[row["scheduler"]] = None
            _gather(gathered.setdefault(key, _Gathered(row)), row, f"{path}, line {number}")
    return _grouped(tuple(schedulers), gathered, by)


def _read(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError:
        message = f"no such table; name a folder that 'simsched experiment' or 'compare --output' wrote, or a {TABLE}"
        raise ConfigError(str(path), [Fault(message)]) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(str(path), [Fault(f"is not a table of comma-separated values: {error}")]) from None
    if not rows:
        raise ConfigError(str(path), [Fault("holds no rows")])
    return rows


def _check_columns(path: Path, rows: Sequence[Row], by: str | None) -> None:
    lacking = [name for name in NEEDED if name not in rows[0]]
    if lacking:
        raise ConfigError(str(path), [Fault(f"has no column {lacking[0]!r}; it is not a table of runs")])
    if by is not None and by not in rows[0]:
        raise ConfigError(str(path), [Fault(f"has no column {by!r}; {suggest(by, rows[0])}")])


def _gather(case: _Gathered, row: Row, where: str) -> None:
    name = row["scheduler"]
    try:
        makespan = int(row["makespan_ns"]) if row["makespan_ns"] and row.get("valid") != "false" else None
        bound = int(row["lower_bound_ns"])
    except (ValueError, TypeError):
        raise ConfigError(where, [Fault("expected whole numbers of ns in makespan_ns and lower_bound_ns")]) from None
    if name in case.runs and case.runs[name] != makespan:
        message = f"{name} took {case.runs[name]} elsewhere and {makespan} here; the runs are not of the same problem"
        raise ConfigError(where, [Fault(message)])
    case.runs[name] = makespan
    case.bound = max(case.bound, bound)


def _grouped(schedulers: tuple[str, ...], gathered: Mapping[tuple[str, ...], _Gathered], by: str | None) -> Cases:
    groups: dict[str, list[Case]] = {}
    left_out = 0
    for found in gathered.values():
        if len(found.runs) < len(schedulers):
            left_out += 1
            continue
        unit = str(found.row["graph"])
        makespans = tuple(found.runs[name] for name in schedulers)
        title = "" if by is None else f"{by} {found.row[by] or 'none'}"
        groups.setdefault(title, []).append(Case(unit, family_of(unit), makespans, found.bound))
    if not groups:
        raise ConfigError("rank", [Fault("there is no problem on which all schedulers were run")])
    return Cases(schedulers, groups, left_out)


def family_of(graph: str) -> str:
    """Return the generator of a graph's label, or nothing.

    Examples
    --------
    >>> family_of("layered_random(n=50, seed=3)"), family_of("chain:10"), family_of("bert_base")
    ('layered_random', 'chain', '')
    """
    for mark in ("(", ":"):
        head, found, _ = graph.partition(mark)
        if found and head.isidentifier():
            return head
    return ""


def cases_of(comparisons: Iterable[tuple[str, Comparison]]) -> Cases:
    """Return comparisons of the same schedulers as cases; graphs are called what the user called them."""
    cases: list[Case] = []
    names: tuple[str, ...] = ()
    for written, comparison in comparisons:
        runs = list(comparison.runs())
        names = tuple(run.label for run in runs)
        makespans = tuple(run.makespan if isinstance(run, Result) and run.valid is not False else None for run in runs)
        seconds = tuple(run.scheduler_seconds if isinstance(run, Result) else 0.0 for run in runs)
        cases.append(Case(written, family_of(written), makespans, best_lower(comparison.bounds()).value, seconds))
    return Cases(names, {"": cases})
