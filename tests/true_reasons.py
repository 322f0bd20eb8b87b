"""Whether every reason of a run is true: looked up instant by instant, from the trace alone."""

from __future__ import annotations

from collections import Counter
from math import inf

from simsched.analysis.breakdown import chain_breakdown, path_breakdown
from simsched.analysis.critical import realised_path
from simsched.analysis.explain import Explanation, Part
from simsched.analysis.usage import live_tensors
from simsched.graph.model import OpId
from simsched.result import Result
from simsched.trace import Transfer

NEAR = 1e-5


def check(result: Result) -> None:
    story = Explanation(result)
    for op, end in enumerate(result.trace.end):
        reached = 0
        for part in story.parts(op):
            assert part.start == reached < part.end
            assert (part.kind == "run") == (part.start >= result.trace.start[op])
            reached = part.end
            assert part.reason != "unknown"
            assert 0 <= part.speed <= 1
            (RUNS if part.kind == "run" else WAITS)[part.reason](story, op, part)
        assert reached == end
        work(story, op)
        spent = story.spent(op)
        assert sum(spent.values()) == end - result.trace.start[op]
        assert all(time > 0 for time in spent.values())
        assert story.waited(op) == sum(p.length for p in story.waits(op) if p.reason != "dependency")
    for rows in (path_breakdown(story), chain_breakdown(story)):
        assert sum(row.time for row in rows) == result.makespan
    path(story)


def path(story: Explanation) -> None:
    """The path fills the run, and its rows are the times of its segments."""
    result, reached, on_path = story.run, 0, Counter[str]()
    for segment in realised_path(result.problem, result.trace):
        assert segment.start == reached <= segment.end
        reached = segment.end
        on_path[segment.kind] += segment.end - segment.start
        start, end = result.trace.start[segment.op], result.trace.end[segment.op]
        if segment.kind == "operator":
            assert segment.start == start
            assert segment.end == end or segment.end in [
                row.end for row in result.trace.cohorts if row.op == segment.op
            ]
    assert reached == result.trace.makespan
    by_kind = Counter[str]()
    for row in path_breakdown(story):
        kind = row.what if row.kind == "wait" else "copy" if row.what == "link" else "operator"
        kind = "host" if kind in ("host_launch", "host_graph") else kind
        by_kind["copy" if kind == "copy_latency" else kind] += row.time
    assert +by_kind == +on_path


# --- what is true of each reason ----------------------------------------------------------------------------------


def dependency(story: Explanation, op: OpId, part: Part) -> None:
    preds, end = story.run.problem.graph.pred[op], story.run.trace.end
    assert part.culprit in preds
    assert end[part.culprit] == part.end == max(end[before] for before in preds)


def event(story: Explanation, op: OpId, part: Part) -> None:
    problem, trace = story.run.problem, story.run.trace
    assert part.culprit in problem.graph.pred[op]
    assert device_of(story, part.culprit) == device_of(story, op)
    assert trace.stream[part.culprit] != trace.stream[op]
    assert part.end == trace.end[part.culprit] + problem.hardware.host.event_ns


def delay(story: Explanation, op: OpId, part: Part) -> None:
    problem, trace, source = story.run.problem, story.run.trace, part.culprit
    assert source in problem.graph.pred[op]
    copies = [move.end for move in trace.transfers if read_copy(story, op, source, move)]
    assert part.end == max([trace.end[source], *copies]) + problem.graph.delays[source, op]
    assert part.start >= max([trace.end[source], *copies])


def read_copy(story: Explanation, op: OpId, source: OpId | None, move: Transfer) -> bool:
    """Whether something was copied for an operator that reads what another made."""
    here, readers = device_of(story, op), story.run.problem.graph.tensor_consumers
    return move.tensor >= 0 and move.source == source and move.to_device == here and op in readers[move.tensor]


def copying(story: Explanation, op: OpId, part: Part) -> Transfer:
    """What all parts of copies have in common."""
    move = story.run.trace.transfers[part.copy]
    assert read_copy(story, op, part.culprit, move)
    assert move.asked <= part.start < part.end <= move.end
    return move


