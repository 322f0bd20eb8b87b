"""The Gantt chart by SM shows the cohorts: bars, heights and labels are read back from the axes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simsched.cost.base import Block
from simsched.engine.simulator import simulate
from simsched.errors import ConfigError, UnknownNameError
from simsched.hardware import SmLimits
from simsched.plot.figure import figure_of, new_figure
from simsched.plot.sm_rows import SmBar, Stay, sm_chart, stacked
from simsched.plot.sms import plot_sms
from simsched.result import Result
from simsched.schedulers.critical_path import CriticalPath
from tests.block_device import gpu, kernel, problem_of_kernels
from tests.plots.looks import boxes, hand_result, legend, outside, points, words
from tests.plots.sm_looks import block_result


def test_bars_are_the_blocks_at_their_times_on_their_sms() -> None:
    ax = plot_sms(block_result())
    low, full = -0.43, 0.43  # a row is 0.86 high; SM 0 is at the top, so what lies low has the larger number
    assert boxes(ax, "blocks:0") == [
        pytest.approx(box)
        for box in ((0, 20, low, full), (20, 40, low, full), (0, 20, 1 + low, 1 + full), (0, 20, 2 + low, 2 + full))
    ]


def test_the_height_of_a_bar_is_the_part_of_its_sm() -> None:
    ax = plot_sms(block_result())
    # k1: two of four blocks on SM 1, so half of it, from the bottom up.
    assert boxes(ax, "blocks:1")[0] == (20, 30, pytest.approx(1), pytest.approx(1.43))
    # On SM 2 there is a quarter of k1 below all that one block of k2 may take: together 1.25, so both are drawn at 0.8
    # of their height until k1 ends.
    assert boxes(ax, "blocks:1")[1] == (20, 30, pytest.approx(2.43 - 0.86 * 0.2), pytest.approx(2.43))
    first, second = boxes(ax, "blocks:2")
    assert first == (20, 30, pytest.approx(2 - 0.43), pytest.approx(2.43 - 0.86 * 0.2))
    assert second == (30, 35, pytest.approx(2 - 0.43), pytest.approx(2.43))


def test_what_has_no_sm_or_no_length_is_not_drawn() -> None:
    assert boxes(plot_sms(block_result()), "blocks:3") == []
    result = block_result()
    only = [row for row in result.trace.cohorts if row.op in (0, 3)]
    short = [row._replace(end=row.start) if row.wave else row for row in only]
    ax = plot_sms(replace(result, trace=replace(result.trace, cohorts=tuple(short))))
    assert len(boxes(ax, "blocks:")) == 3


def test_names_are_on_the_middle_one_of_neighbouring_sms() -> None:
    ax = plot_sms(block_result())
    places = sorted((text.get_text(), *text.get_position()) for text in ax.texts if text.get_gid() == "name")
    assert [(name, x, round(y)) for name, x, y in places] == [
        ("k0", 10, 1), ("k0", 30, 0), ("k1", 25, 1), ("k1", 25, 2), ("k2", 25, 2), ("k2", 32.5, 2),
    ]  # fmt: skip


def test_legend_and_marks() -> None:
    ax = plot_sms(block_result())
    assert legend(ax) == ["k0", "k1", "k2", "room left"]
    assert {x for x, _ in points(ax, "makespan")} == {40}
    # SM 0 has a block for 40 ns, SM 1 for 30, SM 2 for 35, of 40 ns each.
    assert words(ax, "flag") == ["makespan 40 ns; SMs have a block 87.5 % of the time"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1", "2"]
    assert ax.get_title(loc="left") == "kernels on the SMs of h: by_hand"


def test_more_kernels_than_colours_take_turns_where_all_are_of_one_type() -> None:
    costs = [kernel(10, 2, Block(threads=512)) for _ in range(11)]
    problem = problem_of_kernels(gpu(2, SmLimits(threads=512)), costs)
    ax = plot_sms(Result(problem, "critical_path", simulate(problem, CriticalPath())))
    assert legend(ax) == ["kernels, in turn", "room left"]
    assert (
        len({tuple(each.get_facecolor()[0]) for each in ax.collections if (each.get_gid() or "").startswith("b")}) == 8
    )


def test_a_run_without_blocks_says_what_to_do() -> None:
    with pytest.raises(ConfigError) as caught:
        plot_sms(hand_result())
    assert str(caught.value) == (
        "plot sms: no block was placed on an SM in this run; only devices of model 'blocks' say where blocks are: "
        "simulate with --device-model blocks"
    )
    problem = problem_of_kernels(gpu(2), [kernel(3)])
    with pytest.raises(ConfigError) as caught:
        plot_sms(Result(problem, "critical_path", simulate(problem, CriticalPath())), device="gpu")
    assert str(caught.value) == (
        "plot sms: no block was placed on an SM of 'gpu' in this run; its kernels need none: durations that a graph "
        "states want a 'grid' or 'demands: {sms: ...}' beside them"
    )
    with pytest.raises(UnknownNameError, match="unknown device of 'h' 'gpv'; did you mean 'gpu'"):
        plot_sms(block_result(), device="gpv")
    assert plot_sms(block_result(), device="gpu").get_ylabel() == "SM"


def test_it_draws_into_given_axes_on_a_given_scale() -> None:
    ax = new_figure(7, 4).add_subplot()
    assert plot_sms(block_result(), ax=ax, x_max=100) is ax
    assert figure_of(ax).axes == [ax]
    assert ax.get_xlim() == pytest.approx((0, 101.5))
    assert outside(plot_sms(block_result())) == []


def test_stacking_moves_what_lay_above_down_and_shrinks_what_is_too_much() -> None:
    assert stacked([]) == []
    assert stacked([Stay(0, 9, 1.0, 1)]) == [SmBar(0, 0, 9, 0.0, 1.0, 1)]
    rows = stacked([Stay(0, 4, 0.5, 1), Stay(0, 8, 0.25, 2), Stay(4, 6, 0.25, 3)])
    assert rows == [
        SmBar(0, 0, 4, 0.0, 0.5, 1),
        SmBar(0, 0, 4, 0.5, 0.75, 2),
        SmBar(0, 4, 8, 0.0, 0.25, 2),
        SmBar(0, 4, 6, 0.25, 0.5, 3),
    ]
    assert stacked([Stay(0, 4, 1.0, 1), Stay(0, 4, 0.6, 2)])[1] == SmBar(0, 0, 4, 1 / 1.6, 1.0, 2)


def test_very_many_bars_are_merged_and_the_axis_says_so() -> None:
    costs = [kernel(10_000, 100, Block(threads=512)), kernel(7_000, 1, Block(threads=512))]
    problem = problem_of_kernels(gpu(1, SmLimits(threads=512)), costs)
    result = Result(problem, "critical_path", simulate(problem, CriticalPath()))
    exact = sm_chart(problem, result.trace, 0)
    assert (len(exact.bars), exact.resolution, exact.used) == (101, 0, 1.0)
    merged = sm_chart(problem, result.trace, 0, exact_up_to=50, columns=17)
    assert merged.resolution == 1000
    assert [tuple(bar) for bar in merged.bars] == [
        *((0, start, start + 1000, 0.0, 1.0, 0) for start in range(0, 10_000, 1000)),
        (0, 10_000, 17_000, 0.0, 1.0, 1),
    ]
    assert plot_sms(result, exact_up_to=50).get_xlabel() == "time (µs); bars shorter than 17 ns are merged"
    assert plot_sms(result).get_xlabel() == "time (µs)"
