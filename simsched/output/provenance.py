"""Provenance: what is needed to make a result again, in a form that is the same whenever it is made.

``manifest.json`` holds no time, no host and no path of the output: two runs of one command on two machines with the
same versions write the same bytes. What differs from run to run goes into ``timing.json``.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from simsched._version import __version__

if TYPE_CHECKING:
    from simsched.problem import Problem

PACKAGES = ("simpy", "pyyaml", "pydantic", "click", "rich", "numpy", "networkx", "matplotlib", "onnx")
_OUTPUT_OPTIONS = ("--output", "-o")


def versions() -> dict[str, str]:
    """Versions of the packages that can have a part in a result; those that are not installed are left out."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def command_of(arguments: Sequence[str]) -> list[str]:
    """Return the command as it was typed, but for where its output goes.

    Examples
    --------
    >>> command_of(["run", "residual", "--output", "here", "--seed", "7"])
    ['simsched', 'run', 'residual', '--seed', '7']
    """
    kept = ["simsched"]
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in _OUTPUT_OPTIONS:
            skip = True
        elif not argument.startswith("--output="):
            kept.append(argument)
    return kept


def describe(problem: Problem) -> dict[str, Any]:
    """Names and content hashes of a problem's graph and hardware."""
    graph, hardware = problem.graph, problem.hardware
    return {
        "graph": {"name": graph.name, "operators": len(graph), "edges": graph.edge_count, "sha256": graph.content_hash},
        "hardware": {"name": hardware.name, "devices": len(hardware.devices), "sha256": hardware.content_hash},
        "seed": problem.seed,
    }


def manifest(
    command: Sequence[str], parameters: Mapping[str, Any], contents: Mapping[str, Any], files: Mapping[str, bytes]
) -> dict[str, Any]:
    """Return the manifest of an output folder.

    Parameters
    ----------
    command : sequence of str
        What was typed, see :func:`command_of`.
    parameters : mapping
        What differs from the defaults.
    contents : mapping
        What was computed: problems with their hashes, schedulers, failures.
    files : mapping of str to bytes
        Everything else in the folder; each is listed with its SHA-256.
    """
    return {
        "simsched_manifest": 1,
        "simsched": __version__,
        "python": platform.python_version(),
        "packages": versions(),
        "command": list(command),
        "parameters": dict(parameters),
        **contents,
        "files": {name: sha256(data) for name, data in sorted(files.items())},
    }


def to_text(value: Mapping[str, Any]) -> str:
    """JSON for people and machines, with a final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_bytes(text: str) -> bytes:
    """Encode what a file holds; of names that are not UTF-8, what cannot be said in it becomes a question mark."""
    return text.encode("utf-8", "replace")


def sha256(data: bytes) -> str:
    """Hexadecimal SHA-256."""
    return hashlib.sha256(data).hexdigest()


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder that simsched wrote; None for any other folder."""
    try:
        value = json.loads((folder / "manifest.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("simsched_manifest") != 1 or not _lists_files(value.get("files")):
        return None
    return value


def _lists_files(value: object) -> bool:
    """Whether these are files of one folder and their hashes; what follows from a manifest stays inside its folder."""
    return isinstance(value, dict) and all(
        isinstance(digest, str) and not PurePath(name).is_absolute() and ".." not in PurePath(name).parts
        for name, digest in value.items()
    )
