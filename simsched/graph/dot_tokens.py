"""The words of the DOT language: names, numbers, strings, arrows and marks, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from simsched.graph.textfile import Reading, Word

KEYWORDS = ("strict", "graph", "digraph", "node", "edge", "subgraph")

_TOKEN = re.compile(
    r"""(?P<blank>[\s\ufeff]+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
      | (?P<quoted>"(?:[^"\\]|\\.)*")
      | (?P<arrow>->|--)
      | (?P<number>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))
      | (?P<name>[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*)
      | (?P<mark>[{}\[\]=;,:+])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_GLUE = re.compile(r"[.A-Za-z0-9_\u0080-\U0010ffff]")
_LONG_WORD = re.compile(r"[^\s\[\]{};,=\"]{1,40}")
_HTML_BRACKET = re.compile(r"[<>]")


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is name, number, quoted, html, arrow, mark or end; a keyword is a name that was not quoted."""

    kind: str
    word: Word

    @property
    def keyword(self) -> str:
        """The keyword that this is, in lower case, or nothing."""
        lower = self.word.text.lower()
        return lower if self.kind == "name" and lower in KEYWORDS else ""

    @property
    def is_id(self) -> bool:
        """Whether it can name something."""
        return self.kind in ("name", "number", "quoted", "html") and not self.keyword

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else repr(self.word.text[:40])


def tokens(text: str, reading: Reading) -> Iterator[Token]:
    """Split a DOT text into tokens; the last one is of kind ``end``."""
    position, line, line_start = 0, 1, 0
    while position < len(text):
        place = (line, position - line_start + 1)
        match = _TOKEN.match(text, position)
        if match is not None:
            kind, end = str(match.lastgroup), match.end()
            if kind in ("number", "name") and _GLUE.match(text, end):
                reading.stop(f"write it in quotes: {_glued(text, position)}", place)
        elif text[position] == "<":
            kind, end = "html", _html_end(text, position, place, reading)
        else:
            reading.stop(_stray(text, position), place)
        piece = text[position:end]
        if kind != "blank":
            yield Token(kind, Word(_unquoted(piece) if kind == "quoted" else piece, *place))
        newlines = piece.count("\n")
        if newlines:
            line += newlines
            line_start = position + piece.rindex("\n") + 1
        position = end
    yield Token("end", Word("", line, position - line_start + 1))


def _glued(text: str, position: int) -> str:
    """Return what the writer took for one name, although the language does not: ``conv1.weight``, ``1x1``."""
    match = _LONG_WORD.match(text, position)
    return f'"{match[0]}"' if match else text[position]


def _stray(text: str, position: int) -> str:
    if text[position] == '"':
        return "a quoted string is not closed"
    if text.startswith("/*", position):
        return "a comment is not closed"
    return f"unexpected character {text[position]!r}; a name with such characters is written in quotes"


def _html_end(text: str, position: int, place: tuple[int, int], reading: Reading) -> int:
    depth = 0
    end = position
    for match in _HTML_BRACKET.finditer(text, position):
        depth += 1 if match[0] == "<" else -1
        end = match.end()
        if not depth:
            break
    if depth:
        reading.stop("an HTML string is not closed: each '<' needs its '>'", place)
    return end


def _unquoted(piece: str) -> str:
    """Text of a quoted string: only an escaped quote and a continued line mean something to the language."""
    if "\\" not in piece:
        return piece[1:-1]
    replaced = {'\\"': '"', "\\\n": ""}
    return re.sub(r"\\.", lambda match: replaced.get(match[0], match[0]), piece[1:-1], flags=re.DOTALL)
