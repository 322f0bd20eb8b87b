"""Strict documents: files, places, validation."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Required

import pytest
from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from simsched.config import Document, located, read_document, read_json, read_yaml, validate
from simsched.errors import ConfigError, Fault, GraphError

# --- files ------------------------------------------------------------------------------------------------------


def test_files_are_read_by_suffix(tmp_path: Path) -> None:
    for name, raw in (
        ("a.yaml", b"x: 1e3"),
        ("b.yml", b"\xef\xbb\xbfx: 1e3"),
        ("c.json", b'{"x": 1e3}'),
        ("d.json.gz", gzip.compress(b'{"x": 1e3}')),
    ):
        (tmp_path / name).write_bytes(raw)
        document = read_document(tmp_path / name)
        assert document.data == {"x": 1000.0}
        assert document.source == str(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "raw", "expected"),
    [
        ("a.yaml", b"x: 1\ny: \xff\n", "2:4: byte 0xff is not UTF-8; save the file as UTF-8"),
        ("b.yaml", "x: \u00e9\n".encode("utf-16"), "1:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        ("c.json", '{"x": "ä"}'.encode("latin-1"), "1:8: byte 0xe4 is not UTF-8; save the file as UTF-8"),
        ("d.txt", b"x", " unknown kind of file; expected a name that ends in .yaml, .yml, .json, .json.gz"),
        ("e.json.gz", b"not gzip", " not a whole gzip file: Not a gzipped file (b'no')"),
    ],
)
def test_files_that_cannot_be_read(name: str, raw: bytes, expected: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(ConfigError) as caught:
        read_document(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}:{expected}"


def test_a_truncated_gzip_file_says_so(tmp_path: Path) -> None:
    raw = gzip.compress(json.dumps(list(range(10_000))).encode())
    for length in (1, 9, 11, len(raw) // 2, len(raw) - 1):
        (tmp_path / "a.json.gz").write_bytes(raw[:length])
        with pytest.raises(ConfigError, match=r"not a whole gzip file"):
            read_document(tmp_path / "a.json.gz")


def test_a_missing_file_and_a_folder_say_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file or directory"):
        read_document(tmp_path / "none.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(ConfigError, match=r"folder\.yaml: cannot be read: Is a directory"):
        read_document(tmp_path / "folder.yaml")


# --- positions --------------------------------------------------------------------------------------------------

YAML_TEXT = """\
name: toy
devices:
  - name: d0
    streams: 4
    limits: {a: 1, b: [5, 6]}
  - {name: d1}
"""
JSON_TEXT = """\
{"name": "toy",
 "devices": [
  {"name": "d0",
   "streams": 4,
   "limits": {"a": 1, "b": [5, 6]}},
  {"name": "d1"}
 ]}
"""


@pytest.mark.parametrize(
    ("path", "in_yaml", "in_json"),
    [
        ((), (1, 1), (1, 1)),
        (("name",), (1, 7), (1, 10)),
        (("devices",), (3, 3), (2, 13)),
        (("devices", 0, "streams"), (4, 14), (4, 15)),
        (("devices", 0, "limits", "b", 1), (5, 27), (5, 32)),
        (("devices", 1, "name"), (6, 12), (6, 12)),
        (("devices", 1, "streams"), (6, 5), (6, 3)),
        (("devices", 7), (3, 3), (2, 13)),
        (("nothing", "at", "all"), (1, 1), (1, 1)),
    ],
)
def test_values_are_located_or_else_their_parents(path: Any, in_yaml: Any, in_json: Any) -> None:
    assert read_yaml(YAML_TEXT).locate(path) == in_yaml
    assert read_json(JSON_TEXT).locate(path) == in_json


def test_keys_are_located() -> None:
    path = ("devices", 0, "limits", "b")
    assert read_yaml(YAML_TEXT).locate(path, key=True) == (5, 20)
    assert read_json(JSON_TEXT).locate(path, key=True) == (5, 23)
    assert read_json(JSON_TEXT).locate((*path, 1), key=True) == (5, 32)


def test_plain_data_has_no_positions() -> None:
    document = Document({"a": 1}, "here")
    assert document.locate(("a",)) is None
    assert str(located(document, [Fault("wrong", ("a",))])) == "here: a: wrong"


def test_located_sorts_by_place_and_keeps_the_class() -> None:
    document = read_yaml("a: 1\nb: 2\n", "f")
    faults = [Fault("second", ("b",)), Fault("first", ("a",), related=(Fault("see", ("b",)),))]
    error = located(document, faults, GraphError)
    assert type(error) is GraphError
    assert str(error) == "f: 2 problems\n  1:4  a: first\n    2:4  b: see\n  2:4  b: second"


def test_a_hundred_faults_are_enough() -> None:
    document = read_yaml("a: 1\n", "f")
    text = str(located(document, [Fault(f"fault {number}", ("a",)) for number in range(250)]))
    assert text.count("\n") == 101
    assert text.endswith("  and 150 more problems")


# --- validation -------------------------------------------------------------------------------------------------

STRICT = ConfigDict(extra="forbid", strict=True)


@with_config(STRICT)
class Memory(TypedDict, total=False):
    capacity: Required[str]
    usable: str


@with_config(STRICT)
class Device(TypedDict, total=False):
    name: Required[str]
    streams: Annotated[int, Field(ge=1, le=128)]
    memory: Memory | str
    kind: Literal["gpu", "cpu"]
    clocks: dict[str, float]
    on: bool
    sizes: int | list[int]
    pair: Annotated[list[int], Field(min_length=2)]


ADAPTER = TypeAdapter(list[Device])


def faults_of(text: str, read: Any = read_yaml) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        validate(read(text, "f"), ADAPTER)
    return [str(fault) for fault in caught.value.faults]


def test_a_valid_document_becomes_its_value() -> None:
    text = "- {name: a, streams: 4, memory: {capacity: 80 GiB}, clocks: {vector: 1410}}\n- {name: b, memory: 2 GiB}"
    assert validate(read_yaml(text), ADAPTER) == [
        {"name": "a", "streams": 4, "memory": {"capacity": "80 GiB"}, "clocks": {"vector": 1410.0}},
        {"name": "b", "memory": "2 GiB"},
    ]


def test_all_faults_are_told_at_once_each_with_what_to_write() -> None:
    text = """\
