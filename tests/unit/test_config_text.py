"""Text that people write: YAML 1.2 scalars, keys, aliases, syntax errors; JSON beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from simsched.config import read_json, read_yaml
from simsched.errors import ConfigError


def message_of(text: str, read: Any = read_yaml) -> str:
    with pytest.raises(ConfigError) as caught:
        read(text, "f")
    return str(caught.value)


# --- scalars ----------------------------------------------------------------------------------------------------

SCALARS = [
    ("1e3", 1000.0), ("2.0e12", 2.0e12), ("1e-6", 1e-6), ("1.0e+3", 1000.0), ("1e+3", 1000.0), (".5", 0.5), ("5.", 5.0),
    ("-1.5", -1.5), ("+2", 2), ("-7", -7), ("0", 0), ("010", 10), ("0o17", 15), ("0x1F", 31), ("5319E7", 5.319e10),
    ("no", "no"), ("NO", "NO"), ("on", "on"), ("off", "off"), ("y", "y"), ("Yes", "Yes"), ("n", "n"),
    ("true", True), ("True", True), ("TRUE", True), ("false", False), ("tRUE", "tRUE"),
    ("~", None), ("null", None), ("Null", None), ("nULL", "nULL"),
    ("12:30:45", "12:30:45"), ("2026-01-01", "2026-01-01"), ("1_000", "1_000"), ("0b11", "0b11"), ("0o8", "0o8"),
    ("1.2.3", "1.2.3"), ("1e", "1e"), ("-", "-"), (".", "."), ("+.5e-3", 0.0005), ("--1", "--1"), ("<<", "<<"),
    ("'5'", "5"), ('"no"', "no"), ("!!str 5", "5"), ("4 MiB", "4 MiB"), ("nan", "nan"), ("inf", "inf"), ("=", "="),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS, ids=[text for text, _ in SCALARS])
@pytest.mark.parametrize("parser", ["C", "Python"])
def test_plain_scalars_follow_the_core_schema_of_yaml_1_2(
    text: str, value: object, parser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if parser == "Python":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
    if text == "-":
        text = "'-'"  # alone it begins a list
    found = read_yaml(f"[{text}]").data[0]
    assert found == value
    assert isinstance(found, type(value))


@pytest.mark.parametrize("text", ["010", "+2", "0x1F", "5319E7", "1e3", "5."])
def test_a_number_keeps_its_spelling_as_text(text: str) -> None:
    assert str(read_yaml(f"[{text}]").data[0]) == text


def test_numbers_stay_numbers_when_written_again() -> None:
    data = read_yaml("[010, 1e3]").data
    assert json.dumps(data) == "[10, 1000.0]"


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.inf", "+.INF"])
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    assert message_of(f"a: {text}") == f"f:1:4: a: {text} is not a finite number; quote it if it is text"


def test_numbers_without_end_are_refused() -> None:
    digits = "1" * 1001
    many = "1" * 5000
    assert message_of(f"a: {digits}") == "f:1:4: a: a number of 1001 characters; at most 1000 are allowed"
    assert message_of(f"a: 0x{digits}") == "f:1:4: a: a number of 1003 characters; at most 1000 are allowed"
    assert message_of("a: 1e400") == "f:1:4: a: 1e400 is too large for a number"
    assert message_of(f'{{"a": {many}}}', read_json) == "f:1:7: a number of 5000 characters; at most 1000 are allowed"
    assert (
        message_of(f'{{"a": {digits}.5}}', read_json) == "f:1:7: a number of 1003 characters; at most 1000 are allowed"
    )


# --- keys -------------------------------------------------------------------------------------------------------


def test_keys_are_always_text() -> None:
    text = "1: a\nno: b\n~: c\n010: d\ntrue: e\n1e3: f\n2026-01-01: g\n'x y': h\non: i\n"
    assert list(read_yaml(text).data) == ["1", "no", "~", "010", "true", "1e3", "2026-01-01", "x y", "on"]


def test_duplicate_keys_name_both_lines() -> None:
    text = "devices:\n  - name: d0\n    streams: 4\n    name: d1\n1: a\n'1': b\n"
    expected = (
        "f: 2 problems\n  4:5  devices[0].name: given twice (first on line 2)\n  6:1  1: given twice (first on line 5)"
    )
    assert message_of(text) == expected


def test_duplicate_keys_of_json_name_both_lines() -> None:
    text = '{"a": {"x": 1,\n "x": [{"y": 1, "y": 2}]},\n "a": "b"}'
    assert message_of(text, read_json) == (
        "f: 3 problems\n"
        "  2:2  a.x: given twice (first on line 1)\n"
        "  2:17  a.x[0].y: given twice (first on line 2)\n"
        "  3:2  a: given twice (first on line 1)"
    )


def test_an_empty_key_is_missing() -> None:
    assert message_of("? \n: 1").endswith("a key is missing before ':'")
    assert message_of("a: {: 1}") == "f:1:5: a value or a key is missing here"


# --- aliases ----------------------------------------------------------------------------------------------------


def test_anchors_aliases_and_merge_keys() -> None:
    text = "base: &b {x: 1, y: 2}\nother: &o {y: 5, z: 3}\none: {<<: *b, y: 7}\ntwo: {x: 9, <<: [*b, *o]}\n"
    data = read_yaml(text + "list: [*b, &s text, *s]\n").data
    assert data["one"] == {"x": 1, "y": 7}
    assert data["two"] == {"x": 9, "y": 2, "z": 3}
    assert data["list"] == [{"x": 1, "y": 2}, "text", "text"]
    assert read_yaml("{'<<': 1}").data == {"<<": 1}


def test_an_alias_may_be_a_key() -> None:
    assert read_yaml("[&k name, {*k : 1}]").data == ["name", {"name": 1}]
    assert message_of("[&k [1], {*k : 1}]") == "f:1:11: a key must be plain text, not an alias of something else"


def test_merged_keys_are_located_where_they_are_written() -> None:
    document = read_yaml("base: &b\n  x: 1\none:\n  <<: *b\n  y: 2\n")
    assert document.locate(("one", "x")) == (2, 6)
    assert document.locate(("one", "y")) == (5, 6)


def test_alias_bombs_are_refused() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    text = "\n".join(lines)
    assert "aliases expand to more than 100000 values; write them out, or use fewer" in message_of(text)


# --- malformed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "opening"), [(read_yaml, "["), (read_yaml, "{a: "), (read_json, "["), (read_json, '{"a":')]
)
def test_deep_nesting_is_a_message_not_a_recursion_error(read: Any, opening: str) -> None:
    column = len(opening) * 100 + 1
    found = message_of(opening * 100_000, read)
    assert found.endswith(": nested more than 100 levels deep")
    if read is read_json or opening != "[":  # libyaml looks ahead in a list, as far as its own limit
        assert found.startswith(f"f:1:{column}: ")
    if read is read_yaml:
        assert message_of(opening * 101, read) == f"f:1:{column}: nested more than 100 levels deep"


def test_block_nesting_is_bounded_too() -> None:
    text = "\n".join(" " * depth + "a:" for depth in range(150))
    assert message_of(text) == "f:101:101: nested more than 100 levels deep"


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n...\n"])
def test_an_empty_yaml_file_says_so(text: str) -> None:
    if text.startswith("---"):
        assert read_yaml(text).data is None  # an explicit document that holds nothing
    else:
        assert message_of(text) == "f: the file is empty"


def test_an_empty_json_file_says_so() -> None:
    assert message_of("  \n", read_json) == "f: the file is empty"


def test_all_faults_before_a_syntax_error_are_told() -> None:
    assert message_of("a: 1\na: 2\nb: [1\n") == (
        "f: 2 problems\n"
        "  2:1  a: given twice (first on line 1)\n"
        "  4:1: expected ',' or ']' in the list that begins on line 3"
    )


SYNTAX = [
    ("{a: 1\nb: 2", "f:2:2: expected ',' or '}' in the mapping that begins on line 1"),
    ("a: 'x\nb: y", "f:1:4: the quote that opens here is not closed"),
    ("- a\nb: 1", "f:2:1: expected '- ' of the next item; check the indentation"),
    ("a: 1\n  b: 2", "f:2:4: unexpected ':'; check the indentation, or quote text that holds ': '"),
    ("a: @x", "f:1:4: text cannot begin with '@' here; put it in quotes"),
    ("a: `x`", "f:1:4: text cannot begin with '`' here; put it in quotes"),
    ('a: "\\q"', "f:1:5: unknown escape in double quotes; use single quotes for text with backslashes"),
    ("a: !x!y z", "f:1:4: the tag is not supported; write plain YAML"),
    ("a: !!binary aGk=", "f:1:4: a: the tag 'tag:yaml.org,2002:binary' is not supported; write plain YAML"),
    ("a: !!set {x}", "f:1:4: a: the tag 'tag:yaml.org,2002:set' is not supported; write plain YAML"),
    ("a: - b", "f:1:4: a list may not begin here; put '- ' on a line of its own"),
    ("a:\n  - b\n c: 1", "f:3:2: expected a key at this depth; check the indentation"),
    ("a\nb: 1", "f:2:2: unexpected ':'; check the indentation, or quote text that holds ': '"),
    ("a: 1\nb\nc: 2", "f:3:1: expected ':' after the key on line 2"),
]


@pytest.mark.parametrize(("text", "expected"), SYNTAX, ids=[text for text, _ in SYNTAX])
@pytest.mark.parametrize("parser", ["C", "Python"])
def test_syntax_errors_say_what_to_do(text: str, expected: str, parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if parser == "Python":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
    assert message_of(text) == expected


JSON_SYNTAX = [
    ('{"a" 1}', "f:1:6: expected ':' after the key"),
    ('{"a": 1 "b": 2}', "f:1:9: expected ',' or the end of the list or mapping"),
    ('{"a": 1,\n}', "f:2:1: JSON allows no comma before '}'"),
    ('{"a": }', "f:1:7: expected a value"),
    ('{"a": "x\ty"}', "f:1:9: a control character must be written as an escape, e.g. \\n or \\t"),
    ('{"a": "\\x"}', "f:1:8: unknown escape; write \\\\ for a backslash"),
    ('{"a": "\\u12"}', "f:1:9: an escape \\u needs four hexadecimal digits"),
    ("{'a': 1}", "f:1:2: expected a key in double quotes"),
    ('{"a": Infinity}', "f:1:7: Infinity is not a finite number"),
    ('{"a": [1, -Infinity]}', "f:1:11: -Infinity is not a finite number"),
    ('{"NaN": "NaN", "b": NaN}', "f:1:21: NaN is not a finite number"),
    ('{"a": "\\ud83d\\ude00", "b": "x\\udc00"}', "f:1:28: an escape in this text is half of a character"),
]


@pytest.mark.parametrize(("text", "expected"), JSON_SYNTAX, ids=[text for text, _ in JSON_SYNTAX])
def test_json_syntax_errors_say_what_to_do(text: str, expected: str) -> None:
    assert message_of(text, read_json) == expected
