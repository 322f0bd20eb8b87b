"""Writing a folder of results: each file whole or not at all, and never over somebody else's files."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simsched.errors import ConfigError, Fault
from simsched.output.provenance import read_manifest, sha256, to_bytes, to_text

MANIFEST = "manifest.json"
TIMING = "timing.json"


def claim(folder: Path) -> None:
    """Make a folder for results, or refuse one that holds something else.

    Raises
    ------
    ConfigError
        If the path is a file, or a folder that is neither empty nor written by simsched.
    """
    _refuse_foreign(folder)
    folder.mkdir(parents=True, exist_ok=True)


def check_folder(folder: Path, command: Sequence[str]) -> None:
    """Refuse a folder that cannot be written, or holds anything but what the same command has written; make nothing.

    Parameters
    ----------
    folder : Path
    command : sequence of str
        How the command of its manifest begins.

    Raises
    ------
    ConfigError, OSError
    """
    _refuse_foreign(folder)
    before = (read_manifest(folder) or {}).get("command", list(command))
    if before[: len(command)] != list(command):
        message = f"holds results of '{' '.join(map(str, before[:2]))}', which would go; name a new or an empty folder"
        raise ConfigError(str(folder), [Fault(message)])
    check_place(folder / MANIFEST)


def check_place(path: Path) -> None:
    """Refuse the path of a file that cannot be written, before anything is made for it.

    Raises
    ------
    OSError
    """
    nearest = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
    if nearest != path.absolute() and not nearest.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is not a folder", str(nearest))
    if not os.access(nearest, os.W_OK):
        raise PermissionError(errno.EACCES, "permission denied", str(path))


def _refuse_foreign(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(str(folder), [Fault("is a file; name a folder to write results into")])
    if folder.is_dir() and any(folder.iterdir()) and read_manifest(folder) is None:
        message = "is not empty and was not written by simsched; name a new or an empty folder"
        raise ConfigError(str(folder), [Fault(message)])


def write_file(path: Path, data: bytes) -> None:
    """Write one file through a neighbour that takes its place at the end.

    Through a link goes what is written to where it leads. What is there and no file, such as a pipe or a device, is
    written into: nothing may take its place.

    Raises
    ------
    OSError
        About the path itself, also where it is the neighbour that cannot be written.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_through_neighbour(Path(os.path.realpath(path)), data)
    except OSError as error:
        if error.filename is not None:
            error.filename, error.filename2 = str(path), None
        raise


def _write_through_neighbour(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=".simsched.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_folder(
    folder: Path, files: Mapping[str, bytes], manifest: Mapping[str, Any], timing: Mapping[str, Any]
) -> None:
    """Write all files of a folder, the manifest last, and remove what an earlier run left.

    Parameters
    ----------
    folder : Path
        Claimed with :func:`claim`.
    files : mapping of str to bytes
        By path inside the folder, with ``/``.
    manifest : mapping
        Lists the files with their hashes, see :func:`simsched.output.provenance.manifest`.
    timing : mapping
        What differs from run to run; written beside the manifest and not listed in it.

    Notes
    -----
    Files of the earlier manifest that are not written again are removed only while their content is still what
    that manifest says: what somebody has changed since is kept.
    """
    before = read_manifest(folder) or {}
    for name, data in files.items():
        write_file(folder / name, data)
    write_file(folder / TIMING, to_bytes(to_text(timing)))
    write_file(folder / MANIFEST, to_bytes(to_text(manifest)))
    for name, digest in before.get("files", {}).items():
        path = folder / name
        if name not in files and path.is_file() and sha256(path.read_bytes()) == digest:
            path.unlink()
            _remove_empty(path.parent, folder)


def _remove_empty(path: Path, top: Path) -> None:
    while path != top and not any(path.iterdir()):
        path.rmdir()
        path = path.parent


def slug(text: str, taken: set[str]) -> str:
    """Return a file name for a label, different from those that are taken, and take it.

    Examples
    --------
    >>> taken = set()
    >>> slug("greedy_ready(rule=spt)", taken), slug("greedy_ready:rule:spt", taken)
    ('greedy_ready-rule-spt', 'greedy_ready-rule-spt-2')
    """
    kept = "".join(char if char.isalnum() or char in "._-" else "-" for char in text)
    base = "-".join(filter(None, kept.split("-"))).strip("._-") or "run"
    name, number = base[:100], 2
    while name in taken:
        name, number = f"{base[:100]}-{number}", number + 1
    taken.add(name)
    return name
