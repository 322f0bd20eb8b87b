"""Frozen values to plain data and back, by their type hints alone: what goes into JSON, and what comes out of it.

This is for data that simsched has written itself, or a page of its own, where pydantic is not at hand. Files that
people write are read by :mod:`simsched.config.validation`, which knows their lines.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, Union

from simsched.errors import ConfigError, Fault, PathKey, suggest

T = TypeVar("T")

_KINDS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def to_plain(value: Any) -> Any:
    """Return a value as mappings, lists, text, numbers, booleans and None.

    Parameters
    ----------
    value : object
        Dataclasses, named tuples, enumerations, mappings with text or whole numbers as keys, sequences, scalars.

    Returns
    -------
    object
        A dataclass is a mapping without the fields that are at their default; tuples are lists; keys are text.

    Examples
    --------
    >>> from simsched.hardware import Link
    >>> to_plain((Link("cpu", "gpu", latency_ns=0, bandwidth=25e9), None))
    [{'a': 'cpu', 'b': 'gpu', 'bandwidth': 25000000000.0}, None]
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = ((item, getattr(value, item.name)) for item in dataclasses.fields(value) if item.init)
        return {item.name: to_plain(found) for item, found in items if found != item.default}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_plain(found) for key, found in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(found) for found in value]
    return value


def from_plain(kind: type[T], data: Any, source: str = "data") -> T:
    """Return the value that :func:`to_plain` made plain.

    Parameters
    ----------
    kind : type
        A dataclass, or any type that is written with them: ``tuple[Device, ...]``, ``Mapping[int, KernelCost]``.
    data : object
        Plain data, e.g. of ``json.loads``.
    source : str
        What errors call it.

    Raises
    ------
    ConfigError
        With every part that is missing, unknown, or of another type.

    Examples
    --------
    >>> from simsched.hardware import Link
    >>> from_plain(Link, {"a": "cpu", "b": "gpu", "bandwidth": 25})
    Link(a='cpu', b='gpu', latency_ns=0, bandwidth=25.0, sharing='full_duplex')
    """
    reader = _Reader()
    value = reader.read(kind, data, ())
    if reader.faults:
        raise ConfigError(source, reader.faults)
    return value  # type: ignore[no-any-return]


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


