"""Read back what a picture shows, in the units of its data; and a few runs made by hand to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.text import Text

from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, Efficiency, HardwareProfile, lanes
from simsched.plot.figure import figure_of
from simsched.problem import Problem, make_problem
from simsched.result import Comparison, Failure, Result
from simsched.schedulers.serial import Serial
from tests.builders import problem_of, with_memory
from tests.traces import memory_steps, trace_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.transforms import BboxBase

HOSTILE = (
    "$x_1$ \\frac{",
    "🎉 party 🏳️‍🌈",
    "two\nlines\tand tabs",
    "שלום עולם",
    "n" * 200,
    "名字",
    "a & b <c> \"d\" 'e'",
    "%d {}",
    " ",
    "_hidden",
)


def boxes(ax: Axes, gid: str) -> list[tuple[float, float, float, float]]:
    """Left, right, top and bottom of each polygon of the collections with this mark."""
    found = []
    for collection in ax.collections:
        if isinstance(collection, PolyCollection) and (collection.get_gid() or "").startswith(gid):
            for path in collection.get_paths():
                xs, ys = path.vertices[:, 0], path.vertices[:, 1]
                found.append((float(min(xs)), float(max(xs)), float(min(ys)), float(max(ys))))
    return found


def spans(ax: Axes, gid: str) -> list[tuple[int, float, float]]:
    """Row, start and end of each bar of a Gantt chart."""
    return [(round((top + bottom) / 2), left, right) for left, right, top, bottom in boxes(ax, gid)]


def ways(ax: Axes, gid: str) -> list[list[tuple[float, float]]]:
    """Points of each line of the line collections with this mark."""
    found = []
    for collection in ax.collections:
        if isinstance(collection, LineCollection) and (collection.get_gid() or "").startswith(gid):
            found += [[(float(x), float(y)) for x, y in segment] for segment in collection.get_segments()]
    return found


def marked(ax: Axes, gid: str) -> list[Any]:
    """Artists of the axes with this mark."""
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


def points(ax: Axes, gid: str) -> list[tuple[float, float]]:
    """Points of all lines with this mark."""
    lines = [line for line in marked(ax, gid) if isinstance(line, Line2D)]
    return [(float(x), float(y)) for line in lines for x, y in zip(*line.get_data(), strict=True)]


def words(ax: Axes, gid: str) -> list[str]:
    """Texts with this mark."""
    return [artist.get_text() for artist in ax.texts if artist.get_gid() == gid]


def legend(ax: Axes) -> list[str]:
    """Entries of the legend: of the axes, or of the figure where the axes have none."""
    found = ax.get_legend() or next(iter(figure_of(ax).legends), None)
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def outside(ax: Axes) -> list[str]:
    """Texts of the whole figure that reach beyond its edge."""
    figure = figure_of(ax)
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    ticks = [label for each in figure.axes for axis in (each.xaxis, each.yaxis) for label in _tick_labels(axis)]
    beyond = []
    for artist in figure.findobj(Text):
        # Ticks outside of the view are kept by matplotlib but not drawn: axes are asked as a whole.
        shown = artist.get_visible() and artist.get_text().strip() and artist not in ticks
        if shown and not _inside(figure, artist.get_window_extent(renderer)):
            beyond.append(artist.get_text())
    for each in figure.axes:
        for axis in (each.xaxis, each.yaxis):
            box = axis.get_tightbbox(renderer)
            if box is not None and not _inside(figure, box):
                beyond.append(f"ticks of {axis.get_label_text()}")
    return beyond


def _tick_labels(axis: Axis) -> list[Text]:
    return [label for tick in (*axis.majorTicks, *axis.minorTicks) for label in (tick.label1, tick.label2)]


def _inside(figure: Figure, box: BboxBase) -> bool:
    page = figure.bbox
    return bool(box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.width + 1 and box.y1 <= page.height + 1)


# --- runs made by hand ------------------------------------------------------------------------------------------


def diamond() -> Graph:
    """Four operators a to d of 2, 3, 5 and 7 ticks, a before b and c before d; z between b and d takes no time."""
    builder = GraphBuilder("diamond", time_unit="tick")
    rows = (("a", "Conv", 2), ("b", "Relu", 3), ("c", "Conv", 5), ("d", "Add", 7), ("z", "Shape", 0))
    for name, op_type, duration in rows:
        builder.add_op(name, op_type, duration=duration)
    for source, target in ("ab", "ac", "bz", "zd", "cd"):
        builder.add_edge(source, target)
    return builder.build()


def hand_result(graph: Graph | None = None, hardware: HardwareProfile | None = None) -> Result:
    """The diamond on three lanes: b before c on one of them, which is 3 ticks worse than the bound of 14."""
    problem = problem_of(graph or diamond(), hardware or with_memory(lanes(3), 40))
    rows = [
        ("a", "d0/s0", 0, 0, 0, 2),
        ("b", "d0/s2", 2, 2, 2, 5),
        ("c", "d0/s2", 2, 2, 5, 10),
        ("z", "d0/s0", 5, 5, 5, 5),
        ("d", "d0/s0", 10, 10, 10, 17),
    ]
    trace = trace_of(
        problem,
        rows,
        memory=memory_steps((0, 0, 11), (2, 0, 24), (5, 0, 31), (10, 0, 13), (17, 0, 6)),
    )
    return Result(problem, "by_hand", trace)


def better_result() -> Result:
    """The same with c on a lane of its own: 14, optimal, at a peak of 37 bytes."""
    problem = hand_result().problem
    rows = [
        ("a", "d0/s0", 0, 0, 0, 2),
        ("b", "d0/s2", 2, 2, 2, 5),
        ("c", "d0/s1", 2, 2, 2, 7),
        ("z", "d0/s0", 5, 5, 5, 5),
        ("d", "d0/s0", 7, 7, 7, 14),
    ]
    memory = memory_steps((0, 0, 11), (2, 0, 37), (5, 0, 31), (7, 0, 13), (14, 0, 6))
    return Result(problem, "better", trace_of(problem, rows, memory=memory))


def hand_comparison() -> Comparison:
    """Both runs, and one that failed, named between them."""
    first, second = hand_result(), better_result()
    failure = Failure("doomed", "OutOfMemoryError: 'd' needs 13 B, 2 B free")
    return Comparison(first.problem, (first, second), (failure,), order=("by_hand", "doomed", "better"))


def empty_result() -> Result:
    """A run of nothing."""
    problem = problem_of(GraphBuilder("empty", time_unit="tick").build(), lanes(2))
    return Result(problem, "none", trace_of(problem, []))


def small_device() -> HardwareProfile:
    device = Device(
        "gpu", kind="gpu", memory_bandwidth=100e9, peaks={"vector": {"fp32": 1e12}, "matrix": {"tf32": 8e12}},
        efficiency=Efficiency(matrix=0.5, vector=0.8, bandwidth=0.9), launch_ns=1000,
    )  # fmt: skip
    return HardwareProfile("small", (device,))


def kernels() -> Problem:
    builder = GraphBuilder("kernels")
    builder.add_op("dense", "Custom", flops=8_000_000, traffic=90_000)
    builder.add_op("thin", "Custom", flops=90_000, traffic=900_000)
    builder.add_op("move", "Custom", traffic=900_000, flops=0)
    builder.add_op("fixed", "Custom", duration=5)
    builder.add_op("view", "Custom", duration=0)
    return make_problem(builder.build(), small_device())


def held_result() -> Result:
    """Three tensors, a workspace and a weight on one lane; first fit puts c, which does not fit where a was, on top."""
    builder = GraphBuilder("holes", time_unit="tick")
    builder.add_tensor("w", bytes=4, kind="parameter")
    for name, size in (("a", 6), ("b", 2), ("c", 7)):
        builder.add_tensor(name, bytes=size)
    builder.add_op("va", "Conv", duration=2, inputs=["w"], outputs=["a"])
    builder.add_op("vb", "Relu", duration=3, inputs=["a"], outputs=["b"])
    builder.add_op("vc", "Add", duration=5, inputs=["b"], outputs=["c"])
    builder.add_op("vd", "Conv", duration=7, inputs=["b", "c"], workspace=3)
    problem = problem_of(builder.build(), with_memory(lanes(1), 24))
    return Result(problem, "serial", simulate(problem, Serial()), memory="block")
