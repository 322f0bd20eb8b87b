"""Recorded runs that somebody has changed: said in one message, whatever the change, and never a crash further on."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simsched.errors import ConfigError, SimschedError
from simsched.output.recorded import read_comparison
from simsched.page.document import page_document
from tests.cli import invoke

REPLACEMENTS: tuple[Any, ...] = (None, -1, 2**31, 2**62, 1.5, "x", [], {}, [[]], {"99": 1})
TRACE = "squeezenet/critical_path/trace.json"
RUN = "squeezenet/critical_path/run.json"
PROBLEM = "squeezenet/problem.json"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on several devices with copies, waits, memory and noise."""
    folder = tmp_path_factory.mktemp("recorded") / "out"
    words = ("compare", "squeezenet", "-H", "toy_box", "-s", "critical_path", "--noise", "0.2", "-o", str(folder))
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def damaged(recorded: Path, tmp_path: Path) -> Callable[[str, Callable[[Any], None]], Path]:
    """Make a copy in which one file is changed."""

    def change(name: str, damage: Callable[[Any], None]) -> Path:
        folder = tmp_path / "damaged"
        shutil.copytree(recorded, folder, dirs_exist_ok=True)
        data = json.loads((folder / name).read_text("utf-8"))
        damage(data)
        (folder / name).write_text(json.dumps(data))
        return folder

    return change


def put(*path: Any) -> Callable[[Any], None]:
    """Replace a part; the last of the path is what stands there then."""

    def damage(data: Any) -> None:
        *way, key, value = path
        for step in way:
            data = data[step]
        data[key] = value

    return damage


@pytest.mark.parametrize(
    ("name", "damage", "expected"),
    [
        (TRACE, put("stream", 0, 99), "name 99, of"),
        (TRACE, put("start", 0, -5), "name -5, which is no time"),
        (TRACE, put("end", 3, 0), "before they start at"),
        (TRACE, put("end", 3, 2**62 + 1), "which is no time"),
        (TRACE, put("ready", []), "its 'ready' has 0 values for"),
        (TRACE, put("launch_order", 1, 0), "does not hold every operator once"),
        (TRACE, put("transfers", 0, 2, 7), "transfers name 7, of"),
        (TRACE, put("transfers", 0, 6, "many"), "transfers have a str for a whole number"),
        (TRACE, put("memory", "live", [1]), "memory has columns of different lengths"),
        (TRACE, put("memory", "device", 0, 12), "memory steps name 12, of"),
        (TRACE, put("reasons", {"999": "why"}), "reasons name 999, of"),
        (TRACE, put("reasons", {"0": 3}), "reasons are not text: 3"),
        (TRACE, put("calls", None), "calls and rounds have a NoneType"),
        (RUN, put("actual", [[1, 2]]), "'actual' has not a duration for each operator on each device"),
        (PROBLEM, put("costs", 0, "999", {"duration": 1}), "costs of operator 999 of"),
        (PROBLEM, put("costs", []), "has costs on 0 devices of"),
        (PROBLEM, put("allowed", {"0": [9]}), "on devices that are none of its"),
        (PROBLEM, put("hardware", "devices", 0, "streams", 10**30), "no figure of hardware"),
    ],
)
def test_what_cannot_be_a_run_is_said(damaged: Any, name: str, damage: Callable[[Any], None], expected: str) -> None:
    folder = damaged(name, damage)
    with pytest.raises(ConfigError) as caught:
        read_comparison(folder)
    assert expected in str(caught.value)
    assert name in str(caught.value)
    done = invoke("page", str(folder), "-o", str(folder / "page.html"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def parts_of(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of all parts; of a list the first two and the last."""
    yield path
    rows = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    for key, inner in rows if len(rows) < 3 or isinstance(data, dict) else (*rows[:2], rows[-1]):
        yield from parts_of(inner, (*path, key))


@pytest.mark.parametrize("name", [TRACE, RUN])
def test_no_damage_reaches_the_inside(recorded: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(recorded, tmp_path / "out")
    data = json.loads((recorded / name).read_text("utf-8"))
    places = [path for path in parts_of(data) if path and path[0] != "reasons"]
    tried = 0
    for number, path in enumerate(places):
        changed = copy.deepcopy(data)
        put(*path, REPLACEMENTS[number % len(REPLACEMENTS)])(changed)
        (tmp_path / "out" / name).write_text(json.dumps(changed))
        tried += 1
        try:
            comparison = read_comparison(tmp_path / "out")
            json.dumps(page_document(comparison.results), allow_nan=False)
        except SimschedError:
            continue
    assert tried > 10
