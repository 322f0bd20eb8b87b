"""The table of contents of the package is complete, true and documented."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import simsched
from simsched.schedulers.registry import BUILTIN, GROUP

ROOT = Path(__file__).resolve().parents[2]
LOADED_AT_ONCE = {"run", "compare", "__version__"}


@pytest.mark.parametrize("name", simsched.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(simsched, name) is not None


def test_all_is_the_table_of_modules_and_what_is_loaded_at_once() -> None:
    assert set(simsched.__all__) == set(simsched._MODULES) | LOADED_AT_ONCE
    assert simsched.__all__ == sorted(simsched.__all__)
    assert set(simsched.__all__) <= set(dir(simsched))


def test_type_checkers_see_the_same_names_in_the_same_modules() -> None:
    tree = ast.parse((ROOT / "simsched" / "__init__.py").read_text("utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == simsched._MODULES


def test_run_stays_the_function_whatever_is_imported() -> None:
    import_module("simsched.run")
    assert callable(simsched.run)
    assert callable(simsched.compare)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulate_all'"):
        _ = simsched.simulate_all


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    documented = set(re.findall(r"^\.\. auto(?!module)\w+:: simsched\.(\w+)$", page, re.MULTILINE))
    assert documented == set(simsched.__all__) - {"__version__"}


def test_version_is_the_same_everywhere() -> None:
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == simsched.__version__
    assert re.search(rf"^#+ \[?{re.escape(simsched.__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)


def test_entry_points_are_the_built_in_schedulers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"][GROUP] == dict(BUILTIN)


def test_the_lowest_versions_are_those_that_the_project_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    allowed = dict(line.split(" >= ") for line in project["dependencies"])
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)$", (ROOT / "requirements" / "lowest.txt").read_text("utf-8"), re.M))
    lowest = {name.lower(): version for name, version in pinned.items()}
    short = {name: lowest[name][: len(version)] for name, version in allowed.items()}
    assert short == allowed
