"""Advice on the number of streams, as people and machines read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from simsched.advice import ENOUGH, Advice, Point
from simsched.cli import console
from simsched.cli.reasons import ordered, reason_words
from simsched.output.tables import Table
from simsched.units import format_duration, plural

if TYPE_CHECKING:
    from simsched.problem import Problem

_PRESSED = {
    "critical_path": "the critical path takes {share} of the makespan",
    "streams": "streams are busy {share} of the time",
    "sms": "SMs are in use to {share}",
    "bandwidth": "the memory bandwidth is drawn to {share}",
    "host": "the host launches for {share} of the time",
}


def show_advice(advice: Advice, scheduler: str, problem: Problem) -> None:
    """Print the recommendation, the table of all numbers of streams, and where they begin to hurt."""
    from simsched.cli.views import title

    console.say(title(problem))
    console.say(recommendation(advice, scheduler))
    harm = harm_words(advice)
    if harm:
        console.say(harm)
    console.say()
    console.show(_table(advice))
    for point in advice.points:
        if point.result is None:
            console.say(f"\n{plural(point.streams, 'stream')}: no run. {point.error}")


def recommendation(advice: Advice, scheduler: str) -> str:
    """Say how many streams to use, what they gain, and why no more."""
    best = advice.best
    first = advice.done[0].streams
    speed = "" if best.streams == first else f": {advice.speedup(best):.2f} times as fast as on {first}"
    return f"{scheduler}: use {plural(best.streams, 'stream')}{speed}. {_no_more(advice)}"


def _no_more(advice: Advice) -> str:
    best, after = advice.best, advice.next
    why = limit_words(best)
    if after is None:
        return f"More were not tried; here {why}."
    assert best.makespan is not None
    assert after.makespan is not None
    gain = best.makespan - after.makespan
    what = f"A {_ordinal(after.streams)}" if after.streams == best.streams + 1 else f"{after.streams} of them"
    verb = "gains" if after.streams == best.streams + 1 else "gain"
    if not gain:
        effect = f"{verb} nothing"
    elif gain > 0:
        effect = f"{verb} {_percent(gain / best.makespan)}"
    else:
        effect = f"{verb.replace('gain', 'cost')} {_percent(-gain / best.makespan)}"
    width = ""
    if after.streams > best.at_once:
        width = f", and never more than {plural(best.at_once, 'operator')} could run at once"
    return f"{what} {effect}: {why}{width}."


def limit_words(point: Point) -> str:
    """Say what limits a run, with the figure that shows it."""
    share = _share_of(point, point.limit)
    pressed = {pressure.name for pressure in point.pressures}
    device, slash, name = point.limit.rpartition("/")
    of = f" of {device}" if slash else ""
    if point.limit in pressed:
        text = _PRESSED.get(name, f"{name} are in use to {{share}}").format(share=f"{100 * share:.0f} %")
        return f"{of.removeprefix(' of ')}: {text}" if of else text
    return f"{reason_words(point.limit)} takes {100 * share:.0f} % of the chain to the last end"


def _share_of(point: Point, limit: str) -> float:
    """Share of the makespan that shows the limit: its pressure, or its row of the account."""
    for pressure in point.pressures:
        if pressure.name == limit:
            return pressure.share
    assert point.makespan is not None
    return point.account.get(limit, 0) / point.makespan if point.makespan else 0.0


def harm_words(advice: Advice) -> str:
    """Say from where on more streams make the run longer, and why; empty where they do not."""
    harmful, worst, best = advice.harmful, advice.worst, advice.best
    if harmful is None or worst is None:
        return ""
    assert best.makespan is not None
    assert worst.makespan is not None
    unit = worst.story.run.problem.graph.time_unit
    loss = worst.makespan - best.makespan
    share = _percent(loss / best.makespan) if best.makespan else "much"
    where = f"{worst.streams} streams" if worst is not harmful else "there"
    return (
        f"From {plural(harmful.streams, 'stream')} on it takes longer: {share} at {where}. "
        f"Likely cause: {_cause_words(advice, worst, loss, unit)}."
    ).replace("at there", "there")


def _cause_words(advice: Advice, worst: Point, loss: int, unit: str) -> str:
    cause = advice.cause(worst)
    rows = dict(advice.differences(worst))
    if cause == "inversion":
        behind = format_duration(worst.inverted - advice.best.inverted, unit)
        what = f"the order, in which the chain to the last end waits {behind} longer behind less urgent operators"
        return f"{what} (priority inversion, as in Graham's anomaly)"
    if cause == "order":
        return "the order alone, in which other operators come to stand in the way (as in Graham's anomaly)"
    grown = format_duration(rows.get(cause, 0), unit)
    return f"{reason_words(cause)}, which grows by {grown}, where the run grows by {format_duration(loss, unit)}"


def _table(advice: Advice) -> Table:
    rows = []
    unit = advice.best.story.run.problem.graph.time_unit
    before: Point | None = None
    uses_sms = any(point.sm_use is not None for point in advice.done)
    for point in advice.points:
        if point.makespan is None:
            rows.append((str(point.streams), "no run", *["-"] * (3 + uses_sms)))
            continue
        gain = "" if before is None or not before.makespan else _gain(before.makespan, point.makespan)
        sms = (f"{100 * (point.sm_use or 0.0):.0f} %",) if uses_sms else ()
        mark = " <" if point is advice.best else ""
        limited = f"{reason_words(point.limit)} ({100 * _share_of(point, point.limit):.0f} %)"
        rows.append(
            (
                f"{point.streams}{mark}", format_duration(point.makespan, unit), f"{advice.speedup(point):.2f}x", gain,
                *sms, limited,
            )
        )  # fmt: skip
        before = point
    sms_head = (">SM use",) if uses_sms else ()
    heads = ("streams", ">makespan", ">speed-up", ">gain", *sms_head, "limited by")
    return Table(heads, rows, wrap=len(heads) - 1)


def _gain(before: int, after: int) -> str:
    if before == after:
        return "none"
    return f"{100 * (before - after) / before:+.1f} %"


def _percent(share: float) -> str:
    return f"less than {100 * float(ENOUGH) / 10:.1f} %" if 0 < share < ENOUGH / 10 else f"{100 * share:.1f} %"


def _ordinal(number: int) -> str:
    """Write ``4th``.

    Examples
    --------
    >>> _ordinal(2), _ordinal(3), _ordinal(4), _ordinal(11), _ordinal(22)
    ('2nd', '3rd', '4th', '11th', '22nd')
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def draw_advice(advice: Advice, scheduler: str, problem: Problem) -> Any:
    """Draw the makespans and what they consist of; returns axes."""
    from simsched.plot.streams import StreamBar, plot_streams

    bars = []
    for point in advice.points:
        if point.result is None:
            bars.append(StreamBar(point.streams, {}, 0))
            continue
        parts = {reason_words(reason): time for reason, time in ordered(dict(point.account)).items()}
        note = f"{advice.speedup(point):.2f}x"
        bars.append(StreamBar(point.streams, parts, point.figures.lower_bound.value, note))
    name = f"{problem.graph.name} on {problem.hardware.name}, {scheduler}: the chain to the last end"
    return plot_streams(bars, unit=problem.graph.time_unit, best=advice.best.streams, title=name)


