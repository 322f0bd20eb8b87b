"""Arenas of a run as plain records and as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simsched.analysis.arena import ArenaUse
from simsched.analysis.arenas import Arenas, arenas
from simsched.output.tables import Table
from simsched.result import Comparison, Failure, Result
from simsched.units import format_size


def add_arenas(document: dict[str, Any], comparison: Comparison, alignment: int) -> None:
    """Add ``arenas`` to each run of the object that ``--json`` prints."""
    for record, run in zip(document["runs"], comparison.runs(), strict=True):
        if not isinstance(run, Failure):
            record["arenas"] = [_record(one) for one in arenas(run, alignment=alignment)]


def _record(found: Arenas) -> dict[str, Any]:
    return {
        "device": found.device,
        "capacity_bytes": found.capacity,
        "alignment": found.alignment,
        "ideal_bytes": found.ideal,
        "best_fit": _use_record(found.best),
        "first_fit": _use_record(found.first),
        "plan": {"bytes": found.plan.size, "by_size_bytes": found.plan.plain, "rule": found.plan.rule},
    }


def _use_record(use: ArenaUse) -> dict[str, Any]:
    return {
        "bytes": use.size,
        "at_ns": use.at,
        "fragmentation": round(use.fragmentation, 6),
        "worst_fragmentation": round(use.worst, 6),
    }


def arena_table(result: Result, alignment: int) -> Table:
    """A row for each way to place what a run held on a device; empty where it held nothing."""
    headers = ("device", "memory", ">size", ">above ideal", ">empty then", ">empty at worst", "fits")
    rows = [row for found in arenas(result, alignment=alignment) for row in _rows(found)]
    return Table(headers, rows)


def _rows(found: Arenas) -> Iterator[tuple[str, ...]]:
    def row(name: str, size: int, *holes: str) -> tuple[str, ...]:
        above = f"{100 * (size / found.ideal - 1):.1f} %"
        fits = "-" if found.capacity is None else "yes" if size <= found.capacity else "NO"
        return (found.device, name, format_size(size), above, *(holes or ("-", "-")), fits)

    yield row("ideal: live bytes", found.ideal)
    yield row("planned addresses", found.plan.size)
    for name, use in (("best fit", found.best), ("first fit", found.first)):
        yield row(name, use.size, f"{100 * use.fragmentation:.1f} %", f"{100 * use.worst:.1f} %")
