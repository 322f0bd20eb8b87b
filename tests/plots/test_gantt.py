"""The Gantt chart shows the trace: bars, gaps, lines and labels are read back from the axes."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.plot.bars import chart_of
from simsched.plot.figure import figure_of, new_figure
from simsched.plot.gantt import plot_gantt
from simsched.result import Result
from simsched.schedulers.critical_path import CriticalPath
from tests.builders import layered_graph, linked_pair, problem_of, random_graph, with_memory
from tests.plots.looks import (
    better_result,
    boxes,
    empty_result,
    hand_result,
    legend,
    marked,
    points,
    spans,
    ways,
    words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def memory_axes(ax: Axes) -> Axes:
    return next(other for other in figure_of(ax).axes if other is not ax)


def test_bars_are_the_operators_at_their_times_by_type() -> None:
    ax = plot_gantt(hand_result())
    assert sorted(spans(ax, "bars:Conv")) == [(0, 0.0, 2.0), (1, 5.0, 10.0)]
    assert spans(ax, "bars:Relu") == [(1, 2.0, 5.0)]
    assert spans(ax, "bars:Add") == [(0, 10.0, 17.0)]
    assert spans(ax, "bars:Shape") == []
    assert [label.get_text() for label in ax.get_yticklabels()] == ["d0/s0", "d0/s2"]


def test_bars_are_centred_on_their_rows() -> None:
    for left, right, top, bottom in boxes(plot_gantt(hand_result()), "bars:"):
        assert left < right
        assert round(bottom - top, 9) == 0.78
        assert round((top + bottom) / 2, 9) in (0.0, 1.0)


def test_names_are_in_the_bars() -> None:
    ax = plot_gantt(hand_result())
    places = {text.get_text(): text.get_position() for text in ax.texts if text.get_gid() == "name"}
    assert places == {"a": (1.0, 0), "b": (3.5, 1), "c": (7.5, 1), "d": (13.5, 0)}


def test_idle_time_and_operators_without_duration() -> None:
    ax = plot_gantt(hand_result())
    assert spans(ax, "idle") == [(0, 2.0, 10.0), (1, 0.0, 2.0), (1, 10.0, 17.0)]
    (diamonds,) = marked(ax, "zero-length")
    assert diamonds.get_offsets().tolist() == [[5.0, 0.0]]


def test_the_realised_critical_path_is_outlined() -> None:
    # c waited for b on its lane, so that b belongs to the path of the run, which has no gap.
    assert sorted(spans(plot_gantt(hand_result()), "critical")) == [
        (0, 0.0, 2.0),
        (0, 10.0, 17.0),
        (1, 2.0, 5.0),
        (1, 5.0, 10.0),
    ]
    assert sorted(spans(plot_gantt(better_result()), "critical")) == [(0, 0.0, 2.0), (0, 7.0, 14.0), (1, 2.0, 7.0)]


def test_lines_lead_from_one_critical_operator_to_the_next() -> None:
    # a to b and c to d change the row at 2 and 10; b and c are neighbours in theirs.
    assert ways(plot_gantt(hand_result()), "critical-links") == [
        [(2.0, 0.39), (2.0, 0.61)],
        [(10.0, 0.61), (10.0, 0.39)],
    ]


def test_small_names_are_written_smaller_before_they_are_cut() -> None:
    builder = GraphBuilder("names", time_unit="tick")
    for number, duration in enumerate((3, 3, 3, 60)):
        builder.add_op(f"F0.{number}", duration=duration)
    problem = problem_of(builder.build(), lanes(1))
    ax = plot_gantt(Result(problem, "critical_path", simulate(problem, CriticalPath())))
    sizes = {text.get_text(): text.get_fontsize() for text in ax.texts if text.get_gid() == "name"}
    assert set(sizes) == {"F0.0", "F0.1", "F0.2", "F0.3"}
    assert sizes["F0.0"] < sizes["F0.3"]


def test_lines_of_makespan_and_lower_bound() -> None:
    ax = plot_gantt(hand_result())
    assert [x for x, _ in points(ax, "makespan")] == [17.0, 17.0]
    assert [x for x, _ in points(ax, "lower-bound")] == [14.0, 14.0]
    assert words(ax, "flag") == ["makespan 17 (gap 21.4 %)", "lower bound 14 by critical_path"]


def test_an_optimal_run_says_so_on_one_line() -> None:
    ax = plot_gantt(better_result())
    assert words(ax, "flag") == ["makespan 14 = lower bound, so optimal"]
    assert points(ax, "lower-bound") == []


def test_legend_names_types_and_marks() -> None:
    expected = ["Conv", "Relu", "Add", "critical path of the run", "idle", "no duration"]
    assert sorted(legend(plot_gantt(hand_result()))) == sorted(expected)


def test_title_names_graph_hardware_and_scheduler() -> None:
    assert plot_gantt(hand_result()).get_title(loc="left") == "diamond on lanes:3: by_hand"


def test_memory_below_shares_the_time_axis() -> None:
    ax = plot_gantt(hand_result())
    below = memory_axes(ax)
    assert points(below, "memory") == [(0, 11), (2, 24), (5, 31), (10, 13), (17, 6)]
    assert points(below, "peak") == [(5, 31)]
    assert words(below, "peak-label") == ["peak 31 B"]
    assert [y for _, y in points(below, "capacity")] == [40, 40]
    assert below.get_xlim() == ax.get_xlim()
    assert below.get_xlabel() == "time (ticks)"
    assert ax.get_xlabel() == ""


def test_a_capacity_far_above_is_text_and_does_not_flatten_the_curve() -> None:
    run = hand_result(hardware=with_memory(lanes(3), 4096))
    below = memory_axes(plot_gantt(run))
    assert points(below, "capacity") == []
    assert words(below, "capacity") == ["capacity 4 KiB is far above: the peak is 0.76 % of it"]
    assert below.get_ylim()[1] < 2 * 31


def test_without_memory_there_is_one_panel() -> None:
    run = hand_result()
    bare = replace(run, trace=replace(run.trace, memory=type(run.trace.memory)()))
    assert len(figure_of(plot_gantt(bare)).axes) == 1


def test_given_axes_are_used_and_the_time_axis_can_be_shared() -> None:
    figure = new_figure(8, 6)
    upper, lower = figure.subplots(2, 1)
    assert plot_gantt(hand_result(), ax=upper, x_max=20) is upper
    assert plot_gantt(better_result(), ax=lower, x_max=20) is lower
    assert upper.get_xlim() == lower.get_xlim() == (0, 20 * 1.015)
    assert figure.axes == [upper, lower]


def test_time_is_shown_in_a_unit_that_suits_it() -> None:
    builder = GraphBuilder("kernels")
    for number in range(3):
        builder.add_op(f"k{number}", duration=40_000)
    problem = problem_of(builder.build(), lanes(1))
    ax = plot_gantt(Result(problem, "critical_path", simulate(problem, CriticalPath())))
    assert ax.get_xlabel() == "time (µs)"
    figure_of(ax).draw_without_rendering()
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    assert ticks[:4] == ["0", "20", "40", "60"]
    assert list(ax.get_xticks())[:4] == [0, 20_000, 40_000, 60_000]
    assert words(ax, "flag") == ["makespan 120.0 µs = lower bound, so optimal"]


def test_two_devices_name_the_one_whose_memory_is_shown() -> None:
    problem = problem_of(random_graph(7, 30), linked_pair())
    ax = plot_gantt(Result(problem, "critical_path", simulate(problem, CriticalPath())))
    assert memory_axes(ax).get_ylabel().startswith(("d0 memory", "d1 memory"))
    assert {label.get_text()[:3] for label in ax.get_yticklabels()} == {"d0/", "d1/"}


def test_no_operators_and_one() -> None:
    ax = plot_gantt(empty_result())
    assert spans(ax, "bars:") == []
    assert legend(ax) == []
    builder = GraphBuilder("one", time_unit="tick")
    builder.add_op("only", duration=7)
    problem = problem_of(builder.build(), lanes(4))
    ax = plot_gantt(Result(problem, "critical_path", simulate(problem, CriticalPath())))
    assert spans(ax, "bars:") == [(0, 0.0, 7.0)]


def test_large_runs_have_a_bounded_number_of_bars_that_cover_the_same_time() -> None:
    problem = problem_of(layered_graph(1, 20_000), lanes(3))
    trace = simulate(problem, CriticalPath())
    chart = chart_of(problem, trace, exact_up_to=2000, columns=500)
    assert chart.resolution == trace.makespan // 500
    assert len(chart.bars) <= 3 * 2 * 500
    assert sorted(op for bar in chart.bars for op in bar.ops) == list(range(20_000))
    busy = [0, 0, 0]
    for bar in chart.bars:
        assert bar.start == min(trace.start[op] for op in bar.ops)
        assert bar.end == max(trace.end[op] for op in bar.ops)
        busy[bar.row] += bar.end - bar.start
    for row, stream in enumerate(chart.streams):
        own = [op for op in range(len(trace)) if trace.stream[op] == stream]
        exact = sum(trace.end[op] - trace.start[op] for op in own)
        assert exact <= busy[row] <= trace.makespan
    ax = plot_gantt(Result(problem, "critical_path", trace))
    assert "are merged" in ax.get_xlabel()


def test_merged_bars_take_the_type_with_the_most_time() -> None:
    builder = GraphBuilder("runs", time_unit="tick")
    for number, (op_type, duration) in enumerate((("A", 2), ("B", 3), ("A", 2), ("C", 1000))):
        builder.add_op(f"v{number}", op_type, duration=duration)
    problem = problem_of(builder.build(), lanes(1))
    run = Result(problem, "fixed", simulate(problem, CriticalPath()))
    order = [run.problem.graph.index[name] for name in ("v0", "v1", "v2", "v3")]
    trace = replace(run.trace, start=array("q", [0] * 4), end=array("q", [0] * 4))
    for op, (start, end) in zip(order, ((0, 2), (2, 5), (5, 7), (7, 1007)), strict=True):
        trace.start[op], trace.end[op] = start, end
    chart = chart_of(problem, trace, exact_up_to=3, columns=100)
    found = [(bar.start, bar.end, bar.op_type, len(bar.ops)) for bar in chart.bars]
    assert found == [(0, 7, "A", 3), (7, 1007, "C", 1)]
    assert chart.gaps == ()
