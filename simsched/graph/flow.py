"""One line of YAML from plain data. Text that YAML, of whatever version, could take for something else is quoted."""

from __future__ import annotations

import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def flow_text(value: Any) -> str:
    """Write plain data in YAML's flow style.

    Examples
    --------
    >>> flow_text({"name": "5319E7", "duration": 2, "inputs": ["x", "no", "a b"]})
    '{name: "5319E7", duration: 2, inputs: [x, "no", "a b"]}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(str(key))}: {flow_text(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow_text, value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return _text(value)


def _text(text: str) -> str:
    if _PLAIN.match(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(character if _is_safe(character) else _escape(character) for character in text) + '"'


def _is_safe(character: str) -> bool:
    return character.isprintable() and character not in _ESCAPES


def _escape(character: str) -> str:
    code = ord(character)
    if character in _ESCAPES:
        return _ESCAPES[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
