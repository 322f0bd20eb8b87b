"""The referee is not easily fooled: valid runs with one thing changed, on everything that operators can share."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from simsched.analysis.check import check_trace
from simsched.engine.simulator import simulate
from simsched.errors import SimschedError
from simsched.trace import Cohort, Trace, Wait
from tests.reference.cases import Case, drawn_case
from tests.traces import changed, relaunched

CASES = 600
Mutation = Callable[[random.Random, Case, Trace], Trace | None]
"""Change one thing of a run; None where there is nothing of that kind."""


def some(rng: random.Random, rows: Sequence[Any]) -> int | None:
    return rng.randrange(len(rows)) if rows else None


def swapped(rows: Sequence[Any], number: int, row: Any) -> tuple[Any, ...]:
    return (*rows[:number], row, *rows[number + 1 :])


def shifted(*columns: str) -> Mutation:
    """Move one operator by a nanosecond or more."""

    def mutate(rng: random.Random, case: Case, trace: Trace) -> Trace | None:
        op, by = some(rng, trace.start), rng.choice((-5, -1, 1, 5))
        return None if op is None else changed(trace, **{name: {op: getattr(trace, name)[op] + by} for name in columns})

    return mutate


def longer(rng: random.Random, case: Case, trace: Trace) -> Trace | None:
    """Let whatever ends last end later, or earlier, with all that is recorded about it."""
    if not len(trace):
        return None
    op = max(range(len(trace)), key=lambda op: (trace.end[op], trace.start[op]))
    by = rng.choice((-1, 1, 5))
    if trace.end[op] + by < trace.start[op]:
        return None
    ends = [replaced(c, end=c.end + by) if c.op == op and c.end == trace.end[op] else c for c in trace.cohorts]
    return replace(changed(trace, end={op: trace.end[op] + by}), cohorts=tuple(ends))


def postponed(rng: random.Random, case: Case, trace: Trace) -> Trace | None:
    """Let all that begins from some instant on begin a nanosecond later, and end that much later."""
    times = sorted(set(trace.start))
    if not times:
        return None
    since = rng.choice(times)

    def later(time: int, begin: int) -> int:
        return time + (begin >= since)

    start = {op: later(time, time) for op, time in enumerate(trace.start)}
    end = {op: later(time, trace.start[op]) for op, time in enumerate(trace.end)}
    cohorts = [replaced(c, start=later(c.start, c.start), end=later(c.end, c.start)) for c in trace.cohorts]
    moves = [replaced(m, start=later(m.start, m.start), end=later(m.end, m.start)) for m in trace.transfers]
    return replace(changed(trace, start=start, end=end), cohorts=tuple(cohorts), transfers=tuple(moves))


def replaced(row: Any, **fields: Any) -> Any:
    """A changed copy of a wait, a transfer or a cohort."""
    names = {Wait: "op reason start end detail", Cohort: "op wave start end places"}.get(
        type(row), "source target from_device to_device start end bytes tensor asked"
    )
    return type(row)(**{name: getattr(row, name) for name in names.split()} | fields)


def relaunch(rng: random.Random, case: Case, trace: Trace) -> Trace | None:
    """Swap two operators of one stream in the launch order."""
    by_stream: dict[int, list[int]] = {}
    for place, op in enumerate(trace.launch_order):
        by_stream.setdefault(trace.stream[op], []).append(place)
    several = [places for places in by_stream.values() if len(places) > 1]
    if not several:
        return None
    places = rng.choice(several)
    first = rng.randrange(len(places) - 1)
    order = list(trace.launch_order)
    a, b = places[first], places[first + 1]
    order[a], order[b] = order[b], order[a]
    if all(trace.start[op] == trace.end[op] for op in (order[a], order[b])):
        return None  # operators of no time at one instant may well have gone in the other order
    return relaunched(trace, order)


def rows_of(name: str, change: Callable[[random.Random, Any], Any]) -> Mutation:
    """Change, or leave out, one row of waits, transfers or cohorts."""

    def mutate(rng: random.Random, case: Case, trace: Trace) -> Trace | None:
        rows = getattr(trace, name)
        number = some(rng, rows)
        if number is None:
            return None
        row = change(rng, rows[number])
        return replace(trace, **{name: swapped(rows, number, row) if row else rows[:number] + rows[number + 1 :]})

    return mutate


def drop(rng: random.Random, row: Any) -> None:
    return None


def by_a_little(*fields: str) -> Callable[[random.Random, Any], Any]:
    def change(rng: random.Random, row: Any) -> Any:
        by = rng.choice((-5, -1, 1, 5))
        return replaced(row, **{field: getattr(row, field) + by for field in fields})

    return change


def other_places(rng: random.Random, case: Case, trace: Trace) -> Trace | None:
    """Move one block of a cohort to the next SM, where nothing blurs the order of the instant."""
    brief = {begin for begin, end in zip(trace.start, trace.end, strict=True) if begin == end}
    brief |= {row.start for row in (*trace.cohorts, *trace.transfers) if row.start == row.end}
    placing = Counter(start for start, _ in {(cohort.start, cohort.op) for cohort in trace.cohorts})
    clear = [
        number
        for number, cohort in enumerate(trace.cohorts)
        if cohort.places and cohort.start not in brief and placing[cohort.start] == 1
    ]
    if not clear:
        return None
    number = rng.choice(clear)
    places = dict(trace.cohorts[number].places)
    sm = rng.choice(sorted(places))
    places[sm] -= 1
    places[sm + 1] = places.get(sm + 1, 0) + 1
    left = tuple(sorted((sm, count) for sm, count in places.items() if count))
    return replace(trace, cohorts=swapped(trace.cohorts, number, replaced(trace.cohorts[number], places=left)))


def dispatched_late(rng: random.Random, case: Case, trace: Trace) -> Trace | None:
    op = some(rng, trace.start)
    return None if op is None else changed(trace, dispatch={op: trace.start[op] + 1})


def launched_otherwise(rng: random.Random, case: Case, trace: Trace) -> Trace | None:
    if not trace.launched:
        return None
    op = rng.randrange(len(trace.launched))
    return changed(trace, launched={op: trace.launched[op] + rng.choice((-1, 1))})


MUTATIONS: dict[str, Mutation] = {
    "start": shifted("start"),
    "end": shifted("end"),
    "start and end": shifted("start", "end"),
    "ready": shifted("ready"),
    "dispatch": dispatched_late,
    "the last end": longer,
    "all that is later": postponed,
    "launch order": relaunch,
    "launched": launched_otherwise,
    "no wait": rows_of("waits", drop),
    "end of a wait": rows_of("waits", by_a_little("end")),
    "start of a wait": rows_of("waits", by_a_little("start")),
    "no transfer": rows_of("transfers", drop),
    "start of a transfer": rows_of("transfers", by_a_little("start")),
    "end of a transfer": rows_of("transfers", by_a_little("end")),
    "time of a transfer": rows_of("transfers", by_a_little("start", "end")),
    "bytes of a transfer": rows_of("transfers", by_a_little("bytes")),
    "no cohort": rows_of("cohorts", drop),
    "end of a cohort": rows_of("cohorts", by_a_little("end")),
    "start of a cohort": rows_of("cohorts", by_a_little("start")),
    "wave of a cohort": rows_of("cohorts", by_a_little("wave")),
    "places of a cohort": other_places,
}


@cache
def runs() -> list[tuple[int, Case, dict[str, Any], Trace]]:
    """Cases that can be carried out, by seed, with what happened."""
    found = []
    for seed in range(CASES):
        case = drawn_case(seed)
        given = {"memory": case.memory, "actual": case.actual}
        try:
            found.append((seed, case, given, simulate(case.problem, case.scheduler, **given)))
        except SimschedError:
            continue
    return found


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_changed_run_is_refused(name: str) -> None:
    tried = 0
    for seed, case, given, trace in runs():
        false = MUTATIONS[name](random.Random(seed), case, trace)
        if false is not None:
            tried += 1
            assert check_trace(case.problem, false, **given) != [], f"seed {seed}"
    assert tried > CASES // 25


def test_rules_are_named_by_what_was_changed() -> None:
    """What the referee says of a change begins, most often, with the rule that it breaks."""
    expected = {
        "launched": "launch", "no transfer": "copy transfer", "places of a cohort": "blocks", "no cohort": "blocks",
        "no wait": "wait", "the last end": "duration",
    }  # fmt: skip
    for name, rules in expected.items():
        said: Counter[bool] = Counter()
        for seed, case, given, trace in runs():
            false = MUTATIONS[name](random.Random(seed), case, trace)
            if false is not None:
                found = {text.split(":")[0] for text in check_trace(case.problem, false, **given)}
                said[bool(found & set(rules.split()))] += 1
        assert said[True] > 9 * said[False], name
