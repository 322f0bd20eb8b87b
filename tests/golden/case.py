"""One malformed file and the exact message that it must cause."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from simsched import errors
from simsched.graph.io import load_graph


class Case(NamedTuple):
    what: str
    text: str
    message: str
    error: str = "ConfigError"
    file: str = "graph.yaml"


def check_message(case: Case) -> None:
    """Load the file of a case from the working directory, which must cause its error and its message exactly."""
    Path(case.file).write_text(case.text, "utf-8")
    with pytest.raises(errors.InputError) as caught:
        load_graph(case.file)
    assert str(caught.value) == case.message
    assert type(caught.value) is getattr(errors, case.error)
