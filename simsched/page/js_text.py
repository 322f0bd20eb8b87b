"""JavaScript as text: what in a script is code, and what is comment, string, template or regular expression."""

from __future__ import annotations

import re

# Longest first where one begins like another. Templates are read by hand, because code may stand inside them.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<word>[A-Za-z_$][\w$]*)
      | (?P<number>\d[\w.]*)
      | (?P<space>\s+)
      | (?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
# After these a slash begins a regular expression; after a name, a number or a closing bracket it divides.
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%<>~^") | {
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "yield", "await", "",
}  # fmt: skip


def masked(text: str) -> str:
    r"""Return a script with everything that is not code blanked: as long as before, line for line.

    Examples
    --------
    >>> masked('f("}"); // {').rstrip()
    'f(   );'
    >>> masked("a / b; c = /[/}]/g;")
    'a / b; c =        ;'
    >>> masked("`{ ${g(`}`)} {`")
    '    g(   )    '
    """
    pieces: list[str] = []
    inside = [0]  # braces that are open in the code of each template, outermost first
    at, before = 0, ""
    while at < len(text):
        if text[at] == "`" or (text[at] == "}" and inside[-1] == 0 and len(inside) > 1):
            if text[at] == "}":
                inside.pop()
            at, opened = _template(text, at, pieces)
            inside += [0] if opened else []
            before = "" if opened else "`"
            continue
        regex = _REGEX.match(text, at) if text[at] == "/" and before in _BEFORE_REGEX else None
        token = _TOKEN.match(text, at)
        assert token is not None
        kind = token.lastgroup
        if regex is not None and kind != "comment":
            token, kind = regex, "regex"
        found = token[0]
        if found in ("{", "}"):
            inside[-1] += 1 if found == "{" else -1
        pieces.append(_blank(found) if kind in ("comment", "string", "regex") else found)
        if kind not in ("comment", "space"):
            before = '"' if kind in ("string", "regex") else found
        at = token.end()
    return "".join(pieces)


def _template(text: str, at: int, pieces: list[str]) -> tuple[int, bool]:
    """Blank the text of a template from its beginning, or from the end of code inside it, up to its end or new code.

    Returns where it stops, and whether code follows.
    """
    end = at + 1
    while end < len(text) and text[end] != "`" and text[end : end + 2] != "${":
        end += 2 if text[end] == "\\" else 1
    opened = text[end : end + 2] == "${"
    stop = min(end + (2 if opened else 1), len(text))
    pieces.append(_blank(text[at:stop]))
    return stop, opened


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def depths(code: str) -> list[int]:
    """Return how many brackets are open before each character of masked code."""
    found: list[int] = []
    depth = 0
    for bracket in re.finditer(r"[][(){}]", code):
        found += [depth] * (bracket.start() - len(found))
        if bracket[0] in "([{":
            found.append(depth)
            depth += 1
        else:
            depth -= 1
            found.append(depth)
    return found + [depth] * (len(code) - len(found))
