"""Schedule: an intent, the order of operators on each stream, with a text form that round-trips.

The text has one line per stream, ``device/stream: op op op``. A line ``launch: op op op`` may give the order of
launches over all streams, which decides who goes first when operators of several streams compete for a device; without
it the streams take turns. ``#`` starts a comment. A name that holds white space, a quote or ``#`` is written as a JSON
string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from simsched.errors import ConfigError, Fault, suggest
from simsched.graph.model import OpId
from simsched.problem import Problem

LAUNCH = "launch"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"#][^\s"#]*|#.*|"')
_PLAIN = re.compile(r'[^\s"#]+\Z')


@dataclass(frozen=True, slots=True)
class Schedule:
    """Operators per stream, in order.

    Attributes
    ----------
    streams : mapping of int to tuple of int
        Stream id to operator ids; streams without operators are left out.
    launch : tuple of int
        All operators in the order of their launches, each stream's in its own order; empty where the streams take
        turns, position by position.
    """

    streams: Mapping[int, tuple[OpId, ...]]
    launch: tuple[OpId, ...] = ()

    def launches(self) -> Iterator[tuple[OpId, int]]:
        """Operators with their streams, in the order of launches."""
        stream_of = {op: stream for stream, ops in self.streams.items() for op in ops}
        for op in self.launch or self.turns():
            yield op, stream_of[op]

    def turns(self) -> Iterator[OpId]:
        """Operators in the order in which streams that take turns launch them."""
        for position in zip_longest(*(ops for _, ops in sorted(self.streams.items()))):
            yield from (op for op in position if op is not None)

    def to_text(self, problem: Problem) -> str:
        """Write the schedule as text, streams in order.

        Parameters
        ----------
        problem : Problem
            Gives the names of operators and streams.
        """
        rows = [(problem.stream_names[stream], self.streams[stream]) for stream in sorted(self.streams)]
        if self.launch and self.launch != tuple(self.turns()):
            rows.append((LAUNCH, self.launch))
        names = problem.graph.names
        return "".join(f"{head}: {' '.join(_quote(names[op]) for op in ops)}\n" for head, ops in rows)


def parse_schedule(text: str, problem: Problem, source: str = "schedule") -> Schedule:
    """Read a schedule from text.

    Raises
    ------
    ConfigError
        With line and column of every unknown stream or operator, of operators that appear twice or that are launched
        against the order of their stream, and the names of those that do not appear.
    """
    reading = _Reading(problem)
    # Not splitlines(), which also splits at separators that a quoted name may hold.
    for number, line in enumerate(text.split("\n"), 1):
        reading.line(line, number)
    reading.end()
    if reading.faults:
        raise ConfigError(source, reading.faults)
    streams = {stream: tuple(ops) for stream, ops in sorted(reading.streams.items()) if ops}
    return Schedule(streams, tuple(reading.launch))


class _Reading:
    """A text being read: what was found so far, and every fault with its place."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.stream_ids = {name: number for number, name in enumerate(problem.stream_names)}
        self.streams: dict[int, list[OpId]] = {}
        self.launch: list[OpId] = []
        self.faults: list[Fault] = []
        self._line_of: dict[OpId, int] = {}
        self._launch_line: dict[OpId, int] = {}

    def line(self, text: str, number: int) -> None:
        """Read one line."""
        tokens = [(match[0], match.start() + 1) for match in _TOKEN.finditer(text)]
        tokens = [token for token in tokens if not token[0].startswith("#")]
        if not tokens:
            return
        (head, column), *rest = tokens
        name, colon, glued = head.partition(":")
        if not colon:
            self._fault("expected 'device/stream: op op op'", number, column)
            return
        if glued:
            rest.insert(0, (glued, column + len(name) + 1))
        if name == LAUNCH:
            queue, seen = self.launch, self._launch_line
        elif name in self.stream_ids:
            queue, seen = self.streams.setdefault(self.stream_ids[name], []), self._line_of
        else:
            self._fault(f"unknown stream {name!r}; {suggest(name, self.stream_ids)}", number, column)
            return
        for token, at in rest:
            self._operator(token, number, at, queue, seen)

    def _operator(self, token: str, line: int, column: int, queue: list[OpId], seen: dict[OpId, int]) -> None:
        try:
            name = json.loads(token) if token.startswith('"') else token
        except json.JSONDecodeError:
            self._fault(f"{token} is not a complete quoted name", line, column)
            return
        op = self.problem.graph.index.get(name)
        if op is None:
            self._fault(f"unknown operator {name!r}; {suggest(name, self.problem.graph.names)}", line, column)
        elif op in seen:
            self._fault(f"operator {name!r} appears twice (first on line {seen[op]})", line, column)
        else:
            seen[op] = line
            queue.append(op)

    def end(self) -> None:
        """Check what can be checked only at the end; after other faults it would only repeat them."""
        if not self.faults:
            self._complain_missing(self._line_of, "on no stream")
        if self.launch and not self.faults:
            self._complain_missing(self._launch_line, "missing from 'launch'")
        if self.launch and not self.faults:
            position = {op: number for number, op in enumerate(self.launch)}
            for ops in self.streams.values():
                for first, second in pairwise(ops):
                    if position[first] > position[second]:
                        names = self.problem.graph.names
                        message = f"{names[second]!r} is launched before {names[first]!r}, which its stream has first"
                        self._fault(message, self._launch_line[second], 1)

    def _complain_missing(self, seen: Mapping[OpId, int], where: str) -> None:
        missing = [name for op, name in enumerate(self.problem.graph.names) if op not in seen]
        if missing:
            shown = ", ".join(missing[:10]) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
            what = "1 operator is" if len(missing) == 1 else f"{len(missing)} operators are"
            self.faults.append(Fault(f"{what} {where}: {shown}"))

    def _fault(self, message: str, line: int, column: int) -> None:
        self.faults.append(Fault(message, line=line, column=column))


def _quote(name: str) -> str:
    return name if _PLAIN.match(name) else json.dumps(name, ensure_ascii=False)
