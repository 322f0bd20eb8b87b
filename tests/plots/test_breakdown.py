"""The breakdown of makespans: its pieces add up to them, nothing is told by colour alone, and failures are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simsched.analysis.breakdown import path_breakdown
from simsched.analysis.explain import Explanation
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.plot import plot_breakdown
from simsched.plot.breakdown import MOST_TYPES, OTHERS
from simsched.plot.figure import figure_of
from simsched.result import Comparison, Failure, Result
from simsched.run import run
from tests.builders import problem_of
from tests.plots.gallery import shared
from tests.plots.looks import hand_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pieces(ax: Axes) -> list[list[tuple[float, float, str]]]:
    """Of each bar the start, the length and the hatch of its pieces."""
    found: dict[int, list[tuple[float, float, str]]] = {}
    for patch in ax.patches:
        if patch.get_gid() == "piece":
            row = round(patch.get_y() + patch.get_height() / 2)
            found.setdefault(row, []).append((patch.get_x(), patch.get_width(), patch.get_hatch() or ""))
    return [found[row] for row in sorted(found)]


def texts(ax: Axes, gid: str) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_gid() == gid]


def names(ax: Axes) -> list[str]:
    (legend,) = figure_of(ax).legends
    return [text.get_text() for text in legend.get_texts()]


def test_the_pieces_of_each_bar_add_up_to_its_makespan() -> None:
    runs = shared()
    ax = plot_breakdown(runs)
    for result, bar in zip(runs, pieces(ax), strict=True):
        reached = 0.0
        for start, length, _ in bar:
            assert start == reached
            reached += length
        assert reached == result.makespan
        assert sorted(length for _, length, _ in bar) == sorted(row.time for row in path_breakdown(Explanation(result)))
    # One after the other: launches of 40, gaps of 10, bodies of 300, twice. Side by side b is launched at 80, and its
    # body begins at 90; by then a has done 40. Both run at 2/3 until a ends, 390 later; the last 40 of b run alone.
    assert [[length for _, length, _ in bar] for bar in pieces(ax)] == [[600, 20, 80], [300, 10, 130, 80]]
    assert texts(ax, "value") == ["700 ns", "520 ns"]
    assert names(ax) == ["Conv, bound by memory", "launch gaps", "lost by sharing bandwidth", "host: launches"]


def test_what_is_not_an_operator_or_a_gap_is_hatched() -> None:
    last = pieces(plot_breakdown(shared()[1:]))[0]
    assert [hatch for _, _, hatch in last] == ["...", "", "xxx", "---"]


def test_one_run_alone_and_waits_of_all_kinds_in_one_piece() -> None:
    result = run("residual", "critical_path", "lanes:1")
    ax = plot_breakdown(result)
    assert sum(length for _, length, _ in pieces(ax)[0]) == result.makespan == 7
    assert texts(ax, "share")[0] == "28.6 %"


def test_many_types_of_operators_are_gathered() -> None:
    builder = GraphBuilder("types", time_unit="tick")
    for number in range(MOST_TYPES + 3):
        builder.add_op(f"v{number}", f"T{number}", duration=number + 1)
    ax = plot_breakdown(run(problem_of(builder.build(), lanes(1)), "serial"))
    assert names(ax)[-1] == OTHERS
    assert [length for _, length, _ in pieces(ax)[0]] == [10, 9, 8, 7, 6, 5, 4, 1 + 2 + 3]


def test_runs_that_failed_say_so() -> None:
    result = hand_result()
    ax = plot_breakdown(Comparison(result.problem, (result,), (Failure("pipeline", "it cannot"),)))
    assert texts(ax, "failure") == ["no run: it cannot"]
    assert [label.get_text() for label in ax.get_yticklabels()] == [result.label, "pipeline"]


@pytest.mark.parametrize("runs", [[], run(problem_of(GraphBuilder("empty").build(), lanes(1)), "serial")])
def test_nothing_is_drawn_without_operators(runs: list[Result] | Result) -> None:
    assert pieces(plot_breakdown(runs)) == []
