"""Files that were made to do harm, or were made by hand: pipes, bombs, manifests of other folders."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from simsched.config.files import LARGEST, read_bytes
from simsched.errors import ConfigError, SchedulerError
from simsched.identify import identify
from simsched.output.folder import write_folder
from simsched.output.provenance import manifest, read_manifest, sha256
from simsched.schedulers.registry import make_scheduler
from tests.cli import invoke


def test_what_is_no_file_is_named_for_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dir.yaml").mkdir()
    os.mkfifo("pipe.yaml")
    Path("loop.yaml").symlink_to("loop.yaml")
    answers = {
        "dir.yaml": "is a folder; name a file",
        "pipe.yaml": "is a pipe or a device; save its content to a file first, and name that",
        "loop.yaml": "is a link that leads nowhere",
    }
    for name, answer in answers.items():
        for words in (
            ("run", name, "-H", "lanes:1"),
            ("run", "residual", "-H", name),
            ("experiment", name),
            ("run", "residual", "-H", "lanes:1", "--schedule", name),
        ):
            done = invoke(*words)
            assert done.exit_code == 2
            assert done.stderr.startswith(f"error: {name}: {answer}"), words
    assert invoke("run", "residual", "-H", "lanes:1", "-s", "follow:pipe.yaml").exit_code == 2  # and does not wait


def test_a_packed_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * 2**20) * 80)  # 80 MiB of spaces in 80 kB
    with pytest.raises(ConfigError, match=r"KiB unpack to more than 64 MiB, too much for a graph"):
        read_bytes(path)
    path.write_bytes(gzip.compress(b" " * 2**20) * 60)
    assert len(read_bytes(path)) == 60 * 2**20
    path.write_bytes(gzip.compress(b"{}")[:-3])
    with pytest.raises(ConfigError, match="not a whole gzip file"):
        read_bytes(path)


def test_a_file_larger_than_memory_is_refused_unread(tmp_path: Path) -> None:
    for name in ("huge.yaml", "huge.stg", "huge.txt"):
        path = tmp_path / name
        path.touch()
        os.truncate(path, LARGEST + 2**30)
        with pytest.raises(ConfigError, match="is 3 GiB large; files above 2 GiB are not read"):
            identify(str(path))


def test_the_schedules_that_runs_write_are_valid(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert invoke("run", "residual", "-H", "lanes:2", "-o", str(out)).exit_code == 0
    path = out / "residual/critical_path/schedule.txt"
    assert "launch:" in path.read_text()
    for text in (path.read_text(), "\ufeff" + path.read_text().replace("\n", "\r\n")):
        path.write_bytes(text.encode())
        facts = identify(str(path))
        assert (facts["kind"], facts["operators"], facts["devices"], facts["streams"]) == ("schedule", 7, 1, 2)
        assert invoke("run", "residual", "-H", "lanes:2", "--schedule", str(path)).exit_code == 0


@pytest.mark.parametrize("files", ["[]", '"x"', '{"a": 5}', '{"../kept": "HASH"}', '{"/kept": "HASH"}', "[" * 100_000])
def test_a_manifest_never_leads_out_of_its_folder(tmp_path: Path, files: str) -> None:
    kept, folder = tmp_path / "kept", tmp_path / "out"
    kept.write_text("precious")
    folder.mkdir()
    text = '{"simsched_manifest": 1, "files": ' + files.replace("HASH", sha256(b"precious")) + "}"
    (folder / "manifest.json").write_text(text.replace('"/kept"', f'"{kept}"'))
    assert read_manifest(folder) is None
    with pytest.raises(ConfigError):
        identify(str(folder / "manifest.json"))
    done = invoke("run", "residual", "-H", "lanes:2", "-o", str(folder))
    assert done.exit_code == 2
    assert "is not empty and was not written by simsched" in done.stderr
    write_folder(folder, {"a": b"1"}, manifest([], {}, {}, {"a": b"1"}), {})
    assert kept.read_text() == "precious"


def test_a_recorded_trace_that_is_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("[" * 100_000)
    done = invoke("run", "residual", "-H", "lanes:2", "--schedule", str(path))
    assert done.exit_code == 2
    assert done.stderr == f"error: {path}: not a recorded run of this problem: it is nested too deeply\n"


def test_seeds_that_would_draw_the_same_are_refused() -> None:
    with pytest.raises(SchedulerError, match="random: seed must be at least 0, got -1"):
        make_scheduler("random:-1")
