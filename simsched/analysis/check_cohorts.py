"""Rule of the referee on how fast blocks ran: cohorts share a device's arithmetic and its bandwidth.

Speeds are worked out anew over the recorded intervals, where cohorts together draw more than there is of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simsched.analysis.check_fair import Pair, bottleneck_speeds
from simsched.analysis.check_grids import Grid
from simsched.analysis.check_speed import SLACK, rounding
from simsched.analysis.findings import Facts
from simsched.graph.model import OpId
from simsched.trace import Cohort


def check_cohort_speeds(facts: Facts, cohorts: Sequence[Cohort], grids: Mapping[OpId, Grid]) -> None:
    """Check that each cohort ended at the first whole ns at which it was done."""
    begins = [_begin(facts, cohort) for cohort in cohorts]
    draws = [_draw(grids[cohort.op], cohort) for cohort in cohorts]
    flows = [number for number, cohort in enumerate(cohorts) if cohort.end > begins[number]]
    events = sorted([(cohorts[number].end, 0, number) for number in flows] + [(begins[n], 1, n) for n in flows])
    active: dict[int, None] = {}
    lost = [0.0] * len(cohorts)
    speeds = [1.0] * len(cohorts)
    since, stale = 0, False
    for now, opens, number in events:
        if now > since:
            if stale:
                for flow, speed in zip(active, bottleneck_speeds([draws[flow] for flow in active]), strict=True):
                    speeds[flow] = speed
                stale = False
            for flow in active:
                if speeds[flow] < 1:
                    lost[flow] += (now - since) * (1 - speeds[flow])
            since = now
        if opens:
            active[number] = None
        else:
            del active[number]
        stale = True
    for number, cohort in enumerate(cohorts):
        length = grids[cohort.op].lengths[cohort.wave]
        _judge(facts, cohort, length - (cohort.end - begins[number] - lost[number]), speeds[number])


def _begin(facts: Facts, cohort: Cohort) -> int:
    """When the blocks begin to work: not before the launch gap of their kernel is over."""
    device = facts.device[cohort.op]
    launch = facts.problem.launch_part(cohort.op, device, facts.durations[device][cohort.op])
    return max(cohort.start, facts.start[cohort.op] + launch)


def _draw(grid: Grid, cohort: Cohort) -> Pair:
    count = cohort.blocks or 1
    return count * grid.compute[cohort.wave], count * grid.memory[cohort.wave]


def _judge(facts: Facts, cohort: Cohort, left: float, speed: float) -> None:
    error = rounding(cohort.end)
    if left <= SLACK * speed + error and left + speed > SLACK * speed - error:
        return
    ran = f"blocks of {facts.name(cohort.op)} ran from {facts.at(cohort.start)} to {facts.at(cohort.end)}"
    text = (
        f"{left:.3f} ns of their work were left then" if left > 0 else f"they were done {-left / speed:.3f} ns before"
    )
    facts.findings.add("duration", f"{ran} on {facts.host(cohort.op)}; {text}")
