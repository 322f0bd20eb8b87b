"""Text that is safe to show: what a terminal would obey, or what would reorder a line, is written as an escape."""

from __future__ import annotations

import re

LONGEST_WORD = 1000
_HEAD, _TAIL = 200, 100

# Controls of ASCII and Latin-1 (ESC and CSI begin the commands of terminals), marks of writing direction, separators
# of lines, and the half characters under which Python keeps the bytes of names that are not UTF-8.
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LONG = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str) -> str:
    r"""Return a text of lines in which nothing is obeyed, and no word is endless.

    Examples
    --------
    >>> print(visible("\x1b[31mred\x07 \u202eabc"))
    \x1b[31mred\x07 \u202eabc
    >>> len(visible("x" * 10**6))
    326
    """
    return _LONG.sub(_shortened, _OBEYED.sub(_escape, text))


def visible_line(text: str) -> str:
    r"""Return the same on one line.

    Examples
    --------
    >>> print(visible_line("two\nlines"))
    two\nlines
    """
    return visible(text).replace("\n", r"\n")


def visible_json(text: str) -> str:
    r"""Return JSON text in which nothing is obeyed, and which means the same.

    Examples
    --------
    >>> print(visible_json('"\u202eabc"'))
    "\u202eabc"
    """
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is not UTF-8
        code -= 0xDC00
    return _NAMED.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _shortened(match: re.Match[str]) -> str:
    word = match[0]
    return f"{word[:_HEAD]}...({len(word)} characters)...{word[-_TAIL:]}"
