"""Files to bytes, text and documents; what cannot be read is an error that names the file."""

from __future__ import annotations

import zlib
from os import PathLike, fspath
from pathlib import Path

from simsched.config.document import Document
from simsched.config.json_reader import read_json
from simsched.config.yaml_reader import read_yaml
from simsched.errors import ConfigError, Fault

DOCUMENT_SUFFIXES = (".yaml", ".yml", ".json", ".json.gz")


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
        raw = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(source, [Fault(f"cannot be read: {reason}")]) from None
    if not source.endswith(".gz"):
        return raw
    import gzip

    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(source, [Fault(f"not a whole gzip file: {error}")]) from None
