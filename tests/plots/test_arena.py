"""Addresses over time: the rectangles are the allocations, at the places that the rule gives them."""

from __future__ import annotations

import pytest

from simsched.errors import UnknownNameError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import lanes
from simsched.plot import plot_arena
from simsched.run import run
from tests.plots.looks import boxes, held_result, legend, marked, outside, points, words


def test_first_fit_by_hand():
    """w at 0-4 to the end; a at 4-10 [0, 5); b at 10-12 [2, 17); c takes 7, more than the hole of a: on top of b."""
    ax = plot_arena(held_result(), rule="first")
    assert boxes(ax, "resident") == [(0, 17, 0, 4)]
    assert sorted(boxes(ax, "tensors")) == [(0, 5, 4, 10), (2, 17, 10, 12), (5, 17, 12, 19)]
    assert boxes(ax, "workspace") == [(10, 17, 4, 7)]
    assert ax.get_title(loc="left") == "holes on lanes:1: first fit, 19 B, 18.8 % above the live bytes"
    assert legend(ax) == ["Conv", "Add", "Relu", "workspace", "weights and inputs", "live bytes"]
    assert points(ax, "live") == [(0, 10), (2, 12), (5, 13), (10, 16), (17, 4)]
    assert [line.get_ydata()[0] for line in marked(ax, "capacity")[:1]] == [24]


def test_a_plan_has_no_hole_here():
    ax = plot_arena(held_result())
    assert max(top for _, _, _, top in boxes(ax, "")) == 16
    assert ax.get_title(loc="left") == "holes on lanes:1: planned addresses, 16 B, as large as the live bytes"
    assert ax.get_ylabel() == "address (B)"


def test_alignment_shows():
    """In pieces of 16: w, a, b one above the other, c where a was, the workspace on top."""
    ax = plot_arena(held_result(), rule="best", alignment=16)
    assert sorted(boxes(ax, "tensors")) == [(0, 5, 16, 22), (2, 17, 32, 34), (5, 17, 16, 23)]
    assert boxes(ax, "workspace") == [(10, 17, 48, 51)]


def test_a_run_that_holds_nothing_says_so():
    builder = GraphBuilder("bare", time_unit="tick")
    builder.add_op("a", duration=2)
    ax = plot_arena(run(builder.build(), "serial", lanes(1)))
    assert words(ax, "no-memory") == ["the operators of this graph hold no memory: it states no tensors"]
    assert outside(ax) == []


def test_an_unknown_rule_is_refused():
    with pytest.raises(UnknownNameError, match="unknown rule of addresses 'worst'"):
        plot_arena(held_result(), rule="worst")
