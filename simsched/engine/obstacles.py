"""What stands in the way when a run cannot go on: each error with the operators, streams and bytes that explain it."""

from __future__ import annotations

from collections.abc import Sequence

from simsched.engine.memory import bytes_alone
from simsched.engine.state import State
from simsched.errors import DeadlockError, InvalidDispatchError, OutOfMemoryError, SchedulerError, SchedulerStalledError
from simsched.graph.lifetimes import persistent_bytes
from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.units import format_duration, format_size


def invalid_dispatch(state: State, op: OpId, stream: int, now: int) -> InvalidDispatchError:
    """Say why a dispatch is not possible."""
    problem = state.problem
    when = f"at {format_duration(now, problem.graph.time_unit)}"
    if not 0 <= op < len(problem.graph):
        return InvalidDispatchError(f"{when}: there is no operator {op}; ids go from 0 to {len(problem.graph) - 1}")
    name = problem.graph.names[op]
    if not 0 <= stream < len(problem.stream_names):
        last = len(problem.stream_names) - 1
        return InvalidDispatchError(
            f"{when}: operator {name!r} was dispatched to stream {stream}; ids go from 0 to {last}"
        )
    if state.stream_of[op] >= 0:
        first = problem.stream_names[state.stream_of[op]]
        before = format_duration(state.dispatch_at[op], problem.graph.time_unit)
        return InvalidDispatchError(f"{when}: operator {name!r} was dispatched again (first at {before} to {first})")
    devices = ", ".join(problem.devices[device].name for device in problem.allowed_devices(op))
    return InvalidDispatchError(
        f"{when}: operator {name!r} was dispatched to {problem.stream_names[stream]}; it may run only on {devices}"
    )


def check_capacity(problem: Problem) -> None:
    """Refuse, before the run, what can never fit: operators that fit into no device that may run them.

    Raises
    ------
    OutOfMemoryError
        Naming the operator that needs most and the smallest capacity that would do.
    """
    devices, graph = problem.devices, problem.graph
    too_large: dict[OpId, list[tuple[int, int]]] = {}
    for number, device in enumerate(devices):
        if device.capacity is not None:
            for op, needed in enumerate(bytes_alone(problem, number)):
                if needed > device.capacity and number in problem.allowed_devices(op):
                    too_large.setdefault(op, []).append((needed, number))
    hopeless = [
        (min(places), op) for op, places in too_large.items() if len(places) == len(problem.allowed_devices(op))
    ]
    always = persistent_bytes(graph) if len(devices) == 1 else 0
    capacity = devices[0].capacity
    if capacity is not None and always > capacity:
        needed = max((place[0] for place, _ in hopeless), default=always)
        what = f"parameters and graph inputs alone take {_bytes(always)}, and the graph needs {_bytes(needed)}"
        raise OutOfMemoryError(f"device {devices[0].name!r} has {_bytes(capacity)} but {what}", needed)
    if hopeless:
        (needed, number), op = max(hopeless, key=lambda row: (row[0][0], -row[1]))
        what = f"operator {graph.names[op]!r} with its inputs, outputs and everything resident needs {_bytes(needed)}"
        among = ", and no other device that may run it has room either" if len(too_large[op]) > 1 else ""
        raise OutOfMemoryError(
            f"device {devices[number].name!r} has {_bytes(devices[number].capacity or 0)} but {what}{among}", needed
        )


def over_capacity(state: State, op: OpId, device: int, now: int) -> None:
    """In strict mode, raise when a start has exceeded the capacity."""
    assert state.memory is not None
    capacity, live = state.gates[device].capacity, state.memory.live[device]
    if capacity is not None and live > capacity:
        raise _out_of_memory(state, op, device, now, live)


