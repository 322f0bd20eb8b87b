from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from simsched.errors import ConfigError
from simsched.output.folder import claim, slug, write_file, write_folder
from simsched.output.provenance import command_of, manifest, read_manifest, sha256, versions


def write(folder: Path, files: dict[str, bytes]) -> None:
    claim(folder)
    write_folder(folder, files, manifest(["simsched"], {}, {}, files), {"seconds": 1.5})


def listing(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_is_made_with_manifest_and_timing(tmp_path: Path) -> None:
    write(tmp_path / "new" / "out", {"a.csv": b"1\n", "net/run/b.csv": b"2\n"})
    folder = tmp_path / "new" / "out"
    assert listing(folder) == {"a.csv", "net/run/b.csv", "manifest.json", "timing.json"}
    found = json.loads((folder / "manifest.json").read_text())
    assert found["files"] == {"a.csv": sha256(b"1\n"), "net/run/b.csv": sha256(b"2\n")}
    assert json.loads((folder / "timing.json").read_text()) == {"seconds": 1.5}


def test_the_manifest_says_nothing_about_when_and_where(tmp_path: Path) -> None:
    write(tmp_path / "one", {"a.csv": b"1\n"})
    write(tmp_path / "two", {"a.csv": b"1\n"})
    first, second = ((tmp_path / name / "manifest.json").read_bytes() for name in ("one", "two"))
    assert first == second
    assert os.uname().nodename.encode() not in first
    assert str(tmp_path).encode() not in first


def test_what_an_earlier_run_left_is_removed_and_what_others_wrote_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(folder, {"old/run/a.csv": b"1\n", "old/run/b.csv": b"2\n", "both.csv": b"3\n"})
    (folder / "old" / "run" / "b.csv").write_bytes(b"changed by hand\n")
    (folder / "notes.txt").write_text("mine")
    write(folder, {"both.csv": b"4\n"})
    assert listing(folder) == {"old/run/b.csv", "both.csv", "notes.txt", "manifest.json", "timing.json"}
    assert (folder / "both.csv").read_bytes() == b"4\n"
    write(folder, {"both.csv": b"4\n", "old/run/c.csv": b"5\n"})
    write(folder, {"both.csv": b"4\n"})
    assert (folder / "old" / "run" / "b.csv").exists()


def test_empty_folders_of_an_earlier_run_go_too(tmp_path: Path) -> None:
    write(tmp_path / "out", {"net/run/a.csv": b"1\n"})
    write(tmp_path / "out", {"other.csv": b"1\n"})
    assert not (tmp_path / "out" / "net").exists()


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ConfigError) as caught:
        claim(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: is not empty and was not written by simsched; name a new or an empty folder"
    )
    (tmp_path / "manifest.json").write_text('{"name": "a web app"}')
    with pytest.raises(ConfigError, match="was not written by simsched"):
        claim(tmp_path)
    with pytest.raises(ConfigError, match="is a file; name a folder"):
        claim(tmp_path / "thesis.tex")
    assert read_manifest(tmp_path) is None


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    write_file(path, b"old")

    def fail(source: object, target: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert listing(tmp_path) == {"table.csv"}


@pytest.mark.skipif(os.name != "posix", reason="pipes and links as posix has them")
def test_nothing_takes_the_place_of_what_is_no_file(tmp_path: Path) -> None:
    """Least of all that of a device: to root, /dev/null is a name that can be given to a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "page").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "page")
    write_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "page").read_bytes() == b"new"
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path / "far", b"new")


def test_what_cannot_be_written_is_said_of_the_file_itself(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / ("x" * 300), tmp_path / "file" / "inside"):
        with pytest.raises(OSError, match=r"long|directory|exists") as caught:
            write_file(path, b"new")
        assert caught.value.filename in (str(path), str(path.parent))
    assert listing(tmp_path) == {"file"}


def test_names_of_folders_are_plain_and_never_clash() -> None:
    taken: set[str] = set()
    names = ["memory_aware(slack=0.2)", "memory_aware(slack:0.2)", "../../etc", "卷积", "", "...", "a" * 300, "a" * 301]
    slugs = [slug(name, taken) for name in names]
    assert slugs[:6] == ["memory_aware-slack-0.2", "memory_aware-slack-0.2-2", "etc", "卷积", "run", "run-2"]
    assert len(set(slugs)) == len(slugs)
    assert all("/" not in name and not name.startswith(".") and len(name) < 110 for name in slugs)


def test_the_command_leaves_out_where_its_output_goes() -> None:
    assert command_of(["compare", "a", "-o", "x", "--seed", "3"]) == ["simsched", "compare", "a", "--seed", "3"]
    assert command_of(["compare", "--output=x", "a"]) == ["simsched", "compare", "a"]


def test_versions_are_those_of_installed_packages() -> None:
    import simpy

    assert versions()["simpy"] == simpy.__version__
    assert "pyyaml" in versions()
