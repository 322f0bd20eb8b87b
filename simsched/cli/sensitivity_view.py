"""What matters most for a makespan, as people and machines read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simsched.cli import console
from simsched.output.tables import Table
from simsched.sensitivity import FACTORS, Effect, felt, most
from simsched.units import format_duration, plural

if TYPE_CHECKING:
    from simsched.result import Result


def show_effects(old: Result, found: Sequence[Effect], top: int) -> None:
    """Print the operators and the figures that matter most, and how many were tried."""
    from simsched.cli.views import title

    unit = old.problem.graph.time_unit
    operators, figures = most(found, "operator", top), most(found, "figure", top)
    console.say(title(old.problem))
    console.say(f"{old.label} takes {format_duration(old.makespan, unit)}. {_tried(old, found)}")
    console.say()
    if operators:
        rows = [_operator_row(effect, old) for (effect,) in operators]
        console.show(Table(("operator", ">takes", ">then", ">makespan", ">change", ">of what it saves"), rows))
    else:
        console.say("No operator that was tried changes the makespan.")
    console.say()
    if figures:
        heads = [head for factor in FACTORS for head in (f">{float(factor):g} x", ">change")]
        console.show(Table(("figure", ">is", *heads), [_figure_row(row, old) for row in figures]))
    else:
        console.say("No figure of the hardware that was tried changes the makespan.")
    for effect in found:
        if effect.error:
            console.say(f"\n{effect.probe.name} {effect.after}: no run. {effect.error}")


def _tried(old: Result, found: Sequence[Effect]) -> str:
    operators = sum(effect.probe.kind == "operator" for effect in found)
    figures = len({effect.probe.name for effect in found if effect.probe.kind == "figure"})
    whole = len(old.problem.graph)
    tried = f"{operators} of {plural(whole, 'operator')} were tried, each 10 % shorter"
    first = "" if operators == whole else ": first those on the realised critical path, the longest of them first"
    return f"{tried}{first}; and {plural(figures, 'figure')} of the hardware, 1.1 and 2 times as good."


def _operator_row(effect: Effect, old: Result) -> tuple[str, ...]:
    unit = old.problem.graph.time_unit
    assert effect.makespan is not None
    return (
        effect.probe.name,
        effect.before,
        effect.after,
        format_duration(effect.makespan, unit),
        _change(felt(effect, old.makespan)),
        f"{100 * effect.leverage:.0f} %",
    )


def _figure_row(row: Sequence[Effect], old: Result) -> tuple[str, ...]:
    by_level = {effect.probe.level: effect for effect in row}
    cells = [row[0].probe.name, row[0].before]
    for factor in FACTORS:
        effect = by_level.get(factor)
        cells += ["-", "-"] if effect is None else [effect.after, _change(felt(effect, old.makespan))]
    return tuple(cells)


def _change(share: float) -> str:
    """Say a change in percent: two decimals, or two digits where those would be noughts.

    Examples
    --------
    >>> _change(-0.25), _change(-0.0000123), _change(0.0)
    ('-25.00 %', '-0.0012 %', 'none')
    """
    if not share:
        return "none"
    return f"{100 * share:+.2f} %" if abs(share) >= 0.0001 else f"{100 * share:+.2g} %"


def draw_effects(old: Result, found: Sequence[Effect], top: int) -> Any:
    """Draw the operators and the figures that matter most; returns a figure."""
    from simsched.plot.tornado import Bar, Panel, plot_tornado

    def bars(rows: list[tuple[Effect, ...]]) -> tuple[Bar, ...]:
        return tuple(Bar(row[0].probe.name, tuple(felt(effect, old.makespan) for effect in row)) for row in rows)

    levels = tuple(f"{float(factor):g} times as good" for factor in FACTORS)
    panels = [
        Panel("operators, each 10 % shorter", ("10 % shorter",), bars(most(found, "operator", top))),
        Panel("figures of the hardware", levels, bars(most(found, "figure", top))),
    ]
    about = f"{old.problem.graph.name} on {old.problem.hardware.name}, {old.label}"
    return plot_tornado(panels, title=f"{about}: change of the makespan")


def sensitivity_record(old: Result, found: Sequence[Effect], complete: bool) -> dict[str, Any]:
    """Return all effects as plain data; ``docs/how-to/ask-what-if.md`` describes it."""
    return {
        "graph": old.problem.graph.name,
        "hardware": old.problem.hardware.name,
        "scheduler": old.label,
        "operators": len(old.problem.graph),
        "time_unit": old.problem.graph.time_unit,
        "makespan_ns": old.makespan,
        "complete": complete,
        "effects": [
            {
                "kind": effect.probe.kind,
                "name": effect.probe.name,
                "level": str(effect.probe.level),
                "before": effect.before,
                "after": effect.after,
                "makespan_ns": effect.makespan,
                "gain_ns": effect.gain,
                "saved_ns": effect.saved if effect.probe.kind == "operator" else None,
                "error": effect.error or None,
            }
            for effect in found
        ],
    }
