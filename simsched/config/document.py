"""Document: the data of one file, and the line and column of each of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from simsched.errors import ConfigError, Fault, InputError, PathKey

SHOWN_FAULTS = 100

ErrorT = TypeVar("ErrorT", bound=InputError)


class Positions(Protocol):
    """Finds the line and column of a part of a document."""

    def find(self, path: PathKey, *, key: bool) -> tuple[int, int] | None:
        """Return the one-based line and column of a value, or of its key; of the nearest parent if it is absent."""
        ...


@dataclass(frozen=True, eq=False)
class Document:
    """What one file holds.

    Attributes
    ----------
    data : object
        Mappings with text keys, lists, text, numbers, booleans and None.
    source : str
        What error messages call the file.
    positions : Positions or None
        None for data that was not read from text.

    Examples
    --------
    >>> Document({"streams": 4}, "toy").locate(("streams",)) is None
    True
    """

    data: Any
    source: str
    positions: Positions | None = None

    def locate(self, path: PathKey, *, key: bool = False) -> tuple[int, int] | None:
        """Return the one-based (line, column) of the value at a path.

        Parameters
        ----------
        path : tuple of str or int
            E.g. ``("devices", 0, "streams")``. Where the document has no such part, its nearest parent is meant.
        key : bool
            Return the place of the key instead of its value's.

        Returns
        -------
        tuple of int or None
            None for data that was not read from text.
        """
        return None if self.positions is None else self.positions.find(path, key=key)


def located(document: Document, faults: Iterable[Fault], error: type[ErrorT] = ConfigError) -> ErrorT:  # type: ignore[assignment]
    """Return an error whose faults carry line and column, in the order of the file.

    Parameters
    ----------
    document : Document
    faults : iterable of Fault
        Faults that have a position already keep it.
    error : type
        ``ConfigError``, or another ``InputError`` to make.
    """
    placed = [_place(document, fault) for fault in faults]
    placed.sort(key=lambda fault: (fault.line or 0, fault.column or 0))
    if len(placed) > SHOWN_FAULTS:
        more = len(placed) - SHOWN_FAULTS
        placed = [*placed[:SHOWN_FAULTS], Fault(f"and {more} more problems")]
    return error(document.source, placed)


def _place(document: Document, fault: Fault) -> Fault:
    related = tuple(_place(document, other) for other in fault.related)
    position = document.locate(fault.path) if fault.line is None else (fault.line, fault.column)
    line, column = position or (None, None)
    return replace(fault, line=line, column=column, related=related)
