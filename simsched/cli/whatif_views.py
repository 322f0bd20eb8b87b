"""A what-if as people and machines read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from simsched.analysis.account import account
from simsched.analysis.explain import Explanation
from simsched.analysis.metrics import Metrics, metrics
from simsched.cli import console
from simsched.cli.reasons import ordered, reason_words
from simsched.output.records import run_record
from simsched.output.tables import Table
from simsched.units import format_duration, format_size, plural

if TYPE_CHECKING:
    from simsched.whatif import WhatIf

NAMES_SHOWN = 4
Row = tuple[str, str, str, str]


def show_answer(answer: WhatIf, top: int) -> None:
    """Print what was changed, the figures of both runs beside each other, and the operators that moved most."""
    from simsched.cli.views import title

    old, new = metrics(answer.before), metrics(answer.after)
    console.say(title(answer.before.problem))
    console.say(_headline(answer))
    console.say(_path_words(answer))
    if answer.edits:
        console.say()
        console.show(Table(("changed", ">before", ">after"), [(e.what, e.before, e.after) for e in answer.edits]))
    console.say()
    console.show(Table(("figure", ">before", ">after", ">change"), list(_figures(answer, old, new))))
    console.say()
    _show_account(answer)
    console.say()
    _show_moves(answer, top)
    for note in answer.notes:
        console.say(f"\nNote: {note}.")


def _headline(answer: WhatIf) -> str:
    unit = answer.before.problem.graph.time_unit
    old, new = (format_duration(run.makespan, unit) for run in (answer.before, answer.after))
    label = answer.before.label if answer.before.label == answer.after.label else (
        f"{answer.before.label} before, {answer.after.label} after"
    )  # fmt: skip
    ratio = answer.speedup
    if ratio == 1:
        return f"{label}: {old} before and after; the change makes no difference."
    if not ratio:
        return f"{label}: {old} before, {new} after."
    if ratio > 1:
        return f"{label}: {old} before, {new} after: {float(ratio):.3f} times as fast (exactly {ratio})."
    return f"{label}: {old} before, {new} after: {float(1 / ratio):.3f} times as long (exactly {1 / ratio})."


def _path_words(answer: WhatIf) -> str:
    """Say whether other operators decide the end now."""
    if not answer.path_changed:
        return "The same operators decide the end (realised critical path)."
    old, new = answer.paths
    left = [name for name in dict.fromkeys(old) if name not in new]
    came = [name for name in dict.fromkeys(new) if name not in old]
    parts = [f"{_names(names)} {verb}" for names, verb in ((left, "no longer"), (came, "now")) if names]
    return f"Other operators decide the end: {'; '.join(parts) or 'the same ones, in another order'}."


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def _figures(answer: WhatIf, old: Metrics, new: Metrics) -> Iterator[Row]:
    unit = answer.before.problem.graph.time_unit

    def times(what: str, before: int, after: int) -> Row:
        return what, format_duration(before, unit), format_duration(after, unit), change(before, after)

    yield times("makespan", old.makespan, new.makespan)
    yield times("one after the other", old.serial, new.serial)
    yield times("critical path", old.critical_path, new.critical_path)
    yield times("lower bound", old.lower_bound.value, new.lower_bound.value)
    if old.lower_bound.name != new.lower_bound.name:
        yield "  which is", old.lower_bound.name, new.lower_bound.name, ""
    yield "gap", _percent(old.gap), _percent(new.gap), _points(old.gap, new.gap)
    yield "speed-up over serial", f"{old.speedup:.2f}x", f"{new.speedup:.2f}x", change(old.speedup, new.speedup)
    at_once = f"{old.parallelism:.2f}", f"{new.parallelism:.2f}"
    yield "at once, on average", *at_once, change(old.parallelism, new.parallelism)
    yield (
        "streams busy",
        _percent(old.utilisation),
        _percent(new.utilisation),
        _points(old.utilisation, new.utilisation),
    )
    before = {(use.device, use.resource): use.utilisation for use in old.resources}
    for use in new.resources:
        share = before.get((use.device, use.resource))
        if share is not None:
            yield (
                f"{use.device}/{use.resource}",
                _percent(share),
                _percent(use.utilisation),
                _points(share, use.utilisation),
            )
    for was, now in zip(old.memory, new.memory, strict=True):
        if was.peak or now.peak:
            yield f"{now.device} peak memory", format_size(was.peak), format_size(now.peak), change(was.peak, now.peak)


def _show_account(answer: WhatIf) -> None:
    """Show where the makespan went, before and after: the differences add up to that of the makespans."""
    unit = answer.before.problem.graph.time_unit
    old, new = (ordered(account(Explanation(run))) for run in (answer.before, answer.after))
    rows: list[tuple[str, ...]] = []
    for reason in ordered({**old, **new}):
        was, now = old.get(reason, 0), new.get(reason, 0)
        cells = format_duration(was, unit), format_duration(now, unit), _signed(now - was, unit)
        rows.append((reason_words(reason), *cells))
    spans = answer.before.makespan, answer.after.makespan
    rows.append(("together", *(format_duration(span, unit) for span in spans), _signed(spans[1] - spans[0], unit)))
    console.show(Table(("the chain to the last end", ">before", ">after", ">difference"), rows))


def _show_moves(answer: WhatIf, top: int) -> None:
    unit = answer.before.problem.graph.time_unit
    moves = [move for move in answer.moves() if move.shift]
    if not moves:
        console.say("No operator ends at another time.")
        return
    names = answer.after.problem.graph.names
    rows: list[tuple[str, ...]] = []
    for move in moves[:top]:
        spans = (_span(begin, end, unit) for begin, end in (move.before, move.after))
        word = "earlier" if move.shift < 0 else "later"
        rows.append((names[move.op], *spans, f"{format_duration(abs(move.shift), unit)} {word}"))
    console.show(Table(("moved most", ">before", ">after", ">it ends"), rows))
    if len(moves) > top:
        console.say(f"... and {plural(len(moves) - top, 'operator')} that moved less; --top N shows more, --json all")


def whatif_record(answer: WhatIf) -> dict[str, Any]:
    """Return a what-if as plain data; ``docs/how-to/ask-what-if.md`` describes it."""
    problem, names = answer.before.problem, answer.after.problem.graph.names
    ratio, (before, after) = answer.speedup, answer.paths
    return {
        "graph": problem.graph.name,
        "hardware": problem.hardware.name,
        "time_unit": problem.graph.time_unit,
        "changes": list(answer.changes.words()),
        "edits": [{"what": edit.what, "before": edit.before, "after": edit.after} for edit in answer.edits],
        "speedup": round(float(ratio), 6),
        "speedup_exact": str(ratio),
        "path_changed": answer.path_changed,
        "before": {
            **run_record(answer.before),
            "path": list(before),
            "account_ns": account(Explanation(answer.before)),
        },
        "after": {**run_record(answer.after), "path": list(after), "account_ns": account(Explanation(answer.after))},
        "moves": [
            {
                "operator": names[move.op],
                "before_ns": list(move.before),
                "after_ns": list(move.after),
                "shift_ns": move.shift,
            }
            for move in answer.moves()
            if move.shift
        ],
        "notes": list(answer.notes),
    }


def change(before: float, after: float) -> str:
    """Say a change in percent.

    Examples
    --------
    >>> change(8, 6), change(6, 6), change(0, 3)
    ('-25.0 %', 'same', '')
    """
    if before == after:
        return "same"
    return f"{100 * (after - before) / before:+.1f} %" if before else ""


def _span(begin: int, end: int, unit: str) -> str:
    """Write an interval, the unit once where it is the same.

    Examples
    --------
    >>> _span(1_500, 2_000, "ns"), _span(900, 2_000, "ns"), _span(3, 4, "tick")
    ('1.5 to 2 us', '900 ns to 2 us', '3 to 4')
    """
    first, last = format_duration(begin, unit), format_duration(end, unit)
    same = first.partition(" ")[2] == last.partition(" ")[2]
    return f"{first.partition(' ')[0] if same else first} to {last}"


def _points(before: float, after: float) -> str:
    """Say a change of a share in percentage points."""
    if before == after:
        return "same"
    difference = 100 * (after - before)
    return f"{difference:+.1f} points" if abs(difference) < 1e6 else ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share != float("inf") else "-"


def _signed(nanoseconds: int, unit: str) -> str:
    text = format_duration(abs(nanoseconds), unit)
    return f"{'-' if nanoseconds < 0 else '+'}{text}" if nanoseconds else "same"