def diagnose(state: State, pending: Sequence[Sequence[OpId]]) -> SchedulerError:
    """Say why nothing can move: memory, a deadlock, or a policy that keeps ready operators back."""
    problem = state.problem
    now = max(0, max(state.end_at, default=0))
    for device, ops in enumerate(pending):
        for op in ops:
            if state.gates[device].lacks(op) == "memory" and state.memory is not None:
                needed = state.memory.live[device] + state.memory.need(op, device)
                return _out_of_memory(state, op, device, now, needed)
    copy = None if state.copies is None else state.copies.short_of_memory()
    if copy is not None and state.memory is not None:
        op, device, size = copy
        return _out_of_memory(state, op, device, now, state.memory.live[device] + size)
    stuck = [stream for stream, queue in enumerate(state.queues) if queue]
    if stuck:
        return _deadlock(state, stuck, now)
    ready = [op for op, left in enumerate(state.remaining) if not left and state.stream_of[op] < 0]
    tightest = _none_fits(state, ready)
    if tightest is not None:
        needed, op, device = tightest
        return _out_of_memory(state, op, device, now, needed)
    shown = ", ".join(problem.graph.names[op] for op in ready[:10]) + (", ..." if len(ready) > 10 else "")
    left = len(problem.graph) - state.started
    return SchedulerStalledError(
        f"at {format_duration(now, problem.graph.time_unit)} nothing runs and the policy dispatched nothing, though "
        f"{len(ready)} operators are ready ({shown}); {left} of {len(problem.graph)} operators have not run"
    )


def _none_fits(state: State, ready: Sequence[OpId]) -> tuple[int, OpId, int] | None:
    """The smallest capacity that lets some ready operator start, its operator and device; None if one fits already."""
    if state.memory is None:
        return None
    found: list[tuple[int, OpId, int]] = []
    for op in ready:
        for device in state.problem.allowed_devices(op):
            needed = state.memory.live[device] + state.memory.need(op, device)
            capacity = state.gates[device].capacity
            if capacity is None or needed <= capacity:
                return None
            found.append((needed, op, device))
    return min(found, default=None)


def _deadlock(state: State, stuck: Sequence[int], now: int) -> DeadlockError:
    problem = state.problem
    names = problem.graph.names
    rows = []
    for stream in stuck[:20]:
        head = state.queues[stream][0]
        unfinished = [source for source in problem.graph.pred[head] if state.end_at[source] < 0]
        waits = []
        for source in unfinished[:3]:
            where = state.stream_of[source]
            place = f"queued on {problem.stream_names[where]}" if where >= 0 else "never dispatched"
            waits.append(f"{names[source]!r} ({place})")
        words = state.gates[problem.stream_device[stream]].words(head)
        reason = ", ".join(waits) or words or "an earlier launch on its device"
        rows.append((problem.stream_names[stream], repr(names[head]), reason))
    widths = [max(len(row[column]) for row in [("stream", "head", ""), *rows]) for column in range(2)]
    lines = [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in [("stream", "head", "waits for"), *rows]]
    more = f"\n  (+{len(stuck) - 20} more streams)" if len(stuck) > 20 else ""
    when = format_duration(now, problem.graph.time_unit)
    left = len(problem.graph) - state.started
    head_line = f"deadlock at {when}: {left} of {len(problem.graph)} operators have not run and nothing can move"
    return DeadlockError(head_line + "\n" + "\n".join(lines) + more)


def _out_of_memory(state: State, op: OpId, device: int, now: int, needed: int) -> OutOfMemoryError:
    problem, memory = state.problem, state.memory
    assert memory is not None
    capacity = state.gates[device].capacity
    sizes, names = problem.graph.tensor_bytes, problem.graph.tensor_names
    largest = sorted(memory.alive(device, state.start_at), key=lambda tensor: (-sizes[tensor], tensor))[:5]
    lines = [f"    {format_size(sizes[tensor]):>10}  {names[tensor]}" for tensor in largest]
    when, name = format_duration(now, problem.graph.time_unit), problem.graph.names[op]
    message = (
        f"at {when} operator {name!r} does not fit into device {problem.devices[device].name!r}: "
        f"{_bytes(needed)} would be live, the capacity is {_bytes(capacity or 0)}"
    )
    if lines:
        message += "\n  largest live tensors:\n" + "\n".join(lines)
    return OutOfMemoryError(message, needed)


def _bytes(number: int) -> str:
    return f"{format_size(number)} ({number} B)"
