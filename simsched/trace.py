"""Trace: what happened in one run, in columns by operator id. The only source of results.

A trace knows nothing of costs or names; read it together with its problem. Columns are the engine's own lists, handed
over without a copy; nobody writes to them after the run.
"""

from __future__ import annotations

import dataclasses
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from simsched.errors import ConfigError, Fault
from simsched.graph.model import OpId, TensorId
from simsched.problem import Problem
from simsched.schedule import Schedule
from simsched.trace_form import check_form

COLUMNS = ("stream", "dispatch", "ready", "start", "end", "launch_order")

WaitReason = Literal["resource", "memory", "queue"]


class Wait(NamedTuple):
    """An interval in which a stream's head had everything but the device's consent.

    Attributes
    ----------
    op : int
    reason : {"resource", "memory", "queue"}
        Not enough free units of a renewable resource; not enough free memory; or an earlier launch was still
        waiting at the head of the device's queue. The first that applied when the device was last asked.
    start, end : int
        ns.
    detail : str
        What was short, e.g. ``"sms: needs 108, 40 free"``.
    """

    op: OpId
    reason: WaitReason
    start: int
    end: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Data on its way between two devices: a tensor copied over links, or the pure delay of one edge.

    Attributes
    ----------
    source, target : int
        Who made the data, and the first operator that was dispatched to the other device and reads it.
    from_device, to_device : int
    start, end : int
        ns; a copy holds its copy engines from start to end.
    bytes : int
    tensor : int
        What is copied; -1 for a pure delay, which takes no engine and no link.
    asked : int
        When the copy could have begun: its tensor was made and its target dispatched. From then to ``start`` it waited
        for copy engines or for memory; -1 for a pure delay.
    """

    source: OpId
    target: OpId
    from_device: int
    to_device: int
    start: int
    end: int
    bytes: int
    tensor: TensorId = -1
    asked: int = -1


class Cohort(NamedTuple):
    """Blocks of one kernel that were placed at one instant and run in step, on a device of model ``blocks``.

    Attributes
    ----------
    op : int
    wave : int
        Which wave of the kernel alone they belong to, from 0.
    start, end : int
        ns: when they took their places, and when they ended together.
    places : tuple of (int, int)
        SMs and how many of the blocks are on each, ascending.
    """

    op: OpId
    wave: int
    start: int
    end: int
    places: tuple[tuple[int, int], ...]

    @property
    def blocks(self) -> int:
        """How many blocks they are."""
        return sum(count for _, count in self.places)


@dataclass(frozen=True, slots=True)
class MemorySteps:
    """Live bytes after each change, in columns: at ``time[i]`` device ``device[i]`` came to hold ``live[i]``."""

    time: array[int] = field(default_factory=lambda: array("q"))
    device: array[int] = field(default_factory=lambda: array("h"))
    live: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.time)

    def curve(self, device: int) -> list[tuple[int, int]]:
        """Steps ``(time, live bytes)`` of one device, the last value of each instant."""
        rows = zip(self.time, self.device, self.live, strict=True)
        return sorted({time: live for time, owner, live in rows if owner == device}.items())

    def peak(self, device: int) -> int:
        """Largest number of live bytes of one device."""
        return max((live for owner, live in zip(self.device, self.live, strict=True) if owner == device), default=0)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the story of a run, for ``--steps`` and for pages."""

    time: int
    kind: Literal["finish", "ready", "dispatch", "start"]
    op: OpId
    stream: int


