"""Files to bytes, text and documents; what cannot be read is an error that names the file."""

from __future__ import annotations

import os
import zlib
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from stat import S_ISCHR, S_ISFIFO, S_ISSOCK

from simsched.config.document import Document
from simsched.config.json_reader import read_json
from simsched.config.yaml_reader import read_yaml
from simsched.data import not_a_file
from simsched.errors import ConfigError, Fault
from simsched.units import format_size

DOCUMENT_SUFFIXES = (".yaml", ".yml", ".json", ".json.gz")
LARGEST = 2 * 2**30
"""Bytes of a file, packed or not: Python would need ten times as much to hold what it says."""

ALWAYS_UNPACKED = 2**26
MOST_PACKED = 100
"""Graphs pack at most so well; what packs better was made to fill somebody's memory."""

PIECE = 2**22


def read_document(path: str | PathLike[str]) -> Document:
    """Read a YAML (``.yaml``, ``.yml``) or JSON (``.json``, ``.json.gz``) file.

    Raises
    ------
    ConfigError
        If the file cannot be read, is not UTF-8, or is not well-formed.
    """
    source = fspath(path)
    if not source.endswith(DOCUMENT_SUFFIXES):
        raise ConfigError(
            source, [Fault(f"unknown kind of file; expected a name that ends in {', '.join(DOCUMENT_SUFFIXES)}")]
        )
    text = read_text(path)
    if source.endswith((".yaml", ".yml")):
        return read_yaml(text, source)
    return read_json(text, source)


def read_text(path: str | PathLike[str]) -> str:
    """Read a UTF-8 text file, unpacking ``.gz``.

    Raises
    ------
    ConfigError
        If the file cannot be read or unpacked, or is not UTF-8.
    """
    source = fspath(path)
    raw = read_bytes(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        good = raw[: error.start].decode("utf-8-sig", "replace")
        line, column = good.count("\n") + 1, len(good) - good.rfind("\n")
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise ConfigError(source, [Fault(message, line=line, column=column)]) from None


def read_bytes(path: str | PathLike[str]) -> bytes:
    """Read a whole file, unpacking ``.gz``.

    Raises
    ------
    ConfigError
        If it cannot be read or unpacked.
    """
    source = fspath(path)
    try:
        found = os.stat(path)
        if S_ISFIFO(found.st_mode) or S_ISCHR(found.st_mode) or S_ISSOCK(found.st_mode):
            raise ConfigError(source, [Fault(not_a_file(Path(path)))])
        if found.st_size > LARGEST:
            message = f"is {format_size(found.st_size)} large; files above {format_size(LARGEST)} are not read"
            raise ConfigError(source, [Fault(message)])
        raw = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(source, [Fault(f"cannot be read: {reason}")]) from None
    return _unpacked(raw, source) if source.endswith(".gz") else raw


def _unpacked(raw: bytes, source: str) -> bytes:
    """Unpack gzip data piece by piece, so that a small file cannot fill the memory."""
    import gzip

    most = min(LARGEST, max(ALWAYS_UNPACKED, MOST_PACKED * len(raw)))
    pieces, size = [], 0
    try:
        with gzip.GzipFile(fileobj=BytesIO(raw)) as file:
            while piece := file.read(PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    ratio = f"{format_size(len(raw))} unpack to more than {format_size(most)}"
                    raise ConfigError(source, [Fault(f"{ratio}, too much for a graph; is it one?")])
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(source, [Fault(f"not a whole gzip file: {error}")]) from None
    return b"".join(pieces)
