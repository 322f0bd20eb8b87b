"""Measure and print the table: ``python -m benchmarks`` (``--quick`` leaves out the million)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.engine import engine_rows
from benchmarks.files import file_rows
from benchmarks.full import full_rows
from benchmarks.planning import planning_rows
from benchmarks.sharing import sharing_rows
from benchmarks.start_up import start_up_rows
from benchmarks.timing import Row


def main() -> None:
    """Print one line per figure, with the bar that it is held against."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 operators only, fewer rounds")
    quick = parser.parse_args().quick
    print(f"{'figure':<58} {'measured':>12} {'bar':>10}")
    for row in rows(quick):
        verdict = "" if row.bar is None or row.value <= row.bar else "  above the bar"
        bar = "" if row.bar is None else f"{row.bar:g} {row.unit}"
        print(f"{row.name:<58} {row.value:>8.3g} {row.unit:<4} {bar:>9}{verdict}", flush=True)


def rows(quick: bool) -> Iterator[Row]:
    """Every figure, cheapest first."""
    yield from start_up_rows()
    yield from file_rows()
    yield from planning_rows(rounds=3 if quick else 5)
    yield from sharing_rows(rounds=3 if quick else 5)
    yield from full_rows(100_000, rounds=3 if quick else 5)
    yield from engine_rows((100_000,) if quick else (100_000, 1_000_000), rounds=3 if quick else 5)


if __name__ == "__main__":
    main()