def copy_waits(story: Explanation, op: OpId, part: Part) -> None:
    """It has not begun; at each instant an engine is missing, or an earlier copy holds it back, or memory is full."""
    move, problem, run = copying(story, op, part), story.run.problem, story.run
    assert part.end <= move.start
    every = [other for other in run.trace.transfers if other.tensor >= 0]
    ends = (move.from_device, move.to_device)
    for time in range(part.start, part.end):
        missing = []
        for device in ends:
            busy = [o for o in every if device in (o.from_device, o.to_device) and o.start <= time < o.end]
            engines = problem.devices[device].copy_engines
            missing += [device] if engines is not None and len(busy) >= engines else []
        place = (move.asked, move.tensor, move.to_device)
        waiting = [o for o in every if o.asked <= time < o.start and (o.asked, o.tensor, o.to_device) < place]
        ahead = [o for o in waiting if {o.from_device, o.to_device} & set(ends)]
        expected = "copy_engine" if missing else "copy_queue" if ahead else "copy_memory"
        assert part.reason == expected
        if missing:
            assert part.device in missing
        elif not ahead:
            live = dict(run.trace.memory.curve(move.to_device))
            now = live[max(when for when in live if when <= time)]
            assert run.memory == "block"
            assert now + move.bytes > problem.devices[move.to_device].capacity
    if part.reason == "copy_memory":
        (short,) = part.shortages
        assert short.needs == move.bytes > short.free


def copy_runs(story: Explanation, op: OpId, part: Part) -> None:
    move, problem = copying(story, op, part), story.run.problem
    names = [device.name for device in problem.devices]
    links = [
        problem.hardware.links[hop.link]
        for hop in problem.hardware.route(names[move.from_device], names[move.to_device])
    ]
    begin = move.start + sum(link.latency_ns for link in links)
    if part.reason == "copy_latency":
        assert move.start <= part.start < part.end <= begin
        return
    assert begin <= part.start
    assert (part.speed < 1) <= bool(story.copies.sharers(part.copy, part.start))
    # All bytes have flowed by the end, and not all of them before.
    rate = min(inf if link.bandwidth is None else link.bandwidth / 1e9 for link in links)
    flown = [(end - start) * speed * rate for start, end, speed in story.copies.speeds(part.copy)]
    *_, (_, _, last) = story.copies.speeds(part.copy)
    assert move.bytes - NEAR <= sum(flown) < move.bytes + last * rate + NEAR


def transfer(story: Explanation, op: OpId, part: Part) -> None:
    raise AssertionError("every copy is recorded")


def host(story: Explanation, op: OpId, part: Part) -> None:
    """In mode serial the thread is busy with others; in mode graph nothing is launched yet."""
    run, trace = story.run, story.run.trace
    described = run.problem.hardware.host
    assert trace.dispatch[op] <= part.start < part.end <= trace.launched[op]
    if part.reason == "host_graph":
        assert (described.mode, part.end) == ("graph", min(described.graph_ns, part.end))
        return
    assert described.mode == "serial"
    begin = trace.launched[op] - described.launch_ns
    if part.reason == "host_launch":
        assert part.start >= begin
        assert part.end <= trace.launched[op]
    elif part.reason == "host_sync":
        assert part.end <= trace.dispatch[op] + described.sync_ns
    else:
        order = [
            o for o in trace.launch_order if trace.stream[o] % described.threads == trace.stream[op] % described.threads
        ]
        earlier = order[: order.index(op)]
        assert part.culprit == earlier[-1]
        assert trace.launched[part.culprit] == begin >= part.end
        assert (
            part.ahead == sum(trace.launched[other] > part.start for other in earlier)
            or part.start > trace.dispatch[op]
        )


def stream(story: Explanation, op: OpId, part: Part) -> None:
    trace = story.run.trace
    order = [other for other in trace.launch_order if trace.stream[other] == trace.stream[op]]
    ahead = [other for other in order[: order.index(op)] if trace.end[other] > part.start]
    assert (part.culprit, part.end, part.ahead) == (ahead[-1], trace.end[ahead[-1]], len(ahead))


