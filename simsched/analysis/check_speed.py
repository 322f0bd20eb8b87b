"""Rule of the referee on durations: as long as an operator takes alone, or longer where it shares bandwidth.

Where kernels together draw more than a device's bandwidth, their speeds are worked out anew over the recorded
intervals, and what each has lost is added up. A device on which that never happens costs one sum per operator.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from operator import eq, sub

from simsched.analysis.check_fair import level
from simsched.analysis.findings import Facts
from simsched.graph.model import OpId

WHOLE = 1 << 60
"""Draws are added up as whole parts of this: then sums do not depend on their order."""
SLACK = 1e-6
"""An end within so many ns of an instant counts as that instant."""


def rounding(time: int) -> float:
    """Largest error, in ns of progress, that floating-point numbers may have made until then."""
    return 1e-9 + 1e-13 * time


def check_durations(facts: Facts) -> None:
    """Check that every operator ran for its duration on that device; kernels of blocks have a rule of their own."""
    start, end = facts.start, facts.end
    if start and min(start) < 0:
        for op, time in enumerate(start):
            if time < 0:
                facts.findings.add("duration", f"{facts.name(op)} never started (start {time})")
    models = [described.model for described in facts.problem.devices]
    slowed: dict[OpId, tuple[float, float]] = {}
    for device, model in enumerate(models):
        if model == "sm_share":
            slowed.update(_slowed(facts, device))
    durations = facts.durations
    if (
        not slowed
        and models == [models[0]]
        and models[0] != "blocks"
        and all(map(eq, map(sub, end, start), durations[0]))
    ):
        return
    for op, device in enumerate(facts.device):
        if models[device] == "blocks":
            continue
        took, due = end[op] - start[op], durations[device][op]
        if op in slowed and took >= due:
            _check_slowed(facts, op, *slowed[op])
        elif took != due:
            ran = f"{facts.name(op)} ran from {facts.at(start[op])} to {facts.at(end[op])}"
            facts.findings.add("duration", f"{ran} on {facts.host(op)}: {took} instead of {due}")


def _check_slowed(facts: Facts, op: OpId, lost: float, speed: float) -> None:
    """Check that an operator ended at the first whole ns at which its body was done."""
    start, end = facts.start[op], facts.end[op]
    left = lost - (end - start - facts.durations[facts.device[op]][op])
    error = rounding(end)
    if left <= SLACK * speed + error and left + speed > SLACK * speed - error:
        return
    ran = f"{facts.name(op)} ran from {facts.at(start)} to {facts.at(end)} on {facts.host(op)}"
    text = (
        f"{left:.3f} ns of its work were left then" if left > 0 else f"its work was done {-left / speed:.3f} ns before"
    )
    facts.findings.add("duration", f"{ran}, sharing bandwidth: {text}")


def _slowed(facts: Facts, device: int) -> dict[OpId, tuple[float, float]]:
    """Return what kernels that shared too little bandwidth lost, in ns, and their speed at the end."""
    problem, end, durations = facts.problem, facts.end, facts.durations[device]
    begins, costed = facts.start, bool(problem.costs[device])
    draws = problem.draws(device, durations)
    if costed:  # then some may have a launch gap, in which they draw nothing
        begins = begins.copy()
        for op in draws:
            begins[op] += problem.launch_part(op, device, durations[op])
    flows = [op for op in draws if facts.device[op] == device and end[op] > begins[op]]
    stretches = list(_oversubscribed(facts, flows, draws, begins))
    if not stretches:
        return {}
    reached = [until for _, until in stretches]
    among = [op for op in flows if _meets(stretches, reached, begins[op], end[op])]
    return dict(_losses(facts, among, draws, begins))


def _oversubscribed(
    facts: Facts, flows: Sequence[OpId], draws: Mapping[OpId, float], begins: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the stretches of time in which kernels together draw more than there is."""
    end = facts.end
    weight = {op: int(draws[op] * WHOLE) for op in flows}
    enough = WHOLE + (WHOLE >> 40)  # what rounding adds to a sum of 1 slows nobody
    ending = sorted(flows, key=end.__getitem__)
    total = last = 0
    since = -1
    for op in sorted(flows, key=begins.__getitem__):
        now = begins[op]
        while end[ending[last]] <= now:
            total -= weight[ending[last]]
            if since >= 0 and total <= enough:
                yield since, end[ending[last]]
                since = -1
            last += 1
        total += weight[op]
        if since < 0 and total > enough:
            since = now
    while since >= 0:
        total -= weight[ending[last]]
        if total <= enough:
            yield since, end[ending[last]]
            since = -1
        last += 1


def _meets(stretches: Sequence[tuple[int, int]], reached: Sequence[int], begin: int, end: int) -> bool:
    """Whether a body runs in one of some stretches."""
    first = bisect_right(reached, begin)
    return first < len(stretches) and stretches[first][0] < end


def _losses(
    facts: Facts, flows: Sequence[OpId], draws: Mapping[OpId, float], begins: Sequence[int]
) -> Iterator[tuple[OpId, tuple[float, float]]]:
    """Sweep over bodies that begin and end; yield what each has lost when it ends, in ns, and its speed then."""
    events = sorted([(facts.end[op], 0, op) for op in flows] + [(begins[op], 1, op) for op in flows])
    active: list[tuple[float, OpId]] = []  # ascending by draw
    lost: dict[OpId, float] = {}
    since, share, stale = 0, float("inf"), False
    for now, begins_now, op in events:
        if now > since:
            if stale:
                together = sum(draw for draw, _ in active)
                share = level((draw for draw, _ in active), len(active)) if together > 1 else float("inf")
                stale = False
            _lose(active, lost, share, now - since)
            since = now
        draw = draws[op]
        if begins_now:
            insort(active, (draw, op))
        else:
            del active[bisect_left(active, (draw, op))]
            if op in lost:
                yield op, (lost.pop(op), min(1.0, share / draw))
        stale = True


def _lose(active: Sequence[tuple[float, OpId]], lost: dict[OpId, float], share: float, span: int) -> None:
    """Add what kernels that draw more than their share lose over some time."""
    if share == float("inf"):
        return
    for draw, op in reversed(active):
        if draw <= share:
            break
        lost[op] = lost.get(op, 0.0) + span * (1 - share / draw)
