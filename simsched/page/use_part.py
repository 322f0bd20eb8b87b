"""What a run held and used over time: memory, tensors, streams, units, bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from simsched.analysis.lifetimes import lifetimes_of
from simsched.analysis.speeds import Speeds
from simsched.analysis.timelines import steps_of
from simsched.analysis.usage import occupied_sms
from simsched.result import Result
from simsched.trace import MemorySteps

Row = tuple[int, int]


def memory_part(run: Result) -> list[dict[str, Any]]:
    """Return the live bytes of each device after each change."""
    return [_columns(_memory_rows(run.trace.memory, device)) for device in range(len(run.problem.devices))]


def _memory_rows(steps: MemorySteps, device: int) -> Iterator[Row]:
    """Yield the last value of each instant, and before it the highest where that was live within the instant only."""
    time, highest, last = -1, 0, 0
    for now, owner, live in zip(steps.time, steps.device, steps.live, strict=True):
        if owner == device:
            if now != time:
                yield from _instant(time, highest, last)
                time, highest = now, live
            highest, last = max(highest, live), live
    yield from _instant(time, highest, last)


def _instant(time: int, highest: int, last: int) -> Iterator[Row]:
    if time >= 0:
        if highest > last:
            yield time, highest
        yield time, last


def spans_part(run: Result) -> list[list[int]]:
    """Return every stay of a tensor that has bytes in a memory: tensor, device, begin, end."""
    trace, lives = run.trace, lifetimes_of(run.problem, run.trace)
    return [
        [tensor, span.device, span.begin, trace.makespan if span.closer is None else trace.end[span.closer]]
        for tensor, size in enumerate(run.problem.graph.tensor_bytes)
        if size
        for span in lives.spans(tensor)
    ]


def usage_part(run: Result, speeds: Speeds) -> list[dict[str, Any]]:
    """Return the use of streams, renewable resources and shared bandwidth of each device.

    Streams are busy while they run something. A resource that nobody used is left out. On devices of model ``blocks``
    an SM is used while it has any block.
    """
    found = []
    for device, described in enumerate(run.problem.devices):
        found.append(_usage("streams", device, described.streams, _stream_rows(run, device)))
        for resource, capacity in described.resources.items():
            rows = list(_resource_rows(run, device, resource))
            found += [_usage(resource, device, capacity, rows)] if rows else []
        if described.model != "lanes" and described.memory_bandwidth is not None:
            rate = described.memory_bandwidth * described.efficiency.bandwidth
            given = [(time, round(got * rate)) for time, _, got in speeds.bandwidth(device)]
            found += [_usage("bandwidth", device, round(rate), given)] if given else []
    return found


def _usage(what: str, device: int, capacity: int, rows: Iterable[Row]) -> dict[str, Any]:
    return {"what": what, "device": device, "capacity": capacity, **_columns(rows)}


def _columns(rows: Iterable[Row]) -> dict[str, list[int]]:
    """Return steps in columns, those that change nothing left out."""
    times: list[int] = []
    values: list[int] = []
    before = 0
    for time, value in rows:
        if value != before:
            times.append(time)
            values.append(value)
            before = value
    return {"time": times, "value": values}


def _stream_rows(run: Result, device: int) -> list[Row]:
    trace, owner = run.trace, run.problem.stream_device
    ops = (op for op, stream in enumerate(trace.stream) if owner[stream] == device)
    return _rows((trace.start[op], trace.end[op], 1) for op in ops)


def _resource_rows(run: Result, device: int, resource: str) -> list[Row]:
    trace, problem = run.trace, run.problem
    held = [
        (trace.start[op], trace.end[op], units[resource])
        for op, units in problem.demands_on(device).items()
        if resource in units and problem.stream_device[trace.stream[op]] == device
    ]
    if resource == "sms" and problem.devices[device].model == "blocks":
        held += [(start, end, 1) for start, end in occupied_sms(run, device)]
    return _rows(held)


def _rows(intervals: Iterable[tuple[int, int, int]]) -> list[Row]:
    steps = steps_of(intervals)
    return list(zip(steps.times, steps.values, strict=True))
