"""The picture of rankings: every rank and interval where it belongs, in the order of the first panel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simsched.plot.ranking import RankPanel, Row, plot_ranking

FIRST = RankPanel("first", (Row("a", 1.2, 1.0, 1.5), Row("b", 1.8, 1.5, 2.0)))
SECOND = RankPanel("second", (Row("b", 1.4, 1.1, 1.7), Row("a", 1.6, 1.3, 1.9)))


def test_every_mean_and_interval_is_drawn_in_the_row_of_its_scheduler() -> None:
    figure = plot_ranking([FIRST, SECOND], title="two")
    for ax, panel in zip(figure.axes, (FIRST, SECOND), strict=True):
        assert ax.get_title(loc="left") == panel.title
        drawn = [np.asarray(line.get_xydata()).tolist() for line in ax.lines]
        rows = {row.name: row for row in panel.rows}
        for place, name in enumerate("ab"):
            row = rows[name]
            assert [[row.low, place], [row.high, place]] in drawn
            assert [[row.mean, place]] in drawn
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a", "b"]
    assert figure.axes[0].yaxis_inverted()


def test_one_graph_has_means_alone() -> None:
    figure = plot_ranking([RankPanel("", (Row("a", 1.0, math.nan, math.nan),))])
    assert len(figure.axes[0].lines) == 1


@pytest.mark.parametrize("count", [1, 3, 4, 7])
def test_panels_fill_rows_of_three(count: int) -> None:
    figure = plot_ranking([FIRST] * count)
    assert sum(ax.get_visible() for ax in figure.axes) == count
    assert figure.get_figwidth() < 13
