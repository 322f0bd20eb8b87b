"""Counters of a Chrome trace: live bytes, bandwidth, units of resources and kernels at once, of each device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from simsched.output.chrome_events import JsonEvent, Selection


def counters(selection: Selection) -> Iterator[JsonEvent]:
    """Yield live bytes, bandwidth, busy units of each resource and running kernels of each device, at each change."""
    for number in range(len(selection.result.problem.devices)):
        live = [row for row in selection.trace.memory.curve(number) if row[0] <= selection.horizon]
        yield from _counter(selection, number, "memory_used", "bytes", live)
        for name, changes in (*_usage(selection, number).items(), *_occupancy(selection, number).items()):
            times = sorted(changes)
            levels = accumulate(changes[time] for time in times)
            yield from _counter(selection, number, name, "units", zip(times, levels, strict=True))
        yield from _bandwidth(selection, number)


def _usage(selection: Selection, device: int) -> dict[str, dict[int, int]]:
    """Return the changes of the units in use, by counter and instant."""
    problem, trace = selection.result.problem, selection.trace
    changes: dict[str, dict[int, int]] = {"kernels_running": {}}
    changes |= {f"{resource}_busy": {} for resource in sorted(problem.devices[device].resources)}
    for op in selection.ops:
        if problem.stream_device[trace.stream[op]] == device and trace.end[op] > trace.start[op]:
            held = {f"{resource}_busy": units for resource, units in problem.demand(op, device).items()}
            for name, units in {"kernels_running": 1, **held}.items():
                _add(changes[name], trace.start[op], trace.end[op], units)
    return changes


def _occupancy(selection: Selection, device: int) -> dict[str, dict[int, int]]:
    """Return the changes of blocks and of SMs that have any, on a device that places blocks."""
    problem, trace = selection.result.problem, selection.trace
    if problem.devices[device].model != "blocks":
        return {}
    blocks: dict[int, int] = {}
    on_sm: dict[int, dict[int, int]] = {}
    for row in trace.cohorts:
        if row.op in selection.kept and problem.stream_device[trace.stream[row.op]] == device and row.end > row.start:
            _add(blocks, row.start, row.end, row.blocks)
            for sm, count in row.places:
                _add(on_sm.setdefault(sm, {}), row.start, row.end, count)
    busy: dict[int, int] = {}
    for changes in on_sm.values():
        level = 0
        for time in sorted(changes):
            before, level = level, level + changes[time]
            if bool(before) != bool(level):
                busy[time] = busy.get(time, 0) + (1 if level else -1)
    return {"blocks_resident": blocks, "sms_busy": busy} if blocks else {}


def _add(changes: dict[int, int], start: int, end: int, units: int) -> None:
    for time, change in ((start, units), (end, -units)):
        changes[time] = changes.get(time, 0) + change


def _bandwidth(selection: Selection, device: int) -> Iterator[JsonEvent]:
    """Yield the bandwidth that kernels got, and that they would have drawn at full speed where that was more."""
    described = selection.result.problem.devices[device]
    if described.memory_bandwidth is None or described.model == "lanes":
        return
    whole = described.memory_bandwidth * described.efficiency.bandwidth
    rows = [row for row in selection.story.speeds.bandwidth(device) if row[0] <= selection.horizon]
    used, asked = ([(row[0], round(row[column] * whole)) for row in rows] for column in (2, 1))
    yield from _counter(selection, device, "bandwidth_used", "bytes_per_s", used)
    if any(wanted > given * (1 + 1e-9) for _, wanted, given in rows):
        yield from _counter(selection, device, "bandwidth_wanted", "bytes_per_s", asked)


def _counter(
    selection: Selection, device: int, name: str, key: str, steps: Iterable[tuple[int, int]]
) -> Iterator[JsonEvent]:
    """Yield a counter of a device: times and values; steps that change nothing are left out."""
    before: int | None = None
    for time, value in steps:
        if value != before:
            yield {"ph": "C", "name": name, "pid": device + 1, "ts": selection.time(time), "args": {key: value}}
        before = value
