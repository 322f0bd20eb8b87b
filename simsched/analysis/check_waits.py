"""Rules of the referee on waiting: for predecessors, for transfers, for a dispatch, for the device's consent.

An operator is *eligible* when it has been launched, its stream is free and its inputs are on its device. From then
on only the device or its memory can hold it back, and every such interval is recorded: an operator that starts later
than it could, without a recorded reason, is as wrong as one that starts too early.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import le

from simsched.analysis.check_copies import Routes, check_copies, copied
from simsched.analysis.findings import Facts
from simsched.trace import Transfer, Wait

REASONS = ("resource", "memory", "queue")


def check_arrivals(facts: Facts) -> None:
    """Check that no operator starts before its inputs are there, and that ``ready`` says when its predecessors ended.

    Fills ``eligible`` with the arrival of the inputs.
    """
    start, end, ready = facts.start, facts.end, facts.ready
    delays: list[Transfer] = []
    if len(facts.problem.devices) > 1:
        routes = Routes(facts)
        arrivals, delays = _remote_arrivals(facts, routes)
        check_copies(facts, routes)
    else:
        last = end.__getitem__
        arrivals = [max(map(last, preds)) if preds else 0 for preds in facts.problem.graph.pred]
        _refuse_copies(facts)
        if not facts.problem.event_ns and arrivals == ready and all(map(le, ready, start)):
            _check_delays(facts, [])
            facts.eligible = arrivals
            return
        arrivals = [_local_arrival(facts, op) for op in range(len(start))]
    _check_delays(facts, delays)
    facts.eligible = arrivals
    for op, preds in enumerate(facts.problem.graph.pred):
        latest = max([end[before] for before in preds], default=0)
        if ready[op] != latest:
            text = f"{facts.name(op)} is recorded as ready at {facts.at(ready[op])}"
            facts.findings.add("ready", f"{text}; its last predecessor ended at {facts.at(latest)}")
        if start[op] < arrivals[op]:
            _blame(facts, op)


def _local_arrival(facts: Facts, op: int) -> int:
    """When what an operator's predecessors on its own device made is there: an event later in another stream."""
    event, end, stream, device = facts.problem.event_ns, facts.end, facts.stream, facts.device
    return max(
        [
            end[before] + (event if stream[before] != stream[op] else 0)
            for before in facts.problem.graph.pred[op]
            if device[before] == device[op]
        ],
        default=0,
    )


def _blame(facts: Facts, op: int) -> None:
    """Say which predecessors an operator did not wait for."""
    problem, here = facts.problem, facts.device[op]
    copies = {
        (move.source, move.to_device): move.end
        for move in sorted(facts.trace.transfers, key=lambda move: move.end)
        if move.tensor >= 0 and op in problem.graph.tensor_consumers[move.tensor]
    }
    for before in problem.graph.pred[op]:
        done = came = facts.end[before]
        if facts.device[before] != here:
            came = max(done, copies.get((before, here), done)) + problem.graph.delays.get((before, op), 0)
        elif facts.stream[before] != facts.stream[op]:
            came += problem.event_ns
        if facts.start[op] < came:
            how = f"ends at {facts.at(done)}"
            if came > done:
                how = f"(end {facts.at(done)}) has arrived on {facts.host(op)} at {facts.at(came)}"
            text = f"{facts.name(op)} starts at {facts.at(facts.start[op])}, before its predecessor"
            facts.findings.add("dependency", f"{text} {facts.name(before)} {how}")


def _remote_arrivals(facts: Facts, routes: Routes) -> tuple[list[int], list[Transfer]]:
    """When all inputs of each operator are on its device, and the pure delays that this takes."""
    problem, end, device = facts.problem, facts.end, facts.device
    through = {(move.tensor, move.to_device): move.end for move in facts.trace.transfers if move.tensor >= 0}
    delays = problem.graph.delays
    arrivals, transfers = [], []
    for op, preds in enumerate(problem.graph.pred):
        latest, here = _local_arrival(facts, op), device[op]
        came: dict[int, int] = {}
        for tensor in copied(facts, routes, op):
            maker = problem.graph.tensor_producer[tensor]
            came[maker] = max(came.get(maker, end[maker]), through.get((tensor, here), 0))
        for before in preds:
            if device[before] != here:
                delay = delays.get((before, op), 0)
                done = came.get(before, end[before])
                if delay and before not in came:
                    size = problem.edge_bytes(before, op)
                    transfers.append(Transfer(before, op, device[before], here, done, done + delay, size))
                latest = max(latest, done + delay)
        arrivals.append(latest)
    return arrivals, transfers


def _refuse_copies(facts: Facts) -> None:
    delays = tuple(move for move in facts.trace.transfers if move.tensor < 0)
    copies = len(facts.trace.transfers) - len(delays)
    if copies:
        facts.findings.add("copy", f"copies are recorded ({copies}); there is only one device")
        facts.trace = replace(facts.trace, transfers=delays)


