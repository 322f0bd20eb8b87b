"""Each example prints exactly what the file beside it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_its_out_file(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == example.with_suffix(".out").read_text("utf-8")


def test_examples_and_outputs_come_in_pairs() -> None:
    outputs = {path.stem for path in (ROOT / "examples").glob("*.out")}
    assert {path.stem for path in EXAMPLES} == outputs
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_it_covers(example: Path) -> None:
    text = example.read_text("utf-8")
    assert text.startswith('"""')
    assert "\nCovers:" in text
