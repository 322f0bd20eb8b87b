"""Where others' published instances and answers are, if they are here at all.

They are not part of the project (some may not be redistributed). They are looked for in
``$SIMSCHED_KNOWN_ANSWERS`` and in ``../shared/known_answers`` beside the repository; a test that needs them is
skipped, with the reason shown, where they are absent.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
VARIABLE = "SIMSCHED_KNOWN_ANSWERS"


def find(name: str) -> Path | None:
    """Return one folder of known answers, or None where it is absent."""
    stated = os.environ.get(VARIABLE)
    places = [Path(stated)] if stated else []
    places.append(REPOSITORY.parent / "shared" / "known_answers")
    return next((place / name for place in places if (place / name).is_dir()), None)


def folder(name: str) -> Path:
    """Return one folder of known answers, e.g. ``folder("stg")``; skips the calling test where it is absent."""
    found = find(name)
    if found is None:
        pytest.skip(f"known answers {name!r} are not here; set ${VARIABLE} to their folder")
    return found
