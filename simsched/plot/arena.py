"""Addresses over time: where an allocator, or a plan, puts what a run holds in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from simsched.analysis.allocations import Allocation, allocations_of, peak_of
from simsched.analysis.arena import FITS, replay
from simsched.analysis.offsets import plan_offsets
from simsched.colours import type_colours
from simsched.errors import UnknownNameError
from simsched.plot.figure import new_axes, settle
from simsched.plot.legend import type_patches
from simsched.plot.memory import busiest_device, memory_curve, say_no_memory, show_range
from simsched.plot.scales import show_time
from simsched.plot.style import IDLE, INK, clean, percent, styled
from simsched.result import Result
from simsched.units import format_size

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

RULES = {"plan": "planned addresses", "best": "best fit", "first": "first fit"}
_HATCH = "////"


@styled
def plot_arena(
    result: Result, *, rule: str = "plan", device: int | None = None, alignment: int = 1, ax: Axes | None = None
) -> Axes:
    """Draw what a run held in memory as rectangles: when it was there, and at which addresses.

    Tensors have the colour of the operator type that makes them, workspaces are hatched, weights and inputs grey. The
    line is the sum of live bytes: what is white below the highest rectangle, above it in sum, is lost to holes.

    Parameters
    ----------
    result : Result
    rule : {"plan", "best", "first"}
        Addresses planned with all lifetimes known, or those of an allocator during the run.
    device : int, optional
        The device whose memory fills most by default.
    alignment : int
        Bytes that sizes and addresses are multiples of.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    UnknownNameError
        If there is no such rule.
    """
    if rule not in RULES:
        raise UnknownNameError("rule of addresses", rule, RULES)
    device = busiest_device([result]) if device is None else device
    allocations = allocations_of(result, device)
    size, offsets = _placed(allocations, rule, alignment)
    ax = new_axes(ax, 11, 5.2)
    problem = result.problem
    if not size:
        say_no_memory(ax)
    show_range(ax, problem, device, size)
    ax.set_xlim(0, result.makespan * 1.02 or 1)
    entries = _draw_boxes(ax, result, allocations, offsets)
    if size:
        curve = memory_curve(result, device)
        times, live = [float(time) for time, _ in curve], [float(bytes_) for _, bytes_ in curve]
        (line,) = ax.plot(
            times, live, drawstyle="steps-post", color=INK, linewidth=1.3, zorder=4, gid="live", label="live bytes"
        )
        entries.append(line)
    ideal = peak_of(allocations)
    above = f", {percent(size - ideal, ideal)} above the live bytes" if size > ideal else ", as large as the live bytes"
    where = f", memory of {clean(problem.devices[device].name, 20)}" if len(problem.devices) > 1 else ""
    name = clean(f"{problem.graph.name} on {problem.hardware.name}", 60)
    ax.set_title(f"{name}{where}: {RULES[rule]}, {format_size(size)}{above if size else ''}")
    show_time(ax.xaxis, ax.get_xlim()[1], problem.graph.time_unit)
    ax.yaxis.set_label_text(ax.get_ylabel().replace("memory", "address"))
    if entries:
        ax.legend(handles=entries, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    settle(ax)
    return ax


def _placed(allocations: Sequence[Allocation], rule: str, alignment: int) -> tuple[int, Sequence[int]]:
    """Size of the arena, and the address of each allocation."""
    if rule in FITS:
        used = replay(allocations, rule, alignment=alignment)
        return used.size, used.offsets
    plan = plan_offsets(allocations, alignment=alignment)
    return plan.size, plan.offsets


def _draw_boxes(ax: Axes, result: Result, allocations: Sequence[Allocation], offsets: Sequence[int]) -> list[Artist]:
    """Draw a rectangle per allocation, by groups of one look; returns the entries of the legend."""
    graph = result.problem.graph
    colours = type_colours(graph.op_types)
    groups: dict[tuple[str, str], list[list[tuple[float, float]]]] = {}
    shown = set()
    for one, low in zip(allocations, offsets, strict=True):
        maker = one.op if one.op >= 0 else graph.tensor_producer[one.tensor]
        look = (IDLE, "") if maker < 0 else (colours[graph.op_types[maker]], _HATCH if one.op >= 0 else "")
        if maker >= 0:
            shown.add(graph.op_types[maker])
        high = low + one.size
        box = [(one.begin, low), (one.end, low), (one.end, high), (one.begin, high)]
        groups.setdefault(look, []).append([(float(x), float(y)) for x, y in box])
    line = 0.6 if len(allocations) <= 400 else 0.0
    for (colour, hatch), boxes in groups.items():
        drawn = PolyCollection(boxes, facecolor=colour, edgecolor="white", linewidth=line, hatch=hatch, zorder=2)
        drawn.set_gid("workspace" if hatch else "resident" if colour == IDLE else "tensors")
        ax.add_collection(drawn, autolim=False)
    entries: list[Artist] = [*type_patches(colours, shown)]
    if any(hatch for _, hatch in groups):
        entries.append(Patch(facecolor="white", edgecolor=INK, hatch=_HATCH, label="workspace"))
    if any(colour == IDLE and not hatch for colour, hatch in groups):
        entries.append(Patch(facecolor=IDLE, label="weights and inputs"))
    return entries