def queue(story: Explanation, op: OpId, part: Part) -> None:
    trace, head, device = story.run.trace, part.culprit, device_of(story, op)
    assert head is not None
    assert device_of(story, head) == device
    assert max(trace.dispatch[head], trace.ready[head]) <= part.start
    mine, its = priority(story, op), priority(story, head)
    assert its < mine if part.reason == "priority" else its == mine
    if story.short_of_room(part):
        blocks = [row for row in trace.cohorts if row.op == head]
        assert max(row.start for row in blocks) >= part.end
        assert story.holders(part)
        return
    assert trace.start[head] >= part.end
    for time in range(part.start, part.end):
        now = short_of(story, head, device, time)
        assert now or story.run.problem.devices[device].model == "blocks"
    assert {short.resource for short in part.shortages} == short_of(story, head, device, part.start)


def priority(story: Explanation, op: OpId) -> int:
    device, problem = device_of(story, op), story.run.problem
    levels = problem.devices[device].stream_priorities
    return levels[story.run.trace.stream[op] - problem.device_streams[device][0]] if levels else 0


def room(story: Explanation, op: OpId, part: Part) -> None:
    """Blocks of others are on the device; of a run, blocks of the operator still wait."""
    trace, device = story.run.trace, device_of(story, op)
    for time in range(part.start, part.end):
        on_device = [row for row in trace.cohorts if row.start <= time < row.end and device_of(story, row.op) == device]
        others = [row.op for row in on_device if row.op != op]
        assert others
        if part.kind == "wait":
            assert not short_of(story, op, device, time) - {"memory"}
        else:
            placed = sum(row.blocks for row in trace.cohorts if row.op == op and row.start <= time)
            assert sum(row.blocks for row in trace.cohorts if row.op == op) - placed == part.ahead > 0
    assert {holder for holder, _ in story.holders(part, but=op)} <= {row.op for row in trace.cohorts} - {op}
    if part.kind == "wait" and part.end == trace.start[op] and part.culprit is not None:
        assert part.end in [row.end for row in trace.cohorts if row.op == part.culprit]


def resource(story: Explanation, op: OpId, part: Part) -> None:
    device = device_of(story, op)
    for time in range(part.start, part.end):
        now = short_of(story, op, device, time) - {"memory"}
        assert {short.resource for short in part.shortages} == now
    held = dict(story.holders(part))
    (first, *_) = part.shortages
    if first.resource != "resident kernels":
        capacity = story.run.problem.devices[device].resources[first.resource]
        assert capacity - sum(held.values()) == first.free
    assert 0 < first.missing <= sum(held.values())
    assert all(story.run.trace.start[holder] <= part.start < story.run.trace.end[holder] for holder in held)
    if part.culprit is not None:
        assert story.run.trace.end[part.culprit] == part.end
    if part.end == story.run.trace.start[op]:
        assert part.culprit is not None


def memory(story: Explanation, op: OpId, part: Part) -> None:
    device = device_of(story, op)
    for time in range(part.start, part.end):
        assert "memory" in short_of(story, op, device, time)
    (short,) = part.shortages
    assert short.missing > 0
    if all(end > start for start, end in zip(story.run.trace.start, story.run.trace.end, strict=True)):
        running = story.timelines.running(device, part.start)
        spaces = sum(story.run.problem.workspace(other, device) for other in running)
        tensors = live_tensors(story.run, device, part.start)
        assert sum(size for _, size in tensors) + spaces == story.run.problem.devices[device].capacity - short.free
        assert list(story.tensors(part)) == tensors[:5]
        assert part.culprit is not None


def undispatched(story: Explanation, op: OpId, part: Part) -> None:
    """The reason holds at every instant of the part: which streams are idle, and what is short on their devices."""
    trace, problem = story.run.trace, story.run.problem
    assert trace.dispatch[op] >= part.end
    for time in range(part.start, part.end):
        taken = {trace.stream[o] for o in range(len(trace)) if trace.dispatch[o] <= time < trace.end[o]}
        idle = [d for d in problem.allowed_devices(op) if not taken.issuperset(problem.device_streams[d])]
        short = [short_of(story, op, device, time) for device in idle]
        expected = "no_stream" if not idle else "passed_over" if all(short) else "held"
        assert part.reason == expected
        if expected == "passed_over":
            assert {item.resource for item in part.shortages} == short[idle.index(part.device)]