class _Reader:
    """Builds values from plain data, and collects what is wrong with it; a part that is wrong becomes None."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def read(self, kind: Any, data: Any, path: PathKey) -> Any:
        """Build one value."""
        origin = typing.get_origin(kind)
        if kind is Any:
            return data
        if origin in (Union, types.UnionType):
            return self._one_of(typing.get_args(kind), data, path)
        if origin is Literal:
            choices = typing.get_args(kind)
            fits = any(type(data) is type(choice) and data == choice for choice in choices)
            return data if fits else self._wrong(f"{data!r}; {suggest(str(data), map(str, choices))}", path)
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return self._dataclass(kind, data, path)
        if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._named_tuple(kind, data, path)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self._enumeration(kind, data, path)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(typing.get_args(kind), data, path)
        if origin is tuple:
            return self._tuple(typing.get_args(kind), data, path)
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return self._items([typing.get_args(kind)[0]], data, path)
        return self._scalar(kind, data, path)

    def _wrong(self, message: str, path: PathKey) -> None:
        self.faults.append(Fault(message, path))

    def _scalar(self, kind: Any, data: Any, path: PathKey) -> Any:
        if kind is types.NoneType and data is None:
            return None
        if kind is float and type(data) in (int, float) and math.isfinite(data):
            return float(data)
        if kind in _KINDS and kind is not float and type(data) is kind:
            return data
        if kind not in _KINDS and kind is not types.NoneType:
            raise TypeError(f"values of type {kind!r} have no plain form")
        return self._wrong(f"expected {_KINDS.get(kind, 'null')}, got {_shown(data)}", path)

    def _one_of(self, kinds: Sequence[Any], data: Any, path: PathKey) -> Any:
        """Build a value of the first of several types that fits; where none does, the faults are those of the first."""
        if data is None and types.NoneType in kinds:
            return None
        candidates = [kind for kind in kinds if kind is not types.NoneType]
        for kind in candidates:
            attempt = _Reader()
            value = attempt.read(kind, data, path)
            if not attempt.faults:
                return value
        return self.read(candidates[0], data, path)

    def _dataclass(self, kind: Any, data: Any, path: PathKey) -> Any:
        if not isinstance(data, Mapping):
            return self._wrong(f"expected a mapping, got {_shown(data)}", path)
        hints, before = _hints(kind), len(self.faults)
        fields = {item.name: item for item in dataclasses.fields(kind) if item.init}
        for name in data:
            if name not in fields:
                self._wrong(f"unknown field {name!r}; {suggest(str(name), fields)}", path)
        found = {}
        for name, item in fields.items():
            if name in data:
                found[name] = self.read(hints[name], data[name], (*path, name))
            elif item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING:
                self._wrong(f"{name!r} is missing", path)
        return kind(**found) if len(self.faults) == before else None

    def _named_tuple(self, kind: Any, data: Any, path: PathKey) -> Any:
        hints, names = _hints(kind), kind._fields
        least = len(names) - len(kind._field_defaults)
        if not isinstance(data, (list, tuple)) or not least <= len(data) <= len(names):
            return self._wrong(f"expected a list of {', '.join(names)}, got {_shown(data)}", path)
        before = len(self.faults)
        values = [
            self.read(hints[name], item, (*path, number))
            for number, (name, item) in enumerate(zip(names, data, strict=False))
        ]
        return kind(*values) if len(self.faults) == before else None

    def _enumeration(self, kind: Any, data: Any, path: PathKey) -> Any:
        try:
            return kind(data)
        except ValueError:
            return self._wrong(f"{data!r}; {suggest(str(data), [str(each.value) for each in kind])}", path)

    def _mapping(self, kinds: Sequence[Any], data: Any, path: PathKey) -> Any:
        if not isinstance(data, Mapping):
            return self._wrong(f"expected a mapping, got {_shown(data)}", path)
        key_kind, value_kind = kinds
        found = {}
        for key, item in data.items():
            place = (*path, str(key))
            found[self._key(key_kind, key, place)] = self.read(value_kind, item, place)
        return found

    def _key(self, kind: Any, key: Any, path: PathKey) -> Any:
        """Build a key: text, which is a whole number where the hint says so."""
        if kind is not int or isinstance(key, int):
            return self.read(kind, key, path)
        if isinstance(key, str) and key.removeprefix("-").isdecimal() and key.isascii():
            return int(key)
        return self._wrong(f"expected a whole number, got {_shown(key)}", path)

    def _tuple(self, kinds: Sequence[Any], data: Any, path: PathKey) -> Any:
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            found = self._items(kinds[:1], data, path)
            return None if found is None else tuple(found)
        if not isinstance(data, (list, tuple)) or len(data) != len(kinds):
            return self._wrong(f"expected a list of {len(kinds)} items, got {_shown(data)}", path)
        return tuple(self._items(kinds, data, path))

    def _items(self, kinds: Sequence[Any], data: Any, path: PathKey) -> Any:
        """Build the items of a list: each of its own type, or all of the only one."""
        if not isinstance(data, (list, tuple)):
            return self._wrong(f"expected a list, got {_shown(data)}", path)
        each = kinds if len(kinds) > 1 else [kinds[0]] * len(data) if kinds else []
        return [
            self.read(kind, item, (*path, number)) for number, (kind, item) in enumerate(zip(each, data, strict=True))
        ]


def _shown(data: Any) -> str:
    """Write what was found, cut where it is long."""
    text = "null" if data is None else repr(data)
    return text if len(text) <= 60 else f"{text[:57]}..."
