"""YAML to a Document: parser events to plain data, with the place of each value and key beside it.

Events rather than PyYAML's nodes, since its composer recurses, and its constructor keeps the last of two equal
keys. Keys are always text. Anchors, aliases and merge keys work; what they expand to is bounded.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from simsched.collector import collector_off
from simsched.config.document import Document, located
from simsched.config.scalars import plain_scalar
from simsched.config.yaml_syntax import syntax_fault
from simsched.errors import ConfigError, Fault, PathKey

DEEPEST = 100
MOST_EXPANDED = 100_000
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Place(NamedTuple):
    """Where a value stands, and where its parts do.

    ``parts`` holds, for a mapping, line and column of each key and the Place of its value.
    """

    line: int
    column: int
    parts: dict[str, tuple[int, int, Place]] | list[Place] | None


class YamlPositions:
    """Positions of a YAML document, noted while it was read."""

    def __init__(self, root: Place) -> None:
        self._root = root

    def find(self, path: PathKey, *, key: bool) -> tuple[int, int] | None:
        """Return the line and column of a value or its key; of the nearest parent if it is absent."""
        place = self._root
        found = (place.line, place.column)
        for step in path:
            parts = place.parts
            if isinstance(parts, dict) and step in parts:
                line, column, place = parts[step]
                found = (line, column) if key else (place.line, place.column)
            elif isinstance(parts, list) and isinstance(step, int) and 0 <= step < len(parts):
                place = parts[step]
                found = (place.line, place.column)
            else:
                return place.line, place.column
        return found


def read_yaml(text: str, source: str = "YAML") -> Document:
    """Read one YAML document.

    Parameters
    ----------
    text : str
    source : str
        What error messages call the input.

    Raises
    ------
    ConfigError
        With line and column of syntax errors, duplicate keys, unknown aliases and numbers that are not finite.
    """
    control = _CONTROL.search(text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        column = control.start() - text.rfind("\n", 0, control.start())
        message = f"character U+{ord(control[0]):04X} is not allowed"
        raise ConfigError(source, [Fault(message, line=line, column=column)])
    with collector_off():
        return _Reader(text, source).read()


class _Frame:
    """A mapping or list that is still open."""

    __slots__ = ("anchor", "column", "data", "key", "key_place", "line", "merged", "parts", "size")

    def __init__(self, data: Any, parts: Any, mark: Any, anchor: str | None, size: int) -> None:
        self.data = data
        self.parts = parts
        self.line = mark.line + 1
        self.column = mark.column + 1
        self.anchor = anchor
        self.size = size
        self.key: str | None = None
        self.key_place = (0, 0)
        self.merged: list[tuple[Any, Place, tuple[int, int]]] = []


class _Reader:
    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.faults: list[Fault] = []
        self.frames: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, Place, int]] = {}
        self.size = 0
        self.expanded = 0

    def read(self) -> Document:
        import yaml

        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)(self.text)
        try:
            root = self._consume(loader, yaml)
        except yaml.MarkedYAMLError as error:
            raise self._failure(syntax_fault(error, self.text)) from None
        finally:
            loader.dispose()
        document = Document(root[0], self.source, YamlPositions(root[1]))
        if self.faults:
            raise located(document, self.faults)
        return document

    def _consume(self, loader: Any, yaml: Any) -> tuple[Any, Place]:
        """Turn the events of the one document into data and places."""
        root: tuple[Any, Place] | None = None
        get_event = loader.get_event
        frames = self.frames
        while True:
            event = get_event()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                done = self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._open({}, {}, event)
                continue
            elif kind is yaml.SequenceStartEvent:
                self._open([], [], event)
                continue
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                done = self._close()
            elif kind is yaml.AliasEvent:
                done = self._alias(event)
            elif kind is yaml.StreamEndEvent:
                break
            elif kind is yaml.DocumentStartEvent and root is not None:
                raise self._failure(_fault_at(event.start_mark, "a second document starts here; expected only one"))
            else:
                continue
            if not frames:
                root = done
            elif done is not None:
                self._deliver(done)
        if root is None:
            raise ConfigError(self.source, [Fault("the file is empty")])
        return root

    # --- values ---------------------------------------------------------------------------------------------

    def _scalar(self, event: Any) -> tuple[Any, Place] | None:
        """Return a value, or None when the scalar was a key."""
        mark = event.start_mark
        self.size += 1
        text = event.value
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.key is None and type(frame.data) is dict:
            self._key(frame, text, event.implicit[0], mark)
            if event.anchor is not None:
                self.anchors[event.anchor] = (text, Place(mark.line + 1, mark.column + 1, None), 1)
            return None
        value: Any = text
        if event.tag not in {None, "!", "tag:yaml.org,2002:str"}:
            self._complain_tag(event)
        elif event.implicit[0]:
            try:
                value = plain_scalar(text)
            except ValueError as error:
                self.faults.append(_fault_at(mark, str(error), self._path()))
        done = (value, Place(mark.line + 1, mark.column + 1, None))
        if event.anchor is not None:
            self.anchors[event.anchor] = (*done, 1)
        return done

    def _key(self, frame: _Frame, text: str, plain: bool, mark: Any) -> None:
        frame.key = text
        frame.key_place = (mark.line + 1, mark.column + 1)
        if plain and text == "<<":
            frame.key = _MERGE
        elif text in frame.data:
            first = frame.parts[text][0]
            self.faults.append(_fault_at(mark, f"given twice (first on line {first})", self._path()))
        elif plain and not text:
            self.faults.append(_fault_at(mark, "a key is missing before ':'", self._path()[:-1]))

    def _open(self, data: Any, parts: Any, event: Any) -> None:
        if len(self.frames) >= DEEPEST:
            raise self._failure(_fault_at(event.start_mark, f"nested more than {DEEPEST} levels deep"))
        if self.frames and self.frames[-1].key is None and type(self.frames[-1].data) is dict:
            raise self._failure(_fault_at(event.start_mark, "a key must be plain text, not a list or a mapping"))
        if event.tag not in {None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}:
            self._complain_tag(event)
        self.size += 1
        self.frames.append(_Frame(data, parts, event.start_mark, event.anchor, self.size))

    def _close(self) -> tuple[Any, Place]:
        frame = self.frames.pop()
        for value, place, key_place in frame.merged:
            self._merge(frame, value, place, key_place)
        done = (frame.data, Place(frame.line, frame.column, frame.parts))
        if frame.anchor is not None:
            self.anchors[frame.anchor] = (*done, self.size - frame.size + 1)
        return done

    def _deliver(self, done: tuple[Any, Place]) -> None:
        """Put a finished value into the mapping or list that holds it."""
        frame = self.frames[-1]
        value, place = done
        if type(frame.data) is list:
            frame.data.append(value)
            frame.parts.append(place)
            return
        key = frame.key
        frame.key = None
        if key is _MERGE:
            frame.merged.append((value, place, frame.key_place))
        else:
            frame.data[key] = value
            frame.parts[key] = (*frame.key_place, place)

    # --- aliases --------------------------------------------------------------------------------------------

    def _alias(self, event: Any) -> tuple[Any, Place] | None:
        name, mark = event.anchor, event.start_mark
        if name not in self.anchors:
            inside = any(frame.anchor == name for frame in self.frames)
            message = "this alias stands inside its own anchor" if inside else f"no anchor &{name} before this alias"
            raise self._failure(_fault_at(mark, message, self._path()))
        value, place, size = self.anchors[name]
        self.size += size
        self.expanded += size
        if self.expanded > MOST_EXPANDED:
            message = f"aliases expand to more than {MOST_EXPANDED} values; write them out, or use fewer"
            raise self._failure(_fault_at(mark, message, self._path()))
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.key is None and type(frame.data) is dict:
            if not isinstance(value, str):
                raise self._failure(_fault_at(mark, "a key must be plain text, not an alias of something else"))
            self._key(frame, value, False, mark)
            return None
        return value, place

    def _merge(self, frame: _Frame, value: Any, place: Place, key_place: tuple[int, int]) -> None:
        """Add the entries of ``<<: *base`` that the mapping does not give itself; the first of several wins."""
        if isinstance(value, dict) and isinstance(place.parts, dict):
            for key, other in value.items():
                if key not in frame.data:
                    frame.data[key] = other
                    frame.parts[key] = place.parts[key]
        elif isinstance(value, list) and all(isinstance(item, dict) for item in value):
            for item, at in zip(value, place.parts or (), strict=True):
                self._merge(frame, item, at, key_place)  # type: ignore[arg-type]
        else:
            line, column = key_place
            self.faults.append(Fault("'<<' merges a mapping, or a list of mappings", line=line, column=column))

    # --- faults ---------------------------------------------------------------------------------------------

    def _path(self) -> PathKey:
        """Return the path of the value that is being read."""
        path: list[str | int] = []
        for frame in self.frames:
            if type(frame.data) is list:
                path.append(len(frame.data))
            elif frame.key is not None:
                path.append("<<" if frame.key is _MERGE else frame.key)
        return tuple(path)

    def _complain_tag(self, event: Any) -> None:
        message = f"the tag {event.tag!r} is not supported; write plain YAML"
        self.faults.append(_fault_at(event.start_mark, message, self._path()))

    def _failure(self, fault: Fault) -> ConfigError:
        """Return the error for a fault after which reading cannot go on."""
        return located(Document(None, self.source), [*self.faults, fault])


_MERGE = "\0<<"  # no key of a file is equal to it: control characters are refused


def _fault_at(mark: Any, message: str, path: PathKey = ()) -> Fault:
    return Fault(message, path, mark.line + 1, mark.column + 1)
