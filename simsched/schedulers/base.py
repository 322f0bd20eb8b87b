"""The protocol between engine and scheduler.

A *scheduler* is a small frozen object whose fields are its parameters. ``start(problem)`` does the offline work
and returns a *policy*: a callable that the engine calls at time 0 and then once per instant at which something
finished, or the inputs of a stream's head arrived, after all that has been noted. Where an operator takes no time, its
end makes another round of the same instant, with a call of its own. The policy answers with dispatches. A dispatch
appends one operator to one stream; the operator need not be ready, nor the stream idle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from simsched.graph.model import OpId
from simsched.problem import Problem

StreamId = int
DeviceId = int


class Dispatch(NamedTuple):
    """Append one operator to one stream. A plain ``(op, stream, reason)`` tuple is accepted too."""

    op: OpId
    stream: StreamId
    reason: str = ""


class View(Protocol):
    """What a policy may see at one instant: read-only, ascending by id, dead after the call."""

    @property
    def problem(self) -> Problem:
        """The problem, with its estimated durations."""

    @property
    def now(self) -> int:
        """The instant, in ns."""

    @property
    def explaining(self) -> bool:
        """Whether reasons of dispatches will be read; a policy may leave them empty otherwise."""

    @property
    def ready(self) -> Sequence[OpId]:
        """Operators whose predecessors have all finished and that are not dispatched yet."""

    @property
    def newly_ready(self) -> Sequence[OpId]:
        """Operators that became ready since the last call, dispatched ones left out."""

    @property
    def newly_finished(self) -> Sequence[OpId]:
        """Operators that finished since the last call."""

    @property
    def idle_streams(self) -> Sequence[StreamId]:
        """Streams that run nothing and have nothing queued."""

    @property
    def running(self) -> Sequence[OpId]:
        """Operators that are running now."""

    def queue(self, stream: StreamId) -> Sequence[OpId]:
        """Operators waiting in a stream, head first; the running one is not among them."""

    def free(self, device: DeviceId) -> Mapping[str, int]:
        """Free units of each renewable resource of a device."""

    def live_bytes(self, device: DeviceId) -> int:
        """Bytes allocated on a device now."""

    def free_bytes(self, device: DeviceId) -> int | None:
        """Bytes still free on a device; None when memory is unbounded in this run."""

    def memory_need(self, op: OpId, device: DeviceId) -> int:
        """Bytes that starting the operator on the device would allocate at once."""

    def memory_delta(self, op: OpId, device: DeviceId) -> int:
        """Change of live bytes from before its start to after its end, as things stand."""

    def arrival(self, op: OpId, device: DeviceId) -> int:
        """Earliest instant at which all inputs of a ready operator are on the device."""


Policy = Callable[[View], Iterable[tuple[OpId, StreamId, str]]]


@runtime_checkable
class Scheduler(Protocol):
    """An object with ``start``. Make it a frozen dataclass whose fields are its parameters."""

    def start(self, problem: Problem) -> Policy:
        """Do the offline work for one problem and return the policy of one run."""
        ...
