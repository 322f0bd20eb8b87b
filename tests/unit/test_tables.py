from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.output.tables import Table, display_width, fold


def test_columns_are_aligned_and_lines_end_with_their_text() -> None:
    table = Table(("scheduler", ">makespan", "valid"), [("serial", "7", "yes"), ("critical_path", "6", "no")])
    assert table.plain() == (
        "scheduler      makespan  valid\n"
        "serial                7  yes\n"
        "critical_path         6  no"
    )  # fmt: skip


def test_a_table_that_is_too_wide_folds_one_column() -> None:
    rows = [("memory_aware(slack=0.25, tight=0.5)", "1234567890 ns")]
    assert Table(("scheduler", ">makespan"), rows).plain(34).split("\n") == [
        "scheduler                 makespan",
        "memory_aware(        1234567890 ns",
        "slack=0.25,",
        "tight=0.5)",
    ]


def test_a_folded_column_in_the_middle_keeps_its_place() -> None:
    rows = [("a", "one two three", "9")]
    assert Table(("x", "words", ">n"), rows, wrap=1).plain(14) == "x  words     n\na  one two   9\n   three"


def test_wide_characters_take_two_columns() -> None:
    assert display_width("卷积") == 4
    assert display_width("e\u0301") == 1
    lines = Table(("名", ">n"), [("卷积", "1"), ("ab", "22")]).plain().split("\n")
    assert {display_width(line) for line in lines} == {8}


@pytest.mark.parametrize(
    ("text", "width", "pieces"),
    [
        ("", 8, [""]),
        ("short", 8, ["short"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("one two three", 8, ["one two", "three"]),
        ("run beside nothing (173 of 253)", 20, ["run beside nothing", "(173 of 253)"]),
        ("卷积卷积", 5, ["卷积", "卷积"]),
    ],
)
def test_text_is_folded_at_spaces_where_there_are_any(text: str, width: int, pieces: list[str]) -> None:
    assert fold(text, width) == pieces


@given(st.text(alphabet="ab (,=卷", max_size=60), st.integers(2, 30))
def test_folding_loses_nothing_but_spaces(text: str, width: int) -> None:
    pieces = fold(text, width)
    assert all(display_width(piece) <= width for piece in pieces)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


@given(st.lists(st.tuples(st.text("abc ", max_size=40), st.text("12", max_size=9)), min_size=1, max_size=5))
def test_a_page_is_never_exceeded_where_folding_can_help(rows: list[tuple[str, str]]) -> None:
    text = Table(("name", ">figure"), rows).plain(30)
    assert max(map(display_width, text.split("\n"))) <= 30
