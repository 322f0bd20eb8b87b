"""A live page as a static site: the page, its worker, Pyodide, what Pyodide runs, and graphs and hardware to choose.

All of it comes from the installed package; nothing is fetched from elsewhere.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from simsched.data import Folder, packaged
from simsched.page.bundle import bundle

PYODIDE = "314.0.7"
ARCHIVE = Path(__file__).parent / "vendor" / f"pyodide-{PYODIDE}.tgz"

MEMBERS = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
LICENCES = ("LICENSE.MPL-2.0", "LICENSE.CPython", "README.md")

LIVE_FILES = {
    "pyodide": f"pyodide-{PYODIDE}/",
    "worker": "worker.js",
    "bundle": "simsched.zip",
    "catalogue": "catalogue/",
}
"""``LiveFiles`` of ``web/types.d.ts``: where the page finds its files, relative to itself."""

SHORT_FORMS = ("lanes:2", "lanes:4", "procs:2", "procs:3", "procs:4")
NOT_LIVE = frozenset({"follow", "optimal"})
"""Schedulers that a browser cannot run: one needs a file, the other a solver."""


class Site(Mapping[str, bytes]):
    """Files by path, each made when it is first asked for.

    Parameters
    ----------
    makers : mapping of str to callable
        By path, with ``/``.
    """

    def __init__(self, makers: Mapping[str, Callable[[], bytes]]) -> None:
        self._makers = makers
        self._made: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> bytes:
        if path not in self._made:
            self._made[path] = self._makers[path]()
        return self._made[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, path: object) -> bool:
        return path in self._makers  # without making it


def site(data: Mapping[str, Any]) -> Site:
    """Return all files of a live page.

    Parameters
    ----------
    data : mapping
        Of :func:`simsched.page.html.page_data`, with ``live`` :data:`LIVE_FILES`.
    """
    from simsched.page.html import WEB, page_html

    makers: dict[str, Callable[[], bytes]] = {
        "index.html": lambda: page_html(data).encode(),
        LIVE_FILES["worker"]: (WEB / "worker.js").read_bytes,
        LIVE_FILES["bundle"]: bundle,
    }
    for name in MEMBERS:
        makers[f"{LIVE_FILES['pyodide']}{name}"] = partial(_member, name)
    for name in LICENCES:
        makers[f"{LIVE_FILES['pyodide']}{name}"] = ARCHIVE.with_name(name).read_bytes
    catalogue = LIVE_FILES["catalogue"]
    makers[f"{catalogue}index.json"] = _index
    for name in packaged("graphs"):
        makers[f"{catalogue}graphs/{name}.json"] = partial(_graph, name)
    for name in (*SHORT_FORMS, *packaged("hardware_profiles")):
        makers[f"{catalogue}hardware/{_file(name)}.json"] = partial(_hardware, name)
    return Site(makers)


# --- Pyodide ----------------------------------------------------------------------------------------------------


def _member(name: str) -> bytes:
    return _members()[name]


@cache
def _members() -> dict[str, bytes]:
    """Return what a page needs of the archive, read in one go: it is one compressed stream."""
    wanted = {f"package/{name}": name for name in MEMBERS}
    found: dict[str, bytes] = {}
    with tarfile.open(ARCHIVE) as archive:
        for item in archive:
            if item.name in wanted:
                file = archive.extractfile(item)
                assert file is not None
                found[wanted[item.name]] = file.read()
    return found


# --- the catalogue ----------------------------------------------------------------------------------------------


def _file(name: str) -> str:
    return name.replace(":", "_")


def _index() -> bytes:
    """Return the names of all that can be chosen, with what a reader wants to know before choosing."""
    return _json(
        {
            "graphs": [{"name": name, "file": f"graphs/{name}.json", "operators": _size(name)} for name in _graphs()],
            "hardware": [
                {"name": name, "file": f"hardware/{_file(name)}.json"}
                for name in (*SHORT_FORMS, *packaged("hardware_profiles"))
            ],
            "schedulers": live_schedulers(),
        }
    )


def live_schedulers() -> list[dict[str, str]]:
    """Return name and first sentence of every scheduler that runs in a browser."""
    from simsched.schedulers.registry import BUILTIN, scheduler_class

    return [
        {"name": name, "summary": _summary(scheduler_class(name).__doc__ or "")}
        for name in BUILTIN
        if name not in NOT_LIVE
    ]


def _summary(text: str) -> str:
    return " ".join(text.strip().partition("\n\n")[0].split())


def _graphs() -> list[str]:
    return sorted(packaged("graphs"), key=lambda name: (_size(name), name))


def _size(name: str) -> int:
    return len(_loaded("graphs", name))


def _graph(name: str) -> bytes:
    from simsched.graph.dump import dump_graph

    return _json(dump_graph(_loaded("graphs", name)))


def _hardware(name: str) -> bytes:
    from simsched.config.plain import to_plain
    from simsched.profiles import load_hardware

    return _json(to_plain(load_hardware(name) if name in SHORT_FORMS else _loaded("hardware_profiles", name)))


@cache
def _loaded(folder: Folder, name: str) -> Any:
    """Load one of the package's own, whatever lies in the working directory."""
    from simsched.graph.io import load_graph
    from simsched.profiles.load import read_profile

    path = packaged(folder)[name]
    return load_graph(path) if folder == "graphs" else read_profile(path)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
