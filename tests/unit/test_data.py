"""Names and paths of graphs, profiles and experiments."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simsched import data
from simsched.errors import ConfigError, UnknownNameError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, away from the repository."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIMSCHED_PATH", raising=False)
    return tmp_path


def put(path: Path, text: str = "x: 1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_names_are_found_in_the_copy_that_comes_with_the_package(elsewhere: Path) -> None:
    assert data.find("hardware_profiles", "toy_4sm") == ROOT / "hardware_profiles" / "toy_4sm.yaml"
    assert data.find("hardware_profiles", "toy_4sm.yaml").is_file()
    assert "a100_sxm_80gb" in data.names("hardware_profiles")
    assert data.names("hardware_profiles") == sorted(set(data.names("hardware_profiles")))


def test_a_path_wins_then_the_search_path_then_the_working_directory_then_the_package(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = data.find("hardware_profiles", "toy_4sm")
    assert packaged == ROOT / "hardware_profiles" / "toy_4sm.yaml"
    here = put(elsewhere / "hardware_profiles" / "toy_4sm.yaml")
    assert data.find("hardware_profiles", "toy_4sm").resolve() == here
    first, second = elsewhere / "first", elsewhere / "second"
    monkeypatch.setenv("SIMSCHED_PATH", os.pathsep.join([str(first), "", str(second)]))
    assert data.find("hardware_profiles", "toy_4sm").resolve() == here
    plain = put(second / "toy_4sm.yml")
    assert data.find("hardware_profiles", "toy_4sm") == plain
    in_folder = put(second / "hardware_profiles" / "toy_4sm.yaml")
    assert data.find("hardware_profiles", "toy_4sm") == in_folder
    assert data.find("hardware_profiles", put(first / "toy_4sm.json")) == first / "toy_4sm.json"
    assert data.find("hardware_profiles", "toy_4sm") == first / "toy_4sm.json"
    direct = put(elsewhere / "toy_4sm.yaml")
    assert data.find("hardware_profiles", "toy_4sm.yaml").resolve() == direct


def test_the_first_suffix_is_the_best(elsewhere: Path) -> None:
    for suffix in (".dot", ".json.gz", ".yaml"):
        put(elsewhere / "graphs" / f"mine{suffix}")
        assert data.find("graphs", "mine") == Path("graphs") / f"mine{suffix}"
    assert data.find("graphs", "mine", [".json.gz"]) == Path("graphs/mine.json.gz")
    assert data.find("graphs", "mine.dot") == Path("graphs/mine.dot")
    assert "mine" in data.names("graphs")
    assert "mine.json" not in data.names("graphs")
    assert "mine" not in data.names("graphs", [".stg"])


def test_a_name_with_dots_is_a_name(elsewhere: Path) -> None:
    put(elsewhere / "graphs" / "net.v1.yaml")
    assert data.find("graphs", "net.v1") == Path("graphs/net.v1.yaml")
    assert "net.v1" in data.names("graphs")


def test_folders_and_other_files_are_not_found(elsewhere: Path) -> None:
    put(elsewhere / "graphs" / "net.txt")
    (elsewhere / "graphs" / "folder.yaml").mkdir()
    for name in ("net", "folder", "net.txt", ""):
        with pytest.raises(UnknownNameError):
            data.find("graphs", name)


def test_an_unknown_name_comes_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        data.find("hardware_profiles", "a100_sxm_80")
    assert str(caught.value) == "unknown hardware profile 'a100_sxm_80'; did you mean 'a100_sxm_80gb'?"


def test_a_missing_path_comes_with_the_nearest_file_beside_it(elsewhere: Path) -> None:
    put(elsewhere / "nets" / "resnet.yaml")
    with pytest.raises(ConfigError) as caught:
        data.find("graphs", "nets/resnte.yaml")
    assert str(caught.value) == "nets/resnte.yaml: no such file; did you mean 'nets/resnet.yaml'?"
    with pytest.raises(ConfigError, match=r"^none/x\.yaml: no such file; names of graphs that are known: "):
        data.find("graphs", "none/x.yaml")


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "a\nb", "../" * 40 + "x", "~", "."])
def test_names_that_no_file_can_have_are_unknown(name: str, elsewhere: Path) -> None:
    with pytest.raises((UnknownNameError, ConfigError)):
        data.find("graphs", name)
