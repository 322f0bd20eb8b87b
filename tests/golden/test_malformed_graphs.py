"""Malformed graph files cause exactly the messages that are written down."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.golden import malformed_documents, malformed_graphs
from tests.golden.case import Case, check_message

CASES = [*malformed_documents.CASES, *malformed_graphs.CASES]


@pytest.fixture(params=["parser in C", "parser in Python"])
def either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "parser in Python":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_the_message_is_exactly_this(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_message(case)


def test_every_case_is_written_once() -> None:
    assert len({case.what for case in CASES}) == len(CASES)
    assert len({case.text for case in CASES}) == len(CASES)