def advice_record(advice: Advice, scheduler: str, problem: Problem) -> dict[str, Any]:
    """Return all that is known as plain data; ``docs/how-to/how-many-streams.md`` describes it."""
    worst = advice.worst
    return {
        "graph": problem.graph.name,
        "hardware": problem.hardware.name,
        "scheduler": scheduler,
        "time_unit": problem.graph.time_unit,
        "recommended": advice.best.streams,
        "speedup": round(advice.speedup(advice.best), 6),
        "advice": recommendation(advice, scheduler),
        "harmful_from": None if advice.harmful is None else advice.harmful.streams,
        "harm": None
        if worst is None
        else {
            "streams": worst.streams,
            "cause": advice.cause(worst),
            "differences_ns": dict(advice.differences(worst)),
        },
        "points": list(_point_records(advice)),
    }


def _point_records(advice: Advice) -> Iterator[dict[str, Any]]:
    for point in advice.points:
        if point.result is None:
            yield {"streams": point.streams, "makespan_ns": None, "error": point.error}
            continue
        figures = point.figures
        yield {
            "streams": point.streams,
            "makespan_ns": point.makespan,
            "speedup": round(advice.speedup(point), 6),
            "lower_bound_ns": figures.lower_bound.value,
            "lower_bound": figures.lower_bound.name,
            "limit": point.limit,
            "limit_share": round(_share_of(point, point.limit), 6),
            "pressures": {pressure.name: round(pressure.share, 6) for pressure in point.pressures},
            "account_ns": dict(point.account),
            "at_once": point.at_once,
            "inverted_ns": point.inverted,
            "peak_bytes": figures.peak_bytes,
            "valid": point.result.valid,
            "error": None,
        }
