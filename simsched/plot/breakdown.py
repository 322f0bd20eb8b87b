"""Where the makespan of each run went along its realised critical path: one bar for each scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.patches import Patch

from simsched.analysis.breakdown import LOST, ORDER, Kind, Row, path_breakdown
from simsched.analysis.explain import Explanation
from simsched.colours import OTHER_FILL, type_colours
from simsched.plot.figure import figure_of, new_axes, settle
from simsched.plot.scales import fitting, inner_size, show_time, time_text
from simsched.plot.style import INK, clean, percent, styled
from simsched.result import Comparison, Failure, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TYPES = 7
"""Rows of operators that are told apart; the others are one."""
OTHERS = "other operators"
HOST, COPIES, WAITS = "host: launches", "copies between devices", "waits"
_BOUND_HATCHES = {"memory": "...", "tail": "---"}
_LOOKS = {
    "launch gaps": ("#BBBBBB", ""),
    LOST["bandwidth"]: ("#EE6677", "xxx"),
    LOST["arithmetic"]: ("#EE6677", "+++"),
    LOST["room"]: ("#EE6677", "|||"),
    LOST["link"]: ("#EE6677", "\\\\\\"),
    HOST: ("#CCBB44", "---"),
    COPIES: ("#66CCEE", "\\\\\\"),
    WAITS: ("#FFFFFF", "////"),
}


class _Look(NamedTuple):
    fill: str
    hatch: str


@styled
def plot_breakdown(runs: Comparison | Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw what ran, was lost by sharing, or was waited for along the realised critical path.

    The pieces of a bar add up to the makespan of its run.

    Parameters
    ----------
    runs : Comparison, Result or sequence of Result
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Data are ns and row numbers from 0 at the top.
    """
    rows = _rows(runs)
    results = [run for run in rows if isinstance(run, Result)]
    broken = {id(run): path_breakdown(Explanation(run)) for run in results}
    named = _named(results, [row for run in results for row in broken[id(run)]])
    own = ax is None
    ax = new_axes(ax, 11.5, 2.3 + 0.46 * max(len(rows), 1) + 0.1 * len(named))
    longest = max((run.makespan for run in results), default=0)
    ax.set_xlim(0, longest * 1.015 or 1)
    ax.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    ax.set_yticks(range(len(rows)), [clean(run.label, 40) for run in rows])
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=True, axis="x")
    unit = results[0].problem.graph.time_unit if results else "ns"
    for place, run in enumerate(rows):
        if isinstance(run, Result):
            _draw_bar(ax, place, run, broken[id(run)], named)
    show_time(ax.xaxis, ax.get_xlim()[1], unit, "time along the realised critical path")
    if results:
        where = f"{results[0].problem.graph.name} on {results[0].problem.hardware.name}"
        ax.set_title(clean(f"{where}: where the makespan went", 100))
    _legend(ax, named, own=own)
    settle(ax)
    _draw_failures(ax, rows)
    return ax


def _rows(runs: Comparison | Result | Sequence[Result]) -> list[Result | Failure]:
    if isinstance(runs, Comparison):
        return list(runs.runs())
    return [runs] if isinstance(runs, Result) else list(runs)


def _named(results: Sequence[Result], rows: Sequence[Row]) -> dict[str, _Look]:
    """Names of all pieces in the order of the bars, and how they look."""
    total: dict[str, int] = {}
    kinds: dict[str, tuple[Kind, str, str]] = {}
    for row in rows:
        total[row.name] = total.get(row.name, 0) + row.time
        kinds.setdefault(row.name, (row.kind, row.what, row.bound))
    ranked = sorted(total, key=lambda name: (ORDER[kinds[name][0]], -total[name], name))
    colours = type_colours(kind for run in results[:1] for kind in run.problem.graph.op_types)
    types = [name for name in ranked if kinds[name][0] == "operators"]
    looks: dict[str, _Look] = {}
    for name in types[:MOST_TYPES]:
        _, what, bound = kinds[name]
        looks[name] = _Look(colours.get(what, OTHER_FILL), _BOUND_HATCHES.get(bound, ""))
    if len(types) > MOST_TYPES:
        looks[OTHERS] = _Look(OTHER_FILL, "")
    present = {_group(name, kinds[name]) for name in ranked}
    looks.update((name, _Look(*look)) for name, look in _LOOKS.items() if name in present)
    return looks


def _group(name: str, kind: tuple[Kind, str, str]) -> str:
    """Under which name a row is drawn: waits are gathered."""
    if kind[0] != "wait":
        return name
    if kind[1].startswith("host"):
        return HOST
    return COPIES if kind[1].startswith("copy") else WAITS


def _draw_bar(ax: Axes, place: int, run: Result, rows: Sequence[Row], named: Mapping[str, _Look]) -> None:
    times = dict.fromkeys(named, 0)
    for row in rows:
        name = _group(row.name, (row.kind, row.what, row.bound))
        times[name if name in named else OTHERS] += row.time
    begin = 0
    for name, time in times.items():
        if time:
            look = named[name]
            # matplotlib draws hatches in the colour of the edge.
            ax.barh(place, time, left=begin, height=0.66, color=look.fill, hatch=look.hatch, linewidth=0.6,
                    edgecolor="#444444" if look.hatch else "white", zorder=2, gid="piece")  # fmt: skip
            if time >= 0.055 * ax.get_xlim()[1]:
                ax.text(begin + time / 2, place, percent(time, run.makespan), ha="center", va="center", fontsize=8.5,
                        color=INK, zorder=4, gid="share",
                        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85})  # fmt: skip
            begin += time
    length = time_text(run.makespan, ax.get_xlim()[1], run.problem.graph.time_unit)
    ax.text(1.01, place, length, transform=ax.get_yaxis_transform(), va="center", fontsize=9.5, color=INK, gid="value")


def _legend(ax: Axes, named: Mapping[str, _Look], *, own: bool) -> None:
    handles = [
        Patch(facecolor=look.fill, hatch=look.hatch, edgecolor="#444444", linewidth=0.6, label=clean(name, 44))
        for name, look in named.items()
    ]
    if own:
        figure_of(ax).legend(handles=handles, loc="outside lower center", ncols=3)
    else:
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.2), ncols=2, borderaxespad=0)


def _draw_failures(ax: Axes, rows: Sequence[Result | Failure]) -> None:
    """Write why there is no bar, as far as it fits once the layout is known."""
    for place, run in enumerate(rows):
        if isinstance(run, Failure):
            text = fitting(clean(f"no run: {run.message}", 300), inner_size(ax)[0] * 0.9, 9)
            ax.text(0.01, place, text, transform=ax.get_yaxis_transform(), va="center", color="#CC3311", fontsize=9,
                    gid="failure", zorder=5)  # fmt: skip
