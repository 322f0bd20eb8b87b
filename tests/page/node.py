"""The page's scripts run by node, without a browser: for what they compute and say."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import simsched

SCRIPTS = Path(simsched.__file__).parent / "page" / "web" / "js"


def run_node(folder: Path, program: str, data: Any) -> Any:
    """Run a program that imports scripts from ``./js/``; it finds ``data`` as ``input`` and answers with ``say``."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here; it runs the page's scripts without a browser")
    if not (folder / "js").exists():
        shutil.copytree(SCRIPTS, folder / "js")
        (folder / "package.json").write_text('{"type": "module"}')
    (folder / "input.json").write_text(json.dumps(data, allow_nan=False))
    (folder / "program.js").write_text(HEAD + program)
    done = subprocess.run([node, "program.js"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


HEAD = """
import { readFileSync } from "node:fs";
const input = JSON.parse(readFileSync("input.json", "utf8"));
const say = (result) => process.stdout.write(JSON.stringify(result));
"""
