"""What the readers of plain text formats share: words that know their place, and located faults.

A reader collects faults with :class:`Reading` and raises them together; a cycle or another fault that
:class:`~simsched.graph.builder.GraphBuilder` finds is led back to the line that caused it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from simsched.errors import ConfigError, Fault, GraphError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph

LARGEST = 10**15
"""The largest number that a text format may state; sums of a million of them stay exact everywhere."""

MOST_FAULTS = 50
"""A file of another format would have a fault in every line; nobody reads more than a page of them."""

_WORD = re.compile(r"\S+")
_DIGITS = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text, with its one-based place."""

    text: str
    line: int
    column: int

    @property
    def place(self) -> tuple[int, int]:
        """Line and column."""
        return self.line, self.column


def words_by_line(text: str, comment: str | None = None) -> list[list[Word]]:
    """Split a text into lines of words, leaving out empty lines and what follows ``comment``."""
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        content = line if comment is None else line.partition(comment)[0]
        words = [Word(match[0], number, match.start() + 1) for match in _WORD.finditer(content)]
        if words:
            rows.append(words)
    return rows


@dataclass
class Reading:
    """Collects the faults of one file while it is read.

    Attributes
    ----------
    source : str
        What error messages call the file.
    faults : list of Fault
    """

    source: str
    faults: list[Fault] = field(default_factory=list)

    def fault(self, message: str, at: Word | tuple[int, int]) -> None:
        """Record a fault; the reading stops when there are too many to be useful."""
        line, column = at.place if isinstance(at, Word) else at
        self.faults.append(Fault(message, (), line, column))
        if len(self.faults) >= MOST_FAULTS:
            self.stop(f"and perhaps more: reading stopped after {MOST_FAULTS} problems", at)

    def stop(self, message: str, at: Word | tuple[int, int]) -> NoReturn:
        """Record a fault after which reading on makes no sense, and raise all."""
        line, column = at.place if isinstance(at, Word) else at
        raise ConfigError(self.source, [*sorted(self.faults, key=_place_of), Fault(message, (), line, column)])

    def finish(self) -> None:
        """Raise all recorded faults, if there are any."""
        if self.faults:
            raise ConfigError(self.source, sorted(self.faults, key=_place_of))

    def whole(self, word: Word, what: str, lowest: int = 0) -> int | None:
        """Return the word as a whole number of at least ``lowest``, or record why it is none and return None."""
        if _DIGITS.fullmatch(word.text) is None:
            self.fault(f"{what} is {_shown(word.text)}; expected a whole number", word)
            return None
        if len(word.text) > 20 or abs(int(word.text)) > LARGEST:
            self.fault(f"{what} is {_shown(word.text)}; expected at most 10**15", word)
            return None
        number = int(word.text)
        if number < lowest:
            self.fault(f"{what} is {number}; expected at least {lowest}", word)
            return None
        return number

    def wholes(self, words: Sequence[Word], what: str) -> list[int] | None:
        """Return all words as whole numbers, or None when one of them is not (every fault is recorded)."""
        numbers = [self.whole(word, what) for word in words]
        return None if None in numbers else [number for number in numbers if number is not None]


def build_located(
    builder: GraphBuilder,
    operators: Sequence[tuple[int, int]],
    edges: Sequence[tuple[int, int]],
    tensors: Mapping[str, tuple[int, int]] | None = None,
) -> Graph:
    """Build the graph; a fault that the builder finds gets the place of its operator, edge or tensor.

    Parameters
    ----------
    builder : GraphBuilder
    operators, edges : sequence of (line, column)
        In the order in which they were added.
    tensors : mapping of str to (line, column), optional
        By name.

    Raises
    ------
    GraphError
    """
    try:
        return builder.build()
    except GraphError as error:
        faults = [_placed(fault, operators, edges, tensors or {}) for fault in error.faults]
    raise GraphError(builder.source, faults)


def _placed(
    fault: Fault,
    operators: Sequence[tuple[int, int]],
    edges: Sequence[tuple[int, int]],
    tensors: Mapping[str, tuple[int, int]],
) -> Fault:
    place: tuple[int, int] | None = None
    if len(fault.path) >= 2:
        kind, key = fault.path[:2]
        if isinstance(key, int):
            places = operators if kind == "operators" else edges if kind == "edges" else ()
            place = places[key] if 0 <= key < len(places) else None
        elif kind == "tensors":
            place = tensors.get(key)
    related = tuple(_placed(other, operators, edges, tensors) for other in fault.related)
    if place is None:
        return replace(fault, related=related)
    return Fault(fault.message, (), *place, related)


def _place_of(fault: Fault) -> tuple[int, int]:
    return fault.line or 0, fault.column or 0


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:37]!r}..."
