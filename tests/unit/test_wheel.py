"""The wheel carries graphs, profiles and experiments, and works where the repository is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

LOAD_EVERYTHING = """
import json
from pathlib import Path
import simsched
from simsched import data
from simsched.graph.io import load_graph
from simsched.profiles import load_hardware, profile_names

graphs = {name: len(load_graph(name)) for name in data.names("graphs")}
profiles = {name: len(load_hardware(name).devices) for name in profile_names()}
experiments = data.names("experiments")
print(json.dumps([str(Path(simsched.__file__).parent), graphs, profiles, experiments]))
"""


def quietly(*command: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def stems(folder: str) -> set[str]:
    return {path.name.split(".")[0] for path in (ROOT / folder).iterdir() if path.is_file() and path.suffix != ".md"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the source archive, and the wheel that was built from that archive alone."""
    folder = tmp_path_factory.mktemp("dist")
    quietly(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel is installed, without its dependencies."""
    target = tmp_path_factory.mktemp("installed")
    (wheel,) = built.glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    quietly(*pip, "--no-deps", "--no-index", "--target", str(target), str(wheel), cwd=target)
    return target


@pytest.fixture
def outside(installed: Path, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """An empty working folder and an environment in which only the installed wheel is found."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SIMSCHED_")}
    return tmp_path, {**env, "PYTHONPATH": str(installed)}


def test_wheel_holds_data_types_licence_and_no_tests(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"simsched/py.typed", "simsched/_data/graphs/residual.yaml"} <= names
    assert "simsched/_data/hardware_profiles/a100_sxm_80gb.yaml" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"simsched"}


def test_wheel_holds_every_file_of_the_page(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    files = {path.relative_to(ROOT) for path in (ROOT / "simsched" / "page").rglob("*") if path.is_file()}
    expected = {path.as_posix() for path in files if "__pycache__" not in path.parts}
    assert {"simsched/page/web/page.html", "simsched/page/web/js/main.js", "simsched/page/web/css/base.css"} <= expected
    assert any(name.startswith("simsched/page/vendor/pyodide-") for name in expected)
    assert sorted(expected - names) == []


def test_source_archive_can_be_tested_and_documented(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    expected = {"Makefile", "LICENSE", "CHANGELOG.md", "CITATION.cff", "tests/unit/test_wheel.py", "docs/index.md"}
    expected |= {"requirements/run.txt", "graphs/residual.yaml", "examples/01_hello.out", "scripts/get_browser.py"}
    expected |= {"package.json", "package-lock.json", "tsconfig.json", "notebooks/1_first_steps.ipynb"}
    assert expected <= names


def test_everything_shipped_loads_outside_the_repository(outside: tuple[Path, dict[str, str]], installed: Path) -> None:
    folder, env = outside
    package, graphs, profiles, experiments = json.loads(
        quietly(sys.executable, "-c", LOAD_EVERYTHING, cwd=folder, env=env)
    )
    assert Path(package) == installed / "simsched"
    assert set(graphs) == stems("graphs")
    assert set(profiles) == stems("hardware_profiles")
    assert set(experiments) == stems("experiments")
    assert min(graphs.values()) >= 1
    assert min(profiles.values()) >= 1
    assert graphs["residual"] == 7


def test_the_command_line_works_outside_the_repository(outside: tuple[Path, dict[str, str]]) -> None:
    folder, env = outside
    command = (sys.executable, "-m", "simsched", "compare", "residual", "--hardware", "lanes:2")
    answer = json.loads(quietly(*command, "--schedulers", "serial,greedy_ready", "--json", cwd=folder, env=env))
    assert [(run["scheduler"], run["makespan_ns"], run["valid"]) for run in answer["runs"]] == [
        ("serial", 7, True),
        ("greedy_ready", 6, True),
    ]


def test_a_page_is_made_outside_the_repository(outside: tuple[Path, dict[str, str]]) -> None:
    folder, env = outside
    command = (sys.executable, "-m", "simsched", "page", "residual", "--hardware", "lanes:2")
    assert "written to page.html" in quietly(*command, cwd=folder, env=env)
    assert (folder / "page.html").stat().st_size > 100_000
