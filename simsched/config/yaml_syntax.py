"""What a YAML parser's complaint means, in words that say what to do; the same for both of PyYAML's parsers."""

from __future__ import annotations

from typing import Any

from simsched.errors import Fault

_OPEN_QUOTE = "the quote that opens here is not closed"

# Part of the parser's problem, and of its context, to what is said instead. {0} is the line on which it began.
_MEANINGS = (
    ("nesting depth", "", "nested more than 100 levels deep"),
    ("mapping values are not allowed", "", "unexpected ':'; check the indentation, or quote text that holds ': '"),
    ("expected ',' or ']'", "", "expected ',' or ']' in the list that begins on line {0}"),
    ("expected ',' or '}'", "", "expected ',' or '}}' in the mapping that begins on line {0}"),
    ("unexpected end of", "quoted scalar", _OPEN_QUOTE),
    ("unexpected document separator", "quoted scalar", _OPEN_QUOTE),
    ("unknown escape character", "", "unknown escape in double quotes; use single quotes for text with backslashes"),
    ("hexadecimal", "", "an escape in double quotes is not complete"),
    ("Unicode character escape", "", "an escape in double quotes is not a character"),
    ("could not find expected ':'", "", "expected ':' after the key on line {0}"),
    ("expected key", "", "expected a key at this depth; check the indentation"),
    ("'-' indicator", "", "expected '- ' of the next item; check the indentation"),
    ("<block end>", "mapping", "expected a key at this depth; check the indentation"),
    ("<block end>", "collection", "expected '- ' of the next item; check the indentation"),
    ("sequence entries are not allowed", "", "a list may not begin here; put '- ' on a line of its own"),
    ("mapping keys are not allowed", "", "a key may not begin here; check the indentation"),
    ("node content", "", "a value or a key is missing here"),
    ("undefined tag handle", "", "the tag is not supported; write plain YAML"),
)


def syntax_fault(error: Any, text: str) -> Fault:
    """Return the fault for a ``yaml.MarkedYAMLError``.

    Parameters
    ----------
    error : yaml.MarkedYAMLError
    text : str
        The whole input.
    """
    mark = error.problem_mark or error.context_mark
    start = error.context_mark or mark
    problem, context = error.problem or "", error.context or ""
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (None, None)
    if "start any token" in problem and mark is not None:
        return Fault(_bad_character(text, mark), line=line, column=column)
    for part, inside, meaning in _MEANINGS:
        if part in problem and inside in context:
            begun = start.line + 1 if start is not None else "?"
            if meaning is _OPEN_QUOTE and start is not None:
                line, column = start.line + 1, start.column + 1
            elif "escape" in part and mark is not None and column is not None:
                # The parser in Python points behind the backslash, the one in C to it.
                column -= _line(text, mark)[: mark.column].endswith("\\")
            return Fault(meaning.format(begun), line=line, column=column)
    return Fault(f"not valid YAML: {problem or context}", line=line, column=column)


def _bad_character(text: str, mark: Any) -> str:
    character = _line(text, mark)[mark.column : mark.column + 1]
    if character == "\t":
        return "a tab cannot indent YAML; use spaces"
    return f"text cannot begin with {character!r} here; put it in quotes"


def _line(text: str, mark: Any) -> str:
    lines = text.splitlines()
    return lines[mark.line] if mark.line < len(lines) else ""
