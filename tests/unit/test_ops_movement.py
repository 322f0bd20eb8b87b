"""Views, copies and selections: what really moves."""

from __future__ import annotations

import pytest

from simsched.cost.ops_movement import COPIES, VIEWS
from tests.one_op import work


@pytest.mark.parametrize("op_type", VIEWS)
def test_a_view_costs_nothing(op_type: str) -> None:
    found = work(op_type, [(3, 5, 7)], (15, 7))
    assert (found.flops, found.bytes, found.unit, found.known) == (0, 0, "none", True)


@pytest.mark.parametrize("op_type", COPIES)
def test_a_copy_reads_everything_and_writes_everything(op_type: str) -> None:
    found = work(op_type, [(3, 5), (2, 5)], (5, 5))
    assert (found.flops, found.bytes_read, found.bytes_written, found.unit) == (0, 100, 100, "vector")
    assert (found.elements, found.known) == (25, True)


def test_split_writes_every_output() -> None:
    assert work("Split", [(3, 7)], (1, 7), (2, 7)).bytes_written == 4 * 21


@pytest.mark.parametrize("op_type", ["Gather", "GatherElements", "GatherND"])
def test_a_lookup_moves_the_rows_looked_up_not_the_table(op_type: str) -> None:
    found = work(op_type, [(50_000, 768), ("int64", (1, 7))], (1, 7, 768))
    assert found.bytes_read == 7 * 768 * 4 + 7 * 8
    assert found.bytes_written == 7 * 768 * 4


def test_a_selection_reads_at_most_what_is_there() -> None:
    # Three rows repeated 100 times: the table of 3 rows is read once.
    found = work("Gather", [(3, 5), ("int64", (100,))], (100, 5))
    assert (found.bytes_read, found.bytes_written) == (60 + 800, 2000)


def test_slice_moves_its_output() -> None:
    found = work("Slice", [(100, 100)], (3, 7))
    assert (found.bytes_read, found.bytes_written) == (84, 84)


@pytest.mark.parametrize("table_first", [True, False])
def test_embedding_finds_its_indices_by_type(table_first: bool) -> None:
    table, indices = (1000, 16), ("int64", (2, 5))
    found = work("Embedding", [table, indices] if table_first else [indices, table], (2, 5, 16))
    assert (found.bytes_read, found.bytes_written) == (80 + 640, 640)
