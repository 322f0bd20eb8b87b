"""Pictures of tables: what is drawn where, read back from the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simsched.plot.series import Look, Point, label_of, plot_series, points_of, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS: list[dict[str, Any]] = [
    {"graph": graph, "scheduler": scheduler, "streams": streams, "seed": seed, "makespan_ns": makespan, "bound_ns": 11}
    for graph, scheduler, streams, seed, makespan in [
        ("net", "serial", 1, 0, 97), ("net", "serial", 1, 1, 89), ("net", "serial", 2, 0, 83),
        ("net", "fifo", 1, 0, 61), ("net", "fifo", 2, 0, 31), ("other", "fifo", 2, 0, 17),
        ("net", "fifo", 4, 0, None),
    ]
]  # fmt: skip


def look(**changes: Any) -> Look:
    settings = {"kind": "lines", "x": "streams", "y": "makespan_ns", "lines": ("scheduler",), **changes}
    return Look(**settings)


def shown(ax: Axes) -> dict[str, list[tuple[float, float]]]:
    """Points of each labelled line."""
    found = {}
    for line in ax.get_lines():
        if not str(line.get_label()).startswith("_"):
            found[str(line.get_label())] = [(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)]
    return found


def test_lines_go_through_the_means_in_the_order_of_x() -> None:
    (ax,) = plot_series(list(reversed(ROWS)), look(panels=None, references=("bound_ns",))).axes
    assert shown(ax) == {
        "fifo": [(1, 61), (2, (31 + 17) / 2)],
        "serial": [(1, (97 + 89) / 2), (2, 83)],
        "bound": [(1, 11), (2, 11)],
    }
    assert list(ax.get_xticks()) == [1, 2]
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylabel() == "makespan (ns)"


def test_rows_of_equal_place_become_a_mean_with_its_range() -> None:
    rows = [row for row in ROWS if row["scheduler"] == "serial"]
    assert points_of(rows, "streams", "makespan_ns") == [Point(1, 93.0, 89.0, 97.0), Point(2, 83.0, 83.0, 83.0)]
    (ax,) = plot_series(rows, look()).axes
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (min(heights), max(heights)) == (83, 97)


def test_each_value_has_its_panel_and_the_legend_has_every_line() -> None:
    figure = plot_series(ROWS, look(panels="graph", title="A title"))
    first, second = figure.axes
    assert [first.get_title(loc="left"), second.get_title(loc="left")] == ["net", "other"]
    assert set(shown(first)) == {"serial", "fifo"}
    assert shown(second) == {"fifo": [(2, 17)]}
    assert first.get_lines()[1].get_color() == second.get_lines()[0].get_color()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["serial", "fifo"]


def test_numbers_as_panels_are_named() -> None:
    figure = plot_series(ROWS, look(panels="streams", x="graph", kind="bars"))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["streams: 1", "streams: 2"]


def test_bars_stand_side_by_side_over_their_names() -> None:
    (ax,) = plot_series(ROWS, look(kind="bars", x="graph")).axes
    assert [label.get_text() for label in ax.get_xticklabels()] == ["net", "other"]
    bars = [(round(bar.get_x() + bar.get_width() / 2, 6), bar.get_height()) for bar in ax.patches]  # type: ignore[attr-defined]
    assert bars == [(-0.2, pytest.approx((97 + 89 + 83) / 3)), (0.2, pytest.approx((61 + 31) / 2)), (1.2, 17)]


def test_several_columns_together_name_a_line() -> None:
    assert label_of(ROWS[2], look(lines=("graph", "streams"))) == "net, 2"
    assert label_of({"graph": "net", "streams": None}, look(lines=("graph", "streams"))) == "net"


def test_an_empty_table_is_an_empty_picture() -> None:
    (ax,) = plot_series([], look()).axes
    assert shown(ax) == {}
    assert plot_series([], look()).legends == []


def test_shares_are_percentages_and_bytes_have_units() -> None:
    rows = [{"graph": "net", "scheduler": "fifo", "gap": 0.125, "peak_bytes": 3 * 2**20}]
    (ax,) = plot_series(rows, look(kind="bars", x="graph", y="gap")).axes
    ax.figure.canvas.draw()  # type: ignore[attr-defined]
    assert [label.get_text() for label in ax.get_yticklabels()][1].endswith(" %")
    (ax,) = plot_series(rows, look(kind="bars", x="graph", y="peak_bytes")).axes
    assert ax.get_ylabel() == "peak (MiB)"


@pytest.mark.parametrize(("values", "column"), [((6, 9, 40), "makespan_ns"), ((2**12, 2**15), "peak_bytes")])
def test_a_logarithmic_axis_is_labelled_over_its_whole_length(values: tuple[int, ...], column: str) -> None:
    rows = [{"n": n, "scheduler": "fifo", "time_unit": "tick", column: value} for n, value in enumerate(values)]
    (ax,) = plot_series(rows, look(x="n", y=column, log_y=True)).axes
    bottom, top = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if bottom <= tick <= top]
    assert ticks == ([10, 20] if column == "makespan_ns" else [2**12, 2**13, 2**14, 2**15])
    assert list(ax.get_yticks(minor=True)) == []


def test_columns_are_said_in_words() -> None:
    said = [words(column) for column in ("makespan_ns", "graph.layers", "lower_bound_ns", "amdahl_textbook_ns", "idle")]
    assert said == [
        "makespan",
        "layers",
        "best lower bound",
        "Amdahl, textbook (a model)",
        "idle time of the streams (bubble)",
    ]
