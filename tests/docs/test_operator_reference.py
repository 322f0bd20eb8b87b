"""The tables of the reference page on operator types are those of the registry."""

from __future__ import annotations

import re

from scripts.operator_reference import PAGE, alias_table, rule_tables, updated
from simsched.cost.registry import DEFAULT


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text("utf-8")
    assert updated(text) == text, "run python scripts/operator_reference.py"


def test_every_rule_and_alias_is_on_the_page_once() -> None:
    names = re.findall(r"`([^`]+)`", re.sub(r"\|[^|]*\|[^|]*\|$", "", rule_tables(), flags=re.MULTILINE))
    assert sorted(names) == sorted(DEFAULT.rules)
    rows = alias_table().splitlines()[2:]
    assert sum(row.count("`") // 2 - 1 for row in rows) == len(DEFAULT.aliases)


def test_the_tables_would_be_made_anew() -> None:
    page = PAGE.read_text("utf-8")
    row = "| `LSTM` | 2 x steps x B x directions x 4H x (I + H) | inputs + outputs |"
    assert row in page
    assert updated(page.replace(row, "| `LSTM` | 1 | 2 |")) == page
