"""Reading tables of measured durations, from CSV or JSON.

A row has ``operator`` (a name) or ``op_type``, beside the latter perhaps ``shape`` (of the first output,
``1x64x56x56``); perhaps ``device``; and ``duration`` with its unit (``12.5 us``), or a bare number under
``duration_ns``, ``duration_us``, ``duration_ms`` or ``duration_s``. A JSON file is a list of such objects.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from typing import Any

from simsched.config import Document, located, read_document
from simsched.config.files import read_text
from simsched.config.scalars import plain_scalar
from simsched.cost.base import CostModel
from simsched.cost.table import Key, Shape, Table
from simsched.errors import ConfigError, Fault, PathKey, suggest
from simsched.units import TIME_UNITS, duration

NAMES = ("operator", "op_type", "shape", "device")
DURATIONS = ("duration", "duration_ns", "duration_us", "duration_ms", "duration_s")
COLUMNS = (*NAMES, *DURATIONS)


def load_table(path: str | PathLike[str], fallback: CostModel | None = None) -> Table:
    """Read a table of measured durations from a file.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.json`` or ``.json.gz``.
    fallback : CostModel, optional
        Asked for operators that are not in the table.

    Raises
    ------
    ConfigError
        With the place of every fault of the file.
    """
    source = fspath(path)
    if source.endswith(".csv"):
        return _table(_csv_document(read_text(path), source), fallback)
    if not source.endswith((".json", ".json.gz")):
        raise ConfigError(
            source, [Fault("unknown kind of table; expected a name that ends in .csv, .json or .json.gz")]
        )
    return _table(read_document(path), fallback)


def parse_table(text: str, source: str = "table.csv", fallback: CostModel | None = None) -> Table:
    r"""Read a table from CSV text.

    Raises
    ------
    ConfigError
        With the place of every fault.

    Examples
    --------
    >>> parse_table("op_type,shape,duration_us\nConv,1x64x56x56,12.5\n").durations
    {Key(operator=None, op_type='Conv', shape=(1, 64, 56, 56), device=None): 12500}
    """
    return _table(_csv_document(text, source), fallback)


def _table(document: Document, fallback: CostModel | None) -> Table:
    faults: list[Fault] = []
    durations: dict[Key, int] = {}
    first: dict[Key, PathKey] = {}
    rows = document.data
    if not isinstance(rows, list):
        raise located(
            document, [Fault("expected a list of rows, such as [{'op_type': 'Conv', 'duration': '12.5 us'}]")]
        )
    for number, row in enumerate(rows):
        path: PathKey = (number,)
        if not isinstance(row, Mapping):
            faults.append(Fault("expected a row, such as {'op_type': 'Conv', 'duration': '12.5 us'}", path))
            continue
        given = {name: value for name, value in row.items() if value not in (None, "")}
        wrong = [*_row_faults(given, path)]
        if wrong:
            faults += wrong
            continue
        key = Key(given.get("operator"), given.get("op_type"), _shape(given.get("shape")), given.get("device"))
        if key in first:
            faults.append(Fault(f"the same as row {_row_name(document, first[key])}; keep one of them", path))
            continue
        first[key] = path
        durations[key] = _duration(given)
    if not rows:
        faults.append(Fault("the table has no rows"))
    if faults:
        raise located(document, faults)
    return Table(durations, document.source, fallback)


def _row_faults(row: Mapping[str, Any], path: PathKey) -> Iterator[Fault]:
    for name in row:
        if name not in COLUMNS:
            yield Fault(f"unknown column {name!r}; {suggest(name, COLUMNS)}", (*path, name))
    for name in ("operator", "op_type", "device"):
        if name in row and not isinstance(row[name], str):
            yield Fault(f"expected a name, got {row[name]!r}", (*path, name))
    if ("operator" in row) == ("op_type" in row):
        yield Fault("a row is about one 'operator', by name, or about an 'op_type': give one of them", path)
    if "shape" in row:
        if "op_type" not in row:
            yield Fault("a shape goes with an 'op_type'; an operator's name says all", (*path, "shape"))
        try:
            _shape(row["shape"])
        except ValueError as error:
            yield Fault(str(error), (*path, "shape"))
    given = [name for name in DURATIONS if name in row]
    if len(given) != 1:
        wanted = "'duration' with a unit, or 'duration_us' as a bare number"
        yield Fault(f"{'two durations' if given else 'no duration'}; give {wanted}", path)
        return
    try:
        _duration(row)
    except ValueError as error:
        yield Fault(str(error), (*path, given[0]))


def _duration(row: Mapping[str, Any]) -> int:
    name = next(name for name in DURATIONS if name in row)
    value, unit = row[name], name.partition("_")[2]
    if not unit:
        return duration(value)
    bare = plain_scalar(value) if isinstance(value, str) else value
    if isinstance(bare, bool) or not isinstance(bare, (int, float)):
        raise ValueError(f"expected a bare number of {unit}, got {value!r}")
    return duration(bare, bare=TIME_UNITS[unit])


def _shape(value: Any) -> Shape | None:
    if value is None:
        return None
    if isinstance(value, str) and re.fullmatch(r"[0-9]+(\s*[x,]\s*[0-9]+)*", value):
        return tuple(int(size) for size in re.findall(r"[0-9]+", value))
    if isinstance(value, list) and all(
        isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in value
    ):
        return tuple(int(size) for size in value)
    raise ValueError(f"expected the shape of an output, such as '1x64x56x56', got {value!r}")


# --- CSV as a document ------------------------------------------------------------------------------------------


class _Lines:
    """Finds rows of a CSV file; a fault is placed at the start of its row."""

    def __init__(self, lines: list[int]) -> None:
        self.lines = lines

    def find(self, path: PathKey, *, key: bool) -> tuple[int, int] | None:
        if path and isinstance(path[0], int):
            return self.lines[path[0]], 1
        return 1, 1


def _csv_document(text: str, source: str) -> Document:
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    header: list[str] | None = None
    faults: list[Fault] = []
    start = 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            stripped = [cell.strip() for cell in cells]
            if not any(stripped):
                continue
            if header is None:
                header = stripped
                faults += _header_faults(header, line)
            elif len(stripped) != len(header):
                message = (
                    f"{len(stripped)} cells, but the header has {len(header)} columns; quote cells that hold a comma"
                )
                faults.append(Fault(message, line=line, column=1))
            else:
                rows.append(dict(zip(header, stripped, strict=True)))
                lines.append(line)
    except csv.Error as error:
        faults.append(Fault(f"not well-formed CSV: {error}", line=reader.line_num, column=1))
    if header is None:
        faults.append(Fault(f"expected a header line, e.g. 'op_type,shape,duration_us'; columns: {', '.join(COLUMNS)}"))
    if faults:
        raise ConfigError(source, faults)
    return Document(rows, source, _Lines(lines))


def _header_faults(header: list[str], line: int) -> Iterator[Fault]:
    for number, name in enumerate(header):
        if name not in COLUMNS:
            hint = suggest(name, COLUMNS)
            yield Fault(f"unknown column {name!r}; {hint}", line=line, column=1)
        elif name in header[:number]:
            yield Fault(f"column {name!r} is given twice", line=line, column=1)


def _row_name(document: Document, path: PathKey) -> str:
    position = document.locate(path)
    return f"in line {position[0]}" if position else str(path[0])