def _check_delays(facts: Facts, expected: Iterable[Transfer]) -> None:
    """Check that the recorded delays are those of edges between devices along which nothing is copied."""
    due = {(move.source, move.target): move for move in expected}
    count = len(facts.start)
    for move in facts.trace.transfers:
        if move.tensor >= 0:
            continue
        if not (0 <= move.source < count and 0 <= move.target < count):
            facts.findings.add("transfer", f"a transfer names operators {move.source} and {move.target}, out of range")
            continue
        pair = f"{facts.name(move.source)} -> {facts.name(move.target)}"
        right = due.pop((move.source, move.target), None)
        if right is None:
            facts.findings.add("transfer", f"a transfer {pair} is recorded that does not happen, or twice")
        elif move != right:
            told = f"{_told(facts, move)}, should be {_told(facts, right)}"
            facts.findings.add("transfer", f"{pair} is recorded as {told}")
    for move in due.values():
        pair = f"{facts.name(move.source)} -> {facts.name(move.target)}"
        facts.findings.add("transfer", f"{pair} is not recorded: {_told(facts, move)}")


def _told(facts: Facts, move: Transfer) -> str:
    devices = facts.problem.devices
    if not (0 <= move.from_device < len(devices) and 0 <= move.to_device < len(devices)):
        return f"from device {move.from_device} to device {move.to_device}"
    names = f"{devices[move.from_device].name} to {devices[move.to_device].name}"
    return f"{move.bytes} B from {names}, {facts.at(move.start)} to {facts.at(move.end)}"


def check_dispatches(facts: Facts) -> None:
    """Check that an operator is dispatched before it starts, at an instant at which the policy is asked."""
    dispatch, start = facts.dispatch, facts.start
    if not all(map(le, dispatch, start)):
        for op, time in enumerate(dispatch):
            if time > start[op]:
                text = f"{facts.name(op)} starts at {facts.at(start[op])}, before it is dispatched at {facts.at(time)}"
                facts.findings.add("dispatch", text)
    instants = {0, *facts.end}
    if len(facts.problem.devices) > 1 or facts.problem.event_ns:
        instants.update(facts.eligible)
        instants.update(move.end for move in facts.trace.transfers if move.tensor >= 0)
    if not instants.issuperset(dispatch):
        for op, time in enumerate(dispatch):
            if time not in instants:
                text = f"{facts.name(op)} is dispatched at {facts.at(time)}, when nothing ended or arrived"
                facts.findings.add("dispatch", text)


def check_waits(facts: Facts) -> None:
    """Check that an eligible operator waits for recorded reasons only, until it starts.

    Turns ``eligible`` from the arrival of inputs into the full instant.
    """
    eligible, launched, start, stream, end = facts.eligible, facts.launched, facts.start, facts.stream, facts.end
    free = [0] * len(facts.problem.stream_device)
    late = []
    for op in facts.trace.launch_order:
        queue = stream[op]
        time = eligible[op]
        if launched[op] > time:
            time = launched[op]
        if free[queue] > time:
            time = free[queue]
        eligible[op] = time
        if start[op] > time:
            late.append(op)
        if end[op] > free[queue]:
            free[queue] = end[op]
    waits: dict[int, list[Wait]] = {}
    for wait in facts.trace.waits:
        if 0 <= wait.op < len(start):
            waits.setdefault(wait.op, []).append(wait)
        else:
            facts.findings.add("wait", f"a wait names operator {wait.op}, out of range")
    for op in sorted({*waits, *late}):
        _check_tiling(facts, op, sorted(waits.get(op, []), key=lambda wait: (wait.start, wait.end)))


def _check_tiling(facts: Facts, op: int, waits: list[Wait]) -> None:
    """Check that the waits of one operator fill the time from eligible to start, without gap or overlap."""
    reached, start = facts.eligible[op], facts.start[op]
    for wait in waits:
        span = f"{facts.at(wait.start)} to {facts.at(wait.end)}"
        if wait.reason not in REASONS:
            facts.findings.add("wait", f"{facts.name(op)} waits for {wait.reason!r}; known are {', '.join(REASONS)}")
        if wait.start < reached or wait.end > start or wait.end <= wait.start:
            window = f"between {facts.at(reached)} and its start at {facts.at(start)}"
            text = f"{facts.name(op)} is recorded as waiting ({wait.reason}) from {span}; it could wait only {window}"
            facts.findings.add("wait", text)
        elif wait.start > reached:
            _idle(facts, op, reached, wait.start)
        reached = max(reached, wait.end)
    if reached < start:
        _idle(facts, op, reached, start)


def _idle(facts: Facts, op: int, since: int, until: int) -> None:
    text = f"{facts.name(op)} had everything at {facts.at(since)}, yet nothing happened until {facts.at(until)}"
    facts.findings.add("wait", f"{text} and no reason is recorded")
