"""Schedule: an intent, the order of operators on each stream, with a text form that round-trips.

The text has one line per stream, ``device/stream: op op op``; ``#`` starts a comment. A name that holds white
space, a quote, ``#`` or ``:`` at its end is written as a JSON string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from simsched.errors import ConfigError, Fault, suggest
from simsched.graph.model import OpId
from simsched.problem import Problem

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"#][^\s"]*|#.*|"')
_PLAIN = re.compile(r'[^\s"#][^\s"]*\Z')


@dataclass(frozen=True, slots=True)
class Schedule:
    """Operators per stream, in order.

    Attributes
    ----------
    streams : mapping of int to tuple of int
        Stream id to operator ids; streams without operators are left out.
    """

    streams: Mapping[int, tuple[OpId, ...]]

    def to_text(self, problem: Problem) -> str:
        """Write the schedule as text, streams in order.

        Parameters
        ----------
        problem : Problem
            Gives the names of operators and streams.
        """
        names = problem.graph.names
        lines = []
        for stream in sorted(self.streams):
            ops = " ".join(_quote(names[op]) for op in self.streams[stream])
            lines.append(f"{problem.stream_names[stream]}: {ops}\n")
        return "".join(lines)


def parse_schedule(text: str, problem: Problem, source: str = "schedule") -> Schedule:
    """Read a schedule from text.

    Raises
    ------
    ConfigError
        With line and column of every unknown stream or operator, of operators that appear twice, and the names
        of those that do not appear.
    """
    streams = {name: number for number, name in enumerate(problem.stream_names)}
    found: dict[int, list[OpId]] = {}
    first_line: dict[OpId, int] = {}
    faults: list[Fault] = []
    for number, line in enumerate(text.splitlines(), 1):
        tokens = [(match[0], match.start() + 1) for match in _TOKEN.finditer(line)]
        tokens = [token for token in tokens if not token[0].startswith("#")]
        if not tokens:
            continue
        head, column = tokens[0]
        name, colon, rest = head.partition(":")
        if not colon:
            faults.append(Fault("expected 'device/stream: op op op'", line=number, column=column))
            continue
        if rest:
            tokens.insert(1, (rest, column + len(name) + 1))
        if name not in streams:
            message = f"unknown stream {name!r}; {suggest(name, streams)}"
            faults.append(Fault(message, line=number, column=column))
            continue
        queue = found.setdefault(streams[name], [])
        for token, at in tokens[1:]:
            _read_operator(token, number, at, problem, queue, first_line, faults)
    _complain_missing(problem, first_line, faults)
    if faults:
        raise ConfigError(source, faults)
    return Schedule({stream: tuple(ops) for stream, ops in sorted(found.items()) if ops})


def _read_operator(
    token: str,
    line: int,
    column: int,
    problem: Problem,
    queue: list[OpId],
    first_line: dict[OpId, int],
    faults: list[Fault],
) -> None:
    try:
        name = json.loads(token) if token.startswith('"') else token
    except json.JSONDecodeError:
        faults.append(Fault(f"{token} is not a complete quoted name", line=line, column=column))
        return
    op = problem.graph.index.get(name)
    if op is None:
        message = f"unknown operator {name!r}; {suggest(name, problem.graph.names)}"
        faults.append(Fault(message, line=line, column=column))
    elif op in first_line:
        message = f"operator {name!r} appears twice (first on line {first_line[op]})"
        faults.append(Fault(message, line=line, column=column))
    else:
        first_line[op] = line
        queue.append(op)


def _complain_missing(problem: Problem, seen: Mapping[OpId, int], faults: list[Fault]) -> None:
    missing = [name for op, name in enumerate(problem.graph.names) if op not in seen]
    if missing:
        shown = ", ".join(missing[:10]) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
        faults.append(Fault(f"{len(missing)} operators are on no stream: {shown}"))


def _quote(name: str) -> str:
    return name if _PLAIN.match(name) else json.dumps(name, ensure_ascii=False)
