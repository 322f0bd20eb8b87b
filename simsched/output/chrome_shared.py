"""Copies between devices and launches by the host, as tracks of a Chrome trace, and arrows from and to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from simsched.graph.model import OpId
from simsched.hardware import Device
from simsched.output.chrome_events import JsonEvent, Selection

DISPATCHES = 1
"""Thread of the host process on which dispatches are; launches are on those behind it."""


def copies(selection: Selection) -> Iterator[JsonEvent]:
    """Yield one event per copy between devices, and per delay of an edge."""
    names = selection.result.problem.graph.names
    for index, (tid, _) in copy_tracks(selection).items():
        move = selection.trace.transfers[index]
        source, target = names[move.source], names[move.target]
        args: JsonEvent = {"bytes": move.bytes, "source": source, "target": target}
        category, name = "delay", f"{source} to {target}"
        if move.tensor >= 0:
            args |= _copy_arguments(selection, index)
            category = "gpu_memcpy,critical" if ("copy", index) in selection.critical else "gpu_memcpy"
            name = selection.result.problem.graph.tensor_names[move.tensor]
        place = {"pid": selection.copies_pid, "tid": tid}
        yield selection.span(name, category, place, move.start, move.end, args)


def _copy_arguments(selection: Selection, index: int) -> JsonEvent:
    move, log, suffix = selection.trace.transfers[index], selection.story.copies, selection.suffix
    args: JsonEvent = {f"asked_{suffix}": move.asked, f"latency_{suffix}": log.begin(index) - move.start}
    if move.start > move.asked:
        args[f"waited_{suffix}"] = move.start - move.asked
    flow, alone = move.end - log.begin(index), log.alone(index)
    if flow > alone:
        args |= {f"alone_{suffix}": alone, "speed": round(alone / flow, 4)}
    return args


def copy_tracks(selection: Selection) -> dict[int, tuple[int, str]]:
    """Give each transfer a thread: one per direction, and more where transfers of one direction overlap.

    Returns
    -------
    dict
        Index of the transfer to thread id and name, by start.
    """
    moves, devices = selection.trace.transfers, selection.result.problem.devices
    free: dict[tuple[int, int, bool], list[tuple[int, int]]] = {}
    lane_of: dict[int, tuple[int, int, bool, int]] = {}
    for index in sorted(range(len(moves)), key=lambda number: (moves[number].start, moves[number].end, number)):
        move = moves[index]
        if move.target in selection.kept:
            way = (move.from_device, move.to_device, move.tensor < 0)
            lanes = free.setdefault(way, [])
            lane = heappop(lanes)[1] if lanes and lanes[0][0] <= move.start else len(lanes) + 1
            heappush(lanes, (move.end, lane))
            lane_of[index] = (*way, lane)
    tids = {lane: number + 1 for number, lane in enumerate(sorted(set(lane_of.values())))}
    return {index: (tids[lane], _track_name(devices, lane)) for index, lane in lane_of.items()}


def _track_name(devices: Sequence[Device], lane: tuple[int, int, bool, int]) -> str:
    here, there, pure, number = lane
    return f"{devices[here].name} to {devices[there].name}{' (delays)' if pure else ''} #{number}"


def dispatches(selection: Selection) -> Iterator[JsonEvent]:
    """Yield one instant per dispatch, on the host."""
    names, trace = selection.result.problem.graph.names, selection.trace
    place = {"pid": selection.host_pid, "tid": DISPATCHES}
    for op in trace.launch_order:
        if op in selection.kept:
            args: JsonEvent = {"correlation": op}
            if op in trace.reasons:
                args["reason"] = trace.reasons[op]
            at = trace.dispatch[op]
            yield selection.span(f"dispatch {names[op]}", "cpu_op", place, at, at, args)


def launch_tracks(selection: Selection) -> dict[int, str]:
    """Threads of the host that launched anything, and their names."""
    host = selection.story.host
    if host.serial:
        return {DISPATCHES + 1 + thread: f"launches, thread {thread}" for thread in host.threads}
    return {DISPATCHES + 1: "launch of the graph"} if _graph_end(selection) else {}


def _graph_end(selection: Selection) -> int:
    """When the launch of the whole graph was through; 0 where it was not launched as one, or at no cost."""
    host = selection.story.host
    if not host.charged or host.serial or not selection.ops:
        return 0
    return min(selection.result.problem.hardware.host.graph_ns, *map(host.through, selection.ops))


def launches(selection: Selection) -> Iterator[JsonEvent]:
    """Yield one event per launch by the host; one for that of a whole graph."""
    host, names, trace = selection.story.host, selection.result.problem.graph.names, selection.trace
    suffix, end = selection.suffix, _graph_end(selection)
    if end:
        name, place = f"launch {selection.result.problem.graph.name}", _thread(selection, None)
        yield selection.span(name, "cuda_runtime", place, 0, end, {"operators": len(trace)})
    for ops in host.threads.values():
        for op in ops:
            if op in selection.kept:
                begin, dispatch = host.begin(op), trace.dispatch[op]
                args: JsonEvent = {"correlation": op, f"dispatched_{suffix}": dispatch}
                if begin > dispatch:
                    args[f"waited_{suffix}"] = begin - dispatch
                category = "cuda_runtime,critical" if ("host", op) in selection.critical else "cuda_runtime"
                place = _thread(selection, op)
                yield selection.span(f"launch {names[op]}", category, place, begin, host.through(op), args)


def _thread(selection: Selection, op: OpId | None) -> JsonEvent:
    thread = 0 if op is None else selection.story.host.thread(op)
    return {"pid": selection.host_pid, "tid": DISPATCHES + 1 + thread}


def shared_arrows(selection: Selection) -> Iterator[JsonEvent]:
    """Yield arrows from launches to operators, and from operators over copies to those that read them."""
    trace, host = selection.trace, selection.story.host
    for ops in host.threads.values():
        for op in ops:
            begin, through = host.begin(op), host.through(op)
            if op in selection.kept and through > begin and trace.end[op] > trace.start[op]:
                common = {"name": "ac2g", "cat": "ac2g", "id": op + 1}
                yield {"ph": "s", **common, **_thread(selection, op), "ts": selection.last(begin, through)}
                yield _arrives(selection, common, op)
    number = 0
    for index, (tid, _) in copy_tracks(selection).items():
        move = trace.transfers[index]
        if move.tensor < 0 or move.end == move.start:
            continue
        place = {"pid": selection.copies_pid, "tid": tid}
        if move.source in selection.kept and trace.end[move.source] > trace.start[move.source]:
            number += 1
            common = {"name": "copy", "cat": "copy", "id": number}
            at = selection.last(trace.start[move.source], trace.end[move.source])
            yield {"ph": "s", **common, **selection.place(move.source), "ts": at}
            yield {"ph": "f", "bp": "e", **common, **place, "ts": selection.time(move.start)}
        for op in _readers(selection, index):
            number += 1
            common = {"name": "copy", "cat": "copy", "id": number}
            yield {"ph": "s", **common, **place, "ts": selection.last(move.start, move.end)}
            yield _arrives(selection, common, op)


def _arrives(selection: Selection, common: JsonEvent, op: OpId) -> JsonEvent:
    at = selection.time(selection.trace.start[op])
    return {"ph": "f", "bp": "e", **common, **selection.place(op), "ts": at}


def _readers(selection: Selection, index: int) -> list[OpId]:
    """Operators that took some time and read what was copied."""
    move, trace, problem = selection.trace.transfers[index], selection.trace, selection.result.problem
    return [
        op
        for op in dict.fromkeys(problem.graph.tensor_consumers[move.tensor])
        if op in selection.kept
        and problem.stream_device[trace.stream[op]] == move.to_device
        and trace.end[op] > trace.start[op]
    ]