@dataclass(frozen=True, eq=False, slots=True)
class Trace:
    """The fact. All columns are indexed by operator id and in ns.

    Attributes
    ----------
    stream : sequence of int
        Stream that ran the operator.
    dispatch, ready, start, end : sequence of int
        When the policy dispatched it, when its last predecessor finished, when it started and ended.
    launch_order : sequence of int
        Operators in the order of their dispatches.
    reasons : mapping of int to str
        The policy's reason, where it gave one.
    waits : tuple of Wait
    transfers : tuple of Transfer
    memory : MemorySteps
    calls : int
        Number of times the policy was asked.
    rounds : mapping of int to int
        How many operators of no length had ended within the instant of an operator's dispatch, before it; where any
        had. (All others that end at an instant do so before anything is dispatched.)
    """

    stream: Sequence[int]
    dispatch: Sequence[int]
    ready: Sequence[int]
    start: Sequence[int]
    end: Sequence[int]
    launch_order: Sequence[int]
    reasons: Mapping[OpId, str] = field(default_factory=dict)
    waits: tuple[Wait, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    memory: MemorySteps = field(default_factory=MemorySteps)
    calls: int = 0
    rounds: Mapping[OpId, int] = field(default_factory=dict)
    launched: Sequence[int] = ()
    cohorts: tuple[Cohort, ...] = ()

    def __len__(self) -> int:
        return len(self.start)

    @property
    def makespan(self) -> int:
        """Last end in ns; 0 for an empty run."""
        return max(self.end, default=0)

    @property
    def start_order(self) -> list[OpId]:
        """Operators by start, those of one instant by id; ids are topological, so no operator precedes its inputs."""
        return sorted(range(len(self.start)), key=self.start.__getitem__)

    def schedule(self) -> Schedule:
        """Return the order on each stream and of the launches, as an intent that can be followed again."""
        streams: dict[int, list[OpId]] = {}
        for op in self.launch_order:
            streams.setdefault(self.stream[op], []).append(op)
        return Schedule({stream: tuple(ops) for stream, ops in sorted(streams.items())}, tuple(self.launch_order))

    def events(self) -> Iterator[Event]:
        """Events in the order in which the engine saw them: finish, ready, dispatch, start within an instant."""
        position = [0] * len(self)
        for number, op in enumerate(self.start_order):
            position[op] = number
        columns = (("finish", self.end), ("ready", self.ready), ("dispatch", self.dispatch), ("start", self.start))
        rows = [
            (time, phase, position[op] if kind == "start" else op, op, kind)
            for phase, (kind, column) in enumerate(columns)
            for op, time in enumerate(column)
        ]
        rows.sort()
        for time, _, _, op, kind in rows:
            yield Event(time, kind, op, self.stream[op])  # type: ignore[arg-type]

    def to_json(self, problem: Problem) -> str:
        """Write the trace with names, in a form that :func:`read_trace` reads back."""
        document: dict[str, Any] = {
            "simsched_trace": 1,
            "graph": problem.graph.name,
            "graph_hash": problem.graph.content_hash,
            "hardware": problem.hardware.name,
            "hardware_hash": problem.hardware.content_hash,
            "streams": list(problem.stream_names),
            "operators": list(problem.graph.names),
        }
        for name in COLUMNS:
            document[name] = list(getattr(self, name))
        document["reasons"] = {str(op): reason for op, reason in sorted(self.reasons.items())}
        document["waits"] = [[wait.op, wait.reason, wait.start, wait.end, wait.detail] for wait in self.waits]
        document["transfers"] = [list(dataclasses.astuple(move)) for move in self.transfers]
        memory = self.memory
        document["memory"] = {"time": list(memory.time), "device": list(memory.device), "live": list(memory.live)}
        document["calls"] = self.calls
        document["rounds"] = {str(op): ended for op, ended in sorted(self.rounds.items())}
        if self.launched:
            document["launched"] = list(self.launched)
        if self.cohorts:
            document["cohorts"] = [[*row[:4], [list(place) for place in row.places]] for row in self.cohorts]
        return json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"


def _cohort(row: Sequence[Any]) -> Cohort:
    op, wave, start, end, places = row
    return Cohort(op, wave, start, end, tuple((sm, count) for sm, count in places))


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_trace(text: str, problem: Problem, source: str = "trace") -> Trace:
    """Read a trace written by :meth:`Trace.to_json` for the same operators and streams.

    Raises
    ------
    ConfigError
        If it is not such a file, or belongs to another graph or other hardware.
    """
    try:
        document = _loaded(text)
        if not isinstance(document, dict) or document.get("simsched_trace") != 1:
            raise ValueError("it has no 'simsched_trace': 1")
        for key, expected in (("operators", list(problem.graph.names)), ("streams", list(problem.stream_names))):
            if document[key] != expected:
                raise ValueError(f"its {key} are not those of {problem.graph.name} on {problem.hardware.name}")
        memory = document["memory"]
        # Through an array, so that anything but a whole number is refused.
        stream, dispatch, ready, start, end, launch_order = (list(array("q", document[name])) for name in COLUMNS)
        trace = Trace(
            stream,
            dispatch,
            ready,
            start,
            end,
            launch_order,
            {int(op): reason for op, reason in document["reasons"].items()},
            tuple(Wait(*row) for row in document["waits"]),
            tuple(Transfer(*row) for row in document["transfers"]),
            MemorySteps(array("q", memory["time"]), array("h", memory["device"]), array("q", memory["live"])),
            document["calls"],
            {int(op): ended for op, ended in document["rounds"].items()},
            list(array("q", document.get("launched", ()))),
            tuple(_cohort(row) for row in document.get("cohorts", ())),
        )
        return check_form(trace, problem)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ConfigError(source, [Fault(f"not a recorded run of this problem: {error}")]) from error
