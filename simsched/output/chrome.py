"""Chrome trace of one run, for ui.perfetto.dev, chrome://tracing and tools that read PyTorch's profiles.

One process per device and one thread per stream, so that spans never overlap on a thread; copies and the host come
after the devices. Times are microseconds with nanosecond resolution. A tick is written as one microsecond, because
viewers drop what is shorter than a nanosecond and hide what is not much longer.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simsched.output.chrome_counters import counters
from simsched.output.chrome_events import JsonEvent, Selection, flow_arrows, kernels
from simsched.output.chrome_shared import (
    DISPATCHES,
    copies,
    copy_tracks,
    dispatches,
    launch_tracks,
    launches,
    shared_arrows,
)
from simsched.problem import Problem
from simsched.result import Result


def to_chrome(result: Result, *, max_ops: int | None = None, flows: bool = True) -> dict[str, Any]:
    """Turn a run into the Chrome trace format, in its JSON object form.

    Parameters
    ----------
    result : Result
    max_ops : int, optional
        Keep only the first so many operators by start; the document says how many were left out.
    flows : bool
        Whether to draw an arrow per dependency, from launches to operators, and from and to copies. Operators without
        duration have no span that an arrow could be tied to.

    Returns
    -------
    dict
        ``traceEvents``, and the top-level keys of PyTorch's profiles (``schemaVersion``, ``deviceProperties``, ...).
        What lies on the realised critical path has the category ``critical`` beside its own.

    Raises
    ------
    ValueError
        If ``max_ops`` is negative.
    """
    if max_ops is not None and max_ops < 0:
        raise ValueError(f"max_ops is a number of operators, at least 0; got {max_ops}")
    selection = Selection(result, max_ops)
    events = [*_metadata(selection), *kernels(selection), *copies(selection), *dispatches(selection)]
    events += [*launches(selection), *counters(selection)]
    if flows:
        events += [*flow_arrows(selection), *shared_arrows(selection)]
    problem = result.problem
    return {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": 0,
        "traceName": f"{problem.graph.name} on {problem.hardware.name}, {result.label}",
        "deviceProperties": [_properties(problem, device) for device in range(len(problem.devices))],
        "simsched": _summary(selection),
        "traceEvents": events,
    }


def write_chrome(result: Result, path: str | Path, *, max_ops: int | None = None, flows: bool = True) -> Path:
    """Write the Chrome trace of a run; a name that ends in ``.gz`` is compressed. Equal runs are equal bytes.

    Parameters are those of :func:`to_chrome`. Returns the file.
    """
    document = to_chrome(result, max_ops=max_ops, flows=flows)
    data = json.dumps(document, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    target = Path(path)
    target.write_bytes(gzip.compress(data, mtime=0) if target.name.endswith(".gz") else data)
    return target


def _summary(selection: Selection) -> JsonEvent:
    result, problem = selection.result, selection.result.problem
    return {
        "graph": problem.graph.name,
        "graph_hash": problem.graph.content_hash,
        "hardware": problem.hardware.name,
        "hardware_hash": problem.hardware.content_hash,
        "scheduler": result.scheduler,
        "seed": problem.seed,
        "memory": result.memory,
        "time_unit": problem.graph.time_unit,
        "time_note": "1 tick is written as 1 us" if selection.ticks else "simulated time; ts and dur are in us",
        f"makespan_{selection.suffix}": result.makespan,
        "operators_left_out": len(problem.graph) - len(selection.ops),
    }


def _properties(problem: Problem, number: int) -> JsonEvent:
    """Describe one device under the names that PyTorch's profiler uses, as far as the profile knows."""
    device = problem.devices[number]
    limits = device.sm_limits
    known = {
        "id": number,
        "name": device.name,
        "totalGlobalMem": device.memory_capacity,
        "numSms": device.resources.get("sms"),
        "l2Bytes": device.l2_bytes,
        "memoryBandwidth": device.memory_bandwidth,
        "maxThreadsPerMultiprocessor": limits.threads if limits else None,
        "regsPerMultiprocessor": limits.registers if limits else None,
        "sharedMemPerMultiprocessor": limits.shared_memory if limits else None,
        "warpSize": limits.warp_size if limits else None,
    }
    return {key: value for key, value in known.items() if value is not None}


def _metadata(selection: Selection) -> Iterator[JsonEvent]:
    """Name and order processes and threads; streams that ran nothing have none."""
    problem = selection.result.problem
    used = sorted({selection.trace.stream[op] for op in selection.ops})
    for number, device in enumerate(problem.devices):
        sms = f", {device.resources['sms']} SMs" if "sms" in device.resources else ""
        yield from _process(number + 1, f"{device.name} ({device.kind}{sms})")
        for stream in used:
            if problem.stream_device[stream] == number:
                yield from _thread(number + 1, stream + 1, f"stream {problem.stream_names[stream]}")
    tracks = copy_tracks(selection)
    if tracks:
        yield from _process(selection.copies_pid, "copies between devices")
        for tid, label in dict.fromkeys(tracks.values()):
            yield from _thread(selection.copies_pid, tid, label)
    yield from _process(selection.host_pid, "host (scheduler)")
    yield from _thread(selection.host_pid, DISPATCHES, "dispatches")
    for tid, label in launch_tracks(selection).items():
        yield from _thread(selection.host_pid, tid, label)


def _process(pid: int, name: str) -> Iterator[JsonEvent]:
    yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
    yield {"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}


def _thread(pid: int, tid: int, name: str) -> Iterator[JsonEvent]:
    yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
    yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}}
