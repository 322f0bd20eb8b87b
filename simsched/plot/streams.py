"""The makespan against the number of streams, each bar divided into what the run did and waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsched.colours import FILLS, OTHER_FILL
from simsched.plot.figure import new_axes, settle
from simsched.plot.scales import inner_size, show_time
from simsched.plot.style import INK, LOWER_BOUND_LINE, MUTED, clean, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class StreamBar:
    """One number of streams.

    Attributes
    ----------
    streams : int
    parts : mapping of str to int
        What the makespan consists of, in ns; empty where the run could not be carried out.
    bound : int
        The best lower bound in ns.
    note : str
        What is written above the bar, e.g. the speed-up.
    """

    streams: int
    parts: Mapping[str, int]
    bound: int
    note: str = ""


@styled
def plot_streams(
    bars: Sequence[StreamBar], *, unit: str = "ns", best: int = 0, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw a stacked bar for each number of streams, its lower bound, and a frame around the recommended one.

    Parameters
    ----------
    bars : sequence of StreamBar
    unit : {"ns", "tick"}
    best : int
        The number of streams that is recommended; 0 for none.
    title : str
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Data are positions of bars and ns.
    """
    ax = new_axes(ax, 10, 5.2)
    names = list(dict.fromkeys(name for bar in bars for name in bar.parts))
    colours = {name: FILLS[place] if place < len(FILLS) else OTHER_FILL for place, name in enumerate(names)}
    tallest = max((sum(bar.parts.values()) for bar in bars), default=0)
    ax.set_xlim(-0.6, max(len(bars), 1) - 0.4)
    ax.set_ylim(0, tallest * 1.16 or 1)
    ax.set_xticks(range(len(bars)), [str(bar.streams) for bar in bars])
    for place, bar in enumerate(bars):
        _draw_bar(ax, place, bar, colours, framed=bar.streams == best)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("streams")
    show_time(ax.yaxis, ax.get_ylim()[1], unit, "makespan")
    ax.grid(visible=True, axis="y")
    ax.set_title(clean(title, 100))
    handles: list[Patch | Line2D] = [Patch(facecolor=colours[name], label=clean(name, 44)) for name in reversed(names)]
    handles.append(Line2D([], [], color=LOWER_BOUND_LINE, linewidth=2, label="lower bound"))
    if best:
        handles.append(Patch(facecolor="none", edgecolor=INK, linewidth=1.8, label="recommended"))
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    settle(ax)
    return ax


def _draw_bar(ax: Axes, place: int, bar: StreamBar, colours: Mapping[str, str], *, framed: bool) -> None:
    if not bar.parts:
        ax.text(
            place, ax.get_ylim()[1] * 0.02, "no run", rotation=90, ha="center", va="bottom", color=MUTED, gid="none"
        )
        return
    bottom = 0
    for name, colour in colours.items():  # in one order in all bars
        height = bar.parts.get(name, 0)
        if height:
            ax.bar(place, height, bottom=bottom, width=0.72, color=colour, edgecolor="white", linewidth=0.5, zorder=2,
                   gid="part")  # fmt: skip
            bottom += height
    if framed:
        ax.bar(place, bottom, width=0.8, facecolor="none", edgecolor=INK, linewidth=1.8, zorder=4, gid="best")
    ax.plot([place - 0.42, place + 0.42], [bar.bound] * 2, color=LOWER_BOUND_LINE, linewidth=2, zorder=5, gid="bound")
    size = 9.5 if inner_size(ax)[0] / max(1, len(ax.get_xticks())) > 45 else 8
    ax.annotate(bar.note, (place, bottom), xytext=(0, 4), textcoords="offset points", ha="center", va="bottom",
                fontsize=size, color=INK, fontweight="bold" if framed else "normal", gid="note", zorder=6)  # fmt: skip
