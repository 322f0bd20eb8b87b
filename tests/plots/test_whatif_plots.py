"""Pictures of what-if, of what matters most, and of the number of streams: what is drawn is what the runs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from simsched.plot import save
from simsched.plot.before_after import plot_before_after
from simsched.plot.figure import new_figure
from simsched.plot.streams import StreamBar, plot_streams
from simsched.plot.tornado import Bar, Panel, plot_tornado
from tests.plots.looks import HOSTILE, better_result, empty_result, hand_result, legend, marked, outside, spans, words


def test_both_runs_are_drawn_on_one_time_axis() -> None:
    figure = plot_before_after(hand_result(), better_result(), change="--streams 3")
    upper, lower = figure.axes
    assert upper.get_xlim() == lower.get_xlim() == pytest.approx((0, 17 * 1.015))
    assert set(spans(upper, "bars")) == {(0, 0, 2), (1, 2, 5), (1, 5, 10), (0, 10, 17)}
    assert (1, 2, 7) in spans(lower, "bars")
    assert [line.get_xdata()[0] for line in marked(lower, "before")] == [17]
    assert upper.get_title(loc="left") == "before: diamond on lanes:3, by_hand: 17"
    assert lower.get_title(loc="left") == "after: 14, 1.21 times as fast; --streams 3"
    assert words(lower, "before-label") == ["before"]
    assert outside(upper) == []


def test_a_tornado_shows_every_share() -> None:
    panels = [
        Panel("operators", ("10 % shorter",), (Bar("a", (-0.05,)), Bar("b", (0.01,)))),
        Panel("hardware", ("1.1 x", "2 x"), (Bar("bandwidth", (-0.02, -0.4)),)),
    ]
    figure = plot_tornado(panels, title="two panels")
    upper, lower = figure.axes
    assert [round(bar.get_width(), 6) for bar in marked(upper, "level0")] == [-5.0, 1.0]
    assert words(upper, "value") == ["-5.0 %", "+1.0 %"]
    assert [round(bar.get_width(), 6) for bar in (*marked(lower, "level1"), *marked(lower, "level0"))] == [-40.0, -2.0]
    assert legend(lower) == ["1.1 x", "2 x"]
    assert [label.get_text() for label in upper.get_yticklabels()] == ["a", "b"]
    assert outside(upper) == []


def test_a_tornado_of_nothing_says_so() -> None:
    figure = plot_tornado([Panel("operators", ("10 % shorter",), ())])
    assert words(figure.axes[0], "nothing") == ["nothing that was tried changes the makespan"]
    assert outside(figure.axes[0]) == []


def bars() -> list[StreamBar]:
    return [
        StreamBar(1, {"work": 12, "waiting": 5}, 17, "1.00x"),
        StreamBar(2, {"work": 14}, 13, "1.21x"),
        StreamBar(4, {}, 0),
    ]


def test_bars_consist_of_their_parts_from_the_ground() -> None:
    ax = plot_streams(bars(), unit="tick", best=2, title="streams")
    parts = [(bar.get_x() + bar.get_width() / 2, bar.get_y(), bar.get_height()) for bar in marked(ax, "part")]
    assert parts == [
        (pytest.approx(0), 0, 12), (pytest.approx(0), 12, 5), (pytest.approx(1), 0, 14),
    ]  # fmt: skip
    assert [line.get_ydata()[0] for line in marked(ax, "bound")] == [17, 13]
    assert [bar.get_height() for bar in marked(ax, "best")] == [14]
    assert words(ax, "note") == ["1.00x", "1.21x"]
    assert words(ax, "none") == ["no run"]
    assert legend(ax) == ["waiting", "work", "lower bound", "recommended"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "4"]
    assert outside(ax) == []


def test_streams_are_drawn_into_given_axes() -> None:
    ax = new_figure(7, 4).add_subplot()
    assert plot_streams(bars(), ax=ax) is ax


def test_hostile_names_and_empty_runs(tmp_path: Path) -> None:
    empty = empty_result()
    rows = tuple(Bar(name, (-0.1 * number,)) for number, name in enumerate(HOSTILE))
    pictures = {
        "before": lambda: plot_before_after(empty, empty, change=HOSTILE[4] * 2),
        "tornado": lambda: plot_tornado([Panel("operators", ("10 % shorter",), rows)], title=HOSTILE[4] * 3),
        "streams": lambda: plot_streams([StreamBar(1, dict.fromkeys(HOSTILE, 3), 5, "x")], title=HOSTILE[0]),
        "none": lambda: plot_streams([]),
    }
    for name, draw in pictures.items():
        drawn = draw()
        ax = drawn.axes[0] if hasattr(drawn, "add_subplot") else drawn
        assert outside(ax) == [], name
        first = save(draw, tmp_path / f"{name}1.png").read_bytes()
        assert save(draw, tmp_path / f"{name}2.png").read_bytes() == first