- nme: a
  streams: 0
  kind: gpuu
- name: b
  streams: 2.5
  clocks: {vector: fast}
  on: no
- 7
"""
    assert faults_of(text) == [
        "1:3  [0].name: this key is missing",
        "1:3  [0].nme: unknown key; did you mean 'name'?",
        "2:12  [0].streams: expected at least 1, got 0",
        "3:9  [0].kind: 'gpuu' is not a choice here; did you mean 'gpu'?",
        "5:12  [1].streams: expected a whole number, got 2.5",
        "6:20  [1].clocks.vector: expected a number, got 'fast'",
        "7:7  [1].on: expected true or false, got 'no'",
        "8:3  [2]: expected a mapping, got 7",
    ]


def test_an_unknown_key_is_compared_with_the_keys_of_its_place() -> None:
    assert faults_of("- {name: a, memory: {capacity: 2 GiB, usabel: 1 GiB}}") == [
        "1:39  [0].memory.usabel: unknown key; did you mean 'usable'?"
    ]
    assert faults_of("- {name: a, memory: {capacity: 2 GiB, zzz: 1}}") == [
        "1:39  [0].memory.zzz: unknown key; expected one of: capacity, usable"
    ]


def test_a_union_is_one_message() -> None:
    assert faults_of("- {name: a, memory: 80}") == ["1:21  [0].memory: expected a mapping or text, got 80"]
    assert faults_of("- {name: a, sizes: x}") == ["1:20  [0].sizes: expected a whole number or a list, got 'x'"]
    assert faults_of("- {name: a, sizes: [1, x]}") == ["1:24  [0].sizes[1]: expected a whole number, got 'x'"]
    assert faults_of("- {name: a, memory: {}}") == ["1:21  [0].memory.capacity: this key is missing"]


def test_text_that_looks_like_something_else_is_shown_as_written() -> None:
    assert faults_of("- {name: 5319E7}") == ["1:10  [0].name: expected text, got 5319E7; write '5319E7' in quotes"]
    assert faults_of("- {name: true}") == ["1:10  [0].name: expected text, got true; write 'true' in quotes"]
    assert faults_of("- {name: ~}") == ["1:10  [0].name: expected text, got nothing"]


def test_lists_of_wrong_length_and_kind() -> None:
    assert faults_of("- {name: a, pair: [1]}") == ["1:19  [0].pair: expected at least 2 items, got 1"]
    assert faults_of("- {name: a, pair: 1}") == ["1:19  [0].pair: expected a list, got 1"]
    assert faults_of("name: a") == ["1:1: expected a list, got a mapping"]


def test_json_faults_have_places_too() -> None:
    text = '[{"name": "a"},\n {"name": "b",\n  "stream": 3}]'
    assert faults_of(text, read_json) == ["3:3  [1].stream: unknown key; did you mean 'streams'?"]


def test_plain_data_is_validated_without_places() -> None:
    with pytest.raises(ConfigError) as caught:
        validate(Document([{"name": 3}], "here"), ADAPTER)
    assert str(caught.value) == "here: [0].name: expected text, got 3; write '3' in quotes"
