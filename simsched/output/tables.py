"""Tables of text: one value that becomes aligned plain text, or a rich table on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

GAP = "  "
NARROWEST = 8


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headers.

    Attributes
    ----------
    headers : tuple of str
        A header that starts with ``>`` aligns its column to the right.
    rows : sequence of tuple of str
    wrap : int
        The column that is folded where the table is wider than the page.
    """

    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    wrap: int = 0

    def plain(self, width: int = 80) -> str:
        """Return the table as lines of aligned text, without trailing space.

        Examples
        --------
        >>> print(Table(("name", ">time"), [("a", "12"), ("longer", "5")]).plain())
        name    time
        a         12
        longer     5
        """
        heads = tuple(header.lstrip(">") for header in self.headers)
        widths = [max(map(display_width, column)) for column in zip(heads, *self.rows, strict=True)]
        spare = width - sum(widths) - len(GAP) * (len(widths) - 1)
        if spare < 0:
            widths[self.wrap] = max(NARROWEST, widths[self.wrap] + spare)
        lines = [self._line(heads, widths)]
        for row in self.rows:
            pieces = fold(row[self.wrap], widths[self.wrap])
            lines.append(self._line((*row[: self.wrap], pieces[0], *row[self.wrap + 1 :]), widths))
            indent = sum(widths[: self.wrap]) + len(GAP) * self.wrap
            lines += [" " * indent + piece for piece in pieces[1:]]
        return "\n".join(lines)

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for header, cell, width in zip(self.headers, cells, widths, strict=True):
            space = " " * (width - display_width(cell))
            padded.append(space + cell if header.startswith(">") else cell + space)
        return GAP.join(padded).rstrip()


def display_width(text: str) -> int:
    """Columns that a text takes on a terminal: two for wide East Asian characters, none for combining marks."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def fold(text: str, width: int) -> list[str]:
    """Cut a text into pieces of at most ``width`` columns, after a separator where there is one.

    Examples
    --------
    >>> fold("memory_aware(slack=0.2)", 14)
    ['memory_aware(', 'slack=0.2)']
    """
    pieces = []
    while display_width(text) > width:
        cut = width
        while display_width(text[:cut]) > width:
            cut -= 1
        for separators in (" ", ",(/:"):
            breaks = [place + 1 for place in range(cut) if text[place] in separators and place + 1 > width // 2]
            if breaks:
                break
        cut = breaks[-1] if breaks else max(cut, 1)
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text]
