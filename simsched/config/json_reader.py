"""JSON to a Document: the standard library reads it; lines and columns are worked out only when something is wrong."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from math import isinf
from typing import Any

from simsched.collector import collector_off
from simsched.config.document import Document, located
from simsched.config.scalars import LONGEST_NUMBER
from simsched.errors import ConfigError, Fault, PathKey

DEEPEST = 100
_SPACE = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-+\w.]+|[\[{\]}]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_MEANINGS = (
    ("Expecting property name", "expected a key in double quotes"),
    ("Expecting ':'", "expected ':' after the key"),
    ("Expecting ','", "expected ',' or the end of the list or mapping"),
    ("Unterminated string", "the quote that opens here is not closed"),
    ("Invalid control character", "a control character must be written as an escape, e.g. \\n or \\t"),
    ("Invalid \\escape", "unknown escape; write \\\\ for a backslash"),
    ("Invalid \\uXXXX", "an escape \\u needs four hexadecimal digits"),
    ("Extra data", "text after the end of the document"),
    ("Expecting value", "expected a value"),
)


def read_json(text: str, source: str = "JSON") -> Document:
    """Read one JSON document.

    Parameters
    ----------
    text : str
    source : str
        What error messages call the input.

    Raises
    ------
    ConfigError
        With line and column of syntax errors, duplicate keys, and numbers that are not finite.
    """
    if not text.strip():
        raise ConfigError(source, [Fault("the file is empty")])
    repeated: list[bool] = []

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(pairs)
        if len(data) != len(pairs):
            repeated.append(True)
        return data

    positions = JsonPositions(text)
    try:
        with collector_off():
            data = json.loads(text, object_pairs_hook=mapping, parse_constant=_refuse, parse_float=_finite)
    except JSONDecodeError as error:
        raise ConfigError(source, [_syntax_fault(error)]) from None
    except (RecursionError, ValueError):
        # Anything else that the parser or a hook refuses is one token, or one bracket too many.
        raise ConfigError(source, [positions.refused_token()]) from None
    document = Document(data, source, positions)
    if repeated:
        raise located(document, positions.repeated_keys())
    if _SURROGATE.search(text):
        _check_surrogates(document, positions)
    return document


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number) or len(text) > LONGEST_NUMBER:
        raise ValueError(text)
    return number


def _syntax_fault(error: JSONDecodeError) -> Fault:
    text, at = error.doc, error.pos
    meanings = (meaning for start, meaning in _MEANINGS if error.msg.startswith(start))
    message = next(meanings, f"not valid JSON: {error.msg}")
    # Python 3.13 points to a comma too many, earlier versions to what follows it.
    after_comma = _SPACE.match(text, at + 1) if text[at : at + 1] == "," else None
    end = after_comma.end() if after_comma else at
    if text[end : end + 1] in {"]", "}"} and text[:end].rstrip().endswith(","):
        message, at = f"JSON allows no comma before {text[end]!r}", end
    elif at >= len(text.rstrip()) and "quote" not in message:
        message = f"the file ends too early; {message}"
    line, column = JsonPositions(text).position(at)
    return Fault(message, line=line, column=column)


def _check_surrogates(document: Document, positions: JsonPositions) -> None:
    try:
        json.dumps(document.data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ConfigError(document.source, [positions.lone_surrogate()]) from None


class JsonPositions:
    """Finds places in JSON text that is known to be well-formed, by skipping the values that are not on the way."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._skip = JSONDecoder().raw_decode
        self._known: dict[int, dict[str | int, tuple[int, int]]] = {}
        self._starts: list[int] = []

    def find(self, path: PathKey, *, key: bool) -> tuple[int, int] | None:
        """Return the line and column of a value or its key; of the nearest parent if it is absent."""
        at = parent = self._after_space(0)
        for step in path:
            parent = at
            parts = self._parts(at)
            if step not in parts:
                return self.position(at)
            name_at, at = parts[step]
            parent = name_at
        return self.position(parent if key else at)

    def position(self, at: int) -> tuple[int, int]:
        """Return the one-based line and column of an offset."""
        if not self._starts:
            self._starts = [0, *(match.end() for match in re.finditer("\n", self._text))]
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def repeated_keys(self) -> list[Fault]:
        """Return a fault for each key that its mapping has already."""
        faults: list[Fault] = []
        open_values: list[tuple[int, PathKey]] = [(self._after_space(0), ())]
        while open_values:
            at, path = open_values.pop()
            first: dict[str | int, int] = {}
            for key, name_at, value_at in self._walk(at):
                if key in first:
                    line, column = self.position(name_at)
                    message = f"given twice (first on line {self.position(first[key])[0]})"
                    faults.append(Fault(message, (*path, key), line, column))
                first[key] = first.get(key, name_at)
                if self._text[value_at] in "[{":
                    open_values.append((value_at, (*path, key)))
        return faults

    def refused_token(self) -> Fault:
        """Return the fault for the first token that a reader must not accept."""
        depth = 0
        for match in _TOKEN.finditer(self._text):
            token = match[0]
            line, column = self.position(match.start())
            if token in "[{":
                depth += 1
                if depth > DEEPEST:
                    return Fault(f"nested more than {DEEPEST} levels deep", line=line, column=column)
            elif token in "]}":
                depth -= 1
            elif token in ("NaN", "Infinity", "-Infinity"):
                return Fault(f"{token} is not a finite number", line=line, column=column)
            elif token[0] in "-0123456789":
                if len(token) > LONGEST_NUMBER:
                    message = f"a number of {len(token)} characters; at most {LONGEST_NUMBER} are allowed"
                    return Fault(message, line=line, column=column)
                if isinf(float(token)):
                    return Fault(f"{token} is too large for a number", line=line, column=column)
        return Fault("nested too deeply")

    def lone_surrogate(self) -> Fault:
        """Return the fault for the first escape that is half of a character."""
        for match in _TOKEN.finditer(self._text):
            if match[0].startswith('"') and _SURROGATE.search(match[0]):
                try:
                    json.loads(match[0]).encode()
                except UnicodeEncodeError:
                    line, column = self.position(match.start())
                    return Fault("an escape in this text is half of a character", line=line, column=column)
        return Fault("an escape is half of a character")

    # --- walking --------------------------------------------------------------------------------------------

    def _parts(self, at: int) -> dict[str | int, tuple[int, int]]:
        """Offsets of key and value of each part of the mapping or list at ``at``."""
        if at not in self._known:
            self._known[at] = {key: (name_at, value_at) for key, name_at, value_at in self._walk(at)}
        return self._known[at]

    def _walk(self, at: int) -> Iterator[tuple[str | int, int, int]]:
        """Yield key, offset of the key and offset of the value of each part; nothing for a scalar."""
        text, after_space, skip = self._text, self._after_space, self._skip
        if text[at] not in "[{":
            return
        is_mapping = text[at] == "{"
        number = 0
        at = after_space(at + 1)
        while text[at] not in "]}":
            key: str | int = number
            name_at = at
            if is_mapping:
                key, at = skip(text, at)
                at = after_space(after_space(at) + 1)
            yield key, name_at, at
            _, at = skip(text, at)
            at = after_space(at)
            if text[at] == ",":
                at = after_space(at + 1)
            number += 1

    def _after_space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return at if match is None else match.end()
