"""Finds graphs, hardware profiles and experiments by name or path.

Looked at in this order: the path itself; the folders in ``$SIMSCHED_PATH``; the working directory; the copy that
comes with the package. In each of them ``<folder>/<name><suffix>`` counts, e.g. ``graphs/diamond.yaml``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from simsched.errors import ConfigError, Fault, UnknownNameError, suggest

Folder = Literal["graphs", "hardware_profiles", "experiments"]

SUFFIXES: dict[Folder, tuple[str, ...]] = {
    "graphs": (".yaml", ".yml", ".json", ".json.gz", ".stg", ".sm", ".rcp", ".dot", ".gv", ".onnx"),
    "hardware_profiles": (".yaml", ".yml", ".json"),
    "experiments": (".yaml", ".yml", ".json"),
}
_KINDS: dict[Folder, str] = {
    "graphs": "graph",
    "hardware_profiles": "hardware profile",
    "experiments": "experiment",
}


def find(folder: Folder, name_or_path: str | os.PathLike[str], suffixes: Sequence[str] | None = None) -> Path:
    """Return the path of a graph, profile or experiment.

    Parameters
    ----------
    folder : {"graphs", "hardware_profiles", "experiments"}
    name_or_path : str or path
        ``"inception_v1"``, ``"inception_v1.json.gz"`` or ``"my/net.yaml"``.
    suffixes : sequence of str, optional
        File types to look for, best first; all that the folder may hold by default.

    Raises
    ------
    UnknownNameError
        If nothing has this name; with the nearest one that exists.
    ConfigError
        If it is a path, and there is no such file.
    """
    name = os.fspath(name_or_path)
    suffixes = SUFFIXES[folder] if suffixes is None else suffixes
    looks_like_path = os.sep in name or "/" in name or name.endswith(tuple(suffixes))
    path = Path(name)
    if (looks_like_path or path.suffix) and _is_file(path):
        return path
    if name and not path.is_absolute():
        for root in roots(folder):
            for suffix in ("", *suffixes):
                candidate = root / f"{name}{suffix}"
                if candidate.name.endswith(tuple(suffixes)) and _is_file(candidate):
                    return candidate
    if (looks_like_path or path.suffix) and os.path.lexists(path):
        raise ConfigError(name, [Fault(not_a_file(path))])
    known = names(folder, suffixes)
    if not looks_like_path:
        raise UnknownNameError(_KINDS[folder], name, known)
    beside = [str(path.parent / other) for other in _listing(path.parent, suffixes)]
    hint = suggest(name, beside) if beside else f"names of {folder} that are known: {', '.join(known) or 'none'}"
    raise ConfigError(name, [Fault(f"no such file; {hint}")])


def names(folder: Folder, suffixes: Sequence[str] | None = None) -> list[str]:
    """Return the names that :func:`find` knows in a folder, without suffix, sorted."""
    suffixes = SUFFIXES[folder] if suffixes is None else suffixes
    found = set()
    for root in roots(folder):
        for file in _listing(root, suffixes):
            suffix = max((suffix for suffix in suffixes if file.endswith(suffix)), key=len)
            found.add(file[: -len(suffix)])
    return sorted(found)


def roots(folder: Folder) -> Iterator[Path]:
    """Yield the directories in which names are looked up, first come first served; some may not exist."""
    for entry in os.environ.get("SIMSCHED_PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry) / folder
            yield Path(entry)
    yield Path(folder)
    package = Path(__file__).resolve().parent
    yield package / "_data" / folder
    # A source checkout keeps the folders beside the package; only an installed copy has _data.
    if not (package / "_data").is_dir():
        yield package.parent / folder


def packaged(folder: Folder) -> dict[str, Path]:
    """Return the path of each file that comes with the package, by its name without suffix, sorted."""
    root, suffixes = list(roots(folder))[-1], SUFFIXES[folder]
    found = {}
    for file in _listing(root, suffixes):
        suffix = max((suffix for suffix in suffixes if file.endswith(suffix)), key=len)
        found[file[: -len(suffix)]] = root / file
    return found


def not_a_file(path: Path) -> str:
    """Say why a path cannot be read like a file: it leads to a folder, to nothing, or to something without an end."""
    if path.is_dir():
        return "is a folder; name a file"
    if path.is_symlink() and not path.exists():
        return "is a link that leads nowhere"
    if path.exists():
        return "is a pipe or a device; save its content to a file first, and name that"
    return "no such file"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _listing(directory: Path, suffixes: Sequence[str]) -> list[str]:
    try:
        return sorted(file.name for file in directory.iterdir() if file.name.endswith(tuple(suffixes)))
    except OSError:
        return []
