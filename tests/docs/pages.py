"""Reads the fenced blocks and the links of the project's Markdown pages.

Conventions, the same on every page:

* ```` ```python ```` is executed, all blocks of a page in one namespace; ```` ```pycon ```` is a doctest in it.
* ```` ```console ```` is executed: each line ``$ simsched ...`` must exit with 0 (or with N, where the block says
  ``exit=N``). Lines under it are its output, compared line by line; a line ``...`` stands for any lines, and a
  character ``…`` within a line for any characters (times of the wall clock, which differ).
* ``no-run`` after the language means that a block only illustrates.
* ``<!-- file: NAME -->`` on the line before a block of any language saves it under NAME first.
* Everything of a page runs in one empty folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)$")
FILE = re.compile(r"^ *<!-- file: (?P<name>[\w./-]+) -->$")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)|!\[[^\]\n]*\]\((?P<picture>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """One fenced block: language, further words of its first line, text, first line, file to save it under."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int
    file: str | None

    @property
    def runs(self) -> bool:
        return "no-run" not in self.words

    @property
    def exit_code(self) -> int:
        return next((int(word[5:]) for word in self.words if word.startswith("exit=")), 0)


@dataclass(frozen=True)
class Command:
    """One line ``$ ...`` of a console block, and the output shown under it (None where nothing is shown)."""

    text: str
    line: int
    output: tuple[str, ...] | None


def pages() -> list[Path]:
    """README, CONTRIBUTING, CHANGELOG and every page under docs/, results/."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/README.md")]
    docs = sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)
    return top + docs


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks_of(text: str) -> list[Block]:
    """Fenced blocks of a page, in order."""
    lines = text.splitlines()
    found: list[Block] = []
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        indent, (language, *words) = len(opening["indent"]), opening["info"].split() or [""]
        end = number + 1
        while lines[end].strip() != "```":
            end += 1
        body = "\n".join(line[indent:] for line in lines[number + 1 : end])
        named = FILE.match(lines[number - 1]) if number else None
        file = named["name"] if named else None
        found.append(Block(language, tuple(words), body + "\n", number + 2, file))
        number = end + 1
    return found


def commands_of(block: Block) -> list[Command]:
    """Commands of a console block; a trailing backslash continues a command on the next line."""
    commands: list[tuple[str, int, list[str]]] = []
    lines = block.text.rstrip("\n").split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.startswith("$ "):
            text, start = line[2:], number
            while text.endswith("\\"):
                number += 1
                text = text[:-1] + lines[number].strip().removeprefix("> ")
            commands.append((text, block.line + start, []))
        else:
            assert commands, f"line {block.line + number}: output before any command"
            commands[-1][2].append(line)
        number += 1
    return [Command(text, line, tuple(output) or None) for text, line, output in commands]


def agrees(expected: tuple[str, ...], actual: tuple[str, ...]) -> bool:
    """Whether lines agree, trailing spaces aside; an expected line ``...`` stands for any number of lines.

    >>> agrees(("a", "...", "d"), ("a", "b", "c", "d")), agrees(("a", "..."), ("b",)), agrees(("a",), ("a", "b"))
    (True, False, False)
    """
    if not expected:
        return not actual
    first, rest = expected[0], expected[1:]
    if first.strip() == "...":
        return any(agrees(rest, actual[skip:]) for skip in range(len(actual) + 1))
    return bool(actual) and line_pattern(first).fullmatch(actual[0].rstrip()) is not None and agrees(rest, actual[1:])


def line_pattern(line: str) -> re.Pattern[str]:
    """A pattern for one expected line.

    >>> [line_pattern("a  … z").fullmatch(text) is not None for text in ("a    12 us z", "a  z", "b  1 z")]
    [True, False, False]
    """
    parts = re.split(r" *… *", line.rstrip())
    return re.compile(r" *\S.*?".join(map(re.escape, parts)) if len(parts) > 1 else re.escape(line.rstrip()))


def without_code(text: str) -> str:
    """The page with fenced blocks and inline code blanked out, line numbers kept."""
    lines, fenced = [], False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
            lines.append("")
        else:
            lines.append("" if fenced else re.sub(r"`[^`]*`", "", line))
    return "\n".join(lines)


def links_of(text: str) -> list[tuple[int, str]]:
    """Line and target of every link and picture of a page."""
    found = []
    for number, line in enumerate(without_code(text).splitlines(), 1):
        found += [(number, match["target"] or match["picture"]) for match in LINK.finditer(line)]
    return found


def anchors_of(text: str) -> set[str]:
    """Anchors of a page's headings, as Markdown viewers make them.

    >>> sorted(anchors_of("# The two rules\\n\\n## What `--json` prints, exactly"))
    ['the-two-rules', 'what---json-prints-exactly']
    """
    anchors, fenced = set(), False
    for line in text.splitlines():
        fenced ^= FENCE.match(line) is not None
        if not fenced and re.match(r"#{1,6} ", line):
            title = re.sub(r"[`*]", "", line.lstrip("#").strip().lower())
            anchors.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return anchors