# --- runs ---------------------------------------------------------------------------------------------------------


def full_speed(story: Explanation, op: OpId, part: Part) -> None:
    assert part.speed == 1
    assert part.reason == story.bound(op)


def launch(story: Explanation, op: OpId, part: Part) -> None:
    assert part.start == story.run.trace.start[op]
    assert part.speed == 1


def tail(story: Explanation, op: OpId, part: Part) -> None:
    rows = [row for row in story.run.trace.cohorts if row.op == op]
    running = [row for row in rows if row.start <= part.start < row.end]
    assert all(row.start <= part.start for row in rows)
    assert max(row.wave for row in rows) in [row.wave for row in running]
    assert max(row.wave for row in rows) > 0


def shared(story: Explanation, op: OpId, part: Part) -> None:
    """What it shares is all given out, and it got no less than others that wanted more."""
    others = story.sharers(op, part)
    total = sum(share for _, share in others)
    assert part.speed < 1
    assert 0 <= total < 1 + NEAR  # blocks of one kernel, of different waves, may share among themselves
    if story.run.problem.devices[device_of(story, op)].model == "sm_share":
        draw = story.run.problem.draw(op, device_of(story, op), story.speeds.alone(op))
        mine = draw * part.speed
        assert abs(total + mine - 1) < NEAR
        assert all(share <= mine + NEAR for _, share in others)


def work(story: Explanation, op: OpId) -> None:
    """The speeds of a kernel add up to its body: done at its end, and not a nanosecond before."""
    problem, trace, device = story.run.problem, story.run.trace, device_of(story, op)
    if problem.devices[device].model == "blocks":
        return
    took = trace.end[op] - trace.start[op]
    columns = story.run.actual
    alone = (problem.durations(device) if columns is None else columns[device])[op]
    body = alone - problem.launch_part(op, device, alone)
    pieces = story.speeds.pieces(op)
    done = sum((piece.end - piece.start) * piece.speed for piece in pieces)
    last = pieces[-1].speed if pieces else 0.0
    assert body - NEAR <= done <= body + (last + NEAR if took > alone else 0)


WAITS = {
    "dependency": dependency, "event": event, "delay": delay, "transfer": transfer,
    "copy_engine": copy_waits, "copy_queue": copy_waits, "copy_memory": copy_waits,
    "copy_latency": copy_runs, "copy": copy_runs,
    "no_stream": undispatched, "passed_over": undispatched, "held": undispatched,
    "host": host, "host_sync": host, "host_launch": host, "host_graph": host,
    "stream": stream, "queue": queue, "priority": queue, "resource": resource, "room": room, "memory": memory,
}  # fmt: skip
RUNS = {
    "launch": launch, "tail": tail, "bandwidth": shared, "arithmetic": shared, "room": room,
    **dict.fromkeys(("compute", "memory", "explicit", "measured", "none"), full_speed),
}  # fmt: skip


def device_of(story: Explanation, op: OpId) -> int:
    return story.run.problem.stream_device[story.run.trace.stream[op]]


def short_of(story: Explanation, op: OpId, device: int, time: int) -> set[str]:
    """What an operator would lack at an instant, from the operators that run through it."""
    problem, trace = story.run.problem, story.run.trace
    described = problem.devices[device]
    running = [
        other
        for other in range(len(trace))
        if trace.start[other] <= time < trace.end[other] and device_of(story, other) == device
    ]
    found = set()
    for name, units in problem.demand(op, device).items():
        used = sum(problem.demand(other, device).get(name, 0) for other in running)
        if units and units + used > described.resources[name]:
            found.add(name)
    limit = described.max_resident_kernels
    if limit is not None and limit < described.streams and len(running) >= limit:
        found.add("resident kernels")
    if story.run.memory != "unbounded" and described.capacity is not None:
        live = dict(trace.memory.curve(device))
        now = max((when for when in live if when <= time), default=None)
        need = story.timelines.bytes_needed(op, device, time)
        if need + (0 if now is None else live[now]) > described.capacity:
            found.add("memory")
    return found
