"""What was taken when: streams, units, resident kernels and bytes of every device over a run, from its trace.

Everything is a step function that holds from each of its times to the next. At one instant, what ends gives back
before what starts takes, and operators that take no time do not show.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain

from simsched.analysis.lifetimes import lifetimes_of
from simsched.analysis.usage import Run
from simsched.graph.model import OpId, TensorId

KERNELS = "resident kernels"
MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Steps:
    """A number over time: ``values[i]`` from ``times[i]`` on, ``first`` before."""

    times: Sequence[int]
    values: Sequence[int]
    first: int = 0

    def at(self, time: int) -> int:
        """Value from ``time`` on."""
        position = bisect_right(self.times, time) - 1
        return self.values[position] if position >= 0 else self.first

    def inside(self, begin: int, end: int) -> Sequence[int]:
        """Times of change after ``begin`` and before ``end``."""
        return self.times[bisect_right(self.times, begin) : bisect_left(self.times, end)]


@dataclass(frozen=True, slots=True)
class Shortage:
    """Less of something was free than an operator needs.

    Attributes
    ----------
    resource : str
        A renewable resource of the device, ``"resident kernels"``, or ``"memory"``, which counts in bytes.
    needs, free : int
    """

    resource: str
    needs: int
    free: int

    @property
    def missing(self) -> int:
        """How much more would have done."""
        return self.needs - self.free


def steps_of(intervals: Iterable[tuple[int, int, int]]) -> Steps:
    """Add up intervals ``(begin, end, amount)``; those that last no time do not show."""
    change: dict[int, int] = {}
    for begin, end, amount in intervals:
        if end > begin:
            change[begin] = change.get(begin, 0) + amount
            change[end] = change.get(end, 0) - amount
    times = sorted(change)
    values, total = [], 0
    for time in times:
        total += change[time]
        values.append(total)
    return Steps(times, values)


class Timelines:
    """The step functions of one run, each made when it is first asked for.

    Attributes
    ----------
    device : list of int
        Device that ran each operator.
    by_stream : list of list of int
        Operators of each stream, in the order in which they ran.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._problem, self._trace = run.problem, run.trace
        self.device = [run.problem.stream_device[stream] for stream in run.trace.stream]
        self.by_stream: list[list[OpId]] = [[] for _ in run.problem.stream_device]
        for op in run.trace.launch_order:
            self.by_stream[run.trace.stream[op]].append(op)
        self._lives = lifetimes_of(run.problem, run.trace)
        self.used = cache(self._used)
        self.taken_streams = cache(self._taken_streams)
        self.live = cache(self._live)
        # An operator is asked about at many instants in a row.
        self.needs = lru_cache(maxsize=64)(self._needs)

    @cached_property
    def ended(self) -> dict[int, list[OpId]]:
        """Operators that ended at an instant, ascending."""
        found: dict[int, list[OpId]] = {}
        for op, time in enumerate(self._trace.end):
            found.setdefault(time, []).append(op)
        return found

    def running(self, device: int, time: int) -> list[OpId]:
        """Operators that run on a device from ``time`` on, in the order of its streams."""
        start, end = self._trace.start, self._trace.end
        found = []
        for stream in self._problem.device_streams[device]:
            ops = self.by_stream[stream]
            position = bisect_right(ops, time, key=start.__getitem__) - 1
            if position >= 0 and end[ops[position]] > time:
                found.append(ops[position])
        return found

    def units(self, op: OpId, device: int, resource: str) -> int:
        """Units of a resource that an operator takes on a device while it runs."""
        return 1 if resource == KERNELS else self._problem.demand(op, device).get(resource, 0)

    def _needs(self, op: OpId, device: int) -> dict[str, tuple[int, int]]:
        """Units that an operator needs of each resource of a device, and how many there are."""
        described = self._problem.devices[device]
        demand = self._problem.demand(op, device)
        found = {name: (units, described.resources.get(name, 0)) for name, units in demand.items() if units > 0}
        limit = described.max_resident_kernels
        if limit is not None and limit < described.streams:
            found[KERNELS] = (1, limit)
        return found

    def limit(self, device: int) -> int | None:
        """Bytes of a device, where they were a limit to the run."""
        return None if self._run.memory == "unbounded" else self._problem.devices[device].capacity

    def shortages(self, op: OpId, device: int, time: int) -> tuple[Shortage, ...]:
        """What an operator that has not started is short of on a device from ``time`` on."""
        found = []
        for resource, (units, capacity) in self.needs(op, device).items():
            free = capacity - self.used(device, resource).at(time)
            if units > free:
                found.append(Shortage(resource, units, free))
        limit = self.limit(device)
        if limit is not None:
            free, need = limit - self.live(device).at(time), self.bytes_needed(op, device, time)
            if need > free:
                found.append(Shortage(MEMORY, need, free))
        return tuple(found)

    def bytes_needed(self, op: OpId, device: int, time: int) -> int:
        """Bytes that a start would allocate: outputs, workspace, and inputs that are not on the device then."""
        graph = self._problem.graph
        need = self._problem.workspace(op, device) + sum(graph.stored_bytes[tensor] for tensor in graph.outputs[op])
        if len(self._problem.devices) > 1:
            inputs = dict.fromkeys(graph.inputs[op])
            need += sum(graph.tensor_bytes[tensor] for tensor in inputs if not self._present(tensor, device, time))
        return need

    def bytes_freed(self, op: OpId, device: int) -> int:
        """Bytes of a device that the end of an operator gave back."""
        graph = self._problem.graph
        freed = self._problem.workspace(op, device) if self.device[op] == device else 0
        touched = chain.from_iterable(map(self._lives.owners, (*graph.inputs[op], *graph.outputs[op])))
        for tensor in dict.fromkeys(touched):
            for span in self._lives.spans(tensor):
                if span.device == device and span.closer == op:
                    freed += graph.tensor_bytes[tensor]
        return freed

    def changes(self, op: OpId, device: int, begin: int, end: int) -> set[int]:
        """Times within an interval at which something that the operator needs of a device changes."""
        times = set(self.taken_streams(device).inside(begin, end))
        for resource in self.needs(op, device):
            times.update(self.used(device, resource).inside(begin, end))
        if self.limit(device) is not None:
            times.update(self.live(device).inside(begin, end))
        return times

    def _present(self, tensor: TensorId, device: int, time: int) -> bool:
        for span in self._lives.spans(self._lives.owner(tensor, device)):
            ended = span.closer is not None and self._trace.end[span.closer] <= time
            if span.device == device and span.begin <= time and not ended:
                return True
        return False

    def _used(self, device: int, resource: str) -> Steps:
        start, end = self._trace.start, self._trace.end
        ops = (op for op, owner in enumerate(self.device) if owner == device)
        return steps_of((start[op], end[op], self.units(op, device, resource)) for op in ops)

    def _taken_streams(self, device: int) -> Steps:
        """Streams that run something or have something queued."""
        intervals = []
        for stream in self._problem.device_streams[device]:
            begin = finish = 0
            for op in self.by_stream[stream]:
                if self._trace.dispatch[op] > finish:
                    intervals.append((begin, finish, 1))
                    begin = self._trace.dispatch[op]
                finish = max(finish, self._trace.end[op])
            intervals.append((begin, finish, 1))
        return steps_of(intervals)

    def _live(self, device: int) -> Steps:
        curve = self._trace.memory.curve(device)
        return Steps([time for time, _ in curve], [live for _, live in curve])
