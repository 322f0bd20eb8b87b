"""What a live page runs, as one archive: the sources of simsched and of the two libraries that its core needs."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from importlib import metadata, util
from pathlib import Path

LIBRARIES = {"simpy": "simpy", "yaml": "pyyaml"}
"""Import name to distribution. All are pure Python, or work without what is not."""

LEFT_OUT = frozenset(
    {"_data", "cli", "exact", "experiment", "lessons", "onnx_import", "plot", "study", "vendor", "web", "__pycache__"}
)
"""Folders of simsched that need other libraries, or serve the page from outside."""

FIXED_DATE = (1980, 1, 1, 0, 0, 0)


@cache
def bundle() -> bytes:
    """Return a zip archive to unpack into the ``site-packages`` of a Python in a browser.

    Equal sources make equal bytes: files are sorted and have one fixed date.
    """
    files = {f"simsched/{name}": data for name, data in _sources(Path(__file__).parents[1], LEFT_OUT).items()}
    for module, distribution in LIBRARIES.items():
        files |= {f"{module}/{name}": data for name, data in _sources(_folder(module), frozenset()).items()}
        files |= _licences(module, distribution)
    files |= _licences("simsched", "simsched")
    return _zipped(files)


def _folder(module: str) -> Path:
    spec = util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _sources(folder: Path, left_out: frozenset[str]) -> dict[str, bytes]:
    found = {}
    for path in folder.rglob("*.py"):
        name = path.relative_to(folder)
        if not left_out.intersection(name.parts):
            found[name.as_posix()] = path.read_bytes()
    return found


def _licences(module: str, distribution: str) -> dict[str, bytes]:
    """Texts of licences that came with an installed distribution; a source checkout need not be one."""
    found = {}
    try:
        files = metadata.files(distribution) or ()
    except metadata.PackageNotFoundError:
        return {}
    for file in files:
        if "licen" in file.name.lower() and ".dist-info" in file.parts[0]:
            found[f"licenses/{module}-{file.name}"] = Path(str(file.locate())).read_bytes()
    return found


def _zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, FIXED_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, files[name])
    return target.getvalue()
