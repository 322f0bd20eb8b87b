"""Ways to call the command line from tests: inside this process, or as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from simsched.cli import main

ROOT = Path(__file__).resolve().parents[1]


def invoke(*words: str) -> Result:
    """Call the command line inside this process."""
    return CliRunner().invoke(main, list(words), prog_name="simsched")


def objects(*words: str, exit_code: int = 0) -> list[dict[str, Any]]:
    """Call a command with ``--json`` and return its objects, one a line."""
    done = invoke(*words, "--json")
    assert done.exit_code == exit_code, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "simsched", *words]


def process(*words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Call the command line as a process of its own."""
    return subprocess.run(
        command(*words), cwd=cwd, env=environment(**more), capture_output=True, text=True, check=False, timeout=120
    )
