"""The shapes of ``simsched/page/web/types.d.ts``, read as they stand, and a strict check of data against them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TYPES = Path(__file__).resolve().parents[1] / "simsched" / "page" / "web" / "types.d.ts"

_TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|("[^"]*"|[A-Za-z_]\w*|\d+|[][{}<>()|;:,?=])', re.DOTALL)

Check = Callable[[Any, str], Iterator[str]]


@dataclass
class Shapes:
    """Checks of all types that the file declares, by name."""

    known: dict[str, Check] = field(default_factory=dict)

    def faults(self, name: str, data: Any) -> list[str]:
        """Everything in which data are not of a type."""
        return list(self.known[name](data, name))


@cache
def shapes() -> Shapes:
    """Read the file."""
    return _Parser(TYPES.read_text("utf-8")).read()


def faults_of(document: dict[str, Any]) -> list[str]:
    """Everything in which a document is not as it is declared, or is no JSON."""
    json.dumps(document, allow_nan=False)
    return shapes().faults("PageDocument", document)


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None, f"cannot read {text[at : at + 40]!r}"
        found += [token[1]] if token[1] else []
        at = token.end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self.left = tokens(text)[::-1]
        self.shapes = Shapes()
        self.fields: dict[str, dict[str, tuple[bool, Check]]] = {}

    def next(self, expected: str | None = None) -> str:
        token = self.left.pop()
        assert expected in (None, token), f"expected {expected}, got {token}"
        return token

    def peek(self) -> str:
        return self.left[-1] if self.left else ""

    def read(self) -> Shapes:
        while self.left:
            word, name = self.next(), self.next()
            if word == "type":
                self.next("=")
                self.shapes.known[name] = self.union()
                self.next(";")
                continue
            assert word == "interface", word
            inherited: dict[str, tuple[bool, Check]] = {}
            if self.peek() == "extends":
                self.next()
                inherited = self.fields[self.next()]
            self.fields[name] = {**inherited, **self.members()}
            self.shapes.known[name] = mapping_of(self.fields[name])
        return self.shapes

    def members(self) -> dict[str, tuple[bool, Check]]:
        """Fields up to the closing brace: whether each may be left out, and its check."""
        found = {}
        self.next("{")
        while self.peek() != "}":
            name = self.next()
            optional = self.peek() == "?"
            if optional:
                self.next()
            self.next(":")
            found[name] = (optional, self.union())
            if self.peek() in (";", ","):
                self.next()
        self.next("}")
        return found

    def union(self) -> Check:
        choices = [self.array()]
        while self.peek() == "|":
            self.next()
            choices.append(self.array())
        return choices[0] if len(choices) == 1 else one_of(choices)

    def array(self) -> Check:
        item = self.single()
        while self.peek() == "[":
            self.next()
            self.next("]")
            item = list_of(item)
        return item

    def single(self) -> Check:
        if self.peek() == "{":
            return mapping_of(self.members())
        token = self.next()
        if token == "(":
            inner = self.union()
            self.next(")")
            return inner
        if token == "[":
            items = [self.union()]
            while self.peek() == ",":
                self.next()
                items.append(self.union())
            self.next("]")
            return tuple_of(items)
        if token == "Record":
            self.next("<")
            self.union()
            self.next(",")
            value = self.union()
            self.next(">")
            return record_of(value)
        if token[0] == '"':
            return exactly(json.loads(token))
        if token.isdigit():
            return exactly(int(token))
        return PLAIN.get(token) or named(self.shapes, token)


def named(found: Shapes, name: str) -> Check:
    """Check by a type that may be declared further down."""

    def check(data: Any, where: str) -> Iterator[str]:
        yield from found.known[name](data, where)

    return check


def mapping_of(fields: dict[str, tuple[bool, Check]]) -> Check:
    def check(data: Any, where: str) -> Iterator[str]:
        if not isinstance(data, dict):
            yield f"{where}: {data!r} is no object"
            return
        for name in data:
            if name not in fields:
                yield f"{where}.{name}: is not declared"
        for name, (optional, inner) in fields.items():
            if name in data:
                yield from inner(data[name], f"{where}.{name}")
            elif not optional:
                yield f"{where}.{name}: is missing"

    return check


def record_of(inner: Check) -> Check:
    def check(data: Any, where: str) -> Iterator[str]:
        if not isinstance(data, dict):
            yield f"{where}: {data!r} is no object"
            return
        for name, value in data.items():
            if type(name) is not str:
                yield f"{where}: key {name!r}"
            yield from inner(value, f"{where}[{name!r}]")

    return check


def list_of(inner: Check) -> Check:
    def check(data: Any, where: str) -> Iterator[str]:
        if type(data) is not list:
            yield f"{where}: {data!r} is no list"
            return
        for number, value in enumerate(data):
            yield from inner(value, f"{where}[{number}]")

    return check


def tuple_of(items: list[Check]) -> Check:
    def check(data: Any, where: str) -> Iterator[str]:
        if type(data) is not list or len(data) != len(items):
            yield f"{where}: {data!r} is not {len(items)} items"
            return
        for number, (inner, value) in enumerate(zip(items, data, strict=True)):
            yield from inner(value, f"{where}[{number}]")

    return check


def one_of(choices: list[Check]) -> Check:
    def check(data: Any, where: str) -> Iterator[str]:
        faults = [list(inner(data, where)) for inner in choices]
        if all(faults):
            yield from min(faults, key=len)

    return check


def exactly(value: Any) -> Check:
    def check(data: Any, where: str) -> Iterator[str]:
        if type(data) is not type(value) or data != value:
            yield f"{where}: {data!r} is not {value!r}"

    return check


def _plain(*types: type) -> Check:
    def check(data: Any, where: str) -> Iterator[str]:
        if type(data) not in types or (type(data) is float and not math.isfinite(data)):
            yield f"{where}: {data!r} is not {types[0].__name__}"

    return check


PLAIN: dict[str, Check] = {
    "number": _plain(int, float),
    "string": _plain(str),
    "boolean": _plain(bool),
    "null": _plain(type(None)),
    "true": exactly(True),
    "any": lambda data, where: iter(()),
}
